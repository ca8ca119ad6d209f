"""Connections of a description, as nets: each source with all that it reaches, through graphs and packets.

Ports of graphs only pass on what they get. A split or a merge of packets makes one net of all that passes it:
a net has several sources behind a merge, and one way for each target behind a split.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from memtile.adf.description import Connection, Port
from memtile.adf.objects import PARAMETERS, Objects
from memtile.errors import Problem

_GRAPH = "UG1603: connections of a graph"
_STREAMS = frozenset({"stream", "packet_stream"})


@dataclass(frozen=True, slots=True)
class Tap:
    """An end of a net, before it has a place.

    Attributes:
        port: id of a port that no graph and no packet object has.
        branch: the way of a split or merge, -1 = none.
    """

    port: int
    branch: int = -1


@dataclass(frozen=True, slots=True)
class Wiring:
    """A net, before it has a place.

    Attributes:
        name: of its first source.
        sources: one, or those of a merge.
        targets: all that get it, or those of a split.
        packets: ids of the packet objects that it passes.
        connections: those that it is made of, in the order of the description.
    """

    name: str
    sources: tuple[Tap, ...]
    targets: tuple[Tap, ...]
    packets: tuple[int, ...]
    connections: tuple[Connection, ...]


@dataclass(frozen=True, slots=True)
class _Wire:
    """A source and what it reaches through ports of graphs alone."""

    source: int
    targets: tuple[int, ...]
    connections: tuple[Connection, ...]


def wirings(objects: Objects, problems: list[Problem]) -> list[Wiring]:
    """The nets of a description; parameters are none of them.

    Args:
        objects: of the description.
        problems: grows by all that is wrong with its connections.
    """
    known = [c for c in objects.description.connections if _ends_exist(objects, c, problems)]
    problems.extend(_doubled(objects, known))
    problems.extend(_directions(objects, known))
    wires = [_wire(objects, known, source) for source in _sources(objects, known)]
    problems.extend(problem for wire in wires for problem in _wire_problems(objects, wire))
    problems.extend(_open_ports(objects, known))
    data = [wire for wire in wires if wire.targets and not _is_parameter(objects, wire)]
    return [_net(objects, group, problems) for group in _joined(objects, data)]


def _ends_exist(objects: Objects, connection: Connection, problems: list[Problem]) -> bool:
    missing = [end for end in (connection.source, connection.target) if end not in objects.ports]
    problems.extend(
        Problem(
            "end",
            f"id {end}",
            "the id of a port",
            f"connection {connection.id} ends at {end}, which is no port of the description",
            reason="unknown_port",
            where=connection.line or f"connection {connection.id}",
            source="format of descriptions",
        )
        for end in missing
    )
    return not missing


def _doubled(objects: Objects, connections: Sequence[Connection]) -> Iterator[Problem]:
    """Targets that more than one connection feeds."""
    into: dict[int, list[Connection]] = defaultdict(list)
    for connection in connections:
        into[connection.target].append(connection)
    for target, several in into.items():
        if several[1:]:
            names = [f"{objects.name(c.source)}{_at(c)}" for c in several]
            yield Problem(
                "sources",
                str(len(several)),
                "one",
                f"the port has {len(several)} sources: {', '.join(names)}",
                "Connect one of them, or merge them with pktmerge.",
                reason="two_sources",
                where=objects.where(target, several[-1].line),
                source=_GRAPH,
            )


def _at(connection: Connection) -> str:
    return f" ({connection.line})" if connection.line else ""


def _directions(objects: Objects, connections: Sequence[Connection]) -> Iterator[Problem]:
    """Connections that begin at an input of an object or end at an output."""
    for connection in connections:
        for end, wrong, role in ((connection.source, "in", "source"), (connection.target, "out", "target")):
            port = objects.ports[end]
            if port.direction == wrong and port.kind != "graph":
                given, right = ("an input", "an output") if wrong == "in" else ("an output", "an input")
                yield Problem(
                    role,
                    given,
                    right,
                    f"{port.name} is the {role} of a connection, but it is {given}",
                    "Swap the two ports of connect.",
                    reason="direction",
                    where=objects.where(end, connection.line),
                    source=_GRAPH,
                )


def _sources(objects: Objects, connections: Sequence[Connection]) -> list[int]:
    """Ports at which data begin, in the order of the connections; ports of graphs that nothing feeds too."""
    fed = {c.target for c in connections}
    begin = (c.source for c in connections)
    return list(dict.fromkeys(s for s in begin if objects.ports[s].kind != "graph" or s not in fed))


def _wire(objects: Objects, connections: Sequence[Connection], source: int) -> _Wire:
    """What a source reaches; the order is that of the connections."""
    out: dict[int, list[Connection]] = defaultdict(list)
    for connection in connections:
        out[connection.source].append(connection)
    found: dict[int, None] = {}
    used: dict[int, Connection] = {}
    waiting = list(reversed(out[source]))
    while waiting:
        connection = waiting.pop()
        if connection.id in used:
            continue
        used[connection.id] = connection
        if objects.ports[connection.target].kind == "graph":
            waiting.extend(reversed(out[connection.target]))
        else:
            found.setdefault(connection.target)
    return _Wire(source, tuple(found), tuple(used.values()))


def _is_parameter(objects: Objects, wire: _Wire) -> bool:
    return any(objects.ports[port].kind in PARAMETERS for port in (wire.source, *wire.targets)) or any(
        c.kind == "parameter" for c in wire.connections
    )


def _wire_problems(objects: Objects, wire: _Wire) -> Iterator[Problem]:
    """All that is wrong with one source and its targets."""
    source = objects.ports[wire.source]
    line = wire.connections[0].line if wire.connections else ""
    if not wire.targets and not _is_parameter(objects, wire):
        yield _open(objects, wire.source, "leads to no input", line)
        return
    if source.kind == "graph":
        if not _is_parameter(objects, wire):
            yield _open(objects, wire.source, "has no source", line)
        return
    for target in wire.targets:
        yield from _pair_problems(objects, source, objects.ports[target], wire.connections)


def _pair_problems(
    objects: Objects, source: Port, target: Port, connections: Sequence[Connection]
) -> Iterator[Problem]:
    line = next((c.line for c in connections if c.target == target.id), connections[-1].line)
    found = partial(Problem, where=objects.where(target.id, line), source=_GRAPH)
    kinds = f"{source.name} is {_a(source.kind)}, {target.name} {_a(target.kind)}"
    if not _kinds_match(source.kind, target.kind):
        yield found(
            "kinds",
            f"{source.kind} and {target.kind}",
            "kinds that can be connected",
            f"the two ports do not match: {kinds}",
            _advice(source.kind, target.kind),
            reason="port_kinds",
        )
    elif source.kind in PARAMETERS:
        yield found(
            "source",
            source.name,
            "the host",
            f"a parameter comes from {source.name}; parameters pass between the host and kernels only",
            "Use a buffer or a stream between kernels.",
            reason="kernel_parameter",
        )
    sizes = objects.element_bytes(source), objects.element_bytes(target)
    if all(sizes) and sizes[0] != sizes[1] and "packet" not in (source.kind, target.kind):
        yield found(
            "element",
            source.element,
            target.element,
            f"elements differ: {source.name} has {source.element} ({sizes[0]} bytes), "
            f"{target.name} {target.element} ({sizes[1]} bytes)",
            "Use one element type at both ends.",
            reason="element_types",
        )


def _a(kind: str) -> str:
    words = kind.replace("_", " ")
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


def _advice(source: str, target: str) -> str:
    if "cascade" in (source, target):
        return "A cascade joins an output_cascade and an input_cascade."
    if "packet_stream" in (source, target):
        return "A packet stream takes packets only: connect it to a pktsplit, a pktmerge or a packet stream."
    return "A parameter is connected to a parameter."


def _kinds_match(source: str, target: str) -> bool:
    """Whether AMD's guides let two ports of these kinds be connected (DEV-ADF-10 for elements)."""
    for alone in ({"cascade"}, PARAMETERS):
        if (source in alone) != (target in alone):
            return False
    if "packet_stream" in (source, target):
        other = target if source == "packet_stream" else source
        return other in {"packet_stream", "packet", "plio", "gmio", "memory"}
    return True


