"""Descriptors and tilings: what ``memtile bd`` and ``memtile lower`` read and write."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from memtile.access.element_types import ELEMENT_BITS
from memtile.access.tiling_cases import MEMORIES
from memtile.documents import Count, Positive, among, limited, one_of
from memtile.schemas.common import (
    Descriptor,
    Dims,
    First,
    Length,
    Line,
    Number,
    OutOfOrderId,
    Pads,
    Problem,
    Refused,
    Release,
    Tile,
    Words,
)

_NEVER = Annotated[Any, Meta(extra_json_schema={"not": {}})]


@limited(additionalProperties=True)
class WordsCase(TypedDict):
    """Register words of a BD.

    Attributes:
        bd: Number of the BD; 0 if omitted.
        words: Register words, word 0 first.
    """

    tile: NotRequired[Tile]
    bd: NotRequired[Count | None]
    words: list[Number]


@limited(additionalProperties=True)
class WordsCases(TypedDict):
    """Register words of several BDs."""

    cases: list[WordsCase]
    tile: NotRequired[_NEVER]


DecodeInput = Annotated[Any, one_of(WordsCase, list[WordsCase], WordsCases)]


class GivenIteration(TypedDict):
    """Offset that grows with each execution, in words."""

    step: int
    wrap: int
    current: NotRequired[int]


class GivenAcquire(TypedDict):
    """Lock taken before the first access; value below 0 waits for at least -value."""

    id: int
    value: int
    enable: NotRequired[bool]


class GivenPacket(TypedDict):
    """Packet header that MM2S sends first."""

    id: int
    type: NotRequired[int]


class GivenAxi(TypedDict, total=False):
    """AXI attributes; interface tiles."""

    burst: int
    qos: int
    cache: int
    smid: int
    secure: bool


class Remarks(TypedDict, total=False):
    """Keys that are ignored."""

    code: Any
    driver: Any
    expect: Any
    fields: Any
    id: Any
    in_range: Any
    note: Any
    origin: Any
    reason: Any
    words: Any


class DescriptorCase(Remarks):
    """A buffer descriptor.

    Attributes:
        bd: Number of the BD.
        next: BD that follows in the chain.
    """

    tile: Tile
    bd: NotRequired[Count | None]
    length: Length
    address: First
    dims: NotRequired[Dims]
    pad: NotRequired[Pads]
    iteration: NotRequired[GivenIteration | None]
    next: NotRequired[int | None]
    acquire: NotRequired[GivenAcquire | None]
    release: NotRequired[Release | None]
    packet: NotRequired[GivenPacket | None]
    ooo_id: NotRequired[OutOfOrderId]
    compression: NotRequired[bool]
    tlast_suppress: NotRequired[bool]
    valid: NotRequired[bool]
    axi: NotRequired[GivenAxi | None]


@limited(additionalProperties=True)
class DescriptorCases(TypedDict):
    """Several descriptors."""

    cases: list[DescriptorCase]
    tile: NotRequired[_NEVER]


EncodeInput = Annotated[Any, one_of(DescriptorCase, list[DescriptorCase], DescriptorCases)]
_Decoded = Annotated[Any, one_of(Descriptor, Refused)]
DecodeOutput = Annotated[Any, one_of(Descriptor, Refused, list[_Decoded])]


class Encoded(TypedDict):
    """Register words of a descriptor.

    Attributes:
        bd: Number of the BD, 0 if the input names none.
        notes: What is legal and seldom meant.
    """

    tile: Tile
    bd: Count
    words: Words
    notes: NotRequired[list[str]]


_Encoded = Annotated[Any, one_of(Encoded, Refused)]
EncodeOutput = Annotated[Any, one_of(Encoded, Refused, list[_Encoded])]


class Picture(TypedDict):
    """A cut-out of numbers in rows.

    Attributes:
        cells: Rows of the picture; null is a zero, or a word that is not touched.
        row_words: Words of a whole row.
        block_rows: Rows of a block; 0 = no blocks.
    """

    title: str
    cells: list[list[int | None]]
    row_words: Count
    block_rows: Count
    rows_left_out: Count


class Explanation(TypedDict):
    """An explanation of a descriptor.

    Attributes:
        lines: Sentences in the order in which things happen.
        problems: Why the tile would not run it as it is; empty if it is legal.
    """

    descriptor: Descriptor
    words: Words
    lines: list[Line]
    pictures: list[Picture]
    problems: list[Problem]


ExplainOutput = Annotated[Any, one_of(Explanation, list[Explanation])]


class Loop(TypedDict):
    """A loop over the tiles; stride in elements."""

    dimension: int
    stride: int
    wrap: int


class MemrefCase(TypedDict):
    """MLIR's memref, instead of all members of a tiling.

    Attributes:
        offset: First element.
        sizes: Elements per axis, outermost first.
        strides: Distance of neighbours per axis, in elements.
        elements: Elements of the whole buffer; as many as are covered if omitted.
    """

    offset: NotRequired[int]
    sizes: list[int]
    strides: list[int]
    elements: NotRequired[int | None]


class Labels(TypedDict):
    """Numbers of the elements of a buffer."""

    shape: list[Positive]
    weights: list[int]


@limited(additionalProperties=True)
class ExpectedCase(TypedDict):
    """A published sequence to compare with."""

    kind: Literal["identity", "values", "prefix", "memory"]
    values: NotRequired[list[int]]
    labels: NotRequired[Labels | None]
    read: NotRequired[str]


@limited(additionalProperties=True)
class CompilerCase(TypedDict, total=False):
    """What AMD's compiler makes of it."""

    bds_for_this_port: Count | None


