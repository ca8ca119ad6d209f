"""Outputs of which one has what was expected of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.explain.checks import Check
from memtile.explain.value_causes import MismatchCause

Array = npt.NDArray[Any]
_CODE = "MT0410"
_MOST = 16  # outputs: of more, each would be held against each


def with_exchanges(checks: Sequence[Check], arrays: Sequence[tuple[Array, Array]]) -> list[Check]:
    """The comparisons, with the other output as the cause where its expected elements came.

    Args:
        checks: of outputs with what was expected.
        arrays: of each what came and what was expected, flat.
    """
    wrong = [at for at, check in enumerate(checks) if check.wrong and not check.missing]
    if not 1 < len(checks) <= _MOST:
        return list(checks)
    others = {at: other for at in wrong if (other := _other(at, arrays)) is not None}
    found = list(checks)
    for at, other in others.items():
        title, back = checks[other].port, others.get(other) == at
        text = f"has the values expected of {title}" + ", and vice versa" * back
        fix = (
            "Exchange the two: in the transfers of the host, or in what the core writes to each."
            if back
            else f"Let what goes to {title} not come here: look at the transfers of the host."
        )
        found[at] = replace(checks[at], cause=MismatchCause(_CODE, text, fix, title))
    return found


def _other(at: int, arrays: Sequence[tuple[Array, Array]]) -> int | None:
    """The output whose expected elements came as those of another."""
    got = arrays[at][0]
    same = (n for n, (_, expected) in enumerate(arrays) if n != at and _is_same(got, expected))
    return next(same, None)


def _is_same(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other) and bool((one != one[:1]).any())
