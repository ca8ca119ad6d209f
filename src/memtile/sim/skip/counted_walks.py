"""Walks through external memory that go on through the ends of their rows: their words are counted.

The walk of a BD says for the number of each word where it is. If all its rows are whole accesses, and whole
bursts where bursts cost time, the numbers alone say which words are one access. So a period of whole accesses
may repeat through the ends of all dimensions, up to that of the BD. Such accesses are gathered by the numbers
of their words; where these are, is found when they are moved.
"""

from __future__ import annotations

from memtile.arch.tiles import MAX_DIMENSIONS, MM2S, WORD_BYTES
from memtile.jit.decorators import inlined, jit
from memtile.jit.host_words import copy_in, copy_out
from memtile.model.dma import bd_fields as f
from memtile.model.dma.access_log import outside
from memtile.model.dma.external import burst_words
from memtile.model.state.causes import Phase
from memtile.model.state.columns import Ints
from memtile.model.state.dma import EXTERNAL_SLOTS, RegionColumns
from memtile.model.state.state import State
from memtile.sim.skip import records
from memtile.sim.skip.records import Arrays

_NUMBERS = 1 << 52  # TARGET of a segment from here on: the number of a word in the walk of a channel
_OF_CHANNEL = 1 << 40  # numbers of each


@inlined
def numbered(ch: int, number: int) -> int:
    """The TARGET of a segment that begins with a word of the channel's walk, by its number."""
    return int(_NUMBERS + ch * _OF_CHANNEL + number)


@inlined
def is_numbered(target: int) -> bool:
    """Whether a TARGET is of :func:`numbered`."""
    return target >= _NUMBERS


@inlined
def wrap_of(st: State, ch: int, d: int) -> int:
    """Wrap of a dimension, 0 = it does not end within the walk."""
    return int(st.walks.wrap[ch, d]) if d < MAX_DIMENSIONS - 1 else 0


@jit
def position_of(st: State, ch: int, number: int, axis: int) -> int:
    """Where the walk is in a dimension when the word with this number comes next."""
    for d in range(axis):
        wrap = wrap_of(st, ch, d)
        if wrap == 0:
            return 0
        number //= wrap
    wrap = wrap_of(st, ch, axis)
    return int(number if wrap == 0 else number % wrap)


@jit
def address_of(st: State, ch: int, number: int) -> int:
    """Word address of the word with this number."""
    address = st.walks.origin[ch]
    for d in range(MAX_DIMENSIONS):
        wrap = wrap_of(st, ch, d)
        if wrap == 0:
            return int(address + number * st.walks.step[ch, d])
        address += number % wrap * st.walks.step[ch, d]
        number //= wrap
    return int(address)


@jit
def unit(st: State, ch: int) -> int:
    """Words that begin and end together: those of an access, or of a burst where bursts cost time."""
    words = st.walks.granule_words[ch]
    if st.spec.timing.external_burst_overhead[0] > 0:
        words = max(words, burst_words(st, ch))
    return int(words)


