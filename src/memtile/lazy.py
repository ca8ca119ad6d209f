"""Names that are loaded when they are first used (PEP 562), so that importing memtile is light.

A public module offers the names of others. And the package, which knows every room, enlists what a room below
asks for and a room above does: a result writes its report, and knows no room that makes pages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def offer(
    module: str, homes: Mapping[str, str], below: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that offers names of others.

    Args:
        module: its ``__name__``.
        homes: each public name and the module that defines it.
        below: public modules within it, by the last part of their names.

    Returns:
        The two functions. The first raises AttributeError for any other name; what it finds stays in the
        module, so that it is asked for once.
    """

    def load(name: str) -> Any:
        if name in below:
            return import_module(f"{module}.{name}")  # which sets the attribute itself
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *homes, *below})

    return load, names


_HOMES: dict[str, str] = {}


def enlist(homes: Mapping[str, str]) -> None:
    """Say where functions are that rooms below their own ask for by name.

    Args:
        homes: each name and the module that defines it.

    Raises:
        ValueError: a name that another module is known for.
    """
    for name, home in homes.items():
        if _HOMES.setdefault(name, home) != home:
            raise ValueError(f"{name} is in {_HOMES[name]} and in {home}")


def enlisted(name: str) -> Callable[..., Any]:
    """The function of a name, loaded now.

    Raises:
        LookupError: nobody has enlisted it.
    """
    if name not in _HOMES:
        raise LookupError(f"the place of {name} is not known")
    found: Callable[..., Any] = getattr(import_module(_HOMES[name]), name)
    return found
