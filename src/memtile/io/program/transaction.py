"""Read serialised transactions (see :mod:`memtile.io.program.transaction_format`).

Only byte 0 of an operation word is its opcode: the driver leaves bits of the address in the others. Padding
may hold anything. Nothing of a file is returned unless all of it makes sense. The register accesses of a file
that has nothing unusual are read in columns, all at once; others one after another.

Write serialised transactions, versions 0.1 and 1.0; unused bytes are 0.

Operations that were read have their bytes. Those that a host sequence makes have named numbers only, and are
packed from them. The operations that a load brings stay in its PDI: a transaction has the load alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import HOST_APERTURE, TRANSLATED_ARGUMENTS
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.binary_files import ByteReader, Ints, Records, Words, starts_of, words_of
from memtile.io.program.transaction_format import (
    BLOCK_WRITE,
    CUSTOM,
    CUSTOMS,
    FIRST_CUSTOM,
    FIXED,
    HEADER,
    LAYOUTS,
    MASK_POLL,
    MASK_POLL_BUSY,
    MASK_WRITE,
    SOURCE,
    WRITE,
    AccessLayout,
    Header,
    OperationKind,
    kind_called,
)
from memtile.runs.firmware import LOAD, PATCH, PROGRAM, following
from memtile.runs.operation_table import Code, Columns, OperationTable, table_of
from memtile.runs.operations import WORD_MAX, BlockWrite, MaskPoll, MaskWrite, Operation, Other, Write

_OPCODE = Struct("<B")
_OPCODE_BITS = 0xFF  # of the first word of an operation
_CODES = {WRITE: Code.WRITE, MASK_WRITE: Code.MASK_WRITE, MASK_POLL: Code.MASK_POLL}


@dataclass(frozen=True, slots=True)
class Transaction:
    """A header and the operations under it."""

    header: Header
    operations: Sequence[Operation]


def read_transaction(data: bytes, name: str = "transaction") -> Transaction:
    """The transaction in ``data``.

    Args:
        data: all bytes of the file.
        name: of the file, for messages.

    Raises:
        InputFileError: an unknown version or opcode, a wrong size or count, or a file that ends too early;
            names the byte offset.
    """
    return transaction_of(ByteReader(data, name))


def transaction_of(file: ByteReader) -> Transaction:
    """The transaction that is a file or a part of one; see :func:`read_transaction`."""
    header, count = _read_header(file)
    operations = _in_columns(file, header) or _one_by_one(file, header)
    if len(operations) != count:
        says = f"the header says {count} operations, the {file.whole} has {len(operations)}"
        allowed = f"{len(operations)}, as counted"
        raise file.error("count", 8, "operation count", str(count), allowed, SOURCE, says)
    return Transaction(header, operations)


def _in_columns(file: ByteReader, header: Header) -> Sequence[Operation]:
    """All operations; none where one of them is unusual, and to be read on its own."""
    reader = _Operations(file, header)

    def width(at: int) -> int:
        try:
            return reader.read(at)[1]
        except InputFileError:
            return 0

    words, layout = words_of(file.data, HEADER.size), LAYOUTS[header.version]
    if words is None:
        return ()
    known = set(_CODES) | {BLOCK_WRITE} | (set() if header.by_driver else {MASK_POLL_BUSY})
    unusual = partial(_width, layout, known, width)
    starts = starts_of(
        words, Records(_OPCODE_BITS, _widths(layout, known), unusual, partial(_alike, layout, known))
    )
    if starts is None or not _sizes_are_right(words, starts, layout):
        return ()
    columns = _columns(words, starts, layout, known)
    if columns is None:
        return ()
    places = HEADER.size + WORD_BYTES * starts
    return OperationTable(columns, lambda n: replace(reader.read(int(places[n]))[0], firmware=True))


def _one_by_one(file: ByteReader, header: Header) -> Sequence[Operation]:
    operations: list[Operation] = []
    at, reader = HEADER.size, _Operations(file, header)
    while at < len(file.data):
        operation, size = reader.read(at)
        operations.append(replace(operation, firmware=True))
        at += size
    return table_of(operations)


def _read_header(file: ByteReader) -> tuple[Header, int]:
    major, minor, generation, rows, columns, memory_rows, count, size = file.unpack(HEADER, 0, "header")
    problems: list[Problem] = []
    if (major, minor) not in LAYOUTS:
        known = " or ".join(f"{major}.{minor}" for major, minor in LAYOUTS)
        problems.append(file.problem("version", 0, "version", f"{major}.{minor}", known, SOURCE))
    if size != len(file.data):
        says = f"the header says a total size of {size} bytes, the {file.whole} has {len(file.data)}"
        allowed = f"{len(file.data)}, the length of the {file.whole}"
        problems.append(file.problem("size", 12, "total size", f"{size} bytes", allowed, SOURCE, says))
    raise_if(problems, InputFileError)
    return Header((major, minor), generation, rows, columns, memory_rows), count


def stands_for(operation: Other, header: Header) -> bool:
    """Whether the bytes of ``operation`` are that operation in a transaction with this header too."""
    try:
        found, size = _Operations(ByteReader(operation.payload, operation.name), header).read(0)
    except InputFileError:
        return False
    return isinstance(found, Other) and (found.name, size) == (operation.name, len(operation.payload))


class _Operations:
    """Reads the operations under one header."""

    def __init__(self, file: ByteReader, header: Header) -> None:
        self._file, self._header, self._layout = file, header, LAYOUTS[header.version]

    def read(self, at: int) -> tuple[Operation, int]:
        """The operation at byte ``at`` and its size in bytes."""
        (opcode,) = self._file.unpack(_OPCODE, at, "opcode")
        if opcode == WRITE:
            return self._write(at)
        if opcode == BLOCK_WRITE:
            return self._block(at)
        if opcode in (MASK_WRITE, MASK_POLL):
            return self._masked(at, opcode)
        if opcode >= FIRST_CUSTOM:
            return self._custom(at, opcode)
        if not self._header.by_driver and opcode == MASK_POLL_BUSY:
            return self._masked(at, opcode)
        if not self._header.by_driver and opcode in FIXED:
            kind = FIXED[opcode]
            return self._other(at, kind, kind.layout.size)
        raise self._unknown(at, opcode)

    def _write(self, at: int) -> tuple[Operation, int]:
        layout = self._layout.write
        _, address, value, *size = self._file.unpack(layout, at, "write")
        self._check_size(at, size, (layout.size,), "write")
        return Write(address, value, place=self._file.place(at)), layout.size

    def _masked(self, at: int, opcode: int) -> tuple[Operation, int]:
        layout, allowed = self._layout.masked, self._layout.masked_sizes
        what = "mask write" if opcode == MASK_WRITE else "mask poll"
        _, address, value, mask, *given = self._file.unpack(layout, at, what)
        size = self._check_size(at, given, allowed, what) or layout.size
        place = self._file.place(at)
        if opcode == MASK_WRITE:
            return MaskWrite(address, mask, value, place=place), size
        return MaskPoll(address, mask, value, opcode == MASK_POLL_BUSY, place=place), size

    def _block(self, at: int) -> tuple[Operation, int]:
        layout = self._layout.block
        _, address, size = self._file.unpack(layout, at, "block write")
        words, rest = divmod(size - layout.size, WORD_BYTES)
        if words < 1 or rest:
            allowed = f"{layout.size} bytes and {WORD_BYTES} more for each word"
            raise self._file.error("operation_size", at, "block write size", f"{size} bytes", allowed, SOURCE)
        self._file.need(at, size, "block write")
        data = Struct(f"<{words}I").unpack_from(self._file.data, at + layout.size)
        return BlockWrite(address, data, place=self._file.place(at)), size

    def _custom(self, at: int, opcode: int) -> tuple[Operation, int]:
        _, size = self._file.unpack(CUSTOM, at, "custom operation")
        if size < CUSTOM.size:
            allowed = f"at least {CUSTOM.size}"
            raise self._file.error("operation_size", at, "custom size", f"{size} bytes", allowed, SOURCE)
        named = () if self._header.by_driver else CUSTOMS.get(opcode, ())
        exact = [kind for kind in named if kind.layout.size == size]
        known = named[0] if named else OperationKind(f"CUSTOM_{opcode}", _OPCODE)
        unnamed = known._replace(layout=_OPCODE, fields=())
        return self._other(at, exact[0] if exact else unnamed, size)

    def _other(self, at: int, kind: OperationKind, size: int) -> tuple[Operation, int]:
        self._file.need(at, size, kind.name)
        _, *numbers = self._file.unpack(kind.layout, at, kind.name)
        details = tuple(zip(kind.fields, numbers, strict=False))
        payload = self._file.data[at : at + size]
        return Other(kind.name, payload, details, kind.acts, place=self._file.place(at)), size

    def _check_size(self, at: int, given: list[int], allowed: tuple[int, ...], what: str) -> int:
        """The size that an operation says; 0 where the version stores none."""
        if not given:
            return 0
        if given[0] not in allowed:
            sizes = " or ".join(map(str, allowed))
            raise self._file.error(
                "operation_size", at, f"{what} size", f"{given[0]} bytes", f"{sizes} bytes", SOURCE
            )
        self._file.need(at, given[0], what)
        return given[0]

    def _unknown(self, at: int, opcode: int) -> InputFileError:
        driver = self._header.by_driver
        known = {WRITE, BLOCK_WRITE, MASK_WRITE, MASK_POLL, *(() if driver else {MASK_POLL_BUSY, *FIXED})}
        allowed = f"one of {', '.join(map(str, sorted(known)))}, or at least {FIRST_CUSTOM}"
        numbering = "aie-rt's numbering" if driver else "mlir-aie's numbering"
        return self._file.error("opcode", at, "opcode", str(opcode), allowed, f"{SOURCE}, {numbering}")


def _widths(layout: AccessLayout, known: set[int]) -> dict[int, int]:
    """Words of the operations that always have as many; their sizes are looked at later, all at once."""
    widths = {WRITE: layout.write.size // WORD_BYTES}
    if not layout.sized:
        widths |= dict.fromkeys(known - {WRITE, BLOCK_WRITE}, layout.masked.size // WORD_BYTES)
    return widths


def _sizes_are_right(words: Words, starts: Ints, layout: AccessLayout) -> bool:
    """Whether writes that say their size say the right one."""
    writes = starts[words[starts] & _OPCODE_BITS == WRITE] if layout.sized else starts[:0]
    size = layout.write.size
    return bool((words[writes + size // WORD_BYTES - 1] == size).all())


def _width(layout: AccessLayout, known: set[int], other: Callable[[int], int], view: Any, at: int) -> int:
    """Words of a block, of a masked operation that says how many, or of what is no register access."""
    opcode, left = view[at] & _OPCODE_BITS, len(view) - at
    if opcode not in known:
        size = other(HEADER.size + at * WORD_BYTES)
        return 0 if size % WORD_BYTES else size // WORD_BYTES
    least = (layout.block if opcode == BLOCK_WRITE else layout.masked).size // WORD_BYTES
    size = view[at + least - 1] if left >= least else 0
    fits = size > layout.block.size if opcode == BLOCK_WRITE else size in layout.masked_sizes
    return size // WORD_BYTES if fits and size % WORD_BYTES == 0 and size // WORD_BYTES <= left else 0


def _alike(layout: AccessLayout, known: set[int], first: Words, rows: Words) -> npt.NDArray[np.bool_]:
    opcode = int(first[0]) & _OPCODE_BITS
    same: npt.NDArray[np.bool_] = rows[:, 0] & _OPCODE_BITS == opcode
    if opcode not in known:
        return np.zeros(len(rows), np.bool_)
    if opcode == BLOCK_WRITE:
        size = layout.block.size // WORD_BYTES - 1
    elif layout.sized and opcode == WRITE:
        size = layout.write.size // WORD_BYTES - 1
    elif layout.sized:
        size = layout.masked.size // WORD_BYTES - 1
    else:
        return same
    same &= rows[:, size] == first[size]
    return same


def _columns(words: Words, starts: Ints, layout: AccessLayout, known: set[int]) -> Columns | None:
    opcodes = words[starts] & _OPCODE_BITS
    code, address, value, mask = (np.zeros(len(starts), np.int64) for _ in range(4))
    wide = layout.sized  # addresses of writes and masked operations have two words
    for opcode in known:
        here = np.flatnonzero(opcodes == opcode)
        at = starts[here]
        if opcode == BLOCK_WRITE:
            head = layout.block.size // WORD_BYTES
            code[here], address[here] = Code.BLOCK_WRITE, words[at + head - 2]
            value[here], mask[here] = at + head, words[at + head - 1] // WORD_BYTES - head
            continue
        code[here] = _CODES.get(opcode, Code.MASK_POLL)
        first = 2 if wide else 1
        address[here] = words[at + first]
        if wide:
            high = words[at + first + 1].astype(np.int64)
            if (high >> WORD_BITS - 2).any():
                return None
            address[here] |= high << WORD_BITS
        value[here] = words[at + first + 1 + wide]
        mask[here] = WORD_MAX if opcode == WRITE else words[at + first + 2 + wide]
    return Columns(code, address, value, mask, np.ones(len(starts), np.bool_), words)


def transaction_bytes(transaction: Transaction) -> bytes:
    """The transaction as a file.

    Operations that do nothing are left out where the version does not have them, and so is what a PDI does
    behind the load that brings it: running the transaction needs the PDI.

    Raises:
        InputFileError: an operation that the version cannot store; all of them at once.
    """
    header = transaction.header
    if header.version not in LAYOUTS:
        raise InputFileError.of(
            "version",
            ".".join(map(str, header.version)),
            " or ".join(f"{major}.{minor}" for major, minor in LAYOUTS),
            reason="version",
            where="transaction",
            source=SOURCE,
        )
    operations = list(_own(transaction.operations, header.version))
    problems = [problem for number, op in enumerate(operations) if (problem := _problem(header, number, op))]
    raise_if(problems, InputFileError)
    stored = [op for op in operations if not isinstance(op, Other) or stands_for(op, header)]
    body = b"".join(_bytes(header, operation) for operation in stored)
    shape = (header.rows, header.columns, header.memory_tile_rows)
    counts = (len(stored), HEADER.size + len(body))
    return HEADER.pack(*header.version, header.generation, *shape, *counts) + body


def _own(operations: Sequence[Operation], version: tuple[int, int]) -> Iterator[Operation]:
    """The operations without those of PDIs, all with their bytes."""
    at = 0
    while at < len(operations):
        operation = operations[at]
        at += 1
        if isinstance(operation, Other):
            if operation.name == LOAD:
                at += following(operation)
            if not operation.payload:
                operation = replace(operation, payload=_payload(operation, version))
        yield operation


def _payload(operation: Other, version: tuple[int, int]) -> bytes:
    """The bytes of an operation that says its numbers only; none for one that mlir-aie does not have."""
    known = kind_called(operation.name, version)
    if known is None:
        return b""
    opcode, kind = known
    said = {"id": dict(operation.details).get(PROGRAM, 0), **dict(operation.details)}
    if operation.name == PATCH and said["argument"] >= TRANSLATED_ARGUMENTS:
        said["offset"] += HOST_APERTURE  # firmware adds it to the first arguments only (DEV-TXN-2)
    data = bytearray(kind.layout.pack(opcode, *(said.get(name, 0) for name in kind.fields)))
    if opcode >= FIRST_CUSTOM:
        CUSTOM.pack_into(data, 0, opcode, len(data))
    return bytes(data)


def _problem(header: Header, number: int, operation: Operation) -> Problem | None:
    where = operation.place or f"transaction, operation {number}"
    if isinstance(operation, Write | BlockWrite | MaskWrite | MaskPoll) and operation.address > WORD_MAX:
        return Problem(
            "address",
            hex(operation.address),
            f"0x0..{WORD_MAX:#x}",
            reason="address",
            where=where,
            source=SOURCE,
        )
    if isinstance(operation, BlockWrite) and not operation.words:
        return Problem(
            "block write",
            "0 words",
            "1 or more",
            "the block write has no words; it must have 1 or more",
            reason="operation_size",
            where=where,
            source=SOURCE,
        )
    if header.by_driver and isinstance(operation, MaskPoll) and operation.busy:
        return _foreign(header, where, "MASKPOLL_BUSY")
    if isinstance(operation, Other) and operation.acts and not stands_for(operation, header):
        return _foreign(header, where, operation.name)
    return None


def _foreign(header: Header, where: str, name: str) -> Problem:
    known, step = ("aie-rt", "Choose version 1.0.") if header.by_driver else ("mlir-aie", "")
    return Problem(
        "operation",
        name,
        f"those of {known}",
        f"this version cannot store {name}; it has the operations of {known}",
        step,
        reason="operation",
        where=where,
        source=SOURCE,
    )


def _bytes(header: Header, operation: Operation) -> bytes:
    layout = LAYOUTS[header.version]
    match operation:
        case Write(address, value):
            return _packed(layout, layout.write, layout.write.size, WRITE, address, value)
        case MaskWrite(address, mask, value):
            size = layout.masked_sizes[-1 if header.by_driver else 0]
            return _packed(layout, layout.masked, size, MASK_WRITE, address, value, mask)
        case MaskPoll(address, mask, value, busy):
            opcode = MASK_POLL_BUSY if busy else MASK_POLL
            return _packed(layout, layout.masked, layout.masked_sizes[-1], opcode, address, value, mask)
        case BlockWrite(address, words):
            size = layout.block.size + len(words) * WORD_BYTES
            return layout.block.pack(BLOCK_WRITE, address, size) + Struct(f"<{len(words)}I").pack(*words)
        case Other(_, payload):
            return payload
        case _:
            raise TypeError(f"not an operation: {operation!r}")


def _packed(layout: AccessLayout, shape: Struct, size: int, *numbers: int) -> bytes:
    return shape.pack(*numbers, *((size,) if layout.sized else ())).ljust(size, b"\0")
