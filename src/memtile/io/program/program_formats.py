"""Any file of register accesses as a program; which format it is, unless said, is found out by looking.

Transactions may also be text, a word of eight hexadecimal digits a line, as mlir-aie prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from types import MappingProxyType
from typing import Literal

from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.binary_files import ByteReader
from memtile.io.json_text import parse_json
from memtile.io.program.cdo import IDENTIFICATION, read_cdo
from memtile.io.program.containers.contents import ContainerBuffer, Contents
from memtile.io.program.containers.control_elf import read_control_elf
from memtile.io.program.containers.elf import MAGIC as ELF
from memtile.io.program.containers.pdi import MAGIC as PDI
from memtile.io.program.containers.pdi import pdi_contents
from memtile.io.program.containers.xclbin import MAGIC as XCLBIN
from memtile.io.program.containers.xclbin import read_xclbin
from memtile.io.program.control_text import looks_like_control_text, read_control_text
from memtile.io.program.first_instructions import is_first_instructions, read_first_instructions
from memtile.io.program.foreign_files import foreign, unknown_bytes
from memtile.io.program.register_dump import looks_like_dump, read_json, read_text
from memtile.io.program.transaction import read_transaction
from memtile.io.program.transaction_format import GENERATIONS, LAYOUTS, SOURCE, Header
from memtile.runs.operations import ArrayShape, Operation

Format = Literal["txn", "cdo", "dump", "asm", "xclbin", "pdi", "elf"]
_HEX_WORD = re.compile(rb"[0-9a-fA-F]{8}")
_IDENTIFICATION = Struct("<4xI")


@dataclass(frozen=True, slots=True)
class StoredProgram:
    """The contents of a program file.

    Attributes:
        name: of the file.
        format: ``txn``, ``cdo``, ``dump``, ``asm``, ``xclbin``, ``pdi`` or ``elf``.
        title: the format in words, with what the header says.
        operations: in order.
        shape: of the array, where the file says it.
        generation: of the array, as the header of a transaction numbers it; 0 = not said.
        notes: parts of a container left out, with the reason, a line each.
        buffers: contents that a container brings for kernel arguments.
        kernels: names and numbers of what was taken from a container.
    """

    name: str
    format: Format
    title: str
    operations: Sequence[Operation]
    shape: ArrayShape | None = None
    generation: int = 0
    notes: tuple[str, ...] = ()
    buffers: tuple[ContainerBuffer, ...] = ()
    kernels: tuple[str, ...] = ()


Program = StoredProgram
"""The name that :class:`StoredProgram` had before; it goes with the next release."""


def read_program(
    data: bytes, name: str, format: Format | None = None, base: int = 0, kernel: str | None = None
) -> StoredProgram:
    """The program in ``data``.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.
        format: of the file; None = find out.
        base: address of the array in a CDO file.
        kernel: which program of a container with several: a name, or a kernel id.

    Raises:
        InputFileError: it is not a file of that format, or has several programs and ``kernel`` is none.
    """
    if format is None and (problem := foreign(data, name)) is not None:
        raise InputFileError(problem)
    found = format or _format_of(data, name)
    if found in _CONTAINERS:
        contents = _CONTAINERS[found](data, name, kernel, base)
        header = contents.header
        shape, generation = (header.shape, header.generation) if header else (None, 0)
        parts = contents.notes, contents.buffers, contents.kernels
        return StoredProgram(name, found, contents.title, contents.operations, shape, generation, *parts)
    return _READERS[found](data, name, base)


def _format_of(data: bytes, name: str) -> Format:
    if len(data) >= _IDENTIFICATION.size and _IDENTIFICATION.unpack_from(data) == (IDENTIFICATION,):
        return "cdo"
    for magic, found in _MAGIC.items():
        if data.startswith(magic):
            return found
    if tuple(data[:2]) in LAYOUTS or is_first_instructions(data) or _is_hex_words(data):
        return "txn"
    if not data or b"\0" in data or not _is_text(data):
        raise InputFileError(unknown_bytes(data, name))
    if looks_like_control_text(data.decode("utf-8-sig")):
        return "asm"
    if not looks_like_dump(data.decode("utf-8-sig")):
        raise InputFileError.of(
            "format",
            "text",
            "a transaction, a CDO file or a register dump",
            "the file is text, but not of registers; it must be a transaction, a CDO file or a register dump",
            "Say --format dump to see each line that is none.",
            reason="format",
            where=name,
            source="their headers; a register dump begins with an address and a value",
        )
    return "dump"


def _is_hex_words(data: bytes) -> bool:
    """Whether all is words without prefix, or a word is alone in the first line, which no dump has."""
    words, first = data.split(), data.strip().partition(b"\n")[0].rstrip()
    return bool(words) and (all(map(_HEX_WORD.fullmatch, words)) or bool(_HEX_WORD.fullmatch(first)))


def _hex_words(data: bytes, name: str) -> bytes:
    """The bytes of lines of words; raises :class:`InputFileError` with all wrong lines."""
    problems: list[Problem] = []
    words: list[int] = []
    for number, line in enumerate(data.splitlines(), 1):
        given = line.split()
        if all(map(_HEX_WORD.fullmatch, given)):
            words += [int(word, 16) for word in given]
        else:
            problems.append(
                Problem(
                    "word",
                    repr(line.strip().decode("ascii", "backslashreplace")),
                    "eight hexadecimal digits",
                    reason="word",
                    where=f"{name}, line {number}",
                    source=SOURCE,
                )
            )
    raise_if(problems, InputFileError)
    return Struct(f"<{len(words)}I").pack(*words)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return True


def _transaction(data: bytes, name: str, _base: int) -> StoredProgram:
    data = _hex_words(data, name) if _is_hex_words(data) else data
    if is_first_instructions(data):
        return StoredProgram(name, "txn", "instructions of 2023", read_first_instructions(data, name))
    read = read_transaction(data, name)
    title, header = _title(read.header), read.header
    return StoredProgram(name, "txn", title, read.operations, header.shape, header.generation)


def _title(header: Header) -> str:
    major, minor = header.version
    generation = GENERATIONS.get(header.generation, "unknown")
    return (
        f"transaction {major}.{minor}, generation {header.generation} ({generation}), "
        f"{header.columns} columns, {header.rows} rows, {header.memory_tile_rows} of them memory tiles"
    )


def _cdo(data: bytes, name: str, base: int) -> StoredProgram:
    return StoredProgram(name, "cdo", "CDO version 2", read_cdo(data, name, base))


def _dump(data: bytes, name: str, _base: int) -> StoredProgram:
    text = _text(data, name)
    if text.lstrip()[:1] in ("[", "{"):
        return StoredProgram(name, "dump", "register dump, JSON", read_json(parse_json(text, name), name))
    return StoredProgram(name, "dump", "register dump, text", read_text(text, name))


def _control_text(data: bytes, name: str, _base: int) -> StoredProgram:
    return StoredProgram(name, "asm", "control code, text", read_control_text(_text(data, name), name))


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputFileError(f"{name}: byte {error.start} is not UTF-8 text.") from None


def _pdi(data: bytes, name: str, _kernel: str | None, base: int) -> Contents:
    operations, notes = pdi_contents(ByteReader(data, name, whole="PDI"), base)
    return Contents("PDI with a CDO", operations, notes=notes)


_READERS: Mapping[str, Callable[[bytes, str, int], StoredProgram]] = MappingProxyType(
    {"txn": _transaction, "cdo": _cdo, "dump": _dump, "asm": _control_text}
)
_CONTAINERS: Mapping[str, Callable[[bytes, str, str | None, int], Contents]] = MappingProxyType(
    {"xclbin": read_xclbin, "pdi": _pdi, "elf": read_control_elf}
)
_MAGIC: Mapping[bytes, Format] = MappingProxyType({XCLBIN: "xclbin", PDI: "pdi", ELF: "elf"})
