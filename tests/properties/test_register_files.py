"""Do programs of register writes survive every format, whatever they contain?"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memtile.io.program.program_formats import read_program
from memtile.io.program.register_dump import dump_json, dump_text
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs.operations import (
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    words_written,
)
from support.formats import transaction_reader

WORDS = st.integers(0, 0xFFFF_FFFF)
WRITES = st.builds(Write, WORDS, WORDS) | st.builds(
    BlockWrite, WORDS, st.lists(WORDS, min_size=1, max_size=5).map(tuple)
)
ACCESSES = WRITES | st.builds(MaskWrite, WORDS, WORDS, WORDS) | st.builds(MaskPoll, WORDS, WORDS, WORDS)
CUSTOMS = st.builds(
    lambda opcode, rest: Other(
        f"CUSTOM_{opcode}", bytes([opcode, 0, 0, 0]) + (8 + len(rest)).to_bytes(4, "little") + rest
    ),
    st.integers(200, 255),
    st.binary(max_size=20),
)
HEADERS = st.builds(
    Header,
    st.sampled_from([(0, 1), (1, 0)]),
    st.integers(1, 4),
    st.integers(1, 255),
    st.integers(1, 255),
    st.integers(0, 255),
)


@given(HEADERS, st.lists(ACCESSES | CUSTOMS, max_size=8))
def test_a_transaction_reads_as_it_was_written(header: Header, operations: list[Operation]) -> None:
    transaction = Transaction(header, tuple(operations))
    data = transaction_bytes(transaction)
    assert read_transaction(data) == transaction
    assert transaction_bytes(read_transaction(data)) == data
    assert len(transaction_reader.steps(data)) == len(operations)
    other = replace(header, version=(1, 0) if header.version == (0, 1) else (0, 1))
    assert read_transaction(transaction_bytes(Transaction(other, tuple(operations)))).operations == tuple(
        operations
    )


@given(st.lists(WRITES, max_size=8))
def test_a_dump_has_the_same_words_in_the_same_order(operations: list[Operation]) -> None:
    expected = [word for operation in operations for word in words_written(operation)]
    for text in (dump_text(operations), dump_json(operations)):
        read = read_program(text.encode(), "dump", "dump").operations
        assert [word for operation in read for word in words_written(operation)] == expected
