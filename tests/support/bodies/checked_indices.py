"""Arrays whose indices count from 0, as those of compiled code do: a negative index is an error.

What lies behind the end, NumPy refuses itself. Slices and lists of rows are Python's alone and free.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class CheckedArray(np.ndarray):
    """An array whose indices count from its beginning."""

    def __getitem__(self, index: Any) -> Any:
        check(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        check(index)
        super().__setitem__(index, value)


def check(index: Any) -> None:
    """Raise ``IndexError`` for a negative index."""
    for one in index if isinstance(index, tuple) else (index,):
        if isinstance(one, int | np.integer) and one < 0:
            raise IndexError(f"index {index} counts from the end")


def checked(fields: Any) -> Any:
    """The same tuple of arrays, checked; the arrays share their elements with the given ones."""
    if isinstance(fields, tuple):
        return type(fields)(*map(checked, fields))
    return fields.view(CheckedArray)
