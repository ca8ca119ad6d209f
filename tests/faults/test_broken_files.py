"""Does every broken file get an error that names the byte, with nothing of it done?"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtile.errors import InputFileError, SimulationError
from memtile.io.program.cdo import read_cdo
from memtile.io.program.program_formats import StoredProgram, read_program
from memtile.io.program.register_dump import dump_text
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.report.disassembly import disassembly_json, disassembly_lines
from memtile.runs.operations import ArrayShape, BlockWrite, MaskPoll, MaskWrite, Operation, Other, Write
from memtile.runs.register_writes import apply, unanswered

FOLDER = Path(__file__).parents[1] / "oracle" / "txn"
FILES = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.bin"))}
SHAPE = ArrayShape(4, 6, 1)
DRIVER, MLIR = Header((0, 1), 2, 6, 4, 1), Header((1, 0), 3, 6, 4, 1)
SOURCE = "(aie-rt and mlir-aie transaction format)"
OPERATIONS = (
    Write(0x021A0000, 1),
    BlockWrite(0x021A0020, (1, 2, 3)),
    MaskWrite(0x021A0004, 3, 1),
    MaskPoll(0x021A0660, 1, 0),
    Other("CUSTOM_200", struct.pack("<4I", 200, 16, 1, 2)),
)


class Refusing:
    """Takes nothing: whatever reaches it was not checked before."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AssertionError(f"{name} was called")


def message_of(call: Callable[[], object]) -> str:
    with pytest.raises(InputFileError) as caught:
        call()
    return str(caught.value)


def cdo(*body: int) -> bytes:
    head = [4, 0x004F4443, 0x200, len(body)]
    return struct.pack(f"<{5 + len(body)}I", *head, ~sum(head) & 0xFFFF_FFFF, *body)


def boundaries(data: bytes) -> set[int]:
    places = [operation.place for operation in read_transaction(data).operations]
    return {int(place.rpartition(" ")[2], 16) for place in places} | {len(data)}


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_at_any_byte_is_refused(name: str) -> None:
    for end in range(len(FILES[name])):
        message = message_of(lambda end=end: read_transaction(FILES[name][:end], "f"))
        assert message.startswith("f, byte 0x00"), end


@pytest.mark.parametrize("header", [DRIVER, MLIR])
def test_a_cut_file_with_a_matching_size_is_refused_where_it_ends(header: Header) -> None:
    data = transaction_bytes(Transaction(header, OPERATIONS))
    whole = boundaries(data)
    for end in range(16, len(data)):
        cut = data[:12] + struct.pack("<I", end) + data[16:end]
        message = message_of(lambda cut=cut: read_transaction(cut, "f"))
        if end in whole:
            count = sorted(whole).index(end)
            expected = f"f, byte 0x0008: the header says 5 operations, the file has {count} {SOURCE}."
            assert message == expected
        else:
            start = max(at for at in whole if at < end)
            assert message.startswith(f"f, byte {start:#06x}: "), end
            assert " bytes are there " in message


@pytest.mark.parametrize("header", [DRIVER, MLIR, Header((0, 1), 3, 6, 4, 1)])
def test_unknown_opcodes_are_refused_with_their_place(header: Header) -> None:
    data = transaction_bytes(Transaction(header, OPERATIONS))
    later = sorted(boundaries(data))[-2]
    known = {0, 1, 3, 4} if header == DRIVER else {0, 1, *range(3, 14)}
    for opcode in set(range(128)) - known:
        bad = bytearray(data)
        bad[later] = opcode
        message = message_of(lambda bad=bad: read_transaction(bytes(bad), "f"))
        assert message.startswith(
            f"f, byte {later:#06x}: opcode is {opcode}; it must be one of 0, 1, 3, 4"
        ), opcode


def test_messages_of_broken_transactions() -> None:
    good = transaction_bytes(Transaction(DRIVER, OPERATIONS[:1]))
    assert message_of(lambda: read_transaction(b"\0\1\2", "f")) == (
        "f, byte 0x0000: the file ends within the header, of which 3 of 16 bytes are there (the "
        "file's format)."
    )
    assert message_of(lambda: read_transaction(b"\0\2" + good[2:] + b"\0", "f")) == (
        f"f, byte 0x0000: version is 0.2; it must be 0.1 or 1.0 {SOURCE}.\n"
        f"f, byte 0x000c: the header says a total size of 40 bytes, the file has 41 {SOURCE}."
    )
    assert message_of(lambda: read_transaction(good[:36] + b"\x19\0\0\0", "f")) == (
        f"f, byte 0x0010: write size is 25 bytes; it must be 24 bytes {SOURCE}."
    )
    block = transaction_bytes(Transaction(DRIVER, OPERATIONS[1:2]))
    for size in (0, 16, 19, 0xFFFF_FFFF):
        bad = block[:28] + struct.pack("<I", size) + block[32:]
        assert message_of(lambda bad=bad: read_transaction(bad, "f")) == (
            f"f, byte 0x0010: block write size is {size} bytes; it must be 16 bytes and 4 more for each word "
            f"{SOURCE}."
        )
    custom = transaction_bytes(Transaction(DRIVER, OPERATIONS[4:]))
    assert message_of(lambda: read_transaction(custom[:20] + b"\7\0\0\0" + custom[24:], "f")) == (
        f"f, byte 0x0010: custom size is 7 bytes; it must be at least 8 {SOURCE}."
    )


