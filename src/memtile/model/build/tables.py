"""Tables of a model at rest: what columns declare, and what is known of channels, cores and wires."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CASCADE_STEPS, SIDE_STEPS, SIDES
from memtile.arch.ports import FIFO_WORDS, PORTS, WIRES, circuit_allowed, port_kind
from memtile.arch.switch_registers import parity_port
from memtile.arch.tiles import GRANULE_WORDS, MM2S, S2MM, TILE_KINDS, TileKind, TileName
from memtile.arch.timing import Timing
from memtile.jit.tables import table
from memtile.model import register_tables
from memtile.model.state.columns import BUILT, NONE, Column, Ints, columns_of, dtypes_of, fields_of, ring_wrap
from memtile.model.state.dma import ChannelColumns, Fifos, Walks
from memtile.model.state.state import StateTables
from memtile.model.state.streams import SwitchPorts
from memtile.model.state.tile_columns import Cascades, Cores, Placed, Tiles

T = TypeVar("T")
_PAGES = 1 << 18  # bytes from which on an array has pages of its own


def at_rest(columns: type[T], rows: int, **built: Any) -> T:
    """A table of the state in a model that was just built.

    Args:
        columns: class of the table.
        rows: how many.
        built: values of the columns that depend on the tile: those declared as ``BUILT``, and no other.

    Raises:
        TypeError: a column is missing, or has a value at rest already.
    """
    table_class: type = columns
    declared = columns_of(table_class)
    _same(columns.__name__, built, {name for name, column in declared.items() if column.rest is BUILT})
    rest = {name: column.rest for name, column in declared.items() if column.rest}
    return table(columns, rows, **rest, **built)


def arrays_at_rest(shapes: Mapping[str, int | tuple[int, ...]], **built: Any) -> dict[str, Any]:
    """The arrays of the state that are no tables, in a model that was just built.

    Args:
        shapes: of each of them, but the ``built`` ones; a list has room for so many numbers and its length.
        built: those declared as ``BUILT``.

    Raises:
        TypeError: one is missing, or there is no such array.
    """
    arrays = {name: what for name, (what, _) in fields_of(StateTables).items() if isinstance(what, Column)}
    _same("State", {**shapes, **built}, set(arrays))
    _same("State", built, {name for name, column in arrays.items() if column.rest is BUILT})
    return {name: _filled(name, shape, arrays[name]) for name, shape in shapes.items()} | built


def _filled(name: str, shape: int | tuple[int, ...], column: Column) -> npt.NDArray[Any]:
    """An array with its value at rest; of zeros, the host gives memory only to those that are touched.

    Large ones get pages of their own: in a process that makes one array after another, the C library takes
    memory that was used before, and clears all of it.
    """
    kind, count = dtypes_of(StateTables)[name], int(np.prod(shape))
    if column.rest == 0 and count * kind.itemsize >= _PAGES:
        return np.frombuffer(mmap.mmap(-1, count * kind.itemsize), kind).reshape(shape)
    if column.rest == 0:
        return np.zeros(shape, kind)
    return np.full(shape, column.rest, kind)


def _same(where: str, given: Mapping[str, Any], wanted: set[str]) -> None:
    if given.keys() != wanted:
        missing, strange = sorted(wanted - given.keys()), sorted(given.keys() - wanted)
        raise TypeError(f"{where}: no value for {missing}, a value too many for {strange}")


_STAGED_WORDS = 2 * GRANULE_WORDS  # of the words that wait in an interface channel, those next to its port


def channels(tiles: Sequence[TileName], timing: Timing) -> tuple[ChannelColumns, Fifos, Walks]:
    """The channels of all tiles of the model, S2MM before MM2S within a tile."""
    rows = [
        (tile, direction, number)
        for tile, name in enumerate(tiles)
        for direction in (S2MM, MM2S)
        for number in range(TILE_KINDS[name].channels)
    ]
    tile, direction, number = zip(*rows, strict=True)
    kinds = [TILE_KINDS[tiles[t]] for t in tile]
    outside = np.array([kind.role == "interface" for kind in kinds])
    external = np.where(outside, np.cumsum(outside) - 1, NONE)
    where = {
        "tile": tile,
        "direction": direction,
        "number": number,
        "external": external,
    }
    depths = [_buffer_depth(kind, d, timing) for kind, d in zip(kinds, direction, strict=True)]
    return (
        at_rest(ChannelColumns, len(rows), **where, switch_port=NONE),
        at_rest(Fifos, len(rows), depth=depths, wrap=[ring_wrap(depth) for depth in depths]),
        at_rest(
            Walks,
            len(rows),
            granule_words=[kind.granule_words for kind in kinds],
            stream_words=[kind.stream_words for kind in kinds],
        ),
    )


def _buffer_depth(kind: TileKind, direction: int, timing: Timing) -> int:
    """Words of a channel's stream buffer: of MM2S as many beats in all generations (DEV-V2-7)."""
    beats = timing.memory_egress_words if kind.role == "memory" else timing.compute_egress_words
    if direction == S2MM:
        beats = timing.ingress_words if kind.stream_words == 1 else timing.ingress_beats
    elif kind.role == "interface":
        beats = _STAGED_WORDS
    return kind.stream_words * beats


