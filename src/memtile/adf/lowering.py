"""A plan as an array: buffers at their places, locks, rings of descriptors, streams, kernels.

Everything has the user's name, so that results and findings speak of the graph's objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memtile.access.lowering.lower import Access
from memtile.access.tiling import NO_PORT
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
from memtile.adf.host_transfers import HostChannel
from memtile.adf.lookup import Lookup
from memtile.adf.parameters import parameter_port
from memtile.adf.plan import Net, Plan, PlannedKernel, Tile
from memtile.adf.plio_ports import InputPort, OutputPort, PlioPorts
from memtile.adf.pools import Mover, Pool, Pools, User
from memtile.adf.port_transfers import as_packet, guarded, start_ring, turn_transfers
from memtile.adf.stream_nets import StreamNets
from memtile.adf.unwritten import unread_writes, unwritten_reads
from memtile.arch.tiles import WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel, said_at
from memtile.design.transfers import Transfer
from memtile.errors import DesignError
from memtile.explain.findings import Finding

_SOURCE = "plan of a graph"
_LINKS = ("stream", "cascade", "packet_stream")


@dataclass(frozen=True, slots=True)
class Fill:
    """A reader of a buffer that no port writes: it begins with a run.

    Attributes:
        channel: that reads it.
        work: of one turn.
        turns: in one iteration.
        graph: of the buffer.
    """

    channel: Channel
    work: tuple[Transfer | Descriptor, ...]
    turns: int
    graph: int


@dataclass(slots=True)
class Lowered:
    """A graph in an array, ready to run.

    Attributes:
        plan: that it was made of.
        lookup: of its description.
        array: the array.
        inputs: PLIOs that send, by id.
        outputs: PLIOs that receive, by id.
        host_channels: by id of the GMIO, or of the port of an external buffer.
        cores: of each tile with kernels.
        fills: of buffers that no port writes.
        memories: shared buffers, by id.
        pools: all buffers, with who uses them.
        parameters: by id of the kernel's port.
        notes: what the model leaves out, one sentence each.
        findings: what is read without being written.
        unread: what is written without being read, by the id of a shared buffer a sentence without full stop.
    """

    plan: Plan
    lookup: Lookup
    array: Array
    inputs: dict[int, InputPort]
    outputs: dict[int, OutputPort]
    host_channels: dict[int, HostChannel]
    cores: dict[Tile, CoreState] = field(default_factory=dict)
    fills: list[Fill] = field(default_factory=list)
    memories: dict[int, Pool] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    parameters: dict[int, ParameterPort] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()
    unread: Mapping[int, str] = field(default_factory=dict)


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
        self._lookup, self._plan, self._make = Lookup(plan.description), plan, make
        self._array = Array(plan.device, columns=plan.columns)
        self._pools = Pools(plan, self._lookup)
        self._nets = nets = StreamNets(self._array, plan, self._lookup, plio_ports, self._pools.place_of)
        self._made = Lowered(
            plan, self._lookup, self._array, nets.inputs, nets.outputs, nets.host_channels, notes=nets.notes
        )
        self._tiles = {each.kernel: each.tile for each in plan.kernels}
        self._ports: dict[int, KernelPort] = {}

    def done(self) -> Lowered:
        """Everything in its order: what kernels have of memory, streams, buffers, rings, kernels."""
        self._reserve()
        self._nets.connect()
        for pool in self._pools:
            pool.declare(self._array)
        for pool in self._pools:
            self._make_turns(pool)
        self._made.memories, self._made.pools = self._pools.memories, tuple(self._pools)
        self._made.findings = tuple(unwritten_reads(self._lookup))
        self._made.unread = dict(unread_writes(self._lookup))
        self._make_cores()
        return self._made

    def _reserve(self) -> None:
        """Take the bytes of stacks and look-up tables; those of a stack in a neighbour as a buffer."""
        for place in self._memories():
            self._array.compute_tile(*place).reserve(stack=0, heap=0)
        for planned in self._plan.kernels:
            name = self._lookup.kernels[planned.kernel].name
            tile, stack = self._array.compute_tile(*planned.tile), planned.stack
            if stack is not None and stack.tile == planned.tile:
                tile.reserve(stack=stack.nbytes, heap=0, stack_at=stack.offsets[0])
            if stack is not None and stack.tile != planned.tile:
                words = -(-stack.nbytes // WORD_BYTES)
                self._array.tile(*stack.tile).buffer(f"{name} stack", words, np.uint32, at=stack.offsets[0])
        for (kernel, table), blocks in self._plan.tables.items():
            name = f"{self._lookup.kernels[kernel].name} {self._lookup.tables[table].name}"
            words = -(-blocks.nbytes // WORD_BYTES)
            self._array.tile(*blocks.tile).buffer(name, words, np.uint32, at=blocks.offsets[0])

    def _memories(self) -> set[Tile]:
        """The compute tiles of the plan: of kernels, and those that have only buffers."""
        blocks = [*self._plan.parameters.values(), *self._plan.tables.values()]
        blocks += [each.stack for each in self._plan.kernels if each.stack is not None]
        ends = [end for net in self._plan.nets for end in (*net.sources, *net.targets)]
        blocks += [end.blocks for end in ends if end.blocks is not None]
        found = {each.tile for each in self._plan.kernels}
        found.update(tile for each in blocks for tile in (each.tile, *each.tiles))
        rows = self._array.device.compute_rows
        return {tile for tile in found if tile[1] in rows}

    # locks and rings -------------------------------------------------------------------------------------

    def _make_turns(self, pool: Pool) -> None:
        """Make the locks of a pool, and start the channels that fill and empty it."""
        users = [*pool.writers, *pool.readers]
        cores = {self._core_of(user) for user in users if not isinstance(user, Mover)}
        if len(cores) == 1 and not any(isinstance(user, Mover) for user in users):
            for user in users:
                if not isinstance(user, Mover):
                    self._keep_port(pool, user, ())
            return
        tile = self._array.tile(*pool.blocks.tile)
        writers, readers = self._names(pool.writers), self._names(pool.readers)
        turns = buffer_turns(tile, pool.name, writers, readers, len(pool.buffers))
        for user, mine in zip(users, (*turns.writers, *turns.readers), strict=True):
            self._ring(pool, user, mine) if isinstance(user, Mover) else self._keep_port(pool, user, mine)

    def _names(self, users: Sequence[User]) -> list[str]:
        """Names for locks: of ports, numbered where several channels are at one."""
        names = [
            self._lookup.ports[user.end.port if isinstance(user, Mover) else user].name for user in users
        ]
        return [
            name if names.count(name) == 1 else f"{name}#{names[:n].count(name)}"
            for n, name in enumerate(names)
        ]

    def _core_of(self, port: int) -> Tile:
        kernel = self._lookup.kernel_at(port)
        assert kernel is not None
        return self._tiles[kernel.id]

    def _ring(self, pool: Pool, mover: Mover, turns: Sequence[Turn]) -> None:
        """Start the channel of an end on its turns, without end."""
        channel, name = self._nets.channel(mover), self._lookup.label(mover.end.port)
        work = [
            guarded(channel.tile, self._turn(mover, channel, buffer), turn)
            for buffer, turn in zip(pool.data, turns, strict=True)
        ]
        if turns[0].acquire is None and not mover.receives:
            self._keep_fill(mover, channel.named(name), work[0])
            return
        with said_at(self._line_of(mover.net)):
            start_ring(channel, name, work)
        if mover.net.packets:  # descriptors without a header go on with the packet before
            channel.packets -= {None}

    def _line_of(self, net: Net) -> str:
        """The line of the user's first connection that a net is made of; empty if none is known."""
        lines = {each.id: each.line for each in self._plan.description.connections}
        return next((line for each in net.connections if (line := lines[each])), "")

    def _keep_fill(self, mover: Mover, channel: Channel, work: tuple[Transfer | Descriptor, ...]) -> None:
        """Keep what reads a buffer that only the host fills, until a run begins."""
        memory = self._lookup.memory_at(mover.end.port)
        assert memory is not None
        turns = {each.memory: each.turns for each in self._plan.memories}[memory.id]
        self._made.fills.append(Fill(channel, work, turns, memory.graph))

    def _turn(self, mover: Mover, channel: Channel, buffer: Buffer) -> tuple[Transfer, ...]:
        """What the end of a net moves in one turn, as packets where its net has some.

        Raises:
            DesignError: packets whose way, or whose place behind a merge, is not known.
        """
        access: Access = "write" if channel.receives else "read"
        tilings, name = mover.end.tilings, self._lookup.label(mover.end.port)
        if channel.receives and mover.net.packets:
            tilings = self._nets.ways[mover.net.connections].arriving(mover.end)
        found = turn_transfers(channel.tile, buffer, tilings, access)
        if not mover.net.packets:
            return found
        if channel.receives:
            return tuple(replace(each, port=NO_PORT) for each in found)
        ports = [each.packet_port_id for each in tilings] or [-1]
        streams = self._nets.streams[mover.end.port]
        if len(streams) > 1 and not 0 <= min(ports) <= max(ports) < len(streams):
            raise _no_way(name, len(streams))
        return tuple(
            as_packet(streams[port if len(streams) > 1 else 0], each)
            for port, each in zip(ports, found, strict=True)
        )

    # kernels ---------------------------------------------------------------------------------------------

    def _keep_port(self, pool: Pool, port: int, turns: tuple[Turn, ...]) -> None:
        described = self._lookup.ports[port]
        writes = described.direction != "in"
        if port in self._ports:
            raise _several_buffers(described.name)
        self._ports[port] = BufferPort(
            described.name,
            pool.data if writes else pool.buffers,
            turns,
            margin=0 if writes else pool.margin,
            writes=writes,
            is_async=described.kind == "async_buffer" or described.is_async,
            place="" if turns else f"{pool.blocks.tile} {pool.blocks.offsets}",
        )

    def _make_cores(self) -> None:
        by_tile: defaultdict[Tile, list[PlannedKernel]] = defaultdict(list)
        for planned in sorted(self._plan.kernels, key=lambda each: each.order):
            by_tile[planned.tile].append(planned)
        for tile, mine in by_tile.items():
            kernels = tuple(self._kernel_turns(each) for each in mine)
            self._made.cores[tile] = CoreState(kernels, self._make)

    def _kernel_turns(self, planned: PlannedKernel) -> KernelTurns:
        kernel = self._lookup.kernels[planned.kernel]
        ports = tuple(self._kernel_port(port) for port in kernel.ports)
        return KernelTurns(kernel.id, kernel.name, planned.repetition, ports)

    def _kernel_port(self, port: int) -> KernelPort:
        described = self._lookup.ports[port]
        if port in self._ports:
            return self._ports[port]
        if port in self._plan.parameters:
            made = parameter_port(self._array, described, self._plan.parameters[port])
            self._made.parameters[port] = made
            return made
        if described.kind in _LINKS:
            return StreamLink(described.name, self._nets.packet_ids.get(port, ()))
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


def name_givers(lowered: Lowered) -> None:
    """Let the explanation of waits know the locks that each core releases, also before its first call."""
    array = lowered.array
    bases, running = array.engine.spec.tiles.lock_base, array.engine.cores.running
    for place, core in lowered.cores.items():
        index = int(array.engine.spec.tiles.core[array.compute_tile(*place).index])
        if index in running:
            running[index].released.update(
                int(bases[array.tile(*lock.place).index]) + lock.id
                for lock in core.releases
                if lock.place is not None
            )