def test_operations_that_a_version_cannot_store_are_refused_together() -> None:
    operations = (
        MaskPoll(4, 1, 1, busy=True),
        Write(1 << 32, 0),
        Other("NOOP", b"\5\0\0\0"),
        BlockWrite(0, ()),
    )
    assert message_of(lambda: transaction_bytes(Transaction(DRIVER, operations))).splitlines() == [
        "transaction, operation 0: this version cannot store MASKPOLL_BUSY; it has the operations of "
        f"aie-rt {SOURCE}. Choose version 1.0.",
        f"transaction, operation 1: address is 0x100000000, allowed are 0x0..0xffffffff {SOURCE}.",
        "transaction, operation 2: this version cannot store NOOP; it has the operations of aie-rt "
        f"{SOURCE}. Choose version 1.0.",
        f"transaction, operation 3: the block write has no words; it must have 1 or more {SOURCE}.",
    ]
    unknown = Header((2, 0), 2, 6, 4, 1)
    assert message_of(lambda: transaction_bytes(Transaction(unknown, ()))) == (
        f"transaction: version is 2.0; it must be 0.1 or 1.0 {SOURCE}."
    )


def test_a_cdo_file_cut_at_any_byte_is_refused() -> None:
    data = cdo(3 << 16 | 0x105, 0, 0x02100000, 7, 2 << 16 | 0x103, 0x021C0000, 1)
    assert len(read_cdo(data)) == 2
    for end in range(len(data)):
        assert message_of(lambda end=end: read_cdo(data[:end], "f")).startswith("f, byte 0x00"), end


def test_messages_of_broken_cdo_files() -> None:
    good = cdo(2 << 16 | 0x103, 0x021C0000, 1)
    words = [5, 0x584C4E58, 0x300, 9, 0]
    assert message_of(lambda: read_cdo(struct.pack("<5I", *words) + good[20:], "f")) == (
        "f, byte 0x0000: header length is 0x5; it must be 0x4 (CDO version 2).\n"
        "f, byte 0x0004: identification is 0x584c4e58; it must be 0x4f4443 (CDO version 2).\n"
        "f, byte 0x0008: version is 0x300; it must be 0x200 (CDO version 2).\n"
        f"f, byte 0x0010: checksum is 0x0; it must be {~sum(words) & 4294967295:#x} (CDO version 2).\n"
        "f, byte 0x000c: the header counts 36 bytes after it, the file has 12 (CDO version 2)."
    )
    assert message_of(lambda: read_cdo(cdo(0x111, 1 << 16 | 0x1FE, 0), "f")) == (
        "f, byte 0x0018: command is 0x1fe; it must be one of 0x102, 0x103, 0x105, 0x107, 0x108, 0x111 "
        "(CDO version 2)."
    )
    assert message_of(lambda: read_cdo(cdo(1 << 16 | 0x103, 0), "f")) == (
        "f, byte 0x0014: write length is 1 words; it must be 2 words (CDO version 2)."
    )
    assert message_of(lambda: read_cdo(cdo(2 << 16 | 0x105, 0, 0), "f")) == (
        "f, byte 0x0014: DMA write length is 2 words; it must be 3 words or more (CDO version 2)."
    )
    assert message_of(lambda: read_cdo(cdo(255 << 16 | 0x111), "f")) == (
        "f, byte 0x0018: the file ends within the length, of which 0 of 4 bytes are there (the "
        "file's format)."
    )
    assert message_of(lambda: read_cdo(cdo(255 << 16 | 0x105, 0xFFFF_FFFF, 0, 0, 0), "f")) == (
        "f, byte 0x001c: the file ends within the DMA write, of which 12 of 17179869180 bytes are there "
        "(the file's format)."
    )
    assert message_of(lambda: read_cdo(good, "f", base=0x4000_0000)) == (
        "f, byte 0x0014: address is 0x21c0000; it must be 0x40000000 or more (the base address given)."
    )


