"""State of the cascades: the registers between neighbouring cores (AM020 chapter 4)."""

from typing import Annotated, NamedTuple

from memtile.arch.core import CORE
from memtile.model.state.columns import (
    ANY,
    AS_BUILT,
    BUILT,
    CLEARED,
    DATA,
    EQUAL,
    FLAG,
    MOVES,
    NEVER,
    OWN_RESET,
    PAST,
    STALE,
    STAMP,
    STAYS,
    WIRED,
    Column,
    Holds,
    Ints,
)

Deep = Annotated[Ints, (CORE.cascade_depth,)]
Values = Annotated[Ints, (CORE.cascade_depth * CORE.cascade_words,)]


class Cascades(NamedTuple):
    """The cascade output and input of each core: two values each, the oldest first."""

    # cores beside it, -1 = none
    north: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    west: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    south: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    east: Annotated[Ints, Column(EQUAL, BUILT, WIRED, STAYS, AS_BUILT)]
    # as Accumulator_Control says: 1 = its input is the western core's output, its output goes to the east
    from_west: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]
    to_east: Annotated[Ints, Column(EQUAL, 0, CLEARED, STAYS, FLAG)]
    out_held: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, STAYS, Holds(0, CORE.cascade_depth))
    ]  # values in the output
    out_words: Annotated[Values, Column(DATA, 0, STALE, STAYS, ANY)]
    out_entered: Annotated[Deep, Column(STAMP, NEVER, STALE, MOVES, PAST)]  # cycle in which each one was put
    in_held: Annotated[
        Ints, Column(EQUAL, 0, CLEARED, STAYS, Holds(0, CORE.cascade_depth))
    ]  # values in the input
    in_words: Annotated[Values, Column(DATA, 0, STALE, STAYS, ANY)]
    in_entered: Annotated[Deep, Column(STAMP, NEVER, STALE, MOVES, PAST)]  # cycle in which each one came
    in_taken: Annotated[Ints, Column(STAMP, NEVER, STALE, STAYS, PAST)]  # last cycle in which it took one
