"""The state as it is and as it was: kept, compared span by span, and moved on by whole periods."""

from __future__ import annotations

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import MAX_DIMENSIONS
from memtile.arch.trace_facts import SYNC_CYCLES
from memtile.jit.addresses import WORD, access
from memtile.jit.decorators import jit
from memtile.model.dma.access_log import NEXT
from memtile.model.state.columns import Ints
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.sim.skip.records import (
    AIMED,
    AT,
    BDS,
    CYCLE,
    ENDS,
    FOLLOWING,
    HEAD,
    HELD,
    LASTS,
    LEFT,
    LENGTHS,
    MOVED,
    OF_CHANNEL,
    PASSED,
    PORT_AIMED,
    POSITION,
    READS,
    READY,
    RING_COLUMNS,
    ROW,
    RUNS,
    SOURCED,
    SUNK,
    TARGETS,
    Arrays,
    SpanRule,
    Spans,
    of_external,
    of_spans,
)

UNBOUNDED = 1 << 62
DIFFERENT = -1
MARGIN = 2  # cycles before one that is due, at which a jump ends

_MOST = (1 << WORD_BITS) - 1
_GAP = SYNC_CYCLES
_load, _store = access()


@jit
def keep_channel(st: State, kept: Ints, at: int, ch: int) -> None:
    """Keep the columns of the channel that have guards of their own."""
    kept[at + MOVED] = st.channels.moved[ch]
    kept[at + LEFT] = st.walks.left[ch]
    kept[at + AT] = st.walks.address[ch]
    for d in range(MAX_DIMENSIONS):
        kept[at + POSITION + d] = st.walks.position[ch, d]
    kept[at + AIMED] = st.granules.target[ch]
    kept[at + PORT_AIMED] = st.granules.port_target[ch]
    kept[at + BDS] = st.channels.bds_done[ch]
    kept[at + RUNS] = st.channels.runs_left[ch]
    kept[at + SOURCED] = st.ports.source_base[ch] + st.ports.source_position[ch]
    kept[at + SUNK] = st.ports.sink_taken[ch] + st.ports.sink_count[ch]
    kept[at + ENDS], kept[at + HELD] = ends_in_buffer(st, ch), st.fifos.held[ch]


@jit
def ends_in_buffer(st: State, ch: int) -> int:
    """TLAST of the words in the buffer of the channel, a bit each, the oldest one first."""
    fifos, found = st.fifos, 0
    for n in range(fifos.held[ch]):
        found |= (fifos.last[ch, (fifos.head[ch] + n) & fifos.wrap[ch]] & 1) << n
    return found


@jit
def keep_external(st: State, kept: Ints, at: int, row: int) -> None:
    """Keep what an external channel has under way."""
    x = st.externals
    kept[at + PASSED], kept[at + FOLLOWING] = x.passed[row], x.following[row]
    at += READS
    for n in range(x.held[row]):
        slot = (x.head[row] + n) % EXTERNAL_SLOTS
        kept[at + READY], kept[at + TARGETS] = x.ready[row, slot], x.target[row, slot]
        kept[at + LENGTHS], kept[at + LASTS] = x.length[row, slot], x.last[row, slot]
        at += RING_COLUMNS


@jit
def keep(st: State, work: Arrays, slot: int) -> None:
    """Keep the state in a slot."""
    search, kept, plan = work.search, work.kept, work.plan
    start = slot * search.slot_size[0]
    kept[start + CYCLE], kept[start + ROW] = st.clock.now[0], st.access_log[0, NEXT]
    search.valid[0, slot] = 1
    for n in range(search.channel_count[0]):
        ch = work.live_channels[n]
        keep_channel(st, kept, start + HEAD + n * OF_CHANNEL, ch)
        if st.channels.external[ch] >= 0:
            row = st.channels.external[ch]
            keep_external(st, kept, start + of_external(st, row), row)
    at = start + of_spans(st)
    for span in range(search.span_count[0]):
        for row in range(plan.rows[span]):
            first = plan.address[span] + row * plan.stride[span]
            for word in range(plan.words[span]):
                kept[at + word] = _load(first + word * WORD)
            at += plan.words[span]


@jit
def equal(kept: Ints, at: int, first: int, words: int) -> bool:
    """Whether all words are what they were."""
    for word in range(words):  # noqa: SIM110 - compiled code has no generators
        if _load(first + word * WORD) != kept[at + word]:
            return False
    return True


@jit
def stamps_moved(kept: Ints, at: int, first: int, words: int, period: int, settled: int) -> bool:
    """Whether each past cycle is by the period later, or as it was and then before cycle ``settled``."""
    for word in range(words):
        was = kept[at + word]
        change = _load(first + word * WORD) - was
        if change != period and (change != 0 or was >= settled):
            return False
    return True


