"""``aie.iron.controlflow``: loops of a design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memtile.iron.helpers.dialects import scf
from memtile.iron.helpers.dialects.scf import else_, if_

_carried: list[list[Any]] = []
"""What the loops that are built now carry from turn to turn, the innermost last."""


class _Value:
    """A value that a loop carries."""

    def __init__(self, given: Any) -> None:
        self.values = [given]

    def wrapped(self, values: Sequence[Any]) -> Any:
        """What the program gets for it."""
        return values[0]


class _Task(_Value):
    """A transfer that a loop carries."""

    def __init__(self, given: Any) -> None:
        super().__init__(given.handle)

    def wrapped(self, values: Sequence[Any]) -> Any:
        from memtile.iron.runtime.dmataskhandle import Task

        return Task(values[0])


class _Group(_Value):
    """The transfers of a group that a loop carries."""

    def __init__(self, given: Any) -> None:
        self.waits = given.waits()
        self.values = given.spend()

    def wrapped(self, values: Sequence[Any]) -> Any:
        from memtile.iron.runtime.taskgroup import TaskGroup

        return TaskGroup.of(values, self.waits)


def _carry(given: Any) -> _Value:
    from memtile.iron.runtime.dmataskhandle import Task
    from memtile.iron.runtime.taskgroup import TaskGroup

    if isinstance(given, TaskGroup):
        return _Group(given)
    return _Task(given) if isinstance(given, Task) else _Value(given)


def _is_group(given: Any) -> bool:
    from memtile.iron.runtime.taskgroup import TaskGroup

    return isinstance(given, TaskGroup)


def _all_wrapped(carried: Sequence[_Value], values: Any) -> Any:
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
    special = any(type(each) is not _Value for each in carried)
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
        expected = _carried[-1][at] if _carried and at < len(_carried[-1]) else None
        if isinstance(expected, _Group) != _is_group(each) and _carried:
            raise ValueError(
                f"yielded {each} in slot {at}, but the loop does not carry a TaskGroup there"
                if _is_group(each)
                else f"slot {at} of the loop carries a TaskGroup, and {each} is none: yield a group"
            )
        waits = each.waits() if _is_group(each) else None
        if isinstance(expected, _Group) and expected.waits != waits:
            raise ValueError(
                f"yielded {each} has transfers waited: {waits}; the group that the loop "
                f"carries has {expected.waits}. Each turn carries the same transfers."
            )
        plain += _carry(each).values
    scf.yield_(plain)


__all__ = ["else_", "if_", "range_", "yield_"]
