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
class History:
    """What every channel, core, port and lock did from one cycle to another.

    Attributes:
        began: first cycle.
        ended: the cycle after the last one.
        log: int64[rows, 3]: cycle, thing, and its value from then on, in order of the cycles.
        heat: int64[banks, 2, stretches]: accesses of each bank, and cycles with a conflict.
        stretch: cycles of a stretch.
    """

    began: int
    ended: int
    log: Ints
    heat: Ints
    stretch: int

    def of(self, kind: Thing) -> dict[int, Ints]:
        """Changes by model index of the channel, core, port or lock: int64[rows, 2], cycle and value."""
        mine = self.log[self.log[:, 1] & ((1 << KIND_BITS) - 1) == kind]
        order = np.argsort(mine[:, 1], kind="stable")
        mine = mine[order]
        things, starts = np.unique(mine[:, 1] >> KIND_BITS, return_index=True)
        parts = np.split(mine[:, [0, 2]], starts[1:])
        return dict(zip(things.tolist(), parts, strict=True)) if len(things) else {}


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
        st.logged_ports[0], st.heat[:] = 0, 0
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
