"""Is the text of AMD's assembler for NPUs the transaction that it says, in both of its spellings?"""

from __future__ import annotations

import pytest

from memtile import Array
from memtile.errors import InputFileError
from memtile.io.program.program_formats import read_program
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs.operations import BlockWrite, MaskPoll, MaskWrite, Operation, Other, Write
from memtile.runs.session import run_program

OLD = """;  [2] .ctrltext	5544
    .attach_to_group 0

XAIE_IO_BLOCKWRITE              @0x801d000, 0x6, 0x0, 0x80000000
XAIE_IO_CUSTOM_OP_DDR_PATCH     @0x801d004, 3, 0x40
XAIE_IO_WRITE                   @0x801d214, 0x30000
XAIE_IO_MASKPOLL                @0x801d228, 0x78003c, 0x0
"""
NEW = """.attach_to_group 0
XAIE_IO_BLOCKWRITE             @0x801d000, [3]
XAIE_IO_BLOCKWRITE.0           0x6
XAIE_IO_BLOCKWRITE.1           0x0   ; a comment
XAIE_IO_BLOCKWRITE.2           0x8000_0000
xaie_io_custom_op_ddr_patch    @0x801d004, #3, +0x40
XAIE_IO_WRITE                  @0x801d214, 196608
XAIE_IO_MASKPOLL               @0x801d228, 0x78003c() == 0x0
"""
SAME = (
    BlockWrite(0x801D000, (6, 0, 0x8000_0000)),
    Other("DDR_PATCH", b"", (("address", 0x801D004), ("argument", 3), ("offset", 64))),
    Write(0x801D214, 0x30000),
    MaskPoll(0x801D228, 0x78003C, 0),
)


def operations(text: str) -> list[Operation]:
    return list(read_program(text.encode(), "f.asm").operations)


def without_place(given: list[Operation]) -> list[object]:
    return [(type(each), {n: getattr(each, n) for n in each.__slots__ if n != "place"}) for each in given]


@pytest.mark.parametrize("text", [OLD, NEW])
def test_both_spellings_say_the_same(text: str) -> None:
    program = read_program(text.encode(), "f.asm")
    assert (program.format, program.title) == ("asm", "control code, text")
    assert without_place(list(program.operations)) == without_place(list(SAME))
    assert program.operations[2].place == f"f.asm, line {6 if text is OLD else 7}"
    made = transaction_bytes(Transaction(Header((1, 0), 4, 6, 8, 1), tuple(program.operations)))
    assert [type(each) for each in read_transaction(made).operations] == [type(each) for each in SAME]


