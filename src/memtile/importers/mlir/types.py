"""Types of MLIR text: what a memref, a vector or a number is for NumPy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

DYNAMIC = -1  # size that a type leaves open
_SHAPED = re.compile(
    r"(?:memref|vector|tensor)<"
    r"(?P<shape>(?:(?:\[?[0-9]{1,18}\]?|\?|\*)x)*)"
    r"(?P<element>(?:vector|![\w.]+)<[^<>]*>|[^<>,]+)"
    r"(?:,(?P<layout>.*))?>"
)
_INTEGER = re.compile(r"(s|u)?i([0-9]{1,18})")
_FLOATS = {"f16": "float16", "f32": "float32", "f64": "float64"}
_BLOCKS = {"v8bfp16ebs8": [("exponent", "u1"), ("parts", "i1", 8)]}
_BLOCK = re.compile(r'!aiex\.bfp<"(\w+)">')
_INDEX_BITS = 64
_SIZES = (8, 16, 32, 64)  # bits that NumPy has integers of


@dataclass(frozen=True, slots=True)
class Shaped:
    """A memref, vector or tensor.

    Attributes:
        shape: sizes, :data:`DYNAMIC` where the type leaves one open.
        element: type of an element, as the text has it.
        layout: layout and memory space, as the text has them.
    """

    shape: tuple[int, ...]
    element: str
    layout: str = ""

    @property
    def elements(self) -> int:
        """How many elements it has; below 0 if the type leaves that open."""
        return prod(self.shape) if DYNAMIC not in self.shape else DYNAMIC

    @property
    def dtype(self) -> np.dtype[np.generic] | None:
        """NumPy's type of an element, None if it has none."""
        return dtype_of(self.element)


@cache
def shaped(kind: str) -> Shaped | None:
    """What a type is, given without blanks; None if it is no memref, vector or tensor."""
    found = _SHAPED.fullmatch(kind)
    if found is None:
        return None
    sizes = tuple(
        DYNAMIC if size in "?*" else int(size.strip("[]")) for size in found["shape"].split("x")[:-1]
    )
    return Shaped(sizes, found["element"], found["layout"] or "")


@cache
def dtype_of(kind: str) -> np.dtype[np.generic] | None:
    """NumPy's type of a number, ``bf16`` as ``ml_dtypes.bfloat16``; None if it has none.

    A block of bfp16 is an ``exponent`` and eight ``parts``, 9 bytes.

    Integers of few bits have the smallest type that holds them, ``i1`` is a boolean; those without sign in
    their names are signed.
    """
    if kind == "bf16":
        import ml_dtypes

        found: np.dtype[np.generic] = np.dtype(ml_dtypes.bfloat16)
        return found
    if kind in _FLOATS:
        return np.dtype(_FLOATS[kind])
    if kind == "index":
        return np.dtype(f"int{_INDEX_BITS}")
    block = _BLOCK.fullmatch(kind)
    if block is not None:
        return np.dtype(_BLOCKS[block[1]]) if block[1] in _BLOCKS else None
    integer = _INTEGER.fullmatch(kind)
    return None if integer is None else _integer(int(integer[2]), "u" if integer[1] == "u" else "")


def _integer(bits: int, sign: str) -> np.dtype[np.generic] | None:
    """NumPy's type of an integer; None for more bits than it has."""
    if bits == 1:
        return np.dtype(np.bool_)
    size = next((size for size in _SIZES if size >= bits), None)
    return None if size is None else np.dtype(f"{sign}int{size}")