def _open(objects: Objects, port: int, what: str, line: str = "") -> Problem:
    return Problem(
        "connection",
        "none",
        "one",
        f"the port {what}",
        "Connect it, or leave it out of the graph.",
        reason="not_connected",
        where=objects.where(port, line),
        source=_GRAPH,
    )


def _open_ports(objects: Objects, connections: Sequence[Connection]) -> Iterator[Problem]:
    """Ports of objects that no connection names."""
    named = {end for c in connections for end in (c.source, c.target)}
    for port in objects.description.ports:
        if port.kind != "graph" and port.id not in named and not port.is_member:
            yield _open(objects, port.id, "is not connected")


def _joined(objects: Objects, wires: Sequence[_Wire]) -> Iterator[list[_Wire]]:
    """Wires in groups that packet objects join, in the order of their first wires."""
    group_of: dict[int, list[_Wire]] = {}  # packet object -> its wires
    groups: list[list[_Wire]] = []
    for wire in wires:
        through = list(dict.fromkeys(_packets_of(objects, (wire.source, *wire.targets))))
        joined = [wire]
        for old in {id(g): g for p in through if (g := group_of.get(p)) is not None}.values():
            joined = old + joined
            groups.remove(old)
        groups.append(joined)
        for packet in dict.fromkeys(p for w in joined for p in _packets_of(objects, (w.source, *w.targets))):
            group_of[packet] = joined
    order = {id(wire): n for n, wire in enumerate(wires)}
    yield from sorted(groups, key=lambda group: min(order[id(wire)] for wire in group))


