"""The stream switches of an array as a graph: which port leads to which (AM020 chapter 2, driver)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from memtile.arch.devices import Device
from memtile.arch.ports import PORTS, WIRES, circuit_allowed, port_kind
from memtile.arch.tiles import TileName
from memtile.errors import DesignError, Problem

_THROUGH = frozenset(WIRES)  # kinds of ports that lead on; all others are ends
CLOSED = 1e12  # cost of a port that cannot be used


class Port(NamedTuple):
    """A port of a stream switch.

    Attributes:
        tile: kind of the tile.
        column: of the tile.
        row: of the tile.
        is_master: outgoing; a slave is incoming.
        name: as in ``arch.ports``.
    """

    tile: TileName
    column: int
    row: int
    is_master: bool
    name: str

    def __str__(self) -> str:
        return f"{self.place} {'master' if self.is_master else 'slave'} {self.name}"

    @property
    def place(self) -> str:
        """The tile, for messages."""
        return f"{self.tile}({self.column},{self.row})"


class SwitchGraph:
    """Ports of a range of columns, joined inside the switches and by the wires between tiles.

    Args:
        device: the device.
        columns: which columns.

    Raises:
        DesignError: the library for searching graphs is not installed.
    """

    def __init__(self, device: Device, columns: range) -> None:
        self._rx = _rustworkx()
        self._graph, self._node = _graph(device, columns)

    def path(self, start: Port, end: Port, cost: Callable[[Port], float]) -> tuple[Port, ...] | None:
        """The cheapest way from a slave to a master, both included; None if there is none that is open."""
        found = self._rx.dijkstra_shortest_paths(
            self._graph, self._node[start], self._node[end], weight_fn=cost
        )
        if self._node[end] not in found:
            return None
        ports = tuple(self._graph[node] for node in found[self._node[end]])
        return None if any(cost(port) >= CLOSED for port in ports[1:]) else ports


@cache
def _graph(device: Device, columns: range) -> tuple[Any, Mapping[Port, int]]:
    """The graph, never changed once it is built, and the node of each port."""
    graph = _rustworkx().PyDiGraph()
    kinds = {(c, r): device.tile(c, r) for c in columns for r in range(device.rows)}
    ports = [port for (c, r), kind in kinds.items() for port in _ports(kind, c, r)]
    node = dict(zip(ports, graph.add_nodes_from(ports), strict=True))
    graph.add_edges_from([(node[port], node[after], after) for port in ports for after in _next(port, kinds)])
    return graph, node


def _ports(kind: TileName, column: int, row: int) -> Iterator[Port]:
    yield from (Port(kind, column, row, False, name) for name in PORTS[kind].slaves)
    yield from (Port(kind, column, row, True, name) for name in PORTS[kind].masters)


def leads_to(slave: Port) -> list[str]:
    """The masters of its own switch to which a slave may be joined."""
    masters = PORTS[slave.tile].masters
    return [
        name
        for name in masters
        if port_kind(name) != "FIFO" and circuit_allowed(slave.tile, slave.name, name)
    ]


def _next(port: Port, kinds: Mapping[tuple[int, int], TileName]) -> Iterator[Port]:
    """Where words go from a port."""
    if not port.is_master:
        for master in leads_to(port):
            yield port._replace(is_master=True, name=master)
    elif port_kind(port.name) in _THROUGH:
        kind = port_kind(port.name)
        opposite, columns, rows = WIRES[kind]
        place = (port.column + columns, port.row + rows)
        slave = opposite + port.name.removeprefix(kind)
        if place in kinds and slave in PORTS[kinds[place]].slaves:
            yield Port(kinds[place], *place, False, slave)


def _rustworkx() -> Any:
    try:
        return import_module("rustworkx")
    except ImportError:
        problem = Problem(
            "rustworkx",
            "not installed",
            "rustworkx installed",
            "rustworkx is not installed",
            'Install it with pip install "rustworkx", or join the ports yourself with Array.circuit.',
            reason="library",
            where="router",
            source="it searches the graph of ports",
        )
        raise DesignError(problem) from None
