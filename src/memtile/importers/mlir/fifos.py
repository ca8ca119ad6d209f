"""Object FIFOs of a description become what mlir-aie makes of them: buffers, locks, chains of BDs, flows.

The steps are those of its pass aie-objectFifo-stateful-transform (2026-08-14): ``fifo_rules`` refuses what it
refuses, ``fifo_ends`` has the ends in memory and their buffers and locks. Ends that DMAs serve get channels,
those of the text first and then those that reach a neighbour's memory; then chains and flows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from math import prod

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.registers import field_of
from memtile.arch.tiles import TileKind
from memtile.importers.mlir.description import (
    AllocationDescription,
    BdDescription,
    ChainDescription,
    DeviceDescription,
    Direction,
    EndDescription,
    FifoDescription,
    FlowDescription,
    Level,
    LockUse,
)
from memtile.importers.mlir.fifo_ends import FifoEnds, FifoLink, Pool, cycles_own_values
from memtile.importers.mlir.fifo_rules import check_fifos
from memtile.importers.mlir.forms.operand_faults import reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.overlay import said_by_run_line
from memtile.importers.mlir.types import Shaped

_LAST_ID = field_of(STREAM_HEADER, "Stream_ID").maximum
_PACKETS = "packet-sw-objFifos"
"""The option of aiecc by which object FIFOs send packets."""


@dataclass(slots=True)
class FifoEnd:
    """One end of an object FIFO in memory, as a core uses it.

    Attributes:
        tile: name of the value of the tile that uses it.
        shape: type of an object.
        buffers: names of the buffers' values, in turn.
        free: name of the lock that counts free objects; empty without locks.
        full: name of the lock that counts full ones.
        units: by how much these locks change for an object.
    """

    tile: str
    shape: Shaped
    buffers: list[str]
    free: str = ""
    full: str = ""
    units: int = 1


@dataclass(slots=True)
class LoweredFifos:
    """What became of the object FIFOs of a device.

    Attributes:
        producers: by name of the FIFO the end that fills objects; none in interface tiles.
        consumers: by name of the FIFO and value of the tile the end that reads them.
        filled: locks of interface tiles to which a host adds its full external buffers before all begins.
        outside: locks of interface tiles that say how many external buffers are full, and how many will be.
        locks: by name of a lock the FIFO and the end whose objects it counts, and whether full ones.
    """

    producers: dict[str, FifoEnd] = field(default_factory=dict)
    consumers: dict[tuple[str, str], FifoEnd] = field(default_factory=dict)
    filled: dict[str, tuple[str, int]] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    locks: dict[str, tuple[str, str, bool]] = field(default_factory=dict)


def lower(device: DeviceDescription, kinds: MutableMapping[str, TileKind], columns: int) -> LoweredFifos:
    """Replace the object FIFOs of a device by what they are made of.

    Args:
        device: to which buffers, locks, chains, flows, allocations and memory tiles are added.
        kinds: kind of each tile, by the name of its value; those of tiles that are added come to it.
        columns: of the array.

    Raises:
        InputFileError: what mlir-aie refuses, or no channel, BD or packet id is left.
    """
    check_fifos(device, kinds)
    packets = said_by_run_line(device, _PACKETS)  # DEV-FIFO-2
    return _Lowering(FifoEnds(device, kinds, columns), packets=packets).done()


class _Lowering:
    def __init__(self, ends: FifoEnds, *, packets: bool) -> None:
        self.ends, self.device, self.kinds, self.packets = ends, ends.device, ends.kinds, packets
        self.made = LoweredFifos()
        self.channels = _channels_in_use(self.device)

    def done(self) -> LoweredFifos:
        assigned = self._channels()
        first = _first_packet(self.device)
        for number, (producer, consumers) in enumerate(self.ends.split):
            with reading(producer.operation):
                packet = self._packet(producer, first + number) if self.packets else None
                self._move(producer, consumers, assigned, packet)
        self._ports()
        self._name_locks()
        return self.made

    def _name_locks(self) -> None:
        """Say which ends the locks are of; cores that share memory have both of a FIFO in one tile."""
        split = {producer.name for producer, _ in self.ends.split}
        for name, pool in self.ends.pools.items():
            fifo, receives = self.ends.origin.get(name, name), name in self.ends.origin
            for pair in pool.locks:
                for lock, full in ((pair.free, False), (pair.full, True)):
                    consumer = receives or (full and name not in split)
                    self.made.locks[lock] = fifo, "consumer" if consumer else "producer", full

    # Channels

    def _channels(self) -> dict[str, int]:
        """The DMA channel of each end: those that the text says, those that reach neighbours, the others."""
        found: dict[str, int] = {}
        ends = [
            (end, direction)
            for producer, consumers in self.ends.split
            for end, direction in ((producer, "MM2S"), *((half, "S2MM") for half in consumers))
            if end.stream is None
        ]
        for end, direction in ends:
            if end.pinned is not None:
                found[end.name] = self._channel(end, direction, range(end.pinned, end.pinned + 1))
        for across in (True, False):
            for end, direction in ends:
                target, kind = self.ends.target(end), self.kinds[end.producer]
                if end.pinned is None and (target.name in self.ends.spilled) is across:
                    allowed = (
                        kind.neighbour_channels
                        if across and kind.neighbour_channels
                        else range(kind.channels)
                    )
                    found[end.name] = self._channel(end, direction, allowed)
        return found

    def _channel(self, end: FifoDescription, direction: str, allowed: Sequence[int]) -> int:
        kind, taken = self.kinds[end.producer], self.channels[end.producer, direction]
        free = next((n for n in allowed if n < kind.channels and n not in taken), None)
        if free is None:
            many = ", ".join(map(str, allowed)) if len(allowed) < kind.channels else f"all {kind.channels}"
            says = f"{many} {direction} channels of the {kind.title} are in use"
            if end.pinned is not None:
                says = f"the text asks for {direction} channel {end.pinned} of the {kind.title}"
            raise OperationForm(end.operation).error(says, "a free channel", reason="mlir_channels")
        taken.add(free)
        return free

    def _packet(self, producer: FifoDescription, number: int) -> tuple[int, int]:
        if producer.stream is not None:
            says, allowed = "it has aie_stream, and object FIFOs send packets", "aie_stream without packets"
            raise OperationForm(producer.operation).error(says, allowed, reason="mlir_packet")
        if number > _LAST_ID:
            says = f"{number} ids of packets are in use before it"
            raise OperationForm(producer.operation).error(says, f"ids up to {_LAST_ID}", reason="mlir_packet")
        return 0, number

    def _move(
        self,
        producer: FifoDescription,
        consumers: Sequence[FifoDescription],
        channels: Mapping[str, int],
        packet: tuple[int, int] | None,
    ) -> None:
        """Chains and flow of a FIFO that was split."""
        source = self._stream_end(producer, "MM2S", channels, plio=producer.plio)
        if producer.stream is None:
            self._chain(producer, "MM2S", channels[producer.name], packet)
            self._allocate(producer, producer, "MM2S", channels, packet)
        targets = []
        for half in consumers:
            targets.append(self._stream_end(half, "S2MM", channels, plio=producer.plio))
            if half.stream is None:
                self._chain(half, "S2MM", channels[half.name], None)
                self._allocate(producer, half, "S2MM", channels, None)
        number = packet[1] if packet is not None else None
        self.device.flows.append(FlowDescription([source], targets, producer.operation, number))

    def _stream_end(
        self, end: FifoDescription, direction: Direction, channels: Mapping[str, int], *, plio: bool
    ) -> EndDescription:
        if end.stream is None:
            outside = plio and self.kinds[end.producer].role == "interface"
            return EndDescription(end.producer, "PLIO" if outside else "DMA", channels[end.name])
        assert end.stream_port is not None  # the rules say so
        taken = self.channels[end.producer, f"stream {direction}"]
        if end.stream_port in taken:
            says = f"stream port {end.stream_port} of its core is in use"
            raise OperationForm(end.operation).error(says, "a port of its own", reason="mlir_channels")
        taken.add(end.stream_port)
        return EndDescription(end.producer, "DMA" if plio else "Core", end.stream_port)

    def _allocate(
        self,
        fifo: FifoDescription,
        end: FifoDescription,
        direction: Direction,
        channels: Mapping[str, int],
        packet: tuple[int, int] | None,
    ) -> None:
        """The name by which a host knows a channel of an interface tile."""
        if self.kinds[end.producer].role != "interface":
            return
        if fifo.name in self.device.allocations:
            says = (
                f"@{fifo.name} has several ends on interface tiles, and the host knows them by its name alone"
            )
            step = "In IRON each call of cons() is one more consumer: call it once, and drain that handle."
            raise OperationForm(fifo.operation).error(
                says, "one interface tile", reason="mlir_object_fifo", step=step
            )
        self.device.allocations[fifo.name] = AllocationDescription(
            fifo.name, direction, channels[end.name], fifo.operation, tile=end.producer, packet=packet
        )

    def _chain(
        self, end: FifoDescription, direction: Direction, channel: int, packet: tuple[int, int] | None
    ) -> None:
        """The chain of an end, if there are buffers in its tile."""
        role = self.kinds[end.producer].role
        bds = self._outside(end, direction) if role == "interface" else self._inside(end, direction)
        if not bds:
            return
        in_memory_tile = role == "memory"
        endless = not (in_memory_tile and end.iterations)
        turns = self._repeats(end)[0] if endless else end.iterations or 1
        for number, bd in enumerate(bds):
            bd.next = number + 1 if number + 1 < len(bds) else 0 if endless else None
            bd.packet = packet
        name = self.ends.origin.get(end.name, end.name)
        made = ChainDescription(end.producer, direction, channel, bds, end.operation, turns - 1, name=name)
        made.pad_value = end.pad_value if in_memory_tile and direction == "MM2S" and end.padding else 0
        self.device.chains.append(made)

    def _outside(self, end: FifoDescription, direction: Direction) -> list[BdDescription]:
        """BDs of an interface tile over external buffers, if some are registered.

        The host has filled those that are sent, and takes those that come when their lock says so.
        """
        buffers = end.registered.get(end.producer, ())
        pool = self.ends.pools.get(end.name)
        if not buffers or pool is None:
            return []
        for pair in pool.locks:
            if direction == "MM2S":
                self.made.filled[pair.full] = pair.free, len(buffers)
            else:
                self.made.outside[pair.full] = len(buffers)
        part = 0, 0, None
        return [self._bd(end, buffer, direction, pool, part) for buffer in buffers]

    def _inside(self, end: FifoDescription, direction: Direction) -> list[BdDescription]:
        """BDs of a core's tile or a memory tile over the objects of an end, or of the one it is linked to."""
        target = self.ends.target(end)
        pool, blocks, parts = self.ends.pools[target.name], self.ends.blocks(end), self.ends.parts(end)
        form = OperationForm(end.operation)
        if blocks > len(pool.buffers):
            says = f"it has {blocks} objects, those that it is linked to {len(pool.buffers)}"
            raise form.error(says, "as many of both", reason="mlir_link")
        repeat = self._repeats(end)[1]
        if len(parts) > 1 and repeat > 1:
            says = f"its repeat_count is {repeat}, and its objects are joined of {len(parts)} parts"
            raise form.error(says, "repeat_count of other object FIFOs", reason="mlir_link")
        parts = parts or [(0, 0, self._length(end, target))]
        self._check_bds(end, blocks * len(parts) * repeat)
        return [
            self._bd(end, buffer, direction, pool, part)
            for buffer in pool.buffers[:blocks]
            for _ in range(repeat)
            for part in parts
        ]

    def _repeats(self, end: FifoDescription) -> tuple[int, int]:
        """How often a channel does the chain of an end, and how often each object is in the chain.

        A single object that is moved at once needs no copies of its BD.
        """
        repeat, in_memory_tile = end.repeat or 1, self.kinds[end.producer].role == "memory"
        once = self.ends.blocks(end) == 1 and not (
            in_memory_tile and (len(self.ends.parts(end)) > 1 or end.iterations)
        )
        return (repeat, 1) if once else (1, repeat)

    def _length(self, end: FifoDescription, target: FifoDescription) -> int:
        own, other = end.element.elements, target.element.elements
        in_memory_tile = self.kinds[end.producer].role == "memory"
        return max(own, other) if in_memory_tile else own

    def _bd(
        self,
        end: FifoDescription,
        buffer: str,
        direction: Direction,
        pool: Pool,
        part: tuple[int, int, int | None],
    ) -> BdDescription:
        """A BD for a part of an object: number, offset and length."""
        number, offset, length = part
        sends = direction == "MM2S"
        levels = end.to_stream if sends else end.from_stream.get(0, ())
        padding = end.padding if sends and levels and self.kinds[end.producer].role == "memory" else ()
        _check_pattern(end, levels, pool.shape)
        if padding:
            _check_padding(end, levels, length or 0)
        made = BdDescription(buffer, end.operation, offset, length, list(levels), list(padding))
        link = self.ends.link(end)
        if pool.locks and not (sends and cycles_own_values(self.ends.target(end), link, None)):
            pair = pool.locks[number]
            take, give = (pair.full, pair.free) if sends else (pair.free, pair.full)
            units = self._units(end, link)
            made.acquire = LockUse(take, "acquire_ge", units)
            made.release = LockUse(give, "release", units)
        return made

    def _units(self, end: FifoDescription, link: FifoLink | None) -> int:
        """By how much a BD changes its locks: by the repeats of a link where the objects come in."""
        if link is None or not link.owner:
            return 1
        if self.kinds[end.producer].role == "memory":
            counts = link.sources[0] == end.name
        else:
            counts = self.kinds[end.producer].role == "compute" and link.owner == end.name
        return (self.ends.link_repeat(link) or 1) if counts else 1

    def _check_bds(self, end: FifoDescription, many: int) -> None:
        kind = self.kinds[end.producer]
        if many > kind.bds:
            says = f"it needs {many} BDs in the {kind.title}: objects, parts and repeats"
            raise OperationForm(end.operation).error(says, f"up to {kind.bds}", reason="mlir_bds")

    # What cores see

    def _ports(self) -> None:
        halves = {producer.name: consumers for producer, consumers in self.ends.split}
        for name in self.device.fifos:
            end = self.ends.by_name[name]
            made = self._port(end, end.producer)
            if made is not None:
                self.made.producers[name] = made
            for half in halves.get(name, [end]):
                made = self._port(half, half.consumers[0])
                if made is not None:
                    self.made.consumers[name, half.consumers[0]] = made

    def _port(self, end: FifoDescription, tile: str) -> FifoEnd | None:
        """An end as its core uses it; None if it has no buffers."""
        pool = self.ends.pools.get(self.ends.target(end).name)
        if pool is None or not pool.buffers or self.kinds[tile].role != "compute":
            return None
        if end.depths[0] > len(pool.buffers):
            says = f"it has {end.depths[0]} objects, those that it is linked to {len(pool.buffers)}"
            raise OperationForm(end.operation).error(says, "as many of both", reason="mlir_link")
        free, full = pool.locks[0] if pool.locks else ("", "")
        return FifoEnd(tile, pool.shape, pool.buffers[: end.depths[0]], free, full, end.repeat or 1)


