"""Flat state of the model: tables of integers, array-wide, indexed by tile, channel, bank or lock.

A ``Spec`` never changes after the device is built; a ``State`` is everything that a cycle may change, so
saving, comparing and restoring a simulation is copying its arrays. Each class below whose fields are columns
describes one NumPy record array: ``st.channels.phase[ch]`` is the same expression in the interpreter and
under Numba. The classes stand in a module of their own because the compiled cache names them.

Index spaces: ``tile`` over the tiles of the model; ``ch`` over all DMA channels, S2MM before MM2S within a
tile; ``bank`` and ``lock`` over all tiles, the AXI masters of interface tiles among the banks; a word in
``memory`` is ``tiles.memory_base[tile]`` plus the tile-local word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.jit.reference import Kept
from memtile.jit.tables import plain as plain
from memtile.jit.tables import table as table
from memtile.model.state.columns import CORE_REQUESTS as CORE_REQUESTS
from memtile.model.state.columns import CORE_STEPS as CORE_STEPS
from memtile.model.state.columns import FIFO_SLOTS as FIFO_SLOTS
from memtile.model.state.columns import (
    Four,
    Granule,
    Merges,
    Pair,
    Queue,
    Requests,
    Ring,
    Three,
)
from memtile.model.state.columns import Ints as Ints
from memtile.model.state.dma import Codecs as Codecs
from memtile.model.state.dma import Interfaces as Interfaces
from memtile.model.state.events import EventGroups, EventModules, EventUnits, Nodes, Observers, Traces
from memtile.model.state.externals import Externals
from memtile.model.state.gates import Gates
from memtile.model.state.memory import Banks as Banks
from memtile.model.state.memory import Locks as Locks
from memtile.model.state.memory import Memories as Memories
from memtile.model.state.protection import Guards, Protections
from memtile.model.state.streams import Arbiters, Controls, Counts, SwitchPorts
from memtile.model.state.watches import Watches

Words = npt.NDArray[np.uint32]
Shorts = npt.NDArray[np.int16]
Bytes = npt.NDArray[np.uint8]

NOW, ACTIVITY, QUIET, ASKING, BOOKED, FULL, CLOCKED, LOCKS, WAITS = range(9)  # entries of State.clock
CLOCK_ENTRIES = 9


class Tiles(NamedTuple):
    """Fixed facts of each tile."""

    kind: Ints  # index into the per-kind tables
    channel_base: Ints
    channels: Ints  # channels of both directions
    lock_base: Ints
    locks: Ints
    bank_base: Ints
    banks: Ints
    memory_base: Ints  # first word in State.memory
    memory_words: Ints
    register_base: Ints  # first entry in State.registers
    registers: Ints
    column: Ints
    row: Ints
    slave_base: Ints  # first slave port in State.switch; the masters follow the slaves
    slaves: Ints
    master_base: Ints
    masters: Ints
    first_unit: Ints  # its first event unit
    units: Ints
    has_dma: Ints  # 0 = interface tile without DMA, locks and multiplexers
    neighbour: Three  # west, own, east tile index; -1 = none
    core: Ints  # index into State.cores, -1 = none
    core_reach: Four  # tiles whose memory and locks the core sees, in the order of arch.core.SIDES; -1 = none


class Kinds(NamedTuple):
    """Fixed facts of each tile kind."""

    bd_words: Ints
    bd_register: Ints  # register index of word 0 of BD 0
    bd_first: Pair  # by channel parity (AM020: 24 of 48 BDs per channel)
    bd_last: Pair
    neighbour_channels: Ints  # channels of each direction that reach the neighbours
    first_window: Ints  # column of Tiles.neighbour that DMA window 0 names
    memory_shift: Ints  # log2 of the words of one memory window
    lock_shift: Ints  # log2 of the locks of one lock window
    master_config: Ints  # register index of the first stream switch master
    slave_config: Ints  # and of the first slave
    slot_config: Ints  # and of the first packet slot
    merge_config: Merges  # and of each deterministic merge
    slave_error_status: Ints  # register index and bit of the sticky status of an access that nothing answers
    slave_error_bit: Ints
    external: Ints  # 1 = the channels work on external memory
    queue_mask: Ints  # bits of the start queue register
    reset_mask: Ints  # Reset bit of the channels' control register; 0 = the kind has none
    granule_words: Ints  # words of one memory access
    pad_value: Ints  # register index of the pad value of MM2S channel 0, -1 = padding is zeros
    interleaves: Ints  # 1 = Memory_Control chooses between interleaved and linear banks


class RegisterMap(NamedTuple):
    """Fixed facts of each register, by (kind, register index)."""

    write_mask: Ints  # bits that a write stores
    clear_mask: Ints  # write-1-to-clear bits
    read_mask: Ints  # bits that a read returns
    block: Ints  # which hardware block answers, see axi.Block
    argument: Ints  # channel or first lock within the block
    needs_dma: Ints  # 1 = belongs to the interface tile's NoC module, which not every column has


class Channels(NamedTuple):
    """DMA channels; what every cycle looks at stands together, so that it shares cache lines."""

    phase: Ints
    why: Ints  # Cause of the current cycle
    direction: Ints  # arch.tiles.S2MM or MM2S
    external: Ints  # row in State.externals, -1 = the channel works on data memory
    moved: Ints  # stream words of the BD moved so far, -1 = its packet header is the next
    length: Ints  # stream words of the BD
    fetch_why: Ints  # why memory brought or took no word last time
    packed: Ints  # 1 = the stream side is compressed; then ``length`` and ``moved`` count memory words
    header_due: Ints  # MM2S: 1 = the packet header is still to be sent
    switch_port: Ints  # MM2S: the slave port it feeds, -1 = none; S2MM: -1
    tlast_suppress: Ints
    queue_count: Ints
    active: Ints  # 1 = in State.active_channels
    waiting: Ints  # 1 = in State.waiting_channels
    lock: Ints  # phase ACQUIRE: the lock in State.locks that it asks for, -1 = out of reach
    acquire_value: Ints
    acquire_enable: Ints
    tile: Ints
    number: Ints  # channel number within its direction
    until: Ints  # cycle at which STARTING ends
    errors: Ints  # sticky error bits, at their status-register positions
    control: Ints  # control register
    queue: Queue  # queue words, oldest first
    task_bd: Ints  # start BD of the running task, -1 = none
    task_token: Ints  # 1 = the running task issues a token
    token_due: Ints  # 1 = a token waits for the tile to take it
    token_counts: Ints  # 1 = word counts follow the token
    runs_left: Ints  # further runs of the task's chain
    bd: Ints  # current BD
    next_bd: Ints  # -1 = chain ends
    acquire_lock: Ints  # lock id as the DMA sees it
    release_lock: Ints
    release_value: Ints
    due_lock: Ints  # where and what a channel in State.releasing releases at the end of this cycle
    due_value: Ints
    finished_bd: Ints  # cycle of the last FINISHED_BD event
    bds_done: Ints
    tasks_done: Ints


class Walks(NamedTuple):
    """Address generators, one a channel; addresses in words as the DMA sees them (AM020, memory tile DMA)."""

    address: Ints  # of the next word
    left: Ints  # words not yet generated
    padding: Ints  # 1 = the next word is padding
    padded: Ints  # 1 = the walk has padding
    position: Four  # padding included
    step: Four
    wrap: Three  # 0 = never
    before: Three
    after: Three
    origin: Ints  # base address plus iteration offset
    granule_words: Ints  # words of one memory access, a power of two
    stream_words: Ints  # words that the stream port moves in a cycle


class Granules(NamedTuple):
    """The access that each channel forms, and the one that it has at the banks."""

    target: Ints  # first word of the formed access in State.memory
    bank: Ints
    formed: Ints  # words in it so far
    closed: Ints  # 1 = complete
    owner: Ints  # tile whose memory it goes to
    since: Ints  # cycle from which an access to a neighbour is on its way
    guest_bank: Ints  # the neighbour's bank that it wants in this cycle
    is_pad: Ints  # MM2S: 1 = padding, no access
    words: Granule  # S2MM
    port_bank: Ints  # bank asked in this cycle, -1 = none
    pending_bank: Ints  # S2MM: bank of the access waiting to be written
    port_owner: Ints  # S2MM: tile whose memory it goes to
    port_target: Ints
    port_count: Ints  # S2MM: words waiting to be written, 0 = port free
    port_words: Granule  # S2MM


class Fifos(NamedTuple):
    """Stream-side buffers, one a channel: ingress of S2MM, egress of MM2S."""

    head: Ints
    held: Ints
    depth: Ints  # usable words
    wrap: Ints  # ring slots in use, less 1
    words: Ring
    last: Ring  # TLAST


class Cores(NamedTuple):
    """Cores of the compute tiles: the action that each one's kernel asked for."""

    tile: Ints
    active: Ints  # 1 = in State.active_cores
    phase: Ints  # CorePhase
    why: Ints  # CoreCause of the current cycle
    until: Ints  # WAIT: last cycle of it; lock operations: first cycle in which it is decided
    lock: Ints  # lock id as the core sees it
    target: Ints  # that lock in State.locks
    value: Ints  # operand of the lock operation
    step: Ints  # position in State.accesses; lock operations: cycles of them so far
    begun: Ints  # 1 = ``bank`` and ``wanted`` are those of the step
    steps: Ints
    bank: Requests  # of each part of each address generator's access
    wanted: Requests  # grants that the part still needs in this step


