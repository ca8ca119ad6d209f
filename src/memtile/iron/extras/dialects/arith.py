"""``aie.extras.dialects.arith``: numbers of a design."""

from __future__ import annotations

from typing import Any

from memtile.iron.ops.operation_classes import builder, operation_class
from memtile.iron.ops.operations import Operation, Value
from memtile.iron.ops.scalars import ScalarValue, build, compare, constant
from memtile.iron.ops.types import IndexType, Type

ConstantOp = operation_class("arith.constant")


def index_cast(value: Any, to: Type | None = None, *, loc: object = None, ip: Any = None) -> Any:
    """``arith.index_cast``: an index of an integer, or the other way; of a type and a value too."""
    if isinstance(value, Type):
        value, to = to, value
    value = value.result if isinstance(value, Operation) else value
    if not isinstance(value, Value):
        value = constant(value)
    return build("arith.index_cast", to or IndexType(), value, ip=ip)


def _cast(name: str) -> Any:
    def cast(
        first: Any, second: Any = None, *, to: Type | None = None, loc: object = None, ip: Any = None
    ) -> Any:
        out, value = (first, second) if isinstance(first, Type) else (to if to is not None else second, first)
        return build(f"arith.{name}", out, value, ip=ip)

    cast.__name__ = name
    return cast


extsi, extui, trunci, extf, truncf, sitofp, uitofp, fptosi, fptoui, bitcast, index_castui = map(
    _cast,
    [
        "extsi",
        "extui",
        "trunci",
        "extf",
        "truncf",
        "sitofp",
        "uitofp",
        "fptosi",
        "fptoui",
        "bitcast",
        "index_castui",
    ],
)


def _two(name: str) -> Any:
    def compute(lhs: Any, rhs: Any, *, loc: object = None, ip: Any = None) -> Any:
        lhs = lhs.result if isinstance(lhs, Operation) else lhs
        return build(f"arith.{name}", lhs.type, lhs, rhs, ip=ip)

    compute.__name__ = name
    return compute


(
    addi,
    subi,
    muli,
    divsi,
    divui,
    ceildivsi,
    ceildivui,
    floordivsi,
    remsi,
    remui,
    andi,
    ori,
    xori,
    shli,
    shrsi,
    shrui,
    maxsi,
    maxui,
    minsi,
    minui,
    addf,
    subf,
    mulf,
    divf,
    remf,
    maximumf,
    minimumf,
    maxnumf,
    minnumf,
) = map(
    _two,
    [
        "addi",
        "subi",
        "muli",
        "divsi",
        "divui",
        "ceildivsi",
        "ceildivui",
        "floordivsi",
        "remsi",
        "remui",
        "andi",
        "ori",
        "xori",
        "shli",
        "shrsi",
        "shrui",
        "maxsi",
        "maxui",
        "minsi",
        "minui",
        "addf",
        "subf",
        "mulf",
        "divf",
        "remf",
        "maximumf",
        "minimumf",
        "maxnumf",
        "minnumf",
    ],
)
cmpi, cmpf = builder("arith.cmpi"), builder("arith.cmpf")


def select(condition: Any, true_value: Any, false_value: Any, *, loc: object = None, ip: Any = None) -> Any:
    """``arith.select``."""
    return build("arith.select", true_value.type, condition, true_value, false_value, ip=ip)


def negf(operand: Any, *, loc: object = None, ip: Any = None) -> Any:
    """``arith.negf``."""
    return build("arith.negf", operand.type, operand, ip=ip)


__all__ = ["ConstantOp", "ScalarValue", "compare", "constant", "index_cast", "select"]
