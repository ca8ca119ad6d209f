"""A device of an MLIR module as data: tiles, memory, locks, DMA work, streams, cores and host sequences.

Every spelling of a design ends here: ``forms`` reads the operations of all generations into it. Names are
those of the file. Sizes, strides and offsets are in elements of the buffer, outermost dimension first, as the
text has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.types import Shaped

Place = tuple[int, int]
"""Column and row."""
Direction = Literal["S2MM", "MM2S"]
_END = "aie.end"


@dataclass(slots=True)
class TileDescription:
    """A tile.

    Attributes:
        name: of its value, ``%tile_0_2``.
        place: where it is; None for a logical tile without a place.
        role: ``"interface"``, ``"memory"`` or ``"compute"``, of a logical tile; empty if the place says it.
        wanted: column and row that a logical tile must have, None = any.
        controller: id that its tokens carry, as text after 2024 says it; None = nothing is said.
        operation: that declares it.
    """

    name: str
    place: Place | None
    operation: Operation
    role: str = ""
    controller: int | None = None
    wanted: tuple[int | None, int | None] = (None, None)


@dataclass(slots=True)
class BufferDescription:
    """A buffer in data memory, or in external memory.

    Attributes:
        name: its symbol, else its value without ``%``.
        tile: name of its tile's value; empty for one in external memory.
        shape: type of the whole.
        address: first byte; None = to be placed.
        bank: that it shall be in, of those of mlir-aie's allocator.
        initial: its contents at the start, in order; None = whatever is there.
        aligned: its address, if it gets one, fits the core's widest access.
        operation: that declares it.
    """

    name: str
    tile: str
    shape: Shaped
    operation: Operation
    address: int | None = None
    bank: int | None = None
    initial: Sequence[int | float] | None = None
    aligned: bool = True


@dataclass(slots=True)
class LockDescription:
    """A lock.

    Attributes:
        name: its symbol, else its value without ``%``.
        tile: name of its tile's value.
        number: within the tile; None = to be given.
        initial: value at the start.
        operation: that declares it.
    """

    name: str
    tile: str
    operation: Operation
    number: int | None = None
    initial: int = 0


class LockUse(NamedTuple):
    """What is done to a lock.

    Attributes:
        lock: name of its value.
        action: ``"acquire"`` exactly that value, ``"acquire_ge"`` at least, or ``"release"``.
        value: how many.
    """

    lock: str
    action: Literal["acquire", "acquire_ge", "release"]
    value: int


class Level(NamedTuple):
    """A dimension of a pattern: so many steps of so many elements."""

    size: int
    stride: int


class Padding(NamedTuple):
    """Elements before and after a dimension of a pattern."""

    before: int
    after: int


@dataclass(slots=True)
class BdDescription:
    """A buffer descriptor.

    Attributes:
        buffer: name of its buffer's value, or of an argument of the host sequence.
        offset: first element.
        length: elements of memory that it moves, padding left out; None = the whole buffer.
        levels: pattern, outermost first; none = in order.
        padding: for the innermost levels, outermost first.
        acquire: before it.
        release: after it.
        packet: type and id of its header.
        number: of the BD; None = to be given.
        next: place of the next one in its chain; None = the chain ends.
        iteration: size, stride in elements, and where it begins.
        burst: bytes of a burst; None = as the device has it.
        compressed: words go through the coder.
        ooo: id of the BD that a receiver out of order uses.
        operation: that says it.
    """

    buffer: str
    operation: Operation
    offset: int = 0
    length: int | None = None
    levels: Sequence[Level] = ()
    padding: Sequence[Padding] = ()
    acquire: LockUse | None = None
    release: LockUse | None = None
    packet: tuple[int, int] | None = None
    number: int | None = None
    next: int | None = None
    iteration: tuple[int, int, int] | None = None
    burst: int | None = None
    compressed: bool = False
    ooo: int | None = None


@dataclass(slots=True)
class ChainDescription:
    """Work of a DMA channel: BDs, the first of which is started.

    Attributes:
        tile: name of the tile's value.
        direction: of the channel.
        channel: its number.
        bds: that it may come to; the first is the first of the chain.
        repeat: how often more than once the chain is done.
        token: the task reports its end.
        pad_value: what padding is.
        name: of the task, a value or a symbol.
        operation: that starts it.
    """

    tile: str
    direction: Direction
    channel: int
    bds: list[BdDescription]
    operation: Operation
    repeat: int = 0
    token: bool = False
    pad_value: int = 0
    name: str = ""


class EndDescription(NamedTuple):
    """An end of a stream: a port of a tile, ``DMA : 0``.

    Attributes:
        tile: name of the tile's value.
        bundle: kind of port, see ``forms.operands.BUNDLES``.
        channel: number within the bundle.
    """

    tile: str
    bundle: str
    channel: int


@dataclass(slots=True)
class FlowDescription:
    """A stream to be routed: from one end to others, or packets of one id from several.

    Attributes:
        sources: where it comes from.
        targets: where it goes.
        packet: id of its packets; None = a circuit.
        keep_header: whether receivers get the header too; None = nothing is said.
        priority: it gets arbiters before others.
        operation: that asks for it.
    """

    sources: list[EndDescription]
    targets: list[EndDescription]
    operation: Operation
    packet: int | None = None
    keep_header: bool | None = None
    priority: bool = False


@dataclass(slots=True)
class SwitchDescription:
    """What is configured of a stream switch, or of the multiplexer of an interface tile.

    Attributes:
        tile: name of the tile's value.
        mux: whether it is the multiplexer.
        circuits: source bundle and channel, target bundle and channel.
        masters: master of packets: bundle, channel, arbiter, msels, and whether it keeps the header, if said.
        rules: slave of packets: bundle, channel, and its slots in order: mask, id, arbiter, msel.
        operation: that configures it.
    """

    tile: str
    operation: Operation
    mux: bool = False
    circuits: list[tuple[str, int, str, int]] = field(default_factory=list)
    masters: list[tuple[str, int, int, tuple[int, ...], bool | None]] = field(default_factory=list)
    rules: list[tuple[str, int, list[tuple[int, int, int, int]]]] = field(default_factory=list)


@dataclass(slots=True)
class AllocationDescription:
    """A channel of an interface tile that a host sequence names.

    Attributes:
        name: the symbol.
        tile: name of the tile's value; empty if only the column is said.
        column: of the interface tile, if no tile is.
        direction: of the channel.
        channel: its number.
        packet: type and id that its tasks send, if any.
        operation: that names it.
    """

    name: str
    direction: Direction
    channel: int
    operation: Operation
    tile: str = ""
    column: int | None = None
    packet: tuple[int, int] | None = None


@dataclass(slots=True)
class FifoDescription:
    """An object FIFO as the text has it; see ``fifos``.

    Attributes:
        name: its symbol.
        producer: name of the value of the tile that fills objects.
        consumers: those of the tiles that read them.
        depths: buffers of each end, the producer's first; one number for all.
        element: type of an object.
        operation: that declares it.
        consumer_element: type of an object at the consumers; None = the same.
        to_stream: pattern in which the producer's DMA reads an object.
        from_stream: patterns in which the consumers' DMA write it, by consumer.
        padding: of the producer's pattern.
        pad_value: what padding is.
        repeat: how often each object is sent; None = nothing is said, which is not the same as once.
        iterations: how often the chains of its memory tiles are done; None = without an end.
        stream: 0, 1 or 2: the producer's core, the consumer's or both use a stream port; None = neither.
        stream_port: number of that port.
        via_dma: DMAs move the objects even where cores share memory.
        synchronised: locks guard the objects.
        plio: interface tiles at its ends use ports to programmable logic.
        shared_side: whose memory holds the objects if cores share both: 0 the producer's, 1 the consumer's.
        pinned: the producer's DMA channel; None = any.
        consumer_pins: those of consumers, -1 = any; empty = any for all.
        initial: contents of the producer's first objects.
        registered: external buffers that an interface tile at an end uses, by value of the tile.
        delegates: tiles that are to hold the objects, and the operations that say so.
    """

    name: str
    producer: str
    consumers: list[str]
    depths: list[int]
    element: Shaped
    operation: Operation
    consumer_element: Shaped | None = None
    to_stream: Sequence[Level] = ()
    from_stream: dict[int, Sequence[Level]] = field(default_factory=dict)
    padding: Sequence[Padding] = ()
    pad_value: int = 0
    repeat: int | None = None
    iterations: int | None = None
    stream: int | None = None
    stream_port: int | None = None
    via_dma: bool = False
    synchronised: bool = True
    plio: bool = False
    shared_side: int | None = None
    pinned: int | None = None
    consumer_pins: list[int] = field(default_factory=list)
    initial: list[Sequence[int | float]] = field(default_factory=list)
    registered: dict[str, list[str]] = field(default_factory=dict)
    delegates: list[tuple[str, Operation]] = field(default_factory=list)


@dataclass(slots=True)
class LinkDescription:
    """Object FIFOs that end in a memory tile and those that begin there with what came.

    Attributes:
        sources: symbols of those that come in.
        targets: symbols of those that go out.
        source_offsets: elements into the object where each of several sources goes (join).
        target_offsets: elements into the object where each of several targets begins (distribute).
        operation: that links them.
        packed: a text of 2023 or 2024 has no lists of offsets: parts follow each other, as large as objects.
    """

    sources: list[str]
    targets: list[str]
    source_offsets: list[int]
    target_offsets: list[int]
    operation: Operation
    packed: bool = False


@dataclass(slots=True)
class CoreDescription:
    """A core and its program.

    Attributes:
        tile: name of the tile's value.
        operation: whose region is the body; empty where an ELF file alone is named.
        stack: bytes of its stack.
        elf: name of its ELF file, if the text says one.
    """

    tile: str
    operation: Operation
    stack: int
    elf: str = ""

    @property
    def has_body(self) -> bool:
        """Whether the text has its program: aiecc empties the body of a core that has an ELF file."""
        inside = [each for block in self.blocks for each in block.operations]
        return bool(self.operation.regions) and not (self.elf and all(each.name == _END for each in inside))

    @property
    def blocks(self) -> Sequence[OperationBlock]:
        """Those of its region."""
        return self.operation.regions[0].blocks if self.operation.regions else ()


@dataclass(frozen=True, slots=True)
class ParameterDescription:
    """A parameter of the scratchpad; see ``scratchpad``.

    Attributes:
        name: its symbol.
        index: of its word in the scratchpad.
        kind: its type, ``i32`` or ``bf16``.
        in_core: cores read it; else it is an offset of BDs.
    """

    name: str
    index: int
    kind: str
    in_core: bool


class CascadeDescription(NamedTuple):
    """A cascade from a tile to its neighbour.

    Attributes:
        source: value of the tile whose core puts.
        target: value of the tile whose core gets.
        operation: that declares it.
    """

    source: str
    target: str
    operation: Operation


class CascadeSides(NamedTuple):
    """The sides of a tile's cascade.

    Attributes:
        tile: its value.
        input: ``"North"`` or ``"West"``.
        output: ``"South"`` or ``"East"``.
        operation: that declares it.
    """

    tile: str
    input: str
    output: str
    operation: Operation


@dataclass(slots=True)
class DeviceDescription:
    """A device of a module.

    Attributes:
        name: symbol of the device; empty if it has none.
        device: as the text has it, ``npu1_1col``.
        operation: of the device.
        tiles: by the name of their value.
        buffers: by the name of their value.
        locks: by the name of their value.
        chains: work that DMA channels begin with.
        chain_symbols: ``aie.bd_chain`` by symbol: chains with parameters, which host sequences start.
        flows: streams to be routed.
        switches: stream switches configured by hand or by the router.
        allocations: by symbol.
        fifos: by symbol.
        links: of object FIFOs.
        cores: in order.
        cascades: from tile to tile.
        cascade_sides: of single tiles.
        sequences: host sequences by symbol.
        functions: functions that cores call, by symbol; without a region if they are external.
        constants: ``memref.global`` by symbol.
        numbers: constants beside the tiles, which cores and DMA may use, by the name of their value.
        ignored: operations that were read and change nothing here, by name, and how often.
        unknown: operations that nothing is known of, by name; refused when they matter.
        aliases: by the name of a logical tile's value that of the tile that it is part of.
        parameters: of the scratchpad, by symbol.
        parameter_words: by the symbol of a buffer that cores read a parameter from the index of its word.
        parameter_locks: by the name of a core's tile that of the lock on which it waits for its parameters.
    """

    name: str
    device: str
    operation: Operation
    tiles: dict[str, TileDescription] = field(default_factory=dict)
    buffers: dict[str, BufferDescription] = field(default_factory=dict)
    locks: dict[str, LockDescription] = field(default_factory=dict)
    chains: list[ChainDescription] = field(default_factory=list)
    chain_symbols: dict[str, Operation] = field(default_factory=dict)
    flows: list[FlowDescription] = field(default_factory=list)
    switches: list[SwitchDescription] = field(default_factory=list)
    allocations: dict[str, AllocationDescription] = field(default_factory=dict)
    fifos: dict[str, FifoDescription] = field(default_factory=dict)
    links: list[LinkDescription] = field(default_factory=list)
    cores: list[CoreDescription] = field(default_factory=list)
    cascades: list[CascadeDescription] = field(default_factory=list)
    cascade_sides: list[CascadeSides] = field(default_factory=list)
    sequences: dict[str, Operation] = field(default_factory=dict)
    functions: dict[str, Operation] = field(default_factory=dict)
    constants: dict[str, Operation] = field(default_factory=dict)
    numbers: dict[str, int | float] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, list[Operation]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, ParameterDescription] = field(default_factory=dict)
    parameter_words: dict[str, int] = field(default_factory=dict)
    parameter_locks: dict[str, str] = field(default_factory=dict)

    @property
    def symbol(self) -> str:
        """Its name; a device without one is ``main`` in mlir-aie, and prints leave that name out."""
        return self.name or "main"
