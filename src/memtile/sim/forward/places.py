"""Where fast-forward keeps what it knows: entries of its three flat arrays, ``plan``, ``kept`` and ``book``.

``plan`` has ``SPAN`` entries for each span of the state that is compared. ``kept`` has states of the past, a
slot each: when it was, where the log of accesses was, ``OF_CHANNEL`` entries for each channel, then the
words of all spans. ``book`` has what follows here, then ``SCRATCH`` entries for each channel, then a list of
channels, then segments.
"""

from __future__ import annotations

from enum import IntEnum

from memtile.jit.decorators import inlined
from memtile.model.dma.access_log import COLUMNS, ROWS

ADDRESS, COUNT_OF_ROWS, APART, COUNT_OF_WORDS, CLASS = range(5)  # of a span; APART: bytes
SPAN = 5


class Compared(IntEnum):
    """How the words of a span may differ after a period."""

    EQUAL = 0
    STAMP = 1
    DUE = 2
    ACCOUNT = 3  # by anything, which comes again in each period


class KeptOff(IntEnum):
    """What keeps time from being jumped over: bits of ``Book.KEPT_OFF``."""

    CORE = 0
    UNIT = 1
    SWITCH = 2
    CONTROL = 3
    MEMORY = 4
    CHECK = 5
    WORDS = 6


CYCLE, ROW, VALID, HEAD = range(4)  # of a slot; HEAD: entries before those of the channels
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
    OF_CHANNEL,
) = range(14)

RING_SLOTS = 8  # of ``kept``: states at ends of BDs
LOOK_SLOT = RING_SLOTS  # the state that a look began with
SLOTS = RING_SLOTS + 1


class Book(IntEnum):
    """Entries of ``book``."""

    SLOT_SIZE = 0
    BUDGET = 1  # cycles that may be stepped before Python is asked
    FAILED = 2  # looks in a row that found nothing
    NEXT_LOOK = 3  # cycle
    ANCHOR = 4  # channel whose ends of BDs are looked at
    ANCHOR_BDS = 5  # its BDs so far
    ANCHOR_SINCE = 6  # cycle in which it became the anchor, or ended a BD last
    RECORDING = 7  # 1 = the slots and the log of ring periods are filled
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
    CONSTANT = 26  # 1 = the next jump repeats the very words of its period
    FIRST = 27


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
    LATEST,
) = range(12)
LATEST_WORDS = (
    16  # entries from LATEST on: for each word of an access where in the period it was last written
)
SCRATCH = LATEST + LATEST_WORDS
SEGMENT = COLUMNS
MOST_SEGMENTS = ROWS


@inlined
def scratch(ch: int, entry: int) -> int:
    """Place in ``book`` of a channel's entry."""
    return int(Book.FIRST + ch * SCRATCH + entry)


@inlined
def listed(channels: int, n: int) -> int:
    """Place in ``book`` of the n-th channel that has accesses in the period."""
    return int(Book.FIRST + channels * SCRATCH + n)


@inlined
def segments(channels: int) -> int:
    """Place in ``book`` of the first segment."""
    return int(Book.FIRST + channels * (SCRATCH + 1))