_VectorType = Annotated[str, Meta(pattern="^v[1-9][0-9]{0,2}[a-z]+[0-9]*$")]
_ElementType = Annotated[str | None, among((*ELEMENT_BITS, None))]


@limited(
    allOf=[
        {"oneOf": [{"required": ["buffer_dimension"]}, {"required": ["memref"]}]},
        {"anyOf": [{"required": ["element_bits"]}, {"required": ["element_type"]}]},
    ]
)
class Tiling(TypedDict, total=False):
    """Tiling parameters (UG1603), and where they are used.

    Attributes:
        buffer_dimension: Elements per dimension, dimension 0 contiguous.
        tiling_dimension: Elements of a tile per dimension.
        offset: First element of the first tile per dimension.
        tile_traversal: Loops over the tiles, innermost first.
        boundary_dimension: Elements that are there; zeros beyond.
        memory: Where the buffer is.
        access: read = MM2S, write = S2MM.
        element_type: Element type of AMD's graphs, or a vector of them such as v16int8; instead of
            element_bits.
        element_bits: Bits of an element.
        id: Name in messages.
        name: Name in messages, as id.
        legal: False for a tiling that is known to be refused.
    """

    buffer_dimension: list[int]
    tiling_dimension: list[int] | None
    offset: list[int] | None
    tile_traversal: list[Loop]
    boundary_dimension: list[int] | None
    packet_port_id: int
    repetition: int
    phase: int
    buffer_iteration: int
    memory: Annotated[str, among(MEMORIES)]
    access: Literal["read", "write"]
    element_type: Annotated[Any, one_of(_ElementType, _VectorType)]
    element_bits: Annotated[int | None, among((*sorted(set(ELEMENT_BITS.values())), None))]
    id: str
    name: str
    memref: MemrefCase
    legal: bool
    expected: ExpectedCase | None
    compiler: CompilerCase | None
    chain: Any
    num_buffers: Any
    pair: Any
    repetition_count: Any
    source: Any
    template_values: Any
    what: Any


@limited(additionalProperties=True)
class Tilings(TypedDict):
    """Several tilings."""

    tilings: list[Tiling]
    buffer_dimension: NotRequired[_NEVER]


LowerInput = Annotated[Any, one_of(Tiling, list[Tiling], Tilings)]


class ChannelTask(TypedDict):
    """A task that the channel is given.

    Attributes:
        bds: BD numbers of its chain; the first one starts the task.
        runs: How often the chain runs.
    """

    bds: list[Count]
    runs: Positive


class Lowered(TypedDict):
    """The descriptors of a tiling.

    Attributes:
        descriptors: In the order in which they run, for a buffer at word 0.
        runs: How often the whole chain runs; of several tasks, all their runs together.
        tasks: What the channel is given, in order.
        elements: Element indices of the stream, -1 is padding; with --elements.
    """

    descriptors: list[Descriptor]
    bds: Count
    runs: Count
    tasks: list[ChannelTask]
    elements: NotRequired[list[Annotated[int, Meta(ge=-1)]]]


_Lowered = Annotated[Any, one_of(Lowered, Refused)]
LowerOutput = Annotated[Any, one_of(Lowered, Refused, list[_Lowered])]
