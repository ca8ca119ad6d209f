"""What fast-forward knows, as records: tables with one row, a row for each channel, port, segment or span.

``kept`` has states of the past, a slot each: when it was, where the log of accesses was, ``OF_CHANNEL``
entries for each live channel, ``OF_EXTERNAL`` for each channel of an interface tile, then the words of all
spans that are compared.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np

from memtile.jit.decorators import inlined
from memtile.jit.structs import Struct
from memtile.jit.tables import table
from memtile.model.dma.access_log import ROWS
from memtile.model.state.columns import Bytes, Ints, Words
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.sim.skip.probe_policy import Policy


class SpanRule(IntEnum):
    """How the words of a span may differ after a period."""

    EQUAL = 0
    STAMP = 1
    DUE = 2
    ACCOUNT = 3  # by anything, which comes again in each period
    COUNTER = 4  # by one in a cycle at most, up to ``limit`` and the largest word: a performance counter
    REPEATS = 5  # by one in a cycle at most: repeats of the last frame of a trace, see ``unit_guards``
    GAP = 6  # by one in each cycle or not at all, up to the next frame of a trace


class LiveSection(IntEnum):
    """What of a model may be live: sections of ``live``."""

    TILE = 0
    CHANNEL = 1
    CORE = 2
    EXTERNAL = 3
    PORT = 4


PARTS = len(LiveSection)


class RowsOf(IntEnum):
    """What the rows of a table are of: those that a tile has some of first, and then each ``LiveSection``."""

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


class KeptOff(IntEnum):
    """What keeps time from being jumped over: bits of ``Search.obstacles``."""

    CORE = 0
    UNIT = 1
    CONTROL = 3
    MEMORY = 4
    CHECK = 5
    WORDS = 6
    CIRCUIT = 2
    TRACE = 7


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

LATEST_WORDS = 16  # of an access, at most
MOST_SEGMENTS = ROWS


class Search(NamedTuple):
    """The search for periods and the jump under way, one row; cycles are those of the array clock.

    Attributes:
        slot_size: entries of a slot of ``kept``.
        step_budget: cycles that may be stepped before Python is asked.
        stepped_cost: what stepping has cost so far, see ``probe_budget``; what jumps save counts as stepped.
        probing_cost: what the search has cost so far.
        probe_cost: the part of it that is due to probes.
        ring_effort: what the next search for rings may cost.
        next_probe: cycle of the next probe.
        failed_probes: probes in a row that found nothing.
        probe_step: cycles between two comparisons of a probe: the period that the one before found.
        action_probes: above 0: short periods were found between actions of cores; so many more may fail.
        postponed_at: cycle in which a probe was postponed.
        compared_words: words compared so far.
        differing_span: span in which the last two states differed that were compared.
        differing_word: where it is in a slot, 0 = none yet.
        obstacles: a bit for each ``KeptOff`` that there was when a period was looked for.
        anchor: channel whose ends of BDs are compared to find rings.
        anchor_bds: its BDs so far.
        anchor_since: cycle in which it became the anchor, or ended a BD last.
        recording: how rings are looked for: 0 = not at all, ``WITH_LOG`` or ``WITHOUT_LOG``, see
            ``bd_rings``.
        next_ring: cycle from which on a state is stored for a ring.
        ring_gap: cycles between two states that are stored.
        ring_tries: states stored since the gap was set.
        ring_pause: cycles before a log that was full is begun again.
        logless: 1 = rings are looked for without a log: it was too short, or cost too much.
        noted_rows: rows of the log of rings that are part of ``probing_cost``.
        found_until: cycle at which a round ends that is noted because the one before came again.
        earlier_ring_jumps: jumps over rings before the log was begun.
        jumps: jumps so far.
        ring_jumps: those of them over rings of BDs.
        jumped_cycles: cycles of all jumps.
        resume_slot: 1 + slot of a jump that the host's ports ended, 0 = none.
        resume_cycle: cycle in which that jump ended.
        resume_row: end of its period's accesses in the log.
        slot: of ``kept``: the state at the beginning of the period of the last jump.
        times: periods of the jump.
        first_row: first row of the period in the log.
        end_row: end of its rows in the log.
        moving_count: channels with accesses in the period, see ``Arrays.moving``.
        segment_count: segments of the period, see ``Segments``.
        action_count: actions of cores in the period.
        port_count: ports that the streams of the period go through, see ``Arrays.passed``.
        stream_count: streams of the period that go through switches.
        flow_words: words of ``flow`` for each of them.
        gathered: 1 = segments and counts are those of the period, without shifts, that is repeated again.
        same_words: 1 = the next jump repeats the very words of its period.
        done: periods whose words are moved, in a jump in which cores are given actions.
        next_segment: segment that comes next in it.
        same_segments: 1 = the segments are those of all of its periods.
        gathered_period: period of which they are.
        planned: 1 = the plan is of what may take part now.
        packet_words: words that control packets had written when it was made.
        with_events: 1 = it has what changes only where events are raised by their number.
        with_units: event units at work when it was made.
        span_count: spans of the plan.
        slot_words: words of its spans.
        scope_rows: rows of tables that may be live.
        channel_count: channels that are live, see ``Arrays.live_channels``.
        live_count: by ``LiveSection``: how many are live.
        first_flag: by ``LiveSection``: where its flags begin in ``live``; then where the last ones end.
        valid: by slot of ``kept``: 1 = it has a state.
    """

    slot_size: Ints
    step_budget: Ints
    stepped_cost: Ints
    probing_cost: Ints
    probe_cost: Ints
    ring_effort: Ints
    next_probe: Ints
    failed_probes: Ints
    probe_step: Ints
    action_probes: Ints
    postponed_at: Ints
    compared_words: Ints
    differing_span: Ints
    differing_word: Ints
    obstacles: Ints
    anchor: Ints
    anchor_bds: Ints
    anchor_since: Ints
    recording: Ints
    next_ring: Ints
    ring_gap: Ints
    ring_tries: Ints
    ring_pause: Ints
    logless: Ints
    noted_rows: Ints
    found_until: Ints
    earlier_ring_jumps: Ints
    jumps: Ints
    ring_jumps: Ints
    jumped_cycles: Ints
    resume_slot: Ints
    resume_cycle: Ints
    resume_row: Ints
    slot: Ints
    times: Ints
    first_row: Ints
    end_row: Ints
    moving_count: Ints
    segment_count: Ints
    action_count: Ints
    port_count: Ints
    stream_count: Ints
    flow_words: Ints
    gathered: Ints
    same_words: Ints
    done: Ints
    next_segment: Ints
    same_segments: Ints
    gathered_period: Ints
    planned: Ints
    packet_words: Ints
    with_events: Ints
    with_units: Ints
    span_count: Ints
    slot_words: Ints
    scope_rows: Ints
    channel_count: Ints
    live_count: Annotated[Ints, (PARTS,)]
    first_flag: Annotated[Ints, (PARTS + 1,)]
    valid: Annotated[Ints, (SLOTS,)]


class Moves(NamedTuple):
    """What a channel moves in a period, a row each; words are 32 bits, and places are those of streams.

    Attributes:
        shift: words by which the accesses move in a period; of counted ones the words of the period.
        words: words that the channel moves in the period.
        cursor: place of the word that comes next in its stream.
        open_target: TARGET of the segment that grows.
        open_step: words from one access of it to the next.
        open_words: words of it, 0 = there is none.
        open_last: 1 = its last word has TLAST.
        only_padding: 1 = the period has only padding.
        lowest: lowest word of memory that the period accesses.
        highest: highest one; below ``lowest`` = it accesses none.
        meeting: 1 = another channel may access some of these words, and one of the two writes.
        ends: words with TLAST in the period.
        flow: where the stream begins in ``flow``, -1 = it comes from or goes to a host.
        producer: S2MM: channel that its words come from through switches, -1 = none.
        behind: S2MM: words of that stream that have left memory, and not come to the channel.
        began: ``cursor`` at the beginning of the period.
        fills: S2MM: words by which the buffer is fuller after a period.
        counted: above 0: ``shift`` is words of a walk outside, counted from this - 1 on, see
            ``counted_walks``.
        number: of the next word of such a walk, while the log is gone through.
        latest: by word of an access: where in the period it was last written.
    """

    shift: Ints
    words: Ints
    cursor: Ints
    open_target: Ints
    open_step: Ints
    open_words: Ints
    open_last: Ints
    only_padding: Ints
    lowest: Ints
    highest: Ints
    meeting: Ints
    ends: Ints
    flow: Ints
    producer: Ints
    behind: Ints
    began: Ints
    fills: Ints
    counted: Ints
    number: Ints
    latest: Annotated[Ints, (LATEST_WORDS,)]


class Segments(NamedTuple):
    """Accesses of a channel that continue each other, or an action of a core; as in the log of accesses."""

    channel: Ints
    target: Ints
    words: Ints
    step: Ints
    flags: Ints


class Ways(NamedTuple):
    """What goes through a port of a stream switch, a row each.

    Attributes:
        producer: 1 + channel whose words go through it, 0 = none.
        behind: words on their way to it.
    """

    producer: Ints
    behind: Ints


class Spans(NamedTuple):
    """Words of the state that are compared, see ``live_parts.make_plan``.

    Attributes:
        address: of the first row, in bytes.
        rows: how many.
        stride: bytes from one row to the next.
        words: of each row.
        compared: how, see ``SpanRule``.
        limit: of a counter: its threshold, -1 = none.
    """

    address: Ints
    rows: Ints
    stride: Ints
    words: Ints
    compared: Ints
    limit: Ints


class Layout(NamedTuple):
    """Words of the rows of a table that may be compared, a row for each span of it.

    Attributes:
        table: address of the table, in bytes.
        stride: bytes from a row of it to the next.
        rows_of: what its rows are of, see ``RowsOf``.
        byte: of the span in a row.
        words: of the span.
        compared: how, see ``SpanRule``.
    """

    table: Ints
    stride: Ints
    rows_of: Ints
    byte: Ints
    words: Ints
    compared: Ints


class _Arrays(NamedTuple):
    policy: Policy
    search: Search
    channels: Moves
    moving: Ints
    live_channels: Ints
    segments: Segments
    ways: Ways
    passed: Ints
    plan: Spans
    kept: Ints
    ring: Ints
    flow: Words
    flow_last: Bytes
    layout: Layout
    rows: Ints
    live: Bytes
    lists: Ints


class Arrays(_Arrays, Struct):
    """What fast-forward works with, beside the state.

    Attributes:
        policy: when to look for periods.
        search: the search for periods and the jump under way.
        channels: what each channel moves in a period.
        moving: channels that have accesses in the period.
        live_channels: channels that may take part in what happens.
        segments: of the period.
        ways: what goes through each port.
        passed: ports on the ways of streams.
        plan: the spans that are compared.
        kept: states of the past.
        ring: a copy of the reads of an external channel.
        flow: words of each stream that goes through switches.
        flow_last: their TLAST.
        layout: spans of all tables.
        rows: first row and number of rows that each tile has in tables of each kind.
        live: a flag for whatever there is a ``LiveSection`` for.
        lists: what of it is live.
        forgotten: memory of the tables that are 0 where nothing is known of a state.
    """

    forgotten: Ints


TABLES: dict[str, type[Any]] = {
    "policy": Policy,
    "search": Search,
    "channels": Moves,
    "segments": Segments,
    "ways": Ways,
    "plan": Spans,
    "layout": Layout,
}
"""The fields of :class:`Arrays` that are tables."""


def no_arrays() -> Arrays:
    """Arrays without rows, of the types that all others have."""
    kinds: dict[str, type[Any]] = {"flow": np.uint32, "flow_last": np.uint8, "live": np.uint8}
    arrays: dict[str, Any] = {name: np.zeros(0, kinds.get(name, np.int64)) for name in Arrays._fields}
    return Arrays(**arrays | {name: table(columns, 0) for name, columns in TABLES.items()})


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
