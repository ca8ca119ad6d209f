"""Object FIFOs of a description become what they are made of: buffers, locks, rings of BDs, flows.

The shapes are mlir-aie's (aie-objectFifo-stateful-transform): a pool of buffers at each end in memory, a
lock that counts free objects and one that counts full ones; one pool alone where the cores of both ends
reach it; a channel of an interface tile that the host sequence names, where an end is there. FIFOs that are
linked share the pool in the tile between them; where one is cut into several or several make one, each part
has locks of its own, so that a fast one cannot take the turn of a slow one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from memtile.arch.tiles import TileKind
from memtile.importers.mlir.description import (
    AllocationDescription,
    BdDescription,
    BufferDescription,
    ChainDescription,
    DeviceDescription,
    Direction,
    EndDescription,
    FifoDescription,
    FlowDescription,
    Level,
    LinkDescription,
    LockDescription,
    LockUse,
    Padding,
)
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.operand_faults import reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.types import Shaped

_NO_OFFSETS: Sequence[int] = ()


@dataclass(slots=True)
class FifoEnd:
    """One end of an object FIFO in memory.

    Attributes:
        tile: name of the value of the tile that uses it.
        shape: type of an object.
        buffers: names of the buffers' values, in turn.
        free: name of the lock that counts free objects; empty without locks.
        full: name of the lock that counts full ones.
    """

    tile: str
    shape: Shaped
    buffers: list[str]
    free: str = ""
    full: str = ""


@dataclass(slots=True)
class LoweredFifos:
    """What became of the object FIFOs of a device.

    Attributes:
        producers: by name of the FIFO the end that fills objects; none in interface tiles.
        consumers: by name of the FIFO and value of the tile the end that reads them.
        outside: locks of interface tiles that say how many external buffers are full, and how many will be.
    """

    producers: dict[str, FifoEnd] = field(default_factory=dict)
    consumers: dict[tuple[str, str], FifoEnd] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)


def lower(device: DeviceDescription, kinds: Mapping[str, TileKind]) -> LoweredFifos:
    """Replace the object FIFOs of a device by what they are made of.

    Args:
        device: to which buffers, locks, chains, flows and allocations are added.
        kinds: kind of each tile, by the name of its value.

    Raises:
        InputFileError: ends or links that do not fit each other, or no channel is left.
    """
    return _Lowering(device, kinds).done()


class _Lowering:
    def __init__(self, device: DeviceDescription, kinds: Mapping[str, TileKind]) -> None:
        self.device, self.kinds, self.made = device, kinds, LoweredFifos()
        self.channels: defaultdict[tuple[str, Direction], set[int]] = defaultdict(set)
        for chain in device.chains:
            self.channels[chain.tile, chain.direction].add(chain.channel)
        for flow in device.flows:
            self._take("MM2S", flow.sources)
            self._take("S2MM", flow.targets)
        self.sources = {name: link for link in device.links for name in link.sources}
        self.targets = {name: link for link in device.links for name in link.targets}
        self.pools: dict[int, list[str]] = {}  # of links, by their number

    def _take(self, direction: Direction, ends: Sequence[EndDescription]) -> None:
        """Note that flows of the text use channels."""
        for end in ends:
            if end.bundle == "DMA":
                self.channels[end.tile, direction].add(end.channel)

    def done(self) -> LoweredFifos:
        for link in self.device.links:
            self._check(link)
        for fifo in self.device.fifos.values():
            with reading(fifo.operation):
                self._lower(fifo)
        return self.made

    def _lower(self, fifo: FifoDescription) -> None:
        shared = self._shared(fifo)
        if shared:
            self._in_one_memory(fifo, shared)
        else:
            self._through_streams(fifo)

    def _check(self, link: LinkDescription) -> None:
        form = OperationForm(link.operation)
        for name in (*link.sources, *link.targets):
            if name not in self.device.fifos:
                raise form.error(f"no object FIFO has the name {name}", "object FIFOs of the device")
        if len(link.sources) > 1 and len(link.targets) > 1:
            raise form.error("several FIFOs on both sides", "one on one side")
        begin = {self.device.fifos[name].producer for name in link.targets}
        ends = [set(self.device.fifos[name].consumers) for name in link.sources]
        if len(begin) > 1 or not all(begin <= each for each in ends):
            tiles = begin.union(*ends)
            says = f"its FIFOs meet in {len(tiles)} tiles: {', '.join(sorted(tiles))}"
            raise form.error(says, "one tile, where all of them end or begin", reason="mlir_link")

    def _meet(self, link: LinkDescription) -> str:
        """The tile of a link; FIFOs that come in may have other consumers too."""
        return self.device.fifos[link.targets[0]].producer

    # The two ways

    def _in_one_memory(self, fifo: FifoDescription, tile: str) -> None:
        """Both cores reach the buffers: no DMA, and as many buffers as the text says."""
        end = self._pool(fifo, fifo.name, tile, fifo.element, fifo.depths[0])
        self._fill(fifo, end)
        consumer = fifo.consumers[0]
        self.made.producers[fifo.name] = FifoEnd(fifo.producer, end.shape, end.buffers, end.free, end.full)
        self.made.consumers[fifo.name, consumer] = FifoEnd(
            consumer, end.shape, end.buffers, end.free, end.full
        )

    def _through_streams(self, fifo: FifoDescription) -> None:
        given = fifo.attributes
        pinned = given.get("prod_dma_channel")
        source = self._channel(fifo, fifo.producer, "MM2S", pinned if isinstance(pinned, int) else None)
        targets = [self._channel(fifo, tile, "S2MM", None) for tile in fifo.consumers]
        ends = [EndDescription(tile, "DMA", n) for tile, n in zip(fifo.consumers, targets, strict=True)]
        flow = FlowDescription([EndDescription(fifo.producer, "DMA", source)], ends, fifo.operation)
        self.device.flows.append(flow)
        self._producer(fifo, source)
        for number, (tile, channel) in enumerate(zip(fifo.consumers, targets, strict=True)):
            self._consumer(fifo, number, tile, channel)

    def _producer(self, fifo: FifoDescription, channel: int) -> None:
        if self.kinds[fifo.producer].role == "interface":
            self._allocate(fifo, fifo.producer, "MM2S", channel)
            self._outside(fifo, fifo.producer, ("MM2S", channel), fifo.name)
            return
        link = self.targets.get(fifo.name)
        if link is not None:
            self._linked(link, fifo, "MM2S", channel)
            return
        end = self._pool(fifo, fifo.name, fifo.producer, fifo.element, self._depth(fifo, 0))
        self._fill(fifo, end)
        self.made.producers[fifo.name] = end
        self._check_bds(fifo, fifo.producer, len(end.buffers) * fifo.repeat)
        bds = [
            self._bd(fifo, buffer, fifo.to_stream, fifo.padding, None)
            for buffer in end.buffers
            for _ in range(fifo.repeat)
        ]
        self._guard(bds, fifo.repeat, (end.full, end.free))
        self._ring(fifo, fifo.producer, ("MM2S", channel), bds)

    def _consumer(self, fifo: FifoDescription, number: int, tile: str, channel: int) -> None:
        if self.kinds[tile].role == "interface":
            self._allocate(fifo, tile, "S2MM", channel)
            self._outside(fifo, tile, ("S2MM", channel), self._prefix(fifo, number))
            return
        link = self.sources.get(fifo.name)
        if link is not None and tile == self._meet(link):
            self._linked(link, fifo, "S2MM", channel)
            return
        prefix = self._prefix(fifo, number)
        end = self._pool(fifo, prefix, tile, fifo.element, self._depth(fifo, number + 1))
        self.made.consumers[fifo.name, tile] = end
        pattern = fifo.from_stream.get(number, ())
        bds = [self._bd(fifo, buffer, pattern, (), None) for buffer in end.buffers]
        self._guard(bds, 1, (end.free, end.full))
        self._ring(fifo, tile, ("S2MM", channel), bds)

    def _prefix(self, fifo: FifoDescription, number: int) -> str:
        """What names of a consumer's end begin with."""
        many = len(fifo.consumers) > 1
        return f"{fifo.name}_{number}_cons" if many else f"{fifo.name}_cons"

    def _outside(self, fifo: FifoDescription, tile: str, port: tuple[Direction, int], prefix: str) -> None:
        """The ring of an interface tile over external buffers, if some are registered.

        The host has filled those that are sent, and takes those that come when their lock says so.
        """
        buffers = fifo.registered.get(tile, ())
        if not buffers:
            return
        sends, many = port[0] == "MM2S", len(buffers)
        free = self._lock(fifo, f"{prefix}_prod_lock_0", tile, 0 if sends else many)
        full = self._lock(fifo, f"{prefix}_cons_lock_0", tile, many if sends else 0)
        if not sends:
            self.made.outside[full] = many
        bds = [self._bd(fifo, buffer, (), (), None) for buffer in buffers]
        self._guard(bds, 1, (full, free) if sends else (free, full))
        self._ring(fifo, tile, port, bds)

    # Links

    def _linked(
        self, link: LinkDescription, fifo: FifoDescription, direction: Direction, channel: int
    ) -> None:
        """The ring of one FIFO in the tile that links it to others."""
        buffers, parts = self._link_pool(link), self._parts(link)
        tile = self._meet(link)
        names = link.sources if direction == "S2MM" else link.targets
        own = [parts[names.index(fifo.name)]] if len(names) > 1 else parts
        sends = direction == "MM2S"
        pattern = fifo.to_stream if sends else fifo.from_stream.get(fifo.consumers.index(tile), ())
        padding, repeat = (fifo.padding, fifo.repeat) if sends else ((), 1)
        bds = []
        self._check_bds(fifo, tile, len(buffers) * len(own) * repeat)
        for buffer in buffers:
            for part in own:
                again = [self._bd(fifo, buffer, pattern, padding, part) for _ in range(repeat)]
                locks = (part.full, part.free) if sends else (part.free, part.full)
                self._guard(again, repeat, locks)
                bds += again
        self._ring(fifo, tile, (direction, channel), bds)

    def _link_pool(self, link: LinkDescription) -> list[str]:
        """The buffers between linked FIFOs: as large as the largest object of them, named after its FIFO."""
        number = self.device.links.index(link)
        if number not in self.pools:
            larger, incoming = self._larger(link)
            tile, prefix = self._meet(link), self._pool_name(link)
            depth = self._depth(larger, larger.consumers.index(tile) + 1 if incoming else 0)
            buffers = self._buffers(larger, prefix, tile, larger.element, depth)
            self.pools[number] = buffers
            for part in self._parts(link):
                first = f"{prefix}_prod_lock_{part.number}", f"{prefix}_cons_lock_{part.number}"
                self._lock(larger, first[0], tile, depth)
                self._lock(larger, first[1], tile, 0)
        return self.pools[number]

    def _larger(self, link: LinkDescription) -> tuple[FifoDescription, bool]:
        """The FIFO whose objects the pool holds, and whether it comes in."""
        one, other = self.device.fifos[link.sources[0]], self.device.fifos[link.targets[0]]
        cut = len(link.targets) > 1
        incoming = len(link.sources) == 1 and (cut or one.element.elements >= _in_memory(other))
        return (one, True) if incoming else (other, False)

    def _pool_name(self, link: LinkDescription) -> str:
        """What names of the pool of a link begin with."""
        larger, incoming = self._larger(link)
        return self._prefix(larger, larger.consumers.index(self._meet(link))) if incoming else larger.name

    def _parts(self, link: LinkDescription) -> list[_ObjectPart]:
        """The parts of an object between linked FIFOs: one for each FIFO of the side that has several."""
        one, other = self.device.fifos[link.sources[0]], self.device.fifos[link.targets[0]]
        many, offsets = (
            (link.sources, link.source_offsets)
            if len(link.sources) > 1
            else (
                link.targets,
                link.target_offsets,
            )
        )
        _, incoming = self._larger(link)
        prefix = f"%{self._pool_name(link)}"
        if len(many) == 1:
            whole = one if incoming else other
            return [
                _ObjectPart(0, 0, whole.element.elements, f"{prefix}_prod_lock_0", f"{prefix}_cons_lock_0")
            ]
        sizes = [self.device.fifos[name].element.elements for name in many]
        starts = offsets or [sum(sizes[:n]) for n in range(len(sizes))]
        return [
            _ObjectPart(n, start, size, f"{prefix}_prod_lock_{n}", f"{prefix}_cons_lock_{n}")
            for n, (start, size) in enumerate(zip(starts, sizes, strict=True))
        ]

    # Pieces

    def _pool(self, fifo: FifoDescription, prefix: str, tile: str, shape: Shaped, depth: int) -> FifoEnd:
        buffers = self._buffers(fifo, prefix, tile, shape, depth)
        if fifo.attributes.get("disable_synchronization"):
            return FifoEnd(tile, shape, buffers)
        free = self._lock(fifo, f"{prefix}_prod_lock_0", tile, depth)
        full = self._lock(fifo, f"{prefix}_cons_lock_0", tile, 0)
        return FifoEnd(tile, shape, buffers, free, full)

    def _fill(self, fifo: FifoDescription, end: FifoEnd) -> None:
        """Objects that are there at the start."""
        for name, values in zip(end.buffers, fifo.initial, strict=False):
            self.device.buffers[name].initial = values
        if fifo.initial and end.free:
            self.device.locks[end.free].initial -= len(fifo.initial)
            self.device.locks[end.full].initial += len(fifo.initial)

    def _buffers(self, fifo: FifoDescription, prefix: str, tile: str, shape: Shaped, many: int) -> list[str]:
        """Buffers for objects, as many as the memory of a tile could hold."""
        kind, form = self.kinds[tile], OperationForm(fifo.operation)
        size = element_bytes(form, shape) * shape.elements
        if size <= 0 or many * size > kind.memory_bytes:
            says = f"{many} objects of {'x'.join(map(str, shape.shape))} elements have {many * size} bytes"
            raise form.error(says, f"1..{kind.memory_bytes} bytes in a {kind.title}", reason="mlir_depth")
        names = [f"{prefix}_buff_{n}" for n in range(many)]
        for name in names:
            self.device.buffers[f"%{name}"] = BufferDescription(name, tile, shape, fifo.operation)
        return [f"%{name}" for name in names]

    def _lock(self, fifo: FifoDescription, name: str, tile: str, initial: int) -> str:
        value = f"%{name}"
        self.device.locks[value] = LockDescription(name, tile, fifo.operation, None, initial)
        return value

    def _bd(
        self,
        fifo: FifoDescription,
        buffer: str,
        levels: Sequence[Level],
        padding: Sequence[Padding],
        part: _ObjectPart | None,
    ) -> BdDescription:
        made = BdDescription(buffer, fifo.operation, levels=list(levels), padding=list(padding))
        if part is not None:
            made.offset, made.length = part.offset, part.length
        if padding and len(padding) != len(levels):
            says = f"its padding has {len(padding)} dimensions, its pattern {len(levels)}"
            raise OperationForm(fifo.operation).error(says, "as many of both", reason="mlir_dimensions")
        if padding:
            made.length = prod(
                level.size + pad.before + pad.after for level, pad in zip(levels, padding, strict=True)
            )
        return made

    def _check_bds(self, fifo: FifoDescription, tile: str, many: int) -> None:
        if many > self.kinds[tile].bds:
            says = f"it needs {many} BDs in the {self.kinds[tile].title}: objects, parts and repeats"
            raise OperationForm(fifo.operation).error(
                says, f"up to {self.kinds[tile].bds}", reason="mlir_bds"
            )

    def _guard(self, bds: Sequence[BdDescription], group: int, locks: tuple[str, str]) -> None:
        """Let the first of each group take a lock, and the last give another."""
        take, give = locks
        if not take:
            return
        for number, bd in enumerate(bds):
            if number % group == 0:
                bd.acquire = LockUse(take, "acquire_ge", 1)
            if number % group == group - 1:
                bd.release = LockUse(give, "release", 1)

    def _ring(
        self, fifo: FifoDescription, tile: str, port: tuple[Direction, int], bds: list[BdDescription]
    ) -> None:
        for number, bd in enumerate(bds):
            bd.next = (number + 1) % len(bds)
        pad = fifo.attributes.get("padValue", 0)
        chain = ChainDescription(tile, *port, bds, fifo.operation, name=fifo.name)
        chain.pad_value = pad if isinstance(pad, int) and port[0] == "MM2S" else 0
        self.device.chains.append(chain)

    def _allocate(self, fifo: FifoDescription, tile: str, direction: Direction, channel: int) -> None:
        self.device.allocations[fifo.name] = AllocationDescription(
            fifo.name, direction, channel, fifo.operation, tile=tile
        )

    def _channel(self, fifo: FifoDescription, tile: str, direction: Direction, pinned: int | None) -> int:
        taken, many = self.channels[tile, direction], self.kinds[tile].channels
        free = [n for n in range(many) if n not in taken] if pinned is None else [pinned]
        if not free:
            says = f"all {many} {direction} channels of the {self.kinds[tile].title} are in use"
            raise OperationForm(fifo.operation).error(says, "a free channel", reason="mlir_channels")
        taken.add(free[0])
        return free[0]

    def _depth(self, fifo: FifoDescription, end: int) -> int:
        """Buffers of an end: as the text says, but not more than its core ever holds at once and one."""
        if len(fifo.depths) > 1:
            return fifo.depths[end]
        depth = fifo.depths[0]
        tile = fifo.producer if end == 0 else fifo.consumers[end - 1]
        if self.kinds[tile].role != "compute":
            return depth
        most = max(self._acquires(fifo.name, tile, "Produce" if end == 0 else "Consume"), default=0)
        if most == 0 or depth == 1:
            return depth
        return min(depth, most + 1)

    def _acquires(self, name: str, tile: str, port: str) -> Iterator[int]:
        """How many objects a core asks for at a time."""
        for core in self.device.cores:
            if core.tile == tile:
                yield from _asked(core.operation, name, port)
                for called in core.operation.walk():
                    function = self.device.functions.get(_callee(called))
                    if function is not None:
                        yield from _asked(function, name, port)

    def _shared(self, fifo: FifoDescription) -> str:
        """The tile whose memory both ends reach, if they need no DMA; empty if they do."""
        if fifo.name in self.sources or fifo.name in self.targets or len(fifo.consumers) != 1:
            return ""
        if fifo.attributes.get("via_DMA") or fifo.to_stream or fifo.from_stream or fifo.repeat > 1:
            return ""
        producer, consumer = fifo.producer, fifo.consumers[0]
        if any(self.kinds[tile].role != "compute" for tile in (producer, consumer)):
            return ""
        one, other = self.device.tiles[producer].place, self.device.tiles[consumer].place
        assert one is not None
        assert other is not None
        both = (producer, _reaches(other, one)), (consumer, _reaches(one, other))
        reached = [tile for tile, near in both if near]
        wanted = fifo.attributes.get("delegate")
        if fifo.attributes.get("via_shared_mem") == 1:
            wanted = consumer
        return str(wanted) if wanted in reached else next(iter(reached), "")


