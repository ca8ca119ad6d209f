"""Write serialised transactions, versions 0.1 and 1.0; unused bytes are 0.

Operations that were read have their bytes. Those that a host sequence makes have named numbers only, and are
packed from them. The operations that a load brings stay in its PDI: a transaction has the load alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from struct import Struct

from memtile.arch.address_map import HOST_APERTURE, TRANSLATED_ARGUMENTS
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.program.transaction import Transaction, stands_for
from memtile.io.program.transaction_format import (
    BLOCK_WRITE,
    CUSTOM,
    FIRST_CUSTOM,
    HEADER,
    LAYOUTS,
    MASK_POLL,
    MASK_POLL_BUSY,
    MASK_WRITE,
    SOURCE,
    WRITE,
    AccessLayout,
    Header,
    kind_called,
)
from memtile.runs.firmware import LOAD, PATCH, PROGRAM, following
from memtile.runs.operations import WORD_MAX, BlockWrite, MaskPoll, MaskWrite, Operation, Other, Write


def transaction_bytes(transaction: Transaction) -> bytes:
    """The transaction as a file.

    Operations that do nothing are left out where the version does not have them, and so is what a PDI does
    behind the load that brings it: whoever runs the transaction must have the PDI.

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
