"""Files that are no programs of register writes, but come from the same tools: what they are, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from memtile.errors import Problem

_BUILD = "Give the files of the build folder instead: aie_cdo_*.bin and the instructions."


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
        b"xclbin2\0": Known("an xclbin, a container with the CDO in its AIE_PARTITION section", _BUILD),
        bytes.fromhex("dd00000044332211"): Known("a PDI, a boot image with the CDO in it", _BUILD),
        b"\x7fELF": Known(
            "an ELF file", f"If it is a core's program, write a kernel for it (--kernels FILE.py). {_BUILD}"
        ),
        b"\x93NUMPY": Known("a NumPy array", "Give arrays with --in NAME=FILE.npy."),
        b"PK\x03\x04": Known("a ZIP archive", "Give the files in it."),
    }
)
_MLIR = re.compile(rb"\s*((//[^\n]*)?\n\s*)*(module\b|aie\.device\b|\"builtin\.module\"|#map|#aie)")
_MLIR_STEP = (
    "Compile it with mlir-aie, and give the files that this writes: aie_cdo_*.bin and the instructions."
)
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
        allowed="a transaction, a CDO file or a register dump",
        source="their headers",
        next_step=step,
        says=f"the file is {what}; it must be a transaction, a CDO file or a register dump",
    )
