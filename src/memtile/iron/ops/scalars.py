"""Values that compute: Python's operators on them build operations of arith, memref and vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from memtile.iron.ops.attributes import Attribute, BoolAttr, DenseElementsAttr, FloatAttr, IntegerAttr
from memtile.iron.ops.numpy_types import np_dtype_to_mlir_type
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import Block, Operation, Value, makes_values
from memtile.iron.ops.types import (
    F32Type,
    F64Type,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    Type,
    VectorType,
)


def build(name: str, *given: Any, **named: Any) -> Any:
    """An operation's result."""
    return operation_class(name)(*given, **named).result


def constant(
    value: Any,
    type: Type | None = None,
    index: bool | None = None,
    *,
    shape: Sequence[int] | None = None,
    loc: object = None,
    ip: Any = None,
) -> Any:
    """``arith.constant``: of an integer, a number, a truth value or an array.

    Args:
        value: what it is.
        type: its type; default = 32 bits, 64 where a whole number needs it; of an array by its elements.
        index: it is an index.
        shape: of the vector of which each element is the value.
    """
    if isinstance(value, Attribute):
        return build("arith.constant", type or value.type, value, ip=ip)  # type: ignore[attr-defined]
    if isinstance(value, np.generic):
        value = value.item()
    if index:
        type = IndexType()
    type = type if type is not None else type_of_python(value)
    if shape is not None:
        type, value = VectorType(shape, type), np.full(shape, value)
    return build("arith.constant", type, constant_attribute(value, type), ip=ip)


def constant_attribute(value: Any, type: Type) -> Attribute:
    """The attribute of a constant.

    Raises:
        TypeError: a constant of the type is not known.
    """
    if isinstance(type, ShapedType):
        return DenseElementsAttr(np.asarray(value), type)
    if isinstance(type, IntegerType) and type.width == 1:
        return BoolAttr(bool(value))
    if isinstance(type, (IntegerType, IndexType)):
        if isinstance(value, float) and not value.is_integer():
            raise TypeError(f"{value!r} is no {type}")
        return IntegerAttr(type, int(value))
    if isinstance(type, FloatType):
        return FloatAttr(type, float(value))
    raise TypeError(f"no constant of type {type}")


def type_of_python(value: Any) -> Type:
    """The type that a number of Python gets.

    Raises:
        TypeError: it is no number.
    """
    if isinstance(value, bool):
        return IntegerType(1)
    if isinstance(value, int):
        return IntegerType(32 if -(2**31) <= value < 2**31 else 64)
    if isinstance(value, float):
        small = (
            value != value
            or abs(value) in (0.0, float("inf"))
            or abs(value) <= float(np.finfo(np.float32).max)
        )
        return F32Type() if small else F64Type()
    if isinstance(value, np.ndarray):
        return ShapedTensor(value.shape, np_dtype_to_mlir_type(value.dtype.type))
    raise TypeError(f"{value!r} is no number, nor a value of the design")


class ShapedTensor(ShapedType):
    """``tensor<4xi32>``."""

    NAME = "tensor"


