"""Which settings the kinds of designs have a use for: the others would be left aside without a word."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memtile.cpp.build import SUFFIXES
from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.design_file import is_program

_EVERY = ("expect", "tolerance", "cycles", "within", "seconds", "allow_unknown", "check")
_CODE = ("kernels", "include", "define")
_USED = {
    "a graph in C++": ("set", "define", "include", "cost", "device", "in_folder"),
    "a program of IRON": ("inputs", "arguments", "set", "device"),
    "a design in Python": ("set",),
    "a text of MLIR": ("inputs", "sequence", "set", "device", "cost", *_CODE),
    "a build": ("inputs", "sequence", "device", *_CODE),
}


def kind_of(path: Path) -> str:
    """What a design is, with its article."""
    if path.suffix in SUFFIXES:
        return "a graph in C++"
    if path.suffix == ".py":
        return "a program of IRON" if is_program(path) else "a design in Python"
    return "a text of MLIR" if path.suffix == ".mlir" else "a build"


def refuse_unused(where: str, path: Path, keys: Iterable[str]) -> None:
    """Refuse settings of one design that its kind has no use for.

    Args:
        where: they are written.
        path: of the design.
        keys: names of the settings.

    Raises:
        InputFileError: which they are.
    """
    kind = kind_of(path)
    used = (*_EVERY, *_USED[kind])
    wrong = [
        Problem(
            key,
            key,
            ", ".join(used),
            f"{key} is for {_fitting(key)}; {path.name} is {kind}",
            "Leave it out.",
            reason="test_settings",
            where=where,
            source="docs/ci.md",
        )
        for key in keys
        if any(key in each for each in _USED.values()) and key not in used
    ]
    raise_if(wrong, InputFileError)


def _fitting(key: str) -> str:
    """The kinds of designs that a setting is for."""
    kinds = [kind for kind, used in _USED.items() if key in used]
    return " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
