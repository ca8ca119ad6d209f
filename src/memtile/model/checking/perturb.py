"""What silicon leaves open when a run begins: whose turn it is, and how soon channels and cores begin."""

from __future__ import annotations

import numpy as np

from memtile.jit.tables import plain
from memtile.model.state.causes import CorePhase, Phase
from memtile.model.state.state import State

_LATE = (0, 0, 3, 17, 90, 600)  # cycles


def draw(st: State, seed: int) -> None:
    """Let round robins stand where the seed says, and tasks that wait, and kernels, begin later."""
    luck = np.random.default_rng(seed)
    channels, cores, now = plain(st.channels), plain(st.cores), int(st.clock.now[0])
    requesters = len(channels.phase) + len(cores.phase)
    for table in (st.banks, st.locks, st.interfaces, st.arbiters, st.controls):
        turns = plain(table).turn
        turns[:] = luck.integers(0, requesters, len(turns))
    waiting = (channels.phase == Phase.IDLE) & (channels.queue_count > 0)
    for ch in np.flatnonzero(waiting).tolist():
        channels.phase[ch] = Phase.STARTING
        channels.until[ch] = now + int(st.spec.timing.task_start[0]) + int(luck.choice(_LATE))
    for core in np.flatnonzero((cores.phase == CorePhase.NEXT) & (cores.step == 0)).tolist():
        delay = int(luck.choice(_LATE))
        if delay:
            cores.phase[core], cores.until[core] = CorePhase.WAIT, now + delay
