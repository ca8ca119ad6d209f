"""A packet bus: streams of packets that share links, told apart by the stream id in their headers.

Each stream goes from one MM2S channel to one or more S2MM channels. Ids are handed out in the order of the
streams. In every switch on the way each stream takes a slot of its slave port; streams that meet in a master
share an arbiter, and each set of masters of an arbiter takes an msel (AM020 chapter 2, AM025 slot and master
registers).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memtile.access.tiling import NO_PORT, TilingParameters
from memtile.arch import switch_registers
from memtile.arch.packets import STREAM_HEADER
from memtile.arch.ports import ARBITERS, MSELS, PORTS, SLOTS_PER_SLAVE, port_kind
from memtile.arch.registers import field_of, packed
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.bd.descriptor import Packet
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.circuits import Circuits, End
from memtile.design.packet_ports import SOURCE as MERGE_SOURCE
from memtile.design.packet_ports import MergePlace
from memtile.design.router import GraphPort, RouteDemand
from memtile.design.transfers import Transfer
from memtile.errors import DesignError, Problem, raise_if
from memtile.sim.doors.array_door import ArrayDoor

_SOURCE = "AM020 chapter 2: packet-switched streams"
_IDS = field_of(STREAM_HEADER, "Stream_ID").maximum + 1


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


class PacketBus:
    """Streams that share links; made by ``Array.packet_bus``.

    Args:
        name: for messages.
        circuits: where the ways are found.
        routes: per stream its source and its targets.
        keep_headers: leave the header in the stream for the receivers.
        ids: per stream the id in its headers; its number if omitted.
        shared_ids: streams may have one id: what comes to a port with it goes where any of them goes.

    Raises:
        DesignError: more streams than there are ids, or an end that others have.
    """

    def __init__(
        self,
        name: str,
        circuits: Circuits,
        routes: Iterable[tuple[End, Sequence[End]]],
        *,
        keep_headers: bool,
        ids: Sequence[int] | None = None,
        shared_ids: bool = False,
    ) -> None:
        self.name, self._keep = f"packet bus {name}", keep_headers
        ways = list(routes)
        numbers = list(range(len(ways)) if ids is None else ids)
        self._check_ids(ways, numbers, shared=shared_ids)
        self.streams = tuple(
            PacketStream(number, source, circuits.connect(source, targets, self.name), tuple(targets))
            for number, (source, targets) in zip(numbers, ways, strict=True)
        )

    @classmethod
    def restored(cls, name: str, streams: Iterable[PacketStream], *, keep_headers: bool) -> PacketBus:
        """A bus whose ways were found and configured already, in the array that this one goes on from."""
        bus = cls.__new__(cls)
        bus.name, bus._keep, bus.streams = name, keep_headers, tuple(streams)
        return bus

    @property
    def keeps_headers(self) -> bool:
        """Whether the receivers get the headers too."""
        return self._keep

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
                    source=_SOURCE,
                )

    def _check_ids(
        self, ways: Sequence[tuple[End, Sequence[End]]], ids: Sequence[int], *, shared: bool
    ) -> None:
        """Ids that are one for each stream, its own, and fit the header."""
        problems = []
        if len(ways) > _IDS or len(ids) != len(ways):
            problems.append(
                Problem(
                    "streams",
                    f"{len(ways)} streams",
                    f"{_IDS} ids" if len(ways) > _IDS else f"{len(ids)} ids",
                    f"there are {len(ways)} streams, but only {_IDS} ids"
                    if len(ways) > _IDS
                    else f"there are {len(ways)} streams, but the number of ids is {len(ids)}; "
                    "each stream needs one",
                    reason="packet_ids",
                    where=self.name,
                    source=_SOURCE,
                )
            )
        first: dict[int, str] = {}
        for number, (source, targets) in zip(ids, ways, strict=False):
            stream = f"{source.name} -> {', '.join(target.name for target in targets)}"
            if not 0 <= number < _IDS and len(ways) <= _IDS:
                problems.append(
                    Problem(
                        stream,
                        f"id {number}",
                        f"0..{_IDS - 1}",
                        f"the id of {stream} is {number}, allowed are 0..{_IDS - 1}",
                        reason="packet_id",
                        where=self.name,
                        source=_SOURCE,
                    )
                )
            elif number in first and not shared:
                problems.append(
                    Problem(
                        stream,
                        f"id {number}",
                        "an id of its own",
                        f"the id of {stream} is {number}, which is that of {first[number]}",
                        "Give each stream an id of its own.",
                        reason="packet_id",
                        where=self.name,
                        source=_SOURCE,
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
        if not self._keep:
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
                source=_SOURCE,
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
        ways: defaultdict[tuple[int, int], dict[tuple[GraphPort, int], set[GraphPort]]] = defaultdict(dict)
        for stream in self.streams:
            for port, before in circuits.trees[stream.flow].items():
                if port.is_master:
                    ways[port.column, port.row].setdefault((before, stream.id), set()).add(port)
        for place, hops in ways.items():
            at = ArrayDoor.address(*place, PORTS[next(iter(hops))[0].tile].base)
            for offset, value in self._registers(hops, circuits.arbiters(place)):
                circuits.door.write32(at + offset, value)

    def _registers(
        self, hops: Mapping[tuple[GraphPort, int], set[GraphPort]], arbiters: list[str]
    ) -> Iterator[tuple[int, int]]:
        groups = _groups(hops.values())
        problems = self._too_little(hops, groups, arbiters)
        raise_if(problems, DesignError)
        numbers = range(len(arbiters), len(arbiters) + len(groups))
        arbiters += [self.name] * len(groups)
        slots: defaultdict[GraphPort, int] = defaultdict(int)
        for number, group in zip(numbers, groups, strict=True):
            sets = _sets(hops, group)
            for master in sorted(group):
                mask = sum(1 << msel for msel, masters in enumerate(sets) if master in masters)
                yield _master(master, number, mask, drop=not self._keep and _is_end(master))
            for (slave, stream), masters in hops.items():
                if masters <= group:
                    yield _slot(slave, slots[slave], stream, sets.index(frozenset(masters)), number)
                    slots[slave] += 1
        for slave in slots:
            yield _slave(slave)

    def _too_little(
        self,
        hops: Mapping[tuple[GraphPort, int], set[GraphPort]],
        groups: Sequence[set[GraphPort]],
        arbiters: Sequence[str],
    ) -> list[Problem]:
        problems = []
        for slave in sorted({slave for slave, _ in hops}):
            count = sum(other == slave for other, _ in hops)
            if count > SLOTS_PER_SLAVE:
                problems.append(self._full(str(slave), f"{count} streams", f"{SLOTS_PER_SLAVE} slots"))
        place = next(iter(hops))[0].place
        if len(groups) + len(arbiters) > ARBITERS:
            others = f", some of them in use by {', '.join(sorted(set(arbiters)))}" if arbiters else ""
            problems.append(self._full(place, f"{len(groups)} more arbiters", f"{ARBITERS}{others}"))
        for group in groups:
            count = len(_sets(hops, group))
            if count > MSELS:
                problems.append(self._full(place, f"{count} sets of masters", f"{MSELS} msels of an arbiter"))
        return problems

    def _full(self, where: str, given: str, allowed: str) -> Problem:
        return Problem(
            where,
            given,
            allowed,
            f"{where} needs {given}; it has {allowed}",
            "Use two buses.",
            reason="packet_room",
            where=self.name,
            source=_SOURCE,
        )


def _groups(sets: Iterable[set[GraphPort]]) -> list[set[GraphPort]]:
    """Masters that need one arbiter because a stream joins them."""
    groups: list[set[GraphPort]] = []
    for masters in sets:
        touching = [group for group in groups if group & masters]
        groups = [group for group in groups if not group & masters] + [masters.union(*touching)]
    return groups


def _sets(
    hops: Mapping[tuple[GraphPort, int], set[GraphPort]], group: set[GraphPort]
) -> list[frozenset[GraphPort]]:
    """The different sets of masters within a group, in the order of the streams."""
    return list(dict.fromkeys(frozenset(masters) for masters in hops.values() if masters <= group))


def _is_end(master: GraphPort) -> bool:
    """Whether the words leave the switches there: to a DMA, or out of the array."""
    outward = TILE_KINDS[master.tile].role == "interface" and port_kind(master.name) == "SOUTH"
    return outward or port_kind(master.name) == "DMA"


def _master(port: GraphPort, arbiter: int, mask: int, *, drop: bool) -> tuple[int, int]:
    inner = packed(switch_registers.PACKET_CONFIGURATION, Msel_Enable=mask, Arbiter=arbiter)
    word = packed(
        switch_registers.MASTER_CONFIG,
        Master_Enable=1,
        Packet_Enable=1,
        Drop_Header=int(drop),
        Configuration=inner,
    )
    return PORTS[port.tile].master(port.name) * WORD_BYTES, word


def _slave(port: GraphPort) -> tuple[int, int]:
    index = PORTS[port.tile].slave(port.name)
    return switch_registers.SLAVE_CONFIG_OFFSET + index * WORD_BYTES, packed(
        switch_registers.SLAVE_CONFIG, Slave_Enable=1, Packet_Enable=1
    )


def _slot(port: GraphPort, number: int, stream: int, msel: int, arbiter: int) -> tuple[int, int]:
    index = PORTS[port.tile].slave(port.name) * SLOTS_PER_SLAVE + number
    word = packed(switch_registers.SLOT, id=stream, mask=_IDS - 1, enable=1, msel=msel, arbit=arbiter)
    return switch_registers.SLOT_OFFSET + index * WORD_BYTES, word
