"""Building a model: a list of placed tiles becomes a ``Spec`` and a ``State``.

Everything is as after reset, but for the column clocks, which are on; ``sim.loop.partition.stop_clocks``
takes them again for an ``Engine(booted=False)`` (DEV-CLK-1).

It also has banks, locks and memory control of a model as they are after reset.

It also has facts of the protection of data memory, by tile kind: what has ECC, what has parity, who reports.

It also has facts of the watchpoints, by tile kind: where their registers are, and what each field selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.bd_layout import BdField
from memtile.arch.core import CORE
from memtile.arch.events import EVENT_UNITS, slave_error_status
from memtile.arch.ports import ARBITERS, MERGE_ARBITERS, PORTS
from memtile.arch.protection import FIRST_ECC_EVENT, FIRST_PARITY_EVENT, MEMORY_MODULE
from memtile.arch.register_map import event_modules, register_named
from memtile.arch.registers import Access, Field, Register
from memtile.arch.switch_registers import MERGE_OFFSET, MERGE_STRIDE, SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.arch.timing import Timing
from memtile.jit.tables import table
from memtile.model import register_tables
from memtile.model.build import tables as channel_tables
from memtile.model.build import tables as core_tables
from memtile.model.build.event_tables import EVENTS, event_facts
from memtile.model.build.tables import (
    WiringSite,
    arrays_at_rest,
    at_rest,
    circuits,
    feeding_ports,
    switch_ports,
)
from memtile.model.checking.history_log import BINS, LOG_FIELDS, LOG_ROWS, LOGGING
from memtile.model.checking.notes import LABEL_FIELDS, NOTE_FIELDS, NOTES, NOTING
from memtile.model.dma import access_log
from memtile.model.dma.bd_fields import FIELD_NAMES, KIND_NAMES, MAX_PARTS
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.columns import CORE_STEPS, NONE, Ints
from memtile.model.state.dma import (
    REPEATS,
    UNDER_WAY,
    Codecs,
    Externals,
    Granules,
    Ports,
    RegionColumns,
    TlastCounts,
)
from memtile.model.state.event_columns import (
    FLIGHT,
    SIDES,
    VALUE,
    ChannelEvent,
    CoreEvent,
    Observers,
    TileSignal,
    Traces,
)
from memtile.model.state.memory import (
    INTERFACES,
    AccessOrigin,
    AxiPorts,
    Banks,
    Guards,
    Interfaces,
    Locks,
    Memories,
    Protections,
    Watches,
)
from memtile.model.state.state import Spec, State
from memtile.model.state.streams import PIPE_RING, PIPE_SLOTS, PIPES, Arbiters, Controls, LogicPorts
from memtile.model.state.tile_columns import Gates, Kinds, Placed, Tiles
from memtile.model.state.time import Clock, timings


def watches(registers: dict[TileName, tuple[Register, ...]]) -> Watches:
    """The facts of the tile kinds; ``registers`` of each in the order of their indices."""
    rows = [_facts(name, own) for name, own in registers.items()]
    return table(Watches, len(rows), **{column: [row[column] for row in rows] for column in Watches._fields})


def _facts(name: TileName, registers: tuple[Register, ...]) -> dict[str, int | list[int]]:
    found = [index for index, r in enumerate(registers) if r.name.startswith("WatchPoint")]
    if not found:
        return {**dict.fromkeys(Watches._fields, 0), "register": NONE, "origin": [0] * len(AccessOrigin)}
    kind, own = TILE_KINDS[name], {field.name: field for field in registers[found[0]].fields}
    address, lanes = own["Address"], own.get("WriteStrobeMask")  # WriteStrobes of AIE-ML are always set
    return {
        "register": found[0],
        "points": len(found),
        "event": EVENT_UNITS[MEMORY_MODULE[kind.role]].events["WATCHPOINT_0"],
        "read": own["Read_Access"].mask,
        "write": own["Write_Access"].mask,
        "origin": [_mask(own.get(_field(origin))) for origin in AccessOrigin],
        "lsb": address.lsb,
        "granules": address.maximum,
        "shift": (kind.memory_words // (address.maximum + 1)).bit_length() - 1,
        "lane_lsb": lanes.lsb if lanes else 0,
        "lanes": lanes.maximum if lanes else 0,
    }


def _field(origin: AccessOrigin) -> str:
    name = origin.name
    return f"{name if origin in (AccessOrigin.AXI, AccessOrigin.DMA) else name.capitalize()}_Access"


def _mask(field: Field | None) -> int:
    return field.mask if field else 0


def protections(registers: dict[TileName, tuple[Register, ...]]) -> Protections:
    """The facts of the tile kinds; ``registers`` of each in the order of their indices."""
    names = list(registers)
    places = {name: {r.name: index for index, r in enumerate(registers[name])} for name in names}

    def valid(name: TileName, register: str) -> int:
        place = places[name].get(register, NONE)
        return registers[name][place].field("VALID").mask if place != NONE else 0

    return table(
        Protections,
        len(names),
        ecc_words=[TILE_KINDS[name].ecc_words for name in names],
        ecc_event=[_event(name, FIRST_ECC_EVENT) for name in names],
        parity_event=[_event(name, FIRST_PARITY_EVENT) for name in names],
        ecc_failing=[places[name].get("ECC_FAILING_ADDRESS", NONE) for name in names],
        ecc_valid=[valid(name, "ECC_FAILING_ADDRESS") for name in names],
        parity_failing=[places[name].get("PARITY_FAILING_ADDRESS", NONE) for name in names],
        parity_valid=[valid(name, "PARITY_FAILING_ADDRESS") for name in names],
    )


def _event(name: TileName, event: str) -> int:
    module = MEMORY_MODULE.get(TILE_KINDS[name].role)
    return EVENT_UNITS[module].events.get(event, NONE) if module else NONE


def memories_at_rest(placed: Sequence[Placed]) -> Memories:
    """Bank mapping of each tile after reset; compute tiles interleave the two banks of a pair (AM020)."""
    kinds = [TILE_KINDS[p.name] for p in placed]
    spread = [k.bank_group or k.banks for k in kinds]
    return at_rest(
        Memories,
        len(placed),
        shift=[k.granule_words.bit_length() - 1 for k in kinds],
        mask=[max(banks, 1) - 1 for banks in spread],
        group_shift=[
            (k.bank_bytes * banks // WORD_BYTES).bit_length() - 1
            for k, banks in zip(kinds, spread, strict=True)
        ],
        group_mask=[k.banks // banks - 1 if banks else 0 for k, banks in zip(kinds, spread, strict=True)],
        group_banks=spread,
        reach=[[NONE, tile, NONE] for tile in range(len(placed))],  # isolated, as after reset
    )


def shared_at_rest(tiles: Tiles) -> dict[str, Any]:
    """What requesters arbitrate for: banks and locks, each with its tile."""
    banked, locked = (np.repeat(np.arange(len(tiles.banks)), count) for count in (tiles.banks, tiles.locks))
    return {
        "banks": at_rest(Banks, len(banked), tile=banked),
        "locks": at_rest(Locks, len(locked), tile=locked),
    }


_CLOCK = register_named("pl", "Column_Clock_Control")
HOST_WORDS = 1 << 10  # words of switch ports that wait for the host before the clock loop returns
_RESET = register_named("memory_tile", "DMA_S2MM_0_Ctrl").field("Reset")


class Counted(NamedTuple):
    """How many there are of what has rows in the state."""

    channels: int
    cores: int
    ports: int
    units: int
    nodes: int


def _starts(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:index]) for index in range(len(sizes))]


def _tiles(placed: Sequence[Placed]) -> Tiles:
    kinds = [TILE_KINDS[p.name] for p in placed]
    channels = [2 * k.channels for k in kinds]
    locks, banks = [k.locks for k in kinds], [k.banks + k.axi_masters for k in kinds]
    words = [k.memory_words for k in kinds]
    registers = [len(register_tables.registers_of(p.name)) for p in placed]
    slaves = [len(PORTS[p.name].slaves) for p in placed]
    masters = [len(PORTS[p.name].masters) for p in placed]
    first_port = _starts([s + m for s, m in zip(slaves, masters, strict=True)])
    return table(
        Tiles,
        len(placed),
        kind=[KIND_NAMES.index(p.name) for p in placed],
        channel_base=_starts(channels),
        channels=channels,
        lock_base=_starts(locks),
        locks=locks,
        bank_base=_starts(banks),
        banks=banks,
        memory_base=_starts(words),
        memory_words=words,
        register_base=_starts(registers),
        registers=registers,
        neighbour=[[p.west, index, p.east] for index, p in enumerate(placed)],
        core=core_tables.core_numbers(placed),
        core_reach=core_tables.core_reach(placed),
        column=[p.column for p in placed],
        row=[p.row for p in placed],
        first_unit=_starts([len(event_modules(p.name)) for p in placed]),
        units=[len(event_modules(p.name)) for p in placed],
        slave_base=first_port,
        slaves=slaves,
        master_base=[first + count for first, count in zip(first_port, slaves, strict=True)],
        masters=masters,
        has_dma=[p.has_dma for p in placed],
    )


def _bd_parts(field: BdField | None) -> list[tuple[int, int, int]]:
    parts = [(word, lsb, msb - lsb + 1) for word, msb, lsb in field.parts] if field else []
    return parts + [(0, 0, 0)] * (MAX_PARTS - len(parts))


def _first_window(kind: TileKind) -> int:
    """Column of ``Tiles.neighbour`` that window 0 names: west where the kind has one, else its own."""
    return 0 if "west" in kind.memory_windows else 1


def _register(maps: Ints, row: int, offset: int) -> int:
    """Index of the register at byte ``offset`` of kind ``row``."""
    return int(maps[row, offset // WORD_BYTES])


def _register_ending(name: TileName, ending: str) -> int:
    """Index of the register whose name ends so."""
    return next(n for n, r in enumerate(register_tables.registers_of(name)) if r.name.endswith(ending))


def _index_named(name: TileName, register: str) -> int:
    """Index of the register called so; NONE where a kind has none."""
    return next((n for n, r in enumerate(register_tables.registers_of(name)) if r.name == register), NONE)


def _current_bd(maps: Ints, row: int, kind: TileKind, status: int) -> int:
    return register_tables.registers_of(kind.name)[_register(maps, row, status)].field("Cur_BD").lsb


def _queue_mask(maps: Ints, row: int, kind: TileKind) -> int:
    register = register_tables.registers_of(kind.name)[_register(maps, row, kind.queue_base)]
    return register.mask_of(Access.WO)


def _kinds(maps: Ints) -> Kinds:
    kinds = [TILE_KINDS[name] for name in KIND_NAMES]
    errors = [slave_error_status(name) for name in KIND_NAMES]
    halves = [[k.bd_banks[parity % len(k.bd_banks)] for parity in (0, 1)] for k in kinds]
    return table(
        Kinds,
        len(kinds),
        bd_words=[k.bd_words for k in kinds],
        bd_register=[_register(maps, row, k.bd_base) for row, k in enumerate(kinds)],
        bd_first=[[first for first, _ in half] for half in halves],
        bd_last=[[last for _, last in half] for half in halves],
        neighbour_channels=[len(k.neighbour_channels) for k in kinds],
        first_window=[_first_window(k) for k in kinds],
        memory_shift=[(k.dma_address_words // len(k.memory_windows)).bit_length() - 1 for k in kinds],
        lock_shift=[k.locks.bit_length() - 1 for k in kinds],
        master_config=[_register(maps, row, PORTS[k.name].base) for row, k in enumerate(kinds)],
        slave_config=[
            _register(maps, row, PORTS[k.name].base + SLAVE_CONFIG_OFFSET) for row, k in enumerate(kinds)
        ],
        slave_error_status=[_register(maps, row, word) for row, (word, _) in enumerate(errors)],
        slave_error_bit=[bit for _, bit in errors],
        slot_config=[_register(maps, row, PORTS[k.name].base + SLOT_OFFSET) for row, k in enumerate(kinds)],
        merge_config=[
            [
                _register(maps, row, PORTS[k.name].base + MERGE_OFFSET + n * MERGE_STRIDE)
                for n in range(MERGE_ARBITERS)
            ]
            for row, k in enumerate(kinds)
        ],
        external=[k.axi_masters > 0 for k in kinds],
        multiplexer=[[_index_named(k.name, f"{x}_Config") for x in ("Mux", "Demux")] for k in kinds],
        queue_mask=[_queue_mask(maps, row, k) for row, k in enumerate(kinds)],
        current_bd=[[_current_bd(maps, row, k, at) for at in k.status_base] for row, k in enumerate(kinds)],
        reset_mask=[_RESET.mask * k.has_channel_reset for k in kinds],
        granule_words=[k.granule_words for k in kinds],
        pad_value=[
            _register(maps, row, k.pad_value_base) if k.pad_value_base else NONE
            for row, k in enumerate(kinds)
        ],
        interleaves=[k.role == "memory" for k in kinds],
        compression_known=[k.compression_known for k in kinds],
    )


@cache
def _tables() -> dict[str, Any]:
    """The tables that every model shares; tiles and timing are put in by :func:`build`."""
    registers = {name: register_tables.registers_of(name) for name in KIND_NAMES}
    layouts = [[TILE_KINDS[name].bd_fields.get(f) for f in FIELD_NAMES] for name in KIND_NAMES]
    maps = np.stack([register_tables.index_map(name) for name in KIND_NAMES])
    return {
        "kinds": _kinds(maps.astype(np.int64)),
        "bd_parts": np.array([[_bd_parts(f) for f in layout] for layout in layouts], dtype=np.int64),
        "bd_encoding": np.array([[f.encoding if f else 0 for f in lay] for lay in layouts], dtype=np.int64),
        "register_index": maps,
        "register_map": register_tables.records(KIND_NAMES),
        "circuits": circuits(KIND_NAMES),
        "protections": protections(registers),
        "watches": watches(registers),
    }


def _sites(placed: Sequence[Placed], tiles: Tiles) -> list[WiringSite]:
    bases = zip(
        *(t.tolist() for t in (tiles.slave_base, tiles.master_base, tiles.channel_base, tiles.register_base)),
        strict=True,
    )
    return [WiringSite(p.name, p.column, p.row, *base) for p, base in zip(placed, bases, strict=True)]


def _controls(placed: Sequence[Placed], tiles: Tiles) -> Controls:
    """The tile-control ports of each tile."""
    ports = [PORTS[p.name] for p in placed]
    handler = {
        name: _register_ending(name, "Control_Packet_Handler_Status") for name in {p.name for p in placed}
    }
    return at_rest(
        Controls,
        len(placed),
        slave_port=tiles.slave_base + [p.slave("CTRL0") for p in ports],
        master_port=tiles.master_base + [p.master("CTRL0") for p in ports],
        status=tiles.register_base + [handler[p.name] for p in placed],
    )


def _clocked(placed: Sequence[Placed], tiles: Tiles, registers: Ints) -> Ints:
    """The registers after reset, but with the column clocks on, as firmware leaves them (DEV-CLK-1)."""
    clocked = registers.copy()
    for tile, p in enumerate(placed):
        if TILE_KINDS[p.name].role == "interface":
            found = [r.offset for r in register_tables.registers_of(p.name)].index(_CLOCK.offset)
            clocked[tiles.register_base[tile] + found] = _CLOCK.pack(Clock_Buffer_Enable=1)
    return clocked


def _sizes(placed: Sequence[Placed], tiles: Tiles, counts: Counted) -> dict[str, int | tuple[int, ...]]:
    """Shapes of the arrays of the state that are no tables; a list has its length before its entries."""
    many, words = len(placed), int(tiles.memory_words.sum())
    lists = {
        "active_channels": counts.channels,
        "waiting_channels": counts.channels,
        "bidding": counts.channels + counts.cores,
        "releasing": counts.channels,
        "packet_slaves": 0,
        "active_ports": counts.ports,
        "logic_sources": counts.ports,
        "asked_interfaces": INTERFACES * many,
        "active_cores": counts.cores,
        "active_controls": many,
        "active_units": counts.units,
        "gated": many,
        "zeroising": many,
        "guarding": many,
        "asking_axi": many,
        "in_flight": 0,
        "cascading": 0,
    }
    shapes: dict[str, int | tuple[int, ...]] = {name: most + 1 for name, most in lists.items()}
    return shapes | {
        "memory": words,
        "flips": words,
        "fates": words,
        "program": counts.cores * CORE.program_words,
        "fields": (counts.channels, len(FIELD_NAMES)),
        "accesses": (counts.cores, CORE_STEPS, CORE.ports, 2),
        "spent": (counts.channels, len(Cause)),
        "core_spent": (counts.cores, len(CoreCause)),
        "stamps": (counts.units, EVENTS),
        "earlier": (counts.units, EVENTS),
        "lines": (counts.units, EVENTS, VALUE + 1),
        "signals": (many, len(TileSignal)),
        "seen": (counts.channels, len(ChannelEvent)),
        "core_seen": (counts.cores, len(CoreEvent)),
        "pipes": (PIPES, PIPE_RING + 2 * PIPE_SLOTS),
        "piped": PIPES + 1,
        "flights": (counts.nodes, SIDES, FLIGHT),
        "regions": (0, len(RegionColumns)),
        "region_homes": 0,
        "former": (counts.channels, UNDER_WAY),
        "repeats": (REPEATS + 1, 4),
        "access_log": (access_log.ROWS, access_log.COLUMNS),
        "host_words": (HOST_WORDS + 1, 4),
        "pattern": 1,
        "noting": NOTING,
        "notes": (NOTES, NOTE_FIELDS),
        "labels": (counts.channels + counts.cores, LABEL_FIELDS),
        "logging": LOGGING,
        "log": (LOG_ROWS, LOG_FIELDS),
        "logged": counts.channels + counts.cores + counts.ports + int(tiles.locks.sum()),
        "logged_ports": counts.ports + 1,
        "heat": (int(tiles.banks.sum()), 2 * BINS),
    }


def build(placed: Sequence[Placed], timing: Timing | None = None, *, switched: bool = False) -> State:
    """A model, its fixed tables included, after reset but with the column clocks on.

    Args:
        placed: the tiles, in model order.
        timing: timing constants; the defaults of ``arch.timing`` if omitted.
        switched: the channels' stream ports are wired to their stream switch; else only a test bench can be.
    """
    timing = timing or Timing()
    tiles, many = _tiles(placed), len(placed)
    switch = switch_ports(_sites(placed, tiles), timing)
    channels, fifos, walks = channel_tables.channels([p.name for p in placed], timing)
    n = len(fifos.depth)
    channels.switch_port[:] = feeding_ports(switch, n) if switched else NONE
    cores = core_tables.cores(placed, tiles)
    events = event_facts(placed, tiles)
    controls = _controls(placed, tiles)
    registers = np.concatenate([register_tables.reset_values(p.name) for p in placed])
    switch.hosted[controls.slave_port] = not switched
    switch.hosted[events["event_units"].trace_port] = not switched
    units, nodes = len(events["event_units"].tile), len(events["nodes"].unit)
    counts = Counted(n, len(cores.tile), len(switch.tile), units, nodes)
    return State(
        spec=Spec(tiles=tiles, timing=timings(timing), reset_values=registers, **_tables(), **events),
        clock=at_rest(Clock, 1),
        gates=at_rest(Gates, many),
        guards=at_rest(Guards, many),
        axi_ports=at_rest(AxiPorts, many),
        channels=channels,
        walks=walks,
        granules=at_rest(Granules, n),
        externals=at_rest(Externals, int((channels.external >= 0).sum())),
        fifos=fifos,
        codecs=at_rest(Codecs, n),
        counts=at_rest(TlastCounts, n),
        ports=at_rest(Ports, n),
        cores=cores,
        cascades=core_tables.cascades(placed),
        **shared_at_rest(tiles),
        interfaces=at_rest(Interfaces, INTERFACES * many),
        memories=memories_at_rest(placed),
        switch=switch,
        logic=at_rest(LogicPorts, counts.ports),
        arbiters=at_rest(Arbiters, many * ARBITERS),
        controls=controls,
        observers=at_rest(Observers, units),
        traces=at_rest(Traces, units),
        **arrays_at_rest(_sizes(placed, tiles, counts), registers=_clocked(placed, tiles, registers)),
    )
