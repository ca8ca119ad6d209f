"""What a core looks like from outside: its name, whether it is done, and what it waits for.

It also says whom a core waits for at its cascade or its stream, by name, and why nothing comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb

from memtile.arch.core import CORE
from memtile.arch.ports import PORTS
from memtile.arch.tiles import TILE_KINDS
from memtile.explain.bd_chains import BdChains
from memtile.explain.lock_waits import wait_text, wanted_text
from memtile.explain.names import core_name
from memtile.explain.results import CoreUse
from memtile.model.cores import debug
from memtile.model.cores.cascade import receiver, sender
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import LINKS, CoreCause, CorePhase
from memtile.sim.kernels.core_control import without_program
from memtile.sim.kernels.kernel_lines import place_inside
from memtile.sim.loop.engine import Engine

_PACKAGE = Path(__file__).parents[1]
_CASCADES = [phase for phase, link in LINKS.items() if link.stall is CoreCause.CASCADE_STALL]
_REGISTER = "Accumulator_Control"


def awaited(engine: Engine, core: int) -> int | None:
    """The core at the other end of the cascade that a core waits at; -1 = none, None = it does not wait."""
    state, phase = engine.state, engine.state.cores.phase[core]
    if state.cores.why[core] != CoreCause.CASCADE_STALL or phase not in _CASCADES:
        return None
    one, other = (sender, receiver) if phase == CorePhase.GET_CASCADE else (receiver, sender)
    there = one(state, core)
    return there if there >= 0 and other(state, there) == core else -1


def link_text(engine: Engine, core: int) -> str:
    """One line about a core at its cascade or its stream: what it waits for, and who does not do it."""
    phase = CorePhase(int(engine.state.cores.phase[core]))
    if phase == CorePhase.GET_CASCADE:
        return f"{LINKS[phase].text}{_from(engine, core)}"
    if phase == CorePhase.PUT_CASCADE:
        return f"{LINKS[phase].text}{_to(engine, core)}"
    return f"{LINKS[phase].text}, {_stream(engine, core, gets=phase == CorePhase.GET_STREAM)}"


def _from(engine: Engine, core: int) -> str:
    cascades, there = engine.state.cascades, sender(engine.state, core)
    side = "west" if cascades.from_west[core] else "north"
    if there < 0:
        return f", whose input is the {side}, where no core is ({_REGISTER} of its tile)"
    text = f" from {core_name(engine, there)} in the {side}"
    if receiver(engine.state, there) != core:
        other = "east" if cascades.to_east[there] else "south"
        return f"{text}, which puts its values to the {other} ({_REGISTER} of its tile)"
    return f"{text}, {_does(engine, there, core)}"


def _to(engine: Engine, core: int) -> str:
    cascades, there = engine.state.cascades, receiver(engine.state, core)
    side = "east" if cascades.to_east[core] else "south"
    if there < 0:
        return f", whose output is the {side}, where no core is ({_REGISTER} of its tile)"
    text = f" to {core_name(engine, there)} in the {side}"
    if sender(engine.state, there) != core:
        other = "west" if cascades.from_west[there] else "north"
        return f"{text}, which gets its values from the {other} ({_REGISTER} of its tile)"
    waiting = int(cascades.out_held[core] + cascades.in_held[there])
    return f"{text}, with {waiting} of {2 * CORE.cascade_depth} places taken, {_does(engine, there, core)}"


def _does(engine: Engine, there: int, core: int) -> str:
    """What the core at the other end does."""
    running, state = engine.cores.running.get(there), engine.state
    if running is None:
        return "which has no kernel"
    phase = CorePhase(int(state.cores.phase[there]))
    name = f"whose kernel {running.kernel!r}" if running.kernel else "whose program"
    if phase == CorePhase.DONE:
        return f"{name} has ended"
    if awaited(engine, there) == core:
        what = "a value" if phase == CorePhase.GET_CASCADE else "room"
        return f"{name} waits for {what} on the cascade from {core_name(engine, core)} itself"
    if phase in LINKS:
        return f"{name} {LINKS[phase].text} itself"
    return f"{name} waits for a lock" if phase == CorePhase.ACQUIRE else f"{name} does something else"


def _stream(engine: Engine, core: int, *, gets: bool) -> str:
    """At which port of its stream switch a core waits, and whether that port is connected."""
    cores, switch = engine.state.cores, engine.state.switch
    tile = int(cores.tile[core])
    ports = PORTS[TILE_KINDS[KIND_NAMES[engine.spec.tiles.kind[tile]]].name]
    port = int((cores.stream_in if gets else cores.stream_out)[core])
    name = (ports.masters if gets else ports.slaves)[int(switch.number[port])]
    side = "master" if gets else "slave"
    if switch.mode[port] == 0:
        return f"at {side} port {name} of its stream switch, which is not enabled"
    return f"at {side} port {name} of its stream switch, " + (
        "where none comes" if gets else "where none is taken"
    )


_UNSIMULATED = "its program is not simulated"
_WAY_OUT = "give it a kernel (--kernels FILE.py or run_kernel)"
_IDLE = "it does nothing, and whatever waits for it hangs; start memtile serve with --design or --kernels"


@dataclass(frozen=True, slots=True)
class CoreView:
    """One core of an engine that has or had a kernel.

    Args:
        engine: the model.
        core: model index of the core.
        chains: of the channels.
    """

    engine: Engine
    core: int
    chains: BdChains

    @property
    def name(self) -> str:
        """``core (0, 2)``: column and row of its tile."""
        return core_name(self.engine, self.core)

    @property
    def kernel(self) -> str:
        """Name of its kernel."""
        return self.engine.cores.running[self.core].kernel

    @property
    def done(self) -> bool:
        """Whether the kernel has ended."""
        return bool(self.engine.state.cores.phase[self.core] == CorePhase.DONE)

    @property
    def waits_endlessly(self) -> bool:
        """Whether it is an endless kernel that waits for a lock, a value of the cascade or a word."""
        waits = self.engine.state.cores.phase[self.core] in (CorePhase.ACQUIRE, *LINKS)
        return waits and self.engine.cores.running[self.core].endless

    def at_rest(self, good: Set[int]) -> bool:
        """Whether it is done, or an endless kernel that may wait: said to, or among the ``good`` cores."""
        if self.done:
            return True
        said = self.engine.cores.running[self.core].declared is True
        return self.waits_endlessly and (said or self.core in good)

    def use(self) -> CoreUse:
        """Cycles by cause."""
        spent = self.engine.state.core_spent[self.core]
        return CoreUse(self.name, self.kernel, {cause: int(spent[cause]) for cause in CoreCause})

    def waits_for(self) -> str:
        """One line: what the core does and what would let it go on."""
        cores = self.engine.state.cores
        inside = place_inside(self.engine.cores.running[self.core].actions)
        text = f"{self.name}, kernel {self.kernel!r}{f' at {inside}' if inside else ''}"
        if cores.why[self.core] == CoreCause.HALTED:
            return f"{text}: {self._halt()}"
        if cores.phase[self.core] == CorePhase.NEXT:
            return f"{text}: between two of its actions"
        if cores.phase[self.core] in LINKS:
            return f"{text}: {link_text(self.engine, self.core)}"
        if cores.phase[self.core] != CorePhase.ACQUIRE:
            return f"{text}: {CoreCause(int(cores.why[self.core])).text}"
        return f"{text}: {self._lock_wait()}"

    def _halt(self) -> str:
        """What halted the core, and the registers that say so."""
        if (error := (self.engine.cores.failed or {}).get(self.core)) is not None:
            return failed_by(error)
        if self.engine.state.cores.halted[self.core] & debug.BY_DISABLE:
            return "disabled by the host (Core_Control.Enable is 0)"
        return f"{CoreCause.HALTED.text} (Debug_Status, Error_Halt_Control)"

    def rests(self) -> str:
        """One line: for what an endless kernel waits; of a lock, without who could give it."""
        cores = self.engine.state.cores
        if cores.phase[self.core] in LINKS:
            return f"{self.name}, kernel {self.kernel!r}: {link_text(self.engine, self.core)}"
        tile, lock = int(cores.tile[self.core]), int(cores.target[self.core])
        wanted = wanted_text(self.engine, tile, lock, int(cores.value[self.core]))
        return f"{self.name}, kernel {self.kernel!r}: {wanted}"

    def _lock_wait(self) -> str:
        cores = self.engine.state.cores
        tile, lock = int(cores.tile[self.core]), int(cores.target[self.core])
        return wait_text(self.engine, self.chains, tile, lock, int(cores.value[self.core]), self.name)


def core_views(engine: Engine, chains: BdChains) -> Iterator[CoreView]:
    """The cores that have or had a kernel, in model order."""
    return (CoreView(engine, core, chains) for core in sorted(engine.cores.running))


def unsimulated(engine: Engine) -> Iterator[str]:
    """One line for each core that was enabled and has no kernel."""
    return (f"{_enabled(engine, core)}: {_WAY_OUT}" for core in without_program(engine))


def idle_text(engine: Engine, core: int) -> str:
    """That a core was enabled and does nothing, for who cannot give it a kernel."""
    return f"{_enabled(engine, core)}: {_IDLE}"


def failure_text(engine: Engine, core: int, error: Exception) -> str:
    """That the kernel of a core failed, where, and what begins it anew."""
    kernel = engine.cores.running[core].kernel if core in engine.cores.running else "kernel"
    again = "The core is halted (Core_Status.Error_Halt); reset and enable it to restart its kernel."
    return f"{core_name(engine, core)}, kernel {kernel!r}: {failed_by(error)}. {again}"


def failed_by(error: Exception) -> str:
    """An error of a kernel in one line, with the line of the user's file that it is from."""
    frames = [frame for frame in extract_tb(error.__traceback__) if not _is_own(frame.filename)]
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"stopped by {type(error).__name__}: {str(error).rstrip('.')}{at}"


def _is_own(file: str) -> bool:
    """Whether a file is of the package, or none, as that of code that was made."""
    return file.startswith("<") or Path(file).is_relative_to(_PACKAGE)


def _enabled(engine: Engine, core: int) -> str:
    return f"{core_name(engine, core)} was enabled; {_UNSIMULATED}"
