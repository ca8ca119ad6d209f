"""Candidates that make the same change in all moves of a stream, and orders that a finding advises.

A stream is what one channel moves of one array of the host. A loop writes the same mistake into each of its
moves: a window that begins a row late does so in every task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import prod
from typing import NamedTuple

from memtile.arch.tiles import WORD_BYTES
from memtile.explain.findings import Change, Finding
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText
from memtile.importers.mlir.repairs.exchanges import stream_of
from memtile.importers.mlir.repairs.host_steps import SEQUENCES
from memtile.importers.mlir.repairs.numbers import is_idle
from memtile.importers.mlir.repairs.patterns import BD, MEMCPY, fitting, part_of
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation

_FIFO = "aie.objectfifo"
_ADVISED, _ROW, _ELEMENT, _BYTES = 0.1, 0.55, 0.6, 0.5
"""How unlikely is a change of offsets by what a finding reports, by a row, by an element, and from bytes."""
_ALL = 0.1  # how much less likely another number is in all moves than in one
_PAIR = 0.3  # how unlikely are two exchanged numbers in all moves, or another order of their offsets
_MOST = 64  # moves of a stream
_LEAST_MOVES = 3  # of a stream whose order is changed
_MOST_STREAMS = 12


class _Number(NamedTuple):
    """A number of a move: its role and part, its token, its value."""

    role: str
    part: str
    at: int
    value: int


def stream_move_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """Return changes of all moves of a stream, and the sizes and strides that a finding advises.

    Args:
        design: the text.
        finding: the first one.
    """
    late = 0 if finding is None else finding.evidence.late
    for channel, moves in _first_streams(design):
        if len(moves) <= _MOST:
            yield from _shifted(design, channel, moves, late)
            yield from _other_numbers(design, channel, moves)
    if finding is not None:
        yield from _advised_walks(design, finding)


def order_candidates(design: DesignText) -> Iterator[Found]:
    """Return other orders, strides or distances of all moves of a stream.

    Many of them move as many words, so only expected words decide between them.

    Args:
        design: the text.
    """
    streams = _first_streams(design)
    for channel, moves in streams:
        if len(moves) <= _MOST:
            yield from _exchanged(design, channel, moves)
            yield from _reordered(design, channel, moves, [others for _, others in streams])
    yield from _stepped(design)


def host_streams(
    design: DesignText, sequences: Sequence[Operation]
) -> dict[tuple[str, str], list[Operation]]:
    """Return the moves of host sequences by channel and array.

    Args:
        design: the text.
        sequences: of a host.
    """
    found: dict[tuple[str, str], list[Operation]] = {}
    for sequence in sequences:
        for each in design.inside(sequence, MEMCPY, BD):
            found.setdefault(stream_of(design, each), []).append(each)
    return found


def _first_streams(design: DesignText) -> list[tuple[str, list[Operation]]]:
    """The channel and the moves of each of the first streams of a design."""
    every = host_streams(design, design.named(*SEQUENCES))
    return [(channel, moves) for (channel, _), moves in list(every.items())[:_MOST_STREAMS]]


def _numbers(design: DesignText, move: Operation) -> list[_Number]:
    parts = ((role, part_of(move, role), at, value) for role, at, value in design.numbers(move))
    return [_Number(*each) for each in parts if each[1]]


def _title(channel: str, moves: Sequence[Operation]) -> str:
    lines = list(dict.fromkeys(each.line for each in moves))
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    name = channel.removeprefix("@")
    return f"{where}{f', all {len(moves)} moves' * (len(moves) > 1)} of {name}"


def _shifted(design: DesignText, channel: str, moves: Sequence[Operation], late: int) -> Iterator[Found]:
    """All moves of a stream begin earlier or later, or their offsets change from bytes to elements."""
    offsets = _offsets(design, moves)
    if len(offsets) < len(moves):
        return
    values, title, size = (
        [each.value for each in offsets],
        _title(channel, moves),
        design.element_bytes(moves[0]),
    )
    more = ", and so on" if len(moves) > 1 else ""
    for step, unlikely in _steps(design, moves[0], min(values), late).items():
        shift = f"begin {abs(step)} element{'s' * (abs(step) > 1)} {'later' if step > 0 else 'earlier'}"
        changes = _with_offsets(design, moves, offsets, [each + step for each in values])
        says = f"{title}: {shift}: offset {values[0] + step} instead of {values[0]}{more}"
        yield moves[0], Candidate("offset", says, changes, unlikely)
    if size > 1 and any(values) and not any(each % size for each in values):
        n = next(n for n, each in enumerate(values) if each)
        changes = _with_offsets(design, moves, offsets, [each // size for each in values])
        says = f"{title}: offset {values[n] // size} instead of {values[n]}{more}: it counts elements"
        yield moves[0], Candidate("offset", says, changes, _BYTES)


def _steps(design: DesignText, move: Operation, least: int, late: int) -> dict[int, float]:
    """Elements by which moves may begin later: as a finding reports, a row, one, or back to offset 0."""
    rows = {each.value for each in _numbers(design, move) if each.part == "stride" and each.value > 1}
    every = [
        *([(abs(late), _ADVISED)] if late else []),
        *((row, _ROW) for row in sorted(rows)),
        (1, _ELEMENT),
    ]
    steps = [(sign * size, unlikely) for size, unlikely in every for sign in (-1, 1)]
    found = dict[int, float]()
    for step, unlikely in (*steps, (-least, _ELEMENT)):
        if step and least + step >= 0:
            found.setdefault(step, unlikely)
    return found


def _with_offsets(
    design: DesignText, moves: Sequence[Operation], offsets: Sequence[_Number], values: Sequence[int]
) -> list[Change]:
    """The changes that give each move its new offset."""
    changes: list[Change] = []
    for move, each, value in zip(moves, offsets, values, strict=True):
        changes += design.with_number(move, each.at, value) if each.value != value else []
    return changes


def _offsets(design: DesignText, moves: Sequence[Operation]) -> list[_Number]:
    """The offsets of those moves that have one."""
    return [each for move in moves for each in [_offset(design, move)] if each is not None]


def _offset(design: DesignText, move: Operation) -> _Number | None:
    """The offset of a move; of several offsets, the one whose stride is 1."""
    numbers = _numbers(design, move)
    offsets, strides = ([each for each in numbers if each.part == part] for part in ("offset", "stride"))
    if len(offsets) == len(strides) > 1:
        return next((one for one, other in zip(offsets, strides, strict=True) if other.value == 1), None)
    return offsets[0] if len(offsets) == 1 else None


def _of_all(design: DesignText, moves: Sequence[Operation]) -> list[tuple[_Number, ...]]:
    """For each number of several moves its value in each of them; empty if the moves differ in form."""
    every = [_numbers(design, each) for each in moves]
    if len(moves) == 1 or len({tuple((n.role, n.part) for n in each) for each in every}) > 1:
        return []
    return list(zip(*every, strict=True))


def _other_numbers(design: DesignText, channel: str, moves: Sequence[Operation]) -> Iterator[Found]:
    """Another value for a size or stride that is equal in all moves of a stream."""
    for same in _of_all(design, moves):
        first = same[0]
        if first.part == "offset" or len({each.value for each in same}) > 1:
            continue
        if is_idle(design, moves[0], first.at):
            continue
        for other, unlikely in fitting(design, moves[0], first.role, first.value).items():
            changes: list[Change] = []
            for move, each in zip(moves, same, strict=True):
                changes += design.with_number(move, each.at, other)
            says = f"{_title(channel, moves)}: {first.part} {other} instead of {first.value}"
            yield moves[0], Candidate(first.part, says, changes, unlikely + _ALL)


def _exchanged(design: DesignText, channel: str, moves: Sequence[Operation]) -> Iterator[Found]:
    """Two sizes or strides exchanged, each of them equal in all moves of a stream."""
    alike = [same for same in _of_all(design, moves) if len({each.value for each in same}) == 1]
    for one, other in combinations(alike, 2):
        part, values = one[0].part, (one[0].value, other[0].value)
        if part == "offset" or part != other[0].part or values[0] == values[1] or min(values) < 1:
            continue
        changes: list[Change] = []
        for move, first, second in zip(moves, one, other, strict=True):
            changes += design.with_number(move, first.at, values[1])
            changes += design.with_number(move, second.at, values[0])
        says = f"{_title(channel, moves)}: exchange the {part}s {values[0]} and {values[1]}"
        yield moves[0], Candidate(part, says, changes, _PAIR)


def _reordered(
    design: DesignText, channel: str, moves: Sequence[Operation], streams: Sequence[Sequence[Operation]]
) -> Iterator[Found]:
    """The offsets of a stream in rising order, or in the order in which another stream has the same ones."""
    offsets = _offsets(design, moves)
    values = [each.value for each in offsets]
    if len(values) < len(moves) or len(set(values)) < max(len(values), _LEAST_MOVES):
        return
    others = [[each.value for each in _offsets(design, other)] for other in streams]
    orders = [sorted(values), *(each for each in others if sorted(each) == sorted(values))]
    for order in dict.fromkeys(map(tuple, orders)):
        if list(order) != values:
            changes = _with_offsets(design, moves, offsets, order)
            first = ", ".join(map(str, order[:_LEAST_MOVES]))
            offsets_text = f"offsets {first}, .. instead of {', '.join(map(str, values[:_LEAST_MOVES]))}, .."
            rises = list(order) == sorted(values)
            says = f"{_title(channel, moves)}: another order, {offsets_text}"
            yield moves[0], Candidate("order", says, changes, _PAIR if rises else 2 * _PAIR)


def _stepped(design: DesignText) -> Iterator[Found]:
    """Moves of one array that come from one line of the program, each beginning where the one before ends."""
    groups: dict[tuple[int, str], list[Operation]] = {}
    for (_, array), moves in host_streams(design, design.named(*SEQUENCES)).items():
        for move in moves:
            groups.setdefault((move.line, array), []).append(move)
    for moves in groups.values():
        offsets = _offsets(design, moves)
        values = [each.value for each in offsets]
        if not _LEAST_MOVES <= len(values) == len(moves) <= _MOST:
            continue
        counts = {prod(n.value for n in _numbers(design, move) if n.part == "size") for move in moves}
        steps = {after - before for before, after in pairwise(values)}
        if len(counts) == len(steps) == 1 and counts != steps:
            (count,), (step,) = counts, steps
            new = [values[0] + n * count for n in range(len(values))]
            changes = _with_offsets(design, moves, offsets, new)
            says = f"line {moves[0].line}, all {len(moves)} moves: offsets {count} apart instead of {step}"
            yield moves[0], Candidate("offset", says, changes, _PAIR)


def _advised_walks(design: DesignText, finding: Finding) -> Iterator[Found]:
    """The sizes and strides that a finding advises, in the object FIFOs and moves that it names."""
    advised = finding.evidence
    for walk in advised.walks:
        for move in design.named(_FIFO, BD, MEMCPY):
            if move.line in advised.lines or design.symbol(move) in advised.names:
                yield from _with_walk(design, move, *walk)


def _with_walk(
    design: DesignText, move: Operation, sizes: Sequence[int], strides: Sequence[int]
) -> Iterator[Found]:
    """A move or an object FIFO with other sizes and strides, if it has as many dimensions.

    ``sizes`` and ``strides`` count words; the candidate has them in elements.
    """
    ours = [[each for each in _numbers(design, move) if each.part == part] for part in ("size", "stride")]
    size = design.element_bytes(move)
    if any(len(each) != len(sizes) for each in ours) or not size or WORD_BYTES % size or strides[-1] != 1:
        return
    each = WORD_BYTES // size
    new = [*sizes[:-1], sizes[-1] * each], [*(step * each for step in strides[:-1]), 1]
    changes: list[Change] = []
    for numbers, values in zip(ours, new, strict=True):
        for number, value in zip(numbers, values, strict=True):
            if number.value != value:
                changes += design.with_number(move, number.at, value)
    if changes:
        name = design.symbol(move)
        walk = " and ".join(
            f"{p} {', '.join(map(str, v))}" for p, v in zip(("sizes", "strides"), new, strict=True)
        )
        says = f"line {move.line}{f', {name}' if name else ''}: {walk}"
        yield move, Candidate("stride", says, changes, 0.0)
