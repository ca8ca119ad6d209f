"""Names that a public module loads when they are first used (PEP 562), so that importing it is light."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def offer(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that offers names of others.

    Args:
        module: its ``__name__``.
        homes: each public name and the module that defines it.

    Returns:
        The two functions. The first raises AttributeError for any other name; what it finds stays in the
        module, so that it is asked for once.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *homes})

    return load, names
