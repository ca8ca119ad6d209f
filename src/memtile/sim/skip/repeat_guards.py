"""How often a period may repeat: the comparisons of what moves with what does not, each with its guard.

Every guard answers with the most periods, of those that the others allow, after which its comparison still
comes out as in the period that was stepped; 0 = none, or what happens is nothing that a jump knows.
"""

from __future__ import annotations

from memtile.arch.tiles import MAX_DIMENSIONS, MM2S, S2MM
from memtile.jit.decorators import jit
from memtile.jit.host_words import byte_at
from memtile.model.checking import notes
from memtile.model.dma.access_log import CH, FLAGS, MANY, PADDING, STEP, TARGET, TLAST, UNKNOWN, WORDS
from memtile.model.dma.channel_registers import FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.dma.fifo import counts
from memtile.model.state.causes import Phase
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.skip.comparison import ends_in_buffer
from memtile.sim.skip.counted_walks import count, count_from, is_next, noted, reads_repeat, words_counted
from memtile.sim.skip.external_reads import in_words, is_outside, made, repeat
from memtile.sim.skip.external_reads import under_way as outside_under_way
from memtile.sim.skip.period_segments import KEPT_PERIODS, constant
from memtile.sim.skip.records import (
    AIMED,
    AT,
    BDS,
    CYCLE,
    ENDS,
    HEAD,
    HELD,
    LATEST_WORDS,
    LEFT,
    MOVED,
    OF_CHANNEL,
    PORT_AIMED,
    POSITION,
    ROW,
    RUNS,
    SOURCED,
    SUNK,
    Arrays,
    KeptOff,
    of_external,
)
from memtile.sim.skip.repeat_bounds import above, before
from memtile.sim.skip.stream_ways import NOBODY, chart
from memtile.sim.skip.unit_guards import units_that_act

_INNER = 3  # dimensions that may end
_BEAT = 2  # words that a sink has to have room for, or it is full
_NEVER_EMPTY = 2  # words of a buffer that takes one in each cycle, and gives one at most: there is always one


@jit
def bit(what: int, count: int) -> int:
    """The bit of something that keeps off, if there is any of it."""
    return 1 << what if count > 0 else 0


@jit
def others_at_work(st: State) -> int:
    """What acts beside the channels: a bit for each ``KeptOff``."""
    found = bit(KeptOff.CORE, st.cascading[0])
    found |= bit(KeptOff.UNIT, units_that_act(st) + st.in_flight[0])
    found |= bit(KeptOff.CONTROL, st.active_controls[0])
    found |= bit(KeptOff.MEMORY, st.asking_axi[0] + st.guarding[0] + st.zeroising[0])
    return found | bit(KeptOff.CHECK, st.noting[notes.ON])


@jit
def quiet_elsewhere(st: State) -> bool:
    """Whether only channels, switches and cores act, and nobody outside is to do anything."""
    outside = st.clock.full[0] + st.clock.columns_written[0]
    return bool(others_at_work(st) + outside == 0)


@jit
def axis_of(st: State, kept: Ints, at: int, ch: int) -> int:
    """The one dimension in which the channel's walk has moved; -1 = none, or more than one."""
    axis = -1
    for d in range(MAX_DIMENSIONS):
        if st.walks.position[ch, d] != kept[at + POSITION + d]:
            if axis >= 0:
                return -1
            axis = d
    return axis


@jit
def stood(st: State, kept: Ints, at: int, ch: int) -> bool:
    """Whether the channel's walk is where it was."""
    walks, g = st.walks, st.granules
    for d in range(MAX_DIMENSIONS):
        if walks.position[ch, d] != kept[at + POSITION + d]:
            return False
    if walks.address[ch] != kept[at + AT] or walks.left[ch] != kept[at + LEFT]:
        return False
    if g.target[ch] != kept[at + AIMED] or g.port_target[ch] != kept[at + PORT_AIMED]:
        return False
    return bool(st.channels.moved[ch] == kept[at + MOVED])