class ScalarValue(Value):
    """A number of the design: an integer, an index or a floating-point number."""

    def __new__(cls, value: Any = None, *given: Any, **named: Any) -> Any:
        """A value; of a number of Python a constant, ``ScalarValue(4, dtype=T.i32())``."""
        if isinstance(value, Type):
            return super().__new__(cls)
        if isinstance(value, Value):
            return value
        return constant(value, named.get("dtype"))

    def __init__(self, type: Any = None, owner: Any = None, at: int = 0, **_: Any) -> None:
        if isinstance(type, Type):
            super().__init__(type, owner, at)

    alone = False
    """Whether a loop carries it, and nothing else."""

    def __iter__(self) -> Iterator[Any]:
        """Itself, if a loop carries it alone: programs since November 2026 write ``(value,)``.

        Raises:
            TypeError: it is another value.
        """
        if not self.alone:
            raise TypeError(f"a value of the design ({self.type}) is not iterable")
        return iter((self,))

    @property
    def dtype(self) -> Type:
        """Its type."""
        return self.type

    @property
    def literal_value(self) -> Any:
        """The number of a constant.

        Raises:
            ValueError: it is no constant.
        """
        owner = self.owner
        if isinstance(owner, Operation) and owner.name == "arith.constant":
            return owner.attributes["value"].value  # type: ignore[attr-defined]
        raise ValueError("the value is no constant")

    def is_constant(self) -> bool:
        """Whether it is one."""
        return isinstance(self.owner, Operation) and self.owner.name == "arith.constant"

    def __add__(self, other: Any) -> Any:
        return _arithmetic("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _arithmetic("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _arithmetic("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _arithmetic("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _arithmetic("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _arithmetic("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _arithmetic("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _arithmetic("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _arithmetic("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return _arithmetic("rem", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _arithmetic("rem", other, self)

    def __and__(self, other: Any) -> Any:
        return _arithmetic("and", self, other)

    def __rand__(self, other: Any) -> Any:
        return _arithmetic("and", other, self)

    def __or__(self, other: Any) -> Any:
        return _arithmetic("or", self, other)

    def __ror__(self, other: Any) -> Any:
        return _arithmetic("or", other, self)

    def __xor__(self, other: Any) -> Any:
        return _arithmetic("xor", self, other)

    def __lshift__(self, other: Any) -> Any:
        return _arithmetic("shl", self, other)

    def __rshift__(self, other: Any) -> Any:
        return _arithmetic("shr", self, other)

    def __neg__(self) -> Any:
        if isinstance(self.type, FloatType):
            return build("arith.negf", self.type, self)
        return _arithmetic("sub", 0, self)

    def __lt__(self, other: Any) -> Any:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return compare("ge", self, other)

    def __eq__(self, other: object) -> Any:
        if other is self:
            return True
        if isinstance(other, (Value, int, float, np.generic)):
            return compare("eq", self, other)
        return False

    def __ne__(self, other: object) -> Any:
        if other is self:
            return False
        if isinstance(other, (Value, int, float, np.generic)):
            return compare("ne", self, other)
        return True

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise TypeError(
            "a value of the design is known when it runs, not when it is built: use if_ of "
            "aie.helpers.dialects.scf instead of if, range_ instead of range"
        )

    def __index__(self) -> int:
        raise TypeError("a value of the design is no number yet: use range_ instead of range")


def _pair(left: Any, right: Any) -> tuple[Value, Value]:
    """Both sides as values of one type: a number gets that of the other side."""
    if not isinstance(left, Value):
        left = constant(left, _like(right))
    elif not isinstance(right, Value):
        right = constant(right, _like(left))
    if left.type != right.type:
        if isinstance(left.type, IndexType) and isinstance(right.type, IntegerType):
            right = build("arith.index_cast", left.type, right)
        elif isinstance(right.type, IndexType) and isinstance(left.type, IntegerType):
            left = build("arith.index_cast", right.type, left)
        else:
            raise TypeError(
                f"values of {left.type} and {right.type} do not compute together; convert one of them"
            )
    return left, right


def _like(value: Value) -> Type:
    return value.type


def _element(type: Type) -> Type:
    return type.element_type if isinstance(type, ShapedType) else type


_SIGNED = {"div": "divsi", "floordiv": "floordivsi", "rem": "remsi", "shr": "shrsi"}
_UNSIGNED = {"div": "divui", "floordiv": "divui", "rem": "remui", "shr": "shrui"}


def _arithmetic(word: str, left: Any, right: Any) -> Any:
    left, right = _pair(left, right)
    element = _element(left.type)
    if isinstance(element, FloatType):
        name = f"{word}f"
    elif word in _SIGNED:
        unsigned = isinstance(element, IntegerType) and element.is_unsigned
        name = (_UNSIGNED if unsigned else _SIGNED)[word]
    else:
        name = word if word == "shl" else f"{word}i"
    return build({"shl": "arith.shli"}.get(name, f"arith.{name}"), left.type, left, right)


def compare(word: str, left: Any, right: Any) -> Any:
    """``arith.cmpi`` or ``cmpf``: signed, unless the type is unsigned; ordered."""
    left, right = _pair(left, right)
    element = _element(left.type)
    if isinstance(element, FloatType):
        predicate = {"ne": "ONE"}.get(word, f"O{word.upper()}")
        return build("arith.cmpf", predicate, left, right)
    if word not in ("eq", "ne"):
        word = ("u" if isinstance(element, IntegerType) and element.is_unsigned else "s") + word
    return build("arith.cmpi", word, left, right)


def _shaped(value: Value) -> ShapedType:
    """The type of a buffer, a vector or a tensor."""
    type = value.type
    if not isinstance(type, ShapedType):
        raise TypeError(f"a value of {type} has no elements")
    return type


class ShapedValue(Value):
    """A value with a shape."""

    @property
    def shape(self) -> list[int]:
        """Its dimensions."""
        return _shaped(self).shape

    @property
    def dtype(self) -> Type:
        """The type of its elements."""
        return _shaped(self).element_type

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    def has_rank(self) -> bool:
        """Always."""
        return True

    @property
    def n_elements(self) -> int:
        """All its elements."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]


class MemRefValue(ShapedValue):
    """A buffer: an element of it is read or written by its place, ``buffer[i, j]``."""

    def __getitem__(self, at: Any) -> Any:
        if at is Ellipsis or (isinstance(at, slice) and at == slice(None)):
            return self
        return load(self, at)

    def __setitem__(self, at: Any, value: Any) -> None:
        store(value, self, at)


def indices(at: Any) -> list[Value]:
    """Places as values of type index."""
    found = []
    for each in at if isinstance(at, (tuple, list)) else (at,):
        if isinstance(each, slice):
            raise TypeError("a part of a buffer is no element of it; give one index for each dimension")
        if not isinstance(each, Value):
            each = constant(int(each), index=True)
        elif not isinstance(each.type, IndexType):
            each = build("arith.index_cast", IndexType(), each)
        found.append(each)
    return found


def load(memref: Any, at: Any = (), *, loc: object = None, ip: Any = None) -> Any:
    """``memref.load`` of an element."""
    value = memref.result if isinstance(memref, Operation) else memref
    places = _complete(value, indices(at))
    return build("memref.load", _shaped(value).element_type, value, places, ip=ip)


def store(value: Any, memref: Any, at: Any = (), *, loc: object = None, ip: Any = None) -> None:
    """``memref.store`` of an element; a number gets the type of the elements."""
    target = memref.result if isinstance(memref, Operation) else memref
    places = _complete(target, indices(at))
    element = _shaped(target).element_type
    if isinstance(value, Operation):
        value = value.result
    if not isinstance(value, Value):
        value = constant(value, element)
    operation_class("memref.store")(value, target, places, ip=ip)


def _complete(memref: Value, places: list[Value]) -> list[Value]:
    shape = _shaped(memref).shape
    if len(places) != len(shape):
        raise TypeError(f"an element of {memref.type} has {len(shape)} indices, not {len(places)}")
    return places


def _scalar(type: Type, owner: Operation | Block, at: int) -> Value | None:
    return ScalarValue(type, owner, at) if isinstance(type, (IntegerType, IndexType, FloatType)) else None


def _memref(type: Type, owner: Operation | Block, at: int) -> Value | None:
    return MemRefValue(type, owner, at) if isinstance(type, MemRefType) else None


class VectorValue(ShapedValue, ScalarValue):
    """A vector."""


def _vector(type: Type, owner: Operation | Block, at: int) -> Value | None:
    return VectorValue(type, owner, at) if isinstance(type, VectorType) else None


makes_values(_scalar)
makes_values(_memref)
makes_values(_vector)
