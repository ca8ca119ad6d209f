"""What a design is made of: its file and the modules beside it that it imports, as texts and as a hash."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import memtile.sheet as _package
from memtile.errors import InputFileError
from memtile.importers.design_file import design_function
from memtile.output_files import write_output


@dataclass(frozen=True, slots=True)
class Sources:
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
        """Write the files below a folder that others may write at the same time; the path of the design."""
        target = folder / self.hash
        if not target.is_dir():
            made = folder / f".{self.hash}.{os.getpid()}"
            for name, text in self.files.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                write_output(made / name, text, durable=False)
            try:
                made.rename(target)
            except OSError:  # somebody else was faster
                shutil.rmtree(made)
        return str(target / self.name)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "files": dict(self.files)}


def sources_of(file: str) -> Sources:
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
            waiting += _imported(path.parent, found[name], str(path.parent / name))
    return Sources(path.name, found)


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
        _LOADED[path, version] = design_function(file)
    return _LOADED[path, version]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputFileError(f"{path}: the file cannot be read: {error}.") from None


def _imported(folder: Path, text: str, name: str) -> Iterator[str]:
    """Paths below a folder of the modules in it that a text imports; also those within functions."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise InputFileError(f"{name}, line {error.lineno}: this is not Python: {error.msg}.") from None
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for module in names:
            parts = module.split(".")
            for count in range(1, len(parts) + 1):
                stem = "/".join(parts[:count])
                yield from (p for p in (f"{stem}.py", f"{stem}/__init__.py") if (folder / p).is_file())


@cache
def own_hash() -> str:
    """Hash of memtile's own sources: another memtile may count other cycles."""
    digest = hashlib.sha256()
    root = Path(_package.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