@jit
def counter(st: State, ch: int, axis: int, was: int, times: int) -> int:
    """Guard of a counter: its end, and the ends of the padding before and behind the data."""
    if axis >= _INNER:
        return times
    walks = st.walks
    value = walks.position[ch, axis]
    first, wrap = walks.before[ch, axis], walks.wrap[ch, axis]
    if was < first:
        return before(first, value, value - was, times)
    if wrap == 0:
        return times
    if was < first + wrap:
        return before(first + wrap, value, value - was, times)
    return before(first + wrap + walks.after[ch, axis], value, value - was, times)


@jit
def has_neighbours(st: State, ch: int) -> bool:
    """Whether a word of the walk may follow the one before it in memory, so that one access has both."""
    walks, behind = st.walks, 0  # how far the last word of the dimensions below is behind their first
    for d in range(MAX_DIMENSIONS):
        wrap = walks.wrap[ch, d] if d < _INNER else 0
        if wrap != 1 and walks.step[ch, d] - behind == 1:
            return True
        if wrap == 0:
            return False
        behind += (wrap - 1) * walks.step[ch, d]
    return False


@jit
def walk(st: State, work: Arrays, at: int, ch: int, times: int) -> int:
    """Guards of a walk that has gone on within its BD; how far it went becomes the channel's shift."""
    kept = work.kept
    c, walks, g = st.channels, st.walks, st.granules
    axis = axis_of(st, kept, at, ch)
    if axis < 0 or c.bds_done[ch] != kept[at + BDS] or c.phase[ch] != Phase.RUN:
        return 0
    was = kept[at + POSITION + axis]
    shift = walks.address[ch] - kept[at + AT]
    if walks.position[ch, axis] <= was or shift != (walks.position[ch, axis] - was) * walks.step[ch, axis]:
        return 0
    if shift % walks.granule_words[ch] != 0 and has_neighbours(st, ch):
        return 0  # accesses would begin and end at other words
    if g.target[ch] == kept[at + AIMED] and c.direction[ch] == MM2S and g.is_pad[ch] == 1:
        shift, work.channels.only_padding[ch] = 0, 1
    port = shift if c.direction[ch] == S2MM else 0
    if g.target[ch] - kept[at + AIMED] != shift or g.port_target[ch] - kept[at + PORT_AIMED] != port:
        return 0
    moved, left = c.moved[ch] - kept[at + MOVED], kept[at + LEFT] - walks.left[ch]
    if moved <= 0 or left <= 0:
        return 0
    work.channels.shift[ch] = shift
    times = before(c.length[ch], c.moved[ch], moved, times)
    times = above(0, walks.left[ch], left, times)
    return counter(st, ch, axis, was, times)


@jit
def gone_on(st: State, work: Arrays, start: int, at: int, ch: int, times: int) -> int:
    """Guards of a walk that is not where it was."""
    kept = work.kept
    if st.channels.direction[ch] == MM2S and kept[at + MOVED] == 0:
        return 0  # a channel that waits for memory is starved from a BD's first word on
    words = words_counted(st, work, start, at, ch)
    if words > 0:
        return through_rows(st, work, ch, words, times)
    return walk(st, work, at, ch, times)


@jit
def through_rows(st: State, work: Arrays, ch: int, words: int, times: int) -> int:
    """Guard of a walk outside whose words are counted: the end of its BD."""
    work.channels.shift[ch], work.channels.counted[ch] = words, 1 + noted(st, ch) - words
    count_from(work, ch, 0)
    times = before(st.channels.length[ch], st.channels.moved[ch], words, times)
    return above(0, st.walks.left[ch], words, times)


