"""``aie.dialects.scf``: loops and branches of a design."""

from memtile.iron.helpers.dialects.scf import else_, for_, if_, range_, yield_
from memtile.iron.ops.operation_classes import operation_class as _operation_class

ForOp, IfOp, WhileOp, YieldOp = (_operation_class(f"scf.{name}") for name in ("for", "if", "while", "yield"))

__all__ = ["ForOp", "IfOp", "WhileOp", "YieldOp", "else_", "for_", "if_", "range_", "yield_"]
