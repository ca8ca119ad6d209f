"""Hypothesis strategies for tiling parameters: small ones, rich in borders, overlap and gaps."""

from __future__ import annotations

from hypothesis import strategies as st

from memtile.access.tiling import TilingParameters, TraversingParameters


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
