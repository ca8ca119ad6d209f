"""How long a function of a core takes: the decorator that says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from memtile.errors import DesignError

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(*, cycles: float | Callable[..., float]) -> Callable[[Function], Function]:
    """Say how many cycles a core's function takes: the attribute ``cycles`` that core bodies look at.

    A function of a core is Python that a design calls by name, as ``func.call`` does: it gets NumPy views of
    the tile's memory (shape and dtype as declared, bf16 as ``ml_dtypes.bfloat16``) and Python numbers, and
    changes the arrays in place. Without ``cycles`` it takes no time.

    Args:
        cycles: cycles of one call, or a function of the same arguments that gives them.

    Returns:
        A decorator that sets the attribute and gives the same function back.

    Raises:
        DesignError: it is neither a number from 0 on nor a function.
    """
    if not callable(cycles) and not (_is_number(cycles) and cycles >= 0):
        raise DesignError.of(
            "cycles",
            repr(cycles),
            "a number from 0 on, or a function of the kernel's arguments",
            reason="kernel_cycles",
            where="kernel(cycles=...)",
            source="functions of cores, docs/kernels.md",
        )

    def mark(function: Function) -> Function:
        function.cycles = cycles  # type: ignore[attr-defined]
        return function

    return mark


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
