"""The history of a run as arrays: what the compiled loop noted, taken from it whenever it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memtile.errors import Problem, SimulationError
from memtile.model.checking.history_log import (
    BEGAN,
    BINS,
    COUNT,
    JUMP,
    KIND_BITS,
    LOG_ROWS,
    MISSED,
    ON,
    WIDTH,
    Thing,
    look_at_locks,
)
from memtile.model.state.columns import Ints
from memtile.model.state.state import State

_UNSEEN = -1  # as last value: whatever the thing does is new
_NO_VALUE = -1 << 15  # of a lock


@dataclass(frozen=True, slots=True)
class Changes:
    """What one channel, core, port or lock did.

    Attributes:
        noted: int64[rows, 2]: cycle and value, without the periods that were skipped; all values are there.
        places: int64[rows]: number of each row in the log.
        jumps: int64[jumps, 4]: number in the log, cycle, cycles of the period, how often it came again.
    """

    noted: Ints
    places: Ints
    jumps: Ints

    @property
    def rows(self) -> Ints:
        """All changes: int64[rows, 2], cycle and value; made anew each time."""
        made, taken = _Rows(), 0
        for place, cycle, period, times in self.jumps.tolist():
            end = int(np.searchsorted(self.places, place))
            made.add(self.noted[taken:end])
            taken = end
            made.again(cycle - period, cycle, times)
        made.add(self.noted[taken:])
        return made.rows

    @property
    def count(self) -> int:
        """How many changes there are."""
        return len(self.rows)


class _Rows:
    """Rows of cycle and value that grow at their end, so that a period is found at once."""

    def __init__(self) -> None:
        self._room, self._count = np.zeros((64, 2), np.int64), 0

    @property
    def rows(self) -> Ints:
        return self._room[: self._count].copy()

    def add(self, rows: Ints) -> None:
        """More rows behind the others."""
        count = self._count + len(rows)
        if count > len(self._room):
            room = np.zeros((max(count, 2 * len(self._room)), 2), np.int64)
            room[: self._count] = self._room[: self._count]
            self._room = room
        self._room[self._count : count] = rows
        self._count = count

    def again(self, first: int, end: int, times: int) -> None:
        """The rows from one cycle to before another one come again so many times."""
        low, high = np.searchsorted(self._room[: self._count, 0], (first, end)).tolist()
        if low < high:
            made = np.tile(self._room[low:high], (times, 1))
            made[:, 0] += np.repeat(np.arange(1, times + 1) * (end - first), high - low)
            self.add(made)


@dataclass(frozen=True, slots=True)
class History:
    """What every channel, core, port and lock did from one cycle to another.

    Attributes:
        began: first cycle.
        ended: the cycle after the last one.
        log: int64[rows, 3]: cycle, thing, its value from then on, in order of the cycles; ``JUMP`` as kind
            says which period comes again how often.
        heat: int64[banks, 2, stretches]: accesses of each bank, and cycles with a conflict.
        stretch: cycles of a stretch.
    """

    began: int
    ended: int
    log: Ints
    heat: Ints
    stretch: int

    def of(self, kind: Thing) -> dict[int, Changes]:
        """Changes by model index of the channel, core, port or lock."""
        kinds = self.log[:, 1] & ((1 << KIND_BITS) - 1)
        at = np.flatnonzero(kinds == JUMP)
        jumps = np.column_stack([at, self.log[at, 0], self.log[at, 1] >> KIND_BITS, self.log[at, 2]])
        places = np.flatnonzero(kinds == kind)
        places = places[np.argsort(self.log[places, 1], kind="stable")]
        things, starts = np.unique(self.log[places, 1] >> KIND_BITS, return_index=True)
        parts = np.split(places, starts[1:]) if len(things) else []
        return {
            thing: Changes(self.log[part][:, [0, 2]], part, jumps)
            for thing, part in zip(things.tolist(), parts, strict=True)
        }


class Recorder:
    """Notes the history of a model from now on.

    Args:
        state: gives the state of the model.
    """

    def __init__(self, state: Callable[[], State]) -> None:
        st = state()
        self._state, self._pieces = state, [np.zeros((0, 3), np.int64)]
        seen = len(st.channels.phase) + len(st.cores.phase)
        st.logged[:seen], st.logged[seen:] = _UNSEEN, 0
        st.logged[seen + len(st.switch.held) :] = _NO_VALUE
        st.logged_ports[0], st.heat[:], st.banks.accesses[:], st.banks.clashes[:] = 0, 0, 0, 0
        st.logging[:] = 0
        st.logging[BEGAN], st.logging[WIDTH], st.logging[ON] = st.clock.now[0], 1, 1
        look_at_locks(st)

    def flush(self) -> None:
        """Take what was noted, so that there is room for more."""
        st = self._state()
        count = int(st.logging[COUNT])
        if count:
            self._pieces.append(st.log[:count].copy())
            st.logging[COUNT] = 0

    def so_far(self) -> History:
        """The history until now; it goes on.

        Raises:
            SimulationError: more happened in a cycle than can be noted.
        """
        self.flush()
        st = self._state()
        if st.logging[MISSED]:
            raise SimulationError(_missed(int(st.logging[MISSED])))
        return History(
            int(st.logging[BEGAN]),
            int(st.clock.now[0]),
            np.concatenate(self._pieces),
            st.heat.reshape(-1, 2, BINS).copy(),
            int(st.logging[WIDTH]),
        )

    def end(self) -> History:
        """Note no longer; the history.

        Raises:
            SimulationError: more happened in a cycle than can be noted.
        """
        self.flush()
        self._state().logging[ON] = 0
        return self.so_far()


def _missed(count: int) -> Problem:
    return Problem(
        "changes",
        f"{count} changes too many",
        f"{LOG_ROWS // 2} in one cycle",
        next_step="Run with fewer columns, or without a history.",
        reason="history",
        where="history of a run",
        source="memtile.model.checking",
    )
