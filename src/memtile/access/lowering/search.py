"""The fewest descriptors for a short stream, by exhaustive search over cuts and runs.

A stream that one descriptor makes can be cut anywhere, the length ends it; so from each start there is a
longest piece, and the positions that k descriptors can reach form an interval. Breadth first over these
intervals finds the fewest pieces. The same is tried for every number of runs of the chain, where all words of
a piece must move on by the same iteration offset.

It also says how one descriptor is recognised in a short stream of addresses, trying every way to read it.

The inverse of the walk. A level of the walk turns groups of its padded row into single addresses; what is
left is the stream of the next level. All choices of row are tried, so a stream that any descriptor can make
is recognised; this is what makes the search for short streams exhaustive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memtile.access.lowering.chain import Chain
from memtile.access.lowering.fit import Fields, Shape, zeros
from memtile.access.lowering.queue_tasks import Limits, cost
from memtile.access.walk import PAD, Addresses, Loop

Slot = int | None
"""A word address, or None for a pad word."""


class StreamStart(NamedTuple):
    """How a stream begins: ``pads`` pads, ``run`` data words, the first ``steady`` of them ``step`` apart."""

    pads: int
    run: int
    steady: int
    step: int


def recognise(slots: Sequence[Slot], fields: Fields) -> Shape | None:
    """The descriptor whose walk is ``slots``, or None when there is none."""
    base = next((slot for slot in slots if slot is not None), None)
    if base is None:
        return zeros(len(slots), fields)
    loops = _parse(slots, 0, fields) if len(slots) <= fields.length else None
    return None if loops is None else Shape(base, len(slots), loops)


def _parse(slots: Sequence[Slot], d: int, fields: Fields) -> tuple[Loop, ...] | None:
    """Loops from dimension ``d`` up that walk ``slots``, which hold some data."""
    start = _start(slots)
    rest = Loop(start.pads, start.steady, 0, start.step)
    if start.pads + start.steady == len(slots) and fields.holds(d, rest, top=True):
        return (rest,)
    if d + 1 == fields.dimensions:
        return None
    for row in _rows(slots, start, d, fields):
        bases = _contract(slots, row)
        outer = None if bases is None else _parse(bases, d + 1, fields)
        if outer is not None:
            return (row, *outer)
    return None


def _first_run(slots: Sequence[Slot]) -> list[int]:
    """The words up to the first zero."""
    words = list[int]()
    for slot in slots:
        if slot is None:
            break
        words.append(slot)
    return words


def _start(slots: Sequence[Slot]) -> StreamStart:
    pads = next(i for i, slot in enumerate(slots) if slot is not None)
    words = _first_run(slots[pads:])
    run = len(words)
    step = words[1] - words[0] if run > 1 else 1
    if step < 1:
        return StreamStart(pads, run, 1, 1)
    steady = next((i for i in range(1, run) if words[i] - words[i - 1] != step), run)
    return StreamStart(pads, run, steady, step)


def _rows(slots: Sequence[Slot], start: StreamStart, d: int, fields: Fields) -> Iterator[Loop]:
    """Every row that the beginning of ``slots`` allows on dimension ``d``."""
    for wrap in range(min(start.steady, fields.wrap[d]), 0, -1):
        step = start.step if wrap > 1 else 1
        if step > fields.step[d]:
            continue
        if wrap == start.run:
            yield from _padded_rows(slots, start, Loop(0, wrap, 0, step), d, fields)
        elif wrap > 1 and start.pads % wrap == 0:
            yield Loop(0, wrap, 0, step)  # data follow at once, so nothing can come between rows


def _fills(gap: int | None, zeros: int, units: int) -> bool:
    """Whether the zeros of a row and rows of ``units`` zeros fill the gap to the next data."""
    return gap is None or (gap >= zeros and (gap - zeros) % units == 0)


def _padded_rows(
    slots: Sequence[Slot], start: StreamStart, row: Loop, d: int, fields: Fields
) -> Iterator[Loop]:
    """``row`` with every padding that divides the gaps around the first run of data."""
    end = start.pads + start.run
    gap = next((i for i, slot in enumerate(slots[end:]) if slot is not None), None)
    most_zeros = fields.after[d] if gap is None else gap  # the length may cut the zeros that follow
    for before in range(min(start.pads, fields.before[d]) + 1):
        for after in range(min(most_zeros, fields.after[d]) + 1):
            units = before + row.wrap + after
            if _fills(gap, before + after, units) and units > 1 and (start.pads - before) % units == 0:
                yield Loop(before, row.wrap, after, row.step)


def _is_row(group: Sequence[Slot], base: int, row: Loop) -> bool:
    """Whether slots are a row of data from ``base`` on with the row's padding around it."""
    edges = [*group[: row.before], *group[row.before + row.wrap :]]
    data = group[row.before : row.before + row.wrap]
    steps = all(slot == base + i * row.step for i, slot in enumerate(data))
    return steps and all(slot is None for slot in edges)


def _contract(slots: Sequence[Slot], row: Loop) -> list[Slot] | None:
    """The bases of the rows in ``slots``, None for a row of pads; None when some row is something else."""
    bases: list[Slot] = []
    for first in range(0, len(slots), row.units):
        group = slots[first : first + row.units]
        data = group[row.before : row.before + row.wrap]
        base = data[0] if data else None
        if base is None and any(slot is not None for slot in group):
            return None
        if base is None:
            bases += [None] if len(group) > row.before else []  # too short to tell: pads either way
            continue
        if not _is_row(group, base, row):
            return None
        bases.append(base)
    return bases


