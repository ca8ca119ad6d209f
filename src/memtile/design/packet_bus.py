"""A packet bus: streams of packets that share links, told apart by the stream id in their headers.

Each stream goes from one MM2S channel to one or more S2MM channels. Ids are handed out in the order of the
streams. What they need of the switches on their way is ``packet_switches`` (AM020 chapter 2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtile.access.tiling import NO_PORT, TilingParameters
from memtile.arch.ports import PORTS
from memtile.bd.descriptor import Packet
from memtile.design.arguments import (
    Wrong,
    are_whole,
    as_row,
    as_truth,
    every,
    is_row,
    refuse,
    shown,
    text,
)
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.circuits import Circuits, End, port_of
from memtile.design.merge_order import Order, meets, merge_arbiters, merge_words, positions
from memtile.design.packet_ports import SOURCE as MERGE_SOURCE
from memtile.design.packet_ports import MergePlace
from memtile.design.packet_switches import IDS, SOURCE, Hop, packet_switch
from memtile.design.router import GraphPort, RouteDemand
from memtile.design.transfers import Transfer
from memtile.errors import DesignError, Problem, raise_if
from memtile.sim.doors.array_door import ArrayDoor


@dataclass(frozen=True, slots=True)
class PacketStream:
    """Packets with one id.

    Attributes:
        id: stream id in the header.
        source: the channel that sends them.
        flow: the way they go.
        targets: who gets them.
    """

    id: int
    source: End
    flow: RouteDemand
    targets: tuple[End, ...] = ()

    def packets(self, transfer: Transfer, kind: int = 0, *, bd: int = 0) -> Transfer:
        """The transfer with a header before each of its descriptors.

        Args:
            transfer: what to send.
            kind: the packet type.
            bd: BD that the header names for a receiver which was started out of order; see
                ``Channel.start_out_of_order``, and ``keep_headers`` of the bus.
        """
        tagged = transfer.mapped(lambda d: d.but(packet=Packet(self.id, kind), ooo_id=bd))
        once = tagged.once
        sent = replace(tagged, port=NO_PORT)
        return sent if once is None else replace(sent, once=lambda: replace(once(), port=NO_PORT))


def as_checked(
    name: str, routes: Sequence[Any], keep_headers: Any, ids: Any, order: Any
) -> tuple[Sequence[tuple[End, Sequence[End]]], bool | Sequence[End], Sequence[int] | None, Order]:
    """Routes, whose headers are kept, ids and order as a bus takes them: iterators as tuples.

    Raises:
        DesignError: something of a wrong type.
    """
    routes, ids, order, yes = (
        tuple(map(_as_route, routes)),
        as_row(ids),
        as_row(order),
        as_truth(keep_headers),
    )
    order = tuple(map(as_row, order)) if isinstance(order, tuple) else order
    kept = as_row(keep_headers) if yes is None else yes
    pair = "one pair of an end and a sequence of ends for each stream"
    refuse(
        f"packet bus {shown(name)}",
        text("name", name),
        every("routes", routes, _is_route, pair),
        None if ids is None or are_whole(ids) else Wrong("ids", shown(ids), "whole numbers or None"),
        every("order", order, lambda each: are_whole(each) and len(each) == 2, "pairs of whole numbers"),
        every("keep_headers", kept, _is_end, _KEPT) if yes is None else None,
    )
    return routes, kept, ids, order


def _is_end(given: object) -> bool:
    return isinstance(given, End)


def _as_route(given: Any) -> Any:
    """An end, and the ends that its packets go to as a tuple; anything else as it is."""
    return (given[0], as_row(given[1])) if is_row(given) and len(given) == _ROUTE else given


def _is_route(given: object) -> bool:
    """Whether something is an end and the ends that its packets go to."""
    return is_row(given) and len(given) == _ROUTE and isinstance(given[0], End) and is_row(given[1])


_KEPT = "True, False, or the ends that get headers"
_ROUTE = len(("source", "targets"))


class PacketBus:
    """Streams that share links; made by ``Array.packet_bus``.

    Args:
        name: for messages.
        circuits: where the ways are found.
        routes: per stream its source and its targets.
        keep_headers: leave the header in the stream for the receivers, or for some of them.
        ids: for each stream, the id in its headers; if omitted, the number of the stream.
        order: one round of a merge in a fixed order, see :mod:`~memtile.design.merge_order`; empty = streams
            that meet take turns as their packets come.

    Raises:
        DesignError: more streams than there are ids, or an end that others have.
    """

    def __init__(
        self,
        name: str,
        circuits: Circuits,
        routes: Iterable[tuple[End, Sequence[End]]],
        *,
        keep_headers: bool | Sequence[End],
        ids: Sequence[int] | None = None,
        order: Order = (),
    ) -> None:
        self.name, self._keep, self._order = f"packet bus {name}", keep_headers, order
        ways = list(routes)
        numbers = list(range(len(ways)) if ids is None else ids)
        self._check_ids(ways, numbers)
        self.streams = tuple(
            PacketStream(number, source, circuits.connect(source, targets, self.name), tuple(targets))
            for number, (source, targets) in zip(numbers, ways, strict=True)
        )

    @classmethod
    def restored(cls, name: str, streams: Iterable[PacketStream], *, keep_headers: bool) -> PacketBus:
        """A bus whose ways were found and configured already, in the array that this one goes on from."""
        bus = cls.__new__(cls)
        bus.name, bus._keep, bus._order, bus.streams = name, keep_headers, (), tuple(streams)
        return bus

    @property
    def keeps_headers(self) -> bool:
        """Whether receivers get the headers too: all, or those that were named."""
        return bool(self._keep)

    def conflicts(self) -> Iterator[Problem]:
        """Packets that a channel was given to send and whose id is that of another stream, or of none."""
        owners = {stream.id: stream for stream in self.streams}
        for source in dict.fromkeys(stream.source for stream in self.streams):
            mine = [stream.id for stream in self.streams if stream.source is source]
            for other in sorted(source.packets - set(mine), key=lambda n: -1 if n is None else n):
                given = "words without a header" if other is None else f"packets of id {other}"
                allowed = f"ids {', '.join(map(str, mine))}"
                yield Problem(
                    source.name,
                    given,
                    allowed,
                    f"{source.name} sends {given}; it must send packets of {allowed}",
                    f"Id {other} is that of {owners[other].flow}." if other in owners else "",
                    reason="packet_id",
                    where=self.name,
                    source=SOURCE,
                )

    def _check_ids(self, ways: Sequence[tuple[End, Sequence[End]]], ids: Sequence[int]) -> None:
        """Ids that are one for each stream, its own, and fit the header."""
        problems = []
        if len(ways) > IDS or len(ids) != len(ways):
            problems.append(
                Problem(
                    "streams",
                    f"{len(ways)} streams",
                    f"{IDS} ids" if len(ways) > IDS else f"{len(ids)} ids",
                    f"there are {len(ways)} streams, but only {IDS} ids"
                    if len(ways) > IDS
                    else f"there are {len(ways)} streams, but the number of ids is {len(ids)}; "
                    "each stream needs one",
                    reason="packet_ids",
                    where=self.name,
                    source=SOURCE,
                )
            )
        first: dict[int, str] = {}
        for number, (source, targets) in zip(ids, ways, strict=False):
            stream = f"{source.name} -> {', '.join(target.name for target in targets)}"
            if not 0 <= number < IDS and len(ways) <= IDS:
                problems.append(
                    Problem(
                        stream,
                        f"id {number}",
                        f"0..{IDS - 1}",
                        f"the id of {stream} is {number}, allowed are 0..{IDS - 1}",
                        reason="packet_id",
                        where=self.name,
                        source=SOURCE,
                    )
                )
            elif number in first:
                problems.append(
                    Problem(
                        stream,
                        f"id {number}",
                        "an id of its own",
                        f"the id of {stream} is {number}, which is that of {first[number]}",
                        "Give each stream an id of its own.",
                        reason="packet_id",
                        where=self.name,
                        source=SOURCE,
                    )
                )
            first.setdefault(number, stream)
        raise_if(problems, DesignError)

    def split(self, buffer: Buffer, tilings: Sequence[TilingParameters]) -> tuple[Transfer, ...]:
        """What the source reads of a buffer: per tiling the packets of the stream that it names.

        Args:
            buffer: of the source's tile.
            tilings: UG1603 tilings; ``packet_port_id`` is the number of the stream.

        Raises:
            DesignError: a port that is no stream of this bus.
            TransferError: a tiling that no descriptors can express.
        """
        chosen = self._of_ports(tilings)
        return tuple(stream.packets(stream.source.tile.read(buffer, tiling)) for stream, tiling in chosen)

    def merge(self, buffer: Buffer, tilings: Sequence[TilingParameters]) -> tuple[MergePlace, ...]:
        """Start the channel where the streams meet: it stores each packet as the tiling of its port says.

        Args:
            buffer: of the tile of that channel.
            tilings: UG1603 tilings, one for each packet; ``packet_port_id`` is the number of the stream. A
                stream of several packets has its port in as many tilings.

        Returns:
            Per tiling its place, which makes a packet for it of what the stream's source reads.

        Raises:
            DesignError: a port that is no stream of this bus, streams that do not end in one channel, a bus
                that drops headers; and as ``Channel.start_out_of_order``.
            TransferError: a tiling that no descriptors can express.
        """
        chosen = self._of_ports(tilings)
        ends = dict.fromkeys(end for stream, _ in chosen for end in stream.targets)
        channels = [end for end in ends if isinstance(end, Channel)]
        problems = []
        if len(ends) != 1 or len(channels) != 1:
            names = ", ".join(end.name for end in ends) or "no channel"
            says = f"the streams of the tilings end in {names}; a merge has one channel"
            problems.append(self._merge_problem("streams", names, "one channel", says))
        if self._keep is not True:
            says = "it drops the headers, by which the channel knows where a packet belongs"
            step = "Make it with keep_headers=True."
            problems.append(self._merge_problem("keep_headers", "False", "True", says, step))
        raise_if(problems, DesignError)
        (end,) = channels
        writes = [replace(end.tile.write(buffer, tiling), port=NO_PORT) for _, tiling in chosen]
        numbers = end.start_out_of_order(*writes, packets=len(writes))
        places = zip(chosen, numbers, writes, strict=True)
        return tuple(MergePlace(stream, bd, write.words) for (stream, _), bd, write in places)

    def _of_ports(self, tilings: Sequence[TilingParameters]) -> list[tuple[PacketStream, TilingParameters]]:
        """The stream that each tiling names."""
        count = len(self.streams)
        problems = [
            Problem(
                f"tiling {n}",
                f"packet_port_id {t.packet_port_id}",
                f"0..{count - 1}",
                f"the packet_port_id of tiling {n} is {t.packet_port_id}, allowed are 0..{count - 1}",
                reason="packet_port",
                where=self.name,
                source=SOURCE,
            )
            for n, t in enumerate(tilings)
            if not 0 <= t.packet_port_id < count
        ]
        raise_if(problems, DesignError)
        return [(self.streams[t.packet_port_id], t) for t in tilings]

    def _merge_problem(self, field: str, given: str, allowed: str, says: str, step: str = "") -> Problem:
        return Problem(
            field, given, allowed, says, step, reason="merge", where=self.name, source=MERGE_SOURCE
        )

    def configure(self, circuits: Circuits) -> None:
        """Write slots, arbiters and msels of every switch on the way.

        Raises:
            DesignError: a slave with too many streams, or a switch without an arbiter or msel left.
        """
        hops: defaultdict[tuple[int, int], list[Hop]] = defaultdict(list)
        for stream in self.streams:
            for port, before in circuits.trees[stream.flow].items():
                if port.is_master:
                    hops[port.column, port.row].append(Hop(before, stream.id, port))
        for place, each in hops.items():
            self._configure(circuits, place, each)

    def _configure(self, circuits: Circuits, place: tuple[int, int], hops: Sequence[Hop]) -> None:
        """Write the registers of one switch."""
        tile, free = hops[0].master.tile, circuits.free_arbiters(place)
        if self._order and meets(hops):
            free = merge_arbiters(free, hops[0].master.place)
        found = packet_switch(hops, free, self.name, self._kept(hops), joins=True)
        circuits.take_arbiters(place, found.arbiters, self.name)
        words = [*found.words(tile)]
        for arbiter, served in positions(hops, found, self._order).items():
            words += merge_words(tile, arbiter, served)
        for offset, value in words:
            circuits.door.write32(ArrayDoor.address(*place, PORTS[tile].base) + offset, value)

    def _kept(self, hops: Sequence[Hop]) -> dict[GraphPort, bool | None]:
        """By master whether it leaves headers in the stream; None = as its kind does."""
        if isinstance(self._keep, bool):
            return {hop.master: self._keep or None for hop in hops}
        ends = {port_of(end) for end in self._keep}
        return {hop.master: True if hop.master in ends else None for hop in hops}
