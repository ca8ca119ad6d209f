"""Greedy placement: the largest buffers first, each where it adds the fewest collisions.

Deterministic, milliseconds for a full tile. Not always the best; ``placement_cpsat`` is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memtile.design.demands import Pair, Task

Starts = dict[int, int]


def place_greedily(task: Task) -> tuple[Starts, list[int]]:
    """Starts of the demands that fit, and the indices of those that found no room.

    Tried first with starts at bank boundaries too, which keeps channels apart but leaves holes; when
    something does not fit, once more without them.
    """
    spread = _pass(task, spread=True)
    return (
        spread if not spread[1] else min((_pass(task, spread=False), spread), key=lambda found: len(found[1]))
    )


def gaps(task: Task, starts: Mapping[int, int], area: range) -> Iterator[range]:
    """Free pieces of the windows in which something may begin within ``area``, as byte ranges."""
    unit, size = task.kind.granule_bytes, task.kind.memory_bytes
    for first in task.kind.memory_windows.values():
        cursor = first
        taken = sorted(
            (s, s + task.demands[i].nbytes) for i, s in starts.items() if first <= s < first + size
        )
        for begin, end in [*taken, (first + size, first + size)]:
            gap = range(max(cursor, area.start), begin)
            if len(gap) and gap.start < area.stop:
                yield gap
            cursor = max(cursor, -(-end // unit) * unit)


def _pass(task: Task, *, spread: bool) -> tuple[Starts, list[int]]:
    starts: Starts = {}
    left: list[int] = []
    for index in sorted(range(len(task.demands)), key=lambda i: _order(task, i)):
        choices = list(_choices(task, index, starts, spread=spread))
        if choices:
            starts[index] = min(choices, key=lambda start: _added(task, index, start, starts))
        else:
            left.append(index)
    return starts, sorted(left)


def _order(task: Task, index: int) -> tuple[int, int, int, int]:
    """Fixed places first, then fixed banks, upwards and the one that may reach beyond last, then by size."""
    demand = task.demands[index]
    if demand.at is not None:
        return 0, 0, 0, index
    if demand.bank is not None:
        return 1, demand.bank, demand.nbytes, index
    return 2, 0, -demand.nbytes, index


def _choices(task: Task, index: int, starts: Starts, *, spread: bool) -> Iterator[int]:
    """Starts worth trying: the beginning of each gap and, to spread, each bank that begins in it."""
    nbytes, bank = task.demands[index].nbytes, task.kind.bank_bytes
    for area in task.areas[index]:
        for gap in gaps(task, starts, area):
            last = min(gap.stop - nbytes, area.stop - 1)
            boundaries = range(-(-gap.start // bank) * bank, last + 1, bank) if spread else ()
            yield from (start for start in (gap.start, *boundaries) if start <= last)


def _added(task: Task, index: int, start: int, starts: Starts) -> int:
    """Collisions that appear when demand ``index`` begins at ``start``."""
    mine = set(task.banks(index, start))
    found: set[tuple[int, Pair]] = set()
    for other, begin in starts.items():
        shared = mine.intersection(task.banks(other, begin))
        if shared:
            found.update((bank, pair) for pair in task.meetings(index, other) for bank in shared)
    return len(found)
