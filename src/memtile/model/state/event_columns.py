"""Tables of the event units: what is fixed, how they are set, and when each event was last asserted.

Columns as in ``state.state``. An event unit is the event, counter, timer and trace block of a
module: one in memory and interface tiles, two in compute tiles (memory module, core module).
"""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.events import (
    BROADCAST_CHANNELS,
    COMBO_INPUTS,
    COMBOS,
    EDGES,
    EVENT_UNITS,
    MORE_COUNTERS_V2,
    ComboOperation,
)
from memtile.arch.trace_facts import PACKET_WORDS, PAYLOAD_BYTES, REPEAT1, SLOTS, SYNC_CYCLES, TraceState
from memtile.model.state import columns as c
from memtile.model.state.columns import Column, Ints

COUNTERS = max(unit.counters for unit in EVENT_UNITS.values()) + MORE_COUNTERS_V2
SIDES = 4  # of a broadcast switch, in the order of arch.event_registers
SOUTH, WEST, NORTH, EAST = range(SIDES)
FLIGHT = 8  # cycles that a broadcast may need from one switch to the next, and one more
PER_KIND = 8  # arguments of events that come once for each selector: kind * PER_KIND + selector
ALL_CHANNELS = PER_KIND - 1
SOURCE, THING, KIND, VALUE = range(4)  # columns of ``State.lines``: Source, what asserts the event, and how

PerCounter = Annotated[Ints, (COUNTERS,)]
PerSlot = Annotated[Ints, (SLOTS,)]
PerInput = Annotated[Ints, (COMBO_INPUTS,)]
PerCombo = Annotated[Ints, (COMBOS,)]
PerEdge = Annotated[Ints, (EDGES,)]
PerBroadcast = Annotated[Ints, (BROADCAST_CHANNELS,)]
PerSide = Annotated[Ints, (SIDES,)]
Payload = Annotated[Ints, (PAYLOAD_BYTES,)]
Packet = Annotated[Ints, (PACKET_WORDS,)]


class EventSource(IntEnum):
    """What asserts an event; ``Spec.event_sources`` gives it and an argument for each event."""

    RAISED = 0  # only what raises it by its number: the unit itself, or Event_Generate
    TRUE = 1
    GROUP = 2  # number of the group
    CHANNEL = 3  # ChannelEvent and selector (memory tile) or channel
    CHANNEL_ERROR = 4  # direction and channel, or all of the direction
    LOCK = 5  # LockEvent and selector
    PORT = 6  # PortEvent and selector
    CONFLICT = 7  # bank
    SIGNAL = 8  # Signal
    CORE = 9  # CoreEvent


class ChannelEvent(IntEnum):
    """What is known of a channel: columns of ``State.seen``."""

    START_TASK = 0
    FINISHED_BD = 1
    FINISHED_TASK = 2
    STALLED_LOCK = 3
    STREAM = 4  # S2MM: starvation; MM2S: back-pressure
    MEMORY = 5  # S2MM: back-pressure; MM2S: starvation
    ERROR = 6
    PORT_RUNNING = 7  # a word crossed the stream port of a test bench
    PORT_TLAST = 8


class LockEvent(IntEnum):
    """Events of a lock selector, in the order of their numbers."""

    ACQUIRED_EQUAL = 0
    ACQUIRED_GREATER = 1
    RELEASED = 2
    EQUAL_TO_VALUE = 3


class PortEvent(IntEnum):
    """Events of a stream switch port selector, in the order of their numbers."""

    IDLE = 0
    RUNNING = 1
    STALLED = 2
    TLAST = 3


class TileSignal(IntEnum):
    """What a tile reports as a whole: columns of ``State.signals``."""

    SCRUB_CORRECTED = 0
    SCRUB_2BIT = 1
    ECC_1BIT = 2
    ECC_2BIT = 3
    STREAM_PARITY = 4
    STREAM_PACKET = 5
    CONTROL_PACKET = 6
    SLAVE_ERROR = 7
    LOCK_ERROR = 8
    TOKEN_STALL = 9
    WATCHPOINT_0 = 10
    WATCHPOINT_1 = 11
    WATCHPOINT_2 = 12
    WATCHPOINT_3 = 13
    PARITY_BANK_2 = 14
    PARITY_BANK_3 = 15
    PARITY_BANK_4 = 16
    PARITY_BANK_5 = 17
    PARITY_BANK_6 = 18
    PARITY_BANK_7 = 19
    DECODE_ERROR = 20
    EXTERNAL_SLAVE_ERROR = 21


class CoreEvent(IntEnum):
    """What is known of a core: columns of ``State.core_seen``."""

    ACTIVE = 0
    MEMORY_STALL = 1
    LOCK_STALL = 2
    LOCK_ACQUIRE = 3
    LOCK_RELEASE = 4
    DEBUG_HALTED = 5
    CASCADE_STALL = 6
    STREAM_STALL = 7
    CASCADE_GET = 8
    CASCADE_PUT = 9
    STREAM_GET = 10
    STREAM_PUT = 11
    DISABLED = 12