def test_every_other_operation() -> None:
    text = """XAIE_IO_MASKWRITE @0x10, 0x5(), 0x3
XAIE_IO_MASKPOLL_BUSY @0x10, 0x3c()==0x1
XAIE_IO_NOOP
XAIE_IO_PREEMPT #MEM_TILE
XAIE_IO_LOADPDI #2, 0x100, 0x80004000
XAIE_IO_LOAD_PM_START 0x158, #7
XAIE_IO_CUSTOM_OP_TCT R[1]+2, C[3]+4, #DMA_MM2S, 5
XAIE_IO_CUSTOM_OP_RECORD_TIMER #1
XAIE_IO_CUSTOM_OP_READ_REGS
XAIE_IO_CUSTOM_OP_MERGE_SYNC C[4]==8
"""
    first, second, *others = operations(text)
    assert without_place([first, second]) == without_place(
        [MaskWrite(0x10, 5, 3), MaskPoll(0x10, 0x3C, 1, busy=True)]
    )
    assert [(each.name, dict(each.details), each.acts) for each in others if isinstance(each, Other)] == [
        ("NOOP", {}, False),
        ("PREEMPT", {"level": 1}, False),
        ("LOADPDI", {"id": 2, "bytes": 256, "address": 0x8000_4000}, True),
        ("LOAD_PM_START", {"id": 7}, True),
        ("TOKEN_WAIT", {"direction": 1, "row": 1, "column": 3, "rows": 2, "columns": 4, "channel": 5}, True),
        ("RECORD_TIMER", {}, False),
        ("READ_REGS", {}, False),
        ("MERGE_SYNC", {}, False),
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("XAIE_IO_WRITE @0x1", "XAIE_IO_WRITE is @0x1; it must be @ADDRESS, WORD"),
        ("XAIE_IO_WRITE @0x4, 0x100000000", "XAIE_IO_WRITE is 0x100000000, allowed are 0x0..0xffffffff"),
        ("XAIE_IO_WRITE @" + "9" * 5000 + ", 1", "XAIE_IO_WRITE is @" + "9" * 59 + "; it must be"),
        ("XAIE_IO_CUSTOM_OP_TCT", "XAIE_IO_CUSTOM_OP_TCT is no operands; it must be R[ROW]+ROWS"),
        ("XAIE_IO_BLOCKSET @0x4, 1", "operation is XAIE_IO_BLOCKSET; it must be XAIE_IO_WRITE,"),
        (".globl x\nXAIE_IO_NOOP", "operation is .globl; it must be"),
        ("XAIE_IO_BLOCKWRITE @4, [2]", "XAIE_IO_BLOCKWRITE is a block with 0 words; it must be 2 words"),
        ("XAIE_IO_BLOCKWRITE @4, [999999999]\nXAIE_IO_NOOP", "is a block with 0 words; it must be 999999999"),
        (
            "XAIE_IO_BLOCKWRITE @4, [2]\nXAIE_IO_BLOCKWRITE.1 5",
            "XAIE_IO_BLOCKWRITE.0 is BLOCKWRITE.1 5; it must be BLOCKWRITE.0 WORD",
        ),
        ("XAIE_IO_BLOCKWRITE @4, 5,, 6", "XAIE_IO_BLOCKWRITE is @4, 5,, 6; it must be"),
    ],
)
def test_lines_that_say_nothing(text: str, wrong: str) -> None:
    with pytest.raises(InputFileError) as caught:
        operations(text)
    assert wrong in str(caught.value)
    assert "f.asm, line " in str(caught.value)


def test_what_changes_no_register_is_left_out_and_said() -> None:
    text = "XAIE_IO_WRITE @0x02100000, 7\n" + "XAIE_IO_CUSTOM_OP_MERGE_SYNC C[4]==8\n" * 2
    array = Array("npu1")
    done = run_program(operations(text + "XAIE_IO_CUSTOM_OP_READ_REGS\n"), array)
    assert [note.partition(",")[0] for note in done.notes] == [
        "left out: 1 READ_REGS",
        "left out: 2 MERGE_SYNC",
    ]
    assert array.door.read32(0x0210_0000) == 7


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "XAIE_IO_LOAD_PM_START 0x158, #0",
            "LOAD_PM_START loads programs of cores from a buffer",
        ),
        ("XAIE_IO_LOADPDI #0, 0x100, 0x80004000", "the program loads PDI 0, which is not in the files"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(line: str, why: str) -> None:
    with pytest.raises(InputFileError) as caught:
        run_program(operations(line), Array("npu1", 1))
    assert why in str(caught.value)


PACKETS = bytes.fromhex("1700008000d0318000010000300000000000000000004000" + "00" * 8)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (PACKETS, "control packets, which do not say to which tiles they go"),
        (
            b"; jobs\n\nSTART_JOB 0\n  WRITE_32 0x1, 0x2\nEND_JOB\n",
            "control code of jobs and pages",
        ),
    ],
)
def test_other_control_code_is_named(data: bytes, what: str) -> None:
    with pytest.raises(InputFileError) as caught:
        read_program(data, "f")
    assert what in str(caught.value)


def test_blank_lines_take_no_time() -> None:
    """A pattern of comments and blank lines may not try every way to divide them."""
    with pytest.raises(InputFileError, match="the file is text"):
        read_program(b"\n" * 5000 + b"x y z\n", "f")
