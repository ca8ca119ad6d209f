"""Which way the packets of a net go, in which order they merge, and which tiling each of them is for.

The stream switches merge in a programmed order what a ``pktorderedmerge`` takes, and what has a target whose
tilings name inputs by ``packet_port_id`` (DEV-ADF-100, DEV-ADF-101): it is known whose packet comes next, and
the tilings of a turn follow each other in the order of arrival.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from memtile.adf.description import Packets, Tiling
from memtile.adf.lookup import Lookup
from memtile.adf.objects import RATED
from memtile.adf.plan import End, Net
from memtile.adf.rates import tiling_elements
from memtile.errors import DesignError

_SOURCE = "UG1603: Deterministic Merge to Memory Tile"


@dataclass(frozen=True, slots=True)
class PacketWay:
    """Packets of one identifier.

    Attributes:
        id: in their headers.
        source: the end that sends them.
        targets: the ends that get them.
        merged: the input of a merge that they pass last; -1 = none.
        choice: the output of a split by which they leave their source; -1 = none.
    """

    id: int
    source: End
    targets: tuple[End, ...]
    merged: int = -1
    choice: int = -1


class PacketWays:
    """The ways of a net with packets.

    Args:
        net: the net.
        lookup: of its description.

    Attributes:
        ways: in the order of their identifiers.
        order: one round of a merge: identifiers, and the packets of each in a row; empty = as they come.

    Raises:
        DesignError: tilings of the target that no order of packets fills.
    """

    def __init__(self, net: Net, lookup: Lookup) -> None:
        self._lookup = lookup
        passed = [each for each in lookup.description.packets if each.id in net.packets]
        merges = [each for each in passed if each.kind != "split"]
        self.ways = tuple(_ways(net, lookup))
        self._named = [end for end in net.targets if merges and _names_ports(end)]
        self.order = self._order(merges)

    def sent_by(self, end: End) -> list[PacketWay]:
        """The ways of a source, in the order of the outputs of its split."""
        return sorted((way for way in self.ways if way.source is end), key=lambda way: way.choice)

    def got_by(self, end: End) -> list[PacketWay]:
        """The ways that lead to a target, in the order of the inputs of its merge."""
        return [way for way in self.ways if end in way.targets]

    def arriving(self, end: End) -> tuple[Tiling, ...]:
        """The tilings of a target in the order in which their packets arrive in one turn.

        Raises:
            DesignError: packets of several tilings alternate, or the turn is no whole number of rounds.
        """
        if end not in self._named:
            return end.tilings
        rounds = cycle([number for number, packets in self.order for _ in range(packets)])
        length, taken = sum(packets for _, packets in self.order), 0
        left, found = list(end.tilings), list[Tiling]()
        while left:
            number = next(rounds)
            tiling = next((each for each in left if self._way(end, each).id == number), None)
            packets = 0 if tiling is None else self._packets(end, tiling)
            if tiling is None or any(next(rounds) != number for _ in range(packets - 1)):
                raise self._out_of_order(end)
            left.remove(tiling)
            found.append(tiling)
            taken += packets
        if taken % length:
            raise self._out_of_order(end)
        return tuple(found)

    def _order(self, merges: Sequence[Packets]) -> tuple[tuple[int, int], ...]:
        ordered = next((each for each in merges if each.kind == "ordered_merge"), None)
        if ordered is not None:
            counts = [self._lookup.ports[number].packets for number in ordered.inputs]
            return tuple((way.id, counts[way.merged]) for way in self.ways if way.merged >= 0)
        if not self._named:
            return ()
        end = self._named[0]
        return tuple((self._way(end, each).id, self._packets(end, each)) for each in end.tilings)

    def _packets(self, end: End, tiling: Tiling) -> int:
        """Packets that fill a tiling: blocks of a source with buffers, one of any other.

        Raises:
            DesignError: no whole number of packets.
        """
        source = self._way(end, tiling).source
        sizes = self._packet_elements(source)
        elements = self._elements(end, tiling)
        if len(set(sizes)) > 1:
            mine = [each for each in end.tilings if each.packet_port_id == tiling.packet_port_id]
            size = sizes[mine.index(tiling) % len(sizes)]
        else:
            size = sizes[0] if sizes else elements
        if elements != size and (len(set(sizes)) > 1 or elements % size):
            raise self._broken(end, tiling, elements, source, size)
        return elements // size

    def _way(self, end: End, tiling: Tiling) -> PacketWay:
        """The way through the input of the merge that a tiling names.

        Raises:
            DesignError: it names none.
        """
        named = tiling.packet_port_id
        found = next((way for way in self.ways if way.merged == named >= 0 and end in way.targets), None)
        if found is None:
            raise self._no_source(end, tiling)
        return found

    def _packet_elements(self, source: End) -> list[int]:
        """Elements of the packets of a turn; empty = the source chooses them."""
        if self._lookup.ports[source.port].kind not in RATED:
            return []
        return [self._elements(source, each) for each in source.tilings] or [source.elements]

    def _elements(self, end: End, tiling: Tiling) -> int:
        return tiling_elements(tiling, self._lookup.dimensions(self._lookup.ports[end.port]))

    def _no_source(self, end: End, tiling: Tiling) -> DesignError:
        name, ids = self._lookup.label(end.port), ", ".join(str(way.merged) for way in self.ways)
        return _problem(
            name,
            str(tiling.packet_port_id) if tiling.packet_port_id >= 0 else "none",
            ids,
            f"a merge of inputs {ids} leads to {name}; each of its tilings must name one of them",
            "Give each tiling the packet_port_id of an input of the merge.",
        )

    def _broken(self, end: End, tiling: Tiling, elements: int, source: End, size: int) -> DesignError:
        name, other = self._lookup.label(end.port), self._lookup.label(source.port)
        return _problem(
            name,
            f"{elements:,} elements",
            f"a multiple of {size:,}",
            f"the tiling with packet_port_id {tiling.packet_port_id} takes {elements:,} elements; "
            f"a packet of {other} has {size:,}",
            "Let each tiling take whole packets.",
        )

    def _out_of_order(self, end: End) -> DesignError:
        name = self._lookup.label(end.port)
        inputs = {way.id: way.merged for way in self.ways}
        order = ", ".join(f"{packets} of input {inputs[number]}" for number, packets in self.order)
        return _problem(
            name,
            "tilings in another order",
            "whole rounds of the merge",
            f"packets arrive in rounds of {order}, and the tilings of {name} cannot be filled so, "
            "one after the other",
            "Let each tiling take the packets that one input sends in a row, and a turn whole rounds.",
        )


def _names_ports(end: End) -> bool:
    return any(tiling.packet_port_id >= 0 for tiling in end.tilings)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Where a packet is: at a port, by the output of a split that it chose and the last merge input."""

    port: int
    choice: int = -1
    merged: int = -1


