"""The streams of a plan in an array: circuits, ways of packets, cascades, and what leads out of the array."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from memtile.adf.description import Plio
from memtile.adf.host_transfers import HostChannel
from memtile.adf.lookup import Lookup
from memtile.adf.plan import End, Net, Plan, Tile
from memtile.adf.plio_ports import InputPort, OutputPort, PlioPorts
from memtile.adf.pools import Mover
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.circuits import End as StreamEnd
from memtile.design.other_tiles import ComputeTile
from memtile.design.packet_bus import PacketStream
from memtile.errors import DesignError


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
        self.notes: list[str] = []

    def connect(self) -> None:
        """Connect all nets; those of the host first, whose channels the plan names.

        Raises:
            DesignError: a stream or a cascade that the array does not have, or packets that are not modelled.
        """
        for net in sorted(self._plan.nets, key=lambda net: not self._has_host_channel(net)):
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
        """Ways of a split by the id in the header, or those of a merge into one stream.

        Raises:
            DesignError: a merge whose order is fixed, or one that is split again.
        """
        kinds = {each.id: each.kind for each in self._plan.description.packets}
        if any(kinds[each] == "ordered_merge" for each in net.packets):
            raise not_modelled(net.name, "pktorderedmerge", "pktmerge, where the order does not matter")
        ways: defaultdict[int, list[End]] = defaultdict(list)
        for target in net.targets:
            ways[target.branch].append(target)
        if len(net.sources) > 1 and len(ways) > 1:
            raise not_modelled(net.name, "a pktmerge into a pktsplit", "a kernel between the two")
        sources = [self._end(net, each, receives=False) for each in net.sources]
        targets = [[self._end(net, each, receives=True) for each in ends] for _, ends in sorted(ways.items())]
        if len({isinstance(end, Channel) for ends in targets for end in ends}) > 1:
            allowed = "one kind of ports behind a pktsplit"
            raise not_modelled(net.name, "packets to buffers and to streams", allowed)
        self._make_bus(net, [(source, ends) for source in sources for ends in targets])

    def _make_bus(self, net: Net, routes: Sequence[tuple[StreamEnd, Sequence[StreamEnd]]]) -> None:
        """A packet bus; headers end at buffers, and stay in streams (UG1603, Packet Processing)."""
        merges = len(net.sources) > 1
        split = {target.branch: target.packet_id for target in net.targets}
        ids = [end.packet_id for end in net.sources] if merges else [split[way] for way in sorted(split)]
        keeps = not isinstance(routes[0][1][0], Channel)
        streams = self._array.packet_bus(net.name, *routes, ids=ids, keep_headers=keeps).streams
        for number, source in enumerate(net.sources):
            mine = streams[number : number + 1] if merges else streams
            self.streams[source.port] = mine
            self.packet_ids[source.port] = tuple(each.id for each in mine)
        for target in net.targets:
            self.packet_ids[target.port] = tuple(ids) if merges else (target.packet_id,)

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


def not_modelled(name: str, what: str, instead: str) -> DesignError:
    """The refusal of what a graph asks for and the model has not.

    Args:
        name: of the object of the graph.
        what: it asks for.
        instead: what it could do.
    """
    return DesignError.of(
        "graph",
        what,
        instead,
        f"memtile does not run {what}",
        f"Use {instead}.",
        reason="adf_not_modelled",
        where=name,
        source="docs/adf.md",
    )
