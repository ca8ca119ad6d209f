"""Clocks of their own for the parts of an array that do not hang together.

Tiles that can have no say in what others do, see ``forward.reach``, need not be at the same cycle as these:
each such part is brought on by itself, for a piece of time at once, and jumps over its own periods. At the
end of a piece all parts are at one cycle again, in the state that one clock for all would have led to.

Where a kernel raises an error others may have gone further. If several parts have kernels, all is put back to
the beginning of the piece then and brought to the error with one clock, see ``sim.kernels.journal``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol
from weakref import ref

import numpy as np

from memtile.jit.decorators import ENABLED
from memtile.jit.structs import at_hand
from memtile.jit.tables import plain
from memtile.model.checking import history_log, notes
from memtile.model.state.state import State
from memtile.sim.kernels.journal import Moment, sum_of
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop import clock
from memtile.sim.loop.upsets import Upsets
from memtile.sim.ports.external_buffers import ExternalMemory
from memtile.sim.skip import calls, reached_tiles
from memtile.sim.skip.clock_split import Bools, Split, listed
from memtile.sim.skip.connectivity import labels, ties_of_kernels
from memtile.sim.skip.periods import FastForward
from memtile.sim.skip.reached_tiles import Groups

Step = Callable[[int, int], clock.Stop]
"""Advances what has the clock, with its kernels, to a cycle at most, and by so many stepped cycles, about."""

_SLICE = 1 << 16  # cycles between looks at the outside world
_LEAST = 1 << 12  # cycles of a run that is worth to find the parts
_USERS = 1 << 12  # BDs of external memory at most
_ROW = 5  # nanoseconds, about, that finding them takes for each row that may be live
_KERNELS = 60_000  # for each kernel
_SPLIT = 30_000  # and in any case
_WORTH = 20  # times as long as that a run has been before
_MOST_IN_VAIN = 6  # times in a row after which that does not double any more
_WELL = 0.9  # part of the cycles that one clock jumps over, where it is let
_PIECE, _LONGEST, _LONGER = 1 << 17, 1 << 40, 4  # cycles of a piece; the next one is so many times longer
_STEPPED = 1 << 17  # if all parts together have stepped no more than so many
_MOST_DEEDS, _MOST_WRITTEN = 1 << 17, 1 << 26  # of kernels in a piece, about; bytes that they write
_MOST_OUTSIDE = 1 << 26  # bytes of the arrays that are written outside, where several parts have kernels
_QUIET, _LIMIT = clock.Stop.QUIET, clock.Stop.LIMIT
_CAUSES = {
    "active_units": "event units are active",
    "in_flight": "broadcast events are on their way",
    "guarding": "a scrubber, or a report of errors, is at work",
    "zeroising": "memory is zeroised",
    "asking_axi": "memory-mapped accesses use the banks",
}
_CONTROLLED = "control packets may come"
_BUS = "kernels may access registers"
_AT_PORTS = "kernels are at work while words come from the host or go to it"
_MIXED = "not all kernels keep apart"  # others must not have gone further where one raises an error
_FLIPPED = "kernels are at work where cells are flipped"
_OUTSIDE = f"kernels are at work and more than {_MOST_OUTSIDE >> 20} MB outside are written"


class Outside(Protocol):
    """What there is of an engine beside its state."""

    external: ExternalMemory
    upsets: Upsets
    left: dict[int, list[tuple[int, int]]]


class ClockParts(NamedTuple):
    """What has a clock of its own.

    Attributes:
        own: the tiles of each part that does something, first of those that have kernels.
        kernels: how many of them have kernels.
        unknown: whether there are kernels of which nobody knows what they reach.
    """

    own: list[Bools]
    kernels: int
    unknown: bool


class _Came(NamedTuple):
    """How far parts were brought on: to a cycle, the last one in which something happened, or an error."""

    horizon: int
    latest: int
    quiet: bool
    trouble: BaseException | None


class OwnClocks:
    """The clocks of one engine.

    Args:
        forward: its fast-forward.
        cores: its kernels.
        outside: the engine itself, which has these clocks and is not kept by them.

    Attributes:
        on: whether parts that do not hang together have clocks of their own; by default where the engine is
            compiled.
        free: the parts are looked for at once, in short runs too.
        pieces: times that parts were brought on one after the other so far.
        parts: of the run, None = it has one clock, or has not been long enough.
    """

    def __init__(self, forward: FastForward, cores: Cores, outside: Outside) -> None:
        self.on = ENABLED
        self.pieces = 0
        self.free = False
        self._forward, self._cores, self._engine = forward, cores, ref(outside)
        self._groups: Groups | None = None
        self.parts: ClockParts | None = None
        self._may, self._searched, self._piece = False, False, _PIECE
        self._first, self._left, self._seen = 0, 0, (0, 0)  # cycles with one clock at first
        self._kept: Moment | None = None  # of this run
        self._in_vain = 0  # times in a row that there was but one part

    def begin(self, st: State, until: int, *, alone: bool) -> None:
        """Get ready for a run; ``alone`` = nobody looks at the model as a whole while it runs."""
        now = int(at_hand(st).clock.now[0])
        cycles = until - now
        self._may = self.on and alone and cycles >= (1 if self.free else _LEAST) and len(st.active_ports) > 0
        self._may &= len(at_hand(st.spec).tiles.kind) > 1
        self._may &= not (st.logging[history_log.ON] or st.noting[notes.ON])
        self.parts, self._searched, self._piece, self._kept = None, False, _PIECE, None
        if self._may:
            worth = _WORTH << min(self._in_vain, _MOST_IN_VAIN)
            self._first = 0 if self.free else worth * self._cost(st) // self._of_cycle(st)
            self._left, self._seen = self._first, (now, self._forward.jumped)

    def run(self, st: State, until: int, step: Step, serve: Callable[[], None]) -> clock.Stop:
        """Advance to cycle ``until`` at most, a slice or a piece of time; why the clock stopped.

        ``serve`` has the host take and give words at the ports.

        A piece ends with all parts at one cycle, also if an exception ends it: that of a kernel, at the cycle
        in which it came; any other one, after the piece.
        """
        if not self._may:
            return step(until, _SLICE)
        if at_hand(st).clock.asking[0] > 0:
            return step(until, 1)  # no core may ask when the parts are found and get their clocks
        if self._left > 0:
            cycles = min(self._left, _SLICE)
            self._left -= cycles
            stop = step(until, cycles)
            if self._left == 0 and self._jumps_well(int(st.clock.now[0])):
                self._left = self._first
            return stop
        if not self._searched:
            self.parts, self._searched = self._find(st), True
            self._in_vain = self._in_vain + 1 if self.parts is None else 0
        if self.parts is None:
            return step(until, _SLICE)
        return self._run_parts(st, self.parts, until, partial(self._advance, st, step, serve))

    def _jumps_well(self, now: int) -> bool:
        """Whether one clock has jumped over nearly all cycles since this was last asked."""
        (before, jumped), self._seen = self._seen, (now, self._forward.jumped)
        return self._forward.jumped - jumped > _WELL * (now - before)

    def _cost(self, st: State) -> int:
        """What it costs to find the parts, in nanoseconds, about."""
        rows = len(at_hand(st).switch.held) + 4 * len(at_hand(st).channels.phase)
        return int(_SPLIT + _ROW * rows + _KERNELS * st.active_cores[0])

    def _of_cycle(self, st: State) -> int:
        """What it costs to simulate a cycle, in nanoseconds, about."""
        return int(7 + 20 * st.active_channels[0] + 13 * st.active_ports[0] + 20 * st.active_cores[0])

    def _find(self, st: State) -> ClockParts | None:
        """The parts, if there is more than one of them that does something and no reason against it."""
        tiles = len(st.spec.tiles.kind)
        if self._groups is None:
            self._groups = Groups(
                np.zeros(tiles, np.int64), np.zeros((_USERS, reached_tiles.OF_USER), np.int64)
            )
        causes = [text for name, text in _CAUSES.items() if getattr(st, name)[0] > 0]
        causes += [_CONTROLLED] if calls.find_groups(st, self._groups) else []
        causes += [_BUS] if self._cores.may_access_registers() else []
        found = self._parts(st, together=False)
        if found.kernels > 1 and (cause := self._bound(st, found)):
            found = self._parts(st, together=True)
            if not causes:
                self._forward.together = f"independent parts share one clock because {cause}"
        if len(found.own) < 2:
            return None
        if causes:
            self._forward.together = f"independent parts share one clock because {causes[0]}"
            return None
        return found

    def _parts(self, st: State, *, together: bool) -> ClockParts:
        """What does not hang together; ``together`` = no kernel is taken to keep to itself."""
        assert self._groups is not None
        running, groups = self._cores.running, self._groups
        reached = {core: each.core.keeps_to for core, each in running.items()}
        kernels = ties_of_kernels(st, reached, together=together)
        found = labels(Groups(groups.parent.copy(), groups.users), kernels, words=not st.clock.wordless[0])
        in_cascades = plain(st.cores).tile[plain(st.cascades).out_held > 0]
        at_work = np.concatenate([found[in_cascades], *(found[owner[each]] for each, owner in listed(st))])
        busy = set(at_work.tolist())  # np.unique would load numpy.ma
        first = busy.intersection(found[[tiles[0] for tiles in kernels.tiles]].tolist())
        ranked = [*sorted(first), *sorted(busy - first)]
        return ClockParts([found == label for label in ranked], len(first), bool(kernels.unknown))

    def _bound(self, st: State, found: ClockParts) -> str:
        """Why kernels have one clock though they keep to themselves; empty = they need not."""
        ports = plain(st.ports)
        if found.unknown:
            return _MIXED
        if self._cores.journal.left:
            return "kernels do again what they did"
        if (ports.has_sink + ports.source_end + ports.source_more + ports.next_end).any():
            return _AT_PORTS
        if plain(st.guards).inspected.any():
            return _FLIPPED
        return _OUTSIDE if sum(array.nbytes for array in self._written()) > _MOST_OUTSIDE else ""

    @property
    def _outside(self) -> Outside:
        engine = self._engine()
        assert engine is not None  # it runs
        return engine

    def _written(self) -> list[Any]:
        """The arrays of external memory that channels write to."""
        assert self._groups is not None
        users = self._groups.users[1 : 1 + self._groups.users[0, 0]]
        writers = users[users[:, reached_tiles.WRITES] == 1]
        found = []
        for buffer in self._outside.external.buffers.values():
            home, array = int(buffer.array.__array_interface__["data"][0]), buffer.array
            meets = (writers[:, reached_tiles.FIRST] < home + array.nbytes) & (
                writers[:, reached_tiles.END] > home
            )
            if self._groups.users[0, reached_tiles.TOO_MANY] or meets.any():
                found.append(array)
        return found

    def _run_parts(
        self, st: State, parts: ClockParts, until: int, advance: Callable[[int], clock.Stop]
    ) -> clock.Stop:
        """Bring all parts on by a piece, one after the other."""
        began, jumped = int(st.clock.now[0]), self._forward.jumped
        moment = self._moment(st) if parts.kernels > 1 else None
        split = Split(st, parts.own, self._cores)
        self.pieces += 1
        came = self._bring_on(st, parts.own, split, min(until, began + self._piece), advance)
        if moment is not None and came.trouble is not None and self._is_of_kernel(came.trouble):
            moment.put_back()
            self._forward.put_back(st, jumped)
            self._come_to_error(st, came.horizon, advance)
            raise came.trouble
        stop, end = (_QUIET, came.latest) if came.quiet else (_LIMIT, came.horizon)
        for number in range(len(parts.own)):
            split.catch_up(number, end)
        split.join()
        self._forward.look_at(st, np.ones(len(st.spec.tiles.kind), bool))
        stepped = len(parts.own) * (end - began) - (self._forward.jumped - jumped)
        self._piece = self._next_piece(end - began, many=stepped > _STEPPED)
        if moment is not None:
            self._cores.journal.forget()
        self._forward.among(len(parts.own), jumped)
        if stop is _QUIET or end == until:
            self._kept = None
        if came.trouble is not None:
            raise came.trouble
        return stop

    def _bring_on(
        self, st: State, own: list[Bools], split: Split, horizon: int, advance: Callable[[int], clock.Stop]
    ) -> _Came:
        """Bring the parts on up to a cycle; where the first one ends with an error, up to there."""
        latest, trouble, quiet = int(st.clock.now[0]), None, True
        for number, tiles in enumerate(own):
            split.enter(number)
            self._forward.look_at(st, tiles)
            stop = _LIMIT
            for _ in range(2):  # whatever ends a part, it is brought on as far as the others
                try:
                    stop = advance(horizon)
                    break
                except BaseException as error:
                    trouble = trouble or error
                    if self._is_of_kernel(error) or (number == 0 and not self._cores.journal.noting):
                        horizon = int(st.clock.now[0])
                        break
            latest, quiet = max(latest, int(st.clock.now[0])), quiet and stop is _QUIET
            split.leave(number)
            if trouble is not None and self._is_of_kernel(trouble):
                break  # all is put back
        return _Came(horizon, latest, quiet, trouble)

    def _is_of_kernel(self, error: BaseException) -> bool:
        """Whether it is noted what kernels do, and this came while one of them was asked."""
        journal = self._cores.journal
        return journal.noting and (journal.failed or isinstance(error, Exception))

    def _moment(self, st: State) -> Moment:
        """The model as it is, to be put back; what kernels do from now on is noted."""
        self._cores.journal.begin()
        if self._kept is None:
            self._kept = Moment(st, self._cores.running, self._written(), self._outside.left)
        else:
            self._kept.renew()
        return self._kept

    def _come_to_error(self, st: State, cycle: int, advance: Callable[[int], clock.Stop]) -> None:
        """Bring the model to an error of a kernel before this cycle or an earlier one, which is raised."""
        journal = self._cores.journal
        outside = [buffer.array for buffer in self._outside.external.buffers.values()]
        journal.do_again()
        try:
            advance(cycle + 1)
        finally:
            journal.watch(lambda: sum_of(st, outside))

    def _next_piece(self, cycles: int, *, many: bool) -> int:
        """How long the next piece is: of the last one so ``many`` were stepped."""
        wanted = _PIECE if many else min(_LONGER * self._piece, _LONGEST)
        journal = self._cores.journal
        used = max(journal.deeds / _MOST_DEEDS, journal.nbytes / _MOST_WRITTEN)
        return max(min(wanted, int(cycles / used)), _LEAST) if used else wanted

    def _advance(self, st: State, step: Step, serve: Callable[[], None], horizon: int) -> clock.Stop:
        """Bring the part that has the clock to a cycle."""
        while True:
            stop = step(horizon, _SLICE)
            serve()
            if stop is _QUIET or (stop is _LIMIT and st.clock.now[0] >= horizon):
                return stop
