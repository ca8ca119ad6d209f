"""A plan as an array: buffers at their places, locks, rings of descriptors, circuits, cascades, kernels.

Everything has the user's name, so that results and findings speak of the graph's objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from memtile.access.lowering.lower import Access
from memtile.adf.buffer_turns import Turn, buffer_turns
from memtile.adf.core_loop import (
    BufferPort,
    CoreState,
    KernelPort,
    KernelTurns,
    MakeCaller,
    ParameterPort,
    StreamLink,
)
from memtile.adf.description import Plio
from memtile.adf.host_transfers import HostChannel
from memtile.adf.lookup import Lookup
from memtile.adf.parameters import parameter_port
from memtile.adf.plan import Blocks, End, Net, Plan, PlannedKernel, Tile
from memtile.adf.plio_ports import InputPort, OutputPort, PlioPorts
from memtile.adf.port_transfers import as_packet, guarded, start_ring, turn_transfers
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.circuits import End as StreamEnd
from memtile.design.other_tiles import ComputeTile
from memtile.design.packet_bus import PacketStream
from memtile.design.transfers import Transfer
from memtile.errors import DesignError, Problem, raise_if

_SOURCE = "plan of a graph"
ELEMENTS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_SIDES = ("ping", "pong")
_LINKS = ("stream", "cascade", "packet_stream")


@dataclass(frozen=True, slots=True)
class Mover:
    """A DMA channel that fills or empties buffers: one end of a net.

    Attributes:
        net: the net.
        end: its end.
        receives: it is a target, whose channel writes buffers.
    """

    net: Net
    end: End
    receives: bool


@dataclass(slots=True)
class Pool:
    """Buffers, and who fills and empties them.

    Attributes:
        name: of the port or memory object that they belong to.
        blocks: where they are.
        writers: kernels' ports by id, and movers.
        readers: the same.
    """

    name: str
    blocks: Blocks
    writers: list[int | Mover] = field(default_factory=list)
    readers: list[int | Mover] = field(default_factory=list)
    buffers: tuple[Buffer, ...] = ()
    shape: tuple[int, ...] = ()
    element_bytes: int = 1
    margin: int = 0  # bytes
    initial: bytes = b""

    @property
    def data(self) -> tuple[Buffer, ...]:
        """The buffers without margins, in the shape and with the elements of the port."""
        return tuple(
            replace(
                each,
                offset=each.offset + self.margin,
                shape=self.shape,
                dtype=np.dtype(ELEMENTS[self.element_bytes]),
            )
            for each in self.buffers
        )


@dataclass(frozen=True, slots=True)
class Fill:
    """A reader of a buffer that no port writes: it begins with a run.

    Attributes:
        channel: that reads it.
        work: of one turn.
        turns: in one iteration.
    """

    channel: Channel
    work: tuple[Transfer | Descriptor, ...]
    turns: int


@dataclass(slots=True)
class Lowered:
    """A graph in an array, ready to run.

    Attributes:
        plan: that it was made of.
        objects: of the description.
        array: the array.
        cores: of each tile with kernels.
        inputs: by id of the PLIO.
        outputs: by id of the PLIO.
        host_channels: by id of the GMIO, or of the port of an external buffer.
        fills: of buffers that no port writes.
        memories: shared buffers by id.
        parameters: by id of the kernel's port.
        notes: what the model leaves out, one sentence each.
    """

    plan: Plan
    objects: Lookup
    array: Array
    cores: dict[Tile, CoreState] = field(default_factory=dict)
    inputs: dict[int, InputPort] = field(default_factory=dict)
    outputs: dict[int, OutputPort] = field(default_factory=dict)
    host_channels: dict[int, HostChannel] = field(default_factory=dict)
    fills: list[Fill] = field(default_factory=list)
    memories: dict[int, Pool] = field(default_factory=dict)
    parameters: dict[int, ParameterPort] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def lower(plan: Plan, make: MakeCaller, plio_ports: PlioPorts) -> Lowered:
    """The array of a plan.

    Args:
        plan: where everything goes.
        make: makes the calls of kernels.
        plio_ports: makes the streams of the programmable logic.

    Raises:
        DesignError: locks, descriptors or streams that the tiles do not have, by the graph's names.
        TransferError: a tiling that no descriptors can express.
    """
    return _Lowering(plan, make, plio_ports).done()


class _Lowering:
    """One lowering; see :func:`lower`."""

    def __init__(self, plan: Plan, make: MakeCaller, plio_ports: PlioPorts) -> None:
        self._objects, self._plan = Lookup(plan.description), plan
        array = Array(plan.device, columns=plan.columns)
        self._made = Lowered(plan, self._objects, array)
        self._make, self._plio_ports, self._array = make, plio_ports, array
        self._pools: dict[tuple[Tile, tuple[int, ...]], Pool] = {}
        self._tiles = {each.kernel: each.tile for each in plan.kernels}
        self._turns: dict[tuple[int, int], tuple[Turn, ...]] = {}  # of kernels' ports, by pool and port
        self._ports: dict[int, KernelPort] = {}
        self._streams: dict[int, Sequence[PacketStream]] = {}  # of sources of packets, by port
        self._packet_ids: dict[int, tuple[int, ...]] = {}

    def done(self) -> Lowered:
        """Everything in its order: stacks, buffers, locks and rings, streams, kernels."""
        self._reserve_stacks()
        nets = sorted(self._plan.nets, key=lambda net: not self._has_host_channel(net))
        for net in nets:
            self._connect(net)
        for net in self._plan.nets:
            self._claim_pools(net)
        for pool in self._pools.values():
            self._make_buffers(pool)
        for pool in self._pools.values():
            self._make_turns(pool)
        self._make_cores()
        return self._made

    # places ----------------------------------------------------------------------------------------------

    def _reserve_stacks(self) -> None:
        """Stacks are part of the plan's places, which leave room for them: only buffers are declared."""
        for tile in dict.fromkeys(each.tile for each in self._plan.kernels):
            self._array.compute_tile(*tile).reserve(stack=0, heap=0)

    def _claim_pools(self, net: Net) -> None:
        """Find the buffers at both ends of a net, and who uses them."""
        if net.transport == "memory":
            self._claim_shared(net)
            return
        for ends, is_target in ((net.sources, False), (net.targets, True)):
            for end in ends:
                blocks = self._blocks(end)
                if blocks is not None:
                    pool = self._pool(end, blocks)
                    (pool.writers if is_target else pool.readers).append(Mover(net, end, is_target))
                    self._add_kernel(pool, end.port, writes=not is_target)

    def _claim_shared(self, net: Net) -> None:
        """Buffers that kernels at both ends reach: those of the target, or else of the source."""
        (source,) = net.sources
        for target in net.targets:
            blocks = target.blocks or source.blocks
            assert blocks is not None
            pool = self._pool(target if target.blocks else source, blocks)
            self._add_kernel(pool, source.port, writes=True)
            self._add_kernel(pool, target.port, writes=False)

    def _add_kernel(self, pool: Pool, port: int, *, writes: bool) -> None:
        users = pool.writers if writes else pool.readers
        if self._objects.kernel_of(port) is not None and port not in users:
            users.append(port)

    def _blocks(self, end: End) -> Blocks | None:
        """Buffers at an end; of a memory object its own."""
        memory = self._objects.memory_of(end.port)
        if memory is None:
            return end.blocks
        planned = {each.memory: each for each in self._plan.memories}[memory.id]
        return planned.blocks

    def _pool(self, end: End, blocks: Blocks) -> Pool:
        key = blocks.tile, (*blocks.offsets, *(n for tile in blocks.tiles for n in tile))
        if key not in self._pools:
            self._pools[key] = self._new_pool(end, blocks)
        return self._pools[key]

    def _new_pool(self, end: End, blocks: Blocks) -> Pool:
        memory, port = self._objects.memory_of(end.port), self._objects.ports[end.port]
        if memory is not None:
            found = Pool(memory.name, blocks)
            found.shape, found.element_bytes = tuple(reversed(memory.dimensions)), memory.element_bytes
            found.initial = bytes.fromhex(memory.initial)
            self._made.memories[memory.id] = found
            return found
        found = Pool(port.name, blocks)
        found.element_bytes = port.element_bytes or 1
        found.margin = port.margin * found.element_bytes
        elements = (blocks.nbytes - found.margin) // found.element_bytes
        whole = prod(port.dimensions) == elements
        found.shape = tuple(reversed(port.dimensions)) if port.dimensions and whole else (elements,)
        return found

    def _make_buffers(self, pool: Pool) -> None:
        """Declare the bytes of a pool where the plan has them."""
        blocks = pool.blocks
        raise_if(list(_problems(pool)), DesignError)
        tiles = blocks.tiles or (blocks.tile,) * len(blocks.offsets)
        names = [pool.name] if len(tiles) == 1 else [f"{pool.name} {side}" for side in _SIDES]
        pool.buffers = tuple(
            self._array.tile(*tile).buffer(name, -(-blocks.nbytes // 4), np.uint32, at=offset)
            for name, tile, offset in zip(names, tiles, blocks.offsets, strict=True)
        )
        for buffer in pool.buffers if pool.initial else ():
            words = np.zeros(buffer.words, np.uint32)
            words.view(np.uint8)[: len(pool.initial)] = np.frombuffer(pool.initial, np.uint8)
            self._array.tile(*pool.blocks.tile).store(buffer, words)

    # locks and rings -------------------------------------------------------------------------------------

    def _make_turns(self, pool: Pool) -> None:
        """Make the locks of a pool, and start the channels that fill and empty it."""
        users = [*pool.writers, *pool.readers]
        cores = {self._core_of(user) for user in users if isinstance(user, int)}
        if len(cores) == 1 and not any(isinstance(user, Mover) for user in users):
            for user in users:
                if isinstance(user, int):
                    self._keep_port(pool, user, ())
            return
        tile = self._array.tile(*pool.blocks.tile)
        writers, readers = (
            _unique(
                [self._objects.ports[user if isinstance(user, int) else user.end.port].name for user in side]
            )
            for side in (pool.writers, pool.readers)
        )
        turns = buffer_turns(tile, pool.name, writers, readers, len(pool.buffers))
        for user, mine in zip(users, (*turns.writers, *turns.readers), strict=True):
            self._keep_port(pool, user, mine) if isinstance(user, int) else self._ring(pool, user, mine)

    def _core_of(self, port: int) -> Tile:
        kernel = self._objects.kernel_of(port)
        assert kernel is not None
        return self._tiles[kernel.id]

    def _ring(self, pool: Pool, mover: Mover, turns: Sequence[Turn]) -> None:
        """Start the channel of an end on its turns, without end."""
        channel = self._channel(mover)
        name = self._objects.name(mover.end.port)
        work = [
            guarded(channel.tile, self._turn(mover, channel, buffer), turn)
            for buffer, turn in zip(pool.data, turns, strict=True)
        ]
        if turns[0].acquire is None and not mover.receives:  # of a buffer that only the host fills
            planned = {each.memory: each for each in self._plan.memories}
            memory = self._objects.memory_of(mover.end.port)
            per_iteration = planned[memory.id].turns if memory is not None else 1
            self._made.fills.append(Fill(channel.named(name), work[0], per_iteration))
            return
        start_ring(channel, name, work)
        if mover.net.packets:  # descriptors without a header go on with the packet before
            channel.packets -= {None}

    def _turn(self, mover: Mover, channel: Channel, buffer: Buffer) -> tuple[Transfer, ...]:
        """What the end of a net moves in one turn, as packets where its net has some."""
        access: Access = "write" if channel.receives else "read"
        tilings = mover.end.tilings
        found = turn_transfers(channel.tile, buffer, tilings, access)
        if not mover.net.packets:
            return found
        if channel.receives:
            if any(each.packet_port_id >= 0 for each in tilings):
                raise _unordered_merge(self._objects.name(mover.end.port))
            return found
        streams = self._streams[mover.end.port]
        ports = [each.packet_port_id for each in tilings] or [-1]
        if len(streams) > 1 and min(ports) < 0:
            raise _no_way(self._objects.name(mover.end.port), len(streams))
        return tuple(
            as_packet(streams[max(port, 0) if len(streams) > 1 else 0], each)
            for port, each in zip(ports, found, strict=True)
        )

    def _channel(self, mover: Mover) -> Channel:
        end, blocks = mover.end, self._blocks(mover.end)
        is_memory = self._objects.memory_of(end.port) is not None
        place = end.tile if is_memory or blocks is None else blocks.tile
        tile = self._array.tile(*place)
        return (tile.s2mm if mover.receives else tile.mm2s)[end.channel]

    def _keep_port(self, pool: Pool, port: int, turns: tuple[Turn, ...]) -> None:
        described = self._objects.ports[port]
        writes = described.direction != "in"
        seen = pool.buffers if not writes or not pool.margin else pool.data
        if port in self._ports:
            raise _several_buffers(described.name)
        self._ports[port] = BufferPort(
            described.name,
            tuple(seen),
            turns,
            margin=0 if writes else pool.margin,
            writes=writes,
            is_async=described.kind == "async_buffer" or (described.is_async and described.kind == "buffer"),
            place="" if turns else f"{pool.blocks.tile} {pool.blocks.offsets}",
        )

    # streams ---------------------------------------------------------------------------------------------

    def _connect(self, net: Net) -> None:
        if net.transport == "memory":
            return
        if net.transport == "cascade":
            for source, target in zip(net.sources, net.targets, strict=True):
                self._core(source.tile).cascade_to(self._core(target.tile))
            return
        if net.fifo_depth:
            self._made.notes.append(
                f"fifo_depth of {net.name} is left out: the switches' own buffers hold less"
            )
        if net.packets:
            self._connect_packets(net)
            return
        (source,) = net.sources
        self._array.connect(
            self._stream_end(net, source, receives=False),
            *(self._stream_end(net, target, receives=True) for target in net.targets),
        )

    def _connect_packets(self, net: Net) -> None:
        """Ways of a split by the id in the header, or those of a merge into one stream.

        Raises:
            DesignError: a merge whose order is fixed, or one that is split again.
        """
        kinds = {each.id: each.kind for each in self._plan.description.packets}
        if any(kinds[each] == "ordered_merge" for each in net.packets):
            raise _not_modelled(net.name, "pktorderedmerge", "pktmerge, where the order does not matter")
        ways = defaultdict(list)
        for target in net.targets:
            ways[target.branch].append(target)
        if len(net.sources) > 1 and len(ways) > 1:
            raise _not_modelled(net.name, "a pktmerge into a pktsplit", "a kernel between the two")
        sources = [self._stream_end(net, each, receives=False) for each in net.sources]
        targets = {
            branch: [self._stream_end(net, each, receives=True) for each in ends]
            for branch, ends in sorted(ways.items())
        }
        routes = [(source, ends) for source in sources for ends in targets.values()]
        ids = [
            end.packet_id
            for end in (net.sources if len(sources) > 1 else [w[0] for _, w in sorted(ways.items())])
        ]
        is_dma = {isinstance(end, Channel) for ends in targets.values() for end in ends}
        if len(is_dma) > 1:
            raise _not_modelled(
                net.name, "packets to buffers and to streams", "one kind of ports behind a pktsplit"
            )
        bus = self._array.packet_bus(net.name, *routes, ids=ids, keep_headers=not is_dma.pop())
        for number, source in enumerate(net.sources):
            mine = bus.streams if len(sources) == 1 else bus.streams[number : number + 1]
            self._streams[source.port] = mine
            self._packet_ids[source.port] = tuple(each.id for each in mine)
        for target in net.targets:
            self._packet_ids[target.port] = tuple(ids) if len(sources) > 1 else (target.packet_id,)

    def _has_host_channel(self, net: Net) -> bool:
        """Whether a net begins or ends at a channel that the host gives tasks."""
        return any(
            self._objects.gmio_of(end.port) is not None or self._is_external(end)
            for end in (*net.sources, *net.targets)
        )

    def _is_external(self, end: End) -> bool:
        memory = self._objects.memory_of(end.port)
        return memory is not None and memory.external

    def _core(self, tile: Tile) -> ComputeTile:
        return self._array.compute_tile(*tile)

    def _stream_end(self, net: Net, end: End, *, receives: bool) -> StreamEnd:
        """The channel or the switch port at an end of a net."""
        plio, gmio = self._objects.plio_of(end.port), self._objects.gmio_of(end.port)
        if plio is not None:
            return self._plio_end(plio, end, receives=receives)
        if gmio is not None or self._is_external(end):
            outer = self._array.interface_tile(end.tile[0])
            channel = (outer.s2mm if receives else outer.mm2s)[end.channel]
            name = self._objects.name(end.port)
            channel.named(name).claimed = True
            self._made.host_channels[end.port if gmio is None else gmio.id] = HostChannel(
                name, channel, end, gmio
            )
            return channel
        if end.channel < 0:
            core = self._core(end.tile)
            return core.stream_in if receives else core.stream_out
        return self._channel(Mover(net, end, receives))

    def _plio_end(self, plio: Plio, end: End, *, receives: bool) -> StreamEnd:
        """Where the stream of a PLIO begins or ends."""
        if receives:
            output = self._plio_ports.output(self._array, plio, end)
            self._made.outputs[plio.id] = output
            return output.end
        made = self._plio_ports.input(self._array, plio, end)
        self._made.inputs[plio.id] = made
        return made.end

    # kernels ---------------------------------------------------------------------------------------------

    def _make_cores(self) -> None:
        by_tile: defaultdict[Tile, list[PlannedKernel]] = defaultdict(list)
        for planned in sorted(self._plan.kernels, key=lambda each: each.order):
            by_tile[planned.tile].append(planned)
        for tile, mine in by_tile.items():
            kernels = tuple(self._kernel_turns(each) for each in mine)
            self._made.cores[tile] = CoreState(kernels, self._make)

    def _kernel_turns(self, planned: PlannedKernel) -> KernelTurns:
        kernel = self._objects.kernels[planned.kernel]
        ports = tuple(self._kernel_port(port) for port in kernel.ports)
        return KernelTurns(kernel.id, kernel.name, planned.repetition, ports)

    def _kernel_port(self, port: int) -> KernelPort:
        described = self._objects.ports[port]
        if port in self._ports:
            return self._ports[port]
        if port in self._plan.parameters:
            made = parameter_port(self._array, described, self._plan.parameters[port])
            self._made.parameters[port] = made
            return made
        if described.kind in _LINKS:
            return StreamLink(described.name, self._packet_ids.get(port, ()))
        raise DesignError.of(
            "port",
            "without buffers",
            "a port with a place in the plan",
            f"{described.name} has no buffers in the plan",
            "Connect it.",
            reason="adf_port",
            where=described.name,
            source=_SOURCE,
        )


def _unique(names: Sequence[str]) -> list[str]:
    """Names that several have get numbers: locks of a tile have names of their own."""
    counts = {name: names.count(name) for name in names}
    seen: defaultdict[str, int] = defaultdict(int)
    found = []
    for name in names:
        found.append(name if counts[name] == 1 else f"{name}#{seen[name]}")
        seen[name] += 1
    return found


def _problems(pool: Pool) -> Iterator[Problem]:
    if pool.element_bytes not in ELEMENTS:
        sizes = ", ".join(map(str, ELEMENTS))
        yield Problem(
            "element",
            f"{pool.element_bytes} bytes",
            f"{sizes} bytes",
            f"an element has {pool.element_bytes} bytes; it must have {sizes}",
            reason="adf_element",
            where=pool.name,
            source="AM020: 32-bit words",
        )


def _several_buffers(name: str) -> DesignError:
    return DesignError.of(
        "buffers",
        "at several places",
        "one place",
        f"the output {name} would have to be written at several places",
        "Let all kernels that read it use the same buffer, or go by streams.",
        reason="adf_places",
        where=name,
        source=_SOURCE,
    )


def _unordered_merge(name: str) -> DesignError:
    return _not_modelled(
        name, "packet_port_id of what a pktmerge writes", "one tiling without it, in arrival order"
    )


def _no_way(name: str, ways: int) -> DesignError:
    return DesignError.of(
        "packet_port_id",
        "none",
        f"0..{ways - 1}",
        f"a pktsplit of {ways} ways follows, and a tiling of {name} does not say which way it goes",
        "Give each tiling of the port a packet_port_id.",
        reason="adf_packets",
        where=name,
        source="UG1603: tiling parameters",
    )


def _not_modelled(name: str, what: str, instead: str) -> DesignError:
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
