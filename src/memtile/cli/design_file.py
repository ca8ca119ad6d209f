"""Design files: a Python file with a ``design()`` function, loaded with errors that name its line."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from memtile.errors import InputFileError, MemtileError


def load_design(file: str) -> Any:
    """What ``design()`` of ``file`` returns: something with a ``run`` method.

    Raises:
        InputFileError: the file cannot be read, is not Python, fails, or has no ``design()``.
        MemtileError: as the design itself raises it.
    """
    path = Path(file)
    if not path.is_file():
        raise InputFileError(f"{file}: no such file; give a Python file with a design() function")
    module = _module(path)
    function = _guarded(path, lambda: _execute(module))
    made = _guarded(path, function)
    if not callable(getattr(made, "run", None)):
        raise InputFileError(
            f"{file}: design() returned {type(made).__name__}, not a design with a run method"
        )
    return made


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputFileError(f"{path}: not a Python file; its name must end in .py")
    return importlib.util.module_from_spec(spec)


def _execute(module: ModuleType) -> Callable[[], Any]:
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)
    function: Any = getattr(module, "design", None)
    if not callable(function):
        raise InputFileError(
            f"{module.__file__}: no function design(); the command calls it to get the design"
        )
    return cast(Callable[[], Any], function)


def _guarded(path: Path, call: Callable[[], Any]) -> Any:
    """The user's code; its own mistakes become one line that names the place."""
    try:
        return call()
    except MemtileError:
        raise
    except SyntaxError as error:
        raise InputFileError(f"{path}, line {error.lineno}: not Python: {error.msg}") from None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f.lineno for f in frames if Path(f.filename) == path]
        place = f"{path}, line {own[-1]}" if own else str(path)
        raise InputFileError(f"{place}: {type(error).__name__}: {error}") from None
