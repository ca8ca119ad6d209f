"""Are transactions read as the open driver meant them, and written so that others can read them?"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtile.errors import InputFileError
from memtile.io.program.cdo import read_cdo
from memtile.io.program.program_formats import read_program
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs.firmware import pointer_words
from memtile.runs.operations import (
    ArrayShape,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    address_of,
    locate,
    words_written,
)
from support.formats import transaction_reader
from support.formats.oracle_files import load
from support.formats.transaction_reader import Step

FOLDER = Path(__file__).parents[1] / "oracle" / "txn"
CASES: dict[str, list[list[Any]]] = load("txn_writes")["cases"]
EACH = pytest.mark.parametrize("name", CASES)
DRIVER, MLIR = Header((0, 1), 2, 6, 4, 1), Header((1, 0), 3, 6, 4, 1)


def data_of(name: str) -> bytes:
    return (FOLDER / f"{name}.bin").read_bytes()


def accesses(operations: tuple[Operation, ...]) -> Iterator[tuple[str, int, int, int]]:
    """Words written and polled, as the driver's recorder shows them."""
    for operation in operations:
        if isinstance(operation, MaskPoll):
            yield ("poll", operation.address, operation.value, operation.mask)
        yield from (("write", *word) for word in words_written(operation))


def step_of(operation: Operation) -> Step:
    match operation:
        case Write(address, value):
            return Step("write", address, (value,))
        case BlockWrite(address, words):
            return Step("block", address, words)
        case MaskWrite(address, mask, value):
            return Step("mask", address, (value,), mask)
        case MaskPoll(address, mask, value):
            return Step("poll", address, (value,), mask)
        case Other(_, payload):
            return Step(str(payload[0]), 0, tuple(payload[8:]))
    raise AssertionError(operation)


def cleaned(data: bytes) -> bytes:
    """A transaction of the driver with the bytes that may hold anything set to 0."""
    clean, at = bytearray(data), 16
    clean[6:8] = bytes(2)
    while at < len(data):
        clean[at + 1 : at + 8] = bytes(7)
        size = {0: 24, 3: 32, 4: 32}.get(data[at]) or int.from_bytes(data[at + 12 : at + 16], "little")
        if data[at] in (3, 4):
            clean[at + 28 : at + 32] = bytes(4)
        at += size
    return bytes(clean)


@EACH
def test_a_file_says_what_the_driver_was_asked_to_write(name: str) -> None:
    transaction = read_transaction(data_of(name), name)
    assert transaction.header == DRIVER
    expected = [
        ("poll" if op == "MP" else "write", address, value, mask) for op, address, value, mask in CASES[name]
    ]
    assert list(accesses(transaction.operations)) == expected


@EACH
def test_a_file_is_written_again_byte_by_byte(name: str) -> None:
    transaction = read_transaction(data_of(name), name)
    assert transaction_bytes(transaction) == cleaned(data_of(name))


@EACH
@pytest.mark.parametrize("header", [DRIVER, replace(DRIVER, generation=3), MLIR, replace(MLIR, generation=4)])
def test_another_reader_reads_what_is_written(name: str, header: Header) -> None:
    operations = read_transaction(data_of(name), name).operations
    data = transaction_bytes(Transaction(header, operations))
    assert transaction_reader.steps(data) == [step_of(operation) for operation in operations]
    assert transaction_reader.header(data) == {
        "major": header.version[0],
        "minor": header.version[1],
        "generation": header.generation,
        "rows": 6,
        "columns": 4,
        "memory_rows": 1,
        "count": len(operations),
        "size": len(data),
    }
    assert read_transaction(data) == Transaction(header, operations)


def test_places_name_the_byte() -> None:
    places = [operation.place for operation in read_transaction(data_of("mt_packet_switch"), "f").operations]
    assert places == [f"f, byte {16 + 24 * n:#06x}" for n in range(7)]


