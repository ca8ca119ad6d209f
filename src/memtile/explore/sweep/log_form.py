"""The form of what the log of a sweep has as JSON: its head, and each row."""

from __future__ import annotations

import re
from typing import Any

from memtile.errors import InputFileError
from memtile.explore.sweep.row import VariantState
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.forms import Each, Either, Form, NamedForms, Such, misfit

MOST_ROWS = 1 << 20
MOST_BYTES = 1 << 30
"""Of the rows of a log, and of their text once it is unpacked."""

_MOST_FILES = 1 << 10  # of a design
_MOST_TEXT = 1 << 24  # characters of all of them together
_MOST_AXES = 64
_KEY = re.compile(r"[0-9a-f]{16}")
_NUMBER = range(1 << 53)
_LABEL = Either((range(-1 << 63, 1 << 63), float, bool, str, None))


def _few(value: Any) -> bool:
    """Whether a design has no more files and text than a design can have."""
    if misfit(value, NamedForms(str)):
        return False
    return len(value) <= _MOST_FILES and sum(map(len, value.values())) <= _MOST_TEXT


_HASH = Such(lambda value: isinstance(value, str) and bool(_KEY.fullmatch(value)), "16 hexadecimal digits")
_STATE = Such(
    lambda value: isinstance(value, str) and value in [*VariantState], f"one of {', '.join(VariantState)}"
)
_NAMES = ", ".join(FIGURES)
_FIGURE = Such(lambda value: isinstance(value, str) and value in FIGURES, f"one of {_NAMES}")
_OBJECTIVES = Such(
    lambda value: bool(value) and misfit(value, Each(_FIGURE)) is None, f"a list of at least one of {_NAMES}"
)
_FILES = Such(_few, f"texts by path, {_MOST_FILES:,} files and {_MOST_TEXT:,} characters at most")
_SPACE = Each({"name": str, "values": Each(_LABEL), "span": (float, float), "log": bool})
_AXES = Such(
    lambda value: misfit(value, _SPACE) is None and len(value) <= _MOST_AXES,
    f"a list of up to {_MOST_AXES} axes, each with name, values, span and log",
)
HEAD: Form = {
    "format": str,
    "version": int,
    "design": str,
    "hash": _HASH,
    "sources": NamedForms({"name": str, "files": _FILES}, lambda key: bool(_KEY.fullmatch(key))),
    "space": _AXES,
    "set": NamedForms(_LABEL),
    "objectives": _OBJECTIVES,
    "strategy": str,
    "max_cycles": _NUMBER,
    "check": bool,
    "energy": str,
    "data": bool,
}
ROW: Form = {
    "key": _HASH,
    "sources": _HASH,
    "number": _NUMBER,
    "point": NamedForms(_LABEL),
    "state": _STATE,
    "kind": str,
    "why": str,
    "figures": NamedForms(float),
    "seconds": float,
}
_LATER = {"energy": "", "data": True}  # what the first logs do not say


def checked_head(data: Any, path: object) -> dict[str, Any]:
    """The head of the log ``path``.

    Raises:
        InputFileError: it is none, or that of another memtile.
    """
    if isinstance(data, dict):
        data = {**_LATER, **data}
    if wrong := misfit(data, HEAD, "head"):
        raise InputFileError(f"{path}: the log is damaged: {wrong}. Give another log.")
    head: dict[str, Any] = data
    return head


def checked_row(data: Any, path: object, number: int) -> dict[str, Any]:
    """Row ``number`` of the log ``path``, counted from 1.

    Raises:
        InputFileError: it is none.
    """
    if wrong := misfit(data, ROW, f"row {number}"):
        raise InputFileError(f"{path}: the log is damaged: {wrong}. Give another log.")
    row: dict[str, Any] = data
    return row
