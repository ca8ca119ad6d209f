"""Sizes of element types: NumPy's and those that only AMD's and MLIR's tools know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from memtile.access.request import BYTE_BITS
from memtile.errors import TransferError

ELEMENT_BITS: Mapping[str, int] = MappingProxyType(
    {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (4, 8, 16, 32, 64)}
    | {"bfloat8": 8, "float8": 8, "bool": 8, "bfloat16": 16, "float16": 16, "float": 32, "double": 64}
    | {"cint16": 32, "cint32": 64, "cbfloat16": 32, "cfloat": 64}
    | {"acc32": 32, "acc64": 64, "accfloat": 32, "cacc32": 64, "caccfloat": 64}
)
"""Element types of AMD's graphs and kernels (``adf`` headers, UG1603 data types, UG1076 buffer data types).

An accumulator has here the size of its parts in AIE-ML, which accumulates in 32 or 64 bits.
"""

VECTOR = r"v([1-9]\d{0,2})"
"""Prefix of AMD's vector types: ``v16int8`` is 16 elements of ``int8``."""

BLOCKS = frozenset(("bfp16", "bfp16ebs8", "bfp16ebs16", "mx4", "mx6", "mx9"))
"""Block formats of AIE-ML v2: elements share an exponent, so that one alone has no size."""

_AIE_NAME = re.compile(r"(c?)(?:u?int|b?float)(\d+)")
_MLIR_NAME = re.compile(r"(?:[su]?i|f|bf)(\d+)(?:E\d+M\d+\w*)?")


def amd_bits(name: str) -> int | None:
    """Bits of an element type of AMD's, vectors such as ``v4cint16`` too; None for another name."""
    vector = re.fullmatch(VECTOR + r"([a-z]+\d*)", name)
    bits = ELEMENT_BITS.get(vector[2] if vector else name)
    return None if bits is None else bits * int(vector[1] if vector else 1)


def mlir_bits(name: str) -> int | None:
    """Bits of an element type as MLIR writes it: ``i8``, ``ui16``, ``f32``, ``bf16``, ``f8E4M3FN``."""
    found = _MLIR_NAME.fullmatch(name)
    bits = int(found[1]) if found else 0
    return bits if bits and not bits & (bits - 1) else None


def element_bits(dtype: npt.DTypeLike) -> int:
    """Bits of an element of ``dtype``: NumPy's meaning first, then AMD's names such as ``int4``, ``cint16``.

    Raises:
        TransferError: the type is unknown, its size is no power of two, or a block format, whose elements
            have no size of their own.
    """
    bits = _sub_byte(dtype) or _numpy_bits(dtype)
    if bits is None:
        name = str(dtype)
        bits = amd_bits(name) or _aie_bits(name) or _other_bits(name)
    if bits < 1 or bits & (bits - 1):
        block = dtype in BLOCKS if isinstance(dtype, str) else False
        raise TransferError.of(
            "dtype",
            str(dtype),
            "a NumPy type of 2^n bits, or int4, bfloat16, cint16 and the like",
            next_step="Move its blocks as bytes: int8 with the size of a block as last axis."
            if block
            else "",
            reason="dtype",
            where="view",
            source="UG1079, data types",
        )
    return bits


def _sub_byte(dtype: npt.DTypeLike) -> int | None:
    """Bits of AMD's types below a byte, for which other packages give NumPy types of a whole one."""
    bits = _aie_bits(dtype) if isinstance(dtype, str) else 0
    return bits if 0 < bits < BYTE_BITS else None


def _aie_bits(name: str) -> int:
    """Bits of a type called as AMD's are, such as ``int2`` and ``cint16``; 0 for another name."""
    found = _AIE_NAME.fullmatch(name)
    return int(found[2]) * (2 if found[1] else 1) if found else 0


def _other_bits(name: str) -> int:
    """Bits of a type that ``ml_dtypes`` has, whether or not anybody has imported it; 0 without."""
    try:
        return int(np.dtype(getattr(import_module("ml_dtypes"), name)).itemsize) * BYTE_BITS
    except (ImportError, AttributeError, TypeError):
        return 0


def _numpy_bits(dtype: npt.DTypeLike) -> int | None:
    try:
        return np.dtype(dtype).itemsize * BYTE_BITS
    except TypeError:
        return None
