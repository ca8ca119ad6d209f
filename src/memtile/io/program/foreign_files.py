"""Files that are no programs of register writes, but come from the same tools: what they are, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem

ALLOWED = "a transaction, a CDO file, a container of them, control code or a register dump"


class ForeignKind(NamedTuple):
    """A kind of file that is told by its beginning.

    Attributes:
        what: the file is, in words.
        step: what to give instead.
    """

    what: str
    step: str


_MAGIC: Mapping[bytes, ForeignKind] = MappingProxyType(
    {
        b"\x93NUMPY": ForeignKind("a NumPy array", "Give arrays with --in NAME=FILE.npy."),
        b"PK\x03\x04": ForeignKind("a ZIP archive", "Give the files in it."),
        b"\x1f\x8b": ForeignKind("compressed by gzip", "Give the file that gunzip makes of it."),
    }
)
_JOBS = re.compile(rb"(?:\s|;[^\n]*\n)*(?:START_JOB|\.align|\.section|\.setpad)\b", re.IGNORECASE)
_JOBS_STEP = "Give the register writes of the same design for a device of AIE-ML or AIE2P, see memtile info."
_PACKETS = "control packets, which do not say to which tiles they go"
_PACKETS_STEP = (
    "A DMA of the design sends them: give the transaction and the PDI of the design, and these bytes as the "
    "array of its kernel argument, --in NAME=FILE."
)
_START = 16  # bytes of a file that are shown
_HEADER = sum(field.mask for field in STREAM_HEADER)
_MLIR = re.compile(rb"(?:\s|//[^\n]*\n)*(?:module\b|aie\.device\b|\"builtin\.module\"|#map|#aie)")
_MLIR_STEP = "Give it a name that ends in .mlir: designs run as they are. Or give the folder of its build."
_TEXT_STEP = "Lines of a register dump have an address and values, such as 0x021C0000 2."


def foreign(data: bytes, name: str) -> Problem | None:
    """Why a file is no program, if its beginning says what it is."""
    for magic, known in _MAGIC.items():
        if data.startswith(magic):
            return _problem(name, known.what, known.step)
    if _MLIR.match(data):
        return _problem(name, "MLIR", _MLIR_STEP)
    if _JOBS.match(data):
        return _problem(name, "control code of jobs and pages, for AIE2PS and its successors", _JOBS_STEP)
    return None


def unknown_bytes(data: bytes, name: str) -> Problem:
    """Bytes of no format: what they are if that can be seen, else how they begin."""
    if _are_control_packets(data):
        return _problem(name, _PACKETS, _PACKETS_STEP)
    start = data[:_START].hex(" ")
    return Problem(
        "format",
        f"bytes {start}" if data else "an empty file",
        ALLOWED,
        f"the file {f'begins with bytes {start}' if data else 'is empty'}; it must be {ALLOWED}",
        reason="format",
        where=name,
        source="their headers",
    )


def _are_control_packets(data: bytes) -> bool:
    """Whether the first words are the header of a packet and of a control packet, each with its parity."""
    if len(data) < 3 * WORD_BYTES or len(data) % WORD_BYTES:
        return False
    words = [int.from_bytes(data[at : at + WORD_BYTES], "little") for at in (0, WORD_BYTES)]
    return all(word.bit_count() % 2 for word in words) and not words[0] & ~_HEADER


def other_text(name: str, line: str) -> Problem:
    """A text of which no line is a register; ``line`` is its first one."""
    shown = line.strip()[:60]
    return _problem(name, f"text that begins with {shown!r}, and no line of it is a register", _TEXT_STEP)


def _problem(name: str, what: str, step: str) -> Problem:
    return Problem(
        "format",
        what,
        ALLOWED,
        f"the file is {what}; it must be {ALLOWED}",
        step,
        reason="format",
        where=name,
        source="their headers",
    )
