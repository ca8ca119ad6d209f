"""The names of mlir-aie, ``aie`` and what is in it, found in ``memtile.iron``, in this process."""

from __future__ import annotations

import dis
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

_OURS = "memtile.iron"
LIST = "python -m memtile.iron --names"
"""Command that lists the names."""
_PACKAGE = str(Path(__file__).parents[1])
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def our_name(name: str) -> str:
    """The module that stands for one of mlir-aie's, such as ``memtile.iron.ir`` for ``aie.ir``."""
    rest = name.removeprefix("aie").removeprefix(".")
    rest = rest.removeprefix("iron").removeprefix(".") if rest == "iron" or rest.startswith("iron.") else rest
    return f"{_OURS}.{rest}" if rest else _OURS


def has_mlir_aie() -> bool:
    """Whether mlir-aie is installed: a package ``aie`` that is not ours."""
    if is_installed():
        return False
    found = sys.modules.get("aie") or importlib.util.find_spec("aie")
    # a folder that is called aie and has no __init__.py is no package of mlir-aie
    return getattr(found, "origin", None) is not None or getattr(found, "__file__", None) is not None


def where() -> str:
    """``FILE:LINE: `` of the program that is running, for messages; empty if none is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_PACKAGE, "<frozen")):
            return f"{name}:{frame.f_lineno}: "
        frame = frame.f_back
    return ""


def absent(name: str, known: Sequence[str]) -> str:
    """What is said of a name that is not there.

    Args:
        name: with its module, ``aie.iron.Foo``.
        known: names beside it.
    """
    module, _, last = name.rpartition(".")
    near = get_close_matches(last, known, n=1)
    meant = f" Did you mean {module}.{near[0]}?" if near else ""
    return f"memtile's IRON has no {name}.{meant} {LIST} lists what it has."


class _Alias(Loader):
    """Gives the module that stands for another."""

    def __init__(self, ours: str, theirs: str) -> None:
        self._ours, self._theirs = ours, theirs

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._ours)
        if "__getattr__" not in vars(module):
            theirs = "aie.iron" if self._ours == _OURS else self._theirs  # aie is the same module
            module.__getattr__ = _missing(module, theirs)  # type: ignore[method-assign]
        return module

    def exec_module(self, _module: ModuleType) -> None:
        return


def _missing(module: ModuleType, theirs: str) -> Callable[[str], Any]:
    """What says that a module has no such name."""

    def missing(name: str) -> Any:
        public = [each for each in vars(module) if not each.startswith("_")]
        caller = sys._getframe(1)
        imported = caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM
        if imported and not name.startswith("__") and f"{module.__name__}.{name}" not in sys.modules:
            raise ImportError(f"{where()}{absent(f'{theirs}.{name}', public)}", name=theirs)
        raise AttributeError(absent(f"{theirs}.{name}", public), name=name, obj=module)

    return missing


class _Finder(MetaPathFinder):
    """Finds ``aie`` and what is in it."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of one of our modules under the name of mlir-aie.

        Raises:
            ModuleNotFoundError: there is none.
        """
        if fullname != "aie" and not fullname.startswith("aie."):
            return None
        name = our_name(fullname)
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"{where()}{absent(fullname, _beside(name))}", name=fullname)
        return ModuleSpec(fullname, _Alias(name, fullname), is_package=True)


def _beside(name: str) -> list[str]:
    """Names of the modules beside one of ours."""
    import pkgutil

    parent = importlib.import_module(name.rpartition(".")[0])
    return [each.name for each in pkgutil.iter_modules(getattr(parent, "__path__", ()))]


def uninstall() -> None:
    """Take the names back: ``aie`` is as it was before :func:`install`."""
    if is_installed():
        sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, _Finder)]
        for name in [name for name in sys.modules if name == "aie" or name.startswith("aie.")]:
            del sys.modules[name]


def is_installed() -> bool:
    """Whether ``aie`` is ours in this process."""
    return any(isinstance(each, _Finder) for each in sys.meta_path)


@contextmanager
def only_ours() -> Iterator[None]:
    """Within ``with`` ``aie`` is memtile's, also where mlir-aie is installed and imported."""
    if is_installed():
        yield
        return
    others = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "aie"}
    for name in others:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder())
    try:
        yield
    finally:
        uninstall()
        sys.modules.update(others)


def install() -> None:
    """Install the names; with mlir-aie its own, whose designs run on the twin before its compiler begins."""
    if is_installed():
        return
    if has_mlir_aie():
        from memtile.hosts.iron.backend_switch import arm

        arm()
    else:
        sys.meta_path.insert(0, _Finder())
