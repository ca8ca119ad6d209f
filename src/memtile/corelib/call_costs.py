"""What a call of a library function costs: a published count, a rule between counts, a range, or a bound.

The rule is the one of compilers: each loop of a kernel's object takes trips x interval, its pipeline fills
once, and the rest of a call is the same for all calls of that kernel: one count gives it (docs/kernels.md).
It is judged by the counts that ``CycleCount.validates`` keeps back (tests/silicon/test_kernel_cycles.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from math import ceil, prod
from typing import NamedTuple

from memtile.arch.kernel_cycles import CycleCount, Loop, cycle_counts
from memtile.arch.tiles import Generation

MEASURED, RULE, RANGE, BOUND, GIVEN = "measured", "rule", "range", "lower bound", "given"
COUNTED, UNKNOWN = "lower bound by counted vector operations", "unknown"
DEVICES: dict[Generation, str] = {"AIE-ML": "npu1", "AIE2P": "npu2"}
"""The devices whose cores have published counts; those of AIE-ML v2 have none."""
_MOST_FILL = 12  # cycles: least mean error among the counts that calibrate, each from the others
_SHIPPED = re.compile(r"[SL]\d+|guide(-scalar)?")
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
    found = _counted(kind, bound) if kind is not None and _work(kind.shape) else None
    return CallCost(bound, BOUND) if found is None else found._replace(cycles=max(found.cycles, bound))


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
    for row in sorted(own, key=lambda row: abs(_work(row.shape) - _work(kind.shape))):
        if (loops := _scaled(row, kind.shape)) is not None:
            return CallCost(from_count(loops, row), RULE)
    near = own or [row for row in same if row.types.split("_")[0] == kind.types.split("_")[0]]
    near = [row for row in near if _case(row.shape) == _case(kind.shape)] or near
    return _range(kind, near, bound) if near else None


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
    return _cycles(loops) + count.cycles - _cycles(count.loops)


def _cycles(loops: Iterable[Loop]) -> int:
    return sum(
        each.trips * each.interval + min((each.stages - 1) * each.interval, _MOST_FILL) for each in loops
    )


def predicted(row: CycleCount, known: Iterable[CycleCount]) -> int | None:
    """The cycles of a row by the rule from others; None where none of its device, kernel and types has loops.

    The nearest one counts: of the same state of the source if there is one, then the one nearest in loops.
    """
    same = [
        each
        for each in known
        if each.loops and (each.device, each.kernel, each.types) == (row.device, row.kernel, row.types)
    ]
    if not row.loops or not same:
        return None
    own = _cycles(row.loops)
    return from_count(
        row.loops, min(same, key=lambda each: (each.state != row.state, abs(_cycles(each.loops) - own)))
    )


def _scaled(row: CycleCount, shape: str) -> list[Loop] | None:
    """The loops of a row at another shape; None where they do not follow from it.

    They do for kernels that walk a row of elements, and for products with the same k, whose loop is unrolled;
    not where the pipeline would not fill, as short rows take another way.
    """
    mine, other = _sizes(row.shape), _sizes(shape)
    if not row.loops or len(mine) != len(other) or _case(row.shape) != _case(shape):
        return None
    if len(mine) > 1 and (row.kernel not in ("mm", "mm_bfp") or mine[1] != other[1]):
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
