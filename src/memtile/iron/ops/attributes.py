"""Attributes of the operations that a program builds, as MLIR's builtin dialect and mlir-aie's have them.

Each knows its text. ``str`` is the text with its type, :meth:`Attribute.short` the one that stands where an
operation's own form says the type.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memtile.iron.ops.types import F32Type, FloatType, IntegerType, ShapedType, Type


class Attribute:
    """An attribute that is nothing but its text.

    Args:
        text: as MLIR writes it.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @staticmethod
    def parse(text: str, context: object = None) -> Attribute:
        """The attribute of a text that is not looked into."""
        return Attribute(text)

    def short(self) -> str:
        """Without its type."""
        return str(self)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class IntegerAttr(Attribute):
    """``4 : i32``.

    Attributes:
        type: of the number.
        value: the number.
    """

    def __init__(self, type: Type, value: int) -> None:
        self.type, self.value = type, int(value)

    @classmethod
    def get(cls, type: Type, value: int) -> IntegerAttr:
        """The attribute."""
        return cls(type, value)

    def short(self) -> str:
        """The number alone."""
        return str(self.value)

    def __str__(self) -> str:
        return f"{self.value} : {self.type}"

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


class BoolAttr(Attribute):
    """``true``.

    Attributes:
        value: True or False.
    """

    def __init__(self, value: bool) -> None:
        self.value = bool(value)

    @classmethod
    def get(cls, value: bool, context: object = None) -> BoolAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return "true" if self.value else "false"

    def __bool__(self) -> bool:
        return self.value


class FloatAttr(Attribute):
    """``1.0 : f32``.

    Attributes:
        type: of the number.
        value: the number.
    """

    def __init__(self, type: Type, value: float) -> None:
        self.type, self.value = type, float(value)

    @classmethod
    def get(cls, type: Type, value: float, loc: object = None) -> FloatAttr:
        """The attribute."""
        return cls(type, value)

    def short(self) -> str:
        """The number alone."""
        return float_text(self.value, self.type)

    def __str__(self) -> str:
        return f"{self.short()} : {self.type}"


class StringAttr(Attribute):
    """``"text"``.

    Attributes:
        value: the text.
    """

    def __init__(self, value: str) -> None:
        self.value = value

    @classmethod
    def get(cls, value: str, context: object = None) -> StringAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return quoted(self.value)


class UnitAttr(Attribute):
    """An attribute that is there or not."""

    def __init__(self) -> None:
        super().__init__("unit")

    @classmethod
    def get(cls, context: object = None) -> UnitAttr:
        """The attribute."""
        return cls()


class TypeAttr(Attribute):
    """A type.

    Attributes:
        value: the type.
    """

    def __init__(self, value: Type) -> None:
        self.value = value

    @classmethod
    def get(cls, value: Type, context: object = None) -> TypeAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return str(self.value)


class FlatSymbolRefAttr(Attribute):
    """``@name``.

    Attributes:
        value: the name.
    """

    def __init__(self, value: str) -> None:
        self.value = value

    @classmethod
    def get(cls, value: str, context: object = None) -> FlatSymbolRefAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return symbol(self.value)


class SymbolRefAttr(Attribute):
    """``@outer::@name``.

    Attributes:
        value: the names, the outermost first.
    """

    def __init__(self, value: Sequence[str]) -> None:
        self.value = list(value)

    @classmethod
    def get(cls, value: Sequence[str], context: object = None) -> SymbolRefAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return "::".join(symbol(name) for name in self.value)


class ArrayAttr(Attribute):
    """``[1 : i32, "text"]``.

    Attributes:
        value: the attributes in it.
    """

    def __init__(self, value: Sequence[Attribute]) -> None:
        self.value = list(value)

    @classmethod
    def get(cls, value: Sequence[Attribute], context: object = None) -> ArrayAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return f"[{', '.join(map(_within_array, self.value))}]"

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, at: int) -> Attribute:
        return self.value[at]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.value)


def _within_array(value: Attribute) -> str:
    """How an attribute stands in an array: without the types that MLIR takes there, i64 and f64."""
    is_usual = isinstance(value, (IntegerAttr, FloatAttr)) and str(value.type) in ("i64", "f64")
    return value.short() if is_usual else str(value)


class DictAttr(Attribute):
    """``{name = 1 : i32}``.

    Attributes:
        value: the attributes in it, by name.
    """

    def __init__(self, value: Mapping[str, Attribute]) -> None:
        self.value = dict(value)

    @classmethod
    def get(cls, value: Mapping[str, Attribute], context: object = None) -> DictAttr:
        """The attribute."""
        return cls(value)

    def __str__(self) -> str:
        return f"{{{', '.join(named(name, value) for name, value in self.value.items())}}}"

    def __contains__(self, name: str) -> bool:
        return name in self.value


