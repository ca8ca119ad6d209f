"""Numbers in order, each once. ``numpy.unique`` does it too, and imports ``numpy.ma`` for it: a short command
would take 10 ms longer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def distinct(numbers: Numbers) -> Numbers:
    """The numbers of an array of any order, sorted, each once."""
    ordered = np.sort(numbers, axis=None)
    found: Numbers = ordered[np.diff(ordered, prepend=ordered[:1] - 1) > 0]
    return found


def without(numbers: Numbers, others: Numbers) -> Numbers:
    """Those of some numbers that are not among others; both as :func:`distinct` has them."""
    if not len(others):
        return numbers
    at = np.minimum(np.searchsorted(others, numbers), len(others) - 1)
    found: Numbers = numbers[others[at] != numbers]
    return found


def common(numbers: Numbers, others: Numbers) -> Numbers:
    """Those of some numbers that are among others; both as :func:`distinct` has them."""
    if not len(others):
        return others
    at = np.minimum(np.searchsorted(others, numbers), len(others) - 1)
    found: Numbers = numbers[others[at] == numbers]
    return found
