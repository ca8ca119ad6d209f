"""Numbers that fit what is beside a move: the end of the one before, rows without a gap, round numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod

from memtile.importers.mlir.repairs.design_text import DesignText, siblings
from memtile.importers.mlir.tree import Operation

MEMCPY, BD, WRITE_BD = "aiex.npu.dma_memcpy_nd", "aie.dma_bd", "aiex.npu.writebd"
_OFFSET, _LENGTH, _SIZE, _STRIDE = "offset", "length", "size", "stride"
_ROLES: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    MEMCPY: tuple(
        (part, re.compile(role))
        for part, role in ((_OFFSET, r"\(\[\d+"), (_SIZE, r"\(\[\[\d+"), (_STRIDE, r"\(\[\[\[\d+"))
    ),
    BD: tuple(
        (part, re.compile(role))
        for part, role in (
            (_OFFSET, r".*offset|\(1"),
            (_LENGTH, r".*len|\(2"),
            (_SIZE, r"\(\[\d+|.*<\d+size"),
            (_STRIDE, r"\(\[\[\d+|.*<\d+stride"),
        )
    ),
    WRITE_BD: ((_LENGTH, re.compile(r".*buffer_length")), (_OFFSET, re.compile(r".*buffer_offset"))),
    "aie.objectfifo": ((_SIZE, re.compile(r".*<\d+size")), (_STRIDE, re.compile(r".*<\d+stride"))),
}
_TINY = 1.0 / 4  # a difference of so much of a round number is none by mistake
_STEPS = (4, 1, 2)  # elements by which a number may be off
_FIRST = 0.6
_OVERLAPS = 0.55


def part_of(operation: Operation, role: str) -> str:
    """What a number of a move is: its offset, its length, a size or a stride; empty for all others."""
    for part, pattern in _ROLES.get(operation.name, ()):
        if pattern.fullmatch(role):
            return part
    return ""


def fitting(design: DesignText, operation: Operation, role: str, value: int) -> dict[int, float]:
    """Numbers that may be meant instead of one of a move, and how unlikely each is."""
    part, found = part_of(operation, role), dict[int, float]()
    if not part:
        return found

    def offer(other: int | None, unlikely: float) -> None:
        if other is not None and other != value and other >= (part in (_LENGTH, _SIZE)):
            found[other] = min(unlikely, found.get(other, unlikely))

    for other, unlikely in _beside(design, operation, role, part):
        offer(other, unlikely)
    if part == _STRIDE and 0 < value < (inside := _inside(design, operation, role)):
        offer(inside, _FIRST - _OVERLAPS)  # as it is, elements are moved twice
    for other, ratio in _rounder(value).items():
        offer(other, 0.62 + ratio)
    for n, step in enumerate(_STEPS):
        if part == _OFFSET or value > step:  # all of a small size or stride is no slip
            offer(value - step, 0.95 + 0.02 * n)
            offer(value + step, 0.95 + 0.02 * n)
    return found


def _beside(design: DesignText, operation: Operation, role: str, part: str) -> Iterator[tuple[int, float]]:
    """Numbers that fit the other numbers of a move, and the moves beside it."""
    if part == _OFFSET:
        for end in (0, *_ends_beside(design, operation)):
            yield end, _FIRST
    if part == _LENGTH and (sizes := _numbers(design, operation, _SIZE)):
        yield prod(sizes.values()), _FIRST / 2
    if part == _STRIDE:
        for row in _rows(design, operation, role):
            yield row, _FIRST


def _rounder(value: int) -> dict[int, float]:
    """Rounder numbers beside one, each with the part of it by which they differ."""
    found, step = dict[int, float](), 2
    while value > 0 and step <= 2 * value:
        for other in (value // step * step, -(-value // step) * step):
            ratio = abs(other - value) / max(other & -other, 1)
            if other != value and other and ratio <= _TINY:
                found[other] = ratio
        step *= 2
    return found


def _numbers(design: DesignText, operation: Operation, part: str) -> dict[str, int]:
    """The numbers of a move that are one part of it, by role."""
    return {role: v for role, _, v in design.numbers(operation) if part_of(operation, role) == part}


def _ends_beside(design: DesignText, operation: Operation) -> list[int]:
    """Where moves of the same array end that stand beside one, and where they begin less its length."""
    about = next((word for word in operation.words if word[:1] == "%"), "")
    own, found = _length(design, operation), list[int]()
    block = operation.parent
    near = siblings(operation)
    if operation.name == BD and block is not None:
        near = [each for other in block.region.blocks for each in other.operations]
    for each in near:
        if each is operation or each.name != operation.name or about not in each.words:
            continue
        begin = next(reversed(_numbers(design, each, _OFFSET).values()), None)
        if begin is not None:
            found += [begin, begin + _length(design, each), max(0, begin - own)]
    return found


def _length(design: DesignText, operation: Operation) -> int:
    """Elements of a move."""
    lengths = _numbers(design, operation, _LENGTH)
    if lengths:
        return next(iter(lengths.values()))
    return prod(_numbers(design, operation, _SIZE).values())


def _inside(design: DesignText, operation: Operation, role: str) -> int:
    """How far the dimension inside one goes; 0 = there is none."""
    sizes, strides = ([*_numbers(design, operation, part).items()] for part in (_SIZE, _STRIDE))
    at = next((n for n, (each, _) in enumerate(strides) if each == role), len(strides))
    if at + 1 >= len(strides) or len(sizes) != len(strides):
        return 0
    return sizes[at + 1][1] * strides[at + 1][1]


def _rows(design: DesignText, operation: Operation, role: str) -> list[int]:
    """Strides with which rows follow each other: of what is inside, and of the rows of the array."""
    sizes, strides = ([*_numbers(design, operation, part).items()] for part in (_SIZE, _STRIDE))
    at = next((n for n, (each, _) in enumerate(strides) if each == role), None)
    if at is None or len(sizes) != len(strides):
        return []
    inner = [size * stride for (_, size), (_, stride) in zip(sizes[at + 1 :], strides[at + 1 :], strict=True)]
    within = [size for _, size in sizes[at + 1 :]]
    shape = design.shape(operation)
    rows = [prod(shape[n:]) for n in range(1, len(shape))]
    others = [stride for n, (_, stride) in enumerate(strides) if n != at]
    own = strides[at][1]
    return [each for each in (*inner, prod(within), *rows, *others, 1, 2 * own, own // 2) if each > 0]
