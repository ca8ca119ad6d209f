"""State of the DMA channels: from the task queue to the memory port, and to external memory."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, GRANULE_WORDS, MEMORY
from memtile.model.state import columns as c
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.columns import Column, Ints, Owner
from memtile.model.state.streams import COUNT_SLOTS, CountRing

EXTERNAL_SLOTS = 384  # reads under way of a channel: at least the words that Timing allows

Beats = Annotated[Ints, (EXTERNAL_SLOTS,)]
BeatWords = Annotated[Ints, (EXTERNAL_SLOTS, GRANULE_WORDS)]


class ChannelColumns(NamedTuple):
    """DMA channels; what every cycle looks at comes first, so that it shares cache lines."""

    phase: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.one_of(Phase))]
    why: Annotated[
        Ints, Column(c.EQUAL, Cause.IDLE, c.OWN_RESET, c.OWN_PAUSE, c.one_of(Cause))
    ]  # Cause of the current cycle
    direction: Annotated[
        Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)
    ]  # arch.tiles.S2MM or MM2S
    # row in State.externals, -1 = the channel works on data memory
    external: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    # stream words of the BD moved so far, -1 = its packet header is the next
    moved: Annotated[Ints, Column(c.PLACE, 0, c.CLEARED, c.STAYS, c.Holds(-1, c.Same("length")))]
    length: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]  # stream words of the BD
    fetch_why: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.one_of(Cause))
    ]  # why memory brought or took no word last time
    # 1 = the stream side is compressed; then ``length`` and ``moved`` count memory words
    packed: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]
    # MM2S: 1 = the packet header is still to be sent
    header_due: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    # MM2S: the slave port it feeds, -1 = none; S2MM: -1
    switch_port: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.row_or_none(Owner.PORT))]
    tlast_suppress: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]
    queue_count: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, MEMORY.queue_depth + 1))]
    active: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)
    ]  # 1 = in State.active_channels
    waiting: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)
    ]  # 1 = in State.waiting_channels
    # phase ACQUIRE: the lock in State.locks that it asks for, -1 = out of reach
    lock: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_or_none(Owner.LOCK))]
    acquire_value: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.LOCK_OPERAND)]
    acquire_enable: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]
    tile: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    number: Annotated[
        Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)
    ]  # channel number within its direction
    # cycle at which STARTING, LOADING or TAKEN ends
    until: Annotated[Ints, Column(c.DUE, 0, c.STALE, c.MOVES, c.SOON)]
    stalled: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]  # 1 = its BD waited for its lock
    # sticky error bits, at their status-register positions
    errors: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.WORD)]
    control: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.WORD)]  # control register
    queue: Annotated[c.Queue, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.WORD)]  # queue words, oldest first
    task_bd: Annotated[
        Ints, Column(c.EQUAL, c.NONE, c.CLEARED, c.STAYS, c.Holds(c.NONE, c.MOST_BD))
    ]  # start BD of the running task, -1 = none
    task_token: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)
    ]  # 1 = the running task issues a token
    token_due: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)
    ]  # 1 = a token waits for the tile to take it
    token_counts: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)
    ]  # 1 = word counts follow the token
    runs_left: Annotated[
        Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.BYTE)
    ]  # further runs of the task's chain
    bd: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.MOST_BD))]  # current BD
    next_bd: Annotated[
        Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.Holds(c.NONE, c.MOST_BD))
    ]  # -1 = chain ends
    acquire_lock: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.BYTE)]  # lock id as the DMA sees it
    release_lock: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.BYTE)]
    release_value: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.LOCK_OPERAND)]
    # where and what a channel in State.releasing releases at the end of this cycle
    due_lock: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.BYTE)]
    due_value: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.LOCK_OPERAND)]
    # cycle of the last FINISHED_BD event
    finished_bd: Annotated[Ints, Column(c.STAMP, c.NEVER, c.CLEARED, c.MOVES_IF_AHEAD, c.SOON)]
    bds_done: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]
    tasks_done: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]
    pushes_lost: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # to a full queue
    lost_push: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.WORD)]  # queue word of the last one


class Walks(NamedTuple):
    """Address generators, one a channel; addresses in words as the DMA sees them (AM020, memory tile DMA)."""

    address: Annotated[Ints, Column(c.PLACE, 0, c.STALE, c.STAYS, c.SIGNED)]  # of the next word
    left: Annotated[Ints, Column(c.PLACE, 0, c.CLEARED, c.STAYS, c.COUNTED)]  # words not yet generated
    padding: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]  # 1 = the next word is padding
    padded: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]  # 1 = the walk has padding
    position: Annotated[c.Four, Column(c.PLACE, 0, c.STALE, c.STAYS, c.COUNTED)]  # padding included
    step: Annotated[c.Four, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.SIGNED)]
    wrap: Annotated[c.Three, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]  # 0 = never
    before: Annotated[c.Three, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    after: Annotated[c.Three, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    origin: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.SIGNED)
    ]  # base address plus iteration offset
    # words of one memory access, a power of two
    granule_words: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.STALE, c.STAYS, c.AS_BUILT)]
    # words that the stream port moves in a cycle
    stream_words: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]


class Granules(NamedTuple):
    """The access that each channel forms, and the one that it has at the banks."""

    target: Annotated[
        Ints, Column(c.PLACE, 0, c.STALE, c.STAYS, c.COUNTED)
    ]  # first word of the formed access in State.memory
    bank: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_of(Owner.BANK))]
    formed: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.MOST_WORDS))
    ]  # words in it so far
    closed: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]  # 1 = complete
    owner: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_of(Owner.TILE))
    ]  # tile whose memory it goes to
    # cycle from which an access to a neighbour is on its way
    since: Annotated[Ints, Column(c.STAMP, 0, c.STALE, c.MOVES, c.SOON)]
    # the neighbour's bank that it wants in this cycle
    guest_bank: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_of(Owner.BANK))]
    is_pad: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]  # MM2S: 1 = padding, no access
    words: Annotated[c.Granule, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)]  # S2MM
    port_bank: Annotated[
        Ints, Column(c.EQUAL, c.NONE, c.CLEARED, c.STAYS, c.row_or_none(Owner.BANK))
    ]  # bank asked in this cycle, -1 = none
    # who asks it: the channel, or the interface to a neighbour that it uses, see ``requesters``
    requester: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.REQUESTER)]
    # S2MM: bank of the access waiting to be written
    pending_bank: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_of(Owner.BANK))]
    port_owner: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.row_of(Owner.TILE))
    ]  # S2MM: tile whose memory it goes to
    port_target: Annotated[Ints, Column(c.PLACE, 0, c.STALE, c.STAYS, c.COUNTED)]
    # S2MM: words waiting to be written, 0 = port free
    port_count: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.MOST_WORDS))]
    port_words: Annotated[c.Granule, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)]  # S2MM


class Fifos(NamedTuple):
    """Stream-side buffers, one a channel: ingress of S2MM, egress of MM2S."""

    head: Annotated[Ints, Column(c.RING, 0, c.STALE, c.STAYS, c.Holds(0, c.Same("wrap")))]
    held: Annotated[Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.Holds(0, c.Same("depth")))]
    depth: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]  # usable words
    wrap: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]  # ring slots in use, less 1
    # S2MM, where ports pause: cycle in which the newest word came
    entered: Annotated[Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)]
    # S2MM: 1 and the words of the shortest BD that began when more than a beat waited; 0 = none did
    shortest: Annotated[Ints, Column(c.EQUAL, 0, c.BOOKS, c.STAYS, c.COUNTED)]
    words: Annotated[c.Ring, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)]
    last: Annotated[c.Ring, Column(c.DATA, 0, c.STALE, c.STAYS, c.FLAG)]  # TLAST


class Codecs(NamedTuple):
    """What each channel has between its accesses and a compressed stream, see ``compression``."""

    words: Annotated[
        c.Group, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)
    ]  # memory words: MM2S gathered, S2MM expanded
    held: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, COMPRESSED_GROUP_WORDS + c.MOST_WORDS))
    ]
    coded: Annotated[
        c.Coded, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)
    ]  # stream words of a group, the mask first
    coded_held: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, COMPRESSED_GROUP_WORDS + 1))
    ]  # MM2S: still to be sent; S2MM: come so far
    at: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.Holds(0, COMPRESSED_GROUP_WORDS + 1))
    ]  # next one of ``coded`` (MM2S) or of ``words`` (S2MM)


class TlastCounts(NamedTuple):
    """Finish-on-TLAST counts, one buffer a channel, in the form of the pop register."""

    words: Annotated[CountRing, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)]
    head: Annotated[Ints, Column(c.RING, 0, c.STALE, c.STAYS, c.Holds(0, COUNT_SLOTS - 1))]
    held: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, COUNT_SLOTS))]


UNDER_WAY = 128  # words: at least what a channel can have taken from its port and not yet written
REPEATS = 1024  # of words in sinks, before the clock loop returns


class Ports(NamedTuple):
    """What the test bench does at the stream port of each channel."""

    # a source is a piece of an array of the host: where its words and their TLAST are (0 = none has it), and
    # bytes from a word to the next one (0 = all are the same); then the piece that follows
    source_words: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    source_step: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    source_flags: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    source_position: Annotated[
        Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.NOTHING)
    ]  # next word of the piece
    source_end: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.NOTHING)]
    source_base: Annotated[
        Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.COUNTED)
    ]  # words taken before the piece
    next_words: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    next_step: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    next_flags: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    next_end: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    source_more: Annotated[
        Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.NOTHING)
    ]  # 1 = the host has words that follow these
    former_flags: Annotated[
        Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)
    ]  # behind those of the piece before
    former_end: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]  # words of it
    # a sink is one too: where its words go, the places (64 bits each) of those with TLAST, and room for both
    has_sink: Annotated[
        Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)
    ]  # 1 = the host takes the channel's words
    sink_words: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    sink_step: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]  # as for a source
    sink_room: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    sink_ends: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    ends_room: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    ends_count: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    sink_count: Annotated[Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.NOTHING)]
    sink_taken: Annotated[Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.COUNTED)]  # words before those in it
    # cycle-by-cycle readiness in State.pattern, repeating
    pattern_base: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.COUNTED)]
    pattern_length: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.COUNTED)]  # 0 = always ready


class RegionColumns(IntEnum):
    """Columns of State.regions."""

    FIRST = 0  # word address
    WORDS = 1
    WRITABLE = 2


class Externals(NamedTuple):
    """Traffic of the interface tile channels with external memory, one row a channel."""

    # row of State.regions that the last access was in
    region: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    # word address that would continue the running burst
    following: Annotated[Ints, Column(c.PLACE, c.NONE, c.STALE, c.STAYS, c.Holds(c.NONE, c.MOST))]
    # S2MM: cycle in which the last write is answered
    response_at: Annotated[Ints, Column(c.DUE, 0, c.STALE, c.STAYS, c.SOON)]
    # 1 = the channel has had an access that took time; the first one may take longer (DEV-EXT-1)
    warm: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    head: Annotated[
        Ints, Column(c.RING, 0, c.STALE, c.STAYS, c.Holds(0, EXTERNAL_SLOTS - 1))
    ]  # MM2S: oldest read in the ring
    # MM2S: reads that have gone on to the egress buffer so far
    passed: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]
    # reads in the ring: asked for, and not yet in the egress buffer
    held: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, EXTERNAL_SLOTS))]
    arrived: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.Same("held")))
    ]  # those of them whose words are there
    buffered: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.COUNTED)]  # words of all of them
    ready: Annotated[Beats, Column(c.DUE, 0, c.STALE, c.STAYS, c.SOON)]  # cycle in which the words come
    target: Annotated[
        Beats, Column(c.PLACE, 0, c.STALE, c.STAYS, c.COUNTED)
    ]  # word address in external memory
    length: Annotated[Beats, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.Holds(0, GRANULE_WORDS))]  # words
    last: Annotated[Beats, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]  # 1 = ends its BD
    words: Annotated[BeatWords, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)]
