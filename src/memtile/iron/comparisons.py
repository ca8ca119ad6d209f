"""What a program compares its results with: the expected words of its design, where it knows them bit by bit.

A program says whether it passed, and nothing else. Where the comparison of two whole arrays ends it, by
``aie.utils.verify`` or NumPy's own tests, the traceback has both.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import unwrap
from traceback import walk_tb
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.iron.utils.verify import assert_pass
from memtile.runs.program import Run

Array = npt.NDArray[Any]
Pair = tuple[Array, Array]
_ARGUMENTS = {
    unwrap(function).__code__: names
    for function, names in (
        (assert_pass, ("actual", "expected")),
        (np.testing.assert_array_equal, ("actual", "desired")),
        (np.testing.assert_equal, ("actual", "desired")),
    )
}
"""Of functions that end a program where two arrays differ, by their code: what they call the two."""
_BOUNDS = ("rtol", "atol")
_NOT_NUMBERS = "OSUMm"  # kinds of objects, texts and times


def failed_pair(error: BaseException) -> Pair | None:
    """The two arrays of the comparison that has ended a program; None if it ended otherwise, or nearly equal.

    Args:
        error: by which it ended.
    """
    for each in _causes(error):
        for frame, _ in walk_tb(each.__traceback__):
            pair = _compared(frame)
            if pair is not None:
                return pair
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that it comes of."""
    known = set[int]()
    now: BaseException | None = error
    while now is not None and id(now) not in known:
        known.add(id(now))
        yield now
        now = now.__cause__ or now.__context__


def _compared(frame: FrameType) -> Pair | None:
    names, values = _ARGUMENTS.get(frame.f_code), frame.f_locals
    if names is None or any(values.get(bound) is not None for bound in _BOUNDS):
        return None
    both = [values.get(name) for name in names]
    if not any(isinstance(each, np.ndarray) for each in both):
        return None
    try:
        one, other = (np.asarray(each) for each in both)
    except ValueError:
        return None  # lists of several lengths, which are no array
    is_of_numbers = all(each.ndim and _is_of_numbers(each.dtype) for each in (one, other))
    return (one, other) if is_of_numbers else None


def _is_of_numbers(dtype: np.dtype[Any]) -> bool:
    return dtype.names is None and dtype.kind not in _NOT_NUMBERS


def expected_of(done: Run, error: BaseException) -> dict[str, Array]:
    """The expected array of a run by the name of its argument, from the comparison that ended a program.

    One side of it is what came out in one argument alone, all of it. The other side has values of its type.
    Elements that are equal and have other bits, as zeros have with their signs, are as they came.

    Args:
        done: the run.
        error: by which the program ended.
    """
    pair = failed_pair(error)
    written = {str(each.region.argument) for each in done.buffers if each.region.writes}
    outputs = {name: array for name, array in done.arrays.items() if name in written}
    for one, other in (pair, pair[::-1]) if pair is not None else ():
        names = [name for name, array in outputs.items() if _is_all_of(one, array)]
        expected = of_type(other, one) if len(names) == 1 else None
        if expected is not None and expected.tobytes() != np.ascontiguousarray(one).tobytes():
            output = outputs[names[0]]
            return {names[0]: expected.reshape(-1).view(output.dtype).reshape(output.shape)}
    return {}


def _is_all_of(one: Array, output: Array) -> bool:
    """Whether an array has the bytes of an output."""
    same = one.nbytes == output.nbytes
    return same and np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(output).tobytes()


def of_type(values: Array, came: Array) -> Array | None:
    """Values in the type of what came; None if there are others than in it, or it does not hold them."""
    if values.size != came.size:
        return None
    values, came = np.ascontiguousarray(values).reshape(-1), np.ascontiguousarray(came).reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        found = values.astype(came.dtype)
        back = found.astype(values.dtype)
    is_held = values.dtype == came.dtype or bool(((back == values) | (values != values)).all())
    same = (found == came) | ((found != found) & (came != came))
    return np.where(same, came, found) if is_held else None
