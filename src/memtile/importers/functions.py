"""Functions of a Python file by name, for cores that call what their design only declares."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError, MemtileError


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
