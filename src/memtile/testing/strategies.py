"""Hypothesis strategies: buffer descriptors, their register words, and tiling parameters.

Limits of descriptors come from the tables of ``arch``; tilings are small, rich in borders, overlap and gaps.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from memtile.access.tiling import TilingParameters, TraversingParameters
from memtile.arch.tiles import TILE_KINDS, TileKind, TileName
from memtile.bd.codec import pack
from memtile.bd.descriptor import Acquire, Axi, Descriptor, Dim, Iteration, Packet, Pad, Release
from memtile.bd.fields import has_axi, padded_dimensions
from memtile.bd.legality import contiguous_end
from memtile.bd.windows import DmaAddress, DmaLock

TILES: tuple[TileName, ...] = tuple(TILE_KINDS)


@st.composite
def descriptors(draw: st.DrawFn, tile: TileName | None = None) -> Descriptor:
    """Legal descriptors: every one encodes. Walks may leave the memory, as the registers allow.

    Args:
        draw: supplied by Hypothesis.
        tile: tile kind; any when absent.
    """
    kind = TILE_KINDS[draw(st.sampled_from(TILES)) if tile is None else tile]
    pad = draw(_pads(kind)) if kind.has_padding else ()
    dims = draw(_dims(kind, pad))
    address = draw(st.integers(0, kind.dma_address_words - 1))
    length = draw(st.integers(0, _longest(kind, address, dims)))
    return Descriptor(
        tile=kind.name,
        length=length,
        address=DmaAddress(address),
        dims=dims,
        pad=pad,
        iteration=draw(_fields(kind, Iteration, "Iteration_Stepsize", "Iteration_Wrap", "Iteration_Current")),
        next=draw(st.none() | st.integers(0, kind.bds - 1)),
        acquire=Acquire(draw(_locks(kind)), draw(_field(kind, "Lock_Acq_Value")), draw(st.booleans())),
        release=Release(draw(_locks(kind)), draw(_field(kind, "Lock_Rel_Value"))),
        packet=draw(st.none() | _fields(kind, Packet, "Packet_ID", "Packet_Type")),
        ooo_id=draw(_field(kind, "Out_Of_Order_BD_ID")),
        compression=kind.has_compression and draw(st.booleans()),
        tlast_suppress=draw(st.booleans()),
        valid=draw(st.booleans()),
        axi=draw(_axi(kind)) if has_axi(kind) else Axi(),
    )


@st.composite
def register_words(draw: st.DrawFn, tile: TileName) -> tuple[int, ...]:
    """Register words with any value in any field: reserved bits 0, burst code defined, otherwise unruly."""
    kind = TILE_KINDS[tile]
    values = {name: draw(_field(kind, name)) for name in kind.bd_fields}
    if has_axi(kind):
        values["Burst_Length"] = draw(_bursts(kind))
    return pack(kind, values)


def _field(kind: TileKind, name: str, *, low: int | None = None) -> st.SearchStrategy[int]:
    """Values of a field, with the ends of its range more often than chance would give them."""
    minimum, maximum = kind.limits(name)
    minimum = minimum if low is None else low
    return st.integers(minimum, maximum) | st.sampled_from((minimum, maximum))


def _fields(kind: TileKind, make: Any, *names: str) -> st.SearchStrategy[Any]:
    return st.builds(make, *(_field(kind, name) for name in names))


def _locks(kind: TileKind) -> st.SearchStrategy[DmaLock]:
    return st.integers(0, kind.locks * len(kind.lock_windows) - 1).map(DmaLock)


@st.composite
def _pads(draw: st.DrawFn, kind: TileKind) -> tuple[Pad, ...]:
    count = draw(st.integers(0, padded_dimensions(kind)))
    return tuple(draw(_fields(kind, Pad, f"D{n}_Zero_Before", f"D{n}_Zero_After")) for n in range(count))


@st.composite
def _dims(draw: st.DrawFn, kind: TileKind, pad: tuple[Pad, ...]) -> tuple[Dim, ...]:
    """Dimensions that wrap wherever padding needs them to."""
    last = kind.dimensions - 1
    needed = max((n + (p.after > 0) for n, p in enumerate(pad) if any(p)), default=0)
    dims = []
    for n in range(draw(st.integers(needed, kind.dimensions))):
        wrap = 0 if n == last else draw(_field(kind, f"D{n}_Wrap", low=1 if n < needed else 0))
        still = f"D{n}_Stepsize_Zero" in kind.bd_fields and draw(st.booleans())
        dims.append(Dim(0 if still else draw(_field(kind, f"D{n}_Stepsize")), wrap))
    return tuple(dims)


def _longest(kind: TileKind, address: int, dims: tuple[Dim, ...]) -> int:
    """The longest legal length; a contiguous walk has to end inside the address space."""
    longest, end = kind.limits("Buffer_Length")[1], contiguous_end(kind)
    contiguous = all(dim == Dim(1, 0) for dim in dims)
    return min(longest, end - address) if contiguous and end is not None else longest


def _axi(kind: TileKind) -> st.SearchStrategy[Axi]:
    qos, cache, smid = (_field(kind, name) for name in ("AxQoS", "AxCache", "SMID"))
    return st.builds(Axi, _bursts(kind), qos, cache, smid, st.booleans())


def _bursts(kind: TileKind) -> st.SearchStrategy[int]:
    return st.sampled_from(kind.bd_fields["Burst_Length"].codes)


@st.composite
def tilings(draw: st.DrawFn, most: int = 6, unit: int = 1, inside: bool = False) -> TilingParameters:
    """Legal tilings of one to four dimensions.

    Args:
        draw: supplied by Hypothesis.
        most: largest buffer dimension, in units on dimension 0.
        unit: everything along dimension 0 is a multiple of this many elements.
        inside: no access outside the buffer, as all but memory tile reads need.
    """
    rank = draw(st.integers(1, 4))
    grain = [unit] + [1] * (rank - 1)
    sizes = [draw(st.integers(1, most)) for _ in range(rank)]
    tile = [draw(st.integers(1, min(most, 4))) for _ in range(rank)]
    offset = [draw(st.integers(-3, 3)) for _ in range(rank)]
    loops = [
        TraversingParameters(
            dimension=d,
            stride=draw(st.integers(1, max(sizes[d], tile[d]))) * grain[d],
            wrap=draw(st.integers(1, 4)),
        )
        for d in draw(st.lists(st.integers(0, rank - 1), max_size=3))
    ]
    if inside:
        offset = [abs(first) for first in offset]
        sizes = [_end(d, offset[d] * grain[d] + tile[d] * grain[d], loops) // grain[d] for d in range(rank)]
    boundary = [draw(st.integers(1, size)) for size in sizes]
    return TilingParameters(
        buffer_dimension=_scaled(sizes, grain),
        tiling_dimension=_scaled(tile, grain),
        offset=_scaled(offset, grain),
        tile_traversal=tuple(loops),
        boundary_dimension=None if inside else draw(st.sampled_from([None, _scaled(boundary, grain)])),
        repetition=draw(st.sampled_from([1, 1, 1, 2, 3])),
    )


def _end(d: int, first_end: int, loops: list[TraversingParameters]) -> int:
    return first_end + sum((loop.wrap - 1) * loop.stride for loop in loops if loop.dimension == d)


def _scaled(values: list[int], grain: list[int]) -> tuple[int, ...]:
    return tuple(value * factor for value, factor in zip(values, grain, strict=True))
