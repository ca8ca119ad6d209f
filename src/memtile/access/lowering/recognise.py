"""Recognise one descriptor in a short stream of addresses, trying every way to read it.

The inverse of the walk. A level of the walk turns groups of its padded row into single addresses; what is
left is the stream of the next level. All choices of row are tried, so a stream that any descriptor can make
is recognised; this is what makes the search for short streams exhaustive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.access.lowering.fit import Fields, Shape, zeros
from memtile.access.walk import Loop

Slot = int | None
"""A word address, or None for a pad word."""


class Start(NamedTuple):
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


def _start(slots: Sequence[Slot]) -> Start:
    pads = next(i for i, slot in enumerate(slots) if slot is not None)
    words = _first_run(slots[pads:])
    run = len(words)
    step = words[1] - words[0] if run > 1 else 1
    if step < 1:
        return Start(pads, run, 1, 1)
    steady = next((i for i in range(1, run) if words[i] - words[i - 1] != step), run)
    return Start(pads, run, steady, step)


def _rows(slots: Sequence[Slot], start: Start, d: int, fields: Fields) -> Iterator[Loop]:
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


def _padded_rows(slots: Sequence[Slot], start: Start, row: Loop, d: int, fields: Fields) -> Iterator[Loop]:
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