class Ports(NamedTuple):
    """What the test bench does at the stream port of each channel."""

    source_position: Ints  # next word in State.source
    source_end: Ints
    sink_row: Ints  # row in State.sink, -1 = none
    sink_count: Ints
    pattern_base: Ints  # cycle-by-cycle readiness in State.pattern, repeating
    pattern_length: Ints  # 0 = always ready


class SpecTables(NamedTuple):
    """Fields of ``Spec``."""

    tiles: Tiles
    kinds: Kinds
    bd_parts: Ints  # (kind, field, part, [word, lsb, bits]); bits 0 = no such part
    bd_encoding: Ints  # (kind, field)
    register_index: Shorts  # (kind, word offset in the tile) -> register index, -1 = unmapped
    register_map: RegisterMap
    protections: Protections
    watches: Watches
    timing: Ints  # values in the order of arch.timing.Timing
    reset_values: Ints  # of State.registers
    event_units: EventUnits
    event_modules: EventModules
    event_groups: EventGroups  # (module, group)
    event_sources: Ints  # (module, event, [Source, argument])
    nodes: Nodes


class Spec(SpecTables, Kept):
    """Everything that is fixed once the device is built."""


class StateTables(NamedTuple):
    """Fields of ``State``."""

    spec: Spec
    clock: Ints  # [NOW] cycle; [ACTIVITY] 0 = nothing changed in it; [QUIET] cycles without changes;
    # [ASKING] cores that need an action; [BOOKED] 1 = this cycle's causes are booked; [FULL] 1 = the host
    # must take words; [CLOCKED] 1 = a column clock was written; [LOCKS] 1 = who waits for a lock asks again;
    # [WAITS] 1 = time is to pass even when nothing can move
    active_channels: Ints  # [0] how many; then the channels that have something to do
    waiting_channels: Ints  # [0] how many; then the channels that ask for a lock
    bidding: Ints  # [0] how many; then the channels and cores that compete for a lock in this cycle
    releasing: Ints  # [0] how many; then the channels that release a lock in this cycle
    active_controls: Ints  # [0] how many; then the tiles with something to do at their tile-control ports
    packet_slaves: Ints  # [0] how many slave ports of switches are in packet mode
    active_ports: Ints  # [0] how many; then the switch ports that hold words
    asked_interfaces: Ints  # [0] how many; then the interfaces to neighbours asked for in this cycle
    active_cores: Ints  # [0] how many; then the cores whose kernel is not done
    active_units: Ints  # [0] how many; then the event units with something to do
    gated: Ints  # [0] how many; then the tiles without clock
    gates: Gates
    zeroising: Ints  # [0] how many; then the tiles whose memory is being zeroised
    guarding: Ints  # [0] how many; then the tiles whose scrubber, or report of errors, has something to do
    memory: Words
    flips: Ints  # cells of each word of ``memory`` that differ from what was written: data bits, check bits
    fates: Bytes  # what has become of the flips of each word, see ecc.Fate
    guards: Guards
    program: Words  # program memories, by core
    registers: Ints
    channels: Channels
    fields: Ints  # (channel, field) logical values of the descriptor it loaded last
    walks: Walks
    granules: Granules
    externals: Externals
    fifos: Fifos
    codecs: Codecs
    switch: SwitchPorts
    arbiters: Arbiters
    cores: Cores
    accesses: Ints  # (core, step, address generator, [word as the core sees it, CoreMode])
    core_spent: Ints  # (core, CoreCause) cycles
    controls: Controls
    counts: Counts
    banks: Banks
    interfaces: Interfaces
    memories: Memories
    locks: Locks
    ports: Ports
    external: Words  # all external buffers, one after the other
    regions: Ints  # (buffer, Region)
    source: Words
    source_last: Bytes  # TLAST of each word
    sink: Words  # (port row, words)
    sink_last: Bytes  # (port row, words) TLAST of each word
    host_words: Ints  # [0, 0] how many; then (port, word, TLAST) for the host to take
    pattern: Ints
    spent: Ints  # (channel, cause) cycles
    lines: Ints  # (event unit, event, [SOURCE, THING, KIND, VALUE]) what asserts each event
    stamps: Ints  # (event unit, event) last cycle in which the event was raised by its number, or is to be
    earlier: Ints  # (event unit, event) the one before it
    signals: Ints  # (tile, Signal) last cycle
    seen: Ints  # (channel, ChannelEvent) last cycle
    core_seen: Ints  # (core, CoreEvent) last cycle
    observers: Observers
    traces: Traces
    flights: Ints  # (broadcast switch, side, cycle) channels that arrive, as bit masks
    in_flight: Ints  # [0] how many of them are not 0


class State(StateTables, Kept):
    """Everything that a cycle may change."""
