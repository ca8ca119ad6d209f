"""The wires of the array: switch ports, who is at their other end, and which channel is behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from memtile.arch.ports import FIFO_WORDS, PORTS, WIRES, circuit_allowed, port_kind
from memtile.arch.switch_registers import parity_port
from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS, TileName
from memtile.arch.timing import Timing
from memtile.model import register_tables
from memtile.model.build.rest import at_rest
from memtile.model.state.columns import NONE, Ints, ring_wrap
from memtile.model.state.streams import SwitchPorts


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
