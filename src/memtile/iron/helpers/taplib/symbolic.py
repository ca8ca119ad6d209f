"""``aie.helpers.taplib.symbolic``: arithmetic on numbers that may be values of the design.

A value is known when the design runs, and a pattern that has one is *staged*. memtile builds a design anew
for each
call, so a staged value is a constant, a loop's counter, or what is computed of them. Source: AMD's
reference of
taplib (mlir-aie 1.4.6, "Staged patterns in a dispatch-time sequence").
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from memtile.iron.ops.operations import Operation, Value


def is_sym(value: object) -> bool:
    """Whether a number is a value of the design."""
    return isinstance(value, Value)


def sint(value: Any) -> Any:
    """A whole number as Python's ``int``; a value of the design as it is.

    Raises:
        TypeError: it is neither.
    """
    if type(value) is int:
        return value
    return value if is_sym(value) else operator.index(value)


def below(values: Iterable[Any], least: int) -> bool:
    """Whether a number is smaller than ``least``; values of the design are not looked at."""
    return any(value < least for value in values if type(value) is int or not is_sym(value))


def sprod(values: Iterable[Any]) -> Any:
    """The product of numbers."""
    product: Any = 1
    for each in values:
        product = product * sint(each)
    return product


def moved(place: Any, count: Any, stride: Any) -> Any:
    """``place + count * stride``, without operations of the design that change nothing."""
    distance = count if not is_sym(stride) and stride == 1 else count * stride
    return distance if not is_sym(place) and place == 0 else place + distance


def smin(left: Any, right: Any) -> Any:
    """The smaller one of two numbers.

    Raises:
        TypeError: one is a value of the design that depends on a loop.
    """
    return min(_known(left, "smin"), _known(right, "smin"))


def sceildiv(left: Any, right: Any) -> Any:
    """The quotient of two numbers that are not negative, rounded up."""
    if not is_sym(right) and right == 1:
        return left
    if is_sym(left) or is_sym(right):
        return (left + (right - 1)) // right
    return -(-sint(left) // sint(right))


def show(value: Any) -> str:
    """A number for a message; ``<runtime>`` for a value of the design."""
    return "<runtime>" if is_sym(value) else str(value)


def require(condition: Any, message: str) -> None:
    """Refuse a design whose condition does not hold.

    Args:
        condition: of numbers, or of constants of the design.
        message: for the user.

    Raises:
        ValueError: it does not hold.
        ValueError: it depends on a loop: memtile checks conditions when a design is built.
    """
    found = known_value(condition)
    if found is None:
        raise ValueError(
            f"require({message!r}): the condition depends on a loop or a parameter; memtile checks "
            f"conditions of "
            "constants when the design is built. Move require() out of the loop."
        )
    if not found:
        raise ValueError(message)


def _known(value: Any, who: str) -> int:
    found = known_value(value)
    if found is None:
        raise TypeError(f"{who}() needs numbers, or constants of the design; this value depends on a loop")
    return int(found)


def known_value(value: Any) -> int | None:
    """What a number is, if constants decide it; None = a loop or a parameter does."""
    if not is_sym(value):
        return int(value)
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if owner.name == "arith.constant":
        return int(owner.attributes["value"])  # type: ignore[call-overload, no-any-return]
    inner = [known_value(each) for each in owner.operands]
    if any(each is None for each in inner):
        return None
    if owner.name == "arith.cmpi":
        return int(_COMPARE[int(owner.attributes["predicate"])](*inner))  # type: ignore[call-overload]
    does = _FOLDED.get(owner.name)
    return None if does is None else int(does(*inner))


def _quotient(left: int, right: int) -> int:
    """Rounded towards 0."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_COMPARE: tuple[Callable[..., bool], ...] = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
"""By the number of a predicate: eq, ne, then slt, sle, sgt, sge, and those of numbers without sign."""
_FOLDED: dict[str, Callable[..., int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divsi": _quotient,
    "arith.floordivsi": operator.floordiv,
    "arith.remsi": lambda left, right: left - _quotient(left, right) * right,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.extsi": operator.index,
    "arith.trunci": operator.index,
    "arith.index_cast": operator.index,
}
