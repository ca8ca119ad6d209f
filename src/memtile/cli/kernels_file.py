"""Kernel files: a Python file with what the cores of a program do, by column and row of their tiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.design_file import load_module

if TYPE_CHECKING:
    from memtile.sim.kernels.kernel_core import Kernel

_BY_NAME = re.compile(r"core_([0-9]+)_([0-9]+)")
_SOURCE = "kernel files, docs/files.md"
_STEP = "Call the function of the core in column 0, row 2, core_0_2, or write KERNELS = {(0, 2): function}."


class KernelsFile(NamedTuple):
    """What a file has: kernels by column and row of their core, and all other functions by name."""

    kernels: dict[tuple[int, int], Kernel]
    functions: dict[str, Any]


def load_kernels(file: str, *, with_text: bool = False) -> KernelsFile:
    """The functions ``core_COLUMN_ROW`` of a file, those of its dictionary ``KERNELS``, and other functions.

    Args:
        file: Python file.
        with_text: there is MLIR text for the cores, whose functions the file may have instead of kernels.

    Raises:
        InputFileError: the file cannot be read, is not Python, fails, or has no kernels.
        MemtileError: as the file itself raises it.
    """
    if not Path(file).is_file():
        raise InputFileError(f"{file}: there is no such file. Give a Python file with kernels.")
    module = load_module(file)
    found = _kernels(file, module)
    names = {name: value for name, value in vars(module).items() if callable(value) and name[:1] != "_"}
    functions = {name: value for name, value in names.items() if not _BY_NAME.fullmatch(name)}
    if not found and not (with_text and functions):
        own = [name for name in names if getattr(names[name], "__module__", "") == module.__name__]
        says = f"there is no kernel in the file; its functions are {', '.join(own) or 'none'}"
        raise InputFileError(_problem(file, "kernels", "none", "one or more", says))
    return KernelsFile(found, functions)


def _kernels(file: str, module: ModuleType) -> dict[tuple[int, int], Any]:
    """The kernels of a module by column and row."""
    found: dict[tuple[int, int], Any] = {}
    for name, value in vars(module).items():
        if (match := _BY_NAME.fullmatch(name)) is not None:
            found[int(match[1]), int(match[2])] = value
    listed: object = getattr(module, "KERNELS", {})
    if not isinstance(listed, Mapping):
        raise InputFileError(_problem(file, "KERNELS", repr(listed), "a dictionary"))
    wrong = []
    for place, kernel in listed.items():
        if not _is_place(place):
            wrong.append(_problem(file, "KERNELS", f"key {place!r}", "a column and a row such as (0, 2)"))
        elif place in found:
            says = f"the kernel of core {place} is there twice, as core_{place[0]}_{place[1]} and in KERNELS"
            wrong.append(_problem(file, "KERNELS", f"{place} twice", "once", says))
        else:
            found[place] = kernel
    wrong += [
        _problem(
            file, f"kernel of core {place}", repr(kernel), "a generator function such as def core_0_2(core)"
        )
        for place, kernel in found.items()
        if not callable(kernel)
    ]
    raise_if(wrong, InputFileError)
    return found


def load_functions(file: str) -> dict[str, Any]:
    """The functions of a file by name, for cores that call functions which their design only declares.

    Raises:
        InputFileError: the file cannot be read, is not Python, or fails.
        MemtileError: as the file itself raises it.
    """
    if not Path(file).is_file():
        raise InputFileError(f"{file}: there is no such file. Give a Python file with functions.")
    found = vars(load_module(file))
    return {name: value for name, value in found.items() if callable(value) and not name.startswith("_")}


def _is_place(place: object) -> bool:
    return isinstance(place, tuple) and len(place) == 2 and all(isinstance(number, int) for number in place)


def _problem(file: str, field: str, given: str, allowed: str, says: str = "") -> Problem:
    return Problem(field, given, allowed, says, _STEP, reason="kernels_file", where=file, source=_SOURCE)