class EventUnits(NamedTuple):
    """Fixed facts of each event unit; registers as indices in ``State.registers``, -1 = none."""

    tile: Ints
    module: Ints  # row of the event tables
    counters: Ints
    first_node: Ints  # its broadcast switch in Spec.nodes
    trace_port: Ints  # slave port that its trace packets enter
    group: Ints  # first group enable register
    status: Ints
    words: Ints  # status registers
    broadcast: Ints
    trace_control: Ints
    trace_events: Ints
    trigger: Ints
    timer_control: Ints
    count_control: PerCounter  # the register that selects start and stop
    count_reset: PerCounter  # and the one that selects what resets it
    reset_lsb: PerCounter  # where in there
    counter: Ints  # first counter
    threshold: Ints
    thresholds: Ints  # counters that have one
    combo: Ints
    edge: Ints
    scrubbing: Ints  # ECC_Scrubbing_Event
    core: Ints  # Core_Control, the first of consecutive control registers of a core
    ports: Ints  # Stream_Switch_Event_Port_Selection_0
    channels: Ints  # DMA_Event_Channel_Selection
    locks: Ints  # Locks_Event_Selection_0


class EventModules(NamedTuple):
    """Fixed facts of each module that has an event unit: event numbers."""

    last: Ints
    timer_sync: Ints
    timer_reached: Ints
    counter: Ints  # first of consecutive ones
    combo: Ints
    edge: Ints
    broadcast: Ints


class EventGroups(NamedTuple):
    """Fixed facts of each group, by (module, group); ``members`` 0 = none."""

    first: Ints  # event that bit 0 of the enable register gates
    members: Ints


class Observers(NamedTuple):
    """How each event unit is set, and its counters, timer, edges and combos."""

    active: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)
    ]  # 1 = in State.active_units
    resolved: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)
    ]  # 1 = State.lines is as the selectors say
    uses: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.BYTE)]  # bit mask, see events.units.Use
    # cycle from which on what happened is not yet in the sticky status
    folded: Annotated[Ints, Column(c.STAMP, 0, c.NOW, c.STAYS, c.SOON)]
    timer_base: Annotated[Ints, Column(c.STAMP, 0, c.NOW, c.MOVES, c.SOON)]  # cycle in which the timer was 0
    timer_trigger: Annotated[
        Ints, Column(c.DUE, c.NEVER, c.CLEARED, c.STAYS, c.Holds(c.NEVER, c.MOST))
    ]  # timer value that fires, -1 = none
    timer_reset: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]  # event
    start: Annotated[PerCounter, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]  # events
    stop: Annotated[PerCounter, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]
    reset: Annotated[PerCounter, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]
    counting: Annotated[PerCounter, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    threshold: Annotated[PerCounter, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(c.NEVER, c.WORD.last))]
    combo_input: Annotated[PerInput, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]
    combo_operation: Annotated[PerCombo, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.one_of(ComboOperation))]
    edge_event: Annotated[PerEdge, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]
    edge_rising: Annotated[PerEdge, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    edge_falling: Annotated[PerEdge, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    edge_was: Annotated[PerEdge, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    scrubbing: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)
    ]  # event that makes the scrubber step
    # bit mask of the counters, combos and edges that are to be asserted in the next cycle
    derived: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, (1 << COUNTERS + COMBOS + EDGES) - 1))
    ]
    broadcast: Annotated[
        PerBroadcast, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)
    ]  # event that drives each channel


class Traces(NamedTuple):
    """The trace unit of each event unit."""

    start: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]  # events
    stop: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]
    slot: Annotated[PerSlot, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.EVENT)]
    state: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.one_of(TraceState))
    ]  # arch.trace.TraceState
    stopping: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)
    ]  # 1 = STOP is still to be written
    gap: Annotated[
        Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.Holds(0, SYNC_CYCLES - 1))
    ]  # cycles since the last frame
    # of the last frame, 0 = a repeat of it is not possible
    mask: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, (1 << SLOTS) - 1))]
    delta: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, SYNC_CYCLES - 1))
    ]  # and its number
    repeats: Annotated[Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.Holds(0, REPEAT1.most))]
    used: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, PAYLOAD_BYTES))
    ]  # bytes of the packet that is being filled
    payload: Annotated[Payload, Column(c.DATA, 0, c.CLEARED, c.STAYS, c.BYTE)]
    full: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)
    ]  # 1 = that packet waits to be handed over
    out: Annotated[Packet, Column(c.DATA, 0, c.CLEARED, c.STAYS, c.WORD)]
    left: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, PACKET_WORDS))
    ]  # words of ``out`` still to be sent
    lost: Annotated[
        Ints, Column(c.COUNT, 0, c.CLEARED, c.STAYS, c.COUNTED)
    ]  # cycles in which something could not be recorded


class Nodes(NamedTuple):
    """Broadcast switches of the event units, in the order of the units (AM020 event broadcast)."""

    unit: Ints
    tile: Ints
    isolation: Ints  # register index of the tile's Tile_Control
    link: PerSide  # node at each side, -1 = none
    first_level: Ints  # mask register of its first-level interrupt controller, -1 = none
    second_level: Ints  # and of the second level
    block: PerSide
