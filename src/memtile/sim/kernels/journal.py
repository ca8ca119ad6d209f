"""What kernels have done since a moment, so that it can be done again without them.

Parts of an array with clocks of their own do not come to an error of a kernel at the same time: some have
gone on by then, and a Python generator cannot go back. So while several of them have kernels, it is noted
what each kernel asked for and wrote; the model is put back to where it was, and brought to the error with one
clock for all, in which kernels do again what is noted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from types import TracebackType
from typing import Any
from zlib import crc32

import numpy as np

from memtile.errors import SimulationError
from memtile.model.state.state import State
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_at_work import Running
from memtile.sim.loop.new_state import LOGS

Ask = Callable[[], Action | None]
LeftWords = dict[int, list[tuple[int, int]]]
_SAME = {"spec", "flips", "fates", "log", "notes", "labels"}  # flipped cells, notes for checks
_HEARD = "memory", "registers", "locks", "channels", "fields", "fifos", "switch", "cascades"
_KEPT = "released", "taken", "links", "handed_back"  # of a kernel, that change in place
_OWN = {"core", "actions", "function"}


@dataclass(slots=True)
class Deed:
    """What a kernel did when it was asked for its next action.

    Attributes:
        action: what it asked for; None = it came to its end.
        error: what it raised; None = nothing.
        written: first byte of memory, and what it left from there on.
        notes: of the error.
        traceback: of the error.
    """

    action: Action | None = None
    error: BaseException | None = None
    written: list[tuple[int, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    traceback: TracebackType | None = None

    def fail(self, error: BaseException) -> None:
        """Note what the kernel raised."""
        self.error, self.traceback = error, error.__traceback__
        self.notes = list(getattr(error, "__notes__", ()))

    def give(self) -> Action | None:
        """The action, or the error as it was."""
        if self.error is None:
            return self.action
        self.error.__notes__ = list(self.notes)
        raise self.error.with_traceback(self.traceback)


class Journal:
    """What the kernels of an engine do, while it is noted or to be done again.

    Attributes:
        idle: whether nothing is noted, and nothing is to be done again.
        noting: whether it is noted what kernels do.
        failed: whether a kernel has raised something since it was last begun.
        deeds: how many are noted.
        nbytes: bytes of memory that they have written.
        stale: whether somebody has changed what they go by since; None = nobody wants to know.
    """

    def __init__(self) -> None:
        self.idle, self.failed = True, False
        self.deeds = self.nbytes = 0
        self.stale: Callable[[], bool] | None = None
        self.noting = False
        self._deeds: dict[int, deque[Deed]] = {}

    @property
    def left(self) -> list[int]:
        """Cores whose kernels have done what is to be done again."""
        return [core for core, deeds in self._deeds.items() if deeds]

    def begin(self) -> None:
        """Note what kernels do from now on."""
        self._deeds, self.noting, self.idle, self.failed = {}, True, False, False
        self.deeds = self.nbytes = 0

    def forget(self) -> None:
        """Nothing of what was noted will be done again."""
        self._deeds, self.noting, self.idle, self.stale = {}, False, True, None

    def do_again(self) -> None:
        """Have kernels do what is noted, before they are asked themselves."""
        self.noting = False

    def following(
        self, core: int, running: Running, memory: Any, ask: Callable[[], Action | None]
    ) -> Action | None:
        """What a kernel does next.

        Args:
            core: that it runs on.
            running: the kernel.
            memory: of all tiles, uint32[words].
            ask: asks it.
        """
        if self.noting:
            return self._noted(core, running, memory, ask)
        if not self._deeds.get(core):
            return ask()
        deed = self._deeds[core].popleft()
        self.idle = not self.left
        exchange, running.exchange = running.exchange, None
        if exchange is not None:
            running.links.add(exchange.phase)
        place = memoryview(memory).cast("B")
        for first, data in deed.written:
            place[first : first + len(data)] = data
        return deed.give()

    def _noted(
        self, core: int, running: Running, memory: Any, ask: Callable[[], Action | None]
    ) -> Action | None:
        place, seen = memoryview(memory).cast("B"), running.core
        before = [(first, bytes(place[first : first + count])) for first, count in seen.viewed()]
        written: list[tuple[int, int]] = []
        seen.written = written
        deed = Deed()
        try:
            deed.action = ask()
        except BaseException as error:
            deed.fail(error)
            self.failed = True
            raise
        finally:
            seen.written = None
            now = [(first, bytes(place[first : first + count])) for first, count in written]
            for first, data in before:
                after = bytes(place[first : first + len(data)])
                if after != data:
                    now.append((first, after))
            deed.written = now
            self._deeds.setdefault(core, deque()).append(deed)
            self.deeds += 1
            self.nbytes += sum(len(data) for _, data in now)
        return deed.action

    # after an error --------------------------------------------------------------------------------------

    def watch(self, look: Callable[[], int]) -> None:
        """What is left to be done again holds as long as ``look`` gives the same as now."""
        if not self.left:
            self.forget()
            return
        before = look()
        self.stale = lambda: look() != before

    def check(self, names: Callable[[int], str], now: int) -> None:
        """See that what kernels have done already is still what they would do.

        Args:
            names: of kernels, by core.
            now: cycle.

        Raises:
            SimulationError: somebody has changed the model since.
        """
        stale, self.stale = self.stale, None
        if stale is None or not self.left or not stale():
            return
        self.stale = lambda: True
        who = ", ".join(map(names, self.left))
        raise SimulationError.of(
            "kernel",
            f"the model was changed at cycle {now}, after an error of another kernel",
            "a model as the error left it",
            f"the kernel had gone on when another one raised an error, and the model was changed at "
            f"cycle {now} since",
            "Make the design anew, or take apart from its kernels.",
            reason="kernel_ahead",
            where=who,
            source="kernels that keep to themselves, docs/speed.md",
        )


class Moment:
    """A model and its kernels as they are now, to be put back.

    Args:
        st: state.
        running: the kernels, by core.
        outside: arrays of external memory that are written.
        left: words that the host has taken, by port.
    """

    def __init__(
        self,
        st: State,
        running: dict[int, Running],
        outside: list[Any],
        left: LeftWords,
    ) -> None:
        self._running, self._left = running, left
        self._arrays = [(array, np.empty_like(array)) for array in [*_arrays(st), *outside]]
        self.renew()

    def renew(self) -> None:
        """Be the present moment."""
        for array, values in self._arrays:
            np.copyto(values, array)
        self._counts = {port: len(words) for port, words in self._left.items()}
        self._kernels = {core: _parts_of(each) for core, each in self._running.items()}

    def put_back(self) -> None:
        """Have all be again as it was."""
        for array, values in self._arrays:
            array[...] = values
        for port, words in self._left.items():
            del words[self._counts.get(port, 0) :]
        for core, parts in self._kernels.items():
            for name, value in parts.items():
                setattr(self._running[core], name, value)


def _arrays(st: State) -> Iterator[Any]:
    """The arrays of a state, but for what does not change while parts have clocks of their own."""
    for name in st._fields:
        table: Any = getattr(st, name)
        if name in _SAME:
            continue
        if name in LOGS:
            yield table[:1]  # between two pieces of time no other row means something
        else:
            yield from _in_table(table)


def _in_table(table: Any) -> tuple[Any, ...]:
    """The columns of a table; of an array that is none itself."""
    return tuple(table) if isinstance(table, tuple) else (table,)


def _parts_of(running: Running) -> dict[str, Any]:
    """What changes of a kernel at work, beside its generator."""
    parts = {each.name: getattr(running, each.name) for each in fields(running) if each.name not in _OWN}
    parts |= {name: parts[name].copy() for name in _KEPT}
    if running.exchange is not None:
        parts["exchange"] = replace(running.exchange, words=running.exchange.words.copy())
    return parts


def sum_of(st: State, outside: Iterable[Any]) -> int:
    """A number that changes with what a kernel may come to hear of: in the model, or in external memory."""
    found = 0
    tables = [*(getattr(st, name) for name in _HEARD), st.cores.phase, st.cores.reset, st.cores.halted]
    for array in [*(array for table in tables for array in _in_table(table)), *outside]:
        found = crc32(np.ascontiguousarray(array).tobytes(), found)
    return found
