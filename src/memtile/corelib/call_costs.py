"""What a call of a library function costs: a published count, a rule between counts, a range, or a bound.

The rule is the one of compilers: each loop of a kernel's object takes trips x interval, its pipeline fills
once, and the rest of a call is the same for all calls of that kernel: one count gives it. Types that differ
in their signs alone take the same cycles, and between two counts that differ in one size there is a line
(docs/kernels.md). It is judged by the counts that ``CycleCount.validates`` keeps back
(tests/silicon/test_kernel_cycles.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from math import ceil, prod
from statistics import median
from typing import NamedTuple

from memtile.arch.kernel_cycles import MOST_FILL, CycleCount, Loop, cycle_counts
from memtile.arch.tiles import Generation

MEASURED, RULE, RANGE, BOUND, GIVEN = "measured", "rule", "range", "lower bound", "given"
COUNTED, UNKNOWN = "lower bound by counted vector operations", "unknown"
NO_WORK = "0x0"
"""Shape of a call that returns at once, whatever its arrays hold."""
DEVICES: dict[Generation, str] = {"AIE-ML": "npu1", "AIE2P": "npu2"}
"""The devices whose cores have published counts; those of AIE-ML v2 have none."""
_SHIPPED = re.compile(r"[SL]\d+|guide(-scalar)?")
_WALKED = {"mm": (1,), "mm_bfp": (1,), "transpose": (2,), "q4nx_dequant": ()}
"""Kernels of several sizes whose trips go by their product -> the sizes that must be those of the count."""
_SIZES = re.compile(r"\d+(?:x\d+)*")


class CallKind(NamedTuple):
    """What decides the cycles of a call, in the terms of the published counts.

    Attributes:
        device: ``npu1`` or ``npu2``.
        kernel: as mlir-aie's factories name it.
        types: of its elements.
        shape: of the call.
        scalar: whether it works element by element.
    """

    device: str
    kernel: str
    types: str
    shape: str
    scalar: bool = False


class CallCost(NamedTuple):
    """Cycles of a call, and where they come from.

    Attributes:
        cycles: that the call is charged.
        basis: ``measured``, ``rule``, ``range``, ``lower bound`` or ``given``; of C++ kernels also
            :data:`COUNTED` and :data:`UNKNOWN`.
        least: of a range.
        most: of a range.
    """

    cycles: int
    basis: str
    least: int = 0
    most: int = 0

    def __str__(self) -> str:
        """The cycles as a note has them."""
        if self.basis == RANGE:
            return f"{self.cycles:,} (range {self.least:,} to {self.most:,})"
        return f"{self.cycles:,} ({self.basis})"


def cost(kind: CallKind | None, bound: int) -> CallCost:
    """What a call costs.

    Args:
        kind: of the call; None where no published count is of its kernel.
        bound: cycles that it takes at least.
    """
    if kind is not None and kind.shape == NO_WORK:
        return CallCost(0, BOUND)
    found = _counted(kind, bound) if kind is not None and _work(kind.shape) else None
    if found is None:
        return CallCost(bound, BOUND)
    return found._replace(cycles=max(found.cycles, bound)) if found.basis == RANGE else found


@cache
def _counted(kind: CallKind, bound: int) -> CallCost | None:
    """What the published counts say of a call, None for nothing."""
    same = _newest(
        row
        for row in cycle_counts()
        if (row.device, row.kernel, row.state.endswith("-scalar")) == (kind.device, kind.kernel, kind.scalar)
    )
    own = [row for row in same if row.types == kind.types]
    exact = next((row for row in own if row.shape == kind.shape), None)
    if exact is not None:
        return CallCost(exact.cycles, MEASURED)
    alike = own or [row for row in same if _widths(row.types) == _widths(kind.types)]
    if (cycles := _ruled(alike, kind.shape)) is not None:
        return CallCost(cycles, RULE)
    near = own or [row for row in same if row.types.split("_")[0] == kind.types.split("_")[0]]
    near = [row for row in near if _case(row.shape) == _case(kind.shape)] or near
    return _range(kind, near, bound) if near else None


def _ruled(rows: Sequence[CycleCount], shape: str) -> int | None:
    """The cycles of a call from counts of its kernel with elements as wide; None where no rule applies."""
    for row in rows:
        if row.shape == shape:
            return row.cycles
    for row in sorted(rows, key=lambda row: abs(_work(row.shape) - _work(shape))):
        if (loops := _scaled(row, shape)) is not None:
            return from_count(loops, row)
    return _between(rows, shape)


def _between(rows: Sequence[CycleCount], shape: str) -> int | None:
    """On the line between the two nearest counts that differ from a shape in one size, one below it and one
    above; None where there are none.
    """
    sizes = _sizes(shape)
    near = [row for row in rows if len(_sizes(row.shape)) == len(sizes) and _case(row.shape) == _case(shape)]
    for place, size in enumerate(sizes):
        others = {
            _sizes(row.shape)[place]: row.cycles
            for row in near
            if all(
                a == b for n, (a, b) in enumerate(zip(_sizes(row.shape), sizes, strict=True)) if n != place
            )
        }
        below, above = [n for n in others if n < size], [n for n in others if n > size]
        if below and above:
            low, high = max(below), min(above)
            return round(others[low] + (others[high] - others[low]) * (size - low) / (high - low))
    return None


def _widths(types: str) -> str:
    """Types without their signs: what decides how many elements a vector holds."""
    return "_".join(dict.fromkeys(types.replace("ui", "i").split("_")))


def _newest(rows: Iterable[CycleCount]) -> list[CycleCount]:
    """The counts of the source as it is now: of each kernel's types and case those of the last state."""
    last: dict[tuple[str, str], list[CycleCount]] = {}
    for row in rows:
        if _SHIPPED.fullmatch(row.state):
            known = last.setdefault((row.types, _case(row.shape)), [])
            known[:] = [each for each in known if each.state == row.state or each.shape != row.shape]
            known.append(row)
    return [row for known in last.values() for row in known]


