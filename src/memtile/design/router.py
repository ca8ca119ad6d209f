"""Legal circuits for all flows at once, by negotiation: flows bid for ports, and full ports get dearer.

The method is that of PathFinder (McMurchie and Ebeling, 1995), known from FPGA routing: every flow takes its
cheapest tree, ports wanted twice cost more in the next round, until each port has one flow. The order of the
flows decides nothing but ties, and a rerun gives the same circuits.

It also has the stream switches of an array as a graph: which port leads to which (AM020 chapter 2, driver).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from memtile.arch.devices import Device
from memtile.arch.ports import PORTS, WIRES, circuit_allowed, port_kind
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.errors import DesignError, Problem

_THROUGH = frozenset(WIRES)  # kinds of ports that lead on; all others are ends
CLOSED = 1e12  # cost of a port that cannot be used


class GraphPort(NamedTuple):
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

    def path(
        self, start: GraphPort, end: GraphPort, cost: Callable[[GraphPort], float]
    ) -> tuple[GraphPort, ...] | None:
        """The cheapest way from a slave to a master, both included; None if there is none that is open."""
        found = self._rx.dijkstra_shortest_paths(
            self._graph, self._node[start], self._node[end], weight_fn=cost
        )
        if self._node[end] not in found:
            return None
        ports = tuple(self._graph[node] for node in found[self._node[end]])
        return None if any(cost(port) >= CLOSED for port in ports[1:]) else ports


@cache
def _graph(device: Device, columns: range) -> tuple[Any, Mapping[GraphPort, int]]:
    """The graph, never changed once it is built, and the node of each port."""
    graph = _rustworkx().PyDiGraph()
    kinds = {(c, r): device.tile(c, r) for c in columns for r in range(device.rows)}
    ports = [port for (c, r), kind in kinds.items() for port in _ports(kind, c, r)]
    node = dict(zip(ports, graph.add_nodes_from(ports), strict=True))
    graph.add_edges_from([(node[port], node[after], after) for port in ports for after in _next(port, kinds)])
    return graph, node


def _ports(kind: TileName, column: int, row: int) -> Iterator[GraphPort]:
    yield from (GraphPort(kind, column, row, False, name) for name in PORTS[kind].slaves)
    yield from (GraphPort(kind, column, row, True, name) for name in PORTS[kind].masters)


def leads_to(slave: GraphPort) -> list[str]:
    """The masters of its own switch to which a slave may be joined."""
    masters = PORTS[slave.tile].masters
    return [
        name
        for name in masters
        if port_kind(name) != "FIFO" and circuit_allowed(slave.tile, slave.name, name)
    ]


def _next(port: GraphPort, kinds: Mapping[tuple[int, int], TileName]) -> Iterator[GraphPort]:
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
            yield GraphPort(kinds[place], *place, False, slave)


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


_ROUNDS = 30
_SHOWN = 8
_SHARED = 0.5
_RANK = {  # among equal ports the lowest number is cheapest, by a little
    name: int(name.removeprefix(port_kind(name))) / 1000
    for ports in PORTS.values()
    for name in (*ports.masters, *ports.slaves)
}
_SOURCE = "AM020 chapter 2: a circuit has its ports to itself"


@dataclass(frozen=True, slots=True)
class RouteDemand:
    """One source and where its words shall go.

    Attributes:
        name: for messages.
        source: the slave port at which the words enter the switches.
        targets: the master ports at which they leave.
        bus: flows of packets with the same bus may share ports; empty = a circuit.
        ids: of its packets, where another flow of the bus may send the same: two such flows share no wire,
            and flows of any bus may end in one port.
    """

    name: str
    source: GraphPort
    targets: tuple[GraphPort, ...]
    bus: str = ""
    ids: tuple[int, ...] = ()

    @property
    def owner(self) -> str:
        """The holders of the ports of the flow."""
        return self.bus or self.name

    def saved(self) -> list[Any]:
        """The flow as plain data."""
        return [self.name, self.source, self.targets, self.bus, self.ids]

    @classmethod
    def restored(cls, saved: Sequence[Any]) -> RouteDemand:
        """The flow that :meth:`saved` found."""
        name, source, targets, bus, ids = saved
        ends = tuple(GraphPort(*target) for target in targets)
        return cls(name, GraphPort(*source), ends, bus, tuple(ids))

    def __str__(self) -> str:
        return self.name


Tree = Mapping[GraphPort, GraphPort]
"""Circuit of a flow: each port but the source -> the port before it."""


def route(
    graph: SwitchGraph, flows: Sequence[RouteDemand], taken: Mapping[GraphPort, str]
) -> dict[RouteDemand, Tree]:
    """A tree of ports for every flow, no port in two of them.

    Args:
        graph: the ports.
        flows: what to connect.
        taken: ports that are in use already, and by whom.

    Raises:
        DesignError: the links that stay full, with everyone who wants them; or no way at all.
    """
    trees: dict[RouteDemand, Tree] = {}
    history: Counter[GraphPort] = Counter()
    for round_number in range(_ROUNDS):
        for flow in flows:
            trees.pop(flow, None)
            price = _prices(flow, _users(trees), history, taken, 1 << round_number)
            trees[flow] = _tree(graph, flow, price, taken)
        full = {port for port, users in _users(trees).items() if _parties(users) > 1}
        if not full:
            return trees
        history.update(full)
    raise DesignError(_full(full, trees, taken))


def _users(trees: Mapping[RouteDemand, Tree]) -> dict[GraphPort, list[RouteDemand]]:
    """The flows that want each port; packets with ids share the ports in which they end."""
    users: defaultdict[GraphPort, list[RouteDemand]] = defaultdict(list)
    for flow, tree in trees.items():
        for port in (flow.source, *tree):
            if not (flow.ids and port in flow.targets and is_end(port)):
                users[port].append(flow)
    return users


def is_end(master: GraphPort) -> bool:
    """Whether the words leave the switches there: to a DMA, a core, a control port, or out of the array."""
    outward = TILE_KINDS[master.tile].role == "interface" and port_kind(master.name) == "SOUTH"
    return outward or port_kind(master.name) not in _THROUGH


def _parties(users: Sequence[RouteDemand]) -> int:
    """How many wires these flows need: one a bus, or one for each flow of it that sends one id."""
    by_bus: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for flow in users:
        by_bus[flow.owner].update(flow.ids)
    return sum(max(ids.values(), default=1) for ids in by_bus.values())


def _prices(
    flow: RouteDemand,
    use: Mapping[GraphPort, Sequence[RouteDemand]],
    history: Counter[GraphPort],
    taken: Mapping[GraphPort, str],
    pressure: int,
) -> Callable[[GraphPort], float]:
    def price(port: GraphPort) -> float:
        if taken.get(port, flow.owner) != flow.owner:
            return CLOSED
        plain = 1.0 + _RANK[port.name] + history[port]
        users = use.get(port)
        if not users:
            return plain
        others = _parties([*users, flow]) - 1
        shared = 1.0 if others else _SHARED  # packets of one bus prefer the links that it has
        return shared * plain * (1.0 + pressure * others)

    return price


def _tree(
    graph: SwitchGraph, flow: RouteDemand, price: Callable[[GraphPort], float], taken: Mapping[GraphPort, str]
) -> Tree:
    """The cheapest tree, target by target; ports that the tree has already cost nothing."""
    before: dict[GraphPort, GraphPort] = {}

    def own(port: GraphPort) -> float:
        return 0.0 if port in before else price(port)

    for target in flow.targets:
        path = graph.path(flow.source, target, own)
        if path is None:
            raise DesignError(_no_way(flow, target, taken))
        before.update(zip(path[1:], path, strict=False))
    return before


def _no_way(flow: RouteDemand, target: GraphPort, taken: Mapping[GraphPort, str]) -> Problem:
    """Only ports that others have for good lead to the target, or none at all."""
    near = {port: owner for port, owner in taken.items() if _close(port, flow.source) or _close(port, target)}
    holders = sorted({f"{port} has {owner}" for port, owner in near.items()})
    step = f"Taken near it: {'; '.join(holders[:_SHOWN])}."
    if not holders:
        masters = ", ".join(leads_to(flow.source))
        step = f"The {flow.source} is joined to {masters} only, and no route continues from there."
    return Problem(
        str(flow),
        f"a circuit to {target}",
        "free ports on the way",
        f"{flow} finds no free ports on the way to {target}",
        step,
        reason="no_path",
        where="router",
        source=_SOURCE,
    )


def _close(port: GraphPort, other: GraphPort) -> bool:
    return (port.column, port.row) == (other.column, other.row)


def _full(
    full: Collection[GraphPort], trees: Mapping[RouteDemand, Tree], taken: Mapping[GraphPort, str]
) -> list[Problem]:
    """One problem per bundle of links of a tile that is full: who has or wants it, and how many there are."""
    wanted: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    bundles = {_bundle(port): port for port in full if port.is_master} or {_bundle(p): p for p in full}
    for flow, tree in trees.items():
        for port in tree:
            wanted[_bundle(port)].add(flow.name)
    for port, owner in taken.items():
        wanted[_bundle(port)].add(owner)
    problems = []
    for bundle, port in sorted(bundles.items()):
        names = sorted(wanted[bundle])
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
        side = "masters" if port.is_master else "slaves"
        count = len([n for n in _names(port) if port_kind(n) == port_kind(port.name)])
        problems.append(
            Problem(
                f"{port.place} {port_kind(port.name)} {side}",
                f"{len(names)} circuits",
                f"{count}",
                f"{len(names)} circuits want the {port_kind(port.name)} {side} of {port.place}, "
                f"which has {count}",
                f"They are wanted by {shown}. Use another column, or share a link with packets.",
                reason="link_full",
                where="router",
                source=_SOURCE,
            )
        )
    return problems


def _names(port: GraphPort) -> tuple[str, ...]:
    return PORTS[port.tile].masters if port.is_master else PORTS[port.tile].slaves


def _bundle(port: GraphPort) -> tuple[str, str]:
    return port.place, f"{port_kind(port.name)}{'>' if port.is_master else '<'}"
