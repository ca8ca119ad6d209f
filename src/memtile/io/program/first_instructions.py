"""Read the instructions of 2023: what mlir-aie wrote for npu1 before transactions, and Riallto's ``.seq``.

A prolog of 17 words, then operations of 2, 3 or 10: a token is waited for, a register is written, a BD of an
interface tile is written and given the address of an argument (mlir-aie AIETargetNPU.cpp until June 2024).
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from memtile.arch.tiles import INTERFACE, WORD_BYTES
from memtile.io.binary_files import ByteReader
from memtile.runs.firmware import PATCH
from memtile.runs.operations import BlockWrite, Operation, Other, Write, address_of
from memtile.runs.waits import WAIT

SOURCE = "mlir-aie's instructions of 2023 (AIETargetNPU)"
_PROLOG = Struct("<17I")
_WORDS, _MARK, _MARKED = 17, int.from_bytes(b"\xff\x55", "little"), (4, 16)  # its length, words with a mark
_SYNC, _WRITE, _BD = 3, 2, 6
_LAYOUTS = {_SYNC: Struct("<2I"), _WRITE: Struct("<3I"), _BD: Struct("<10I")}
_FIRST = Struct("<I")
_BASE = INTERFACE.bd_fields["Base_Address"].parts[0][0]


def is_first_instructions(data: bytes) -> bool:
    """Whether a file begins with the prolog."""
    if len(data) < _PROLOG.size:
        return False
    words = _PROLOG.unpack_from(data)
    return words[0] == _WORDS and all(words[n] == _MARK for n in _MARKED)


def read_first_instructions(data: bytes, name: str) -> list[Operation]:
    """The operations of a file of instructions.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.

    Raises:
        InputFileError: an operation that mlir-aie never wrote, or a file that ends too early; names the byte.
    """
    file, at, found = ByteReader(data, name), _PROLOG.size, list[Operation]()
    while at < len(data):
        code = file.unpack(_FIRST, at, "operation")[0] >> 24
        if code not in _LAYOUTS:
            known = ", ".join(map(str, sorted(_LAYOUTS)))
            raise file.error("opcode", at, "opcode", str(code), f"one of {known}", SOURCE)
        words = file.unpack(_LAYOUTS[code], at, "operation")
        found += _operations(file, at, code, words)
        at += _LAYOUTS[code].size
    return found


def _operations(file: ByteReader, at: int, code: int, words: tuple[int, ...]) -> Iterator[Operation]:
    column, row, place = words[0] >> 16 & 0xFF, words[0] >> 8 & 0xFF, file.place(at)
    if code == _WRITE:
        yield Write(address_of(column, row, words[1]), words[2], place=place, firmware=True)
    elif code == _SYNC:
        channel, columns, rows = (words[1] >> bit & 0xFF for bit in (24, 16, 8))
        said = {"column": column, "row": row, "direction": words[0] & 1, "channel": channel}
        details = (*said.items(), ("columns", columns), ("rows", rows))
        yield Other(WAIT, b"", details, place=place, firmware=True)
    else:
        if row != 1:  # here the number of columns
            says = f"a BD is for {row} columns"
            raise file.error("columns", at, "number of columns", str(row), "1", SOURCE, says)
        start = address_of(column, 0, INTERFACE.bd_base + (words[0] & 0xF) * INTERFACE.bd_stride)
        yield BlockWrite(start, words[2:], place=place, firmware=True)
        patch = {"address": start + _BASE * WORD_BYTES, "argument": words[0] >> 4 & 0xF, "offset": words[3]}
        yield Other(PATCH, b"", tuple(patch.items()), place=place, firmware=True)
