"""``aie.dialects.func``: functions of a design."""

from memtile.iron.helpers.dialects.func import CallOp, FuncOp, ReturnOp, call, func

__all__ = ["CallOp", "FuncOp", "ReturnOp", "call", "func"]
