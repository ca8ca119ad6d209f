"""The streams of a plan in an array: circuits, ways of packets, cascades, and what leads out of the array."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtile.adf.description import Plio
from memtile.adf.host_transfers import HostChannel
from memtile.adf.lookup import Lookup
from memtile.adf.packet_ways import PacketWays
from memtile.adf.plan import End, Net, Plan, Tile
from memtile.adf.plio_ports import InputPort, OutputPort, PlioPorts
from memtile.adf.pools import Mover
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.circuits import End as StreamEnd
from memtile.design.other_tiles import ComputeTile
from memtile.design.packet_bus import PacketStream


class StreamNets:
    """Connects the nets of a plan.

    Args:
        array: to connect in.
        plan: with the nets.
        lookup: of its description.
        plio_ports: makes the streams of the programmable logic.
        place_of: the tile whose DMA a mover is.

    Attributes:
        inputs: PLIOs that send, by id.
        outputs: PLIOs that receive, by id.
        host_channels: by id of the GMIO, or of the port of an external buffer.
        streams: of sources of packets, by port.
        packet_ids: that a port sends or gets, by port.
        ways: of nets with packets, by their connections.
        notes: what is left out, one sentence each.
    """

    def __init__(
        self,
        array: Array,
        plan: Plan,
        lookup: Lookup,
        plio_ports: PlioPorts,
        place_of: Callable[[Mover], Tile],
    ) -> None:
        self._array, self._plan, self._lookup = array, plan, lookup
        self._plio_ports, self._place_of = plio_ports, place_of
        self.inputs: dict[int, InputPort] = {}
        self.outputs: dict[int, OutputPort] = {}
        self.host_channels: dict[int, HostChannel] = {}
        self.streams: dict[int, Sequence[PacketStream]] = {}
        self.packet_ids: dict[int, tuple[int, ...]] = {}
        self.ways = {net.connections: PacketWays(net, lookup) for net in plan.nets if net.packets}
        self.notes: list[str] = []

    def connect(self) -> None:
        """Connect all nets: those of the host first, whose channels the plan names, then ordered merges.

        Raises:
            DesignError: a stream or a cascade that the array does not have, or packets in an order that it
                cannot keep.
        """
        for net in sorted(self._plan.nets, key=self._turn):
            if net.fifo_depth:
                self.notes.append(
                    f"fifo_depth of {net.name} is left out: its stream has the buffers of the switches alone"
                )
            if net.transport == "cascade":
                for source, target in zip(net.sources, net.targets, strict=True):
                    self._core(source.tile).cascade_to(self._core(target.tile))
            elif net.packets:
                self._connect_packets(net)
            elif net.transport == "stream":
                (begin,) = net.sources
                targets = [self._end(net, target, receives=True) for target in net.targets]
                self._array.connect(self._end(net, begin, receives=False), *targets)

    def channel(self, mover: Mover) -> Channel:
        """The DMA channel of a mover."""
        tile = self._array.tile(*self._place_of(mover))
        return (tile.s2mm if mover.receives else tile.mm2s)[mover.end.channel]

    def _connect_packets(self, net: Net) -> None:
        """A packet bus; headers end at buffers, and stay in streams (UG1603, Packet Processing)."""
        made = self.ways[net.connections]
        ends = {id(end): self._end(net, end, receives=False) for end in net.sources}
        ends |= {id(end): self._end(net, end, receives=True) for end in net.targets}
        routes = [(ends[id(way.source)], [ends[id(end)] for end in way.targets]) for way in made.ways]
        keep = [ends[id(end)] for end in net.targets if not isinstance(ends[id(end)], Channel)]
        ids = [way.id for way in made.ways]
        bus = self._array.packet_bus(net.name, *routes, ids=ids, keep_headers=keep, order=made.order)
        streams = dict(zip(ids, bus.streams, strict=True))
        for end in net.sources:
            self.streams[end.port] = [streams[way.id] for way in made.sent_by(end)]
            self.packet_ids[end.port] = tuple(way.id for way in made.sent_by(end))
        for end in net.targets:
            self.packet_ids[end.port] = tuple(way.id for way in made.got_by(end))

    def _turn(self, net: Net) -> tuple[bool, bool]:
        """Nets of the host before others, and those whose order takes an arbiter that few can be."""
        return not self._has_host_channel(net), not (net.packets and self.ways[net.connections].order)

    def _core(self, tile: Tile) -> ComputeTile:
        return self._array.compute_tile(*tile)

    def _has_host_channel(self, net: Net) -> bool:
        """Whether a net begins or ends at a channel that the host gives tasks."""
        return any(self._is_of_host(end) for end in (*net.sources, *net.targets))

    def _is_of_host(self, end: End) -> bool:
        memory = self._lookup.memory_at(end.port)
        return self._lookup.gmio_at(end.port) is not None or (memory is not None and memory.external)

    def _end(self, net: Net, end: End, *, receives: bool) -> StreamEnd:
        """The channel or the switch port at an end of a net."""
        plio = self._lookup.plio_at(end.port)
        if plio is not None:
            return self._plio_end(plio, end, receives=receives)
        if self._is_of_host(end):
            return self._host_end(end, receives=receives)
        if end.channel < 0:
            core = self._core(end.tile)
            return core.stream_in if receives else core.stream_out
        return self.channel(Mover(net, end, receives))

    def _host_end(self, end: End, *, receives: bool) -> Channel:
        """The channel of an interface tile that the host gives tasks."""
        tile, name = self._array.interface_tile(end.tile[0]), self._lookup.label(end.port)
        channel = (tile.s2mm if receives else tile.mm2s)[end.channel].named(name)
        channel.claimed = True
        gmio = self._lookup.gmio_at(end.port)
        number = end.port if gmio is None else gmio.id
        self.host_channels[number] = HostChannel(name, channel, end, gmio)
        return channel

    def _plio_end(self, plio: Plio, end: End, *, receives: bool) -> StreamEnd:
        """Where the stream of a PLIO begins or ends."""
        if receives:
            output = self._plio_ports.output(self._array, plio, end)
            self.outputs[plio.id] = output
            return output.end
        made = self._plio_ports.input(self._array, plio, end)
        self.inputs[plio.id] = made
        return made.end