class _DenseArray(Attribute):
    """``array<i32: 1, 2>``.

    Attributes:
        values: its numbers.
    """

    ELEMENT = ""

    def __init__(self, values: Sequence[int]) -> None:
        self.values = [int(value) for value in values]

    @classmethod
    def get(cls, values: Sequence[int], context: object = None) -> _DenseArray:
        """The attribute."""
        return cls(values)

    def __str__(self) -> str:
        return f"array<{self.ELEMENT}{': ' if self.values else ''}{', '.join(map(str, self.values))}>"

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        return iter(self.values)

    def __getitem__(self, at: int) -> int:
        return self.values[at]


class DenseI32ArrayAttr(_DenseArray):
    """Numbers of 32 bits."""

    ELEMENT = "i32"


class DenseI64ArrayAttr(_DenseArray):
    """Numbers of 64 bits."""

    ELEMENT = "i64"


class DenseElementsAttr(Attribute):
    """``dense<[1, 2]> : memref<2xi32>``.

    Attributes:
        array: the values.
        type: of the whole.
    """

    def __init__(self, array: np.ndarray[Any, Any], type: ShapedType) -> None:
        self.array, self.type = _shaped(np.asarray(array), type), type

    @classmethod
    def get(
        cls,
        array: np.ndarray[Any, Any],
        signless: bool = True,
        type: Type | None = None,
        shape: Sequence[int] | None = None,
        context: object = None,
    ) -> DenseElementsAttr:
        """The attribute; of an element type the shape is the array's.

        Raises:
            ValueError: no type is given.
        """
        if type is None:
            raise ValueError("DenseElementsAttr.get needs a type; give type=")
        if isinstance(type, ShapedType):
            return cls(array, type)
        return cls(array, _Tensor(np.shape(array), type))

    def short(self) -> str:
        """Without its type."""
        return f"dense<{elements_text(self.array, self.type.element_type)}>"

    def __str__(self) -> str:
        return f"{self.short()} : {self.type}"


class _Tensor(ShapedType):
    NAME = "tensor"


def _shaped(array: np.ndarray[Any, Any], type: ShapedType) -> np.ndarray[Any, Any]:
    """Values in the shape of their type; one alone is all of them.

    Raises:
        ValueError: there are more or fewer than the type has.
    """
    shape = tuple(type.shape)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), shape)
    if array.size != math.prod(shape):
        raise ValueError(f"{array.size} values do not fill {type}, which has {math.prod(shape)}")
    return array.reshape(shape)


def elements_text(array: np.ndarray[Any, Any], element: Type) -> str:
    """Elements in brackets; one alone if all are equal."""
    if array.size == 0:
        return ""
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.size > 1 and bool(
        (flat.view(np.uint8).reshape(array.size, -1) == flat[:1].view(np.uint8)).all()
    ):
        return _element_text(flat[0], element)
    if array.ndim == 0:
        return _element_text(array[()], element)
    return _nested(array, element)


def _nested(array: np.ndarray[Any, Any], element: Type) -> str:
    if array.ndim == 1:
        return f"[{', '.join(_element_text(each, element) for each in array)}]"
    return f"[{', '.join(_nested(row, element) for row in array)}]"


def _element_text(value: Any, element: Type) -> str:
    if isinstance(element, FloatType):
        return float_text(float(value), element)
    if isinstance(element, IntegerType) and element.width == 1:
        return "true" if value else "false"
    return str(int(value))


def float_text(value: float, type: Type) -> str:
    """A number as MLIR writes it: ``1.000000e+00``; by its bits where that would not be exact."""
    exact = _rounded(value, type)
    if math.isfinite(exact):
        text = f"{exact:e}"
        if _rounded(float(text), type) == exact:
            return text
        text = repr(exact)
        if "e" in text or "." in text:
            return text if "." in text else text.replace("e", ".0e")
    return f"0x{_bits(exact, type):0{_digits(type)}X}"


def _rounded(value: float, type: Type) -> float:
    if isinstance(type, F32Type):
        return float(np.float32(value))
    return value


def _digits(type: Type) -> int:
    return getattr(type, "width", 64) // 4


def _bits(value: float, type: Type) -> int:
    width = getattr(type, "width", 64)
    if width == 64:
        return int.from_bytes(struct.pack(">d", value), "big")
    if str(type) == "f16":
        return int.from_bytes(struct.pack(">e", value), "big")
    bits = int.from_bytes(struct.pack(">f", value), "big")
    return bits >> 16 if width == 16 else bits


def quoted(text: str) -> str:
    """A text in quotation marks, as MLIR writes it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return (
        '"'
        + "".join(
            c if c.isprintable() and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
            for c in text
        )
        + '"'
    )


def symbol(name: str) -> str:
    """A name behind an at sign, in quotation marks where it has other signs than those of names."""
    plain = name and (name[0].isalpha() or name[0] == "_") and all(c.isalnum() or c in "_$." for c in name)
    return f"@{name}" if plain and name.isascii() else f"@{json.dumps(name)}"


def named(name: str, value: Attribute) -> str:
    """``name = value``, or the name alone of an attribute that is there or not."""
    return name if isinstance(value, UnitAttr) else f"{name} = {value}"
