"""Files that are no programs of register writes, but come from the same tools: what they are, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from memtile.errors import Problem

ALLOWED = "a transaction, a CDO file, a container of them or a register dump"


class Known(NamedTuple):
    """A kind of file that is told by its beginning.

    Attributes:
        what: the file is, in words.
        step: what to give instead.
    """

    what: str
    step: str


_MAGIC: Mapping[bytes, Known] = MappingProxyType(
    {
        b"\x93NUMPY": Known("a NumPy array", "Give arrays with --in NAME=FILE.npy."),
        b"PK\x03\x04": Known("a ZIP archive", "Give the files in it."),
        b"\x1f\x8b": Known("compressed by gzip", "Give the file that gunzip makes of it."),
    }
)
_MLIR = re.compile(rb"\s*((//[^\n]*)?\n\s*)*(module\b|aie\.device\b|\"builtin\.module\"|#map|#aie)")
_MLIR_STEP = "Give it a name that ends in .mlir: designs run as they are. Or give the folder of its build."
_TEXT_STEP = "Lines of a register dump have an address and values, such as 0x021C0000 2."


def foreign(data: bytes, name: str) -> Problem | None:
    """Why a file is no program, if its beginning says what it is."""
    for magic, known in _MAGIC.items():
        if data.startswith(magic):
            return _problem(name, known.what, known.step)
    if _MLIR.match(data):
        return _problem(name, "MLIR", _MLIR_STEP)
    return None


def other_text(name: str, line: str) -> Problem:
    """A text of which no line is a register; ``line`` is its first one."""
    shown = line.strip()[:60]
    return _problem(name, f"text that begins with {shown!r}, and no line of it is a register", _TEXT_STEP)


def _problem(name: str, what: str, step: str) -> Problem:
    return Problem(
        reason="format",
        where=name,
        field="format",
        given=what,
        allowed=ALLOWED,
        source="their headers",
        next_step=step,
        says=f"the file is {what}; it must be {ALLOWED}",
    )