Offset = tuple[int, int]
"""Iteration step and wrap."""


def fewest(stream: Addresses, fields: Fields, most: int, max_runs: int) -> Chain | None:
    """The chain with the fewest descriptors (at most ``most``), then the fewest runs; None if none."""
    best: Chain | None = None
    for runs in range(1, min(len(stream), max_runs) + 1):
        turns = stream.reshape(runs, -1) if len(stream) % runs == 0 else None
        offsets = None if turns is None else _offsets(turns, fields)
        if turns is None or offsets is None:
            continue
        slots = [None if word == PAD else word for word in turns[0].tolist()]
        limit = most if best is None else len(best.shapes) - 1
        shapes = _Search(slots, offsets, fields).pieces(limit)
        best = best if shapes is None else Chain(tuple(shapes), runs)
    return best


def fewest_in_tasks(stream: Addresses, fields: Fields, limits: Limits) -> tuple[Chain, ...] | None:
    """Tasks with the fewest descriptors (at most ``limits.bds``), then the fewest tasks; None if none.

    Every way to cut the stream into tasks is tried: this is for streams of a few words.
    """
    best: dict[int, tuple[Chain, ...]] = {0: ()}
    found: list[tuple[Chain, ...]] = []
    chains: dict[tuple[int, int], Chain | None] = {}

    def chain_of(start: int, stop: int) -> Chain | None:
        if (start, stop) not in chains:
            chains[start, stop] = fewest(stream[start:stop], fields, limits.bds, limits.runs)
        return chains[start, stop]

    for _ in range(limits.tasks):
        longer: dict[int, tuple[Chain, ...]] = {}
        for start, plan in best.items():
            for stop in range(start + 1, len(stream) + 1):
                left = limits.bds - cost(plan)[0]
                chain = chain_of(start, stop) if left else None
                if chain is not None and len(chain.shapes) <= left:
                    both = (*plan, chain)
                    longer[stop] = min(longer.get(stop, both), both, key=cost)
        best = longer
        found += [best[len(stream)]] if len(stream) in best else []
    return min(found, key=cost, default=None)


def _offsets(turns: Addresses, fields: Fields) -> list[Offset | None] | None:
    """Per word the iteration offset that leads to its later turns (None for a pad); None if some has none."""
    pads = turns == PAD
    if (pads != pads[0]).any():
        return None
    cache: dict[bytes, Offset | None] = {}
    offsets: list[Offset | None] = []
    for moves, pad in zip((turns - turns[0]).T, pads[0], strict=True):
        key = moves.tobytes()
        if key not in cache:
            cache[key] = _offset(moves, fields)
        if not pad and cache[key] is None:
            return None
        offsets.append(None if pad else cache[key])
    return offsets


def _offset(moves: Addresses, fields: Fields) -> Offset | None:
    """The iteration step and wrap with offsets ``moves`` in consecutive runs."""
    if not moves.any():
        return 1, 1
    step = int(moves[1])
    back = np.flatnonzero(moves[1:] == 0)
    wrap = int(back[0]) + 1 if len(back) else len(moves)
    regular = np.array_equal(moves, np.arange(len(moves)) % wrap * step)
    held = 1 <= step <= fields.iteration_step and wrap <= fields.iteration_wrap
    return (step, wrap) if regular and held else None


@dataclass
class _Search:
    slots: list[Slot]
    offsets: list[Offset | None]
    fields: Fields
    longest: dict[int, int] = field(default_factory=dict)

    def pieces(self, most: int) -> list[Shape] | None:
        """The fewest pieces that make up the stream; None when more than ``most``."""
        frontiers = [0]
        while frontiers[-1] < len(self.slots):
            fresh = range(frontiers[-2] + 1 if len(frontiers) > 1 else 0, frontiers[-1] + 1)
            reached = max(map(self._reach, fresh), default=0)
            if len(frontiers) > most or reached <= frontiers[-1]:
                return None
            frontiers.append(reached)
        return list(self._trace(frontiers))[::-1]

    def _trace(self, frontiers: list[int]) -> Iterator[Shape]:
        """The pieces from the last to the first."""
        stop = len(self.slots)
        for frontier in reversed(frontiers[:-1]):
            start = next(i for i in range(frontier + 1) if self.longest.get(i, 0) >= stop)
            shape = self._piece(start, stop)
            if shape is None:
                raise AssertionError("a prefix of a recognised piece is recognised")
            yield shape
            stop = start

    def _reach(self, start: int) -> int:
        """Where the longest piece from ``start`` ends: double the length until it fails, then bisect."""
        low, high = start, min(self._uniform(start), len(self.slots)) + 1
        width = 1
        while high - low > 1:
            middle = min(low + width, high - 1)
            if self._piece(start, middle) is not None:
                low, width = middle, width * 2
            else:
                high, width = middle, max((middle - low) // 2, 1)
        self.longest[start] = low
        return low

    def _uniform(self, start: int) -> int:
        """Where the iteration offset first differs from the one at ``start``."""
        seen: set[Offset] = set()
        for i in range(start, len(self.slots)):
            offset = self.offsets[i]
            if offset is not None:
                seen.add(offset)
            if len(seen) > 1:
                return i
        return len(self.slots)

    def _piece(self, start: int, stop: int) -> Shape | None:
        shape = recognise(self.slots[start:stop], self.fields)
        offset = next((o for o in self.offsets[start:stop] if o is not None), None)
        return shape.iterated(*offset) if shape and offset else shape
