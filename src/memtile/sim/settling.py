"""Let cores come to where they wait, before a host begins: they were loaded long before it (DEV-HOST-3)."""

from __future__ import annotations

import numpy as np

from memtile.model.state.causes import LINKS, CorePhase
from memtile.sim.engine import Engine

_AT_REST = [phase for phase in CorePhase if not phase.is_work]
_STALLS = [link.stall for link in LINKS.values()]


def settle(engine: Engine, most: int) -> None:
    """Let time pass until every core waits for a lock, its cascade or its stream, or has ended.

    Nothing passes without kernels.

    Args:
        engine: of the array.
        most: cycles from cycle 0 on that this may take.
    """
    step = 1
    while engine.now < most and not _rests(engine):
        engine.wait(min(step, most - engine.now))
        step = min(2 * step, _LONGEST)


_LONGEST = 64  # cycles between two looks


def _rests(engine: Engine) -> bool:
    cores = engine.state.cores
    working = ~np.isin(cores.phase, _AT_REST) | ((cores.phase == CorePhase.ACQUIRE) & _free(engine))
    linked = np.isin(cores.why, _STALLS)
    moves = engine.state.clock.activity[0] > 0 and bool(linked.any())
    return not moves and not bool((working & ~linked).any())


def _free(engine: Engine) -> np.ndarray:
    """Which cores ask for a lock that they would get."""
    cores, values = engine.state.cores, engine.state.locks.value
    have = values[cores.target]
    wanted = np.asarray(cores.value)
    return np.where(wanted < 0, have >= -wanted, have == wanted)
