"""Clocks of their own for the parts of an array that do not hang together.

Tiles that can have no say in what others do, see ``forward.reach``, need not be at the same cycle as these:
each such part is brought on by itself, for a piece of time at once, and jumps over its own periods. At the
end of a piece all parts are at one cycle again, in the state that one clock for all would have led to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.decorators import ENABLED
from memtile.jit.structs import at_hand
from memtile.jit.tables import plain
from memtile.model.checking import history, notes
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim import clock, machine
from memtile.sim.cores import Cores
from memtile.sim.fast_forward import FastForward
from memtile.sim.forward import reach
from memtile.sim.forward.reach import Groups

Bools = npt.NDArray[np.bool_]
Step = Callable[[int, int], clock.Stop]
"""Advances what has the clock to a cycle at most, and by so many stepped cycles at most, about."""

_LEAST = 1 << 12  # cycles of a run that is worth to find the parts
_USERS = 1 << 12  # BDs of external memory at most
_ROW = 5  # nanoseconds, about, that finding them takes for each row that may be live
_SPLIT = 30_000  # and in any case
_WORTH = 20  # times as long as that a run has been before
_MOST_IN_VAIN = 6  # times in a row after which that does not double any more
_WELL = 0.9  # part of the cycles that one clock jumps over, where it is let
_PIECE, _LONGEST, _LONGER = 1 << 17, 1 << 40, 4  # cycles of a piece; the next one is so many times longer
_STEPPED = 1 << 17  # if all parts together have stepped no more than so many
_QUIET, _LIMIT, _KERNEL = clock.Stop.QUIET, clock.Stop.LIMIT, clock.Stop.KERNEL
_CAUSES = {
    "active_units": "event units are at work",
    "in_flight": "broadcast events are on their way",
    "guarding": "a scrubber, or a report of errors, is at work",
    "zeroising": "memory is zeroised",
    "asking_axi": "memory-mapped accesses use the banks",
}
_CONTROLLED = "control packets may come"
_BUS = "kernels may access registers"


class Parts(NamedTuple):
    """What has a clock of its own.

    Attributes:
        labels: of each tile, which part it is in.
        own: the tiles of each part that does something; kernels are in the first one.
    """

    labels: Ints
    own: list[Bools]


class OwnClocks:
    """The clocks of one engine.

    Args:
        forward: its fast-forward.
        cores: its kernels.

    Attributes:
        on: whether parts that do not hang together have clocks of their own; by default where the engine is
            compiled.
        free: the parts are looked for at once, in short runs too.
        pieces: times that parts were brought on one after the other so far.
        parts: of the run, None = it has one clock, or has not been long enough.
    """

    def __init__(self, forward: FastForward, cores: Cores) -> None:
        self.on = ENABLED
        self.pieces = 0
        self.free = False
        self._forward, self._cores = forward, cores
        self._groups: Groups | None = None
        self.parts: Parts | None = None
        self._may, self._searched, self._piece = False, False, _PIECE
        self._first, self._left, self._seen = 0, 0, (0, 0)  # cycles with one clock at first
        self._in_vain = 0  # times in a row that there was but one part

    def begin(self, st: State, until: int, *, alone: bool) -> None:
        """Get ready for a run; ``alone`` = nobody looks at the model as a whole while it runs."""
        now = int(at_hand(st).clock.now[0])
        cycles = until - now
        self._may = self.on and alone and cycles >= (1 if self.free else _LEAST) and len(st.active_ports) > 0
        self._may &= len(at_hand(st.spec).tiles.kind) > 1
        self._may &= not (st.logging[history.ON] or st.noting[notes.ON])
        self.parts, self._searched, self._piece = None, False, _PIECE
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
        return _SPLIT + _ROW * (len(at_hand(st).switch.held) + 4 * len(at_hand(st).channels.phase))

    def _of_cycle(self, st: State) -> int:
        """The same of a cycle."""
        return int(7 + 20 * st.active_channels[0] + 13 * st.active_ports[0] + 20 * st.active_cores[0])

    def _find(self, st: State) -> Parts | None:
        """The parts, if there is more than one of them that does something and no reason against it."""
        tiles = len(st.spec.tiles.kind)
        if self._groups is None:
            self._groups = Groups(np.zeros(tiles, np.int64), np.zeros((_USERS, reach.OF_USER), np.int64))
        controlled = machine.find_groups(st, self._groups)
        labels = _labels(self._groups, words=not st.clock.wordless[0], kernels=_kernel_tile(st))
        busy = np.unique(np.concatenate([labels[owner[listed]] for listed, owner in _listed(st)]))
        if len(busy) < 2:
            return None
        causes = [text for name, text in _CAUSES.items() if getattr(st, name)[0] > 0]
        causes += [_CONTROLLED] if controlled else []
        causes += [_BUS] if self._cores.may_access_registers() else []
        if causes:
            self._forward.together = f"what does not hang together has one clock, as {causes[0]}"
            return None
        kernels = _kernel_tile(st)
        first = labels[kernels] if kernels >= 0 else busy[0]
        ranked = [first, *(label for label in busy if label != first)]
        return Parts(labels, [labels == label for label in ranked])

    def _run_parts(
        self, st: State, parts: Parts, until: int, advance: Callable[[int], clock.Stop]
    ) -> clock.Stop:
        """Bring all parts on by a piece, one after the other."""
        began, jumped = int(st.clock.now[0]), self._forward.jumped
        split = _Split(st, parts.own)
        horizon, latest, trouble = min(until, began + self._piece), began, None
        quiet: list[bool] = []
        for number, tiles in enumerate(parts.own):
            split.enter(number)
            self._forward.look_at(st, tiles)
            stop = _LIMIT
            for _ in range(2):  # whatever ends a part, it is brought on as far as the others
                try:
                    stop = advance(horizon)
                    break
                except BaseException as error:
                    trouble = trouble or error
                    if number == 0:
                        horizon = int(st.clock.now[0])
                        break
            latest = max(latest, int(st.clock.now[0]))
            quiet.append(stop is _QUIET)
            split.leave(number)
        stop, end = (_QUIET, latest) if all(quiet) else (_LIMIT, horizon)
        for number in range(len(parts.own)):
            split.catch_up(number, end)
        split.join()
        self._forward.look_at(st, np.ones(len(parts.labels), bool))
        stepped = len(parts.own) * (end - began) - (self._forward.jumped - jumped)
        self._piece = min(_LONGER * self._piece, _LONGEST) if stepped <= _STEPPED else _PIECE
        self._forward.among(len(parts.own), jumped)
        self.pieces += 1
        if trouble is not None:
            raise trouble
        return stop

    def _advance(self, st: State, step: Step, serve: Callable[[], None], horizon: int) -> clock.Stop:
        """Bring the part that has the clock to a cycle."""
        while True:
            stop = step(horizon, _SLICE)
            if stop is _KERNEL:
                self._cores.serve()
                continue
            serve()
            if stop is _QUIET or (stop is _LIMIT and st.clock.now[0] >= horizon):
                return stop


_SLICE = 1 << 16  # cycles between looks at the outside world


class _Split:
    """The lists and the clock of each of some parts, while another one has those of the model."""

    def __init__(self, st: State, own: list[Bools]) -> None:
        self._st, self._clock = st, plain(st.clock)
        lists = _listed(st)
        self._members = [[listed[tiles[owner[listed]]].copy() for listed, owner in lists] for tiles in own]
        began = tuple(int(getattr(self._clock, name)[0]) for name in _TIMES)
        self._times = [list(began) for _ in own]
        self._own_kernels = [int(self._clock.asking[0]), int(st.cascading[0])]
        self._clock.asking[0] = st.cascading[0] = 0

    def enter(self, number: int) -> None:
        """Give the model's lists and its clock to a part."""
        for roster, members in zip(_rosters(self._st), self._members[number], strict=True):
            roster[0] = len(members)
            roster[1 : 1 + len(members)] = members
        for name, value in zip(_TIMES, self._times[number], strict=True):
            getattr(self._clock, name)[0] = value
        if number == 0:
            self._clock.asking[0], self._st.cascading[0] = self._own_kernels

    def leave(self, number: int) -> None:
        """Take them from the part."""
        self._members[number] = [roster[1 : 1 + roster[0]].copy() for roster in _rosters(self._st)]
        self._times[number] = [int(getattr(self._clock, name)[0]) for name in _TIMES]
        if number == 0:
            self._own_kernels = [int(self._clock.asking[0]), int(self._st.cascading[0])]
            self._clock.asking[0] = self._st.cascading[0] = 0

    def catch_up(self, number: int, cycle: int) -> None:
        """Let time pass for a part in which nothing can happen any more, up to a cycle."""
        if self._times[number][0] < cycle:
            self.enter(number)
            passing, self._clock.passing[0] = int(self._clock.passing[0]), 1
            machine.run(self._st, cycle, settled=False)
            self._clock.passing[0] = passing
            self.leave(number)

    def join(self) -> None:
        """Give lists and clock back to the model: all parts are at one cycle."""
        for n, roster in enumerate(_rosters(self._st)):
            members = np.sort(np.concatenate([of_part[n] for of_part in self._members]))
            roster[0] = len(members)
            roster[1 : 1 + len(members)] = members
        now, activity, quiet, changed = zip(*self._times, strict=True)
        self._clock.now[0], self._clock.activity[0] = max(now), max(activity)
        self._clock.quiet[0], self._clock.locks_changed[0] = min(quiet), max(changed)
        self._clock.asking[0], self._st.cascading[0] = self._own_kernels