def from_count(loops: Sequence[Loop], count: CycleCount) -> int:
    """Cycles of a call with these loops, from a count of the same kernel and types."""
    return _cycles(loops) + _rest(count)


def _cycles(loops: Iterable[Loop]) -> int:
    return sum(
        each.trips * each.interval + min((each.stages - 1) * each.interval, MOST_FILL) for each in loops
    )


def predicted(row: CycleCount, known: Sequence[CycleCount]) -> int | None:
    """The cycles of a row by the rules from others; None where they say nothing.

    With loops, the rest of the call is that of the nearest count of the kernel: with the same types if there
    is one, of the same state of the source, then the one nearest in loops. Of a kernel without a count it is
    the median of those of the device, of kernels that walk a row or of others, for each loop. Without loops
    the rules between counts apply, to the same state of a source that was shipped.
    """
    device = [each for each in known if each.device == row.device]
    if not row.loops:
        same = [each for each in device if (each.kernel, each.state) == (row.kernel, row.state)]
        alike = [each for each in same if _widths(each.types) == _widths(row.types)]
        return _ruled(alike, row.shape) if _SHIPPED.fullmatch(row.state) else None
    looped = [each for each in device if each.loops]
    own = [each for each in looped if each.kernel == row.kernel]
    nearest = [each for each in own if each.types == row.types] or own
    if nearest:
        return from_count(row.loops, min(nearest, key=lambda each: _distance(each, row)))
    walks = len(_sizes(row.shape)) == 1
    rests = [_rest(each) / len(each.loops) for each in looped if (len(_sizes(each.shape)) == 1) == walks]
    return round(_cycles(row.loops) + len(row.loops) * median(rests)) if rests else None


def _distance(count: CycleCount, row: CycleCount) -> tuple[bool, int]:
    return count.state != row.state, abs(_cycles(count.loops) - _cycles(row.loops))


def _rest(count: CycleCount) -> int:
    """What a call takes beside its loops."""
    return count.cycles - _cycles(count.loops)


def _scaled(row: CycleCount, shape: str) -> list[Loop] | None:
    """The loops of a row at another shape; None where they do not follow from it.

    They do for kernels that walk all elements of a row or a tile, and for products with the same k and
    transposes of blocks of one size, whose loops are unrolled; not where the pipeline would not fill, as
    short rows take another way.
    """
    mine, other = _sizes(row.shape), _sizes(shape)
    if not row.loops or len(mine) != len(other) or _case(row.shape) != _case(shape):
        return None
    if len(mine) > 1 and (row.kernel not in _WALKED or any(mine[n] != other[n] for n in _WALKED[row.kernel])):
        return None
    loops = [each._replace(trips=ceil(each.trips * prod(other) / prod(mine))) for each in row.loops]
    return loops if all(each.trips >= each.stages for each in loops) else None


def _range(kind: CallKind, rows: Sequence[CycleCount], bound: int) -> CallCost:
    """As many cycles for each unit of work as the nearest row has, and what is possible.

    A larger call takes longer than the row by at least the additional work at full rate, and at most as many
    cycles for each unit as the row; a smaller one no more than the row. Other rows have other rates. Of other
    types nothing is known but the bound.
    """
    work = _work(kind.shape)
    near = min(rows, key=lambda row: abs(_work(row.shape) - work))
    within = [ceil(row.cycles * work / _work(row.shape)) for row in rows]
    charged, known = within[rows.index(near)], _work(near.shape)
    within.append(near.cycles + bound - bound * known // work if work > known else near.cycles)
    least = min(within) if near.types == kind.types and _case(near.shape) == _case(kind.shape) else bound
    return CallCost(charged, RANGE, max(least, bound), max(within))


def _sizes(shape: str) -> tuple[int, ...]:
    found = _SIZES.match(shape)
    return tuple(map(int, found[0].split("x"))) if found else ()


def _case(shape: str) -> str:
    return shape.partition("+")[2]


def _work(shape: str) -> int:
    return prod(_sizes(shape))
