"""What several documents have in common: tiles, descriptors, problems, constants of a run."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from memtile.arch.tiles import TILE_KINDS
from memtile.documents import Count, Word, among

Tile = Annotated[
    str,
    among(TILE_KINDS),
    Meta(description="Tile kind; those without suffix are AIE-ML's, _2p are AIE2P's, _v2 are AIE-ML v2's."),
]
Words = list[Word]
Number = Annotated[
    Count | Annotated[str, Meta(min_length=1, max_length=40)],
    Meta(description="A number, or a text with one: decimal, or with the prefix 0x, 0o or 0b."),
]
Length = Annotated[int, Meta(description="Stream words of one execution, zeros included.")]
First = Annotated[int, Meta(description="First word as the DMA of the tile sees it.")]
Dims = Annotated[
    list[tuple[int, int | None]],
    Meta(
        description="[step, wrap] in words, innermost first; wrap null where the dimension has no wrap field."
    ),
]
Pads = Annotated[
    list[tuple[int, int]],
    Meta(description="[before, after] zeros around each dimension, innermost first; memory tiles, MM2S."),
]
OutOfOrderId = Annotated[int, Meta(description="Out-of-order BD id in the packet header.")]


class Iteration(TypedDict):
    """Offset that grows with each execution, in words."""

    step: int
    wrap: int
    current: int


class Acquire(TypedDict):
    """Lock taken before the first access; value below 0 waits for at least -value."""

    id: int
    value: int
    enable: bool


class Release(TypedDict):
    """Lock given after the last access."""

    id: int
    value: int


class Packet(TypedDict):
    """Packet header that MM2S sends first."""

    id: int
    type: int


class Axi(TypedDict):
    """AXI attributes; interface tiles."""

    burst: int
    qos: int
    cache: int
    smid: int
    secure: bool


class Descriptor(TypedDict):
    """A buffer descriptor; parts that say nothing are left out.

    Attributes:
        bd: Number of the BD.
        next: BD that follows in the chain.
    """

    tile: Tile
    bd: Count
    length: Length
    address: First
    dims: Dims
    pad: Pads
    iteration: NotRequired[Iteration]
    next: NotRequired[Count]
    acquire: NotRequired[Acquire]
    release: NotRequired[Release]
    packet: NotRequired[Packet]
    ooo_id: OutOfOrderId
    compression: bool
    tlast_suppress: bool
    valid: bool
    axi: NotRequired[Axi]


class Line(TypedDict):
    """A sentence about a descriptor."""

    topic: str
    text: str


class Problem(TypedDict):
    """One thing that is wrong with an input.

    Attributes:
        reason: Stable snake_case code that scripts may compare.
        message: The problem as a text for people; its wording may change.
    """

    reason: str
    where: str
    field: str
    given: str
    allowed: str
    source: str
    next_step: str
    message: str


class Error(TypedDict):
    """Why there is no answer: the first problem, and all of them if there are more."""

    reason: str
    field: str
    message: str
    problems: NotRequired[Annotated[list[Problem], Meta(min_length=2)]]


class Refused(TypedDict):
    """There is no answer."""

    error: Error


class ChosenTiming(TypedDict):
    """A timing constant that had not its default."""

    name: str
    value: int
    default: int