def test_a_wrong_checksum_is_refused_whatever_bit_is_wrong() -> None:
    good = cdo(2 << 16 | 0x103, 0x021C0000, 1)
    for bit in range(32):
        (checksum,) = struct.unpack_from("<I", good, 16)
        bad = good[:16] + struct.pack("<I", checksum ^ 1 << bit) + good[20:]
        assert message_of(lambda bad=bad: read_cdo(bad, "f")).startswith("f, byte 0x0010: checksum is ")


def test_messages_of_broken_dumps() -> None:
    rule = "is not a register; it must be an address and values of 0x0..0xffffffff (register dump format)."
    assert message_of(lambda: read_program(b"1 2\n0x10\nx 1\n4 0x100000000\n", "f")) == (
        f"f, line 2: '0x10' {rule}\nf, line 3: 'x 1' {rule}\nf, line 4: '4 0x100000000' {rule}"
    )
    assert message_of(lambda: read_program(b'[{"address": 4}, 7, [1], {"address": true}]', "f")) == "\n".join(
        f"f, item {n}: {given!r} {rule}" for n, given in enumerate(("4 None", "7", "[1]", "True None"))
    )
    assert message_of(lambda: read_program(b'{"4": -1, "-4": 1}', "f")) == (
        f"f, item 0: '4 -1' {rule}\nf, item 1: '-4 1' {rule}"
    )
    other = b'{"name": "run", "cycles": [1, 2]}'
    assert message_of(lambda: read_program(other, "f")).startswith(
        "f: the file is JSON, but none of its items is a register (2 items); it must be a list of "
    )
    assert message_of(lambda: read_program(b"{", "f")).startswith("f, line 1, column 2: this is not JSON: ")
    assert message_of(lambda: read_program(b'{"4": 1, "4": 2}', "f")) == (
        'f: an object has the key "4" twice.'
    )
    assert message_of(lambda: read_program(b"[" * 100_000, "f")).startswith("f: this JSON cannot be read: ")
    assert message_of(lambda: read_program(b"7", "f", "dump")) == f"f, line 1: '7' {rule}"
    assert message_of(lambda: read_program(b'"x"', "f", "dump")).startswith("f, line 1: ")
    assert message_of(lambda: read_program(b"\xff", "f", "dump")) == "f: byte 0 is not UTF-8 text."
    assert message_of(lambda: read_program(b"\xff\xd8 picture", "f")) == (
        "f: the file begins with bytes ff d8 20 70 69 63 74 75 72 65; it must be "
        "a transaction, a CDO file, a container of them, control code or a register dump (their headers)."
    )
    for long in (b"9" * 5000, b"0x" + b"f" * 5000):
        digits = long.decode()
        assert message_of(lambda long=long: read_program(long + b" 1", "f")) == (  # type: ignore[misc]
            f"f, line 1: '{digits} 1' {rule}"
        )
    assert message_of(lambda: read_program(b'{"0x10000000000000000": 1}', "f")) == (
        f"f, item 0: '0x10000000000000000 1' {rule}"
    )
    assert message_of(lambda: read_program(b"", "f")) == (
        "f: the file is empty; it must be a transaction, a CDO file, a container of them, control code or a "
        "register dump (their headers)."
    )
    assert message_of(lambda: dump_text(OPERATIONS)) == "\n".join(
        f"operation {n}: a dump cannot hold a {name}, only plain writes (register dump format)."
        for n, name in ((2, "MaskWrite"), (3, "MaskPoll"), (4, "Other"))
    )


def test_a_transaction_as_text_is_refused_line_by_line() -> None:
    text = b"06030001\r\n00000104\n0000000g\n00001C\n"
    assert message_of(lambda: read_program(text, "f")) == (
        f"f, line 3: word is '0000000g'; it must be eight hexadecimal digits {SOURCE}.\n"
        f"f, line 4: word is '00001C'; it must be eight hexadecimal digits {SOURCE}."
    )


