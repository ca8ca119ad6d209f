"""Other schedules of the same run: DMA as early or late as the order allows, other turns at arbiters.

A schedule is a seed. It chooses timing constants that nobody has measured, and what silicon leaves open when
a run begins: whose turn it is where several compete, how late tasks and kernels begin, and how fast firmware
goes on; nothing of what orders them. What comes out otherwise than in another schedule is luck.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from memtile.arch.timing import chosen_timing
from memtile.jit.tables import plain
from memtile.model.state.causes import CorePhase, Phase
from memtile.model.state.state import State

_EARLY = {"task_start": 1, "external_latency": 4, "external_write_latency": 4, "neighbour_latency": 0}
_LATE = {"task_start": 60, "external_latency": 700, "external_write_latency": 700, "neighbour_latency": 12}
_MORE = {
    "external_burst_overhead": (0, 1, 7),
    "packet_arbitration": (0, 1, 5),
    "cascade_latency": (2, 9),
    "firmware_push": (40, 700, 9000),
    "firmware_push_elf": (40, 700, 9000),
    "firmware_access": (4, 40, 200),
}
_SEED: ContextVar[int] = ContextVar("schedule of the runs that begin", default=0)


@contextmanager
def schedule(seed: int) -> Iterator[None]:
    """Have models that are made inside, and their runs, follow another schedule; 0 = the usual one."""
    if seed == 0:
        yield
        return
    luck = random.Random(seed)
    constants = {name: luck.choice((_EARLY[name], _LATE[name])) for name in _EARLY}
    constants |= {name: luck.choice(values) for name, values in _MORE.items()}
    with chosen_timing(constants):
        token = _SEED.set(seed)
        try:
            yield
        finally:
            _SEED.reset(token)


def present() -> int:
    """Seed of the schedule in force; 0 = the usual one."""
    return _SEED.get()


_LATEST_START = (0, 0, 3, 17, 90, 600)  # cycles


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
        channels.until[ch] = now + int(st.spec.timing.task_start[0]) + int(luck.choice(_LATEST_START))
    for core in np.flatnonzero((cores.phase == CorePhase.NEXT) & (cores.step == 0)).tolist():
        delay = int(luck.choice(_LATEST_START))
        if delay:
            cores.phase[core], cores.until[core] = CorePhase.WAIT, now + delay
