"""Are programs in columns what they are operation by operation, from the bytes of a file on?"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from memtile.errors import InputFileError
from memtile.io.binary_files import ByteReader
from memtile.io.program import cdo, transaction
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs import register_writes
from memtile.runs.operation_table import (
    OperationTable,
    clocks,
    core_controls,
    external_transfers,
    joined,
    queues,
    table_of,
)
from memtile.runs.operations import (
    ArrayShape,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    address_of,
    words_written,
)
from support.formats.programs import cdo_of

SHAPE = ArrayShape.sized(2, 6, 1)
HEADERS = [Header((0, 1), 2, 6, 2, 1), Header((0, 1), 3, 6, 2, 1), Header((1, 0), 3, 6, 2, 1)]
WORDS = some.one_of(some.integers(0, 7), some.integers(0, (1 << 32) - 1))
NEAR = [0x1D000, 0x1D204, 0x1DE04, 0x32000, 0xA0000, 0xA0634, 0xFFF20, 0xFFFFC, 0x80000, 0x00002]


@some.composite
def addresses(draw: some.DrawFn) -> int:
    """Of registers that matter, of memory, and some where there is nothing."""
    column, row = draw(some.integers(0, 2)), draw(some.integers(0, 6))
    offset = draw(some.one_of(some.sampled_from(NEAR), some.integers(0, 0x3FFFF).map(lambda n: 4 * n)))
    return address_of(column, row, offset)


def accesses() -> some.SearchStrategy[Operation]:
    blocks = some.lists(WORDS, min_size=1, max_size=20).map(tuple)
    return some.one_of(
        some.builds(Write, addresses(), WORDS),
        some.builds(MaskWrite, addresses(), WORDS, WORDS),
        some.builds(BlockWrite, addresses(), blocks),
    )


def polls() -> some.SearchStrategy[Operation]:
    return some.builds(MaskPoll, addresses(), WORDS, WORDS)


def repeated(operations: some.SearchStrategy[Operation]) -> some.SearchStrategy[list[Operation]]:
    """Runs of one operation after another: long ones are read at once."""
    runs = some.tuples(operations, some.sampled_from([1, 2, 9, 10, 11, 40]))
    return some.lists(runs, max_size=6).map(
        lambda found: [each for each, count in found for _ in range(count)]
    )


def by_hand(read: object, *arguments: object) -> tuple[Operation, ...] | str:
    try:
        return tuple(read(*arguments))  # type: ignore[operator]
    except InputFileError as error:
        return str(error)


def same(table: OperationTable, operations: Sequence[Operation]) -> None:
    """The table is the operations, also in its columns."""
    assert [(each, each.place, each.firmware) for each in table] == [
        (each, each.place, each.firmware) for each in operations
    ]
    mine, theirs = table.columns, table_of(tuple(operations)).columns
    blocks = theirs.code == 3
    for name in ("code", "address", "mask", "firmware"):
        assert getattr(mine, name).tolist() == getattr(theirs, name).tolist(), name
    assert mine.value[~blocks].tolist() == theirs.value[~blocks].tolist()
    for number in np.flatnonzero(blocks).tolist():
        first, count = mine.value[number], mine.mask[number]
        assert tuple(mine.words[first : first + count].tolist()) == operations[number].words  # type: ignore[attr-defined]


@settings(max_examples=150)
@given(some.sampled_from(HEADERS), repeated(some.one_of(accesses(), polls())), some.data())
def test_a_transaction_read_at_once_is_its_operations(
    header: Header, operations: list[Operation], more: some.DataObject
) -> None:
    data = bytearray(transaction_bytes(Transaction(header, tuple(operations))))
    if more.draw(some.booleans()) and len(data) > 16:  # damaged
        at = more.draw(some.integers(16, len(data) - 1))
        data[at] = more.draw(some.integers(0, 255))
        cut = more.draw(some.sampled_from([0, 0, 4, 8, 12]))
        data = data[: max(len(data) - cut, 16)]
        data[12:16] = struct.pack("<I", len(data))
    file = ByteReader(bytes(data), "f")
    expected = by_hand(transaction._one_by_one, file, header)
    found = transaction._in_columns(file, header)
    if isinstance(found, OperationTable):
        assert not isinstance(expected, str)
        same(found, expected)
    else:
        assert found == ()  # the reader of single operations says what it is


@settings(max_examples=150)
@given(repeated(accesses()), some.data())
def test_commands_read_at_once_are_their_operations(
    operations: list[Operation], more: some.DataObject
) -> None:
    base = more.draw(some.sampled_from([0, 0x200_0000_0000]))
    data = bytearray(cdo_of(operations, base))
    if more.draw(some.booleans()) and len(data) > 20:
        at = more.draw(some.integers(20, len(data) - 1))
        data[at] = more.draw(some.integers(0, 255))
    file = ByteReader(bytes(data), "f")
    expected = by_hand(cdo._one_by_one, file, base)
    found = cdo._in_columns(file, base)
    if isinstance(found, OperationTable):
        assert not isinstance(expected, str)
        same(found, expected)


@pytest.mark.parametrize("header", HEADERS)
def test_files_without_anything_unusual_are_read_at_once(header: Header) -> None:
    access = [Write(4, 5), MaskWrite(8, 6, 7), BlockWrite(12, (1, 2)), MaskPoll(16, 3, 2)]
    operations = [*access * 20, *[each for each in access for _ in range(30)]]
    file = ByteReader(transaction_bytes(Transaction(header, tuple(operations))), "f")
    assert isinstance(transaction._in_columns(file, header), OperationTable)
    assert isinstance(cdo._in_columns(ByteReader(cdo_of(operations[:3] * 20), "f"), 0), OperationTable)


@pytest.mark.parametrize("wrong", [0, 30, 59])
def test_writes_of_another_size_are_refused_among_many(wrong: int) -> None:
    data = bytearray(transaction_bytes(Transaction(HEADERS[0], tuple(Write(4, n) for n in range(60)))))
    data[16 + 24 * wrong + 20] = 28  # the size that it says
    with pytest.raises(InputFileError, match="write size is 28 bytes"):
        read_transaction(bytes(data), "f")


def by_each(operations: Sequence[Operation]) -> list[str]:
    problems = [p for each in operations for p in register_writes._problems(each, SHAPE, ())]
    return [str(problem) for problem in problems]


ODD = some.one_of(
    some.builds(
        Write, some.sampled_from([-4, 1 << 70, 0x1A0000]), some.sampled_from([-1, 1 << 32, 1 << 80, 3])
    ),
    some.builds(BlockWrite, addresses(), some.sampled_from([(), (1 << 40, 2), (-1,), (1 << 70,), (5, 6)])),
    some.just(Other("MERGE_SYNC", b"")),
    some.just(Other("NOP", b"", (), False)),
)


@settings(max_examples=150)
@given(some.lists(some.one_of(accesses(), polls(), ODD), max_size=12))
def test_all_operations_are_checked_as_each_is(operations: list[Operation]) -> None:
    assert [str(problem) for problem in register_writes.check(operations, SHAPE)] == by_each(operations)


@settings(max_examples=100)
@given(some.lists(some.one_of(accesses(), polls(), ODD), max_size=12))
@example([BlockWrite(address_of(0, 0, 0x1D200), (0, 0)), BlockWrite(address_of(0, 0, 0x1D1FC), (0, 0))])
def test_marked_words_are_found_in_every_operation(operations: list[Operation]) -> None:
    table = table_of(operations)
    for marks in (queues, clocks, core_controls, external_transfers):
        expected = [any(_has(marks, word.address) for word in words_written(each)) for each in operations]
        found = table.writing(SHAPE, marks).tolist()
        for each, mine, theirs in zip(operations, found, expected, strict=True):
            assert mine == theirs or by_each([each])


def test_a_table_is_looked_at_anew_for_each_array() -> None:
    """What stands in a row differs between arrays."""
    queue = 0xA0604  # of a memory tile
    table = table_of([Write(address_of(0, 1, 0x1DE04), 0), Write(address_of(0, 2, queue), 0)])
    rows = {1: [False, False], 2: [False, True], 0: [True, False]}
    for memory_rows, expected in [*rows.items(), *rows.items()]:
        assert table.writing(ArrayShape.sized(1, 3, memory_rows), queues).tolist() == expected
    assert table.writing(ArrayShape.sized(1, 1, 0), queues).tolist() == [False, False]


def _has(marks: object, address: int) -> bool:
    column, row, offset = address >> 25, address >> 20 & 31, address & 0xFFFFF
    kind = SHAPE.tile(column, row) if address >= 0 else None
    return kind is not None and bool(marks(kind, True)[offset // 4])  # type: ignore[operator]


PARTS = some.lists(
    some.lists(some.one_of(accesses(), polls(), some.just(Other("NOP", b""))), max_size=5), max_size=4
)


def test_blocks_of_joined_tables_keep_their_words() -> None:
    parts = [[BlockWrite(0, (1, 2))], [Write(8, 3), BlockWrite(12, (4, 5, 6))]]
    same(joined([table_of(part) for part in parts]), tuple(each for part in parts for each in part))


@given(PARTS, some.data())
def test_tables_are_joined_and_cut_as_sequences_are(
    parts: list[list[Operation]], more: some.DataObject
) -> None:
    whole = tuple(each for part in parts for each in part)
    table = joined([table_of(part) for part in parts])
    assert table == whole
    first, end = sorted(more.draw(some.integers(0, len(whole))) for _ in range(2))
    cut = table[first:end]
    assert isinstance(cut, OperationTable)
    same(cut, whole[first:end])
    assert table[::-1] == whole[::-1]
    more_of_it = (Write(0, 0),)
    assert (table + more_of_it, more_of_it + table) == (whole + more_of_it, more_of_it + whole)
    assert hash(table) == hash(whole)
