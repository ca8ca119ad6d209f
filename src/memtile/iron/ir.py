"""``aie.ir``: what MLIR's Python interface has that programs use."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from memtile.iron.ops import scalars as _scalars  # noqa: F401 - values that compute
from memtile.iron.ops.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseElementsAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    DictAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from memtile.iron.ops.operations import Block, BlockList, InsertionPoint, Module, Operation, Region, Value
from memtile.iron.ops.types import (
    BF16Type,
    F16Type,
    F32Type,
    F64Type,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    RankedTensorType,
    ShapedType,
    Type,
    VectorType,
)

OpView = OpResult = Operation
BlockArgument = Value


class MLIRError(Exception):
    """What MLIR raises."""


class _Scope:
    """Something of MLIR that is current within ``with``, and holds nothing here."""

    _stack: ClassVar[list[Any]]

    def __init_subclass__(cls) -> None:
        cls._stack = []

    def __enter__(self) -> Self:
        self._stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.pop()


class _CurrentScope:
    def __get__(self, _: object, of: type[_Scope]) -> Any:
        return of._stack[-1] if of._stack else of()


class Context(_Scope):
    """A context; there is one for all."""

    current = _CurrentScope()
    allow_unregistered_dialects = False


class Location(_Scope):
    """A place in the program; none is kept."""

    current = _CurrentScope()

    @staticmethod
    def unknown(context: object = None) -> Location:
        """No place."""
        return Location()

    @staticmethod
    def file(*_: object, **__: object) -> Location:
        """A place in a file, not kept."""
        return Location()

    name = fused = callsite = file


__all__ = [
    "ArrayAttr",
    "Attribute",
    "BF16Type",
    "Block",
    "BlockArgument",
    "BlockList",
    "BoolAttr",
    "Context",
    "DenseElementsAttr",
    "DenseI32ArrayAttr",
    "DenseI64ArrayAttr",
    "DictAttr",
    "F16Type",
    "F32Type",
    "F64Type",
    "FlatSymbolRefAttr",
    "FloatAttr",
    "FloatType",
    "FunctionType",
    "IndexType",
    "InsertionPoint",
    "IntegerAttr",
    "IntegerType",
    "Location",
    "MLIRError",
    "MemRefType",
    "Module",
    "NoneType",
    "OpResult",
    "OpView",
    "Operation",
    "RankedTensorType",
    "Region",
    "ShapedType",
    "StringAttr",
    "SymbolRefAttr",
    "Type",
    "TypeAttr",
    "UnitAttr",
    "Value",
    "VectorType",
]