@dataclass(frozen=True, slots=True)
class _ObjectPart:
    """A part of an object between linked FIFOs: its place in the object, and its locks."""

    number: int
    offset: int
    length: int
    free: str
    full: str


def _in_memory(fifo: FifoDescription) -> int:
    """Elements of an object in memory: what is sent may have padding around it."""
    return prod(level.size for level in fifo.to_stream) if fifo.padding else fifo.element.elements


def _reaches(core: tuple[int, int], memory: tuple[int, int]) -> bool:
    """Whether a core reaches a tile's memory: its own, and those in the south, the north and the west."""
    away = memory[0] - core[0], memory[1] - core[1]
    return away in ((0, 0), (0, -1), (0, 1), (-1, 0))


def _asked(operation: Operation, name: str, port: str) -> Iterator[int]:
    for inner in operation.walk():
        if inner.name == "aie.objectfifo.acquire":
            form = OperationForm(inner)
            if form.generic:
                own = form.symbol_of("objFifo_name") == name
                if own and form.choice("port", ("Produce", "Consume")) == port:
                    yield form.integer("size")
            elif form.symbol == name and form.texts()[0] == port:
                yield form.whole(form.texts()[1])


def _callee(operation: Operation) -> str:
    if operation.name not in ("func.call", "call"):
        return ""
    return next((word[1:].strip('"') for word in operation.words if word[:1] == "@"), "")
