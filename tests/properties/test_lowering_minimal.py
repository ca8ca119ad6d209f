"""Could fewer descriptors or tasks do it? For short streams all there are get tried, by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memtile.access.lowering.fit import Fields
from memtile.access.lowering.lower import best_plan, lower
from memtile.access.lowering.queue_tasks import Limits, cost
from memtile.access.request import words
from memtile.access.tiling import TilingParameters
from memtile.arch.tiles import MEMORY, TILE_KINDS, TileName
from memtile.testing.strategies import tilings

LONGEST = 12
Row = tuple[int, int, int]  # before, wrap, after


def rows(units: int, padded: bool) -> Iterator[Row]:
    """Every row that looks different within ``units`` units."""
    for before in range(units if padded else 1):
        for wrap in range(1, units - before + 1):
            for after in range(units - before - wrap + 1 if padded else 1):
                yield before, wrap, after


def nests(length: int, padded: bool, dims: int) -> Iterator[tuple[Row, ...]]:
    if dims == 0:
        yield ()
        return
    for row in rows(length, padded):
        for outer in nests(-(-length // sum(row)), padded, dims - 1):
            yield (row, *outer)


def counters(length: int, nest: tuple[Row, ...]) -> tuple[tuple[int, ...] | None, ...]:
    """Counter values per stream word, None for padding."""
    table: list[tuple[int, ...] | None] = []
    for word in range(length):
        position, values = word, []
        for before, wrap, after in nest:
            position, inside = divmod(position, before + wrap + after)
            values.append(inside - before if before <= inside < before + wrap else -1)
        values.append(position)
        table.append(tuple(values) if min(values) >= 0 else None)
    return tuple(table)


@cache
def walks(length: int, padded: bool, dims: int) -> list[tuple[tuple[int, ...] | None, ...]]:
    """Every different way in which one descriptor can step through ``length`` words."""
    return list({counters(length, nest): None for nest in nests(length, padded, dims - 1)})


def follows(stream: tuple[int, ...], walk: tuple[tuple[int, ...] | None, ...], dims: int) -> bool:
    """Whether some steps make ``walk`` give ``stream``."""
    if any((place is None) != (word < 0) for place, word in zip(walk, stream, strict=True)):
        return False
    known = {place: word for place, word in zip(walk, stream, strict=True) if place is not None}
    origin = known.get((0,) * dims, 0)
    units = [tuple(int(d == e) for e in range(dims)) for d in range(dims)]
    steps = [known.get(unit, origin + 1) - origin for unit in units]
    return min(steps) >= 1 and all(
        word == origin + sum(c * s for c, s in zip(place, steps, strict=True))
        for place, word in known.items()
    )


@cache
def is_one(stream: tuple[int, ...], tile: TileName) -> bool:
    kind = TILE_KINDS[tile]
    padded = min(stream) < 0
    if padded and (not kind.has_padding or max(stream) < 0):
        return kind.has_padding
    return any(follows(stream, walk, kind.dimensions) for walk in walks(len(stream), padded, kind.dimensions))


def iterates(turns: np.ndarray) -> bool:
    """Whether one iteration step and wrap leads from the first turn of a piece to the others."""
    data = turns[:, turns[0] >= 0]
    moves = data - data[:1]
    if (moves != moves[:, :1]).any():
        return False
    first = moves[:, 0].tolist() if data.size else [0] * len(turns)
    return any(
        first == [run % wrap * step for run in range(len(first))]
        for wrap in range(1, len(first) + 1)
        for step in [first[1] if wrap > 1 else 1]
        if step >= 1
    )


def one_chain(stream: tuple[int, ...], tile: TileName) -> int:
    """Fewest descriptors of one task over all cuts and all numbers of runs."""
    best = len(stream)
    for runs in range(1, len(stream) + 1):
        if len(stream) % runs:
            continue
        turns = np.array(stream).reshape(runs, -1)
        if ((turns < 0) != (turns[0] < 0)).any():
            continue
        need = [0]
        for stop in range(1, turns.shape[1] + 1):
            starts = [
                need[start] + 1
                for start in range(stop)
                if is_one(tuple(turns[0, start:stop].tolist()), tile) and iterates(turns[:, start:stop])
            ]
            need.append(min(starts, default=LONGEST))
        best = min(best, need[-1])
    return best


def fewest(stream: tuple[int, ...], tile: TileName) -> tuple[int, int]:
    """Fewest descriptors over all cuts into as many tasks as a queue holds, and then fewest tasks."""
    chains = {
        (start, stop): one_chain(stream[start:stop], tile)
        for start in range(len(stream))
        for stop in range(start + 1, len(stream) + 1)
    }
    need, found = {0: 0}, []
    for tasks in range(1, TILE_KINDS[tile].queue_depth + 1):
        need = {
            stop: min(need[start] + chains[start, stop] for start in need if start < stop)
            for stop in range(1, len(stream) + 1)
            if any(start < stop for start in need)
        }
        found += [(need[len(stream)], tasks)] if len(stream) in need else []
    return min(found)


def lowered(tiling: TilingParameters, tile: TileName) -> tuple[int, int]:
    result = lower(tiling.request(32), tile)
    return len(result.descriptors), len(result.tasks)


@given(tilings(most=4))
@settings(max_examples=120, deadline=None)
def test_no_padded_chain_is_shorter(tiling: TilingParameters) -> None:
    request = tiling.request(32)
    assume(request.size <= LONGEST)
    assert lowered(tiling, "memory") == fewest(tuple(words(request).tolist()), "memory")


@given(tilings(most=3, inside=True))
@settings(max_examples=120, deadline=None)
def test_no_chain_of_a_compute_tile_is_shorter(tiling: TilingParameters) -> None:
    request = tiling.request(32)
    assume(request.size <= LONGEST)
    assert lowered(tiling, "compute") == fewest(tuple(words(request).tolist()), "compute")


@st.composite
def rows_of_words(draw: st.DrawFn) -> list[int]:
    """A few words in blocks that come again further up, so that some streams are best cut into tasks."""
    out: list[int] = []
    for _ in range(draw(st.integers(1, 3))):
        block = draw(st.lists(st.integers(-1, 12), min_size=1, max_size=3))
        step = draw(st.integers(0, 5))
        out += [
            word + run * step if word >= 0 else -1 for run in range(draw(st.integers(1, 4))) for word in block
        ]
    return out[:LONGEST]


@given(rows_of_words())
@settings(max_examples=150, deadline=None)
def test_no_tasks_for_any_few_words_need_less(asked: list[int]) -> None:
    limits = Limits(MEMORY.queue_depth, MEMORY.max_repeat, len(MEMORY.bd_bank(0)))
    plan = best_plan(None, np.array(asked), Fields(MEMORY), limits)
    assert plan is not None
    assert cost(plan)[:2] == fewest(tuple(asked), "memory")
