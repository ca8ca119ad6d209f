"""Types of values in the operations that a program builds, as MLIR's builtin dialect has them.

A type is its text: two types are equal if they are written alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DYNAMIC = -(2**63)
"""A dimension that is not known, as MLIR's Python writes it (``ShapedType.get_dynamic_size()``)."""


class Type:
    """A type.

    Args:
        text: as MLIR writes it.
    """

    def __init__(self, text: str | Type) -> None:
        self._text = str(text)

    @staticmethod
    def parse(text: str, context: object = None) -> Type:
        """The type of a text that is not looked into."""
        found: Type = _parsed(text)
        return found

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @classmethod
    def isinstance(cls, other: object) -> bool:
        """Whether a type is of this class, the old name of Python's own function."""
        return isinstance(other, cls)


class IndexType(Type):
    """``index``."""

    def __init__(self, *_: object) -> None:
        super().__init__("index")

    @classmethod
    def get(cls, context: object = None) -> IndexType:
        """The type."""
        return cls()


class IntegerType(Type):
    """An integer: ``i32`` without sign, ``si32``, ``ui32``.

    Attributes:
        width: in bits.
        sign: ``""``, ``"s"`` or ``"u"``.
    """

    def __init__(self, width: int, sign: str = "") -> None:
        super().__init__(f"{sign}i{width}")
        self.width, self.sign = width, sign

    @classmethod
    def get_signless(cls, width: int, context: object = None) -> IntegerType:
        """Without sign."""
        return cls(width)

    @classmethod
    def get_signed(cls, width: int, context: object = None) -> IntegerType:
        """With sign."""
        return cls(width, "s")

    @classmethod
    def get_unsigned(cls, width: int, context: object = None) -> IntegerType:
        """Never negative."""
        return cls(width, "u")

    @property
    def is_signless(self) -> bool:
        """Whether nothing is said of its sign."""
        return not self.sign

    @property
    def is_unsigned(self) -> bool:
        """Whether it is never negative."""
        return self.sign == "u"


class FloatType(Type):
    """A floating-point number: ``f32``, ``bf16``."""

    NAME = ""
    width = 0

    def __init__(self, *_: object) -> None:
        super().__init__(self.NAME)

    @classmethod
    def get(cls, context: object = None) -> FloatType:
        """The type."""
        return cls()


class F16Type(FloatType):
    """``f16``."""

    NAME, width = "f16", 16


class BF16Type(FloatType):
    """``bf16``."""

    NAME, width = "bf16", 16


class F32Type(FloatType):
    """``f32``."""

    NAME, width = "f32", 32


class F64Type(FloatType):
    """``f64``."""

    NAME, width = "f64", 64


class NoneType(Type):
    """``none``."""

    def __init__(self, *_: object) -> None:
        super().__init__("none")


class ShapedType(Type):
    """A type with a shape.

    Attributes:
        shape: its dimensions.
        element_type: type of its elements.
    """

    NAME = ""

    def __init__(self, shape: Sequence[int], element_type: Type, more: str = "") -> None:
        self.shape = [int(size) for size in shape]
        self.element_type = element_type
        sizes = "".join(f"{'?' if size == DYNAMIC else size}x" for size in self.shape)
        super().__init__(f"{self.NAME}<{sizes}{element_type}{more}>")

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def has_rank(self) -> bool:
        """Always: types without shape are not built."""
        return True

    @property
    def has_static_shape(self) -> bool:
        """Whether all dimensions are known."""
        return DYNAMIC not in self.shape

    @staticmethod
    def get_dynamic_size() -> int:
        """What stands for a dimension that is not known."""
        return DYNAMIC

    def get_dim_size(self, at: int) -> int:
        """The size of one dimension."""
        return self.shape[at]


class MemRefType(ShapedType):
    """``memref<4x8xi32>``.

    Attributes:
        layout: map or strides that it has, else None.
        memory_space: attribute that it has, else None.
    """

    NAME = "memref"

    def __init__(
        self, shape: Sequence[int], element_type: Type, layout: object = None, memory_space: object = None
    ) -> None:
        self.layout, self.memory_space = layout, memory_space
        super().__init__(
            shape, element_type, "".join(f", {each}" for each in (layout, memory_space) if each is not None)
        )

    @classmethod
    def get(
        cls,
        shape: Sequence[int],
        element_type: Type,
        layout: object = None,
        memory_space: object = None,
        loc: object = None,
    ) -> MemRefType:
        """The type."""
        return cls(shape, element_type, layout, memory_space)


class VectorType(ShapedType):
    """``vector<16xi32>``."""

    NAME = "vector"

    @classmethod
    def get(cls, shape: Sequence[int], element_type: Type, *_: object, **__: object) -> VectorType:
        """The type."""
        return cls(shape, element_type)


class RankedTensorType(ShapedType):
    """``tensor<4x8xi32>``."""

    NAME = "tensor"

    @classmethod
    def get(cls, shape: Sequence[int], element_type: Type, *_: object, **__: object) -> RankedTensorType:
        """The type."""
        return cls(shape, element_type)


class FunctionType(Type):
    """``(i32, index) -> ()``.

    Attributes:
        inputs: types of its arguments.
        results: types of what it returns.
    """

    def __init__(self, inputs: Sequence[Type], results: Sequence[Type]) -> None:
        self.inputs, self.results = list(inputs), list(results)
        super().__init__(f"({', '.join(map(str, inputs))}) -> {results_text(self.results)}")

    @classmethod
    def get(cls, inputs: Sequence[Type], results: Sequence[Type], context: object = None) -> FunctionType:
        """The type."""
        return cls(inputs, results)


class ObjectFifoType(Type):
    """``!aie.objectfifo<memref<16xi32>>``: what the objects of an object FIFO are."""

    NAME = "objectfifo"

    def __init__(self, element: Type) -> None:
        self.element = element
        super().__init__(f"!aie.{self.NAME}<{element}>")

    @classmethod
    def get(cls, element: Type, context: object = None) -> ObjectFifoType:
        """The type."""
        return cls(element)


class ObjectFifoSubviewType(ObjectFifoType):
    """``!aie.objectfifosubview<memref<16xi32>>``: objects that a core has acquired."""

    NAME = "objectfifosubview"


class BlockFloatType(Type):
    """``!aiex.bfp<"v8bfp16ebs8">``: numbers that share an exponent."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f'!aiex.bfp<"{name}">')

    @classmethod
    def get(cls, name: str, context: object = None) -> BlockFloatType:
        """The type."""
        return cls(name)


_FLOATS: dict[str, type[FloatType]] = {each.NAME: each for each in (F16Type, BF16Type, F32Type, F64Type)}


def results_text(types: Sequence[Type]) -> str:
    """Types behind an arrow: one without brackets, others in them."""
    return str(types[0]) if len(types) == 1 else f"({', '.join(map(str, types))})"


def _parsed(text: str) -> Any:
    """The type of a simple text; any other as it is."""
    text = text.strip()
    if text in _FLOATS:
        return _FLOATS[text]()
    if text == "index":
        return IndexType()
    sign, _, width = text.partition("i")
    if sign in ("", "s", "u") and width.isdigit():
        return IntegerType(int(width), sign)
    if text.startswith("memref<") and text.endswith(">") and "," not in text:
        *sizes, element = text[len("memref<") : -1].split("x")
        if all(size == "?" or size.isdigit() for size in sizes):
            return MemRefType([DYNAMIC if size == "?" else int(size) for size in sizes], _parsed(element))
    return Type(text)
