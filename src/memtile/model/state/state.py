"""Flat state of the model: tables of integers, array-wide, indexed by tile, channel, bank or lock.

A ``Spec`` never changes after the device is built; a ``State`` is everything that a cycle may change, so
saving, comparing and restoring a simulation is copying its arrays. Each class below whose fields are columns
describes one NumPy record array: ``st.channels.phase[ch]`` is the same expression in the interpreter and
under Numba. What a column is beside its type, its declaration says (``columns``).

Index spaces: ``tile`` over the tiles of the model; ``ch`` over all DMA channels, S2MM before MM2S within a
tile; ``bank`` and ``lock`` over all tiles, the AXI masters of interface tiles among the banks; a word in
``memory`` is ``tiles.memory_base[tile]`` plus the tile-local word.
"""

from typing import Annotated, NamedTuple

from memtile.arch.events import BROADCAST_CHANNELS
from memtile.arch.protection import CELLS
from memtile.jit.structs import Struct
from memtile.model.state import columns as c
from memtile.model.state.columns import Column, Ints, Owner
from memtile.model.state.dma import (
    ChannelColumns,
    Codecs,
    Externals,
    Fifos,
    Granules,
    Ports,
    TlastCounts,
    Walks,
)
from memtile.model.state.event_columns import EventGroups, EventModules, EventUnits, Nodes, Observers, Traces
from memtile.model.state.memory import (
    AxiPorts,
    Banks,
    Guards,
    Interfaces,
    Locks,
    Memories,
    Protections,
    Watches,
)
from memtile.model.state.streams import Arbiters, Controls, LogicPorts, SwitchPorts
from memtile.model.state.tile_columns import Cascades, Cores, Gates, Kinds, RegisterMap, Tiles
from memtile.model.state.time import Clock, Timings


class SpecTables(NamedTuple):
    """Fields of ``Spec``."""

    tiles: Tiles
    kinds: Kinds
    bd_parts: Ints  # (kind, field, part, [word, lsb, bits]); bits 0 = no such part
    bd_encoding: Ints  # (kind, field)
    register_index: c.Shorts  # (kind, word offset in the tile) -> register index, -1 = unmapped
    register_map: RegisterMap
    circuits: Ints  # (kind, slave port, master port) 1 = the switch can connect them
    protections: Protections
    watches: Watches
    timing: Timings
    reset_values: Ints  # of State.registers
    event_units: EventUnits
    event_modules: EventModules
    event_groups: EventGroups  # (module, group)
    event_sources: Ints  # (module, event, [Source, argument])
    nodes: Nodes


class Spec(SpecTables, Struct):
    """Everything that is fixed once the device is built."""


