"""Programs of IRON: files that import ``aie``, run as they are, with what is refused in one line."""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from memtile.errors import InputFileError, MemtileError
from memtile.input_files import syntax_tree
from memtile.iron.aie_names import LIST, install, is_installed, uninstall
from memtile.iron.taking import active
from memtile.iron.utils.hostruntime import set_current_device

_INSTALLED = "site-packages"
_FAILED = 1  # exit code of Python where a program raises
_PACKAGE = str(Path(__file__).parents[1])
_OF_HOSTS = "HostRuntimeError"  # mlir-aie's, which is not there before the program imports it
_REFUSALS = (TypeError, ValueError, RuntimeError, AttributeError, OSError)
_CALLED = re.compile(r"(\w+)(?:\.\w+)?\(\) (?:got|missing|takes)")


_INSTEAD: ContextVar[Mapping[Path, bytes]] = ContextVar("_INSTEAD", default=MappingProxyType({}))


@contextmanager
def source_instead(file: str, source: str) -> Iterator[None]:
    """Context in which a program is run from another source than that of its file."""
    token = _INSTEAD.set({Path(file).resolve(): source.encode()})
    try:
        yield
    finally:
        _INSTEAD.reset(token)


def run(file: str, arguments: Sequence[str]) -> None:
    """Run a program as ``python FILE ARGUMENT ...`` does; with relative imports as a module of its package.

    Args:
        file: of the program.
        arguments: its own.

    Raises:
        InputFileError: the file cannot be read or is not Python; what memtile's IRON lacks or refuses,
            with the program's line; any error of a program whose design is to be taken.
        SystemExit: as the program ends.
        MemtileError: a design that is refused or does not come to its end, with the program's line.
    """
    from memtile.iron.running import forget_designs

    path = Path(file)
    try:
        text = _INSTEAD.get().get(path.resolve()) or path.read_bytes()
    except OSError as error:
        raise InputFileError(f"{file}: the program cannot be read: {error.strerror}.") from None
    try:
        tree = syntax_tree(text, file)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise InputFileError(f"{file}, line {line}: this is not Python: {error.args[0]}.") from None
    root, package = _package(path.resolve(), tree)
    module = ModuleType("__main__")
    module.__file__, module.__package__ = file, package
    before, ours = (sys.argv, sys.path[:], sys.modules.get("__main__")), is_installed()
    install()
    set_current_device(None)
    forget_designs()
    sys.argv, sys.modules["__main__"] = [file, *arguments], module
    sys.path.insert(0, str(root))
    try:
        exec(compile(tree, file, "exec"), vars(module))
    except Exception as error:
        found = refusal(error, file)
        if found is not None:
            raise found from None
        if active():
            says = f"{_place(error, file)}: {type(error).__name__}: {error}"
            raise InputFileError(says) from None
        traceback.print_exception(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
        raise SystemExit(_FAILED) from None
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
        if before[2] is not None:
            sys.modules["__main__"] = before[2]
        if not ours:
            uninstall()  # the names were for the program


def _package(path: Path, tree: ast.AST) -> tuple[Path, str | None]:
    """The folder that imports begin in, and the package that relative ones are relative to."""
    levels = [node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    if not levels:
        return path.parent, None
    top = path.parents[max(levels) - 1]
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return top.parent, ".".join(path.parent.relative_to(top.parent).parts)


def refusal(error: Exception, file: str) -> MemtileError | None:
    """An error of a program that is memtile's to explain, with the program's line; None = the program's own.

    An error of the text that a program made names the line that made it: that of its worker, say, and not
    the one where the design is called.

    Args:
        error: what a program raised.
        file: of the program.
    """
    says = _said(error)
    if says is None:
        return None
    kind = type(error) if isinstance(error, MemtileError) else InputFileError
    place = _place(error, file)
    named = says.startswith(f"{file}:") and says[len(file) + 1 : len(file) + 2].isdigit()
    return kind(says if named else f"{place}: {says}")


def _said(error: Exception) -> str | None:
    """What an error says if it is about IRON; None = it is not."""
    if isinstance(error, MemtileError) or type(error).__name__ == _OF_HOSTS:
        return str(error)
    if isinstance(error, ImportError):
        return str(error) if (error.name or "").partition(".")[0] == "aie" else None
    called = _CALLED.match(str(error)) if isinstance(error, TypeError) else None
    if (called and _is_named(called[1])) or (isinstance(error, AttributeError) and _is_of_iron(error.obj)):
        return str(error) if LIST in str(error) else f"{error}. {LIST} lists what memtile's IRON has."
    inner = traceback.extract_tb(error.__traceback__)[-1].filename
    refused = isinstance(error, _REFUSALS) and inner.startswith(_PACKAGE)
    return f"{error}" if refused else None


def _is_of_iron(value: Any) -> bool:
    of = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return (of or type(value).__module__).startswith("memtile.iron")


def _is_named(name: str) -> bool:
    """Whether a class or function of IRON is called so."""
    modules = (module for key, module in list(sys.modules.items()) if key.startswith("memtile.iron"))
    return any(_is_of_iron(vars(module)[name]) for module in modules if name in vars(module))


def _place(error: BaseException, program: str) -> str:
    """Where the error came up: the last line of the program, or of a file below its folder."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{_shown(f.filename, program)}:{f.lineno}" for f in frames if _is_own(f.filename, program)]
    return own[-1] if own else program


def _is_own(file: str, program: str) -> bool:
    """Whether a file is below the program's folder, and not of memtile or an environment there."""
    path, folder = Path(file).resolve(), Path(program).parent.resolve()
    if path.is_relative_to(_PACKAGE):
        return False
    return path.is_relative_to(folder) and _INSTALLED not in path.relative_to(folder).parts


def _shown(file: str, program: str) -> str:
    return program if Path(file).resolve() == Path(program).resolve() else file
