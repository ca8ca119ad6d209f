"""What a program compares its results with: the expected words of its design, where it knows them bit by bit.

A program says whether it passed, and nothing else. The arrays that it compares are seen on the way to that,
in ``aie.utils.verify`` and in NumPy's functions for whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.iron import taking
from memtile.runs.program import Run

Array = npt.NDArray[Any]
Pair = tuple[Array, Array]
_OF_TESTING = ("assert_array_equal", "assert_equal")


@contextmanager
def noting_comparisons() -> Iterator[None]:
    """Note the arrays that a program compares bit by bit with NumPy within ``with``."""
    before = np.array_equal, *(getattr(np.testing, name) for name in _OF_TESTING)
    np.array_equal = _noting(np.array_equal)
    for name in _OF_TESTING:
        setattr(np.testing, name, _noting(getattr(np.testing, name)))
    try:
        yield
    finally:
        np.array_equal = before[0]
        for name, function in zip(_OF_TESTING, before[1:], strict=True):
            setattr(np.testing, name, function)


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    names = [*signature(function).parameters][:2]

    @wraps(function)
    def noted(*given: Any, **options: Any) -> Any:
        both = [*given[:2], *(options[name] for name in names if name in options)]
        if len(both) == len(names):
            taking.compare(*both)
        return function(*given, **options)

    return noted


def expected_of(done: Run, pairs: Sequence[Pair]) -> dict[str, Array]:
    """The expected arrays of a run by the names of its arguments, from what a program compared.

    One side of a comparison is what came out in one argument alone, all of it. The other side has values of
    its type, and differs.

    Args:
        done: the run.
        pairs: arrays that were compared, those that decided the verdict last.
    """
    written = {str(each.region.argument) for each in done.buffers if each.region.writes}
    outputs = {name: array for name, array in done.arrays.items() if name in written}
    found = dict[str, Array]()
    for one, other in (order for pair in pairs for order in (pair, pair[::-1])):
        names = [name for name, array in outputs.items() if _is_all_of(one, array)]
        if len(names) != 1:
            continue
        expected = _of_type(other, one)
        if expected is not None and expected.tobytes() != np.ascontiguousarray(one).tobytes():
            output = outputs[names[0]]
            found[names[0]] = expected.reshape(-1).view(output.dtype).reshape(output.shape)
    return found


def _is_all_of(one: Array, output: Array) -> bool:
    """Whether an array has the bytes of an output."""
    same = one.nbytes == output.nbytes
    return same and np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(output).tobytes()


def _of_type(values: Array, like: Array) -> Array | None:
    """Values in the type of an array; None if there are others than in it, or its type does not hold them."""
    if values.size != like.size:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.ascontiguousarray(values.astype(like.dtype))
    is_held = values.dtype == like.dtype or np.array_equal(found.astype(values.dtype), values)
    return found if is_held else None
