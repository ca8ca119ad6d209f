"""Packet flows of a device into switches, by the rules of mlir-aie's router (aie-create-pathfinder-flows).

A source has one way to all of its destinations, whatever its ids. Sources of one group share wires, two that
send one id never do (DEV-MLIR-6: which of the free wires a way takes is ours). What each switch needs for it
is ``design.packet_switches``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memtile.design.circuits import Circuits, End
from memtile.design.packet_switches import IDS, Hop, PacketSwitch, packet_switch
from memtile.design.router import GraphPort, RouteDemand
from memtile.importers.mlir.description import EndDescription, FlowDescription, Place
from memtile.importers.mlir.forms.operand_faults import reading
from memtile.importers.mlir.forms.operands import OperationForm

_ARBITERS = range(6)  # that mlir-aie gives out; the switch has more
_WHERE = "packet flows"


@dataclass(slots=True)
class Way:
    """All that one source sends.

    Attributes:
        group: sources of one group may share wires.
        ids: of its packets.
        targets: where any of them go, each with the first flow that says so.
        flow: the first that names the source.
        demand: what the router is asked for.
    """

    group: int
    flow: FlowDescription
    ids: dict[int, None] = field(default_factory=dict)
    targets: dict[EndDescription, FlowDescription] = field(default_factory=dict)
    demand: RouteDemand | None = None


def ways(flows: Sequence[FlowDescription]) -> dict[EndDescription, Way]:
    """The sources of packet flows, and what they send where.

    Raises:
        InputFileError: an id that no header holds.
    """
    found: dict[EndDescription, Way] = {}
    for flow, target, source in _pairs(flows):
        assert flow.packet is not None
        if not 0 <= flow.packet < IDS:
            says = f"packet id {flow.packet} exceeds the maximum of {IDS - 1}"
            raise OperationForm(flow.operation).error(says, f"0..{IDS - 1}", reason="packet_id")
        way = found.setdefault(source, Way(_group(found.values(), target), flow))
        way.ids[flow.packet] = None
        way.targets.setdefault(target, flow)
    return found


def _pairs(
    flows: Sequence[FlowDescription],
) -> Iterator[tuple[FlowDescription, EndDescription, EndDescription]]:
    """Packet flows with their targets and sources, in the order in which the router goes through them."""
    for flow in flows:
        if flow.packet is not None:
            for target in flow.targets:
                for source in flow.sources:
                    yield flow, target, source


def _group(others: Iterable[Way], target: EndDescription) -> int:
    """The group of a source whose first target this is: with one that has the target, or a new one."""
    groups = [(way.group, target in way.targets) for way in others]
    joined = next((group for group, joins in groups if joins), None)
    return max((group for group, _ in groups), default=-1) + 1 if joined is None else joined


def ask(
    found: Mapping[EndDescription, Way], circuits: Circuits, end: Callable[[EndDescription, bool], End]
) -> None:
    """Ask for the ways of all sources.

    Args:
        found: what they send.
        circuits: of the array.
        end: the channel or port of an end, and whether words come out there.

    Raises:
        InputFileError: an end that the array does not have, or that another flow has.
    """
    for source, way in found.items():
        targets = list[End]()
        for target, flow in way.targets.items():
            with reading(flow.operation):
                targets.append(end(target, True))
        with reading(way.flow.operation):
            name = f"packet flows (group {way.group})"
            way.demand = circuits.connect(end(source, False), targets, name, tuple(way.ids))


def switches(
    flows: Sequence[FlowDescription], found: Mapping[EndDescription, Way], circuits: Circuits
) -> dict[Place, PacketSwitch]:
    """What each switch needs for packet flows whose ways were found.

    Raises:
        DesignError: more rules, arbiters or msels than a switch has.
    """
    hops: defaultdict[Place, dict[tuple[GraphPort, int, GraphPort], None]] = defaultdict(dict)
    priority: dict[tuple[GraphPort, int], bool] = {}
    keep: dict[GraphPort, bool | None] = {}
    for flow, target, source in _pairs(flows):
        assert flow.packet is not None
        way = found[source]
        assert way.demand is not None
        tree = circuits.trees[way.demand]
        port = dict(zip(way.targets, way.demand.targets, strict=True))[target]
        keep[port] = flow.keep_header
        while port in tree:
            before = tree[port]
            if port.is_master:
                hops[port.column, port.row][before, flow.packet, port] = None
                priority[port, flow.packet] = flow.priority
            port = before
    return {
        place: packet_switch(
            [Hop(slave, number, port, priority[port, number]) for slave, number, port in each],
            _ARBITERS,
            _WHERE,
            keep,
        )
        for place, each in hops.items()
    }
