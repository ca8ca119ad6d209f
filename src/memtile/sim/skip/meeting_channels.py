"""Which channels of a period may access words of others, so that the order of their accesses matters.

Most access none: each has buffers of its own. Their segments grow without a look at those of all others.
"""

from __future__ import annotations

from memtile.arch.tiles import MM2S
from memtile.jit.decorators import jit
from memtile.model.dma.access_log import CH, PADDING, STEP, TARGET, WORDS
from memtile.model.state.state import State
from memtile.sim.skip.records import Arrays

_NOWHERE = 1 << 62  # above all words


@jit
def find_extents(st: State, work: Arrays, first: int, end: int, done: int, periods: int) -> None:
    """Find between which words the accesses of each channel are, in the periods that are gathered.

    Those whose words are counted have no addresses there, and meet no other channel's.
    """
    channels, log = work.channels, st.access_log
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        channels.lowest[ch], channels.highest[ch], channels.meeting[ch] = _NOWHERE, -1, 0
    for row in range(first, end):
        ch, target = log[row, CH], log[row, TARGET]
        if ch < 0 or target == PADDING or channels.counted[ch] > 0:
            continue
        high = target + (log[row, WORDS] - 1) * log[row, STEP]
        channels.lowest[ch] = min(channels.lowest[ch], target)
        channels.highest[ch] = max(channels.highest[ch], high)
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        if channels.lowest[ch] <= channels.highest[ch]:
            one, other = (done + 1) * channels.shift[ch], (done + periods) * channels.shift[ch]
            channels.lowest[ch] += min(one, other)
            channels.highest[ch] += max(one, other)


@jit
def find_meeting(st: State, work: Arrays, first: int, end: int, done: int, periods: int) -> None:
    """Find which channels may access words of others: only their segments have to be kept in order."""
    find_extents(st, work, first, end, done, periods)
    channels = work.channels
    for n in range(1, work.search.moving_count[0]):
        one = work.moving[n]
        for earlier in range(n):
            other = work.moving[earlier]
            if st.channels.direction[one] == MM2S and st.channels.direction[other] == MM2S:
                continue
            if (
                channels.lowest[one] <= channels.highest[other]
                and channels.lowest[other] <= channels.highest[one]
            ):
                channels.meeting[one] = channels.meeting[other] = 1
