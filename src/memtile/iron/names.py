"""The public names that memtile's IRON has, by the module of mlir-aie that a program imports them from."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import memtile.iron as _root

_OF_AIE = ("dialects", "extras", "helpers", "ir", "utils")
"""Modules that are ``aie.X``; all others are ``aie.iron.X``."""
_INTERNAL = (
    "__main__",
    "aie_names",
    "install",
    "names",
    "ops",
    "program_file",
    "resolvable",
    "running",
    "taking",
    "program_design",
)


def names() -> dict[str, list[str]]:
    """Public names by module, as programs import them: ``aie.iron``, ``aie.dialects.aie`` and so on."""
    found = {"aie.iron": _public(_root)}
    for each in pkgutil.walk_packages(_root.__path__, "memtile.iron."):
        parts = each.name.split(".")[2:]
        if parts[0] in _INTERNAL:
            continue
        root = "aie" if parts[0] in _OF_AIE else "aie.iron"
        found[f"{root}.{'.'.join(parts)}"] = _public(importlib.import_module(each.name))
    return dict(sorted(found.items()))


def _public(module: ModuleType) -> list[str]:
    """Names of a module: its own; of a package, a dialect or the extras also those of other parts."""
    own = not hasattr(module, "__path__") and module.__name__.split(".")[2] not in (
        "dialects",
        "extras",
        "ir",
    )
    listed = getattr(module, "__all__", None)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (
            name in listed
            if listed is not None
            else _is_offered(value, module.__name__ if own else "memtile.iron")
        )
    )


def _is_offered(value: object, home: str) -> bool:
    """Whether a value is of a module, or of one below it; constants are those of the module that has them."""
    if isinstance(value, ModuleType):
        return value.__name__.startswith("memtile.iron")
    of = getattr(value, "__module__", None)
    return value is not annotations and (of or home).startswith(home)
