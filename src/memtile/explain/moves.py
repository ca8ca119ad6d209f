"""What descriptors and host transfers touch of their memory, as a text says it, and which of them is off.

Four rules, on the text alone. What begins in a buffer or an array and ends beyond it is seldom meant, nor is
what has as many elements as an array and lies behind it. Where descriptors share a memory so that each
element is touched once, but for one of them, and one other offset or stride of that one would make it true of
all, that offset or stride is off; where all are equally far apart and another distance would, that is off.
One of two transfers that write the same elements of an array is off if all together would write each element
once with another offset of it. A stride that is almost one of whole rows of an array, and of no part of them,
misses the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side

Elements = npt.NDArray[np.int64]
BEYOND, BREAKS_SHARING, BESIDE_ROWS = "MT0125", "MT0123", "MT0129"
_MOST = 1 << 18  # elements of a move, and of all at one memory, that are looked at
_FARTHEST = 1 << 22  # elements of a memory that are looked at
_MOST_MOVES = 64  # at one memory
_NEAR = 16  # part of a row by which a stride may miss it
_OTHERS = 2  # moves that show the way in which a memory is shared


@dataclass(frozen=True)
class Move:
    """A descriptor, or a transfer of a host, and the elements that it touches.

    Attributes:
        who: its channel.
        number: of the BD; None of a transfer, which is known by its line.
        memory: as messages name it, ``argument 0`` or ``buffer 'a'``.
        key: of the memory, whose name need not be unique.
        elements: of the memory; below 0 = nobody knows.
        rows: elements of the memory inside each of its dimensions, outermost first.
        offset: first element.
        sizes: outermost first.
        strides: in elements, as many.
        writes: whether it writes the memory.
        place: where the text says it.
        loose: what a host passes may be larger than the text says.
        length: elements that it moves, where that is not the product of its sizes.
    """

    who: str
    number: int | None
    memory: str
    key: Hashable
    elements: int
    rows: tuple[int, ...]
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    writes: bool
    place: str
    loose: bool = False
    length: int | None = None

    @property
    def count(self) -> int:
        """Elements that it moves."""
        return prod(self.sizes) if self.length is None else self.length

    @property
    def reach(self) -> int:
        """Elements of the memory that it may need, whatever its numbers are."""
        walk = sum((size - 1) * abs(stride) for size, stride in zip(self.sizes, self.strides, strict=True))
        return max(self.elements, abs(self.offset) + walk)

    @cached_property
    def touched(self) -> Elements:
        """The elements, in the order in which they are moved."""
        return self.walked(self.offset, self.strides)

    def walked(self, offset: int, strides: Sequence[int]) -> Elements:
        """The elements with another offset or other strides."""
        found = np.full(1, offset, np.int64)
        for size, stride in zip(self.sizes, strides, strict=True):
            step = stride if size > 1 else 0  # that of one element may be any number
            found = np.add.outer(found, np.arange(size, dtype=np.int64) * step).reshape(-1)
        return found[: self.length]

    @property
    def title(self) -> str:
        """What it is, as a sentence begins."""
        line = f" ({line_of(self.place)})" if self.place else ""
        return f"{self.who}{line}" if self.number is None else f"BD {self.number} of {self.who}{line}"

    @property
    def same(self) -> tuple[object, ...]:
        """What makes two moves touch the same."""
        return self.offset, self.sizes, self.strides, self.length


class Change(NamedTuple):
    """One number of a move that would be another.

    Attributes:
        what: ``offset`` or ``stride``.
        old: as it is.
        new: as it would be.
    """

    what: str
    old: int
    new: int


def move_findings(moves: Sequence[Move]) -> Iterator[Finding]:
    """One finding for each move that is off.

    Args:
        moves: of a design.
    """
    found: dict[tuple[Hashable, bool], list[Move]] = {}
    for move in moves:
        found.setdefault((move.key, move.writes), []).append(move)
    both = {key for key, writes in found if (key, not writes) in found}
    for (key, writes), group in found.items():
        outside = _outside(group) if group[0].key not in both else None
        again = _made_twice(group)
        if outside is not None:
            yield _shared(*outside, group[:1])
        elif again is not None:
            yield _shared(*again, group)
        else:
            yield from _of_memory(group, found.get((key, not writes), ()))


def _outside(group: Sequence[Move]) -> tuple[Move, Change] | None:
    """The only move of a host array if it has as many elements as that and lies behind them."""
    move = group[0]
    if len({each.same for each in group}) > 1 or not 0 < move.count == move.elements:
        return None
    if not move.loose or move.reach > _FARTHEST or move.touched.min() < move.elements:
        return None
    return move, Change("offset", move.offset, move.offset - int(move.touched.min()))


def _made_twice(group: Sequence[Move]) -> tuple[Move, Change] | None:
    """One of two moves of the same elements, if another place of the memory is left for it.

    It is the one with which the offsets then rise.
    """
    moves = [move for move in group if move.count]
    often = Counter(move.same for move in moves)
    same = [move for move in moves if often[move.same] > 1]
    results = bool(same) and same[0].writes and same[0].loose
    if len(same) != _OTHERS or len(moves) > _MOST_MOVES or not (results or len(moves) > _OTHERS):
        return None
    known = same[0].elements
    if (
        sum(move.count for move in moves) != known
        or known > _MOST
        or any(move.reach > known for move in moves)
    ):
        return None
    counts = np.zeros(known, np.int64)
    for move in moves:
        if move is not same[0]:
            np.add.at(counts, move.touched, 1)
    left, own = np.flatnonzero(counts == 0), np.sort(same[0].touched)
    if len(left) != len(own) or not np.array_equal(own + (left[0] - own[0]), left):
        return None
    by = int(left[0] - own[0])
    for odd in same:
        offsets = [move.offset + by * (move is odd) for move in moves]
        if offsets == sorted(offsets):
            return odd, Change("offset", odd.offset, odd.offset + by)
    return None


def _of_memory(group: Sequence[Move], back: Sequence[Move]) -> Iterator[Finding]:
    """The findings about the moves of one memory in one direction; of some that move it in the other one."""
    different = list({move.same: move for move in group if move.count}.values())
    if (
        not different
        or sum(move.count for move in different) > _MOST
        or any(move.reach > _FARTHEST for move in different)
    ):
        return
    step = _step_of_all(different, back)
    if step is not None:
        yield _steps(different, step)
        return
    beyond = [move for move in different if _is_beyond(move)]
    odd = _odd_one(different, beyond) if len(different) <= _MOST_MOVES else None
    if odd is not None:
        yield _shared(*odd, different)
        return
    if len(beyond) == 1:
        yield _beyond(beyond[0])
    for move in different:
        rows = _rows_missed(move) if move not in beyond else None
        if rows is not None:
            yield _beside_rows(move, *rows)


def _step_of_all(moves: Sequence[Move], back: Sequence[Move]) -> int | None:
    """The distance of moves that are equally far apart, if each element would be touched once with it.

    Windows may overlap, and leave out what nothing else touches; they are too near where the other direction
    touches what they leave out. A host may pass a larger array than the text says.
    """
    first, *others = moves
    if (
        len(others) < _OTHERS
        or first.offset
        or first.loose
        or len({(each.sizes, each.strides) for each in moves}) > 1
    ):
        return None
    steps = {after.offset - before.offset for before, after in pairwise(moves)}
    in_a_row = np.array_equal(np.sort(first.touched), np.arange(first.count))
    if len(steps) > 1 or not in_a_row or first.count * len(moves) != first.elements:
        return None
    (step,) = steps
    if step <= 0 or step == first.count or (step < first.count and not _is_whole(back, first.elements)):
        return None
    return first.count


def _is_whole(moves: Sequence[Move], elements: int) -> bool:
    """Whether moves together touch all elements of their memory."""
    if not moves or elements > _MOST or any(max(each.reach, each.count) > _MOST for each in moves):
        return False
    touched = np.concatenate([each.touched for each in moves])
    return np.array_equal(np.unique(touched), np.arange(elements))


def _steps(moves: Sequence[Move], step: int) -> Finding:
    first, second, *_ = moves
    verb = "write" if first.writes else "read"
    does = f"{verb}s {first.memory}, and {len(moves) - 1} more {verb} it {second.offset} elements apart"
    message = f"{first.title} {does}: each moves {step}, and with {step} each element would be moved once."
    side = Side(first.who, does, first.place)
    fix = f"Let their offsets be {step} apart."
    return Finding(BREAKS_SHARING, CODES[BREAKS_SHARING].severity, message, (side,), fix=fix)


def _is_beyond(move: Move) -> bool:
    """Whether it ends behind its memory; of a host array, whose type may say too little, it begins in it."""
    touched = move.touched
    begins = not move.loose or (len(touched) and touched.min() < move.elements)
    return bool(begins and len(touched) and 0 <= move.elements <= touched.max())


def _odd_one(moves: Sequence[Move], beyond: Sequence[Move]) -> tuple[Move, Change] | None:
    """The only move with which the others would touch each element once if one number of it were another."""
    total = sum(move.count for move in moves)
    known = max(move.elements for move in moves)
    if not beyond and len(moves) <= _OTHERS and total != known:
        return None
    low, high = (f(int(f(move.touched)) for move in moves) for f in (min, max))
    if low < 0:
        return None
    counts = np.zeros(max(high + 1, total, known), np.int64)
    for move in moves:
        np.add.at(counts, move.touched, 1)
    if not beyond and (counts[low : low + total] == 1).all():
        return None
    found = [(move, change) for move in moves if (change := _change(move, moves, counts)) is not None]
    return found[0] if len(found) == 1 else None


def _change(move: Move, moves: Sequence[Move], counts: Elements) -> Change | None:
    """The change of a move that lets all together touch each element of a stretch of the memory once."""
    others = counts.copy()
    np.subtract.at(others, move.touched, 1)
    used = np.flatnonzero(others)
    if others.max() > 1 or (not len(used) and not _is_beyond(move)):
        return None
    total = len(used) + move.count
    room = max(each.elements for each in moves) - total
    if room < 0 and not (len(used) and move.loose):
        return None
    for first in dict.fromkeys((0, *used[:1].tolist(), room)):
        free = first == 0 or 0 < first <= room  # of an argument the text may say too little
        if not free or (len(used) and not first <= used[0] <= used[-1] < first + total):
            continue
        left = first + np.flatnonzero(others[first : first + total] == 0)
        near = move.count if len({each.count for each in moves}) == 1 else 0  # else a length may be off
        change = _offset(move, left, near, _clashes(move, moves, counts)) or _stride(move, left, moves)
        if change is not None:
            return change
    return None


def _clashes(move: Move, moves: Sequence[Move], counts: Elements) -> bool:
    """Whether elements are touched twice, or a move is the only one that ends beyond the memory.

    Where others of a host's end beyond it too, the text says less of an array than is passed.
    """
    alone = all(each is move or not 0 <= each.elements <= int(each.touched.max()) for each in moves)
    return bool(counts.max() > 1) or (alone and 0 <= move.elements <= int(move.touched.max()))


def _offset(move: Move, left: Elements, near: int, clashes: bool) -> Change | None:
    """The offset with which a move touches what is left for it, where it is near or clashes with others."""
    own = np.sort(move.touched)
    by = int(left[0] - own[0])
    if by and np.array_equal(own + by, left) and (clashes or abs(by) < near):
        return Change("offset", move.offset, move.offset + by)
    return None


def _stride(move: Move, left: Elements, moves: Sequence[Move]) -> Change | None:
    """The one stride with which a move touches what is left for it: of rows, or of others with its sizes."""
    alike = [other.strides for other in moves if other.sizes == move.sizes]
    for at, (size, stride) in enumerate(zip(move.sizes, move.strides, strict=True)):
        usual = {*move.rows, prod(move.sizes[at + 1 :]), *(strides[at] for strides in alike)}
        for other in sorted(usual - {stride}) if size > 1 else ():
            strides = [*move.strides[:at], other, *move.strides[at + 1 :]]
            if np.array_equal(np.sort(move.walked(move.offset, strides)), left):
                return Change("stride", stride, other)
    return None


def _rows_missed(move: Move) -> tuple[int, int] | None:
    """A stride of a move that is almost one of whole rows of its memory, and that one; None if none is."""
    lengths = [length for length in move.rows if length > 1]
    if not lengths:
        return None
    row = max(lengths)
    for at, (size, stride) in enumerate(zip(move.sizes, move.strides, strict=True)):
        if stride == prod(move.sizes[at + 1 :]):
            continue  # rows of its own, one behind the other
        inner = zip(move.sizes[at + 1 :], move.strides[at + 1 :], strict=True)
        meant = (stride + row // 2) // row * row
        near = 0 < abs(stride - meant) <= row // _NEAR and all(stride % length for length in lengths)
        if size > 1 and meant > 0 and near and sum((n - 1) * abs(by) for n, by in inner) < row:
            return stride, meant
    return None


def _beside_rows(move: Move, stride: int, meant: int) -> Finding:
    verb = "writes" if move.writes else "reads"
    does = f"{verb} {move.memory} with stride {stride}"
    row = max(move.rows)
    message = (
        f"{move.title} {does}: rows of {move.memory} have {row}, so each part begins elsewhere in its row."
    )
    side = Side(move.who, does, move.place)
    return Finding(BESIDE_ROWS, CODES[BESIDE_ROWS].severity, message, (side,), fix=f"Give it stride {meant}.")


def _beyond(move: Move) -> Finding:
    last, verb = int(move.touched.max()), "writes" if move.writes else "reads"
    does = f"{verb} elements {move.touched.min()} to {last} of {move.memory}, which has {move.elements}"
    fix = f"Check its offset ({move.offset}), sizes and strides: it ends {_beyond_by(move, last)}."
    side = Side(move.who, does, move.place)
    return Finding(BEYOND, CODES[BEYOND].severity, f"{move.title} {does}.", (side,), fix=fix)


def _beyond_by(move: Move, last: int) -> str:
    many = last + 1 - move.elements
    return f"{many} element{'s' * (many != 1)} beyond {move.memory}"


def _shared(move: Move, change: Change, group: Sequence[Move]) -> Finding:
    verb = "writes" if move.writes else "reads"
    does = f"{verb} {move.memory} with {change.what} {change.old}"
    last = int(move.touched.max())
    others = len(group) - 1
    if others:
        rest = f"the other {others} that do" if others > 1 else "the other one that does"
        why = f"with {change.new} it would touch the elements that {rest} so leave out, and no others"
    else:
        why = f"it ends {_beyond_by(move, last)}, and with {change.new} it would end within it"
    side = Side(move.who, does, move.place)
    fix = f"Give it {change.what} {change.new}."
    return Finding(
        BREAKS_SHARING, CODES[BREAKS_SHARING].severity, f"{move.title} {does}: {why}.", (side,), fix=fix
    )
