"""Running kernels: from what a generator asks for to what its core does next, and whether it can still end.

``while True`` without a way out never returns, and neither does what delegates to it with ``yield from``.
Only the instructions that can follow the present one count: a kernel that has work to do before its loop is
endless from the loop on. The log of accesses has actions as numbers, so that a skip knows them again.
"""

from __future__ import annotations

import dis
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, GeneratorType
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.events import EVENT_UNITS
from memtile.arch.register_map import register_named
from memtile.arch.tiles import COMPUTE
from memtile.errors import DesignError, Problem, is_out_of_memory
from memtile.jit.tables import cells, plain
from memtile.model.checking.notes import core_agent
from memtile.model.cores import cascade, debug
from memtile.model.dma.access_log import FIRST_CORE, ON, UNKNOWN, append
from memtile.model.events.asserted import raise_event
from memtile.model.roster import OFF, retire_cores, wake_core
from memtile.model.state.causes import CorePhase
from memtile.model.state.columns import CORE_STEPS
from memtile.model.state.state import State
from memtile.sim.kernels.actions import (
    Accesses,
    Action,
    EventInstruction,
    Ints,
    LinkAction,
    LockOperation,
    Wait,
)
from memtile.sim.kernels.core_links import Exchange
from memtile.sim.kernels.isolation import looks_outside, tiles_reached
from memtile.sim.kernels.kernel_core import INSTRUCTION_EVENTS, Core, Kernel, place
from memtile.sim.kernels.kernel_lines import is_said, taken
from memtile.sim.kernels.listed_actions import steps_of
from memtile.sim.races.kernel_notes import CoreNotes
from memtile.sim.races.race_watch import RaceWatch

_CODE_OF_WAIT, _LOCK, _EVENT, _ACCESSES = range(UNKNOWN + 1, UNKNOWN + 5)  # kinds of actions


class ActionCode(NamedTuple):
    """An action as the log has it: equal codes are equal actions, but those that are unknown."""

    first: int
    second: int
    third: int
    kind: int


_NOTHING = ActionCode(0, 0, 0, UNKNOWN)


