"""The accesses of the channels to data memory in the order in which they are granted, while somebody listens.

Fast-forward moves the words of a period that it does not step by them (``sim.skip``). Row 0 says how many
rows there are, whether there are to be more, and how many at most; each other row is one access to data
memory, or to external memory when its words come or go, or one beat of padding, or an action that a core was
given.
"""

from __future__ import annotations

from typing import Any

from memtile.jit.decorators import inlined, jit
from memtile.model.state.state import State

NEXT, ON, LIMIT = 0, 1, 2  # of row 0: the row that comes next; 1 = accesses are noted; rows that may be used
CH, TARGET, WORDS, STEP, FLAGS = range(5)  # of the others
TLAST, MANY = 1, 2  # flags: the last word has TLAST; the row stands for many accesses
COLUMNS = 5
ROWS = 1 << 18
FIRST_ROWS = 1 << 12  # that are used at first: memory costs much when it is used for the first time
PADDING = -1  # as TARGET: no access
EXTERNAL = 1 << 50  # TARGET from here on: words of this process, by their address / 4, see ``outside``
FIRST_CORE = -1  # as CH: core 0 was given an action; core n is so much less. The others say which
UNKNOWN = 0  # FLAGS of an action that cannot be told from others
_WORD_SHIFT = 2  # log2 of the bytes of a word


@jit
def append(log: Any, ch: int, target: int, words: int, step: int, flags: int) -> None:
    """Add a row: words of the channel from a word of ``State.memory`` on, ``step`` words apart.

    A log that is full is off. Python calls it with a memoryview, whose items it sets faster.
    """
    row = log[0, NEXT]
    if row >= log[0, LIMIT]:
        log[0, ON] = 0
        return
    log[row, CH], log[row, TARGET], log[row, WORDS] = ch, target, words
    log[row, STEP], log[row, FLAGS] = step, flags
    log[0, NEXT] = row + 1


@inlined
def note(st: State, ch: int, target: int, words: int, last: int) -> None:
    """Add an access, if somebody listens."""
    if st.access_log[0, ON] == 1:
        append(st.access_log, ch, target, words, 1, last)


@jit
def listen(st: State) -> None:
    """Begin a log without rows."""
    st.access_log[0, LIMIT] = max(st.access_log[0, LIMIT], FIRST_ROWS)
    st.access_log[0, NEXT], st.access_log[0, ON] = 1, 1


@inlined
def outside(home: int) -> int:
    """The TARGET of the word of external memory that is at a byte address of this process."""
    return EXTERNAL + (home >> _WORD_SHIFT)


@inlined
def home_of(target: int) -> int:
    """The byte address of a TARGET that :func:`outside` made of an aligned one."""
    return (target - EXTERNAL) << _WORD_SHIFT
