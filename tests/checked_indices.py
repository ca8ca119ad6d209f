"""pytest plugin (``-p checked_indices``): indices into the state count from 0, or the test fails.

Compiled code has no negative indices that count from the end, and checks none. The interpreter
(``MEMTILE_JIT=0``) would take them, so here every array and column of the state is of a class that refuses
them. What lies behind the end, NumPy refuses itself. Slices and lists of rows are Python's alone and free.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memtile.jit.decorators import ENABLED
from memtile.model.state.state import State
from memtile.sim import fresh


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


@pytest.fixture(autouse=True, scope="session")
def _every_state_is_checked() -> Iterator[None]:
    assert not ENABLED, "indices are checked in the interpreter: MEMTILE_JIT=0"
    made, replace = fresh.fresh_state, State._replace
    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if getattr(module, "fresh_state", None) is made:
                patch.setattr(module, "fresh_state", lambda *args, **more: checked(made(*args, **more)))
        patch.setattr(State, "_replace", lambda state, **new: checked(replace(state, **new)))
        yield
