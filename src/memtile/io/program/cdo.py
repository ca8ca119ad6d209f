"""Read configuration data objects, version 2 (CDO; AMD's bootgen and mlir-aie).

A header of five words whose sum is all ones, then commands: ``length << 16 | command`` and as many words. The
commands of a file that has nothing unusual are read in columns, all at once; others one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.binary_files import ByteReader, Ints, Records, Words, starts_of, words_of
from memtile.runs.operation_table import Code, Columns, OperationTable, table_of
from memtile.runs.operations import WORD_MAX, BlockWrite, MaskWrite, Operation, Other, Write

SOURCE = "CDO version 2"
IDENTIFICATION = int.from_bytes(b"CDO\0", "little")
HEADER = Struct("<5I")  # words that follow, identification, version, words of commands, checksum
_HEADER_WORDS, _VERSION = 4, 0x200
_WORD = Struct("<I")
_LENGTH_SHIFT, _COMMAND_MASK = 16, 0xFFFF
_LONG = 255  # the length is in the next word
_HIGHEST = 1 << WORD_BITS - 2  # upper halves of addresses from here on are none


class _Command(NamedTuple):
    """A command: what it is, and how many of its words are an address, a mask and a value, in this order."""

    name: str
    code: Code
    address: int = 0
    mask: int = 0
    value: int = 0

    @property
    def words(self) -> int:
        """How many words it has, before those of a block."""
        return self.address + self.mask + self.value

    @property
    def shortest(self) -> int:
        """Words that it has at least."""
        return self.words + (self.code is Code.BLOCK_WRITE)

    @property
    def longest(self) -> int | None:
        """Words that it has at most; None = any number."""
        return None if self.code in (Code.BLOCK_WRITE, Code.OTHER) else self.words

    def fits(self, length: int) -> bool:
        """Whether it may have so many words."""
        return length >= self.shortest and (self.longest is None or length <= self.longest)

    def operation(self, words: Sequence[int], base: int, place: str) -> Operation:
        """The operation of its words."""
        if self.code is Code.OTHER:
            return Other(self.name, Struct(f"<{len(words)}I").pack(*words), (), False, place=place)
        high, low = (0, words[0]) if self.address == 1 else words[:2]
        address, rest = (high << WORD_BITS | low) - base, words[self.address :]
        if self.code is Code.BLOCK_WRITE:
            return BlockWrite(address, tuple(rest), place=place)
        if self.code is Code.WRITE:
            return Write(address, rest[0], place=place)
        return MaskWrite(address, rest[0], rest[1], place=place)


_COMMANDS: Mapping[int, _Command] = MappingProxyType(
    {
        0x102: _Command("mask write", Code.MASK_WRITE, 1, 1, 1),
        0x103: _Command("write", Code.WRITE, 1, 0, 1),
        0x105: _Command("DMA write", Code.BLOCK_WRITE, 2),
        0x107: _Command("mask write 64", Code.MASK_WRITE, 2, 1, 1),
        0x108: _Command("write 64", Code.WRITE, 2, 0, 1),
        0x111: _Command("NOP", Code.OTHER),
    }
)


def read_cdo(data: bytes, name: str = "CDO", base: int = 0) -> Sequence[Operation]:
    """The operations of a CDO file.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.
        base: address of the array in the file's address space; operations count from there.

    Raises:
        InputFileError: a wrong header or checksum, an unknown command, a wrong length, or a file that ends
            too early; names the byte offset.
    """
    return cdo_operations(ByteReader(data, name), base)


def cdo_operations(file: ByteReader, base: int = 0) -> Sequence[Operation]:
    """The operations of a CDO that is a file or a part of one; see :func:`read_cdo`."""
    length, problems = header_of(file)
    body = len(file.data) - HEADER.size
    if length * WORD_BYTES != body:
        problems.append(_wrong_length(file, length, body))
    raise_if(problems, InputFileError)
    return _in_columns(file, base) or _one_by_one(file, base)


def _in_columns(file: ByteReader, base: int) -> Sequence[Operation]:
    """All operations; none where one of them is unusual, and to be read on its own."""
    words = words_of(file.data, HEADER.size)
    starts = None if words is None else starts_of(words, _RECORDS)
    columns = None if words is None or starts is None else _columns(words, starts, base)
    if columns is None or starts is None:
        return ()
    places = HEADER.size + WORD_BYTES * starts
    return OperationTable(columns, lambda n: _read_command(file, int(places[n]), base)[0])


def _one_by_one(file: ByteReader, base: int) -> Sequence[Operation]:
    operations: list[Operation] = []
    at = HEADER.size
    while at < len(file.data):
        operation, at = _read_command(file, at, base)
        operations.append(operation)
    return table_of(operations)


def header_of(file: ByteReader) -> tuple[int, list[Problem]]:
    """How many words of commands the header of a CDO counts after it, and what is wrong with it else."""
    words = file.unpack(HEADER, 0, "header")
    following, identification, version, length, checksum = words
    expected = ~sum(words[:-1]) & WORD_MAX
    checks = (
        ("header_length", 0, following, _HEADER_WORDS),
        ("identification", 4, identification, IDENTIFICATION),
        ("version", 8, version, _VERSION),
        ("checksum", 16, checksum, expected),
    )
    problems = [
        file.problem(reason, at, reason.replace("_", " "), f"{given:#x}", f"{allowed:#x}", SOURCE)
        for reason, at, given, allowed in checks
        if given != allowed
    ]
    return length, problems


def _wrong_length(file: ByteReader, length: int, body: int) -> Problem:
    says = f"the header counts {length * WORD_BYTES} bytes after it, the {file.whole} has {body}"
    given, allowed = f"{length} words", f"{body} bytes, as the {file.whole} has"
    return file.problem("length", 12, "length", given, allowed, SOURCE, says)


def _read_command(file: ByteReader, at: int, base: int) -> tuple[Operation, int]:
    """The operation at byte ``at`` and where the next one begins."""
    (word,) = file.unpack(_WORD, at, "command")
    length, number, start = word >> _LENGTH_SHIFT, word & _COMMAND_MASK, at + WORD_BYTES
    if length == _LONG:
        (length,) = file.unpack(_WORD, start, "length")
        start += WORD_BYTES
    command = _COMMANDS.get(number)
    if command is None:
        known = f"one of {', '.join(f'{known:#05x}' for known in _COMMANDS)}"
        raise file.error("command", at, "command", f"{number:#05x}", known, SOURCE)
    if not command.fits(length):
        allowed = f"{command.shortest} words" + ("" if command.longest else " or more")
        raise file.error("command_length", at, f"{command.name} length", f"{length} words", allowed, SOURCE)
    file.need(start, length * WORD_BYTES, command.name)
    words = Struct(f"<{length}I").unpack_from(file.data, start)
    return operation_of(file, at, number, words, base), start + length * WORD_BYTES


def operation_of(file: ByteReader, at: int, number: int, words: Sequence[int], base: int) -> Operation:
    """The operation of the command at byte ``at``, of a known number, with as many words as it takes."""
    operation = _COMMANDS[number].operation(words, base, file.place(at))
    if isinstance(operation, Write | MaskWrite | BlockWrite) and operation.address < 0:
        given = hex(operation.address + base)
        raise file.error("address", at, "address", given, f"{base:#x} or more", "the base address given")
    return operation


def _width(view: Any, at: int) -> int:
    """Words of the command at a word; 0 = an unusual one."""
    word, left = view[at], len(view) - at
    length, head = word >> _LENGTH_SHIFT, 1
    if length == _LONG:
        length, head = (view[at + 1] if left > 1 else left), 2
    known = _COMMANDS.get(word & _COMMAND_MASK)
    return head + length if known is not None and known.fits(length) and head + length <= left else 0


def _alike(first: Words, rows: Words) -> npt.NDArray[np.bool_]:
    same: npt.NDArray[np.bool_] = rows[:, 0] == first[0]
    return same & (rows[:, 1] == first[1]) if first[0] >> _LENGTH_SHIFT == _LONG else same


_RECORDS = Records(
    mask=WORD_MAX,
    widths={
        command.words << _LENGTH_SHIFT | number: 1 + command.words
        for number, command in _COMMANDS.items()
        if command.longest is not None
    },
    width_of=_width,
    alike=_alike,
)


def _columns(words: Words, starts: Ints, base: int) -> Columns | None:
    """Columns of the commands that begin at some words; None if an address is an unusual one."""
    first = words[starts]
    heads = np.where(first >> _LENGTH_SHIFT == _LONG, 2, 1)
    code, address, value, mask = (np.zeros(len(starts), np.int64) for _ in range(4))
    for number, command in _COMMANDS.items():
        if command.code is Code.OTHER:
            continue
        here = np.flatnonzero(first & _COMMAND_MASK == number)
        at = starts[here] + heads[here]
        code[here] = command.code
        high = words[at].astype(np.int64) if command.address > 1 else np.zeros(len(at), np.int64)
        address[here] = (high << WORD_BITS | words[at + command.address - 1]) - base
        if (high >= _HIGHEST).any() or (address[here] < 0).any():
            return None
        mask[here] = words[at + command.address] if command.mask else WORD_MAX
        if command.value:
            value[here] = words[at + command.words - 1]
        if command.code is Code.BLOCK_WRITE:
            value[here] = at + command.words
            ends = np.append(starts, len(words))[here + 1]
            mask[here] = ends - value[here]
    return Columns(code, address, value, mask, np.zeros(len(starts), np.bool_), words)
