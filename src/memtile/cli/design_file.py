"""Design files: a Python file with a ``design()`` function, loaded with errors that name its line."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memtile.errors import InputFileError, MemtileError

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile

T = TypeVar("T")


def load_design(file: str) -> MemoryTile | Array:
    """What ``design()`` of ``file`` returns.

    Raises:
        InputFileError: the file cannot be read, is not Python, fails, or has no ``design()``.
        MemtileError: as the design itself raises it.
    """
    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile

    path = Path(file)
    if not path.is_file():
        raise InputFileError(f"{file}: there is no such file. Give a Python file with a design() function.")
    module = _module(path)
    function = _guarded(path, lambda: _execute(module, file))
    made = _guarded(path, function)
    if isinstance(made, type):
        name = made.__name__
        raise InputFileError(f"{file}: design() returned the class {name}. Make one of it: {name}().")
    if not isinstance(made, MemoryTile | Array):
        made_name = type(made).__name__
        raise InputFileError(
            f"{file}: design() returned {made_name}; it must return a MemoryTile or an Array."
        )
    return made


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"memtile_design_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputFileError(f"{path}: the file is not a Python file; its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up the names of their annotations
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as for python design.py
    return module


def guarded(file: str, call: Callable[[], T]) -> T:
    """What ``call`` returns; a mistake in the kernels of ``file`` that it runs becomes one line.

    Raises:
        InputFileError: the user's code failed; any other error is raised as it is.
    """
    try:
        return call()
    except MemtileError:
        raise
    except Exception as error:
        line = _line(Path(file), error)
        if line is None:
            raise
        raise InputFileError(f"{file}, line {line}: {_described(error)}") from None


def _execute(module: ModuleType, file: str) -> Callable[[], Any]:
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)
    function: Any = getattr(module, "design", None)
    if not callable(function):
        raise InputFileError(
            f"{file}: there is no function design(), which the command calls to get the design."
        )
    return cast(Callable[[], Any], function)


def _guarded(path: Path, call: Callable[[], Any]) -> Any:
    """The user's code; its own mistakes become one line that names the place."""
    try:
        return call()
    except MemtileError:
        raise
    except SyntaxError as error:
        raise InputFileError(f"{path}, line {error.lineno}: this is not Python: {error.msg}.") from None
    except Exception as error:
        line = _line(path, error)
        place = str(path) if line is None else f"{path}, line {line}"
        raise InputFileError(f"{place}: {_described(error)}") from None


def _line(path: Path, error: Exception) -> int | None:
    """The last line of the file that led to the error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return own[-1] if own else None


def _described(error: Exception) -> str:
    """The error in one line, and which kernel it is from."""
    return "; ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
