"""AMD's tiling parameters (UG1603, "Tiling Parameters Specification"): meaning and legality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from memtile.access.request import DimensionExtent, LoopAxis, Request, elements
from memtile.access.walk import Addresses
from memtile.arch.tiles import MEMORY, TileKind
from memtile.errors import Problem, TransferError, raise_if

UG1603 = "UG1603, tiling parameters"
NO_PORT = -1
"""``packet_port_id`` of a tiling that belongs to no packet split or merge."""

_LARGEST = (1 << 31) - 1  # members are 32-bit numbers in AMD's graphs (adf headers)
_SMALLEST = -_LARGEST - 1


@dataclass(frozen=True, slots=True)
class TraversingParameters:
    """One loop over tiles.

    Attributes:
        dimension: buffer dimension it moves along.
        stride: elements between tiles; irrelevant when ``wrap`` is 1.
        wrap: number of tiles.
    """

    dimension: int
    stride: int
    wrap: int


@dataclass(frozen=True, slots=True)
class TilingParameters:
    """One tiling of a buffer; sizes in elements, dimension 0 is contiguous.

    Attributes:
        buffer_dimension: elements per dimension; empty = those of the memory object, see :meth:`over`.
        tiling_dimension: elements of one tile; empty = the whole buffer.
        offset: first coordinate of the first tile, may be negative; empty = 0.
        tile_traversal: loops over tiles, innermost first.
        packet_port_id: port of the packet split or merge this tiling belongs to; -1 = none.
        boundary_dimension: extent of the real data, zero outside; ``None`` = the buffer.
        repetition: how often the whole traversal runs before the next tiling of a chain.
        phase: resource-sharing phase of the AMD compiler; changes no address.
        buffer_iteration: header-only member without published meaning; changes no address.
    """

    buffer_dimension: tuple[int, ...] = ()
    tiling_dimension: tuple[int, ...] = ()
    offset: tuple[int, ...] = ()
    tile_traversal: tuple[TraversingParameters, ...] = ()
    packet_port_id: int = NO_PORT
    boundary_dimension: tuple[int, ...] | None = None
    repetition: int = 1
    phase: int = 0
    buffer_iteration: int = 0

    @property
    def rank(self) -> int:
        """Dimensions of the buffer."""
        return len(self.buffer_dimension)

    @property
    def tile(self) -> tuple[int, ...]:
        """Size of one tile."""
        return self.tiling_dimension or self.buffer_dimension

    @property
    def start(self) -> tuple[int, ...]:
        """First coordinate per buffer dimension."""
        return (*self.offset, *[0] * self.rank)[: self.rank]

    @property
    def boundary(self) -> tuple[int, ...]:
        """Extent of the real data."""
        return self.buffer_dimension if self.boundary_dimension is None else self.boundary_dimension

    def over(self, shape: Sequence[int]) -> TilingParameters:
        """This tiling of a memory object of NumPy shape ``shape``, whose dimensions are the default.

        UG1603: without ``buffer_dimension`` the dimensions of the associated memory object are used.
        """
        return self if self.buffer_dimension else replace(self, buffer_dimension=tuple(reversed(shape)))

    def request(self, element_bits: int) -> Request:
        """The loop nest over the buffer: repetition, traversal loops, then the tile, highest dimension first.

        Raises:
            TransferError: when the parameters contradict themselves; all problems at once.
        """
        raise_if(problems(self), TransferError)
        tile = [LoopAxis(d, size, 1) for d, size in enumerate(self.tile)]
        traversal = [LoopAxis(loop.dimension, loop.wrap, loop.stride) for loop in self.tile_traversal]
        pitches = [prod(self.buffer_dimension[:d]) for d in range(self.rank)]
        return Request(
            element_bits=element_bits,
            extents=tuple(map(DimensionExtent, pitches, self.start, self.boundary)),
            axes=(LoopAxis(0, self.repetition, 0), *reversed(traversal), *reversed(tile)),
            capacity=prod(self.buffer_dimension),
        )


def tiling_elements(*chain: TilingParameters) -> Addresses:
    """Element index of every stream element of the tilings in order: int64, -1 for padding.

    Raises:
        TransferError: when some tiling contradicts itself.
    """
    parts = [elements(tiling.request(element_bits=1)) for tiling in chain]
    return np.concatenate([np.empty(0, np.int64), *parts])


def problems(tiling: TilingParameters, kind: TileKind | None = None) -> list[Problem]:
    """Everything that makes ``tiling`` illegal (in the memory of ``kind`` when given), in member order."""
    return list(_type_problems(tiling)) or [
        *_rank_problems(tiling, kind),
        *_range("buffer_dimension", tiling.buffer_dimension, 1),
        *_range("tiling_dimension", tiling.tiling_dimension, 1),
        *_range("offset", tiling.offset, _SMALLEST, _LARGEST),
        *_range("boundary_dimension", tiling.boundary_dimension or (), 1),
        *_traversal_problems(tiling),
        *_beyond_problems(tiling),
        *_range("repetition", (tiling.repetition,), 1),
        *_range("packet_port_id", (tiling.packet_port_id,), NO_PORT, MEMORY.limits("Packet_ID")[1]),
        *_range("phase", (tiling.phase,), 0),
    ]


def _type_problems(tiling: TilingParameters) -> Iterator[Problem]:
    """Members that are no sequences, and loops that are none; nothing else can be said of them."""
    for name in ("buffer_dimension", "tiling_dimension", "offset", "boundary_dimension", "tile_traversal"):
        value = getattr(tiling, name)
        if not isinstance(value, Sequence) and (value is not None or name != "boundary_dimension"):
            yield _problem(name, repr(value), "a tuple", f"Write {name}=({value!r},) for one number.")
        elif name == "tile_traversal":
            for index, loop in enumerate(tiling.tile_traversal):
                if not isinstance(loop, TraversingParameters):
                    allowed = "TraversingParameters(dimension, stride, wrap)"
                    yield _problem(f"{name}[{index}]", repr(loop), allowed)


def _rank_problems(tiling: TilingParameters, kind: TileKind | None) -> Iterator[Problem]:
    rank = tiling.rank
    if kind and rank > kind.dimensions:
        yield _problem(
            "buffer_dimension",
            f"{rank} dimensions",
            f"at most {kind.dimensions} on the {kind.title}",
            "Join dimensions that are next to each other.",
            says=f"buffer_dimension has {rank} dimensions; the {kind.title} has at most {kind.dimensions}",
        )
    if not rank:
        says = "buffer_dimension is empty; it must have at least 1 dimension"
        yield _problem("buffer_dimension", "no dimension", "at least 1", says=says)
    if tiling.tiling_dimension and len(tiling.tiling_dimension) != rank:
        yield _wrong_rank("tiling_dimension", len(tiling.tiling_dimension), rank)
    if tiling.tiling_dimension and tiling.offset and len(tiling.offset) != rank:
        yield _wrong_rank("offset", len(tiling.offset), rank)
    if tiling.boundary_dimension is not None and len(tiling.boundary_dimension) != rank:
        yield _wrong_rank("boundary_dimension", len(tiling.boundary_dimension), rank)


def _traversal_problems(tiling: TilingParameters) -> Iterator[Problem]:
    for index, loop in enumerate(tiling.tile_traversal):
        name = f"tile_traversal[{index}]"
        if not 0 <= loop.dimension < tiling.rank:
            yield _problem(
                f"{name}.dimension", str(loop.dimension), f"0..{tiling.rank - 1}, the buffer's dimensions"
            )
        yield from _range(f"{name}.wrap", (loop.wrap,), 1, indexed=False)
        strides = (0 if loop.wrap > 1 else _SMALLEST, _LARGEST)  # any stride leads somewhere: DEV-TIL-2
        yield from _range(f"{name}.stride", (loop.stride,), *strides, indexed=False)


def _beyond_problems(tiling: TilingParameters) -> Iterator[Problem]:
    """Coordinates inside a boundary that is larger than the buffer: neither data nor padding."""
    for d, (size, limit) in enumerate(zip(tiling.buffer_dimension, tiling.boundary, strict=False)):
        loops = [loop for loop in tiling.tile_traversal if loop.dimension == d]
        tile = tiling.tile[d] if d < len(tiling.tile) else 1
        high = tiling.start[d] + tile - 1 + sum((loop.wrap - 1) * loop.stride for loop in loops)
        if size < limit and high >= size:
            yield _problem(
                f"boundary_dimension[{d}]",
                str(limit),
                f"at most {size}, the buffer, when tiles reach it",
                says=f"boundary_dimension[{d}] is {limit}; it must be at most {size}, "
                "the size of the buffer, because tiles reach beyond it",
            )


def _range(
    name: str, values: Sequence[int], low: int, high: int | None = None, *, indexed: bool = True
) -> Iterator[Problem]:
    allowed = f"{low} or more" if high is None else f"{low}..{high}"
    several = indexed and len(values) > 1
    for index, value in enumerate(values):
        if value < low or (high is not None and value > high):
            yield _problem(f"{name}[{index}]" if several else name, str(value), allowed)


def _wrong_rank(member: str, given: int, rank: int) -> Problem:
    says = f"{member} has {given} dimension{'s' * (given != 1)}; it must have {rank}, as buffer_dimension has"
    return _problem(member, f"{given} dimensions", f"{rank}, the rank of buffer_dimension", says=says)


def _problem(field: str, given: str, allowed: str, next_step: str = "", *, says: str = "") -> Problem:
    reason = field.split("[")[0].split(".")[0]
    member = field.rpartition(".")[2]
    reason = f"traversal_{member}" if reason == "tile_traversal" else reason
    return Problem(field, given, allowed, says, next_step, reason=reason, where="tiling", source=UG1603)