def _channels_in_use(device: DeviceDescription) -> defaultdict[tuple[str, str], set[int]]:
    """Channels that DMA work and allocations of the text use, and stream ports that its flows use."""
    found: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for chain in device.chains:
        found[chain.tile, chain.direction].add(chain.channel)
    for allocation in device.allocations.values():
        found[allocation.tile, allocation.direction].add(allocation.channel)
    for flow in device.flows:
        for ends, direction in ((flow.sources, "stream MM2S"), (flow.targets, "stream S2MM")):
            for end in ends:
                if end.bundle == "Core" and flow.packet is None:
                    found[end.tile, direction].add(end.channel)
    return found


def _first_packet(device: DeviceDescription) -> int:
    """The first id that no packet flow of the text has, as mlir-aie counts them."""
    found = 0
    for flow in device.flows:
        if flow.packet is not None and flow.packet > found:
            found = flow.packet + 1
    return found


def _check_pattern(end: FifoDescription, levels: Sequence[Level], shape: Shaped) -> None:
    """A pattern stays within an object and moves on in every dimension (``DMABDOp::verify``)."""
    last = sum((level.size - 1) * level.stride for level in levels)
    if last >= shape.elements or any(not 0 < level.stride <= shape.elements for level in levels):
        says = f"its pattern has strides {[level.stride for level in levels]} and reaches element {last}"
        allowed = f"strides of 1 or more, elements 0..{shape.elements - 1} of an object"
        raise OperationForm(end.operation).error(says, allowed, reason="mlir_dimensions")


def _check_padding(end: FifoDescription, levels: Sequence[Level], length: int) -> None:
    form = OperationForm(end.operation)
    if len(end.padding) != len(levels):
        says = f"its padding has {len(end.padding)} dimensions, its pattern {len(levels)}"
        raise form.error(says, "as many of both", reason="mlir_dimensions")
    padded = prod(level.size + sum(pad) for level, pad in zip(levels, end.padding, strict=True))
    if padded > length:
        says = f"its pattern and padding have {padded} elements, what is sent {length}"
        raise form.error(says, f"up to {length}", reason="mlir_dimensions")