@jit
def has_whole_rows(st: State, ch: int) -> bool:
    """Whether a word's number and its address are as far from the beginning of a unit.

    Interface tiles have no padding, and their steps are above 0 (AM025 DMA_BDn).
    """
    walks, whole, words = st.walks, unit(st, ch), st.channels.length[ch]
    if walks.step[ch, 0] != 1 or walks.origin[ch] % whole != 0:
        return False
    for d in range(MAX_DIMENSIONS):
        wrap = wrap_of(st, ch, d)
        if d == 0 and wrap % whole != 0:
            return False
        if d > 0 and words > 1 and wrap != 1 and walks.step[ch, d] % whole != 0:
            return False
        if wrap == 0:
            return True
        words = -(-words // wrap)
    return True


@inlined
def generated(st: State, ch: int) -> int:
    """Words of its BD that the channel's walk has generated."""
    return int(st.channels.length[ch] - st.walks.left[ch])


@jit
def served(st: State, ch: int) -> int:
    """Those of them whose accesses the AXI master has served."""
    g, words = st.granules, generated(st, ch)
    if st.channels.direction[ch] == MM2S:
        return int(words - g.formed[ch]) if g.closed[ch] == 1 else words
    return int(words - g.formed[ch] - g.port_count[ch])


@jit
def noted(st: State, ch: int) -> int:
    """Those of them that have come from external memory, or gone there: the log has them."""
    words, x, row = served(st, ch), st.externals, st.channels.external[ch]
    if st.channels.direction[ch] == MM2S:
        for n in range(x.arrived[row], x.held[row]):
            words -= x.length[row, (x.head[row] + n) % EXTERNAL_SLOTS]
    return int(words)


@inlined
def access_of(st: State, ch: int, number: int) -> int:
    """Number of the first word of the access that a word is in."""
    return int(number // st.walks.granule_words[ch] * st.walks.granule_words[ch])


@jit
def places_are(st: State, kept: Ints, at: int, ch: int, was: int) -> bool:
    """Whether what the slot has of the walk and its accesses is that of when ``was`` words were generated."""
    for d in range(MAX_DIMENSIONS):
        if kept[at + records.POSITION + d] != position_of(st, ch, was, d):
            return False
    if kept[at + records.AT] != address_of(st, ch, was):
        return False
    if kept[at + records.AIMED] != address_of(st, ch, access_of(st, ch, was - 1)):
        return False
    if st.channels.direction[ch] == MM2S:
        return bool(kept[at + records.PORT_AIMED] == st.granules.port_target[ch])
    handed_over = was - st.granules.formed[ch]
    return bool(kept[at + records.PORT_AIMED] == address_of(st, ch, access_of(st, ch, handed_over - 1)))


@jit
def keeps_apart(st: State, work: Arrays, start: int, ch: int) -> bool:
    """Whether one buffer has all words of the channel's BD, and none is of another's, where one writes."""
    kept = work.kept
    c, (own_first, own_last) = st.channels, extent_of(st, ch)
    if own_first < 0:
        return False
    for n in range(work.search.channel_count[0]):
        other = work.live_channels[n]
        if c.external[other] < 0 or other == ch or (c.direction[other] == MM2S and c.direction[ch] == MM2S):
            continue
        if c.bds_done[other] != kept[start + records.HEAD + n * records.OF_CHANNEL + records.BDS]:
            return False
        if c.phase[other] != Phase.RUN:
            continue
        first, last = extent_of(st, other)
        if first < 0 or (first <= own_last and own_first <= last):
            return False
    return True


@jit
def buffer_with(st: State, low: int, high: int) -> int:
    """The buffer that has all words of external memory from ``low`` to ``high``; -1 if others have some."""
    found = -1
    for region in range(st.regions.shape[0]):
        first = st.regions[region, RegionColumns.FIRST]
        end = first + st.regions[region, RegionColumns.WORDS]
        if first <= high and low < end:
            if found >= 0 or low < first or high >= end:
                return -1
            found = region
    return found


@jit
def walk_span(st: State, ch: int) -> int:
    """How far behind its first word the walk of the loaded BD comes without its iteration, in words."""
    left, behind = st.fields[ch, f.BUFFER_LENGTH], 0
    for d in range(len(f.STEP)):
        wrap = st.fields[ch, f.WRAP[d]] if d < len(f.WRAP) else 0
        count = max(min(wrap, left) if wrap > 0 else left, 1)
        behind += (count - 1) * st.fields[ch, f.STEP[d]]
        left = (left + count - 1) // count
    return int(behind)


@jit
def extent_of(st: State, ch: int) -> tuple[int, int]:
    """Where the first and the last word of external memory are that the BD comes to; -1 = nobody knows."""
    low = st.walks.origin[ch]
    high = low + walk_span(st, ch)
    region = buffer_with(st, low, high)
    if region < 0:
        return -1, -1
    return home_in(st, region, low), home_in(st, region, high)


@inlined
def home_in(st: State, region: int, address: int) -> int:
    """Where a word of a buffer lies: its byte address in this process."""
    return int(st.region_homes[region] + WORD_BYTES * (address - st.regions[region, RegionColumns.FIRST]))


@inlined
def home_at(st: State, ch: int, address: int) -> int:
    """Byte address in this process of a word of the buffer that the channel is at."""
    return home_in(st, st.externals.region[st.channels.external[ch]], address)


@jit
def words_counted(st: State, work: Arrays, start: int, at: int, ch: int) -> int:
    """Words by which the channel's walk has gone on within its BD, if they can be counted; else 0."""
    kept = work.kept
    c, words = st.channels, kept[at + records.LEFT] - st.walks.left[ch]
    if c.external[ch] < 0 or words <= 0 or words % unit(st, ch) != 0:
        return 0
    if c.moved[ch] - kept[at + records.MOVED] != words or c.bds_done[ch] != kept[at + records.BDS]:
        return 0
    if c.phase[ch] != Phase.RUN or not has_whole_rows(st, ch):
        return 0
    was = generated(st, ch) - words
    if noted(st, ch) - words < st.walks.granule_words[ch] or not places_are(st, kept, at, ch, was):
        return 0
    return int(words) if keeps_apart(st, work, start, ch) else 0


@jit
def reads_repeat(st: State, kept: Ints, at: int, ch: int, period: int, words: int) -> bool:
    """Whether the reads under way are those that were, a period later and so many words on."""
    x, row, number = st.externals, st.channels.external[ch], served(st, ch) - words
    if kept[at + records.FOLLOWING] != address_of(st, ch, number - 1) + 1:
        return False
    for n in range(x.held[row]):
        number -= x.length[row, (x.head[row] + n) % EXTERNAL_SLOTS]
    moves = x.passed[row] != kept[at + records.PASSED]
    at += records.READS
    for n in range(x.held[row]):
        slot = (x.head[row] + n) % EXTERNAL_SLOTS
        if kept[at + records.TARGETS] != address_of(st, ch, number):
            return False
        if x.length[row, slot] != kept[at + records.LENGTHS] or x.last[row, slot] != kept[at + records.LASTS]:
            return False
        if n >= x.arrived[row] and (x.ready[row, slot] - kept[at + records.READY] != period or not moves):
            return False  # the time of those that have come is over
        number += kept[at + records.LENGTHS]
        at += records.RING_COLUMNS
    return True


@jit
def is_next(st: State, ch: int, number: int, target: int, words: int) -> bool:
    """Whether an access of the log has the words from a number on, in one row of the walk."""
    wrap = wrap_of(st, ch, 0)
    if wrap > 0 and number % wrap + words > wrap:
        return False
    return bool(target == outside(home_at(st, ch, address_of(st, ch, number))))


@jit
def count_from(work: Arrays, ch: int, periods: int) -> None:
    """Count the words of the log, if they are counted, as those of so many periods later on."""
    if work.channels.counted[ch] > 0:
        work.channels.number[ch] = work.channels.counted[ch] - 1 + periods * work.channels.shift[ch]


@inlined
def count(work: Arrays, ch: int, words: int) -> int:
    """The number of the next word of the log, from which on so many are counted."""
    number = work.channels.number[ch]
    work.channels.number[ch] = number + words
    return int(number)


@jit
def in_one_row(st: State, ch: int, number: int, words: int) -> int:
    """How many of so many words are in the row of the first one."""
    wrap = wrap_of(st, ch, 0)
    return int(words if wrap == 0 else min(words, wrap - number % wrap))


@inlined
def number_of(target: int) -> int:
    """The number of a numbered TARGET."""
    return int((target - _NUMBERS) % _OF_CHANNEL)


@jit
def target_of(st: State, ch: int, number: int) -> int:
    """The TARGET of the log for the word with this number."""
    return int(outside(home_at(st, ch, address_of(st, ch, number))))


@jit
def read_numbered(st: State, work: Arrays, ch: int, number: int, words: int, at: int) -> None:
    """Words of external memory, by their numbers, go into a stream from place ``at`` on."""
    while words > 0:
        home, some = home_at(st, ch, address_of(st, ch, number)), in_one_row(st, ch, number, words)
        copy_in(work.flow, at, home, some)
        number, words, at = number + some, words - some, at + some


@jit
def write_numbered(st: State, work: Arrays, ch: int, number: int, words: int, at: int) -> None:
    """Words of a stream, from place ``at`` on, go to external memory, by their numbers."""
    while words > 0:
        home, some = home_at(st, ch, address_of(st, ch, number)), in_one_row(st, ch, number, words)
        copy_out(home, work.flow, at, some)
        number, words, at = number + some, words - some, at + some


@jit
def set_places(st: State, kept: Ints, at: int, ch: int, words: int) -> None:
    """Let walk and accesses be where the words generated say, and in the slot where they were before."""
    walks, g, number = st.walks, st.granules, generated(st, ch)
    for d in range(MAX_DIMENSIONS):
        walks.position[ch, d] = position_of(st, ch, number, d)
        kept[at + records.POSITION + d] = position_of(st, ch, number - words, d)
    walks.address[ch] = address_of(st, ch, number)
    kept[at + records.AT] = address_of(st, ch, number - words)
    latest = access_of(st, ch, number - 1)
    g.target[ch] = address_of(st, ch, latest)
    kept[at + records.AIMED] = address_of(st, ch, latest - words)
    if st.channels.direction[ch] != MM2S:
        latest = access_of(st, ch, number - g.formed[ch] - 1)
        g.port_target[ch] = address_of(st, ch, latest)
        kept[at + records.PORT_AIMED] = address_of(st, ch, latest - words)


@jit
def set_reads(st: State, kept: Ints, at: int, ch: int, words: int, turned: int) -> None:
    """Let the reads, of which the latest ``turned`` are new, be of the words that were asked for.

    Their lengths are in the ring already; ``at`` is their place in the slot.
    """
    x, row, number = st.externals, st.channels.external[ch], served(st, ch)
    x.following[row] = address_of(st, ch, number - 1) + 1
    kept[at + records.FOLLOWING] = address_of(st, ch, number - words - 1) + 1
    last = x.head[row] + x.held[row] - 1 + EXTERNAL_SLOTS
    for n in range(max(turned, x.held[row])):
        slot = (last - n) % EXTERNAL_SLOTS
        number -= x.length[row, slot]
        if n < turned:
            x.target[row, slot] = address_of(st, ch, number)
        if n < x.held[row]:
            entry = at + records.READS + (x.held[row] - 1 - n) * records.RING_COLUMNS
            kept[entry + records.TARGETS] = address_of(st, ch, number - words)