_STREAM = "CORE0"  # port of the stream switch, on both of its sides


def _has_core(p: Placed) -> bool:
    return TILE_KINDS[p.name].role == "compute"


def core_reach(placed: Sequence[Placed]) -> list[list[int]]:
    """Tiles whose data memory and locks each tile's core sees, by side; -1 where there is none.

    Only compute tiles have memory that a core sees: south of the first compute row there is none (UG1603).
    """
    places = {(p.column, p.row): tile for tile, p in enumerate(placed) if _has_core(p)}
    return [_seen(tile, p, places) for tile, p in enumerate(placed)]


def _seen(tile: int, p: Placed, places: dict[tuple[int, int], int]) -> list[int]:
    if not _has_core(p):
        return [NONE] * len(SIDES)
    steps = [SIDE_STEPS[side] for side in SIDES[:-1]]
    return [*(places.get((p.column + right, p.row + up), NONE) for right, up in steps), tile]


def core_numbers(placed: Sequence[Placed]) -> list[int]:
    """Number of each tile's core, -1 where there is none."""
    counts = accumulate((_has_core(p) for p in placed), initial=0)
    return [count if _has_core(p) else NONE for p, count in zip(placed, counts, strict=False)]


def cores(placed: Sequence[Placed], tiles: Tiles) -> Cores:
    """All cores, without kernels."""
    found = [tile for tile, p in enumerate(placed) if _has_core(p)]
    ports = {tile: PORTS[placed[tile].name] for tile in found}
    return at_rest(
        Cores,
        len(found),
        tile=found,
        stream_in=[tiles.master_base[tile] + ports[tile].master(_STREAM) for tile in found],
        stream_out=[tiles.slave_base[tile] + ports[tile].slave(_STREAM) for tile in found],
    )


def cascades(placed: Sequence[Placed]) -> Cascades:
    """The cascades of all cores, empty; south of the first compute row there is no core."""
    found = [p for p in placed if _has_core(p)]
    numbers = {(p.column, p.row): core for core, p in enumerate(found)}
    beside = {
        side: [numbers.get((p.column + right, p.row + up), NONE) for p in found]
        for side, (right, up) in CASCADE_STEPS.items()
    }
    return at_rest(Cascades, len(found), **beside)


class WiringSite(NamedTuple):
    """A tile of the model and its first ports and channels."""

    name: TileName
    column: int
    row: int
    slave_base: int
    master_base: int
    channel_base: int
    register_base: int


class _Port(NamedTuple):
    site: int
    number: int
    name: str
    is_master: bool


def _ports(sites: Sequence[WiringSite]) -> Iterator[_Port]:
    """All ports in model order: the slaves of a tile, then its masters."""
    for number, site in enumerate(sites):
        yield from (_Port(number, n, name, False) for n, name in enumerate(PORTS[site.name].slaves))
        yield from (_Port(number, n, name, True) for n, name in enumerate(PORTS[site.name].masters))


def _latency_and_depth(port: _Port, timing: Timing) -> tuple[int, int]:
    if port_kind(port.name) in WIRES:
        return timing.external_port_latency, timing.external_port_words
    if port.name.startswith("FIFO") and not port.is_master:
        return timing.local_slave_latency, FIFO_WORDS
    if port.is_master:
        return timing.local_master_latency, timing.local_master_words
    return timing.local_slave_latency, timing.local_slave_words


