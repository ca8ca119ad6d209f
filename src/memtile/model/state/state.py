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
from memtile.model.state.cascades import Cascades
from memtile.model.state.columns import (
    ANY,
    BOOKS,
    BUILT,
    BYTE,
    CLEARED,
    COUNT,
    COUNTED,
    DATA,
    DUE,
    EMPTY,
    EQUAL,
    MEMORY_WORDS,
    MOVES_IF_AHEAD,
    NEVER,
    NOTHING,
    OUTSIDE,
    OWN_PAUSE,
    OWN_RESET,
    PROCESS,
    SIGNED,
    SOON,
    STALE,
    STAMP,
    STAYS,
    UNSAVED,
    WORD,
    AtBuild,
    Bytes,
    Column,
    Holds,
    Ints,
    Owner,
    Roster,
    Shorts,
    Words,
)
from memtile.model.state.cores import Cores
from memtile.model.state.dma import Channels, Codecs, Counts, Externals, Fifos, Granules, Ports, Walks
from memtile.model.state.events import EventGroups, EventModules, EventUnits, Nodes, Observers, Traces
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
from memtile.model.state.streams import Arbiters, Controls, SwitchPorts
from memtile.model.state.tiles import Gates, Kinds, RegisterMap, Tiles
from memtile.model.state.time import Clock, Timings


