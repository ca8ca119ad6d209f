"""Read configuration data objects, version 2 (CDO; AMD's bootgen and mlir-aie).

A header of five words whose sum is all ones, then commands: ``length << 16 | command`` and as many words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.formats.byte_reader import ByteReader
from memtile.io.program.cdo_columns import COMMAND_MASK, LENGTH_SHIFT, LONG, columns_of
from memtile.runs.operation_table import OperationTable, table_of
from memtile.runs.operations import WORD_MAX, BlockWrite, MaskWrite, Operation, Other, Write

SOURCE = "CDO version 2"
IDENTIFICATION = int.from_bytes(b"CDO\0", "little")
HEADER = Struct("<5I")  # words that follow, identification, version, words of commands, checksum
_HEADER_WORDS, _VERSION = 4, 0x200
_WORD = Struct("<I")


class _Command(NamedTuple):
    name: str
    shortest: int  # words
    longest: int | None
    build: Callable[[Sequence[int], int, str], Operation]


def _at(high: int, low: int, base: int) -> int:
    return (high << WORD_BITS | low) - base


_COMMANDS: Mapping[int, _Command] = MappingProxyType(
    {
        0x102: _Command("mask write", 3, 3, lambda w, b, p: MaskWrite(w[0] - b, w[1], w[2], place=p)),
        0x103: _Command("write", 2, 2, lambda w, b, p: Write(w[0] - b, w[1], place=p)),
        0x105: _Command(
            "DMA write", 3, None, lambda w, b, p: BlockWrite(_at(w[0], w[1], b), tuple(w[2:]), place=p)
        ),
        0x107: _Command(
            "mask write 64", 4, 4, lambda w, b, p: MaskWrite(_at(w[0], w[1], b), w[2], w[3], place=p)
        ),
        0x108: _Command("write 64", 3, 3, lambda w, b, p: Write(_at(w[0], w[1], b), w[2], place=p)),
        0x111: _Command(
            "NOP", 0, None, lambda w, _, p: Other("NOP", Struct(f"<{len(w)}I").pack(*w), (), False, place=p)
        ),
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
    found = columns_of(file.data, HEADER.size, base)
    if found is None:
        return ()
    columns, places = found
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
    length, number, start = word >> LENGTH_SHIFT, word & COMMAND_MASK, at + WORD_BYTES
    if length == LONG:
        (length,) = file.unpack(_WORD, start, "length")
        start += WORD_BYTES
    command = _COMMANDS.get(number)
    if command is None:
        known = f"one of {', '.join(f'{known:#05x}' for known in _COMMANDS)}"
        raise file.error("command", at, "command", f"{number:#05x}", known, SOURCE)
    if length < command.shortest or (command.longest is not None and length > command.longest):
        allowed = f"{command.shortest} words" + ("" if command.longest else " or more")
        raise file.error("command_length", at, f"{command.name} length", f"{length} words", allowed, SOURCE)
    file.need(start, length * WORD_BYTES, command.name)
    words = Struct(f"<{length}I").unpack_from(file.data, start)
    return operation_of(file, at, number, words, base), start + length * WORD_BYTES


def operation_of(file: ByteReader, at: int, number: int, words: Sequence[int], base: int) -> Operation:
    """The operation of the command at byte ``at``, of a known number, with as many words as it takes."""
    operation = _COMMANDS[number].build(words, base, file.place(at))
    if isinstance(operation, Write | MaskWrite | BlockWrite) and operation.address < 0:
        given = hex(operation.address + base)
        raise file.error("address", at, "address", given, f"{base:#x} or more", "the base address given")
    return operation