def _link(port: _Port, sites: Sequence[WiringSite], places: Mapping[tuple[int, int], int]) -> int:
    """The slave port that a master is wired to, or -1."""
    site, kind = sites[port.site], port_kind(port.name)
    if not port.is_master:
        return NONE
    if kind == "FIFO":
        return site.slave_base + PORTS[site.name].slave(port.name)
    if kind not in WIRES:
        return NONE
    opposite, columns, rows = WIRES[kind]
    other = places.get((site.column + columns, site.row + rows))
    if other is None:
        return NONE
    name = opposite + port.name.removeprefix(kind)
    slaves = PORTS[sites[other].name].slaves
    return sites[other].slave_base + slaves.index(name) if name in slaves else NONE


def _channel(port: _Port, sites: Sequence[WiringSite]) -> int:
    """The S2MM channel behind a master or the MM2S channel behind a slave, or -1.

    Interface tiles connect theirs by register (``interface_mux``).
    """
    site = sites[port.site]
    if not port.name.startswith("DMA"):
        return NONE
    direction = S2MM if port.is_master else MM2S
    number = int(port.name.removeprefix("DMA"))
    return site.channel_base + direction * TILE_KINDS[site.name].channels + number


def _parity(port: _Port, sites: Sequence[WiringSite]) -> tuple[int, int]:
    """Bits of a port in its tile's parity register, 0 = it has none, and that register's index in the state.

    Slaves are in the register of injection, masters in the one of status (``stream_parity``).
    """
    site = sites[port.site]
    masks, register = _parity_bits(site.name, "Status" if port.is_master else "Injection")
    return masks.get(port.name, 0), site.register_base + register


@cache
def _parity_bits(tile: TileName, which: str) -> tuple[Mapping[str, int], int]:
    """Bits of each port in a parity register, and the register's index in the tables of the tile."""
    registers = register_tables.registers_of(tile)
    found = [r.name for r in registers].index(f"Stream_Switch_Parity_{which}")
    masks: dict[str, int] = {}
    for field in registers[found].fields:
        port = parity_port(tile, field.name)
        masks[port] = masks.get(port, 0) | field.mask
    return masks, found


def circuits(names: Sequence[TileName]) -> Ints:
    """Which circuits the switches of tile kinds have; int64[kind, slave port, master port], 1 = this one."""
    most = max(len(side) for name in names for side in (PORTS[name].slaves, PORTS[name].masters))
    found = np.zeros((len(names), most, most), dtype=np.int64)
    for row, name in enumerate(names):
        for n, slave in enumerate(PORTS[name].slaves):
            for m, master in enumerate(PORTS[name].masters):
                found[row, n, m] = circuit_allowed(name, slave, master)
    return found


def switch_ports(sites: Sequence[WiringSite], timing: Timing) -> SwitchPorts:
    """All switch ports of the model, wired."""
    ports = list(_ports(sites))
    places = {(site.column, site.row): number for number, site in enumerate(sites)}
    parities = [_parity(port, sites) for port in ports]
    delays = [_latency_and_depth(port, timing) for port in ports]
    return at_rest(
        SwitchPorts,
        len(ports),
        tile=[port.site for port in ports],
        number=[port.number for port in ports],
        hosted=0,  # the host takes no words, unless build() says so
        is_master=[port.is_master for port in ports],
        latency=[latency for latency, _ in delays],
        depth=[depth for _, depth in delays],
        wrap=[ring_wrap(depth) for _, depth in delays],
        control=[p.site if p.is_master and port_kind(p.name) == "CTRL" else NONE for p in ports],
        link=[_link(port, sites, places) for port in ports],
        channel=[_channel(port, sites) for port in ports],
        parity_mask=[mask for mask, _ in parities],
        parity_status=[register for _, register in parities],
    )


def feeding_ports(switch: SwitchPorts, channels: int) -> Ints:
    """The slave port that each MM2S channel feeds; int64[channels], -1 = none."""
    ports = np.full(channels, NONE, dtype=np.int64)
    for port in np.flatnonzero((switch.is_master == 0) & (switch.channel >= 0)).tolist():
        ports[switch.channel[port]] = port
    return ports
