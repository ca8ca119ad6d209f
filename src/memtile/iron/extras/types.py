"""``aie.extras.types``: short names of MLIR's types, ``T.memref(16, T.i32())``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtile.iron.ops.types import (
    DYNAMIC,
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
    Type,
    VectorType,
)

S = DYNAMIC


def _integer(width: int, sign: str = "") -> Callable[[], IntegerType]:
    def type_() -> IntegerType:
        return IntegerType(width, sign)

    return type_


def _float(kind: type[FloatType]) -> Callable[[], FloatType]:
    def type_() -> FloatType:
        return kind()

    return type_


bool = _integer(1)
i8, i16, i32, i64 = map(_integer, (8, 16, 32, 64))
si8, si16, si32, si64 = (_integer(width, "s") for width in (8, 16, 32, 64))
ui8, ui16, ui32, ui64 = (_integer(width, "u") for width in (8, 16, 32, 64))
f16, bf16, f32, f64 = map(_float, (F16Type, BF16Type, F32Type, F64Type))


def index() -> IndexType:
    """``index``."""
    return IndexType()


def none() -> NoneType:
    """``none``."""
    return NoneType()


def function(inputs: list[Type], results: list[Type]) -> FunctionType:
    """The type of a function."""
    return FunctionType(inputs, results)


def _shaped(kind: Any, given: tuple[Any, ...], element_type: Type | None) -> Any:
    """A type of sizes and, as the last, the type of the elements."""
    sizes = list(given)
    if element_type is None:
        if not sizes:
            raise TypeError("a type with a shape needs the type of its elements")
        element_type = sizes.pop()
    if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)):
        sizes = list(sizes[0])
    if callable(element_type) and not isinstance(element_type, Type):
        element_type = element_type()
    return kind(sizes, element_type)


def memref(
    *shape: Any, element_type: Type | None = None, memory_space: object = None, layout: object = None
) -> MemRefType:
    """``memref<16xi32>`` of ``memref(16, T.i32())``."""
    plain = _shaped(MemRefType, shape, element_type)
    return MemRefType(plain.shape, plain.element_type, layout, memory_space)


def vector(*shape: Any, element_type: Type | None = None) -> VectorType:
    """``vector<16xi32>`` of ``vector(16, T.i32())``."""
    return _shaped(VectorType, shape, element_type)  # type: ignore[no-any-return]


def tensor(*shape: Any, element_type: Type | None = None) -> RankedTensorType:
    """``tensor<16xi32>`` of ``tensor(16, T.i32())``."""
    return _shaped(RankedTensorType, shape, element_type)  # type: ignore[no-any-return]
