"""With mlir-aie installed: the twin is its NPU, and designs run from their text, before its compiler begins.

``memtile.iron.install``, ``python -m memtile.iron PROGRAM.py`` and ``memtile run PROGRAM.py`` arm it. Nothing
of mlir-aie is imported before the program imports it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from memtile.cpp.compilers import cache_folder
from memtile.output_files import make_folder, write_output

VARIABLE = "MEMTILE_DEVICE"
"""The NPU of programs that do not choose one: ``npu1`` or ``npu2``."""
FUNCTIONS = "MEMTILE_IRON_FUNCTIONS"
"""Python file with functions that cores call."""
_FOLDER = "iron-texts"


def arm() -> None:
    """Wait for the modules of mlir-aie; those that are there already are changed now."""
    for name, then in _AWAITED.items():
        if name in sys.modules:
            then(sys.modules[name])
    if not any(isinstance(finder, _ModuleFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ModuleFinder())


def _install(_: ModuleType) -> None:
    from memtile.hosts.iron.installing import install

    file = os.environ.get(FUNCTIONS, "")
    install(device=os.environ.get(VARIABLE) or "npu2", functions=file or {})


def _take_texts(module: ModuleType) -> None:
    """Have a design that is to be compiled leave its text, in the place of compiled files."""
    module.CompilableDesign.compile = _without_compiler


def _without_compiler(
    design: Any, xclbin_path: Path | str | None = None, inst_path: Path | str | None = None, **_: Any
) -> tuple[Path, Path]:
    """The text of a design beside files that stand for compiled ones; the twin runs it from there.

    Args:
        design: mlir-aie's, which generates the text.
        xclbin_path: where compiled files are wanted; None = in a cache.
        inst_path: likewise.
    """
    text = design.generate_mlir().operation.get_asm(print_generic_op_form=True)
    folder = cache_folder(_FOLDER) / hashlib.sha256(text.encode()).hexdigest()[:16]
    xclbin, insts = Path(xclbin_path or folder / "final.xclbin"), Path(inst_path or folder / "insts.bin")
    for file in (xclbin, insts):
        make_folder(file.parent)
        write_output(file, b"not compiled: memtile runs the MLIR text beside this file\n")
    write_output(xclbin.with_suffix(".mlir"), text.encode())
    return xclbin, insts


_AWAITED: dict[str, Callable[[ModuleType], None]] = {
    "aie.utils": _install,
    "aie.utils.compile.jit.compilabledesign": _take_texts,
}


class _ModuleFinder(MetaPathFinder):
    """Finds modules of mlir-aie where they are, with a loader that changes them behind it."""

    def __init__(self) -> None:
        self._left = dict(_AWAITED)

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that is awaited; None for all others."""
        then = self._left.pop(fullname, None)
        if then is None:
            return None
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, then)
        return spec


class _Then(Loader):
    """A loader, and what follows."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Load the module, then change it."""
        self._loader.exec_module(module)
        self._then(module)
