"""Python files of users: a module with a ``design()`` function, loaded with errors that name its line.

What the code of a design prints goes to standard error: standard output is for what commands show.

It also has functions of a Python file by name, for cores that call what their design only declares.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib.util
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import replace
from importlib.machinery import SOURCE_SUFFIXES, SourceFileLoader
from io import StringIO
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast

from memtile.errors import InputFileError, MemtileError, is_out_of_memory
from memtile.input_files import check_size, syntax_tree

T = TypeVar("T")


def is_own_design(file: Path) -> bool:
    """Whether a file is Python that imports memtile and has a function ``design()``."""
    if file.suffix not in SOURCE_SUFFIXES:
        return False
    try:
        body = syntax_tree(file.read_bytes()).body
    except (SyntaxError, ValueError, OSError):
        return False
    imported = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in body if isinstance(node, ast.ImportFrom)}
    return any(name.partition(".")[0] == "memtile" for name in imported) and any(
        isinstance(node, ast.FunctionDef) and node.name == "design" for node in body
    )


def is_program(file: str | Path) -> bool:
    """Whether a file is a program of IRON: Python that imports ``aie``, also within a function."""
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        return False
    try:
        tree = syntax_tree(path.read_bytes())
    except (SyntaxError, ValueError, OSError):  # whoever loads it says what is wrong
        return False
    return any(_is_of_iron(name) for node in ast.walk(tree) for name in _imported(node))


def is_script(file: str | Path) -> bool:
    """Whether a program does something when it is run, unlike helpers and tests of pytest."""
    if not is_program(file):
        return False
    return any(
        isinstance(node, ast.If | ast.With | ast.For)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in syntax_tree(Path(file).read_bytes()).body
    )


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_of_iron(name: str) -> bool:
    first, second, *_ = [*name.split("."), ""]
    return first == "aie" or (first, second) == ("memtile", "iron")


class _Present(SourceFileLoader):
    """Runs what a file says now: bytecode knows its source by size and second alone.

    Attributes:
        source: to be run instead; None = what the file says.
    """

    source: str | None = None

    def get_code(self, _fullname: str) -> CodeType:
        source = self.get_data(self.path) if self.source is None else self.source.encode()
        return self.source_to_code(source, self.path)


def design_function(file: str, source: str | None = None) -> Callable[..., Any]:
    """The function ``design`` of a file.

    Args:
        file: of the design.
        source: instead of what the file says; None = that.

    Raises:
        InputFileError: the file cannot be read, is not Python, fails, or has none.
    """
    path = Path(file)
    if not path.is_file():
        raise InputFileError(f"{file}: there is no such file. Give a Python file with a design() function.")
    check_size(path, path.stat(), "text_bytes")
    module = _module(path, source)
    return cast(Callable[..., Any], user_code(path, lambda: _execute(module, file)))


def _module(path: Path, source: str | None = None) -> ModuleType:
    if path.suffix not in SOURCE_SUFFIXES:
        raise InputFileError(f"{path}: the file is not a Python file; its name must end in .py.")
    name = f"memtile_design_{path.stem}"
    loader = _Present(name, str(path))
    loader.source = source
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up the names of their annotations
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as for python design.py
    return module


def load_module(file: str) -> ModuleType:
    """A Python file as a module.

    Raises:
        InputFileError: it is not Python, or it fails.
        MemtileError: as the file itself raises it.
    """
    path = Path(file)
    module = _module(path)
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    user_code(path, functools.partial(module.__spec__.loader.exec_module, module))
    return module


def guarded(file: str, call: Callable[[], T]) -> T:
    """What ``call`` returns; a mistake in the kernels of ``file`` that it runs becomes one line.

    Raises:
        InputFileError: the user's code failed.
        MemtileError: as it was raised; what the user's code led to names its line.
    """
    try:
        return aside(call)
    except MemtileError as error:
        raise _located(file, error) from None
    except Exception as error:
        line = _line(Path(file), error)
        if line is None or is_out_of_memory(error):
            raise
        raise InputFileError(f"{file}, line {line}: {_described(error)}") from None


def _execute(module: ModuleType, file: str) -> Callable[[], Any]:
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)
    function: Any = getattr(module, "design", None)
    if not callable(function):
        raise InputFileError(
            f"{file}: there is no function design(), which the command calls to get the design. Programs of "
            "IRON import aie; this file does not."
        )
    return cast(Callable[[], Any], function)


def user_code(path: Path, call: Callable[[], Any]) -> Any:
    """What ``call`` returns, code of a user's file; its own mistakes become one line that names the place.

    Raises:
        InputFileError: the file is not Python, or it fails.
        MemtileError: as the file itself raises it, with its line.
    """
    try:
        return aside(call)
    except MemtileError as error:
        raise _located(str(path), error) from None
    except SyntaxError as error:
        raise InputFileError(f"{path}, line {error.lineno}: this is not Python: {error.msg}.") from None
    except Exception as error:
        if is_out_of_memory(error):
            raise
        line = _line(path, error)
        place = str(path) if line is None else f"{path}, line {line}"
        raise InputFileError(f"{place}: {_described(error)}") from None


_SILENT = ContextVar("silent", default=False)


@contextmanager
def silent() -> Iterator[None]:
    """Designs that are loaded once more within this print nothing: a user has seen it."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


def aside(call: Callable[[], T]) -> T:
    """What ``call`` returns; what it prints is no result of the command, and goes to standard error."""
    with redirect_stdout(StringIO() if _SILENT.get() else sys.stderr):
        return call()


def _located(file: str, error: MemtileError) -> MemtileError:
    """The error, with the line of the file that led to it, if one did."""
    line = _line(Path(file), error)
    if line is None or not error.problems:
        return error
    return type(error)([replace(p, where=f"{file}, line {line}, {p.where}") for p in error.problems])


def _line(path: Path, error: Exception) -> int | None:
    """The last line of the file that led to the error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return own[-1] if own else None


def _described(error: Exception) -> str:
    """The error in one line, the name that may have been meant, and which kernel it is from."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, AttributeError) and error.name:
        meant = difflib.get_close_matches(error.name, [n for n in dir(error.obj) if not n.startswith("_")], 1)
        said += f". Did you mean {meant[0]!r}?" if meant else ""
    return "; ".join([said, *getattr(error, "__notes__", ())])


def functions_of(file: Path) -> dict[str, Callable[..., Any]]:
    """The functions of a file, those without a leading underscore.

    Raises:
        InputFileError: the file cannot be read, is not Python, or fails.
        MemtileError: as the file itself raises it.
    """
    try:
        found = runpy.run_path(str(file))
    except MemtileError:
        raise
    except Exception as error:
        raise InputFileError(
            f"{file}: its functions cannot be had: {type(error).__name__}: {error}."
        ) from None
    return {name: each for name, each in found.items() if callable(each) and not name.startswith("_")}
