"""Cycles that operations of a core's program are said to take, each with range, source and grade.

A core executes several operations in a cycle where its compiler finds them; nobody outside knows which. So a
body that is read from MLIR takes the sum of these, and results say how much of their cycles hang on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from memtile.arch.grades import Grade, Source
from memtile.errors import DesignError, Problem, raise_if

_SCALAR = "AM020 chapter 4: scalar unit; a guess of what is hidden behind other operations"


def _cost(value: int, low: int, high: int, source: str = _SCALAR) -> Any:
    return field(default=value, metadata={"low": low, "high": high, "source": Source(source, Grade.ASSUMED)})


@dataclass(frozen=True, slots=True)
class CoreCosts:
    """Cycles of an operation, by its class.

    Raises:
        DesignError: a value is outside its range.
    """

    load: int = _cost(1, 0, 8)
    store: int = _cost(1, 0, 8)
    integer: int = _cost(1, 0, 4)
    multiply: int = _cost(1, 0, 8)
    divide: int = _cost(12, 1, 64)
    float: int = _cost(2, 0, 16)
    function: int = _cost(20, 1, 256)  # exp, tanh, sqrt
    branch: int = _cost(2, 0, 8)
    loop: int = _cost(2, 0, 8)  # of each turn
    call: int = _cost(4, 0, 64)

    def __post_init__(self) -> None:
        """Check every value against its range."""
        problems = [
            Problem(
                f.name,
                f"{getattr(self, f.name)} cycles",
                f"{f.metadata['low']}..{f.metadata['high']} cycles",
                reason="core_costs",
                where="costs of operations",
                source=f.metadata["source"].text,
            )
            for f in fields(self)
            if not f.metadata["low"] <= getattr(self, f.name) <= f.metadata["high"]
        ]
        raise_if(problems, DesignError)


_FUNCTIONS = """
    acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 fpowi ipowi log log10 log1p log2
    powf rsqrt sin sinh sqrt tan tanh""".split()  # noqa: SIM905
CLASSES = {
    "memref.load": "load",
    "affine.load": "load",
    "memref.store": "store",
    "affine.store": "store",
    "arith.muli": "multiply",
    **dict.fromkeys(("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.divf"), "divide"),
    **dict.fromkeys(("arith.floordivsi", "arith.ceildivsi"), "divide"),
    **dict.fromkeys(("arith.addf", "arith.subf", "arith.mulf", "arith.cmpf", "math.fma"), "float"),
    **dict.fromkeys(("arith.maximumf", "arith.minimumf", "arith.sitofp", "arith.fptosi"), "float"),
    **dict.fromkeys((f"math.{name}" for name in _FUNCTIONS), "function"),
    **dict.fromkeys((f"index.{name}" for name in ("divs", "divu", "rems", "remu")), "divide"),
    **dict.fromkeys(("vector.transfer_read", "vector.load", "vector.maskedload"), "load"),
    **dict.fromkeys(("vector.transfer_write", "vector.store", "vector.maskedstore"), "store"),
    **dict.fromkeys(("vector.contract", "vector.outerproduct", "vector.reduction"), "multiply"),
    "index.mul": "multiply",
    "vector.fma": "float",
    "arith.remf": "divide",
    **dict.fromkeys(("cf.br", "cf.cond_br", "cf.switch", "scf.if", "br", "cond_br", "cf.assert"), "branch"),
    "func.call": "call",
}
"""Class of an operation; what is not here and computes is ``integer``, constants and casts are free."""
FREE = (
    "arith.bitcast",
    "index.casts",
    "index.castu",
    "index.constant",
    "memref.rank",
    "memref.transpose",
    "memref.view",
    "ub.poison",
    "vector.bitcast",
    "vector.shape_cast",
    "arith.constant",
    "arith.index_cast",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "memref.cast",
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.assume_alignment",
    "memref.get_global",
    "memref.dim",
)
"""Operations that cost nothing."""