class ActionCodes:
    """The codes of the actions of all cores.

    Args:
        state: whose log has them.
    """

    def __init__(self, state: State) -> None:
        self._log: Any = state.access_log.data
        self._patterns: dict[bytes, int] = {}

    def code(self, action: Action | None) -> ActionCode:
        """The code of an action; an unknown one where a jump cannot make it, or it is the end of a kernel."""
        if isinstance(action, LockOperation):
            return ActionCode(action.lock, action.value, int(action.acquire), _LOCK)
        if isinstance(action, Wait):
            return ActionCode(action.cycles, 0, 0, _CODE_OF_WAIT)
        if isinstance(action, EventInstruction):
            return ActionCode(action.number, 0, 0, _EVENT)
        if isinstance(action, Accesses) and 0 < len(action.steps) <= CORE_STEPS:
            number = self._patterns.setdefault(action.steps.tobytes(), len(self._patterns))
            return ActionCode(number, 0, 0, _ACCESSES)
        return _NOTHING

    def note(self, core: int, action: Action | None) -> None:
        """Note the next action of a core, if somebody listens; None = it cannot be told from others."""
        if self._log[0, ON]:
            append(self._log, FIRST_CORE - core, *self.code(action))


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_NO_NEXT = frozenset(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"))
_RAISES = frozenset(("RAISE_VARARGS", "RERAISE"))
_RETURNS = frozenset(("RETURN_VALUE", "RETURN_CONST"))


@dataclass(slots=True)
class Running:
    """A kernel at work.

    Attributes:
        core: what the kernel sees.
        actions: what it still asks for.
        kernel: its name.
        declared: whether it serves as long as there is work, as its design says; None = it does not say.
        steps: accesses that the core was not given yet.
        function: what makes its actions; None where only its end is known.
        enabled: whether Core_Control enabled the core when it began; a kernel from Python needs no such.
        released: the locks it has released so far, as indices among all locks of the model.
        taken: the locks it has acquired so far.
        asked: the lock that its last action acquires; -1 = that was no acquire.
        exchange: the action on the cascade or the stream that it is at.
        links: phases of the actions on these that have ended so far.
        handed_back: an action that the kernel has given, and that its core was not set to work on yet.
        accessed: bytes of memory that the accesses it has asked for so far read and write.
        listed: whether :func:`listed_actions.listed` made it: it asks for locks and time alone.
    """

    core: Core
    actions: Iterator[Action]
    kernel: str
    declared: bool | None
    steps: Ints
    function: Kernel | None = None
    enabled: bool = True
    released: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    asked: int = -1
    exchange: Exchange | None = None
    links: set[CorePhase] = field(default_factory=set)
    handed_back: list[Action | None] = field(default_factory=list)
    accessed: int = 0
    listed: bool = False

    @property
    def endless(self) -> bool:
        """Whether it is said never to end, or cannot end any more by its code."""
        return is_endless(self.actions) if self.declared is None else self.declared


def is_endless(actions: object) -> bool:
    """Whether a suspended generator cannot return any more; other iterators are taken to end.

    Args:
        actions: what a kernel has returned.
    """
    generator: Any = actions
    while isinstance(generator, GeneratorType):
        frame = generator.gi_frame
        if frame is not None and not _can_return(frame.f_code, frame.f_lasti):
            return True
        generator = generator.gi_yieldfrom
    return False


@lru_cache(maxsize=1024)
def _can_return(code: CodeType, at: int) -> bool:
    """Whether an instruction that returns can follow the one at byte ``at``; exceptions are no way out."""
    instructions = list(dis.get_instructions(code))
    offsets = [instruction.offset for instruction in instructions]
    seen: set[int] = set()
    ahead = [bisect_right(offsets, at)]
    while ahead:
        number = ahead.pop()
        if number in seen or number >= len(instructions):
            continue
        seen.add(number)
        instruction = instructions[number]
        if instruction.opname in _RETURNS:
            return True
        if instruction.opcode in _JUMPS:
            ahead.append(bisect_left(offsets, instruction.argval))
        if instruction.opname not in _NO_NEXT | _RAISES:
            ahead.append(number + 1)
    return False


_CONTROL = register_named("core", "Core_Control")
_ENABLE, _RESET = _CONTROL.field("Enable").mask, _CONTROL.field("Reset").mask
# Members of an enum are slow to look up.
_NEXT, _WAIT = int(CorePhase.NEXT), int(CorePhase.WAIT)
_ACQUIRE, _RELEASE = int(CorePhase.ACQUIRE), int(CorePhase.RELEASE)
_INSTRUCTION_EVENTS = [EVENT_UNITS["core"].events[f"INSTR_EVENT_{n}"] for n in INSTRUCTION_EVENTS]
_NO_STEPS = np.zeros((0, 0, 0), dtype=np.int64)
_ACTIONS = (
    "what core.cycles, event, acquire, release, put_cascade, get_cascade, put_stream, get_stream "
    "or a non-empty access returns"
)


class Cores:
    """The kernels of an engine.

    Args:
        state: its state.

    Attributes:
        running: the kernel of each core that has, or had, one.
        at_work: the core whose kernel is asked for its next action, -1 = none is.
        codes: of their actions.
        ahead: brings the state to where the kernels are; None = it is there.
        touches: accesses of kernels to registers so far.
        failed: errors of kernels, which halt their cores until a reset, by core; None = they end the run.
    """

    def __init__(self, state: State) -> None:
        self._spec, self._state = state.spec, state
        self._cores, self._clock = cells(state.cores), cells(state.clock)
        self._targets: dict[int, list[int]] = {}  # of each core, by lock id as it sees them; in State.locks
        # the core module's event unit is the first one of its tile
        self._units: list[int] = plain(state.spec.tiles).first_unit[plain(state.cores).tile].tolist()
        self._lock_time = int(state.spec.timing.core_lock[0])
        self.running: dict[int, Running] = {}
        self._in_order: list[int] = []  # the cores that it has
        self._no_resets = bytes(plain(state.cores).reset.nbytes)
        self.at_work = -1
        self.codes = ActionCodes(state)
        self.ahead: Callable[[], None] | None = None
        self.touches = 0
        self.failed: dict[int, Exception] | None = None
        self._watch: RaceWatch | None = None

    def watched_by(self, watch: RaceWatch | None) -> None:
        """Have all kernels note what they do to memory, for ``watch``; None = no longer."""
        self._watch = watch
        for core, running in self.running.items():
            running.core.notes = self._notes(core, running.function)

    def _notes(self, core: int, kernel: Kernel | None) -> CoreNotes | None:
        if self._watch is None:
            return None
        agent = core_agent(self._state, core)
        return CoreNotes(self._state, agent, self._watch.flush, said=is_said(kernel))

    def attach(self, tile: int, kernel: Kernel, *, endless: bool | None) -> None:
        """Have the core of ``tile`` run ``kernel`` from the next cycle on.

        Raises:
            DesignError: the tile has no core, or its core runs a kernel that has not ended.
        """
        name = getattr(kernel, "__name__", type(kernel).__name__)
        core = self._free_core(tile, name)
        seen = self._seen(tile, name, kernel)
        seen.notes = self._notes(core, kernel)
        if self._watch is not None:
            self._watch.core_starts(core)
        actions, enabled = _actions(kernel, seen), bool(self._control(tile) & _ENABLE)
        self.running[core] = Running(seen, actions, name, endless, _NO_STEPS, kernel, enabled)
        self.running[core].listed = steps_of(kernel) is not None
        self._in_order = sorted(self.running)
        self._targets[core] = self._locks_of(tile)
        self._cores.phase[core], self._cores.ended[core] = CorePhase.NEXT, 0
        self._cores.reset[core] = 0
        debug.resume(self._state, core, debug.BY_DISABLE)
        if self.failed is not None and self.failed.pop(core, None) is not None:
            debug.resume(self._state, core, debug.BY_ERROR)
        self._state.clock.asking[0] += 1  # so that it begins while a host is busy, too
        wake_core(self._state, core)

    def _seen(self, tile: int, name: str, kernel: Kernel) -> Core:
        """What a kernel sees of its core."""
        seen = Core(self._state, tile, name)
        seen.bus.before, seen.keeps_to = self._touch, tiles_reached(kernel, self._spec, tile)
        return seen

    def stop(self, tile: int) -> None:
        """Take its kernel from the core of ``tile``, as a reset does: between two cycles, wherever it is."""
        core = int(self._spec.tiles.core[tile])
        cascade.empty(self._state, core)
        running = self.running.get(core)
        if running is None or self._cores.phase[core] in (CorePhase.IDLE, CorePhase.DONE):
            return
        running.actions, running.steps, running.asked = iter(()), _NO_STEPS, -1
        running.exchange = None
        self._cores.phase[core], self._cores.ended[core] = CorePhase.DONE, 1
        retire_cores(self._state)

    def begin_anew(self) -> None:
        """Have all kernels before their first action, the state being as it was then."""
        self.codes, self.ahead, self.touches = ActionCodes(self._state), None, 0
        self._lock_time = int(self._spec.timing.core_lock[0])
        for core, before in self.running.items():
            assert before.function is not None
            seen = self._seen(before.core.tile, before.kernel, before.function)
            actions = _actions(before.function, seen)
            again = Running(seen, actions, before.kernel, before.declared, _NO_STEPS, before.function)
            again.enabled, again.listed = before.enabled, before.listed
            self.running[core] = again

    def resume_ended(self, core: int, kernel: str, *, endless: bool | None, released: Iterable[int]) -> None:
        """Know of a kernel that has ended already: of a model that is brought back to where it was."""
        seen = Core(self._state, int(self._cores.tile[core]), kernel)
        self.running[core] = Running(seen, iter(()), kernel, endless, _NO_STEPS, released=set(released))
        self._in_order = sorted(self.running)

    def serve(self) -> None:
        """Give every core that asks its next action; a core that was reset begins its kernel anew."""
        resets = self._cores.reset
        if resets.tobytes() != self._no_resets:
            for core in [n for n, reset in enumerate(resets) if reset]:
                try:
                    self._follow_reset(core)
                except DesignError as error:
                    if not self.stop_failed(core, error):
                        raise
        for core in self.asking():
            try:
                self._next(core, self.running[core])
            except Exception as error:
                self.note_place(core, error)
                if not self.stop_failed(core, error):
                    raise
        self._clock.asking[0] = 0

    def note_place(self, core: int, error: Exception) -> None:
        """Note at an error of a kernel which one it was, and when."""
        error.add_note(f"in {self.running[core].core.name}, before cycle {self._clock.now[0]}")

    def stop_failed(self, core: int, error: Exception) -> bool:
        """Halt a core whose kernel failed, if errors are kept; whether they are."""
        if self.failed is None or is_out_of_memory(error):
            return False
        self.failed[core] = error
        self._clock.alarms[0] += 1
        debug.halt(self._state, core, debug.BY_ERROR)
        return True

    def asking(self) -> list[int]:
        """The cores that want to be given an action, in order."""
        phase, active, halted = self._cores.phase, self._cores.active, self._cores.halted
        return [n for n in self._in_order if phase[n] == _NEXT and active[n] != OFF and not halted[n]]

    def following(self, core: int) -> Action | None:
        """What the kernel of a core does next: it runs on to there; None = it has come to its end."""
        running = self.running[core]
        if running.handed_back:
            return running.handed_back.pop()
        if running.listed:  # it sees nothing, and makes nothing new
            return next(running.actions, None)
        action = self._asked(core, running)
        if isinstance(action, Accesses):
            running.accessed += action.nbytes
        return action

    def _asked(self, core: int, running: Running) -> Action | None:
        """What the kernel of a core does next, asked now."""
        seen = running.core
        seen.renew_views()
        self.at_work = core
        try:
            action = _following(running)
        finally:
            self.at_work = -1
        seen.made.remove(action)
        if seen.made.forgotten:
            raise _not_yielded(seen)
        return action

    def hand_back(self, core: int, action: Action | None) -> None:
        """Let an action that :meth:`following` gave be the next one that it gives."""
        self.running[core].handed_back.append(action)

    def begin(self, core: int, action: Action) -> None:
        """Set the core to work on an action from this cycle on."""
        self._begin(core, self.running[core], action)

    def look(self) -> None:
        """Somebody looks at the model as a whole: bring it to where the kernels are.

        Raises:
            DesignError: it is a kernel that keeps to itself.
        """
        if self.at_work >= 0 and self.running[self.at_work].core.keeps_to is not None:
            raise looks_outside(self.running[self.at_work].core.name)
        if self.ahead is not None:
            self.ahead()

    def _touch(self) -> None:
        """A kernel is about to access a register of its tile, or to look at the time or its stream port."""
        self.touches += 1
        if self.ahead is not None:
            self.ahead()

    def _follow_reset(self, core: int) -> None:
        """Take the kernel from a core that was reset, and give it again once it is enabled without reset."""
        running, tile = self.running.get(core), int(self._cores.tile[core])
        if self._cores.reset[core] == 1:
            self.stop(tile)
            self._cores.reset[core] = 2
        if running is None:
            self._cores.reset[core] = 0
            return
        word, enabled = self._control(tile), running.enabled
        if running.function is None:  # it ended before the array was saved
            if word & _ENABLE and not word & _RESET:
                self._cores.reset[core] = 0
                raise _not_saved(running)
            return
        if word & _RESET or not (word & _ENABLE or not enabled):
            return
        self.attach(tile, running.function, endless=running.declared)
        self.running[core].enabled = enabled

    def _control(self, tile: int) -> int:
        """The Core_Control of a tile with a core."""
        unit = int(self._spec.tiles.first_unit[tile])  # the core module's comes first
        return int(self._state.registers[int(self._spec.event_units.core[unit])])

    def _locks_of(self, tile: int) -> list[int]:
        """The locks that the core of ``tile`` sees, side by side; what is on no side it cannot name."""
        tiles = plain(self._spec.tiles)
        owners = tiles.core_reach[tile]
        locks: list[int] = (tiles.lock_base[owners][:, None] + np.arange(COMPUTE.locks)).ravel().tolist()
        return locks

    def _free_core(self, tile: int, kernel: str) -> int:
        spec = self._spec
        core = int(spec.tiles.core[tile]) if 0 <= tile < len(spec.tiles.core) else -1
        if core < 0:
            raise DesignError.of(
                "tile",
                f"tile {tile}",
                f"a {COMPUTE.title}",
                f"tile {tile} is no {COMPUTE.title}, so it has no core",
                reason="kernel_tile",
                where=f"kernel {kernel!r}",
                source="AM020 chapter 4",
            )
        if self._cores.phase[core] not in (CorePhase.IDLE, CorePhase.DONE):
            raise DesignError.of(
                f"kernel {kernel!r}",
                f"kernel {self.running[core].kernel!r} still runs",
                "one kernel at a time",
                f"kernel {kernel!r} cannot start: kernel {self.running[core].kernel!r} still runs",
                reason="kernel_twice",
                where=f"core {place(spec, tile)}",
                source="a core runs one kernel at a time",
            )
        return core

    def _next(self, core: int, running: Running) -> None:
        if running.listed:
            self._next_of_list(core, running)
            return
        if running.exchange is not None:
            running.exchange.end(self._state, core)
            if running.exchange.begin(self._state, core):
                self.codes.note(core, None)
                return
        if len(running.steps):
            self.codes.note(core, None)
            self._lay_out(core, running)
            return
        if running.asked >= 0:
            running.taken.add(running.asked)
            running.asked = -1
        touches = self.touches
        action = self.following(core)
        self.codes.note(core, action if self.touches == touches else None)
        self._go_on(core, running, action)

    def _next_of_list(self, core: int, running: Running) -> None:
        if running.asked >= 0:
            running.taken.add(running.asked)
            running.asked = -1
        action = self.following(core)
        self.codes.note(core, action)
        self._go_on(core, running, action)

    def _go_on(self, core: int, running: Running, action: Action | None) -> None:
        """Set the core to work on what its kernel does next; None = it has come to its end."""
        if action is None:
            self._cores.phase[core], self._cores.ended[core] = int(CorePhase.DONE), 1
            retire_cores(self._state)
        else:
            self._begin(core, running, action)

    def _begin(self, core: int, running: Running, action: Action) -> None:
        """Set the core to work on ``action`` from this cycle on."""
        cores, now = self._cores, self._clock.now[0]
        cores.step[core] = 0
        if isinstance(action, Wait):
            cores.phase[core] = _WAIT
            cores.until[core] = now + taken(action.cycles, core) - 1
        elif isinstance(action, EventInstruction):
            cores.phase[core], cores.until[core] = _WAIT, now
            raise_event(self._state, self._units[core], _INSTRUCTION_EVENTS[action.number], now)
        elif isinstance(action, LockOperation):
            cores.phase[core] = _ACQUIRE if action.acquire else _RELEASE
            cores.until[core] = now + self._lock_time
            cores.lock[core], cores.value[core] = action.lock, action.value
            cores.target[core] = target = self._targets[core][action.lock]
            if action.acquire:
                running.asked = target
            else:
                running.released.add(target)
        elif isinstance(action, Accesses) and len(action.steps):
            running.steps = action.steps
            self._lay_out(core, running)
        elif isinstance(action, LinkAction):
            running.exchange = Exchange.of(action)
            running.exchange.begin(self._state, core)
        else:
            raise DesignError.of(
                "yield",
                repr(action),
                _ACTIONS,
                f"the kernel yielded {action!r}; it must yield {_ACTIONS}",
                reason="kernel_action",
                where=running.core.name,
                source="kernels of memtile",
            )

    def _lay_out(self, core: int, running: Running) -> None:
        """Give the core as many steps of its pattern as it has room for."""
        part, running.steps = running.steps[:CORE_STEPS], running.steps[CORE_STEPS:]
        self._state.accesses[core, : len(part)] = part
        cores = self._cores
        cores.phase[core], cores.step[core], cores.steps[core] = CorePhase.ACCESS, 0, len(part)
        cores.begun[core] = 0


def _following(running: Running) -> Action | None:
    """The next action of a kernel, which gets what its last one brought; None at its end."""
    exchange, running.exchange = running.exchange, None
    answer = None
    if exchange is not None:
        answer = exchange.answer
        running.links.add(exchange.phase)
    if answer is None or not isinstance(running.actions, Generator):
        return next(running.actions, None)
    assert exchange is not None
    running.core.last = exchange.last
    try:
        action: Action = running.actions.send(answer)
    except StopIteration:
        return None
    return action


def _actions(kernel: Kernel, core: Core) -> Iterator[Action]:
    """What a kernel yields.

    Raises:
        DesignError: it is no generator.
    """
    made: object = kernel(core)
    if not isinstance(made, Iterable):
        problem = Problem(
            "kernel",
            f"a function that returned {made!r}",
            "a generator",
            f"the kernel returned {made!r}; it must be a generator function",
            "Use yield in it.",
            reason="kernel_generator",
            where=core.name,
            source="kernels of memtile",
        )
        raise DesignError(problem)
    return iter(made)


def _not_yielded(core: Core) -> DesignError:
    """A kernel has made an action and did not yield it."""
    problem = Problem(
        "action",
        f"{core.made.forgotten} without yield",
        "actions that are yielded",
        f"{core.made.forgotten} was made, but not yielded",
        f"Write yield {core.made.forgotten}.",
        reason="kernel_yield",
        where=core.name,
        source="kernels of memtile",
    )
    return DesignError(problem)


def _not_saved(running: Running) -> DesignError:
    """A core is to begin a kernel anew that a saved array does not hold."""
    problem = Problem(
        "kernel",
        f"{running.kernel!r} is not in the saved array, and its core was reset and enabled",
        "kernels of this process",
        f"the core was reset, but a saved array does not hold its kernel {running.kernel!r}",
        "Give the kernel to the tile again with run_kernel after Array.load.",
        reason="kernel_saved",
        where=running.core.name,
        source="a Python generator cannot be saved; DEV-CORE-6",
    )
    return DesignError(problem)
