"""Arguments of the methods of a design: what has the wrong type is refused by name before anything is done.

A check returns what is wrong, or None; :func:`refuse` reports all that is wrong with a call at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from memtile.errors import DesignError, Problem, raise_if

_SOURCE = "types of the Python interface"
_SHOWN = 72  # characters of a value in a message


class Wrong(NamedTuple):
    """What is wrong with an argument.

    Attributes:
        field: name of the argument.
        given: its value, as a message shows it.
        allowed: what it may be.
        next_step: what to give instead; empty = nothing to add.
    """

    field: str
    given: str
    allowed: str
    next_step: str = ""


def refuse(where: str, *wrong: Wrong | None) -> None:
    """Raise an error with all that is wrong.

    Args:
        where: the tile or array, and the method.
        wrong: what checks of the arguments have returned.

    Raises:
        DesignError: anything is.
    """
    problems = [
        Problem(*_sentence(each), next_step=each.next_step, reason="argument", where=where, source=_SOURCE)
        for each in wrong
        if each is not None
    ]
    raise_if(problems, DesignError)


def _sentence(wrong: Wrong) -> tuple[str, str, str, str]:
    says = f"{wrong.field} is {wrong.given}; it must be {wrong.allowed}"
    return wrong.field, wrong.given, wrong.allowed, says


def shown(value: object) -> str:
    """A value in a message: in one line of some length."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of {value.dtype}, shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def as_whole(value: Any) -> int | None:
    """A whole number of Python, of NumPy or of another package as one of Python; None of anything else."""
    try:
        return index(value)
    except TypeError:
        return None


def whole(field: str, value: object, *, optional: bool = False) -> Wrong | None:
    """Check that an argument is a whole number, or None where that is allowed."""
    if as_whole(value) is not None or (optional and value is None):
        return None
    return Wrong(field, shown(value), f"a whole number{' or None' if optional else ''}")


def is_row(values: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a sequence of others, and no text; a set, a mapping or an iterator is none."""
    if isinstance(values, np.ndarray):
        return values.ndim > 0
    return isinstance(values, Sequence) and not isinstance(values, str | bytes)


def as_row(values: Any) -> Any:
    """Values one after the other, as of a set or an iterator, as a tuple; anything else as it is."""
    is_one = isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable)
    return values if is_one or (isinstance(values, np.ndarray) and not values.ndim) else tuple(values)


def are_whole(values: object) -> bool:
    """Whether a value is a sequence of whole numbers."""
    return is_row(values) and all(as_whole(each) is not None for each in values)


def text(field: str, value: object, *, optional: bool = False) -> Wrong | None:
    """Check that an argument is text, or None where that is allowed."""
    if isinstance(value, str) or (optional and value is None):
        return None
    return Wrong(field, shown(value), f"text{' or None' if optional else ''}")


def as_truth(value: Any) -> bool | None:
    """True or False of Python or of NumPy, or 0 or 1, as one of Python; None of anything else."""
    if isinstance(value, np.bool_ | np.ndarray) and value.dtype == np.bool_ and value.ndim == 0:
        return bool(value)
    number = as_whole(value)
    return bool(number) if number in (0, 1) else None


def truth(field: str, value: object, *, optional: bool = False) -> Wrong | None:
    """Check that an argument is True or False, 0 or 1, or None where that is allowed."""
    if as_truth(value) is not None or (optional and value is None):
        return None
    return Wrong(field, shown(value), "True, False or None" if optional else "True or False")


def path(field: str, value: object) -> Wrong | None:
    """Check that an argument names a file."""
    return None if isinstance(value, str | os.PathLike) else Wrong(field, shown(value), "a path of a file")


def instance(
    field: str, value: object, kind: type[Any] | tuple[type[Any], ...], allowed: str, next_step: str = ""
) -> Wrong | None:
    """Check that an argument is of a class, or of one of some.

    Args:
        field: name of the argument.
        value: its value.
        kind: the class or classes.
        allowed: these in words.
        next_step: where to get such a value.
    """
    return None if isinstance(value, kind) else Wrong(field, shown(value), allowed, next_step)


def every(field: str, values: object, good: Callable[[Any], bool], allowed: str) -> Wrong | None:
    """Check that an argument is a sequence, and each of it as it must be.

    Args:
        field: name of the argument.
        values: its value.
        good: whether one of the sequence is as it must be.
        allowed: the sequence in words.
    """
    return None if is_row(values) and all(map(good, values)) else Wrong(field, shown(values), allowed)


def by_tile(
    field: str, value: object, tile: type[Any], good: Callable[[Any], bool], what: str
) -> Wrong | None:
    """Check that an argument is None, or has something for some tiles.

    Args:
        field: name of the argument.
        value: its value.
        tile: the class of tiles.
        good: whether what there is for a tile is as it must be.
        what: there is for each, in words.
    """
    items = value.items() if isinstance(value, Mapping) else ()
    if value is None or (
        isinstance(value, Mapping) and all(isinstance(key, tile) and good(each) for key, each in items)
    ):
        return None
    return Wrong(field, shown(value), f"a mapping from tiles to {what}, or None")
