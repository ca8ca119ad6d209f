"""Let a program import ``aie``: in this process, and only where mlir-aie is not installed.

``import memtile.iron.install`` is enough.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_OURS = "memtile.iron"


def our_name(name: str) -> str:
    """The module that stands for one of mlir-aie's: ``memtile.iron.dialects.aie`` for ``aie.dialects.aie``."""
    rest = name.removeprefix("aie").removeprefix(".")
    rest = rest.removeprefix("iron").removeprefix(".") if rest == "iron" or rest.startswith("iron.") else rest
    return f"{_OURS}.{rest}" if rest else _OURS


class _Alias(Loader):
    """Gives the module that stands for another."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(self._name)

    def exec_module(self, module: ModuleType) -> None:
        return


class _Finder(MetaPathFinder):
    """Finds ``aie`` and what is in it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "aie" and not fullname.startswith("aie."):
            return None
        name = our_name(fullname)
        if importlib.util.find_spec(name) is None:
            return None
        return ModuleSpec(fullname, _Alias(name), is_package=True)


def install() -> None:
    """Install the names, unless mlir-aie has them."""
    if any(isinstance(each, _Finder) for each in sys.meta_path):
        return
    if importlib.util.find_spec("aie") is None:
        sys.meta_path.insert(0, _Finder())


install()
