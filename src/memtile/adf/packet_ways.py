"""Which way the packets of a net go, in which order they merge, and which tiling each of them is for.

The stream switches merge in a programmed order what a ``pktorderedmerge`` takes, and what has a target whose
tilings name inputs by ``packet_port_id`` (DEV-ADF-100, DEV-ADF-101): it is known whose packet comes next, and
the tilings of a turn follow each other in the order of arrival.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """

    id: int
    source: End
    targets: tuple[End, ...]


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
        self._merges = bool(merges)
        self.ways = tuple(sorted(_ways(net, passed), key=lambda way: way.id))
        self._named = [end for end in net.targets if self._merges and _names_ports(end)]
        self.order = self._order(merges)

    def ids_at(self, end: End) -> tuple[int, ...]:
        """The identifiers that an end sends or gets."""
        return tuple(way.id for way in self.ways if end is way.source or end in way.targets)

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
            tiling = next((each for each in left if each.packet_port_id == number), None)
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
            return tuple((way.id, counts[way.id]) for way in self.ways)
        if not self._named:
            return ()
        end = self._named[0]
        return tuple((each.packet_port_id, self._packets(end, each)) for each in end.tilings)

    def _packets(self, end: End, tiling: Tiling) -> int:
        """Packets that fill a tiling: blocks of a source with buffers, one of any other.

        Raises:
            DesignError: no such source, or no whole number of its packets.
        """
        source = next((way.source for way in self.ways if way.id == tiling.packet_port_id), None)
        if source is None:
            raise self._no_source(end, tiling)
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

    def _packet_elements(self, source: End) -> list[int]:
        """Elements of the packets of a turn; empty = the source chooses them."""
        if self._lookup.ports[source.port].kind not in RATED:
            return []
        return [self._elements(source, each) for each in source.tilings] or [source.elements]

    def _elements(self, end: End, tiling: Tiling) -> int:
        return tiling_elements(tiling, self._lookup.dimensions(self._lookup.ports[end.port]))

    def _no_source(self, end: End, tiling: Tiling) -> DesignError:
        name, ids = self._lookup.label(end.port), ", ".join(str(way.id) for way in self.ways)
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
        order = ", ".join(f"{packets} of input {number}" for number, packets in self.order)
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


def _ways(net: Net, passed: Sequence[Packets]) -> Iterator[PacketWay]:
    """Behind a split by the ways of its outputs; of a merge alone all to its targets."""
    if not any(each.kind == "split" for each in passed):
        yield from (PacketWay(max(end.branch, 0), end, net.targets) for end in net.sources)
        return
    behind = defaultdict(list)
    for target in net.targets:
        behind[target.branch].append(target)
    senders = {end.branch: end for end in net.sources}
    for branch, targets in behind.items():
        yield PacketWay(branch, senders.get(branch, net.sources[0]), tuple(targets))


def _problem(where: str, given: str, allowed: str, says: str, step: str) -> DesignError:
    return DesignError.of(
        "packet_port_id", given, allowed, says, step, reason="adf_packets", where=where, source=_SOURCE
    )