class SpecTables(NamedTuple):
    """Fields of ``Spec``."""

    tiles: Tiles
    kinds: Kinds
    bd_parts: Ints  # (kind, field, part, [word, lsb, bits]); bits 0 = no such part
    bd_encoding: Ints  # (kind, field)
    register_index: Shorts  # (kind, word offset in the tile) -> register index, -1 = unmapped
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
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.CHANNEL, "channels.active")), Owner.MODEL
    ]
    # [0] how many; then the channels that ask for a lock
    waiting_channels: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.CHANNEL, "channels.waiting")), Owner.MODEL
    ]
    # [0] how many; then the channels and cores that compete for a lock in this cycle
    bidding: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS, EMPTY), Owner.MODEL]
    # [0] how many; then the channels that release a lock in this cycle
    releasing: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS, EMPTY), Owner.MODEL]
    # [0] how many; then the tiles with something to do at their tile-control ports
    active_controls: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.TILE, "controls.active")), Owner.MODEL
    ]
    # [0] how many slave ports of switches are in packet mode
    packet_slaves: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS, COUNTED), Owner.MODEL]
    # [0] how many; then the switch ports that hold words
    active_ports: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.PORT, "switch.active")), Owner.MODEL
    ]
    # (pipe, [its columns, words, flags]) chains of ports that are one ring within the clock loop
    pipes: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # [0] how many; then the rows of those that there are
    piped: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # [0] how many; then the interfaces to neighbours asked for in this cycle
    asked_interfaces: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS, EMPTY), Owner.MODEL]
    # [0] how many; then the cores whose kernel is not done
    active_cores: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.CORE, "cores.active")), Owner.MODEL
    ]
    # [0] how many; then the event units with something to do
    active_units: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.UNIT, "observers.active")), Owner.MODEL
    ]
    # [0] how many; then the tiles without clock
    gated: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.TILE, "gates.off")), Owner.MODEL
    ]
    gates: Annotated[Gates, Owner.TILE]
    # [0] how many; then the tiles whose memory is being zeroised
    zeroising: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.TILE)), Owner.MODEL]
    # [0] how many; then the tiles whose scrubber, or report of errors, has something to do
    guarding: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.TILE, "guards.active")), Owner.MODEL
    ]
    # [0] how many; then the tiles whose port for memory-mapped accesses asks for a bank
    asking_axi: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, OWN_PAUSE, Roster(Owner.TILE, "axi_ports.active")), Owner.MODEL
    ]
    memory: Annotated[Words, Column(DATA, 0, MEMORY_WORDS, STAYS, WORD), Owner.WORD]
    # cells of each word of ``memory`` that differ from what was written: data bits, check bits
    flips: Annotated[Ints, Column(DATA, 0, MEMORY_WORDS, STAYS, Holds(0, (1 << CELLS) - 1)), Owner.WORD]
    # what has become of the flips of each word, see ecc.Fate
    fates: Annotated[Bytes, Column(DATA, 0, MEMORY_WORDS, STAYS, BYTE), Owner.WORD]
    guards: Annotated[Guards, Owner.TILE]
    axi_ports: Annotated[AxiPorts, Owner.TILE]
    program: Annotated[
        Words, Column(DATA, 0, MEMORY_WORDS, STAYS, WORD), Owner.MODEL
    ]  # program memories, by core
    registers: Annotated[Ints, Column(EQUAL, BUILT, OWN_RESET, STAYS, WORD), Owner.REGISTER]
    channels: Annotated[Channels, Owner.CHANNEL]
    # (channel, field) logical values of the descriptor it loaded last
    fields: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, SIGNED), Owner.CHANNEL]
    walks: Annotated[Walks, Owner.CHANNEL]
    granules: Annotated[Granules, Owner.CHANNEL]
    externals: Annotated[Externals, Owner.EXTERNAL]
    fifos: Annotated[Fifos, Owner.CHANNEL]
    codecs: Annotated[Codecs, Owner.CHANNEL]
    switch: Annotated[SwitchPorts, Owner.PORT]
    arbiters: Annotated[Arbiters, Owner.ARBITER]
    cores: Annotated[Cores, Owner.CORE]
    cascades: Annotated[Cascades, Owner.CORE]
    # [0] how many values stand in cascade outputs
    cascading: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS, COUNTED), Owner.MODEL]
    # (core, step, address generator, [word as the core sees it, CoreMode]); of an action on the cascade or a
    # stream, (core, word, 0, [it, TLAST])
    accesses: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, ANY), Owner.CORE]
    core_spent: Annotated[
        Ints, Column(COUNT, 0, BOOKS, OWN_PAUSE, COUNTED), Owner.CORE
    ]  # (core, CoreCause) cycles
    controls: Annotated[Controls, Owner.TILE]
    counts: Annotated[Counts, Owner.CHANNEL]
    banks: Annotated[Banks, Owner.BANK]
    interfaces: Annotated[Interfaces, Owner.INTERFACE]
    memories: Annotated[Memories, Owner.TILE]
    locks: Annotated[Locks, Owner.LOCK]
    ports: Annotated[Ports, Owner.CHANNEL]
    # (buffer, Region)
    regions: Annotated[
        Ints, Column(EQUAL, 0, OUTSIDE, STAYS, Holds(AtBuild(), AtBuild(), any_length=True)), Owner.MODEL
    ]
    # (buffer) address of its first byte in this process
    region_homes: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # (channel, word) the last words that it took from its source, as far as a jump needs them
    former: Annotated[Words, Column(DATA, 0, OUTSIDE, STAYS, WORD), Owner.CHANNEL]
    # [0, 0] how many; then (channel, word of its sink, words, times): so many before it came so often more
    repeats: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # what fast-forward is told of the accesses to memory, see ``dma.access_log``
    access_log: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # [0, 0] how many; then (port, word, TLAST) for the host to take
    host_words: Annotated[Ints, Column(DATA, 0, OWN_RESET, STAYS, NOTHING), Owner.MODEL]
    pattern: Annotated[Ints, Column(EQUAL, 1, OUTSIDE, STAYS, Holds(0, 1, any_length=True)), Owner.MODEL]
    spent: Annotated[
        Ints, Column(COUNT, 0, BOOKS, OWN_PAUSE, COUNTED), Owner.CHANNEL
    ]  # (channel, cause) cycles
    # (event unit, event, [SOURCE, THING, KIND, VALUE]) what asserts each event
    lines: Annotated[Ints, Column(EQUAL, 0, STALE, STAYS, SIGNED), Owner.UNIT]
    # (event unit, event) last cycle in which the event was raised by its number, or is to be
    stamps: Annotated[Ints, Column(STAMP, NEVER, CLEARED, MOVES_IF_AHEAD, SOON), Owner.UNIT]
    # (event unit, event) the one before it
    earlier: Annotated[Ints, Column(STAMP, NEVER, CLEARED, STAYS, SOON), Owner.UNIT]
    # (tile, Signal) last cycle
    signals: Annotated[Ints, Column(STAMP, NEVER, CLEARED, MOVES_IF_AHEAD, SOON), Owner.TILE]
    # (channel, ChannelEvent) last cycle
    seen: Annotated[Ints, Column(STAMP, NEVER, CLEARED, MOVES_IF_AHEAD, SOON), Owner.CHANNEL]
    # (core, CoreEvent) last cycle
    core_seen: Annotated[Ints, Column(STAMP, NEVER, CLEARED, STAYS, SOON), Owner.CORE]
    observers: Annotated[Observers, Owner.UNIT]
    traces: Annotated[Traces, Owner.UNIT]
    # (broadcast switch, side, cycle) channels that arrive, as bit masks
    flights: Annotated[
        Ints, Column(DUE, 0, OWN_RESET, STAYS, Holds(0, (1 << BROADCAST_CHANNELS) - 1)), Owner.NODE
    ]
    # [0] how many of them are not 0
    in_flight: Annotated[Ints, Column(EQUAL, 0, OWN_RESET, STAYS, COUNTED), Owner.MODEL]
    # what is noted of accesses and of what orders them, see checking.notes; of no meaning to the model
    noting: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    notes: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    labels: Annotated[
        Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL
    ]  # by channel, then by core
    # the history of the run, see checking.history; of no meaning to the model
    logging: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    log: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # last value of each channel, core, port and lock
    logged: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # [0] how many; then the ports whose last value is not EMPTY
    logged_ports: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]
    # (bank, [accesses, conflicts] by stretch)
    heat: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED), Owner.MODEL]


class State(StateTables, Struct):
    """Everything that a cycle may change."""