_TIMES = "now", "activity", "quiet", "locks_changed"


def _rosters(st: State) -> tuple[Ints, ...]:
    """The lists of what is active or waits."""
    return st.active_channels, st.waiting_channels, st.active_ports, st.active_cores, st.active_controls


def _listed(st: State) -> list[tuple[Ints, Ints]]:
    """What they have, and the tile of whatever they may have."""
    channels, each = plain(st.channels).tile, np.arange(len(st.spec.tiles.kind))
    owners = channels, channels, plain(st.switch).tile, plain(st.cores).tile, each
    return [(roster[1 : 1 + roster[0]], owner) for roster, owner in zip(_rosters(st), owners, strict=True)]


def _kernel_tile(st: State) -> int:
    """A tile whose core has a kernel that is not done, -1 = there is none."""
    return int(st.cores.tile[st.active_cores[1]]) if st.active_cores[0] else -1


def _labels(groups: Groups, *, words: bool, kernels: int) -> Ints:
    """Of each tile, the one that stands for all that hang together with it, by external memory too."""
    parent, users = groups.parent, groups.users[1 : 1 + groups.users[0, 0]]
    if words and len(users):
        if groups.users[0, reach.TOO_MANY]:
            _tie(parent, users[:, reach.TILE])
        for shared in _shared(users):
            _tie(parent, shared[:, reach.TILE])
        writers = users[users[:, reach.WRITES] == 1, reach.TILE]
        if kernels >= 0:  # which arrays they look at, nobody knows
            _tie(parent, np.append(writers, kernels))
    while not np.array_equal(above := parent[parent], parent):
        parent[:] = above
    return parent.copy()


def _shared(users: Ints) -> list[Ints]:
    """Users of external memory whose bytes are not apart from each other, where some of them write."""
    users = users[np.argsort(users[:, reach.FIRST], kind="stable")]
    before = np.maximum.accumulate(users[:, reach.END])[:-1]
    found = np.split(users, 1 + np.flatnonzero(users[1:, reach.FIRST] >= before))
    return [each for each in found if each[:, reach.WRITES].any()]


def _tie(parent: Ints, tiles: Ints) -> None:
    """Let tiles hang together."""
    for tile in tiles[1:].tolist():
        reach.tie(parent, tile, int(tiles[0]))