@jit
def port(st: State, kept: Ints, at: int, ch: int, times: int) -> int:
    """Guard of a port that counts its words (DEV-SILICON-2, DEV-INGRESS-2): none is the last one of a BD.

    After whole rounds of BDs as many words came as before, and the port pauses at the same places again.
    """
    c = st.channels
    if not counts(st, ch) or c.direction[ch] != S2MM or c.length[ch] <= 0:
        return times
    was, came = kept[at + MOVED] + kept[at + HELD], c.moved[ch] + st.fifos.held[ch]
    if came == was:
        return times
    if came < was or c.bds_done[ch] != kept[at + BDS] or was % c.length[ch] == 0:
        return 0
    return before((was // c.length[ch] + 1) * c.length[ch], came, came - was, times)


@jit
def flag(st: State, ch: int, at: int) -> int:
    """TLAST of a word of the source, by its place in the piece that the source is in; 2 = nobody knows."""
    ports = st.ports
    flags = ports.source_flags[ch]
    if at < 0:
        flags = ports.former_flags[ch]
        if at < -ports.former_end[ch]:
            return 2
    elif at >= ports.source_end[ch]:
        flags, at = ports.next_flags[ch], at - ports.source_end[ch]
    return byte_at(flags + at) if flags != 0 else 0


@jit
def last_flags(st: State, ch: int, words: int, times: int) -> int:
    """Guard of TLAST at a source: each period offers it with the same words."""
    ports = st.ports
    at, most = ports.source_position[ch], times * words
    none = ports.source_flags[ch] == 0 and ports.next_flags[ch] == 0 and ports.former_flags[ch] == 0
    if none and at - words >= -ports.former_end[ch]:
        return times
    for n in range(most):
        if flag(st, ch, at + n) != flag(st, ch, at + n - words):
            return n // words
    return times


@jit
def ends(st: State, kept: Ints, at: int, ch: int, times: int) -> int:
    """Guards of the ends of the channel's task and of its source."""
    ports = st.ports
    runs = kept[at + RUNS] - st.channels.runs_left[ch]
    sourced = ports.source_base[ch] + ports.source_position[ch] - kept[at + SOURCED]
    sunk = ports.sink_taken[ch] + ports.sink_count[ch] - kept[at + SUNK]
    if runs < 0 or sourced < 0 or sunk < 0:
        return 0
    if runs > 0:
        times = above(0, st.channels.runs_left[ch], runs, times)
    if sourced > 0:
        left = ports.source_end[ch] - ports.source_position[ch] + ports.next_end[ch]
        times = above(0, left, sourced, times)
        if times > 0:
            times = last_flags(st, ch, sourced, times)
    return times


@jit
def no_flags(st: State, kept: Ints, at: int, ch: int) -> bool:
    """Whether no word that came, waits or may come has TLAST."""
    ports = st.ports
    flags = ports.source_flags[ch] | ports.next_flags[ch] | ports.former_flags[ch]
    return bool(flags | kept[at + ENDS] | ends_in_buffer(st, ch) == 0)


@jit
def fill(st: State, work: Arrays, at: int, ch: int, period: int, times: int) -> int:
    """Guard of a buffer that fills slowly: it becomes full.

    A source that gave a word in each cycle found room in each. The channel took one in some cycles, so what
    the buffer holds never fell: it was empty at no time, and becomes full at the end first.
    """
    kept = work.kept
    c, held, was = st.channels, st.fifos.held[ch], kept[at + HELD]
    work.channels.fills[ch] = held - was
    if held == was:
        return times
    sourced = st.ports.source_base[ch] + st.ports.source_position[ch] - kept[at + SOURCED]
    if held < was or was < _NEVER_EMPTY or sourced != period or c.direction[ch] != S2MM:
        return 0
    if st.walks.stream_words[ch] != 1 or not no_flags(st, kept, at, ch):
        return 0
    return before(st.fifos.depth[ch], held, held - was, times)


@jit
def sinks(st: State, work: Arrays, times: int) -> int:
    """Guard of the ends of the sinks."""
    ports = st.ports
    for n in range(work.search.moving_count[0]):
        ch = work.moving[n]
        words = work.channels.words[ch]
        if st.channels.direction[ch] == MM2S and words > 0 and work.channels.flow[ch] == NOBODY:
            room = ports.sink_room[ch] - _BEAT - st.fifos.held[ch]
            times = before(room, ports.sink_count[ch], words, times)
            ends = work.channels.ends[ch]
            if ends > 0:
                room = ports.ends_room[ch] - _BEAT - st.fifos.held[ch]
                times = before(room, ports.ends_count[ch], ends, times)
    return times


@jit
def block(first: int, shift: int, log2: int, mask: int, times: int) -> int:
    """How often an address may move by ``shift`` within its bank, or group of banks."""
    if mask == 0 or shift % ((mask + 1) << log2) == 0:
        return times
    within = first & ((1 << log2) - 1)
    if shift > 0:
        return before(1 << log2, within, shift, times)
    return above(-1, within, -shift, times)


@jit
def aim(st: State, ch: int, target: int, words: int, shift: int, times: int) -> int:
    """Guards of an access from a word of ``State.memory`` on: it stays in its bank, and in its window."""
    owner, memory = st.granules.owner[ch], st.memories
    size = st.spec.tiles.memory_words[owner]
    first = target - st.spec.tiles.memory_base[owner]
    if first < 0 or first + words > size:
        return 0  # of another window than the one that the walk is in now
    times = block(first, shift, memory.shift[owner], memory.mask[owner], times)
    times = block(first, shift, memory.group_shift[owner], memory.group_mask[owner], times)
    if shift > 0:
        return before(size, first + words - 1, shift, times)
    return above(-1, first, -shift, times)


@jit
def under_way(st: State, work: Arrays, ch: int, times: int) -> int:
    """Guards of the accesses that the channel has formed, and that were not granted yet."""
    g, shift = st.granules, work.channels.shift[ch]
    if st.channels.direction[ch] == MM2S:
        if g.closed[ch] == 1 and g.is_pad[ch] == 0:
            times = aim(st, ch, g.target[ch], g.formed[ch], shift, times)
        return times
    if g.formed[ch] > 0:
        times = aim(st, ch, g.target[ch], g.formed[ch], shift, times)
    if g.port_count[ch] > 0:
        if g.port_owner[ch] != g.owner[ch]:
            return 0
        times = aim(st, ch, g.port_target[ch], g.port_count[ch], shift, times)
    return times


@jit
def note_latest(work: Arrays, ch: int, words: int, offset: int) -> None:
    """Note for each word of an access where in the period it was moved."""
    for word in range(words):
        work.channels.latest[ch, word] = offset


@jit
def survey(st: State, work: Arrays, first: int, end: int, times: int) -> int:
    """Go over the accesses of the period: guards of those that move, and how many words each channel has."""
    search = work.search
    log = st.access_log
    for row in range(first, end):
        ch, words = log[row, CH], log[row, WORDS]
        if ch < 0:
            search.action_count[0] += 1
            if log[row, FLAGS] == UNKNOWN:
                return 0
            continue
        so_far = work.channels.words[ch]
        if so_far == 0:
            work.moving[search.moving_count[0]] = ch
            search.moving_count[0] += 1
        if log[row, FLAGS] & MANY == 0:
            note_latest(work, ch, words, so_far)
        work.channels.words[ch] = so_far + words
        work.channels.ends[ch] += log[row, FLAGS] & TLAST
        times = where_it_goes(st, work, row, ch, times)
    return times


@jit
def where_it_goes(st: State, work: Arrays, row: int, ch: int, times: int) -> int:
    """Guards of where an access of the log goes."""
    log, words, shift = st.access_log, st.access_log[row, WORDS], work.channels.shift[ch]
    target = log[row, TARGET]
    if work.channels.counted[ch] > 0:
        next_one = is_next(st, ch, count(work, ch, words), target, words)
        return times if log[row, STEP] == 1 and next_one else 0
    if target == PADDING:
        return times
    if work.channels.only_padding[ch] == 1:
        return 0
    if shift == 0:
        return times
    if is_outside(target):
        return made(st, target, (words - 1) * log[row, STEP] + 1, shift, times)
    return 0 if log[row, FLAGS] & MANY else aim(st, ch, target, words, shift, times)


@jit
def plain_words(st: State, work: Arrays, at: int, ch: int) -> bool:
    """Whether the channel moved its words between its stream and memory, as they are."""
    kept = work.kept
    c, words = st.channels, work.channels.words[ch]
    sourced = st.ports.source_base[ch] + st.ports.source_position[ch] - kept[at + SOURCED]
    sunk = st.ports.sink_taken[ch] + st.ports.sink_count[ch] - kept[at + SUNK]
    through = work.channels.flow[ch] != NOBODY  # the switches, with as many words as at the other end
    if through and sunk + sourced > 0:
        return False
    if not through and words + work.channels.fills[ch] != (sunk if c.direction[ch] == MM2S else sourced):
        return False
    if words == 0:
        return bool(work.channels.fills[ch] == 0)
    if c.packed[ch] == 1 or c.control[ch] & (FOT_MASK | OUT_OF_ORDER_MASK) != 0:
        return False
    if c.external[ch] >= 0:
        return through and in_words(st)
    if not through and work.search.action_count[0] > 0:
        return False  # what a kernel may end in the middle of a period has no part of the host's ports
    return bool(st.guards.inspected[st.granules.owner[ch]] == 0)


@jit
def of_channels(st: State, work: Arrays, start: int, period: int, times: int) -> int:
    """Guards of all channels, but for where their accesses go.

    When a jump goes on (``GATHERED``), what is known of its period's accesses still holds.
    """
    kept = work.kept
    for n in range(work.search.channel_count[0]):
        ch = work.live_channels[n]
        at = start + HEAD + n * OF_CHANNEL
        work.channels.shift[ch] = work.channels.only_padding[ch] = work.channels.counted[ch] = 0
        if work.search.gathered[0] == 0:
            work.channels.words[ch] = work.channels.ends[ch] = 0
            note_latest(work, ch, LATEST_WORDS, -1)
        length = st.ports.pattern_length[ch]
        if length > 0 and period % length != 0:
            return 0
        if kept[at + ENDS] != ends_in_buffer(st, ch):
            return 0
        times = port(st, kept, at, ch, fill(st, work, at, ch, period, times))
        if not stood(st, kept, at, ch):
            times = gone_on(st, work, start, at, ch, times)
        times = ends(st, kept, at, ch, times)
        if times == 0:
            return 0
    return times


@jit
def of_externals(st: State, work: Arrays, start: int, period: int, times: int) -> int:
    """Guards of what interface tiles have under way."""
    kept = work.kept
    for n in range(work.search.channel_count[0]):
        ch = work.live_channels[n]
        row = st.channels.external[ch]
        if row < 0:
            continue
        shift = work.channels.shift[ch]
        if work.channels.counted[ch] > 0:
            if not reads_repeat(st, kept, start + of_external(st, row), ch, period, shift):
                return 0
            continue
        if not repeat(st, kept, start + of_external(st, row), ch, period, shift):
            return 0
        if shift != 0:
            times = outside_under_way(st, ch, shift, times)
    return times


@jit
def where_accesses_go(st: State, work: Arrays, start: int, end: int, times: int) -> int:
    """Guards of the accesses, up to row ``end`` of the log, and of what the period does with their words."""
    search, kept = work.search, work.kept
    if search.gathered[0] == 0:
        search.moving_count[0] = search.action_count[0] = 0
        times = survey(st, work, kept[start + ROW], end, times)
        if times > 0 and not chart(st, work, kept[start + CYCLE]):
            search.obstacles[0] |= 1 << KeptOff.CIRCUIT
            return 0
    times = of_externals(st, work, start, st.clock.now[0] - kept[start + CYCLE], times)
    for n in range(search.channel_count[0]):
        ch = work.live_channels[n]
        if not plain_words(st, work, start + HEAD + n * OF_CHANNEL, ch):
            search.obstacles[0] |= 1 << KeptOff.WORDS
            times = 0
        if times == 0:
            return 0
        if work.channels.shift[ch] != 0 and st.channels.external[ch] < 0:
            times = under_way(st, work, ch, times)
    search.same_words[0] = 0
    fitting = sinks(st, work, times)
    among_hosts = search.stream_count[0] + search.action_count[0] == 0 and times > KEPT_PERIODS
    if among_hosts and fitting >= KEPT_PERIODS and constant(st, work, kept[start + ROW], end):
        search.same_words[0] = 1
        return times
    return fitting