def test_version_1_0_word_by_word() -> None:
    words = [
        *(0x06030001, 0x00000104, 9, 16 + 12 + 20 + 16 + 16 + 16 + 4 + 4 + 16 + 48),
        *(0xAB00, 0x021A0000, 5),
        *(1, 0x021A0020, 20, 6, 7),
        *(3, 0x021A0004, 8, 0xFF),
        *(4, 0x021A0008, 9, 0xF0),
        *(7, 0x021A000C, 10, 0x0F),
        5,
        6 | 2 << 8,
        *(0x80, 16, 1 | 2 << 8 | 3 << 16, 4 << 8 | 5 << 16 | 6 << 24),
        *(0x81, 48, 0, 0, 0, 11, 0x0401D004, 0, 2, 0, 4096, 0),
    ]
    words[4] = 0xAB00  # leftovers in the upper bytes of an opcode word
    data = struct.pack(f"<{len(words)}I", *words)
    transaction = read_transaction(data)
    assert transaction.header == MLIR
    *accessed, noop, preempt, wait, patch = transaction.operations
    assert accessed == [
        Write(0x021A0000, 5),
        BlockWrite(0x021A0020, (6, 7)),
        MaskWrite(0x021A0004, 0xFF, 8),
        MaskPoll(0x021A0008, 0xF0, 9),
        MaskPoll(0x021A000C, 0x0F, 10, busy=True),
    ]
    assert [
        (o.name, dict(o.details), o.acts) for o in (noop, preempt, wait, patch) if isinstance(o, Other)
    ] == [
        ("NOOP", {}, False),
        ("PREEMPT", {"level": 2}, False),
        ("TOKEN_WAIT", {"direction": 1, "row": 2, "column": 3, "rows": 4, "columns": 5, "channel": 6}, True),
        ("DDR_PATCH", {"action": 11, "address": 0x0401D004, "argument": 2, "offset": 4096}, True),
    ]
    words[4] = 0
    assert transaction_bytes(transaction) == struct.pack(f"<{len(words)}I", *words)
    text = "".join(f"{word:08X}\n" for word in words).encode()
    assert read_program(text, "insts.txt").operations == transaction.operations


@pytest.mark.parametrize("address", [0x7FFF_FFFC, 0x8000_0000, 0xFFFF_FFFC, 0x1_0000_0000, 0xABCD_1234_5678])
def test_a_pointer_patch_sets_all_48_bits_of_an_address(address: int) -> None:
    """Base_Address has 30 bits in word 1 and 16 in word 2; nothing else changes in them."""
    words = [0xFFFF_FFFF] * 8
    for word in pointer_words(0x0401D0A4, address):
        index = (word.address - 0x0401D0A0) // 4
        words[index] = words[index] & ~word.mask | word.value
        assert word.value & ~word.mask == 0
    others = [0xFFFF_FFFF] * 8
    others[1:3] = [address & 0xFFFF_FFFC | 3, 0xFFFF_0000 | address >> 32]
    assert words == others


@pytest.mark.parametrize(
    ("words", "name", "details"),
    [
        ([8 | 7 << 16, 64, 0x1000, 1], "LOADPDI", {"id": 7, "bytes": 64, "address": 1 << 32 | 0x1000}),
        ([9, 3], "LOAD_PM_START", {"id": 3}),
        ([10 | 1 << 8, 512, 8, 0], "CREATE_SCRATCHPAD", {"usage": 1, "bytes": 512, "offset": 8}),
        ([11 | 2 << 8 | 1 << 16, 5], "UPDATE_STATE_TABLE", {"index": 2, "function": 1, "argument": 5}),
        ([12, 5, 64], "UPDATE_REG", {"index": 0, "function": 0, "argument": 5, "address": 64}),
        ([13], "UPDATE_SCRATCH", {}),
        ([0x81, 24, 0x0401D004, 2, 64, 0], "DDR_PATCH", {"address": 0x0401D004, "argument": 2, "offset": 64}),
        ([0x83, 12, 1], "RECORD_TIMER", {}),
        ([0xC8, 8], "CUSTOM_200", {}),
    ],
)
def test_operations_of_mlir_aie_have_their_sizes(
    words: list[int], name: str, details: dict[str, int]
) -> None:
    size = 16 + 4 * len(words) + 4
    data = struct.pack(f"<{len(words) + 5}I", 0x06030001, 0x104, 2, size, *words, 5)
    transaction = read_transaction(data)
    other, noop = transaction.operations
    assert isinstance(other, Other)
    assert isinstance(noop, Other)
    assert (other.name, dict(other.details), noop.name) == (name, details, "NOOP")
    assert transaction_bytes(transaction) == data


