"""``aie.utils.compile.jit.markers``: what a parameter of a design is."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import numpy as np

T = TypeVar("T")


class _CompileTimeMark:
    """Marks a parameter that the design is built with."""


COMPILE_TIME = _CompileTimeMark()
CompileTime = Annotated[T, COMPILE_TIME]


class DispatchTime:
    """Marks a number that each call gives: ``DispatchTime[np.int32]``.

    memtile builds the design for each call, with the number as a constant: what AMD's page calls a
    specialisation.

    Args:
        dtype: NumPy's type of whole numbers.
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __class_getitem__(cls, dtype: Any) -> DispatchTime:
        """The mark of a parameter.

        Raises:
            TypeError: no type of NumPy's whole numbers.
        """
        if not (isinstance(dtype, type) and issubclass(dtype, np.integer)):
            name = getattr(dtype, "__name__", dtype)
            raise TypeError(
                f"DispatchTime[{name}]: it takes a type of NumPy's whole numbers, such as np.int32"
            )
        return cls(dtype)

    def constant(self, name: str, value: Any) -> Any:
        """A number as NumPy's.

        Raises:
            TypeError: it is no whole number.
            OverflowError: the type does not hold it.
        """
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name} is a whole number ({self.dtype.__name__}), not {value!r}")
        limits = np.iinfo(self.dtype)
        if not limits.min <= int(value) <= limits.max:
            raise OverflowError(
                f"{name} = {value} is outside of {self.dtype.__name__}, {limits.min} to {limits.max}"
            )
        return self.dtype(value)


class In:
    """A tensor that the design reads."""


class Out:
    """A tensor that the design writes."""


class InOut:
    """A tensor that the design reads and writes."""
