"""Do descriptors walk exactly what was asked, for any tiling, element type and tile kind?"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.access.lowering.certificate import stream
from memtile.access.lowering.lower import lower
from memtile.access.request import words
from memtile.access.tiling import TilingParameters, tiling_elements
from memtile.bd.legality import check
from memtile.errors import TransferError
from memtile.testing.strategies import tilings


def by_counting(tiling: TilingParameters) -> list[int]:
    """UG1603's words: traversal loops, then the tile, dimension 0 fastest; zero outside the boundary."""
    loops = [range(loop.wrap) for loop in reversed(tiling.tile_traversal)]
    tile = [range(size) for size in reversed(tiling.tile)]
    out = []
    for index in product(*loops, *tile):
        coordinate = [o + i for o, i in zip(tiling.start, reversed(index[len(loops) :]), strict=True)]
        for loop, turn in zip(reversed(tiling.tile_traversal), index, strict=False):
            coordinate[loop.dimension] += turn * loop.stride
        inside = all(0 <= c < b for c, b in zip(coordinate, tiling.boundary, strict=True))
        pitches = np.cumprod([1, *tiling.buffer_dimension[:-1]])
        out.append(int(np.dot(coordinate, pitches)) if inside else -1)
    return out * tiling.repetition


@pytest.mark.feature("F38", "F39", "F40", "F45")
@given(tilings())
@settings(max_examples=150, deadline=None)
def test_elements_are_those_of_the_guide(tiling: TilingParameters) -> None:
    assert tiling_elements(tiling).tolist() == by_counting(tiling)


@pytest.mark.feature("F36", "F37")
@given(tilings(), st.sampled_from(["memory", "compute", "interface"]))
@settings(max_examples=300, deadline=None)
def test_descriptors_walk_the_tiling(tiling: TilingParameters, tile: Any) -> None:
    request = tiling.request(32)
    if request.padded and tile != "memory":
        with pytest.raises(TransferError) as caught:
            lower(request, tile)
        assert {p.reason for p in caught.value.problems} == {"padding"}
        return
    result = lower(request, tile, most=1000)
    assert stream(result.descriptors, result.runs).tolist() == tiling_elements(tiling).tolist()
    assert result.certificate.holds
    assert [check(d) for d in result.descriptors] == [[]] * len(result.descriptors)


@pytest.mark.feature("F43")
@given(st.data(), st.sampled_from([4, 8, 16, 64, 128]))
@settings(max_examples=200, deadline=None)
def test_sub_word_and_wide_elements(data: Any, bits: int) -> None:
    group = max(32 // bits, 1)
    tiling = data.draw(tilings(unit=data.draw(st.sampled_from([1, group]))))
    request = tiling.request(bits)
    expected = in_words(tiling_elements(tiling), bits)
    if expected is None:
        for refused in (lambda: words(request), lambda: lower(request, most=1000)):
            with pytest.raises(TransferError) as caught:
                refused()
            assert {p.reason for p in caught.value.problems} == {"word_alignment"}
        return
    result = lower(request, most=1000)
    assert stream(result.descriptors, result.runs).tolist() == expected
    assert words(request).tolist() == expected


def in_words(elements: np.ndarray, bits: int) -> list[int] | None:
    """Word addresses of a stream of elements, None when some word is not whole: bit by bit."""
    bit = (elements[:, None] * bits + np.arange(0, bits, 4)).reshape(-1)
    pad = np.repeat(elements < 0, bits // 4)
    out = []
    for first in range(0, len(bit), 8):
        part, zero = bit[first : first + 8], pad[first : first + 8]
        if zero.all() and len(part) == 8:
            out.append(-1)
        elif zero.any() or len(part) < 8 or part[0] % 32 or (np.diff(part) != 4).any():
            return None
        else:
            out.append(int(part[0]) // 32)
    return out
