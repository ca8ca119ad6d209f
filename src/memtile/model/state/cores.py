"""State of the cores: the action that each one's kernel asked for."""

from typing import Annotated, NamedTuple

from memtile.model.state.causes import CoreCause
from memtile.model.state.columns import (
    BUILT,
    DUE,
    EQUAL,
    MOVES,
    OWN_PAUSE,
    OWN_RESET,
    PLACE,
    STALE,
    STAYS,
    WIRED,
    Column,
    Ints,
    Requests,
)


class Cores(NamedTuple):
    """Cores of the compute tiles: the action that each one's kernel asked for."""

    tile: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS)]
    active: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE)]  # 1 = in State.active_cores
    phase: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS)]  # CorePhase
    why: Annotated[
        Ints, Column(EQUAL, CoreCause.IDLE, OWN_RESET, OWN_PAUSE)
    ]  # CoreCause of the current cycle
    # WAIT: last cycle of it; lock operations: first cycle in which it is decided
    until: Annotated[Ints, Column(DUE, 0, STALE, MOVES)]
    lock: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]  # lock id as the core sees it
    target: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]  # that lock in State.locks
    value: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]  # operand of the lock operation
    # position in State.accesses; lock operations: cycles of them so far
    step: Annotated[Ints, Column(PLACE, 0, STALE, STAYS)]
    # 1 = ``bank`` and ``wanted`` are those of the step
    begun: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]
    steps: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS)]
    # of each part of each address generator's access
    bank: Annotated[Requests, Column(EQUAL, 0, STALE, STAYS)]
    # grants that the part still needs in this step
    wanted: Annotated[Requests, Column(EQUAL, 0, STALE, STAYS)]