class StateTables(NamedTuple):
    """Fields of ``State``."""

    spec: Spec
    # [NOW] cycle; [ACTIVITY] 0 = nothing changed in it; [QUIET] cycles without changes;
    clock: Annotated[Clock, Owner.MODEL]
    # [0] how many; then the channels that have something to do
    active_channels: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.CHANNEL, "channels.active")),
        Owner.MODEL,
    ]
    # [0] how many; then the channels that ask for a lock
    waiting_channels: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.CHANNEL, "channels.waiting")),
        Owner.MODEL,
    ]
    # [0] how many; then the channels and cores that compete for a lock in this cycle
    bidding: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.EMPTY), Owner.MODEL]
    # [0] how many; then the channels that release a lock in this cycle
    releasing: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.EMPTY), Owner.MODEL]
    # [0] how many; then the tiles with something to do at their tile-control ports
    active_controls: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.TILE, "controls.active")),
        Owner.MODEL,
    ]
    # [0] how many slave ports of switches are in packet mode
    packet_slaves: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.COUNTED), Owner.MODEL]
    # [0] how many; then the switch ports that hold words
    active_ports: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.PORT, "switch.active")),
        Owner.MODEL,
    ]
    # (pipe, [its columns, words, flags]) chains of ports that are one ring within the clock loop
    pipes: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # [0] how many; then the rows of those that there are
    piped: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # [0] how many; then the interfaces to neighbours asked for in this cycle
    asked_interfaces: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.EMPTY), Owner.MODEL]
    # [0] how many; then the cores whose kernel is not done
    active_cores: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.CORE, "cores.active")),
        Owner.MODEL,
    ]
    # [0] how many; then the event units with something to do
    active_units: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.UNIT, "observers.active")),
        Owner.MODEL,
    ]
    # [0] how many; then the tiles without clock
    gated: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.TILE, "gates.off")), Owner.MODEL
    ]
    gates: Annotated[Gates, Owner.TILE]
    # [0] how many; then the tiles whose memory is being zeroised
    zeroising: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.TILE)), Owner.MODEL
    ]
    # [0] how many; then the tiles whose scrubber, or report of errors, has something to do
    guarding: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.TILE, "guards.active")),
        Owner.MODEL,
    ]
    # [0] how many; then the tiles whose port for memory-mapped accesses asks for a bank
    asking_axi: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.Roster(Owner.TILE, "axi_ports.active")),
        Owner.MODEL,
    ]
    memory: Annotated[c.Words, Column(c.DATA, 0, c.MEMORY_WORDS, c.STAYS, c.WORD), Owner.WORD]
    # cells of each word of ``memory`` that differ from what was written: data bits, check bits
    flips: Annotated[
        Ints, Column(c.DATA, 0, c.MEMORY_WORDS, c.STAYS, c.Holds(0, (1 << CELLS) - 1)), Owner.WORD
    ]
    # what has become of the flips of each word, see ecc.Fate
    fates: Annotated[c.Bytes, Column(c.DATA, 0, c.MEMORY_WORDS, c.STAYS, c.BYTE), Owner.WORD]
    guards: Annotated[Guards, Owner.TILE]
    axi_ports: Annotated[AxiPorts, Owner.TILE]
    program: Annotated[
        c.Words, Column(c.DATA, 0, c.MEMORY_WORDS, c.STAYS, c.WORD), Owner.MODEL
    ]  # program memories, by core
    registers: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.OWN_RESET, c.STAYS, c.WORD), Owner.REGISTER]
    channels: Annotated[ChannelColumns, Owner.CHANNEL]
    # (channel, field) logical values of the descriptor it loaded last
    fields: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.SIGNED), Owner.CHANNEL]
    walks: Annotated[Walks, Owner.CHANNEL]
    granules: Annotated[Granules, Owner.CHANNEL]
    externals: Annotated[Externals, Owner.EXTERNAL]
    fifos: Annotated[Fifos, Owner.CHANNEL]
    codecs: Annotated[Codecs, Owner.CHANNEL]
    switch: Annotated[SwitchPorts, Owner.PORT]
    logic: Annotated[LogicPorts, Owner.PORT]
    # [0] how many; then the ports at which the programmable logic has words to send
    logic_sources: Annotated[
        Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.Roster(Owner.PORT, "logic.sending")), Owner.MODEL
    ]
    arbiters: Annotated[Arbiters, Owner.ARBITER]
    cores: Annotated[Cores, Owner.CORE]
    cascades: Annotated[Cascades, Owner.CORE]
    # [0] how many values stand in cascade outputs
    cascading: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.COUNTED), Owner.MODEL]
    # (core, step, address generator, [word as the core sees it, CoreMode]); of an action on the cascade or a
    # stream, (core, word, 0, [it, TLAST])
    accesses: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.ANY), Owner.CORE]
    core_spent: Annotated[
        Ints, Column(c.COUNT, 0, c.BOOKS, c.OWN_PAUSE, c.COUNTED), Owner.CORE
    ]  # (core, CoreCause) cycles
    controls: Annotated[Controls, Owner.TILE]
    counts: Annotated[TlastCounts, Owner.CHANNEL]
    banks: Annotated[Banks, Owner.BANK]
    interfaces: Annotated[Interfaces, Owner.INTERFACE]
    memories: Annotated[Memories, Owner.TILE]
    locks: Annotated[Locks, Owner.LOCK]
    ports: Annotated[Ports, Owner.CHANNEL]
    # (buffer, Region)
    regions: Annotated[
        Ints,
        Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.Holds(c.AtBuild(), c.AtBuild(), any_length=True)),
        Owner.MODEL,
    ]
    # (buffer) address of its first byte in this process
    region_homes: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # (channel, word) the last words that it took from its source, as far as a jump needs them
    former: Annotated[c.Words, Column(c.DATA, 0, c.OUTSIDE, c.STAYS, c.WORD), Owner.CHANNEL]
    # [0, 0] how many; then (channel, word of its sink, words, times): so many before it came so often more
    repeats: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # what fast-forward is told of the accesses to memory, see ``dma.access_log``
    access_log: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # [0, 0] how many; then (port, word, TLAST, cycle) for the host to take
    host_words: Annotated[Ints, Column(c.DATA, 0, c.OWN_RESET, c.STAYS, c.NOTHING), Owner.MODEL]
    pattern: Annotated[
        Ints, Column(c.EQUAL, 1, c.OUTSIDE, c.STAYS, c.Holds(0, 1, any_length=True)), Owner.MODEL
    ]
    spent: Annotated[
        Ints, Column(c.COUNT, 0, c.BOOKS, c.OWN_PAUSE, c.COUNTED), Owner.CHANNEL
    ]  # (channel, cause) cycles
    # (event unit, event, [SOURCE, THING, KIND, VALUE]) what asserts each event
    lines: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.SIGNED), Owner.UNIT]
    # (event unit, event) last cycle in which the event was raised by its number, or is to be
    stamps: Annotated[Ints, Column(c.STAMP, c.NEVER, c.CLEARED, c.MOVES_IF_AHEAD, c.SOON), Owner.UNIT]
    # (event unit, event) the one before it
    earlier: Annotated[Ints, Column(c.STAMP, c.NEVER, c.CLEARED, c.STAYS, c.SOON), Owner.UNIT]
    # (tile, Signal) last cycle
    signals: Annotated[Ints, Column(c.STAMP, c.NEVER, c.CLEARED, c.MOVES_IF_AHEAD, c.SOON), Owner.TILE]
    # (channel, ChannelEvent) last cycle
    seen: Annotated[Ints, Column(c.STAMP, c.NEVER, c.CLEARED, c.MOVES_IF_AHEAD, c.SOON), Owner.CHANNEL]
    # (core, CoreEvent) last cycle
    core_seen: Annotated[Ints, Column(c.STAMP, c.NEVER, c.CLEARED, c.STAYS, c.SOON), Owner.CORE]
    observers: Annotated[Observers, Owner.UNIT]
    traces: Annotated[Traces, Owner.UNIT]
    # (broadcast switch, side, cycle) channels that arrive, as bit masks
    flights: Annotated[
        Ints, Column(c.DUE, 0, c.OWN_RESET, c.STAYS, c.Holds(0, (1 << BROADCAST_CHANNELS) - 1)), Owner.NODE
    ]
    # [0] how many of them are not 0
    in_flight: Annotated[Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.STAYS, c.COUNTED), Owner.MODEL]
    # what is noted of accesses and of what orders them, see checking.notes; of no meaning to the model
    noting: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    notes: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    labels: Annotated[
        Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL
    ]  # by channel, then by core
    # the history of the run, see checking.history; of no meaning to the model
    logging: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    log: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # last value of each channel, core, port and lock
    logged: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # [0] how many; then the ports whose last value is not EMPTY
    logged_ports: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]
    # (bank, [accesses, conflicts] by stretch)
    heat: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED), Owner.MODEL]


class State(StateTables, Struct):
    """Everything that a cycle may change."""
