"""Copies between strided arrays, by blocks where a plain one fetches the same cache lines again and again.

NumPy copies along the axis on which the target is narrowest. In a transpose each of these words is in another
cache line of the source, and when the next row of the target asks for the words beside them the lines are
gone: at distances of a power of two only few lines have room at a time. So that axis is cut into strips of as
many words as there is room for lines; each line is fetched once.
"""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = tuple[int, ...]

LINE_BYTES = 64
_WAY_BYTES = 4096  # of the first cache of common processors: lines so far apart share a place
_WAYS = 8  # lines that have room at one place; newer processors have 12
_USES = 4  # of a line, from which on it pays that it is fetched once


class Strips(NamedTuple):
    """How a copy is cut.

    Attributes:
        axis: that is cut.
        width: elements of a strip; 0 = the copy is made at once.
    """

    axis: int
    width: int


WHOLE = Strips(0, 0)


def copy(to: NDArray[Any], source: NDArray[Any], cut: Strips) -> None:
    """Copy ``source`` to ``to``, of the same shape and type, cut as :func:`strips` says for their strides."""
    if cut.width == 0 or np.may_share_memory(to, source):  # of what is in both NumPy makes a copy first
        to[...] = source
        return
    before = (slice(None),) * cut.axis
    for first in range(0, source.shape[cut.axis], cut.width):
        part = (*before, slice(first, first + cut.width))
        to[part] = source[part]


def strips(counts: Numbers, to: Numbers, source: Numbers) -> Strips:
    """How a copy should be cut.

    Args:
        counts: elements per axis.
        to, source: bytes between neighbours, per axis; no two elements of the target share a byte.
    """
    axes = [axis for axis, count in enumerate(counts) if count > 1]
    if len(axes) < 2:
        return WHOLE
    along = min(axes, key=lambda axis: abs(to[axis]))
    step = abs(source[along])
    beside = min(abs(source[axis]) for axis in axes if axis != along)
    if beside * _USES > LINE_BYTES or step < LINE_BYTES:  # a line is used once or twice, or at once
        return WHOLE
    room = lines_side_by_side(step)
    return Strips(along, room) if room < counts[along] else WHOLE


def lines_side_by_side(step: int) -> int:
    """Cache lines, ``step`` bytes apart, that the first cache holds at a time."""
    places = _WAY_BYTES // max(gcd(step, _WAY_BYTES), LINE_BYTES)
    return places * _WAYS
