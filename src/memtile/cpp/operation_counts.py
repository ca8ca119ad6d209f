"""Cycles that a call takes at least, by the vector operations that its kernel counted.

Each functional unit of a core begins one operation a cycle, and there are two load units (AM020 chapter 4):
a call takes as long as its busiest unit. Scalar instructions, latencies and loops come on top, so it is a
lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtile.arch.core import CORE
from memtile.cpp.image import Unit


def estimate(counts: Sequence[int]) -> int:
    """Cycles that these operations of each :class:`Unit` take at least; 0 if there are none.

    Shuffles, conversions and lookups share issue slots with others in ways that are not published: they count
    alone.
    """
    loads = -(-counts[Unit.LOAD] // CORE.loads)
    rest = [counts[unit] for unit in Unit if unit is not Unit.LOAD]
    return max(loads, *rest)
