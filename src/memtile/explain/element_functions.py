"""What a core does to each element, by what it took and what it made of it.

A factor and a constant hold for any element. Else the pairs that came are the function, if they are one and
turn at most once: a core that also changes the order of its elements makes no such pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_LARGEST = 64  # factor of a core
_FEWEST = 8  # different elements by which a function is known
_TURNS = 1  # of a function that first falls and then rises, or the other way round


class Mapped(NamedTuple):
    """Elements as a core makes them, and which of them are known."""

    elements: Array
    known: npt.NDArray[np.bool_]


ElementFunction = Callable[[Array], Mapped]


def element_function(came: Array, got: Array) -> ElementFunction | None:
    """The function that makes each element that was got of the one that came; None if there is none.

    Args:
        came: what a core took, flat.
        got: what it made, as long and of the same type.
    """
    if got.dtype.kind not in "iuf" or len(came) != len(got):
        return None
    return _linear(came, got) or _by_pairs(came, got)


def _linear(came: Array, got: Array) -> ElementFunction | None:
    """A factor and a constant, of whole numbers."""
    if got.dtype.kind not in "iu":
        return None
    ins, outs = came.astype(np.int64), got.astype(np.int64)
    others = np.flatnonzero(ins != ins[0])
    if not len(others):
        return None
    run = int(ins[others[0]] - ins[0])
    factor, rest = divmod(int(outs[others[0]] - outs[0]), run)
    if rest or not factor or abs(factor) > _LARGEST:
        return None
    more = int(outs[0] - factor * ins[0])

    def made(values: Array) -> Mapped:
        elements = (values.astype(np.int64) * factor + more).astype(got.dtype)
        return Mapped(elements, np.ones(len(values), np.bool_))

    return made if np.array_equal(made(came).elements, got) else None


def _by_pairs(came: Array, got: Array) -> ElementFunction | None:
    """The pairs themselves, where equal elements became equal ones, and greater ones greater or smaller."""
    if not (np.isfinite(came).all() and np.isfinite(got).all()):
        return None
    order = np.argsort(came, kind="stable")
    ins, outs = came[order], got[order]
    first = np.concatenate(([True], ins[1:] != ins[:-1]))
    ins, each = ins[first], outs[first]
    if len(ins) < _FEWEST or not np.array_equal(each[np.cumsum(first) - 1], outs):
        return None
    ways = np.sign(each[1:].astype(np.float64) - each[:-1].astype(np.float64))
    ways = ways[ways != 0]
    if len(ways) < _FEWEST // 2 or np.count_nonzero(ways[1:] != ways[:-1]) > _TURNS:
        return None

    def made(values: Array) -> Mapped:
        at = np.minimum(np.searchsorted(ins, values), len(ins) - 1)
        return Mapped(each[at], ins[at] == values)

    return made
