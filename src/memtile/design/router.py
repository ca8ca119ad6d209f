"""Legal circuits for all flows at once, by negotiation: flows bid for ports, and full ports get dearer.

The method is that of PathFinder (McMurchie and Ebeling, 1995), known from FPGA routing: every flow takes its
cheapest tree, ports wanted twice cost more in the next round, until each port has one flow. The order of the
flows decides nothing but ties, and a rerun gives the same circuits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtile.arch.ports import PORTS, port_kind
from memtile.design.switch_graph import CLOSED, Port, SwitchGraph, leads_to
from memtile.errors import DesignError, Problem

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
class Flow:
    """One source and where its words shall go.

    Attributes:
        name: for messages.
        source: the slave port at which the words enter the switches.
        targets: the master ports at which they leave.
        bus: flows of packets with the same bus may share ports; empty = a circuit.
    """

    name: str
    source: Port
    targets: tuple[Port, ...]
    bus: str = ""

    @property
    def owner(self) -> str:
        """The holders of the ports of the flow."""
        return self.bus or self.name

    def saved(self) -> list[Any]:
        """The flow as plain data."""
        return [self.name, self.source, self.targets, self.bus]

    @classmethod
    def restored(cls, saved: Sequence[Any]) -> Flow:
        """The flow that :meth:`saved` found."""
        name, source, targets, bus = saved
        return cls(name, Port(*source), tuple(Port(*target) for target in targets), bus)

    def __str__(self) -> str:
        return self.name


Tree = Mapping[Port, Port]
"""Circuit of a flow: each port but the source -> the port before it."""


def route(graph: SwitchGraph, flows: Sequence[Flow], taken: Mapping[Port, str]) -> dict[Flow, Tree]:
    """A tree of ports for every flow, no port in two of them.

    Args:
        graph: the ports.
        flows: what to connect.
        taken: ports that are in use already, and by whom.

    Raises:
        DesignError: the links that stay full, with everyone who wants them; or no way at all.
    """
    trees: dict[Flow, Tree] = {}
    history: Counter[Port] = Counter()
    for round_number in range(_ROUNDS):
        for flow in flows:
            trees.pop(flow, None)
            use = _owners(trees)
            price = _prices(flow.owner, use, history, taken, 1 << round_number)
            trees[flow] = _tree(graph, flow, price, taken)
        full = {port for port, owners in _owners(trees).items() if len(owners) > 1}
        if not full:
            return trees
        history.update(full)
    raise DesignError(_full(full, trees, taken))


def _owners(trees: Mapping[Flow, Tree]) -> dict[Port, set[str]]:
    """The flows that want each port."""
    owners: defaultdict[Port, set[str]] = defaultdict(set)
    for flow, tree in trees.items():
        for port in (flow.source, *tree):
            owners[port].add(flow.owner)
    return owners


def _prices(
    owner: str,
    use: Mapping[Port, set[str]],
    history: Counter[Port],
    taken: Mapping[Port, str],
    pressure: int,
) -> Callable[[Port], float]:
    def price(port: Port) -> float:
        if taken.get(port, owner) != owner:
            return CLOSED
        wanting = use.get(port, set())
        others = len(wanting) - (owner in wanting)
        shared = _SHARED if owner in wanting else 1.0  # packets of one bus prefer the links that it has
        return shared * (1.0 + _RANK[port.name] + history[port]) * (1.0 + pressure * others)

    return price


def _tree(graph: SwitchGraph, flow: Flow, price: Callable[[Port], float], taken: Mapping[Port, str]) -> Tree:
    """The cheapest tree, target by target; ports that the tree has already cost nothing."""
    before: dict[Port, Port] = {}

    def own(port: Port) -> float:
        return 0.0 if port in before else price(port)

    for target in flow.targets:
        path = graph.path(flow.source, target, own)
        if path is None:
            raise DesignError(_no_way(flow, target, taken))
        before.update(zip(path[1:], path, strict=False))
    return before


def _no_way(flow: Flow, target: Port, taken: Mapping[Port, str]) -> Problem:
    """Only ports that others have for good lead to the target, or none at all."""
    near = {port: owner for port, owner in taken.items() if _close(port, flow.source) or _close(port, target)}
    holders = sorted({f"{port} has {owner}" for port, owner in near.items()})
    step = f"Taken near it: {'; '.join(holders[:_SHOWN])}."
    if not holders:
        masters = ", ".join(leads_to(flow.source))
        step = f"The {flow.source} is joined to {masters} only, and no way goes on from there."
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


def _close(port: Port, other: Port) -> bool:
    return (port.column, port.row) == (other.column, other.row)


def _full(full: Collection[Port], trees: Mapping[Flow, Tree], taken: Mapping[Port, str]) -> list[Problem]:
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


def _names(port: Port) -> tuple[str, ...]:
    return PORTS[port.tile].masters if port.is_master else PORTS[port.tile].slaves


def _bundle(port: Port) -> tuple[str, str]:
    return port.place, f"{port_kind(port.name)}{'>' if port.is_master else '<'}"