def test_the_driver_does_not_know_the_names_of_mlir_aie() -> None:
    body = struct.pack("<4I", 0x80, 16, 1, 0)
    (of_driver,) = read_transaction(struct.pack("<4I", 0x06020100, 0x104, 1, 32) + body).operations
    (of_mlir,) = read_transaction(struct.pack("<4I", 0x06030100, 0x104, 1, 32) + body).operations
    assert isinstance(of_driver, Other)
    assert isinstance(of_mlir, Other)
    assert (of_driver.name, of_driver.details) == ("CUSTOM_128", ())
    assert of_mlir.name == "TOKEN_WAIT"


def test_operations_that_do_nothing_are_left_out_where_the_version_has_them_not() -> None:
    words = [0x111, 3 << 16 | 0x111, 0, 0x1C0000, 7, 1 << 16 | 0x111, 5, 2 << 16 | 0x103, 0x021A0000, 9]
    head = [4, 0x004F4443, 0x200, len(words)]
    nops = read_cdo(struct.pack(f"<{5 + len(words)}I", *head, ~sum(head) & 0xFFFFFFFF, *words))
    assert [type(operation).__name__ for operation in nops] == ["Other", "Other", "Other", "Write"]
    for header in (DRIVER, MLIR):
        data = transaction_bytes(Transaction(header, nops))
        assert read_transaction(data) == Transaction(header, (Write(0x021A0000, 9),))
    body = struct.pack("<8I", 5, 6 | 2 << 8, 0x83, 12, 1, 0, 0x021A0000, 9)
    mlir = read_transaction(struct.pack("<4I", 0x06030001, 0x104, 4, 48) + body)
    assert len(mlir.operations) == 4
    again = read_transaction(transaction_bytes(replace(mlir, header=DRIVER)))
    assert again.operations == (Write(0x021A0000, 9),)


@pytest.mark.parametrize(
    ("opcode", "written", "target", "text"),
    [
        (0x80, MLIR, DRIVER, "this version cannot store TOKEN_WAIT; it has the operations of aie-rt"),
        (0x80, DRIVER, MLIR, "this version cannot store CUSTOM_128; it has the operations of mlir-aie"),
        (0xC8, MLIR, DRIVER, ""),
        (0x80, MLIR, replace(DRIVER, generation=3), ""),
    ],
)
def test_custom_operations_keep_their_meaning_or_are_refused(
    opcode: int, written: Header, target: Header, text: str
) -> None:
    read = read_transaction(transaction_bytes(Transaction(written, ())))
    body = struct.pack("<4I", opcode, 16, 1, 1 << 8 | 1 << 16)
    data = transaction_bytes(read)[:8] + struct.pack("<2I", 1, 32) + body
    transaction = replace(read_transaction(data, "f"), header=target)
    if not text:
        assert transaction_bytes(transaction).endswith(body)
        return
    with pytest.raises(InputFileError) as caught:
        transaction_bytes(transaction)
    assert str(caught.value).startswith(f"f, byte 0x0010: {text}")


def test_mask_writes_of_28_bytes_as_mlir_aie_stores_them() -> None:
    body = struct.pack("<2IQ3I", 3, 0, 0x021A0000, 5, 7, 28)
    data = struct.pack("<4I", 0x06030100, 0x104, 1, 16 + 28) + body
    transaction = read_transaction(data)
    assert transaction.operations == (MaskWrite(0x021A0000, 7, 5),)
    assert transaction_bytes(transaction) == data
    by_driver = transaction_bytes(replace(transaction, header=DRIVER))
    assert len(by_driver) == 16 + 32
    assert read_transaction(by_driver).operations == transaction.operations


def test_an_address_is_a_tile_and_an_offset() -> None:
    assert locate(35258432) == (1, 1, 0xA0040)
    assert address_of(1, 1, 0xA0040) == 35258432
    shape = ArrayShape(4, 11, 2)
    kinds = [shape.tile(3, row) for row in range(-1, 12)]
    assert kinds == [None, "interface", "memory", "memory", *["compute"] * 8, None]
    assert shape.tile(4, 0) is None
