"""What one column of the state is: shape, value at rest, range, and what resets, pauses and time do to it.

A column is declared once, where its table is, ``name: Annotated[Ints, Column(kind, rest, reset, pause,
holds)]``. Building a model, resetting a tile, stopping the clock of a column of tiles, saving, checking what
was saved and comparing derive from that; nothing has a default, so that a new column cannot be forgotten in
one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE, VECTOR_BANKS
from memtile.arch.ports import MERGE_ARBITERS
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, MEMORY, TILE_KINDS

# The dtype is a note of its own: what ``NDArray`` has as arguments differs between versions of NumPy.
Ints = Annotated[npt.NDArray[np.int64], np.dtype(np.int64)]
Words = Annotated[npt.NDArray[np.uint32], np.dtype(np.uint32)]
Shorts = Annotated[npt.NDArray[np.int16], np.dtype(np.int16)]
Bytes = Annotated[npt.NDArray[np.uint8], np.dtype(np.uint8)]

NONE = -1  # no such thing
NEVER = -1  # a cycle before the first one

MOST_WORDS = max(kind.granule_words for kind in TILE_KINDS.values())  # of an access to memory

FIFO_SLOTS = 64  # ring slots: a power of two above every buffer depth that Timing allows
MOST_BD = 63  # as wide as the fields that name one
CORE_STEPS = 1024  # steps of an access pattern that a core is given at a time
CORE_REQUESTS = CORE.ports * VECTOR_BANKS  # banks that a core may ask in a cycle

Pair = Annotated[Ints, (2,)]
Three = Annotated[Ints, (3,)]
Four = Annotated[Ints, (4,)]
Granule = Annotated[Ints, (MOST_WORDS,)]
Group = Annotated[Ints, (COMPRESSED_GROUP_WORDS + MOST_WORDS,)]  # and what an access brings beyond one
Coded = Annotated[Ints, (COMPRESSED_GROUP_WORDS + 1,)]
Merges = Annotated[Ints, (MERGE_ARBITERS,)]
Requests = Annotated[Ints, (CORE_REQUESTS,)]
Queue = Annotated[Ints, (MEMORY.queue_depth + 1,)]  # and the task that is about to start
Ring = Annotated[Ints, (FIFO_SLOTS,)]


def ring_wrap(depth: int) -> int:
    """Mask of the positions of a ring: few slots stay in the processor's nearest cache."""
    return (1 << max(depth - 1, 0).bit_length()) - 1


class Motion(Enum):
    """By how much a column may differ after a period in which the model did the same again."""

    EQUAL = auto()  # by nothing: phases, causes, lock values, turns, registers
    SETTING = auto()  # by nothing, as only software changes it
    STAMP = auto()  # a cycle that is over: by the period, or by nothing
    DUE = auto()  # a cycle to come, which does not move: it bounds how often the period may repeat
    COUNT = auto()  # by a constant
    PLACE = auto()  # a position in a walk: by one shift for each channel
    RING = auto()  # the head of a ring: by a rotation
    DATA = auto()  # words: by anything
    PROCESS = auto()  # by nothing; of this process alone, so neither saved nor compared


class Reset(Enum):
    """What a column reset does to the rows of a tile (DEV-CLK-3)."""

    CLEARED = auto()  # puts the value at rest back
    NOW = auto()  # writes the cycle of the reset
    STALE = auto()  # nothing: of no meaning until what uses it sets it anew
    MEMORY = auto()  # memory tiles are zero, other memories keep their words
    WIRED = auto()  # nothing: fixed once the model is built
    TURN = auto()  # nothing: whose turn it is, and any is as fair
    BOOKS = auto()  # nothing: accounts of the run
    OUTSIDE = auto()  # nothing: belongs to the test bench or the host
    OWN = auto()  # what tile_reset says


class Pause(Enum):
    """What the time without clock does to the rows of a tile, once the clock is back (DEV-CLK-2)."""

    STAYS = auto()  # nothing
    MOVES = auto()  # the cycle number moves on by the time that was missed
    MOVES_IF_AHEAD = auto()  # so do the cycle numbers from the pause on
    OWN = auto()  # what column_clock says


class Owner(Enum):
    """What has a row in a table, or in the first dimension of an array."""

    MODEL = auto()
    TILE = auto()
    CHANNEL = auto()
    EXTERNAL = auto()  # channel of an interface tile
    CORE = auto()
    LOCK = auto()
    BANK = auto()
    INTERFACE = auto()  # to a neighbour
    PORT = auto()
    ARBITER = auto()
    UNIT = auto()
    NODE = auto()  # broadcast switch
    REGISTER = auto()
    WORD = auto()  # of data memory


BUILT = None  # as value at rest: it depends on the tile; the builder gives it


class Rows(NamedTuple):
    """As a limit: the last row that ``owner`` has in the model, and ``more``."""

    owner: Owner
    more: int = 0


class Same(NamedTuple):
    """As a limit: the value in the same row of another column of the table, and ``more``."""

    column: str
    more: int = 0


class Cycle(NamedTuple):
    """As a limit: the cycle that the state is in, and ``more``."""

    more: int = 0


class RowLimit(NamedTuple):
    """As a limit: the number of the row itself, and ``more``."""

    more: int = 0


class AtBuild(NamedTuple):
    """As a limit: the value in a model that was just built."""


Limit = int | Rows | Same | Cycle | RowLimit | AtBuild


class Holds(NamedTuple):
    """The values that a column may have between two runs: what a state from a file is checked against.

    Compiled code checks no index, so an index into another table has the rows of that table as its limit, a
    place in a ring its length.

    Attributes:
        first: the least value.
        last: the largest one.
        any_length: the array is as long as what a user gives, at least 1.
    """

    first: Limit
    last: Limit
    any_length: bool = False


