"""Copies of frozen dataclasses with some attributes changed, several times as quick as by their constructor.

A design is made of some thousand of them: descriptors that get a link and locks, transfers of a tile.
"""

from __future__ import annotations

from collections.abc import Callable, KeysView
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")
_set = object.__setattr__


def with_changes(thing: T, **changes: Any) -> T:
    """Return a copy of a frozen dataclass, as ``dataclasses.replace`` does, but ``__post_init__`` is not run.

    Args:
        thing: the dataclass, of two attributes or more.
        changes: attributes that are different in the copy, in the form in which it holds them.

    Raises:
        TypeError: it has no such attribute.
    """
    kind: Any = type(thing)
    names, values = _attributes(kind)
    if not changes.keys() <= names:
        unknown = ", ".join(sorted(changes.keys() - names))
        raise TypeError(f"{kind.__name__} has no attribute {unknown}")
    made: T = object.__new__(kind)
    for name, value in zip(names, values(thing), strict=True):
        _set(made, name, value)
    for name, value in changes.items():
        _set(made, name, value)
    return made


@cache
def _attributes(kind: Any) -> tuple[KeysView[str], Callable[[object], tuple[Any, ...]]]:
    """The attributes of a dataclass, at least two, in their order, and what gets their values."""
    names = dict.fromkeys(each.name for each in fields(kind))
    return names.keys(), attrgetter(*names)