def _ways(net: Net, lookup: Lookup) -> list[PacketWay]:
    """The ways of all sources, in the order of the inputs of a merge, then of the outputs of a split."""
    after = defaultdict(list)
    for number in net.connections:
        connection = lookup.connections[number]
        after[connection.source].append(connection.target)
    ends = {end.port: end for end in net.targets}
    found: dict[tuple[int, int, int], list[End]] = defaultdict(list)
    for number, source in enumerate(net.sources):
        waiting = [_Walk(source.port)]
        while waiting:
            walk = waiting.pop(0)
            if walk.port in ends:
                found[walk.merged, walk.choice, number].append(ends[walk.port])
            following = [replace(walk, port=target) for target in after[walk.port]]
            waiting.extend(further for step in following for further in _through(step, lookup))
    natural = [max(merged, choice, 0) for merged, choice, _ in sorted(found)]
    ids = natural if len(set(natural)) == len(natural) else range(len(natural))
    return [
        PacketWay(way, net.sources[number], tuple(found[merged, choice, number]), merged, choice)
        for way, (merged, choice, number) in zip(ids, sorted(found), strict=True)
    ]


def _through(walk: _Walk, lookup: Lookup) -> Iterator[_Walk]:
    """Out of a split or merge that a packet has come to; where it is anywhere else."""
    port = lookup.ports[walk.port]
    if port.kind != "packet":
        yield walk
        return
    passed = lookup.packets[port.owner]
    if passed.kind != "split":
        yield _Walk(passed.outputs[0], walk.choice, port.number)
    elif walk.merged >= 0:
        yield replace(walk, port=passed.outputs[walk.merged])
    else:
        yield from (replace(walk, port=out, choice=n) for n, out in enumerate(passed.outputs))


def _problem(where: str, given: str, allowed: str, says: str, step: str) -> DesignError:
    return DesignError.of(
        "packet_port_id", given, allowed, says, step, reason="adf_packets", where=where, source=_SOURCE
    )
