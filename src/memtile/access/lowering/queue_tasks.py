"""Several tasks where they need fewer descriptors than one chain: what differs at an edge has its own.

Each task is a chain that runs several times, every descriptor moved on by its own iteration step (AM025: a
wrap of at most 64 in at most 256 runs), so pieces of a stream that come again a constant step further up cost
one descriptor for all of them. The pieces are those of one long chain; a dynamic program over them finds the
fewest descriptors, then the fewest tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from memtile.access.lowering.chain import Chain, best_chain
from memtile.access.lowering.fit import Fields, Shape
from memtile.access.lowering.nest import Item, joined

PIECES = 1 << 12  # longest chain that is looked at
_NEVER = 1 << 20  # descriptors of what cannot be done

Counts = NDArray[np.int64]


class Limits(NamedTuple):
    """How many tasks a channel takes at once, how often each may run, and the descriptors for all of them."""

    tasks: int
    runs: int
    bds: int


def cost(plan: Sequence[Chain]) -> tuple[int, int, int]:
    """The cost of chains, to compare: descriptors, then tasks, then runs."""
    return sum(len(chain.shapes) for chain in plan), len(plan), sum(chain.runs for chain in plan)


def fewest_tasks(items: Sequence[Item], fields: Fields, limits: Limits) -> tuple[Chain, ...] | None:
    """Tasks for ``items`` in order, or None when there are none within the limits."""
    found = [_by_items(joined(items), fields, limits)]
    long = best_chain(items, fields, PIECES, 1)
    if long is not None and len(long.shapes) > 1:
        found.append(periodic_tasks(long.shapes, fields, limits))
    return min((plan for plan in found if plan is not None), key=cost, default=None)


def _one_more(
    last: Sequence[tuple[Chain, ...] | None], chains: Mapping[tuple[int, int], Chain | None], stop: int
) -> tuple[Chain, ...] | None:
    """The cheapest tasks of the items up to ``stop``: those of fewer items, by ``last``, and one more."""
    plans = [
        (*before, chain)
        for start in range(stop)
        if (before := last[start]) is not None and (chain := chains[start, stop]) is not None
    ]
    return min(plans, key=cost, default=None)


def _by_items(items: Sequence[Item], fields: Fields, limits: Limits) -> tuple[Chain, ...] | None:
    """A task for every item or stretch of items, each with its own loops; None for many items."""
    if not 1 < len(items) <= limits.bds:
        return None
    best: list[list[tuple[Chain, ...] | None]] = [[()] + [None] * len(items)]
    chains = {
        (start, stop): best_chain(items[start:stop], fields, limits.bds, limits.runs)
        for start in range(len(items))
        for stop in range(start + 1, len(items) + 1)
    }
    for _ in range(limits.tasks):
        row = [_one_more(best[-1], chains, stop) for stop in range(1, len(items) + 1)]
        best.append([(), *row])
    plans = [plan for row in best[1:] if (plan := row[-1]) and cost(plan)[0] <= limits.bds]
    return min(plans, key=cost, default=None)


def periodic_tasks(shapes: Sequence[Shape], fields: Fields, limits: Limits) -> tuple[Chain, ...] | None:
    """Consecutive ``shapes`` as chains that come again: fewest descriptors, then tasks, within the limits."""
    pieces = _Pieces(shapes, fields, limits)
    rests = [np.full(len(shapes) + 1, _NEVER, np.int64)]  # by number of tasks: BDs from each piece on
    rests[0][-1] = 0
    for _ in range(limits.tasks):
        rests.append(pieces.with_one_more(rests[-1]))
    needed = [int(rest[0]) for rest in rests]
    tasks = needed.index(min(needed))
    if needed[tasks] > limits.bds:
        return None
    return tuple(pieces.trace(rests[tasks::-1]))


@dataclass
class _Pieces:
    """The pieces of a chain, and which stretches of them one task can do."""

    shapes: Sequence[Shape]
    fields: Fields
    limits: Limits

    def __post_init__(self) -> None:
        kinds: dict[object, int] = {}
        self.bases = np.array([shape.base for shape in self.shapes], np.int64)
        self.kinds = np.array(
            [kinds.setdefault((shape.length, shape.loops), len(kinds)) for shape in self.shapes], np.int64
        )
        most = min(len(self.shapes), self.limits.bds)
        self.reaches = {size: self._reach(size) for size in range(1, most + 1)}

    def with_one_more(self, rest: Counts) -> Counts:
        """Descriptors from each piece on, with one task more than ``rest`` has."""
        best = rest.copy()
        count = len(self.shapes)
        for size, (runs, _) in self.reaches.items():
            for times in range(1, int(runs.max()) + 1):
                starts = np.flatnonzero(runs[: count + 1 - size * times] >= times)
                if not len(starts):
                    break
                best[starts] = np.minimum(best[starts], rest[starts + size * times] + size)
        return best

    def trace(self, rests: Sequence[Counts]) -> Iterator[Chain]:
        """The tasks from the first piece on; ``rests`` are with ever fewer of them."""
        start = 0
        for rest, after in pairwise(rests):
            size, times = next(self._steps(start, int(rest[start]), after))
            yield self._chain(start, size, times)
            start += size * times

    def _steps(self, start: int, needed: int, after: Counts) -> Iterator[tuple[int, int]]:
        for size, (runs, _) in self.reaches.items():
            for times in range(int(runs[start]) if start < len(runs) else 0, 0, -1):
                if after[start + size * times] + size == needed:
                    yield size, times

    def _chain(self, start: int, size: int, times: int) -> Chain:
        chain = self.shapes[start : start + size]
        if times == 1:
            return Chain(tuple(chain))
        wraps = np.minimum(times, self.reaches[size][1][start : start + size]).tolist()
        steps = (self.bases[start + size : start + 2 * size] - self.bases[start : start + size]).tolist()
        moves = zip(chain, steps, wraps, strict=True)
        return Chain(
            tuple(shape.iterated(step, wrap) if step else shape for shape, step, wrap in moves), times
        )

    def _reach(self, size: int) -> tuple[Counts, Counts]:
        """Per first piece: runs that a chain of ``size`` pieces can have; per piece: until it is back."""
        count = len(self.shapes)
        same, steps = self._against(size)
        held = same & (steps >= 0) & (steps <= self.fields.iteration_step)
        steady = held[:-size] & held[size:] & (steps[:-size] == steps[size:])
        runs, wraps = np.ones(count, np.int64), np.ones(count, np.int64)
        going = np.flatnonzero(held)
        runs[going] = 2
        runs[: len(steady)] += np.where(held[: len(steady)], _stretch(steady, size), 0)
        moving = going[steps[going] > 0]
        wraps[moving] = runs[moving] = np.minimum(runs[moving], self.fields.iteration_wrap)
        for turns in sorted(set(wraps[moving].tolist())):  # np.unique imports more than a short run does
            again = _stretch(self._equal(size * turns), size)
            back = moving[(wraps[moving] == turns) & (moving < len(again))]
            runs[back] += again[back]
        chains = sliding_window_view(np.minimum(runs, self.limits.runs), size)
        return chains.min(axis=1), wraps

    def _equal(self, lag: int) -> NDArray[np.bool_]:
        """Per piece whether the one ``lag`` later is the same at the same place."""
        same, steps = self._against(lag)
        still: NDArray[np.bool_] = same & (steps == 0)
        return still

    def _against(self, lag: int) -> tuple[NDArray[np.bool_], Counts]:
        """Per piece whether the one ``lag`` later looks the same, and how far up in memory it is."""
        stop = max(len(self.bases) - lag, 0)
        return self.kinds[:stop] == self.kinds[lag:], self.bases[lag:] - self.bases[:stop]


def _stretch(true: NDArray[np.bool_], size: int) -> Counts:
    """Per place how many true values follow each other from there on, ``size`` places apart."""
    turns = -(-len(true) // size)
    rows = np.zeros((turns, size), np.bool_)
    rows.reshape(-1)[: len(true)] = true
    places = np.arange(turns)[:, None]
    stops = np.where(rows, turns, places)
    return (np.minimum.accumulate(stops[::-1])[::-1] - places).reshape(-1)[: len(true)]
