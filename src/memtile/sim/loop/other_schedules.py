"""Other schedules of the same run: DMA as early or late as the order allows, other turns at arbiters.

A schedule is a seed. It chooses timing constants that nobody has measured, whose turn it is where several
compete, and how late tasks and kernels begin; nothing of what orders them. What comes out otherwise than in
another schedule is luck.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from memtile.arch.timing import chosen_timing

_EARLY = {"task_start": 1, "external_latency": 4, "external_write_latency": 4, "neighbour_latency": 0}
_LATE = {"task_start": 60, "external_latency": 700, "external_write_latency": 700, "neighbour_latency": 12}
_MORE = {"external_burst_overhead": (0, 1, 7), "packet_arbitration": (0, 1, 5), "cascade_latency": (2, 9)}
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
