"""Channels of interface tiles: what they have under way of external memory, and how far jumps take it."""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.dma.access_log import EXTERNAL, outside
from memtile.model.dma.external import burst_words
from memtile.model.state.columns import Ints
from memtile.model.state.dma import EXTERNAL_SLOTS, RegionColumns
from memtile.model.state.state import State
from memtile.sim.skip.counted_walks import set_reads
from memtile.sim.skip.records import (
    FOLLOWING,
    LASTS,
    LENGTHS,
    PASSED,
    READS,
    READY,
    RING_COLUMNS,
    TARGETS,
    Arrays,
)
from memtile.sim.skip.repeat_bounds import above, before

_UNALIGNED = 3  # bits of an address that words do not have


@jit
def in_words(st: State) -> bool:
    """Whether all buffers of the host begin at a whole word: an access then has a place in the log."""
    for region in range(st.region_homes.shape[0]):  # noqa: SIM110 - compiled code has no generators
        if st.region_homes[region] & _UNALIGNED:
            return False
    return True


@jit
def stay_within(first: int, size: int, low: int, high: int, shift: int, times: int) -> int:
    """How often words ``low`` to ``high`` may move by ``shift`` within ``size`` words from ``first`` on."""
    if shift > 0:
        return before(first + size, high, shift, times)
    return above(first - 1, low, -shift, times)


@jit
def reached(st: State, address: int, words: int, shift: int, times: int) -> int:
    """Guard of an access that is to be made: its buffer ends."""
    for region in range(st.regions.shape[0]):
        first, size = st.regions[region, RegionColumns.FIRST], st.regions[region, RegionColumns.WORDS]
        if first <= address and address + words <= first + size:
            return stay_within(first, size, address, address + words - 1, shift, times)
    return 0


@jit
def made(st: State, target: int, span: int, shift: int, times: int) -> int:
    """Guard of an access that was made: the end of any buffer that has its words."""
    for region in range(st.regions.shape[0]):
        first, size = outside(st.region_homes[region]), st.regions[region, RegionColumns.WORDS]
        if first <= target < first + size:
            times = stay_within(first, size, target, target + span - 1, shift, times)
    return times


@jit
def is_outside(target: int) -> bool:
    """Whether an access of the log is one to external memory."""
    return target >= EXTERNAL


@jit
def repeat(st: State, kept: Ints, at: int, ch: int, period: int, shift: int) -> bool:
    """Whether the reads under way are those that were, a period later and ``shift`` words on."""
    x, row = st.externals, st.channels.external[ch]
    moves = x.passed[row] != kept[at + PASSED]
    if x.following[row] - kept[at + FOLLOWING] != shift:
        return False
    at += READS
    for n in range(x.held[row]):
        slot = (x.head[row] + n) % EXTERNAL_SLOTS
        if x.target[row, slot] - kept[at + TARGETS] != shift:
            return False
        if x.length[row, slot] != kept[at + LENGTHS] or x.last[row, slot] != kept[at + LASTS]:
            return False
        if n >= x.arrived[row] and (x.ready[row, slot] - kept[at + READY] != period or not moves):
            return False  # the time of those that have come is over
        at += RING_COLUMNS
    return True


@jit
def under_way(st: State, ch: int, shift: int, times: int) -> int:
    """Guards of accesses that are not in the log yet, and of the bursts of all, where bursts cost time."""
    x, g, row = st.externals, st.granules, st.channels.external[ch]
    if st.spec.timing.external_burst_overhead[0] > 0 and shift % burst_words(st, ch) != 0:
        return 0
    for n in range(x.held[row]):
        slot = (x.head[row] + n) % EXTERNAL_SLOTS
        times = reached(st, x.target[row, slot], x.length[row, slot], shift, times)
    if g.formed[ch] > 0:
        times = reached(st, g.target[ch], g.formed[ch], shift, times)
    if g.port_count[ch] > 0:
        times = reached(st, g.port_target[ch], g.port_count[ch], shift, times)
    return times


@jit
def move_on(st: State, work: Arrays, at: int, ch: int, period: int, times: int) -> None:
    """Bring the reads under way so many periods on; ``at`` is their place in the slot, which follows."""
    kept, ring = work.kept, work.ring
    x, row, shift = st.externals, st.channels.external[ch], work.channels.shift[ch]
    counted = work.channels.counted[ch] > 0
    if counted:
        shift = 0
    beats = x.passed[row] - kept[at + PASSED]
    for slot in range(EXTERNAL_SLOTS):
        ring[slot * RING_COLUMNS + READY] = x.ready[row, slot]
        ring[slot * RING_COLUMNS + TARGETS] = x.target[row, slot]
        ring[slot * RING_COLUMNS + LENGTHS] = x.length[row, slot]
        ring[slot * RING_COLUMNS + LASTS] = x.last[row, slot]
    last = x.head[row] + x.held[row] - 1 + EXTERNAL_SLOTS
    for n in range(min(EXTERNAL_SLOTS, times * beats)):
        slot, periods = (last + times * beats - n) % EXTERNAL_SLOTS, times - n // beats
        was = (last - n % beats) % EXTERNAL_SLOTS * RING_COLUMNS
        x.ready[row, slot] = ring[was + READY] + periods * period
        x.target[row, slot] = ring[was + TARGETS] + periods * shift
        x.length[row, slot], x.last[row, slot] = ring[was + LENGTHS], ring[was + LASTS]
    x.head[row] = (x.head[row] + times * beats) % EXTERNAL_SLOTS
    x.passed[row] += times * beats
    x.following[row] += times * shift
    kept[at + PASSED] += times * beats
    kept[at + FOLLOWING] += times * shift
    for n in range(x.held[row]):
        entry = at + READS + n * RING_COLUMNS
        kept[entry + TARGETS] += times * shift
        if beats > 0:
            kept[entry + READY] += times * period
    if counted:
        words = work.channels.shift[ch]
        set_reads(st, kept, at, ch, words, min(EXTERNAL_SLOTS, times * beats))
