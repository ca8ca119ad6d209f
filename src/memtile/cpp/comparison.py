"""Each call of a C++ kernel beside a function in Python: the first difference, with inputs for a replay.

A reference counts the calls that it was compared with, so that a run without any can say so.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memtile.errors import DesignError
from memtile.output_files import write_output


class Reference:
    """A function in Python that calls of a C++ function are compared with.

    Args:
        function: it changes its arrays in place.

    Attributes:
        function: the same.
        calls: that have been compared with it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0


def references(functions: Mapping[str, Callable[..., Any] | Reference]) -> dict[str, Reference]:
    """References of functions in Python, by name; one that is a reference already stays the same."""
    return {
        name: each if isinstance(each, Reference) else Reference(each) for name, each in functions.items()
    }


def compared(
    name: str, calls: Callable[..., Any], reference: Reference, where: str
) -> Callable[..., Generator[Any, Any, Any]]:
    """A C++ function that runs the reference after each call, on what that call was given.

    Args:
        name: of the function.
        calls: the C++ function, which gives actions.
        reference: what they are compared with.
        where: the core, for messages.
    """
    number = 0

    def run(*given: Any) -> Generator[Any, Any, Any]:
        nonlocal number
        before = [_copy(each) for each in given]
        answer = yield from calls(*given)
        number += 1
        expected = [_copy(each) for each in before]
        wanted, found = reference.function(*expected), answer is not None
        for at, (one, other) in enumerate(zip(given, expected, strict=True)):
            if not isinstance(one, np.ndarray):
                continue
            found = True
            if (says := _first(one, other)) is not None:
                raise _difference(name, number, f"argument {at}", says, before, where)
        if answer is not None and wanted != answer:
            raise _difference(name, number, "the result", f"is {answer}, expected {wanted}", before, where)
        reference.calls += found
        return answer

    return run


def _copy(value: Any) -> Any:
    return np.array(value, subok=False) if isinstance(value, np.ndarray) else value


def _first(one: Any, other: Any) -> str | None:
    """The first element that differs, and how many do; None if none does. A NaN equals a NaN."""
    left, right = np.asarray(one).view(np.ndarray), np.asarray(other)
    differ = left != right
    if left.dtype.kind not in "iub":  # floating-point, bf16 too
        differ &= ~(np.isnan(left.astype(np.float64)) & np.isnan(right.astype(np.float64)))
    wrong = np.argwhere(differ)
    if not len(wrong):
        return None
    index = tuple(int(n) for n in wrong[0])
    place = index[0] if len(index) == 1 else index
    return f"index {place} is {left[index]}, expected {right[index]}; {len(wrong)} of {left.size} differ"


def _difference(
    name: str, number: int, what: str, found: str, before: Sequence[Any], where: str
) -> DesignError:
    path, file = Path(f"{name}-call{number}.npz"), io.BytesIO()
    np.savez(file, **{f"argument{n}": _saved(each) for n, each in enumerate(before)})
    write_output(path, file.getvalue())
    return DesignError.of(
        "kernel",
        name,
        "the arrays that the reference gives",
        f"call {number} of {name} gives another result than its reference: {what}: {found}",
        f"The inputs of the call are in {path}, argument0 and so on.",
        reason="cpp_difference",
        where=where,
        source="--against-kernels, docs/cpp.md",
    )


def _saved(value: Any) -> Any:
    """An array as files hold it: bf16 as its bits."""
    array = np.asarray(value)
    return array.view(np.uint16) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array
