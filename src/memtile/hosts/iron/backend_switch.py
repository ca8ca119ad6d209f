"""``MEMTILE_IRON``: the twin is installed as soon as a program imports ``aie.utils``; the program stays.

``memtile_iron.pth``, which is installed beside the package, has each Python process look at the variable;
``python -m memtile.hosts.iron PROGRAM.py`` needs neither.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

VARIABLE = "MEMTILE_IRON"
"""``1``, or the NPU: ``npu1``, ``npu2``; empty or ``0`` = off."""
FUNCTIONS = "MEMTILE_IRON_FUNCTIONS"
"""Python file with functions that cores call."""
_AWAITED = "aie.utils"


def arm() -> None:
    """Install the twin when ``aie.utils`` is imported, or now if it is."""
    if _AWAITED in sys.modules:
        _install()
    elif not any(isinstance(finder, _ModuleFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ModuleFinder())


def _install() -> None:
    from memtile.hosts.iron.installing import install

    value = os.environ.get(VARIABLE, "1")
    device = value if value.startswith("npu") else "npu1"
    file = os.environ.get(FUNCTIONS, "")
    install(device=device, functions=file or {})


class _ModuleFinder(MetaPathFinder):
    """Finds ``aie.utils`` where it is, with a loader that installs the twin behind it."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the one module; None for all others."""
        if fullname != _AWAITED:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader)
        return spec


class _Then(Loader):
    """A loader, and what follows."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Load the module, then install the twin in it."""
        self._loader.exec_module(module)
        _install()
