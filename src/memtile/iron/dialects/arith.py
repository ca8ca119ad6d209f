"""``aie.dialects.arith``: numbers of a design, as MLIR's own Python builds them."""

from __future__ import annotations

from typing import Any

from memtile.iron.extras.dialects import arith as _all
from memtile.iron.extras.dialects.arith import ConstantOp, ScalarValue, index_cast, select
from memtile.iron.ops.enums import CmpFPredicate, CmpIPredicate
from memtile.iron.ops.scalars import constant as _constant
from memtile.iron.ops.types import Type

globals().update({name: value for name, value in vars(_all).items() if not name.startswith("_")})


def constant(result: Any, value: Any = None, *, loc: object = None, ip: Any = None, **more: Any) -> Any:
    """``arith.constant`` of a type and a value; of a value alone as ``aie.extras.dialects.arith`` has it."""
    if isinstance(result, Type):
        return _constant(value, result, ip=ip)
    return _constant(result, value, ip=ip, **more)


__all__ = ["CmpFPredicate", "CmpIPredicate", "ConstantOp", "ScalarValue", "constant", "index_cast", "select"]
