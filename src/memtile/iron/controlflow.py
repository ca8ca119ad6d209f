"""``aie.iron.controlflow``: loops of a design."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memtile.iron.helpers.dialects import scf
from memtile.iron.helpers.dialects.scf import else_, if_

_carried: list[list[Carried]] = []
"""What the loops that are built now carry from turn to turn, the innermost last."""


class Carried:
    """What a loop carries for an object of the program: values, and the object that they make inside.

    Args:
        values: of the design.
        waits: for each of a group's transfers whether the group waits for it; None = it is no group.
        made: gives the program's object for the values; None = the value itself.
    """

    def __init__(
        self,
        values: Sequence[Any],
        waits: list[bool] | None = None,
        made: Callable[[Sequence[Any]], Any] | None = None,
    ) -> None:
        self.values, self.waits, self.made = list(values), waits, made

    def wrapped(self, values: Sequence[Any]) -> Any:
        """What the program gets for it."""
        return values[0] if self.made is None else self.made(values)


def _carry(given: Any) -> Carried:
    """What a loop carries for an object: transfers and groups of them say it themselves."""
    own = getattr(given, "carried", None)
    return Carried([given]) if own is None else own()


def _all_wrapped(carried: Sequence[Carried], values: Any) -> Any:
    """What the program gets: one alone is no tuple."""
    rest = list(values) if isinstance(values, tuple) else [values]
    found = []
    for each in carried:
        count = len(each.values)
        found.append(each.wrapped(rest[:count]))
        rest = rest[count:]
    return found[0] if len(found) == 1 else tuple(found)


def range_(
    *args: Any, iter_args: Sequence[Any] | None = None, insert_yield: bool = True, **more: Any
) -> Iterator[Any]:
    """A loop of the design.

    Args:
        args: bounds, as those of Python's ``range``.
        iter_args: what goes from turn to turn: values, transfers, or groups of transfers. A group that is
            given is spent: the loop gives the one that lives in a turn, and the one that is left behind it.
            One alone is given as it is, and can be unpacked as a tuple of one.
        insert_yield: end the body with a ``scf.yield`` of nothing.
        more: of ``scf.for``.
    """
    carried = [_carry(each) for each in iter_args or ()]
    plain = None if iter_args is None else [value for each in carried for value in each.values]
    special = any(each.made is not None for each in carried)
    _carried.append(carried)
    try:
        more |= {"iter_args": plain, "insert_yield": insert_yield, "entries": len(carried)}
        for turn in scf._for(*args, **more):
            if not special:
                yield turn
            elif not plain:  # groups without a transfer carry nothing
                yield turn, _all_wrapped(carried, ()), _all_wrapped(carried, ())
            else:
                number, inner, results = turn
                yield number, _all_wrapped(carried, inner), _all_wrapped(carried, results)
    finally:
        _carried.pop()


def yield_(values: Sequence[Any]) -> None:
    """The values of a loop's next turn; transfers and groups of transfers too.

    Raises:
        ValueError: a group has other transfers than the one that the loop carries, or none is carried there.
    """
    plain = []
    for at, each in enumerate(values):
        given = _carry(each)
        expected = _carried[-1][at] if _carried and at < len(_carried[-1]) else given
        if (expected.waits is None) != (given.waits is None):
            raise ValueError(
                f"yielded {each} in slot {at}, but the loop does not carry a TaskGroup there"
                if given.waits is not None
                else f"slot {at} of the loop carries a TaskGroup, and {each} is none: yield a group"
            )
        if expected.waits != given.waits:
            raise ValueError(
                f"yielded {each} has transfers waited: {given.waits}; the group that the loop "
                f"carries has {expected.waits}. Each turn carries the same transfers."
            )
        plain += given.values
    scf.yield_(plain)


__all__ = ["Carried", "else_", "if_", "range_", "yield_"]
