"""How a core rounds and saturates: one shift, one conversion to bf16, by the modes of its control registers.

``rounding_mode`` and ``saturation_mode`` of the AIE API are state of the core: ``floor`` and ``none`` after
reset (UG1603, Rounding and Saturation Modes), and what a function sets stays for those after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from memtile.corelib.name_types import BF16, Values, saturated
from memtile.errors import DesignError

Rounding: TypeAlias = Literal[
    "floor",
    "ceil",
    "positive_inf",
    "negative_inf",
    "symmetric_inf",
    "symmetric_zero",
    "conv_even",
    "conv_odd",
]
Saturation: TypeAlias = Literal["none", "saturate", "symmetric"]
Integers = npt.NDArray[np.int64]

OF_REGISTER: Mapping[int, Rounding] = MappingProxyType({0: "floor", 9: "positive_inf", 12: "conv_even"})
"""Values that mlir-aie writes into ``crRnd`` -> mode (AIECoreToStandard)."""
_HALF = 16  # bits of a float32 number that bfloat16 has not
_QUIET = 1 << 6  # in the upper half of a float32 number
_LEAST = np.finfo(np.float32).smallest_normal


@dataclass(slots=True)
class Modes:
    """The modes of a core, as they are now.

    Attributes:
        rounding: ``crRnd``: how an accumulator becomes a vector, of integers and of bf16.
        saturation: ``crSat``: what becomes of integers that do not fit; ``none`` keeps their lowest bits.
    """

    rounding: Rounding = "floor"
    saturation: Saturation = "none"

    def set(self, rounding: Rounding | None = None, saturation: Saturation | None = None) -> None:
        """Change what is given.

        Raises:
            DesignError: the AIE API has no such mode.
        """
        if rounding is not None:
            _check("rounding", rounding, get_args(Rounding))
            self.rounding = rounding
        if saturation is not None:
            _check("saturation", saturation, get_args(Saturation))
            self.saturation = saturation

    def shifted(self, values: Integers, bits: int) -> Integers:
        """Divided by 2**bits and rounded."""
        return shifted(values, bits, self.rounding)

    def stored(self, values: Integers, dtype: npt.DTypeLike) -> Values:
        """In an integer type: saturated, or their lowest bits."""
        if self.saturation == "none":
            return values.astype(dtype)
        found = saturated(values, dtype)
        if self.saturation == "symmetric" and np.issubdtype(found.dtype, np.signedinteger):
            found = np.maximum(found, -np.iinfo(found.dtype).max)
        return found

    def into(self, values: npt.ArrayLike, dtype: np.dtype[Any]) -> Values:
        """In a floating-point type, by way of float32, in which a core accumulates, without subnormals."""
        single = flushed(values)
        return to_bf16(single, self.rounding) if dtype == BF16 else single.astype(dtype)

    def step(self, values: npt.ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[np.float32]:
        """In float32 what ``into`` gives: a result that a function keeps in a vector on its way."""
        return self.into(values, dtype).astype(np.float32)


def shifted(values: Integers, bits: int, rounding: Rounding) -> Integers:
    """Divided by 2**bits and rounded."""
    if not bits:
        return values
    down = values >> bits
    rest, half = values & ((1 << bits) - 1), 1 << (bits - 1)
    tie = {"symmetric_inf": values >= 0, "symmetric_zero": values < 0, **_ties(down)}
    more = rest != 0 if rounding == "ceil" else (rest > half) | ((rest == half) & tie.get(rounding, False))
    return down if rounding == "floor" else down + more.astype(np.int64)


def flushed(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """In float32, subnormal numbers as zeros of their sign, as the vector unit has them (DEV-AIEAPI-11)."""
    single = np.asarray(values, np.float32)
    zeros = np.copysign(np.float32(0), single)
    found: npt.NDArray[np.float32] = np.where(np.abs(single) < _LEAST, zeros, single)
    return found


def to_bf16(values: npt.NDArray[np.float32], rounding: Rounding) -> Values:
    """The bfloat16 numbers of float32 ones; what is not a number stays so."""
    bits = np.ascontiguousarray(values, np.float32).view(np.int32).reshape(np.shape(values))
    word, rest, half = bits >> _HALF, bits & 0xFFFF, 1 << (_HALF - 1)
    below = bits < 0  # its word grows as the number falls
    if rounding in ("floor", "ceil"):
        more = (rest != 0) & (below if rounding == "floor" else ~below)
    else:
        tie = {"positive_inf": ~below, "negative_inf": below, "symmetric_inf": True, "symmetric_zero": False}
        more = (rest > half) | ((rest == half) & {**_ties(word), **tie}[rounding])
    rounded = np.where(np.isnan(values), word | _QUIET, word + more)
    found: Values = rounded.astype(np.uint16).view(BF16)
    return found


def to_whole(values: npt.NDArray[np.floating], rounding: Rounding) -> Integers:
    """Whole numbers, rounded: 0 for what is not a number, others held to more than 32 bits."""
    exact = np.clip(np.nan_to_num(values.astype(np.float64)), -(2.0**33), 2.0**33)
    return shifted(np.floor(exact * 4).astype(np.int64) | (exact * 4 % 1 != 0), 2, rounding)


def _ties(down: npt.NDArray[Any]) -> dict[str, Any]:
    """Whether halves go up, in modes that say it for both signs alike, from the number below."""
    return {
        "positive_inf": True,
        "negative_inf": False,
        "conv_even": (down & 1) == 1,
        "conv_odd": (down & 1) == 0,
    }


def _check(field: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise DesignError.of(
            field,
            repr(given),
            ", ".join(allowed),
            reason="kernel_modes",
            where="modes of a core",
            source="UG1603, Rounding and Saturation Modes",
        )