@jit
def next_due(kept: Ints, at: int, first: int, words: int, began: int, period: int) -> int:
    """The earliest cycle to come that does not move; ``DIFFERENT`` if one came within the period."""
    earliest = UNBOUNDED
    for word in range(words):
        was = kept[at + word]
        change = _load(first + word * WORD) - was
        if change == 0:
            if was >= began:
                if was - MARGIN < began + period:
                    return DIFFERENT
                earliest = min(earliest, was - MARGIN)
        elif change != period:
            return DIFFERENT
    return earliest


@jit
def reached(kept: Ints, at: int, first: int, words: int, period: int, limit: int, most: int) -> int:
    """Cycles after which a number comes to ``limit``, or else to ``most``, at the earliest.

    Each of the words grows by one in a cycle at most, and by the same in each period. ``DIFFERENT`` if one
    has come to its limit in this one, or has begun anew.
    """
    earliest = UNBOUNDED
    for word in range(words):
        now, was = _load(first + word * WORD), kept[at + word]
        if now == was:
            continue
        if now < was or now - was > period or was < limit <= now:
            return DIFFERENT
        earliest = min(earliest, (limit if now < limit else most) - now)
    return max(earliest - MARGIN, 0)


@jit
def steady(kept: Ints, at: int, first: int, words: int, period: int) -> bool:
    """Whether each number has grown in each cycle, or in none."""
    for word in range(words):
        change = _load(first + word * WORD) - kept[at + word]
        if change != 0 and change != period:
            return False
    return True


@jit
def growing(plan: Spans, kept: Ints, span: int, at: int, first: int, period: int) -> int:
    """Cycles for which the numbers of a row may grow as they do; or ``DIFFERENT``."""
    words, how = plan.words[span], plan.compared[span]
    if how == SpanRule.GAP:
        if not steady(kept, at, first, words, period):
            return DIFFERENT
        return reached(kept, at, first, words, period, _GAP, _GAP)
    if how == SpanRule.REPEATS:
        return reached(kept, at, first, words, period, UNBOUNDED, UNBOUNDED)
    return reached(kept, at, first, words, period, plan.limit[span], _MOST)


@jit
def compare_span(plan: Spans, kept: Ints, span: int, at: int, began: int, period: int, latency: int) -> int:
    """The cycle at which a jump has to end for the words of a span, kept at ``at``; or ``DIFFERENT``."""
    words, how, bound = plan.words[span], plan.compared[span], UNBOUNDED
    for row in range(plan.rows[span]):
        first = plan.address[span] + row * plan.stride[span]
        if how == SpanRule.EQUAL:
            if not equal(kept, at, first, words):
                return DIFFERENT
        elif how == SpanRule.STAMP:
            if not stamps_moved(kept, at, first, words, period, began - latency):
                return DIFFERENT
        elif how == SpanRule.DUE:
            due = next_due(kept, at, first, words, began, period)
            if due == DIFFERENT:
                return DIFFERENT
            bound = min(bound, due)
        elif how >= SpanRule.COUNTER:
            more = growing(plan, kept, span, at, first, period)
            if more == DIFFERENT:
                return DIFFERENT
            bound = min(bound, began + period + more)
        at += words
    return bound


@jit
def differs_again(st: State, work: Arrays, slot: int) -> bool:
    """Whether the state differs from that of the slot where the last two differed that were compared."""
    search, kept, plan = work.search, work.kept, work.plan
    start, span = slot * search.slot_size[0], search.differing_span[0]
    if search.differing_word[0] == 0:
        return False
    began, latency = kept[start + CYCLE], st.spec.timing.neighbour_latency[0]
    at, period = start + search.differing_word[0], st.clock.now[0] - began
    return compare_span(plan, kept, span, at, began, period, latency) == DIFFERENT


@jit
def compare(st: State, work: Arrays, slot: int) -> int:
    """The cycle at which a jump has to end if the state is that of the slot, moved; else ``DIFFERENT``."""
    search, kept, plan = work.search, work.kept, work.plan
    start, bound = slot * search.slot_size[0], UNBOUNDED
    began, latency = kept[start + CYCLE], st.spec.timing.neighbour_latency[0]
    period = st.clock.now[0] - began
    at = start + of_spans(st)
    for span in range(search.span_count[0]):
        words = plan.rows[span] * plan.words[span]
        search.compared_words[0] += words
        due = compare_span(plan, kept, span, at, began, period, latency)
        if due == DIFFERENT:
            search.differing_span[0], search.differing_word[0] = span, at - start
            return DIFFERENT
        bound = min(bound, due)
        at += words
    return bound


@jit
def move_on(st: State, work: Arrays, slot: int, times: int) -> None:
    """Let the spans differ once more for each of ``times`` periods, here and in the slot."""
    kept, plan = work.kept, work.plan
    at = slot * work.search.slot_size[0] + of_spans(st)
    for span in range(work.search.span_count[0]):
        words, how = plan.words[span], plan.compared[span]
        for row in range(plan.rows[span]):
            if how != SpanRule.EQUAL:
                first = plan.address[span] + row * plan.stride[span]
                for word in range(words):
                    place = first + word * WORD
                    change = times * (_load(place) - kept[at + word])
                    _store(place, _load(place) + change)
                    kept[at + word] += change
            at += words
