"""Where fast-forward keeps what it knows: entries of its flat arrays.

``plan`` has ``SPAN`` entries for each span of the state that is compared. ``kept`` has states of the past, a
slot each: when it was, where the log of accesses was, ``OF_CHANNEL`` entries for each live channel,
``OF_EXTERNAL`` for each channel of an interface tile, then the words of all spans.
``book`` has what follows here, then ``SCRATCH`` entries for each channel, then two lists of channels, then
segments. ``way`` has ``OF_PORT`` entries for each port of a stream switch, then a list of ports. ``flow`` and
``flow_last`` have the words, and their TLAST, of each stream that goes through switches, and ``ring`` a copy
of a ring. ``layout`` has ``LAYOUT`` entries for each span of a row of each table, ``rows`` the first row and
the number of rows that each tile has in tables of each kind, and ``live`` a flag for whatever there is a
``Part`` for, ``lists`` those that have it. ``scope`` has how many rows of tables may be live, then a flag for
each tile that takes part: the others have clocks of their own.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from memtile.jit.decorators import inlined
from memtile.jit.structs import Struct
from memtile.model.dma.access_log import COLUMNS, ROWS
from memtile.model.state.columns import Bytes, Ints, Words
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State

ADDRESS, COUNT_OF_ROWS, APART, COUNT_OF_WORDS, CLASS = range(5)  # of a span; APART: bytes
SPAN = 5
# of a span in the rows of a table; TABLE_APART: bytes from a row to the next, BYTE: of the span in a row
TABLE, TABLE_APART, ROWS_OF, BYTE, ROW_WORDS, ROW_CLASS, LAYOUT = range(7)


class _Arrays(NamedTuple):
    plan: Ints
    kept: Ints
    book: Ints
    way: Ints
    ring: Ints
    flow: Words
    flow_last: Bytes
    layout: Ints
    rows: Ints
    live: Bytes
    lists: Ints
    scope: Ints


class Arrays(_Arrays, Struct):
    """What fast-forward works with, beside the state."""


class Compared(IntEnum):
    """How the words of a span may differ after a period."""

    EQUAL = 0
    STAMP = 1
    DUE = 2
    ACCOUNT = 3  # by anything, which comes again in each period


class Part(IntEnum):
    """What of a model may be live: sections of ``live``."""

    TILE = 0
    CHANNEL = 1
    CORE = 2
    EXTERNAL = 3
    PORT = 4


class RowsOf(IntEnum):
    """What the rows of a table are of: those that a tile has some of first, and then each ``Part``."""

    TILE = 0
    LOCK = 1
    BANK = 2
    INTERFACE = 3
    ARBITER = 4
    UNIT = 5
    REGISTER = 6
    CHANNEL = 7
    CORE = 8
    EXTERNAL = 9
    PORT = 10
    RING = 11  # of a port, as many slots of its ring as it uses
    MODEL = 12
    LIST = 13  # of channels and cores: its length, and as many entries as there may be
    LENGTH = 14  # of a list: what is in it, if anything, columns say too, and its order makes no difference


OF_TILES = int(RowsOf.CHANNEL)
ROWS_IN_SCOPE, FIRST_TILE = 0, 1  # of ``scope``


class KeptOff(IntEnum):
    """What keeps time from being jumped over: bits of ``Book.KEPT_OFF``."""

    CORE = 0
    UNIT = 1
    CONTROL = 3
    MEMORY = 4
    CHECK = 5
    WORDS = 6
    CIRCUIT = 2


CYCLE, ROW, HEAD = range(3)  # of a slot; HEAD: entries before those of the channels
(
    MOVED,
    LEFT,
    AT,
    POSITION,
    _POSITION_1,
    _POSITION_2,
    _POSITION_3,
    AIMED,
    PORT_AIMED,
    BDS,
    RUNS,
    SOURCED,
    SUNK,
    ENDS,  # TLAST of the words in the buffer of an MM2S channel, a bit each, the oldest one first
    HELD,  # words in the buffer
    OF_CHANNEL,
) = range(16)
READY, TARGETS, LENGTHS, LASTS = range(4)  # of the reads under way of an external channel, oldest first
RING_COLUMNS = 4
PASSED, FOLLOWING, READS = 0, 1, 2  # READS: entries before those of the reads
OF_EXTERNAL = READS + RING_COLUMNS * EXTERNAL_SLOTS

RING_SLOTS = 8  # of ``kept``: states at ends of BDs
LOOK_SLOT = RING_SLOTS  # the state that a look began with; those behind it have later ones of the look
LOOK_SLOTS = 2
SLOTS = RING_SLOTS + LOOK_SLOTS


class Book(IntEnum):
    """Entries of ``book``."""

    SLOT_SIZE = 0
    BUDGET = 1  # cycles that may be stepped before Python is asked
    FAILED = 2  # looks in a row that found nothing
    NEXT_LOOK = 3  # cycle
    ANCHOR = 4  # channel whose ends of BDs are looked at
    ANCHOR_BDS = 5  # its BDs so far
    ANCHOR_SINCE = 6  # cycle in which it became the anchor, or ended a BD last
    RECORDING = 7  # 1 = the slots and the log of ring periods are filled, 2 = the slots alone
    NEXT_RING = 8  # cycle
    RING_GAP = 9  # cycles between two slots
    RING_SLOT = 10  # to be filled next
    RING_TRIES = 11  # slots filled since the gap was set
    JUMPS = 12
    JUMPED = 13  # cycles
    LISTED = 14  # channels with rows in the log of the period
    SEGMENTS = 15
    RING_PAUSE = 16  # cycles before a log that was full is begun again
    RING_JUMPS = 17
    DIFFERED = 18  # span of the plan in which the last two states differed that were compared
    DIFFERED_AT = 19  # where it is in a slot, 0 = none yet
    COMPARED = 20  # words
    RESUME = 21  # 1 + slot of a jump that the host's ports ended, 0 = none
    RESUME_AT = 22  # cycle
    RESUME_ROW = 23  # end of its period's accesses in the log
    GATHERED = (
        24  # 1 = the segments and counts are those of the period, without shifts, that is repeated again
    )
    KEPT_OFF = 25  # bits: each KeptOff that there was when a period was looked for
    WAYS = 26  # ports that the streams of the period go through
    STREAMS = 27  # of the period that go through switches
    FLOW_WORDS = 28  # room for the words of each of them
    ACTIONS = 29  # of cores in the period
    HOPE = 30  # above 0: short periods were found between actions of cores
    # of a jump in which cores are given actions, between two of these
    SLOT = 31
    TIMES = 32
    END = 33  # of the period's rows in the log
    DONE = 34  # periods whose words are moved
    AT = 35  # segment that comes next
    TOGETHER = 36  # 1 = the segments are those of all periods
    GATHERED_AT = 37  # period of which they are
    BEGIN = 38  # first row of the period in the log
    RINGS_BEFORE = 39  # jumps over rings before the log was begun
    CONSTANT = 41  # 1 = the next jump repeats the very words of its period
    # what may take part, see ``live``
    PLANNED = 42  # 1 = the plan is of what may take part now
    PACKETS = 43  # words that control packets had written when it was made
    PLAN_END = 44  # entries of the plan
    SLOT_WORDS = 45  # words of its spans
    CHANNELS = 46  # live ones
    COUNT = 47  # of each Part, how many are live
    BASE = 52  # of each Part, where its flags begin in ``live``
    ALL = 57  # flags in all
    # what looking costs and what stepping does, see ``budget``
    STEPPED = 58
    LOOKED = 59
    EFFORT = 60  # what the next search for rings may cost
    NOTED = 61  # rows of the log of rings that are part of LOOKED
    IN_LOOKS = 62  # what of LOOKED looks have cost
    LOGLESS = 63  # 1 = rings are looked for without a log: it was too short, or cost too much
    FOUND_UNTIL = 64  # cycle at which a round ends that is noted because the one before came again
    PUT_OFF = 65  # cycle in which a look was put off
    WHOLE = 66  # 1 = the plan has what changes only where events are raised by their number
    RHYTHM = 67  # cycles between two comparisons of a look: the period that the one before found
    VALID = 68  # of each slot, 1 = it has a state
    FIRST = 78


(
    SHIFT,
    WORDS_OF,
    CURSOR,
    OPEN_TARGET,
    OPEN_STEP,
    OPEN_WORDS,
    OPEN_LAST,
    ONLY_PADDING,
    LOWEST,
    HIGHEST,
    ENDS_OF,
    FLOW,  # where the room of the channel's stream begins in ``flow``, -1 = it comes from or goes to a host
    PRODUCER,  # S2MM: channel that its words come from through switches, -1 = none
    BEHIND,  # S2MM: words of that stream that have left memory, and not come to the channel
    BEGAN,  # CURSOR at the beginning of the period
    FILLS,  # S2MM: words by which the buffer is fuller after a period
    COUNTED,  # above 0: SHIFT is words of a walk outside, which are counted from this - 1 on, see ``counted``
    NUMBER,  # of the next word of such a walk, while the log is gone through
    LATEST,
) = range(19)
LATEST_WORDS = (
    16  # entries from LATEST on: for each word of an access where in the period it was last written
)
SCRATCH = LATEST + LATEST_WORDS
SEGMENT = COLUMNS
MOST_SEGMENTS = ROWS


# of a port: 1 + channel whose words go through it, words on their way to it
PRODUCER_OF, BEHIND_OF = range(2)
OF_PORT = 2
HISTORY = 4096  # words of a stream that stay in ``flow``: more than can be under way
ALL_FLOWS = 1 << 23  # words of ``flow``


@inlined
def of_external(st: State, row: int) -> int:
    """Place in a slot of the entries of a channel of an interface tile."""
    return int(HEAD + st.channels.phase.shape[0] * OF_CHANNEL + row * OF_EXTERNAL)


@inlined
def of_spans(st: State) -> int:
    """Place in a slot of the words of the first span."""
    return of_external(st, st.externals.head.shape[0])


@inlined
def listed_port(st: State, n: int) -> int:
    """Place in ``way`` of the n-th port on the way of a stream."""
    return int(st.switch.held.shape[0] * OF_PORT + n)


@inlined
def scratch(ch: int, entry: int) -> int:
    """Place in ``book`` of a channel's entry."""
    return int(Book.FIRST + ch * SCRATCH + entry)


@inlined
def listed(channels: int, n: int) -> int:
    """Place in ``book`` of the n-th channel that has accesses in the period."""
    return int(Book.FIRST + channels * SCRATCH + n)


@inlined
def lively(channels: int, n: int) -> int:
    """Place in ``book`` of the n-th channel that may take part in what happens."""
    return int(Book.FIRST + channels * (SCRATCH + 1) + n)


@inlined
def segments(channels: int) -> int:
    """Place in ``book`` of the first segment."""
    return int(Book.FIRST + channels * (SCRATCH + 2))