class Roster(NamedTuple):
    """A list: how many, then numbers of rows, none twice.

    Attributes:
        owner: what has the rows; None: the list is empty between two cycles.
        flag: column that is 1 in these rows and in no others; "" = there is none.
    """

    owner: Owner | None
    flag: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """What is to be known of a column of the state beside its type.

    Attributes:
        kind: its class when time repeats.
        rest: its value in a model that was just built, ``BUILT`` if the builder has to give it.
        reset: what a column reset does to it.
        pause: what a pause of the clock does to it.
        holds: the values that it may have; None where the column is not saved.
    """

    kind: Motion
    rest: int | None
    reset: Reset
    pause: Pause
    holds: Holds | Roster | None


EQUAL, SETTING, STAMP, DUE, COUNT = Motion.EQUAL, Motion.SETTING, Motion.STAMP, Motion.DUE, Motion.COUNT
PLACE, RING, DATA, PROCESS = Motion.PLACE, Motion.RING, Motion.DATA, Motion.PROCESS
CLEARED, NOW, STALE, MEMORY_WORDS = Reset.CLEARED, Reset.NOW, Reset.STALE, Reset.MEMORY
WIRED, TURN, BOOKS, OUTSIDE, OWN_RESET = Reset.WIRED, Reset.TURN, Reset.BOOKS, Reset.OUTSIDE, Reset.OWN
STAYS, MOVES, MOVES_IF_AHEAD, OWN_PAUSE = Pause.STAYS, Pause.MOVES, Pause.MOVES_IF_AHEAD, Pause.OWN

MOST = 1 << 53  # above every cycle, count and address of a run
AHEAD = 1 << 24  # cycles: nothing in flight is due later than that, with the longest latencies of Timing
FOREVER = 1 << 62  # as a cycle: never comes

UNSAVED = None
EMPTY = Roster(None)
FLAG, ACTIVE = Holds(0, 1), Holds(0, 2)  # no and yes; and without clock, see roster.OFF
BYTE, WORD = Holds(0, (1 << 8) - 1), Holds(0, (1 << 32) - 1)
ANY = Holds(-1 << 63, (1 << 63) - 1)  # data, of which nothing depends on the value
LABELLED = Holds(0, 1 << 62)  # flags of a stream word, and a label above them
NOTHING = Holds(0, 0)  # something only while the clock runs
COUNTED, SIGNED = Holds(0, MOST), Holds(-MOST, MOST)
LOCK_OPERAND = Holds(-MEMORY.lock_value_max - 1, MEMORY.lock_value_max)  # as wide as its fields
REQUESTER = Holds(NONE, MOST)  # a number that is only compared
PAST, SOON = Holds(NEVER, Cycle()), Holds(NEVER, Cycle(AHEAD))
EVENT = BYTE  # number of an event, as wide as in the registers; those of no event never come
AS_BUILT = Holds(AtBuild(), AtBuild())


def row_of(owner: Owner) -> Holds:
    """Any row of ``owner``."""
    return Holds(0, Rows(owner))


def row_or_none(owner: Owner) -> Holds:
    """Any row of ``owner``, or -1."""
    return Holds(NONE, Rows(owner))


def one_of(names: type[IntEnum]) -> Holds:
    """Any member of an enum without gaps."""
    return Holds(min(names), max(names))


@cache
def columns_of(table: type) -> dict[str, Column]:
    """The columns of a table of the state, in order.

    Raises:
        TypeError: one is declared without saying what it is.
    """
    found: dict[str, Column] = {}
    for name, notes in _notes(table):
        declared = [note for note in notes if isinstance(note, Column)]
        if len(declared) != 1:
            raise TypeError(
                f"{table.__name__}.{name}: a column of the state is declared with one Column(...)"
            )
        found[name] = declared[0]
    return found


@cache
def fields_of(tables: type) -> dict[str, tuple[type | Column, Owner]]:
    """What each field of the state is, a table or a column of its own, and what has a row in it.

    Raises:
        TypeError: one is declared without owner, or is neither.
    """
    found: dict[str, tuple[type | Column, Owner]] = {}
    hints = get_type_hints(tables, include_extras=True)
    for name, notes in _notes(tables):
        what = [note for note in notes if isinstance(note, Column)] or [get_args(hints[name])[0]]
        owners = [note for note in notes if isinstance(note, Owner)]
        if len(owners) != 1 or not (isinstance(what[0], Column) or hasattr(what[0], "_fields")):
            raise TypeError(
                f"{tables.__name__}.{name}: a table, or an array with its Column(...), and an Owner"
            )
        found[name] = (what[0], owners[0])
    return found


@cache
def dtypes_of(tables: type) -> dict[str, np.dtype[Any]]:
    """The dtype of each array of the state that is no table.

    Raises:
        TypeError: one is declared without dtype, or with two.
    """
    found: dict[str, np.dtype[Any]] = {}
    for name, notes in _notes(tables):
        dtypes = [note for note in notes if isinstance(note, np.dtype)]
        if any(isinstance(note, Column) for note in notes):
            if len(dtypes) != 1:
                raise TypeError(f"{tables.__name__}.{name}: an array is declared with one dtype, as Ints has")
            found[name] = dtypes[0]
    return found


def _notes(table: type) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for name, hint in get_type_hints(table, include_extras=True).items():
        if name == "spec":
            continue
        yield name, get_args(hint)[1:] if get_origin(hint) is Annotated else ()
