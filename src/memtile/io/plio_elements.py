"""Elements of PLIO files: how many make a line, which values they may have, and their 32-bit words.

UG1076, TXT file format: the width of a PLIO and the type of its data give the values of a line: 16 of int8 at
128 bits; real and imaginary part of a complex number are two values; elements of 64 bits need a PLIO of 64
bits or more. The first value of a line is in the lowest bits. The type is that of the connected kernel's
argument: neither the file nor the PLIO has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError

BYTE_BITS = 8
WORD_BITS = WORD_BYTES * BYTE_BITS
WIDTHS = (32, 64, 128)  # bits of a PLIO (UG1079, input_plio and output_plio)
SOURCE = "UG1076: TXT file format"
Array = npt.NDArray[Any]
Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Element:
    """An element type as files have it.

    Attributes:
        name: AMD's.
        bits: of a value: half the bits of a complex element.
        parts: values of an element: 2 = real and imaginary part.
        is_float: its values are decimal fractions.
    """

    name: str
    bits: int
    parts: int = 1
    is_float: bool = False

    @property
    def element_bits(self) -> int:
        """Bits of an element, both parts of a complex one."""
        return self.bits * self.parts

    @property
    def is_word(self) -> bool:
        """Whether a value is a word of a stream, as headers of packets are."""
        return self.bits == WORD_BITS and self.parts == 1


_INTEGERS = [Element(f"{sign}int{bits}", bits) for sign in ("", "u") for bits in (8, 16, 32, 64)]
_COMPLEX = [Element("cint16", 16, 2), Element("cint32", 32, 2)]
_FLOATS = [
    Element("float", 32, is_float=True),
    Element("cfloat", 32, 2, is_float=True),
    Element("bfloat16", 16, is_float=True),
    Element("float16", 16, is_float=True),
    Element("cbfloat16", 16, 2, is_float=True),
]
ELEMENTS: Mapping[str, Element] = MappingProxyType(
    {element.name: element for element in (*_INTEGERS, *_COMPLEX, *_FLOATS)}
)


def element_of(name: str, width_bits: int) -> Element:
    """Return an element type that a PLIO of a width can have.

    Args:
        name: AMD's, such as ``cint16``; ``float32`` is ``float``, and a suffix ``_t`` is left out.
        width_bits: of the PLIO.

    Raises:
        InputFileError: another width or type, or an element that is wider than the PLIO.
    """
    if width_bits not in WIDTHS:
        raise _refused("width", f"{width_bits} bits", "32, 64 or 128 bits", "plio_width")
    known = ELEMENTS.get({"float32": "float"}.get(name, name.removesuffix("_t")))
    if known is None:
        raise _refused("element type", repr(name), f"one of {', '.join(ELEMENTS)}", "plio_element")
    if known.element_bits > width_bits:
        given = f"{known.name} ({known.element_bits} bits) at a PLIO of {width_bits} bits"
        allowed = f"a PLIO of {known.element_bits} or 128 bits"
        raise _refused("element type", given, allowed, "plio_element")
    return known


def _refused(field: str, given: str, allowed: str, reason: str) -> InputFileError:
    return InputFileError.of(field, given, allowed, reason=reason, where="PLIO", source=SOURCE)


def values_of_line(element: Element, width_bits: int) -> int:
    """Return the values of a complete line."""
    return width_bits // element.bits


def allowed_values(element: Element) -> str:
    """Return which values an element takes, for messages."""
    if element.is_float:
        return f"a decimal number that a {element.name.removeprefix('c')} can hold"
    low, high = integer_range(element)
    return f"an integer in {low}..{high}"


def integer_range(element: Element) -> tuple[int, int]:
    """Return the least and the largest integer: with and without a sign, as bit patterns are written."""
    return -(1 << element.bits - 1), (1 << element.bits) - 1


def words_of(values: Array, element: Element) -> Words:
    """Return the words of a stream for values that fill whole words.

    Args:
        values: integers in the range of an integer element, else float64.
        element: their type.
    """
    if element.is_float:
        return np.asarray(_rounded(values, element).view(np.uint32))
    if values.dtype == object:  # beyond int64
        values = np.array([value & ~(-1 << 64) for value in values.tolist()], np.uint64)
    return np.ascontiguousarray(values.astype(f"<u{element.bits // BYTE_BITS}")).view(np.uint32)


def floats_of_bits(values: Array, element: Element) -> Words:
    """Return the words of a stream for bit patterns of a float element."""
    return words_of(values, Element("", element.bits))


def values_of(words: Words, element: Element) -> Array:
    """Return the values that are in words: integers with the sign of their type, or float32."""
    if not element.is_float:
        sign = "u" if element.name.startswith("u") else "i"
        found: Array = np.ascontiguousarray(words).view(f"<{sign}{element.bits // BYTE_BITS}")
        return found
    kind = _float_type(element)
    return np.asarray(np.ascontiguousarray(words).view(kind).astype(np.float32))


def _float_type(element: Element) -> Any:
    if element.name.endswith("bfloat16"):
        from ml_dtypes import bfloat16

        return np.dtype(bfloat16)
    return np.dtype(f"<f{element.bits // BYTE_BITS}")


def _rounded(values: Array, element: Element) -> Array:
    """Values rounded to the nearest that the type has, ties to even."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(values.astype(np.float32).astype(_float_type(element)))


def overflows(values: Array, element: Element) -> npt.NDArray[np.bool_]:
    """Return where a finite number is infinite in the type of a float element."""
    with np.errstate(over="ignore"):
        return np.isfinite(values) & ~np.isfinite(_rounded(values, element).astype(np.float32))