def _packets_of(objects: Objects, ports: Iterable[int]) -> Iterator[int]:
    return (objects.ports[p].owner for p in ports if objects.ports[p].kind == "packet")


def _net(objects: Objects, wires: Sequence[_Wire], problems: list[Problem]) -> Wiring:
    """The net of wires that packet objects join."""
    sources: list[Tap] = []
    targets: list[Tap] = []
    for wire in wires:
        ways = [t for t in wire.targets if objects.ports[t].kind == "packet"]
        if objects.ports[wire.source].kind != "packet":
            sources.append(Tap(wire.source, _merge_way(objects, ways)))
        branch = _split_way(objects, wire.source)
        targets.extend(Tap(t, branch) for t in wire.targets if objects.ports[t].kind != "packet")
        problems.extend(_packet_problems(objects, wire, ways))
    passed = dict.fromkeys(p for w in wires for p in _packets_of(objects, (w.source, *w.targets)))
    used = {c.id: c for w in wires for c in w.connections}
    first = sources[0].port if sources else wires[0].source
    return Wiring(objects.name(first), tuple(sources), tuple(targets), tuple(passed), tuple(used.values()))


def _merge_way(objects: Objects, ways: Sequence[int]) -> int:
    """Number of the input of a merge among the targets of a source; -1 = none."""
    merging = (p for p in ways if objects.packets[objects.ports[p].owner].kind != "split")
    return next((objects.ports[p].number for p in merging), -1)


def _split_way(objects: Objects, source: int) -> int:
    """Number of the output of a split at which a wire begins; -1 = it begins elsewhere."""
    port = objects.ports[source]
    is_split = port.kind == "packet" and objects.packets[port.owner].kind == "split"
    return port.number if is_split else -1


def _are_equal_splits(objects: Objects, targets: Sequence[int]) -> bool:
    """Whether a stream of packets leads to several splits, each of which takes all identifiers."""
    owners = [objects.packets.get(objects.ports[target].owner) for target in targets]
    ways = {len(each.outputs) for each in owners if each is not None and each.kind == "split"}
    return all(each is not None and each.kind == "split" for each in owners) and len(ways) == 1


def _packet_problems(objects: Objects, wire: _Wire, ways: Sequence[int]) -> Iterator[Problem]:
    """Packets behind packets, and packets beside data."""
    line = wire.connections[0].line
    found = partial(Problem, where=objects.where(wire.source, line), source="UG1603: Packet Processing")
    source = objects.ports[wire.source]
    kind = objects.packets[source.owner].kind if source.kind == "packet" else ""
    for way in ways:
        behind = objects.packets[objects.ports[way].owner]
        if kind and (kind == "split") == (behind.kind == "split"):
            word = "split" if kind == "split" else "merge"
            yield found(
                "target",
                behind.name,
                "a kernel, a buffer or what leads out of the array",
                f"{source.name} leads into {behind.name}; headers have one identifier, "
                f"so no {word} can follow a {word}",
                "Use one split or merge with more ways.",
                reason="packets_behind_packets",
            )
            continue
        merge = objects.packets[source.owner] if kind and kind != "split" else None
        if merge and len(merge.inputs) != len(behind.outputs):
            yield found(
                "ways",
                f"{len(merge.inputs)} and {len(behind.outputs)}",
                "as many outputs as inputs",
                f"{merge.name} has {len(merge.inputs)} inputs, {behind.name} {len(behind.outputs)} outputs; "
                "packets of input i leave by output i",
                "Give both the same number of ways; an output may have several targets.",
                reason="packets_of_no_way",
            )
    if ways and wire.targets[1:] and not _are_equal_splits(objects, wire.targets):
        names = ", ".join(objects.name(t) for t in wire.targets)
        yield found(
            "targets",
            names,
            "the packet object alone",
            f"{source.name} leads to several targets, and one of them takes packets: {names}",
            "Connect the packet object alone.",
            reason="packets_beside_data",
        )
