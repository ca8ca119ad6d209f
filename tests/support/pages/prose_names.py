"""What docstrings and comments of the source name between double backticks or as a role, and whether it is.

A dotted name begins with a module, a package, a class or a name in the code of the same file; of a module or
class the source says whether it has the rest. Names from elsewhere begin with one of ``OUTSIDE``.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

OUTSIDE = ("aie.", "aiex.", "func.", "memref.", "scf.", "activation.py", "table.column", "tileCOLUMN_ROW.")
"""Dialects of MLIR, a file of mlir-aie, and forms of names: what begins names that the source lacks."""
_FILE = re.compile(r"[\w/-]+\.(?:bin|cc|cpp|h|json|mlir|o|prj|pth|xclbin)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_NAMED = re.compile(r"``([^`\n]+)``|:\w+:`~?\.?([\w.]+)`")
_COMMENT = re.compile(r"#.*")
_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _scopes(scope: _Scope) -> Iterator[_Scope]:
    """A module, class or function, and those inside."""
    yield scope
    for line in scope.body:
        if isinstance(line, _Scope):
            yield from _scopes(line)


def _documentation(scope: _Scope) -> Iterator[str]:
    """The docstring of a scope, and those behind its names."""
    for line in scope.body:
        value = line.value if isinstance(line, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def _members(scope: _Scope) -> set[str]:
    """Names that a module or class has, also those that its methods give ``self``."""
    found, of_class = set[str](), isinstance(scope, ast.ClassDef)
    for line in scope.body:
        if isinstance(line, _Scope):
            found.add(line.name)
        for node in ast.walk(line) if of_class or not isinstance(line, _Scope) else ():
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    found.add(name)
                case ast.alias(name=name, asname=other):
                    found.add(other or name.rpartition(".")[2])
    return found


class Source:
    """The modules below a folder.

    Args:
        folder: of the package.

    Attributes:
        paths: of the modules, by dotted name.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.paths = {self._name(path): path for path in sorted(folder.rglob("*.py"))}
        self._trees = {name: ast.parse(path.read_text("utf-8")) for name, path in self.paths.items()}

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self._folder.parent).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")

    @cached_property
    def _files(self) -> list[str]:
        """All files in Python beside the package, but for those of hidden folders, as of environments."""
        found = list[str]()
        for place, folders, names in os.walk(self._folder.parents[1]):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [f"{place}/{name}" for name in names if name.endswith(".py")]
        return found

    @cached_property
    def _modules(self) -> dict[str, set[str]]:
        """What each module has, submodules included."""
        found = {name: _members(tree) for name, tree in self._trees.items()}
        for name in found:
            outer, _, last = name.rpartition(".")
            found.get(outer, set()).add(last)
        return found

    @cached_property
    def _ends(self) -> dict[str, list[str]]:
        """Modules by the last part of their names."""
        found: dict[str, list[str]] = {}
        for name in self._modules:
            found.setdefault(name.rpartition(".")[2], []).append(name)
        return found

    @cached_property
    def _classes(self) -> dict[str, set[str]]:
        """What the classes of a name have, bases of the source included."""
        scopes = (scope for tree in self._trees.values() for scope in _scopes(tree))
        nodes = [scope for scope in scopes if isinstance(scope, ast.ClassDef)]
        found: dict[str, set[str]] = {}
        for node in nodes:
            found.setdefault(node.name, set()).update(_members(node))
        for node in (*nodes, *nodes):  # twice: bases of bases
            for base in node.bases:
                found[node.name] |= found.get(ast.unparse(base).rpartition(".")[2], set())
        return found

    def strange(self, module: str) -> Iterator[str]:
        """Names in the docstrings and comments of a module that stand for nothing."""
        text = self.paths[module].read_text("utf-8")
        documented = [words for scope in _scopes(self._trees[module]) for words in _documentation(scope)]
        said = _NAMED.findall("\n".join([*documented, *_COMMENT.findall(text)]))
        for words in documented:
            text = text.replace(words, "")
        near = set(re.findall(r"\w+", _COMMENT.sub("", text)))
        for quoted, role in said:
            name = (quoted or role).removesuffix("()")
            if not self._is_known(name, near, is_role=bool(role)):
                yield name

    def _is_known(self, name: str, near: set[str], *, is_role: bool) -> bool:
        if name.startswith(OUTSIDE) or _FILE.fullmatch(name):
            return True
        if re.fullmatch(r"[\w/]+\.py", name):
            return any(path.endswith(f"/{name}") for path in self._files)
        if _DOTTED.fullmatch(name):
            return self._has(name, near)
        return not is_role or name in near or name in self._classes or find_spec(name) is not None

    def _has(self, name: str, near: set[str]) -> bool:
        """Whether a dotted name stands for something."""
        first, _, rest = name.partition(".")
        ends = self._ends.get(first, [])
        if any(self._reaches(f"{module}.{rest}") for module in (f"{self._folder.name}.{first}", *ends)):
            return True
        if first in self._classes:
            return rest.partition(".")[0] in self._classes[first]
        return first in near or (not ends and find_spec(first) is not None)

    def _reaches(self, name: str) -> bool:
        """Whether a module has what is behind its name, and a class of it what is behind that."""
        parts = name.split(".")
        count = next((n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in self._modules), 0)
        if count in (0, len(parts)):
            return count > 0
        kind, *more = parts[count:]
        members = self._modules[".".join(parts[:count])]
        return kind in members and (not more or more[0] in self._classes.get(kind, more))
