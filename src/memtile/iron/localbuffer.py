"""``aie.iron.localbuffer``, of 2025: a buffer of the core that makes it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from memtile.iron.dialects.aie import buffer
from memtile.iron.helpers.util import array_type
from memtile.iron.ops.operations import InsertionPoint, Operation


class LocalBuffer:
    """A buffer on the tile of the core whose function makes it; newer ones give the Worker a ``Buffer``.

    Args:
        type: NumPy's type; default = the initial value's.
        initial_value: what is in it at first.
        name: default = one of its own.

    Raises:
        ValueError: neither type nor initial value; it is made outside of a core's function.
    """

    _numbers = itertools.count()

    def __init__(
        self, type: Any = None, initial_value: np.ndarray[Any, Any] | None = None, name: str | None = None
    ) -> None:
        if type is None:
            if initial_value is None:
                raise ValueError("a LocalBuffer needs its type, its initial value, or both")
            type = array_type(initial_value.shape, initial_value.dtype.type)
        self.name = name or f"lbuf_{next(LocalBuffer._numbers)}"
        core = _core()
        with InsertionPoint(core):
            self.op: Any = buffer(core.operands[0], type, name=self.name, initial_value=initial_value)

    def __getitem__(self, at: Any) -> Any:
        return self.op[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self.op[at] = value


def _core() -> Operation:
    """The core that is built now."""
    point = InsertionPoint.now()
    at = None if point is None else point.block.owner
    while at is not None and at.name != "aie.core":
        at = at.parent
    if at is None:
        raise ValueError("a LocalBuffer is made in the function of a Worker; elsewhere use Buffer")
    return at


__all__ = ["LocalBuffer"]
