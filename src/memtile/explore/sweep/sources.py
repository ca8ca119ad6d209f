"""What a design is made of, as texts and as a hash: its file, and the modules beside it that it imports."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import memtile.sheet as _package
from memtile.errors import InputFileError, Problem, cannot_write, raise_if
from memtile.importers.text_design import SUFFIX
from memtile.input_files import syntax_tree
from memtile.iron.program_design import function_of
from memtile.jit.cache import why_unsafe
from memtile.output_files import make_folder, write_output
from memtile.system import alone, system


@dataclass(frozen=True, slots=True)
class DesignSources:
    """Sources of a design.

    Attributes:
        name: of the file with ``design()``.
        files: texts by path below its folder.
    """

    name: str
    files: Mapping[str, str]

    @property
    def hash(self) -> str:
        """Hash of the design's sources and of memtile's own: 16 hexadecimal digits."""
        text = json.dumps([self.name, dict(sorted(self.files.items())), own_hash()])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def put(self, folder: Path) -> str:
        """Write the files below a folder that others may write at the same time; the path of the design.

        What is there already is used if it is these files and no others, else it is replaced.

        Raises:
            InputFileError: a file is not below the folder of the design, or cannot be written.
        """
        raise_if([_outside(name) for name in (self.name, *self.files) if not _is_below(name)], InputFileError)
        if self.name not in self.files:
            raise InputFileError(f"{self.name}: the file of the design is not among the sources of the log.")
        target = folder / self.hash
        left = [folder / f".{self.hash}.{each}" for each in ("new", "old")]
        if self._are_in(target) and not any(each.exists() for each in left):
            return str(target / self.name)
        try:
            with alone(folder / f".{self.hash}.lock") as own:
                made, old = (folder / f".{self.hash}{own}.{each}" for each in ("new", "old"))
                for each in (made, old):  # of a process that was killed
                    system().remove_folder(each)
                if not self._are_in(target):  # which another process may have made meanwhile
                    self._make(target, made, old)
        except OSError as error:
            raise cannot_write(target, error) from None
        return str(target / self.name)

    def _make(self, target: Path, made: Path, old: Path) -> None:
        """Make the folder ``target`` by way of another one, so that it is complete or not there."""
        try:
            for name, text in self.files.items():
                self._write(made / name, text)
            if self._are_in(target):  # without locks another process may have made it meanwhile
                return
            if target.exists() or target.is_symlink():
                system().replace(target, old)
            system().replace(made, target)
        except OSError:
            if not self._are_in(target):
                raise
        finally:
            for each in (made, old):
                system().remove_folder(each)

    def _are_in(self, folder: Path) -> bool:
        """Whether a folder of ours has these files, and no others that Python could import."""
        if folder.is_symlink() or not folder.is_dir() or why_unsafe(folder):
            return False
        return _importable_in(folder) <= self.files.keys() and all(
            not (folder / name).is_symlink() and same_text(folder / name, text)
            for name, text in self.files.items()
        )

    def _write(self, path: Path, text: str) -> None:
        make_folder(path.parent)
        try:
            write_output(path, text.encode(), durable=False)
        except UnicodeEncodeError as error:
            raise InputFileError(f"{path.name}: the file of the log cannot be written: {error}.") from None


def sources_of(file: str) -> DesignSources:
    """The sources of a design: its file, and what it imports from its folder, by whatever way.

    Raises:
        InputFileError: the file cannot be read, or is not Python.
    """
    path = Path(file)
    if not path.is_file():
        raise InputFileError(f"{file}: there is no such file. Give a Python file with a design() function.")
    found: dict[str, str] = {}
    waiting = [path.name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _text(path.parent / name)
            if name.endswith(SUFFIX):
                continue
            waiting += _imported(path.parent, found[name], str(path.parent / name))
    return DesignSources(path.name, found)


_OWN = (".py", ".h", ".hpp", ".cc")
"""What memtile is made of, headers of kernels and graphs too."""
_LOADED: dict[tuple[str, str], Callable[..., Any]] = {}


def loaded(file: str, version: str) -> Callable[..., Any]:
    """The function ``design`` of a file, as the file and the modules beside it are now.

    Args:
        file: of the design.
        version: hash of its sources; with the same one it is loaded once.

    Raises:
        InputFileError: the file cannot be read, is not Python, fails, or has none.
    """
    path = str(Path(file).resolve())
    if (path, version) not in _LOADED:
        own = {str(Path(path).parent / name) for name in sources_of(path).files}
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) in own:
                del sys.modules[name]
        importlib.invalidate_caches()
        _LOADED[path, version] = function_of(file)
    return _LOADED[path, version]


def same_text(path: Path, text: str) -> bool:
    """Whether a file has a text."""
    return path.is_file() and path.read_bytes() == text.encode()


def _is_below(name: str) -> bool:
    """Whether a path leads to a file below the folder that it is relative to."""
    parts = name.split("/")
    return not {"", ".", ".."} & {*parts} and not any(c in name for c in "\\:\0")


def _outside(name: str) -> Problem:
    return Problem(
        "path",
        name,
        "a file below the folder of the design, such as 'blocks/gemm.py'",
        "its path leads out of the folder of the design",
        "The log was changed: do not replay it.",
        reason="sources",
        where=f"file {name!r} of a log",
        source="a log writes nothing elsewhere",
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputFileError(f"{path}: the file cannot be read: {error}.") from None


def _importable_in(folder: Path) -> set[str]:
    """Paths of the files below a folder, but for those that Python writes itself."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def _modules_of(node: ast.AST) -> list[str]:
    """The modules that a statement may import; none if it imports nothing, or from where it is itself."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _imported(folder: Path, text: str, name: str) -> Iterator[str]:
    """Paths below a folder of the modules in it that a text imports; also those within functions."""
    try:
        tree = syntax_tree(text)
    except SyntaxError as error:
        raise InputFileError(f"{name}, line {error.lineno}: this is not Python: {error.msg}.") from None
    for node in ast.walk(tree):
        for module in _modules_of(node):
            parts = module.split(".")
            for count in range(1, len(parts) + 1):
                stem = "/".join(parts[:count])
                yield from (p for p in (f"{stem}.py", f"{stem}/__init__.py") if (folder / p).is_file())


@cache
def own_hash() -> str:
    """Hash of memtile's own sources: another memtile may count other cycles."""
    digest = hashlib.sha256()
    root = Path(_package.__file__).parent
    for path in sorted(each for each in root.rglob("*") if each.suffix in _OWN):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
