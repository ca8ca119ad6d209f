"""Numbers of a descriptor that a runtime sequence computes, in the types that descriptors have."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.iron.ops.operations import Operation, Value
from memtile.iron.ops.scalars import build
from memtile.iron.ops.types import IndexType, IntegerType

_I32, _I64 = IntegerType(32), IntegerType(64)


def wide(what: str, at: int, given: Any) -> Any:
    """A number, or a value of 64 bits.

    Raises:
        TypeError: it is neither.
    """
    value = given.result if isinstance(given, Operation) else given
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Value) and isinstance(value.type, IndexType):
        return build("arith.index_cast", _I64, value)
    if isinstance(value, Value) and isinstance(value.type, IntegerType):
        return value if value.type == _I64 else build("arith.extsi", _I64, value)
    raise TypeError(
        f"{what}[{at}] must be an int or an integer SSA value from the runtime sequence, "
        f"got {type(given).__name__}."
    )


def narrow(value: Any) -> Any:
    """A number, or a value of 32 bits."""
    if not isinstance(value, Value) or value.type == _I32:
        return value
    does = "arith.index_cast" if isinstance(value.type, IndexType) else "arith.trunci"
    return build(does, _I32, value)


def product(walk: list[Any]) -> Any:
    """The product of sizes; of numbers a number."""
    length: Any = 1
    for size in walk:
        length = size if type(length) is int and length == 1 else length * size
    return length
