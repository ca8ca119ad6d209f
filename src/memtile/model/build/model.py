"""Building a model: a list of placed tiles becomes a ``Spec`` and a ``State``.

Everything is as after reset, but for the column clocks, which are on; ``sim.partition.stop_clocks`` takes
them again for an ``Engine(booted=False)`` (DEV-CLK-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.bd_layout import BdField
from memtile.arch.events import slave_error_status
from memtile.arch.ports import ARBITERS, MERGE_ARBITERS, PORTS
from memtile.arch.register_map import event_modules, register_named
from memtile.arch.registers import Access
from memtile.arch.switch_registers import MERGE_OFFSET, MERGE_STRIDE, SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.arch.timing import Timing
from memtile.model import register_tables
from memtile.model.build import channels as channel_tables
from memtile.model.build import cores as core_tables
from memtile.model.build import events as event_tables
from memtile.model.axi import Block
from memtile.model.dma.bd_fields import FIELD_NAMES, KIND_NAMES, MAX_PARTS
from memtile.model.build.cores import cores_at_rest
from memtile.model.state.externals import Externals, Region
from memtile.model.state.gates import Gates
from memtile.model.build.memory import memories_at_rest, shared_at_rest
from memtile.model.memory.neighbours import INTERFACES
from memtile.model.state.protection import guards, protections
from memtile.model.state.state import (
    CLOCK_ENTRIES,
    Codecs,
    Granules,
    Interfaces,
    Ints,
    Kinds,
    Ports,
    RegisterMap,
    Spec,
    State,
    Tiles,
    table,
)
from memtile.model.state.causes import Cause
from memtile.model.state.streams import Arbiters, Controls, Counts
from memtile.model.state.watches import watches
from memtile.model.build.wiring import Site, feeding_ports, switch_ports

_NONE = -1
_CLOCK = register_named("pl", "Column_Clock_Control")
HOST_WORDS = 1 << 10  # words of switch ports that wait for the host before the clock loop returns
_RESET = register_named("memory_tile", "DMA_S2MM_0_Ctrl").field("Reset")
SINK_WORDS = 1 << 14  # words a sink holds before the clock loop returns to empty it


class Placed(NamedTuple):
    """A tile of the model: its kind, the model indices of its neighbours (-1 = none), and its place.

    Two tiles of a model have wires between their stream switches when their places touch.
    """

    name: TileName
    west: int = _NONE
    east: int = _NONE
    column: int = 0
    row: int = 0
    has_dma: bool = True  # False: an interface tile without DMA (``Device.has_interface_dma``)


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
        queue_mask=[_queue_mask(maps, row, k) for row, k in enumerate(kinds)],
        reset_mask=[_RESET.mask * k.has_channel_reset for k in kinds],
        granule_words=[k.granule_words for k in kinds],
        pad_value=[
            _register(maps, row, k.pad_value_base) if k.pad_value_base else _NONE
            for row, k in enumerate(kinds)
        ],
        interleaves=[k.role == "memory" for k in kinds],
    )


def _register_map() -> RegisterMap:
    width = max(len(register_tables.registers_of(name)) for name in KIND_NAMES)
    records = table(RegisterMap, len(KIND_NAMES), width)
    for row, name in enumerate(KIND_NAMES):
        special, noc = register_tables.blocks_of(name), register_tables.noc_offsets(name)
        for index, register in enumerate(register_tables.registers_of(name)):
            records.write_mask[row, index] = register.writable
            records.clear_mask[row, index] = register.clearable
            records.read_mask[row, index] = register.readable
            block, argument = special.get(register.offset, (Block.PLAIN, 0))
            records.block[row, index], records.argument[row, index] = block, argument
            records.needs_dma[row, index] = register.offset in noc
    return records


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
        "register_map": _register_map(),
        "protections": protections(registers),
        "watches": watches(registers),
    }


def _sites(placed: Sequence[Placed], tiles: Tiles) -> list[Site]:
    bases = zip(
        *(t.tolist() for t in (tiles.slave_base, tiles.master_base, tiles.channel_base, tiles.register_base)),
        strict=True,
    )
    return [Site(p.name, p.column, p.row, *base) for p, base in zip(placed, bases, strict=True)]


def _controls(placed: Sequence[Placed], tiles: Tiles) -> Controls:
    """The tile-control ports of each tile."""
    ports = [PORTS[p.name] for p in placed]
    handler = {name: _register_ending(name, "Control_Packet_Handler_Status") for name in KIND_NAMES}
    return table(
        Controls,
        len(placed),
        slave_port=tiles.slave_base + [p.slave("CTRL0") for p in ports],
        master_port=tiles.master_base + [p.master("CTRL0") for p in ports],
        status=tiles.register_base + [handler[p.name] for p in placed],
        sender=_NONE,
    )


def _roster(most: int) -> Ints:
    """An empty list of at most ``most`` numbers, its length first."""
    return np.zeros(most + 1, dtype=np.int64)


def _outside(n: int) -> dict[str, Any]:
    """What the test bench at ``n`` channels and external memory begin with: nothing."""
    return {
        "host_words": np.zeros((HOST_WORDS + 1, 3), dtype=np.int64),
        "ports": table(Ports, n, sink_row=_NONE),
        "external": np.zeros(0, dtype=np.uint32),
        "regions": np.zeros((0, len(Region)), dtype=np.int64),
        "source": np.zeros(1, dtype=np.uint32),
        "source_last": np.zeros(1, dtype=np.uint8),
        "sink": np.zeros((1, SINK_WORDS), dtype=np.uint32),
        "sink_last": np.zeros((1, SINK_WORDS), dtype=np.uint8),
        "pattern": np.ones(1, dtype=np.int64),
    }


def _clocks(tiles: int) -> dict[str, Any]:
    """All tiles have their clock, and no zeroisation is under way."""
    return {"gated": _roster(tiles), "gates": table(Gates, tiles), "zeroising": _roster(tiles)}


def _clocked(placed: Sequence[Placed], tiles: Tiles, registers: Ints) -> Ints:
    """The registers after reset, but with the column clocks on, as firmware leaves them (DEV-CLK-1)."""
    clocked = registers.copy()
    for tile, p in enumerate(placed):
        if TILE_KINDS[p.name].role == "interface":
            found = [r.offset for r in register_tables.registers_of(p.name)].index(_CLOCK.offset)
            clocked[tiles.register_base[tile] + found] = _CLOCK.pack(Clock_Buffer_Enable=1)
    return clocked


def _data_memory(placed: Sequence[Placed], words: int) -> dict[str, Any]:
    """All data memories and their protection; what nobody touches takes no memory of the host."""
    return {
        "memory": np.zeros(words, dtype=np.uint32),
        "flips": np.zeros(words, dtype=np.int64),
        "fates": np.zeros(words, dtype=np.uint8),
        "guards": guards([p.name for p in placed]),
        "guarding": _roster(len(placed)),
    }


def build(placed: Sequence[Placed], timing: Timing | None = None, *, switched: bool = False) -> State:
    """A model, its fixed tables included, after reset but with the column clocks on.

    Args:
        placed: the tiles, in model order.
        timing: timing constants; the defaults of ``arch.timing`` if omitted.
        switched: the channels' stream ports are wired to their stream switch; else only a test bench can be.
    """
    timing = timing or Timing()
    tiles = _tiles(placed)
    constants = np.array(astuple(timing), dtype=np.int64)
    channels, fifos, walks = channel_tables.channels([p.name for p in placed], timing)
    switch = switch_ports(_sites(placed, tiles), timing)
    n = len(fifos.depth)
    channels.switch_port[:] = feeding_ports(switch, n) if switched else _NONE
    cores = core_tables.cores(placed)
    cored = len(cores.tile)
    watched, observing = event_tables.at_rest(placed, tiles, n, cored)
    controls = _controls(placed, tiles)
    registers = np.concatenate([register_tables.reset_values(p.name) for p in placed])
    switch.hosted[controls.slave_port] = not switched
    switch.hosted[watched["event_units"].trace_port] = not switched
    outside = int((channels.external >= 0).sum())
    return State(
        spec=Spec(tiles=tiles, timing=constants, reset_values=registers, **_tables(), **watched),
        clock=np.zeros(CLOCK_ENTRIES, dtype=np.int64),
        **_data_memory(placed, int(tiles.memory_words.sum())),
        **shared_at_rest(tiles),
        registers=_clocked(placed, tiles, registers),
        channels=channels,
        fields=np.zeros((n, len(FIELD_NAMES)), dtype=np.int64),
        active_channels=_roster(n),
        waiting_channels=_roster(n),
        bidding=_roster(n + cored),
        releasing=_roster(n),
        packet_slaves=_roster(0),
        active_ports=_roster(len(switch.tile)),
        asked_interfaces=_roster(INTERFACES * len(placed)),
        active_cores=_roster(cored),
        **_clocks(len(placed)),
        walks=walks,
        granules=table(Granules, n, port_bank=_NONE),
        externals=table(Externals, outside, following=_NONE),
        fifos=fifos,
        cores=cores,
        **cores_at_rest(cored),
        codecs=table(Codecs, n),
        interfaces=table(Interfaces, INTERFACES * len(placed), stamp=_NONE),
        memories=memories_at_rest(placed),
        switch=switch,
        controls=controls,
        counts=table(Counts, n),
        active_controls=_roster(len(placed)),
        arbiters=table(Arbiters, len(placed) * ARBITERS, holder=_NONE, winner=_NONE, stamp=_NONE),
        spent=np.zeros((n, len(Cause)), dtype=np.int64),
        **_outside(n),
        **observing,
    )
