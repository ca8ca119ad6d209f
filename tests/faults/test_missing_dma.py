"""Is an access that this device, or this column now, does not answer told with its place in the file?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memtile import Array
from memtile.arch.devices import device
from memtile.arch.events import slave_error_status
from memtile.errors import InputFileError
from memtile.io.program.device_detection import device_of
from memtile.io.program.program_formats import read_program
from memtile.io.program.transaction import Transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.runs.operations import (
    ArrayShape,
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    address_of,
)
from memtile.runs.register_writes import apply, check, unanswered
from memtile.runs.session import run_program

WHOLE, PART = Header((0, 1), 2, 11, 38, 2), Header((0, 1), 2, 11, 4, 2)
BD, CLOCK = 0x1D000, 0xFFF20
NO_DMA = "interface tile at column {}, row 0, which has no DMA (device table)."


def written(header: Header, operations: Sequence[Operation]) -> bytes:
    return transaction_bytes(Transaction(header, tuple(operations)))


def test_a_poll_of_a_tile_without_dma_refuses_the_file_as_a_whole() -> None:
    first, last = address_of(3, 1, 0x40), address_of(3, 1, 0x44)
    poll = MaskPoll(address_of(0, 0, BD), 1, 0)
    program = read_program(written(WHOLE, [Write(first, 7), poll, Write(last, 8)]), "f")
    assert program.shape is not None
    (problem,) = check(program.operations, program.shape)
    text = f"f, byte 0x0028: nothing answers at offset 0x1d000 of the {NO_DMA.format(0)}"
    assert problem.message == text
    array = Array("xcve2802", columns=4)
    for do in (
        lambda: apply(program.operations, array.door, ArrayShape.of(array.device, 4)),
        lambda: run_program(program.operations, array),
    ):
        with pytest.raises(InputFileError) as caught:
            do()
        assert str(caught.value) == text
    assert array.door.read32(first) == 0


TRACE_1 = 0x3F15C  # of a stream switch port that interface tiles do not have
STATUS, BIT = slave_error_status("interface")


@pytest.mark.parametrize(
    ("dropped", "tile"),
    [
        (Write(address_of(0, 0, BD), 1), "column 0, row 0, which has no DMA"),
        (MaskWrite(address_of(3, 0, TRACE_1), 1, 1), "column 3, row 0, where there is neither"),
        (
            BlockWrite(address_of(3, 0, TRACE_1 - 8), (1 << 31, 3 << 30, 3)),
            "column 3, row 0, where there is neither",
        ),
    ],
)
@pytest.mark.parametrize("untimed", [True, False])
def test_a_write_that_nothing_answers_is_dropped_and_found(
    dropped: Operation, tile: str, untimed: bool
) -> None:
    """DEV-TXN-3: as over the socket: what comes before and behind is done, the tile's status shows it."""
    around = [Write(address_of(3, 1, 0x40 + 4 * n), n) for n in range(8)]
    program = read_program(written(WHOLE, [*around[:4], dropped, dropped, *around[4:]]), "f")
    array = Array("xcve2802", columns=4)
    result = run_program(program.operations, array, untimed=untimed).result
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.count, result.status) == (
        "MT0319",
        "warning",
        2,
        "finished",
    )
    assert tile in finding.message
    assert finding.message.endswith("; 1 more writes to the tile went the same way.")
    assert finding.sides[0].place.startswith("f, byte 0x0")
    assert array.door.at_once().block_read32(address_of(3, 1, 0x40), 8).tolist() == list(range(8))
    column = 0 if "no DMA" in tile else 3
    assert array.door.at_once().read32(address_of(column, 0, STATUS)) >> BIT & 1
    if isinstance(dropped, BlockWrite):
        assert array.door.at_once().block_read32(dropped.address, 2).tolist() == [1 << 31, 3 << 30]


def test_apply_warns_of_what_it_drops() -> None:
    array = Array("npu1", 1)
    operations = [
        Write(address_of(0, 1, 0), 1),
        Write(address_of(0, 0, TRACE_1), 1),
        Write(address_of(0, 1, 4), 2),
    ]
    with pytest.warns(
        UserWarning, match=r"^program: nothing answers at offset 0x3f15c of the interface tile"
    ):
        apply(operations, array.door, ArrayShape.of(array.device, 1))
    assert array.door.block_read32(address_of(0, 1, 0), 2).tolist() == [1, 2]
    assert check(operations, ArrayShape.of(array.device, 1)) == []


def test_columns_with_a_dma_and_other_registers_are_taken() -> None:
    places = [(2, BD), (3, BD), (0, 0x3F000), (1, CLOCK)]
    operations = [Write(address_of(column, 0, offset), 0) for column, offset in places]
    assert check(operations, WHOLE.shape) == []
    assert check([Write(address_of(0, 0, BD), 1)], Header((1, 0), 3, 6, 4, 1).shape) == []


def test_a_part_of_a_device_begins_where_the_user_says() -> None:
    """Alone the header leaves open which columns these are; on a device they are the first."""
    program = read_program(written(PART, [Write(address_of(0, 0, BD), 1)]), "f")
    assert program.shape is not None
    assert check(program.operations, program.shape) == []
    found, shape = device_of([program])
    assert (found.name, shape) == ("xcve2802", ArrayShape(4, 11, 2, (0, 1)))
    assert shape == device_of([program], "xcve2802")[1]
    assert len(unanswered(program.operations, shape)) == 1
    assert ArrayShape.of(device("npu1")) == ArrayShape(4, 6, 1)


def test_patches_and_waits_of_a_tile_without_dma() -> None:
    patch = Other("DDR_PATCH", b"", (("address", address_of(1, 0, BD + 4)), ("argument", 0), ("offset", 0)))
    said = {"direction": 0, "row": 0, "column": 1, "rows": 1, "columns": 1, "channel": 0}
    wait = Other("TOKEN_WAIT", b"", tuple(said.items()))
    for operation, field in ((patch, "register"), (wait, "TOKEN_WAIT")):
        with pytest.raises(InputFileError) as caught:
            run_program([operation], Array("xcve2802", columns=4))
        assert field in [problem.field for problem in caught.value.problems]


def test_a_column_whose_clock_the_program_stops_is_told_with_the_place() -> None:
    column = address_of(1, 0, CLOCK)
    operations = [Write(address_of(1, 1, 0x40), 7), Write(column, 0), Write(address_of(1, 1, 0x44), 8)]
    program = read_program(written(Header((1, 0), 3, 6, 4, 1), operations), "f")
    for do in (
        lambda array: apply(program.operations, array.door, ArrayShape.of(array.device)),
        lambda array: run_program(program.operations, array),
    ):
        array = Array("npu1")
        with pytest.raises(InputFileError) as caught:
            do(array)
        assert str(caught.value) == (
            "f, byte 0x0028, memory tile: 0x00044 does not answer: while the clock of column 1 is off "
            "or its reset is on, only its interface tile does (AM025, DEV-CLK-2). Write 1 to "
            "Column_Clock_Control and 0 to AIE_Tile_Column_Reset."
        )
        array.door.write32(column, 1)
        assert array.door.block_read32(address_of(1, 1, 0x40), 2).tolist() == [7, 0]
