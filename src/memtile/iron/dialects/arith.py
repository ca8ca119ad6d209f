"""``aie.dialects.arith``: numbers of a design."""

from memtile.iron.extras.dialects.arith import ConstantOp, ScalarValue, constant, index_cast, select
from memtile.iron.extras.dialects import arith as _all
from memtile.iron.ops.enums import CmpFPredicate, CmpIPredicate

globals().update({name: value for name, value in vars(_all).items() if not name.startswith("_")})

__all__ = ["CmpFPredicate", "CmpIPredicate", "ConstantOp", "ScalarValue", "constant", "index_cast", "select"]
