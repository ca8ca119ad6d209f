"""What an argument of a design function may be, beside its type: ``Annotated[int, Range(1, 8)]``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from memtile.errors import DesignError


def is_number(value: object) -> bool:
    """Whether a value is an int or a float; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, both included, in an annotation of a design's argument.

    Of an ``int``, or where all three numbers are whole, a step of 1 is meant if none is given; of a ``float``
    without a step every number in between is.

    Attributes:
        low: the smallest.
        high: the largest that may be; with a step the last one that a step reaches.
        step: from one to the next; None = see above.
        log: a search tries as many between 1 and 2 as between 100 and 200; not with a step.

    Raises:
        DesignError: ends in the wrong order or no numbers, a step that is not above 0, ``log`` with a step or
            from 0 or less.
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False

    def __post_init__(self) -> None:
        says = self._wrong()
        if says:
            raise DesignError.of(
                "Range",
                str(self),
                "low up to high, and a step above 0",
                f"{self} {says}",
                reason="range",
                where="range of a parameter",
                source="what a search goes through",
            )

    def _wrong(self) -> str:
        given = [self.low, self.high, *([] if self.step is None else [self.step])]
        if not all(
            isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in given
        ):
            return "has ends or a step that are no numbers"
        if self.low > self.high:
            return "ends before it begins"
        if self.step is not None and self.step <= 0:
            return "has a step that is not above 0"
        if self.log and (self.step is not None or self.low <= 0):
            return "is logarithmic: it must begin above 0 and have no step"
        return ""

    def __str__(self) -> str:
        by = "" if self.step is None else f", step {self.step:g}"
        return f"{self.low:g}..{self.high:g}{by}"

    def holds(self, value: Any) -> bool:
        """Whether a value is one of the range."""
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
        ):
            return False
        steps = 0.0 if self.step is None else (value - self.low) / self.step
        return math.isclose(steps, round(steps), abs_tol=1e-9)


@dataclass(frozen=True, slots=True, init=False)
class Choices:
    """Values that an argument of a design may have, for those that ``typing.Literal`` does not take.

    ``Annotated[tuple[int, int], Choices((8, 8), (4, 16))]``; NumPy types, floats and any others likewise.

    Attributes:
        values: the values, at least one.

    Raises:
        DesignError: no values.
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        if not values:
            raise DesignError.of(
                "Choices",
                "no values",
                "at least one value",
                "Choices() has no values; it must have at least one",
                reason="range",
                where="choices of a parameter",
                source="what a search goes through",
            )
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return f"one of {', '.join(str(getattr(each, '__name__', each)) for each in self.values)}"

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return any(value is each or value == each for each in self.values)
