"""Do descriptors walk exactly what was asked, for any tiling, element type and tile kind?"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtile.access.lowering.certificate import stream
from memtile.access.lowering.fit import Fields, Shape
from memtile.access.lowering.lower import best_plan, lower
from memtile.access.lowering.queue_tasks import Limits, cost, periodic_tasks
from memtile.access.request import words
from memtile.access.tiling import TilingParameters, tiling_elements
from memtile.access.views import View, pad, sliding_window_view, view
from memtile.access.walk import Loop
from memtile.arch.tiles import MEMORY
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
    assert stream(result.tasks).tolist() == tiling_elements(tiling).tolist()
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
    assert stream(result.tasks).tolist() == expected
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


@st.composite
def padded_views(draw: st.DrawFn) -> View:
    """Windows of padded images, in any order of their axes: the borders of the image make runs differ."""
    height, width, channels = (draw(st.integers(3, 9)), draw(st.integers(3, 9)), draw(st.integers(1, 2)))
    window, stride, pad_by = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 2))
    padded = pad(view((height, width, channels)), ((pad_by, pad_by), (pad_by, pad_by), (0, 0)))
    axes = sliding_window_view(padded, (window, window), (0, 1))[::stride, ::stride]
    return axes.transpose(draw(st.permutations(range(axes.ndim))))


@given(padded_views())
@settings(max_examples=150, deadline=None)
def test_tasks_walk_the_view_with_never_more_descriptors_than_one_chain(order: View) -> None:
    request = order.request()
    result = lower(request, most=200)
    assert stream(result.tasks).tolist() == words(request).tolist()
    assert all(task.runs <= MEMORY.max_repeat for task in result.tasks)
    assert len(result.tasks) <= MEMORY.queue_depth
    assert [check(d) for d in result.descriptors] == [[]] * len(result.descriptors)
    one = best_plan(result.boxes, words(request), Fields(MEMORY), Limits(1, MEMORY.max_repeat, 200))
    assert one is None or (len(result.descriptors), len(result.tasks)) <= cost(one)[:2]


@st.composite
def shape_rows(draw: st.DrawFn) -> list[Shape]:
    """Shapes in order: blocks that come again further up, back where they began, or only once."""
    row: list[Shape] = []
    for _ in range(draw(st.integers(1, 3))):
        size, runs, wrap = draw(st.integers(1, 3)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
        block = [
            (draw(st.integers(0, 3)), draw(st.integers(1, 2)), draw(st.integers(-1, 2))) for _ in range(size)
        ]
        for run in range(runs):
            row += [
                Shape(8 + base + run % wrap * step, length, (Loop(0, length, 0, 1),))
                for base, length, step in block
            ]
    return row[:14]


def fewest_by_trying(shapes: list[Shape], limits: Limits) -> tuple[int, int]:
    """Fewest descriptors and tasks over all ways to cut ``shapes`` into blocks that come again."""

    def runs_of(start: int, stop: int, size: int) -> bool:
        for place in range(start, start + size):
            turns = shapes[place:stop:size]
            if any((t.length, t.loops) != (turns[0].length, turns[0].loops) for t in turns):
                return False
            moves = [t.base - turns[0].base for t in turns]
            steps = [moves[1]] if len(moves) > 1 and moves[1] > 0 else []
            regular = not any(moves) or any(
                moves == [k % wrap * step for k in range(len(moves))]
                for step in steps
                for wrap in range(2, 65)
            )
            if not regular:
                return False
        return True

    need, found = {0: 0}, []
    for tasks in range(1, limits.tasks + 1):
        longer: dict[int, int] = {}
        for start, bds in need.items():
            for stop in range(start + 1, len(shapes) + 1):
                sizes = (
                    n
                    for n in range(1, stop - start + 1)
                    if (stop - start) % n == 0 and runs_of(start, stop, n)
                )
                longer[stop] = min(longer.get(stop, 1 << 20), bds + next(sizes))
        need = longer
        found += [(need[len(shapes)], tasks)] if len(shapes) in need else []
    return min(found)


OWN_WRAPS = [Shape(base, 1, (Loop(0, 1, 0, 1),)) for base in (8, 8, 9, 9, 10, 8)]


@given(shape_rows())
@example(OWN_WRAPS)
@settings(max_examples=300, deadline=None)
def test_blocks_that_come_again_take_the_fewest_descriptors_there_are(shapes: list[Shape]) -> None:
    limits = Limits(4, 256, 24)
    plan = periodic_tasks(shapes, Fields(MEMORY), limits)
    assert plan is not None
    moved = [
        shape.moved(run % shape.wrap * shape.step)
        for chain in plan
        for run in range(chain.runs)
        for shape in chain.shapes
    ]
    assert [(s.base, s.length, s.loops) for s in moved] == [(s.base, s.length, s.loops) for s in shapes]
    assert cost(plan)[:2] == fewest_by_trying(shapes, limits)
