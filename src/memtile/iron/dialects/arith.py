"""``aie.dialects.arith``: numbers of a design."""

from typing import Any

from memtile.iron.extras.dialects import arith as _all
from memtile.iron.extras.dialects.arith import ConstantOp, ScalarValue, index_cast, select
from memtile.iron.ops.enums import CmpFPredicate, CmpIPredicate
from memtile.iron.ops.types import Type

globals().update({name: value for name, value in vars(_all).items() if not name.startswith("_")})


def constant(result: Any, value: Any = None, **more: Any) -> Any:
    """``arith.constant`` of a type and a number, or of a number and its type as ``aie.extras`` has it."""
    number, type = (value, result) if isinstance(result, Type) else (result, value)
    return _all.constant(number, type, **more)


__all__ = ["CmpFPredicate", "CmpIPredicate", "ConstantOp", "ScalarValue", "constant", "index_cast", "select"]
