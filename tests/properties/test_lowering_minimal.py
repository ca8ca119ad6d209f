"""Could fewer descriptors do it? For short streams every descriptor there is gets tried, by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from hypothesis import assume, given, settings

from memtile.access.lowering.lower import lower
from memtile.access.request import words
from memtile.access.tiling import TilingParameters
from memtile.arch.tiles import TILE_KINDS, TileName
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


def fewest(stream: list[int], tile: TileName) -> int:
    """Fewest descriptors over all cuts and all numbers of runs."""
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


@given(tilings(most=4))
@settings(max_examples=120, deadline=None)
def test_no_padded_chain_is_shorter(tiling: TilingParameters) -> None:
    request = tiling.request(32)
    assume(request.size <= LONGEST)
    assert len(lower(request, "memory").descriptors) == fewest(words(request).tolist(), "memory")


@given(tilings(most=3, inside=True))
@settings(max_examples=120, deadline=None)
def test_no_chain_of_a_compute_tile_is_shorter(tiling: TilingParameters) -> None:
    request = tiling.request(32)
    assume(request.size <= LONGEST)
    assert len(lower(request, "compute").descriptors) == fewest(words(request).tolist(), "compute")
