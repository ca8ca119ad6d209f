"""Sizes of element types: NumPy's and those that only AMD's tools know."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from memtile.access.request import BYTE_BITS
from memtile.errors import Problem, TransferError

_AIE_NAME = re.compile(r"(c?)(?:u?int|b?float)(\d+)")


def element_bits(dtype: npt.DTypeLike) -> int:
    """Bits of an element of ``dtype``: NumPy's meaning first, then AMD's names such as ``int4``, ``cint16``.

    Raises:
        TransferError: the type is unknown or its size is no power of two.
    """
    try:
        bits = np.dtype(dtype).itemsize * BYTE_BITS
    except TypeError:
        name = _AIE_NAME.fullmatch(str(dtype))
        bits = int(name[2]) * (2 if name[1] else 1) if name else 0
    if bits < 1 or bits & (bits - 1):
        raise TransferError(
            Problem(
                reason="dtype",
                where="view",
                field="dtype",
                given=str(dtype),
                allowed="a NumPy type of 2^n bits, or int4, bfloat16, cint16 and the like",
                source="UG1079, data types",
            )
        )
    return bits