def test_a_program_that_the_array_cannot_do_is_refused_as_a_whole() -> None:
    operations: list[Operation] = [
        Write(0x021A0000, 1),
        Write(0x081A0000, 1, place="f, byte 0x0010"),
        Write(0x200_021A_0000, 1, place="f, byte 0x0020"),
        Write(0x200_081A_0000, 1, place="f, byte 0x0030"),
        MaskWrite(0x0060_0000, 1, 1),
        MaskPoll(0x021A0002, 1, 1),
        BlockWrite(0x021F_FFFC, (1, 2)),
        BlockWrite(0x0217_FFFC, (1, 2)),
        Write(0x021A0000, 1 << 32),
        Other("DDR_PATCH", bytes(24)),
        Other("NOOP", bytes(4), acts=False),
    ]
    assert message_of(lambda: apply(operations, Refusing(), SHAPE)).splitlines() == [
        "f, byte 0x0010: address 0x081a0000 is in column 4, row 1; the array has columns 0..3, rows "
        "0..5 (AM025 memory map).",
        "f, byte 0x0020: address 0x200021a0000 is in column 65537, row 1; the array has columns 0..3, "
        "rows 0..5 (AM025 memory map). If addresses count from 0x20000000000, say so with --base.",
        "f, byte 0x0030: address 0x200081a0000 is in column 65540, row 1; the array has columns 0..3, "
        "rows 0..5 (AM025 memory map).",
        "program: address 0x00600000 is in column 0, row 6; the array has columns 0..3, rows 0..5 "
        "(AM025 memory map).",
        "program: address is 0x021a0002; it must be a multiple of 0x4 (AM025 memory map).",
        "program: 2 words from 0x021ffffc on are more than one tile has (AM025 memory map).",
        "program: the value for 0x021a0000 is 0x100000000, allowed are 0x0..0xffffffff (AM025 memory map).",
        "program: the operation DDR_PATCH is no register access (the model takes register accesses). "
        "Run what this operation asks for yourself.",
    ]
    assert [problem.message for problem in unanswered(operations, SHAPE)] == [
        "program: nothing answers at offset 0x80000 of the memory tile at column 1, row 1, where there "
        "is neither data memory nor a register (AM025 memory map)."
    ]


class Never:
    """A target whose registers read 0 for ever."""

    def poll(self, _address: int, mask: int, value: int, advance: Callable[[], bool]) -> bool:
        while value & mask:
            if not advance():
                return False
        return True


def test_a_poll_that_never_comes_true_says_so() -> None:
    turns = iter([True, True, False])
    with pytest.raises(SimulationError) as caught:
        apply([MaskPoll(0x021A0660, 3, 2)], Never(), SHAPE, advance=lambda: next(turns))  # type: ignore[arg-type]
    assert str(caught.value) == (
        "program: the mask poll waits for 0x2 in the bits 0x3 of the word at 0x021a0660, which never "
        "came (the program itself)."
    )
    assert list(turns) == []


def test_a_handler_gets_the_operations_that_it_is_for() -> None:
    seen: list[Other] = []
    wait = Other("TOKEN_WAIT", bytes(16))
    noop, patch = Other("NOOP", bytes(4), acts=False), Other("DDR_PATCH", bytes(24))
    apply([wait, noop], Refusing(), SHAPE, handlers={"TOKEN_WAIT": seen.append})
    assert [other.name for other in seen] == ["TOKEN_WAIT"]
    with pytest.raises(InputFileError, match="the operation DDR_PATCH is no register access"):
        apply([wait, patch], Refusing(), SHAPE, handlers={"TOKEN_WAIT": seen.append})
    assert [other.name for other in seen] == ["TOKEN_WAIT"]


BEGINNINGS = st.sampled_from(
    [
        b"",
        b"\0\1\2\6\4\1\0\0",
        b"\1\0\3\6\4\1\0\0",
        cdo()[:12],
        b"[",
        b"{",
        b"0x10 ",
        *(data[:100] for data in FILES.values()),
    ]
)


def read_or_refuse(data: bytes, format: Any) -> StoredProgram | None:
    """The program; None when it is refused with a message that names the file."""
    try:
        return read_program(data, "f", format)
    except InputFileError as error:
        message = str(error)
    assert message.startswith("f: " if format != "txn" and not message.startswith("f, ") else "f, ")
    return None


@given(BEGINNINGS, st.binary(max_size=200), st.sampled_from([None, "txn", "cdo", "dump"]))
def test_random_bytes_never_crash(start: bytes, rest: bytes, format: Any) -> None:
    program = read_or_refuse(start + rest, format)
    if program is not None:
        list(disassembly_lines(program, SHAPE))


@given(st.lists(st.integers(0, 255) | st.sampled_from([0, 1, 3, 4, 16, 24, 32]), max_size=80), st.booleans())
def test_random_operations_under_a_right_header_never_crash(body: list[int], mlir: bool) -> None:
    version = b"\1\0\3\6\4\1\0\0" if mlir else b"\0\1\2\6\4\1\0\0"
    for count in range(1, 4):
        data = version + struct.pack("<II", count, 16 + len(body)) + bytes(body)
        program = read_or_refuse(data, "txn")
        if program is not None:
            disassembly_json(program, SHAPE)
