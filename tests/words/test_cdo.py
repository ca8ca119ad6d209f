"""Are CDO files read as bootgen and mlir-aie write them? The bytes are built here, from the format alone."""

from __future__ import annotations

import struct

import pytest

from memtile.errors import InputFileError
from memtile.io.program.cdo import read_cdo
from memtile.io.program.program_formats import read_program
from memtile.runs.operations import BlockWrite, MaskWrite, Operation, Other, Write

WIDE = 0x200_0000_0000  # where Versal has the array


def command(number: int, *words: int, long: bool = False) -> list[int]:
    if long or len(words) >= 255:
        return [255 << 16 | number, len(words), *words]
    return [len(words) << 16 | number, *words]


def cdo(*commands: list[int]) -> bytes:
    body = [word for words in commands for word in words]
    head = [4, 0x004F4443, 0x200, len(body)]
    checksum = 0xFFFF_FFFF - sum(head) % (1 << 32)
    return struct.pack(f"<{5 + len(body)}I", *head, checksum, *body)


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        (command(0x102, 0x021A0004, 0xFF, 0x12), MaskWrite(0x021A0004, 0xFF, 0x12)),
        (command(0x103, 0x021C0000, 1), Write(0x021C0000, 1)),
        (command(0x105, 0, 0x021A0000, 1, 2, 3), BlockWrite(0x021A0000, (1, 2, 3))),
        (command(0x107, 0, 0x021A0004, 0xFF, 0x12), MaskWrite(0x021A0004, 0xFF, 0x12)),
        (command(0x108, 0, 0x021C0000, 1), Write(0x021C0000, 1)),
        (command(0x111), Other("NOP", b"", (), acts=False)),
        (command(0x111, 0, 0), Other("NOP", bytes(8), (), acts=False)),
    ],
)
def test_each_command(words: list[int], operation: Operation) -> None:
    assert read_cdo(cdo(words, words)) == (operation, operation)


@pytest.mark.parametrize("words", [252, 253, 254, 1000])
@pytest.mark.parametrize("long", [False, True])
def test_a_length_that_does_not_fit_stands_in_the_next_word(words: int, long: bool) -> None:
    block = command(0x105, 0, 0x02100000, *range(words), long=long)
    data = cdo(block, command(0x103, 0x021C0000, 1))
    assert read_cdo(data) == (BlockWrite(0x02100000, tuple(range(words))), Write(0x021C0000, 1))
    assert read_cdo(data, "f")[0].place == "f, byte 0x0014"


def test_addresses_count_from_the_base_of_the_array() -> None:
    high, low = divmod(WIDE + 0x021A0000, 1 << 32)
    data = cdo(
        command(0x105, high, low, 7), command(0x107, high, low, 1, 1), command(0x108, high, low + 4, 9)
    )
    expected = (BlockWrite(0x021A0000, (7,)), MaskWrite(0x021A0000, 1, 1), Write(0x021A0004, 9))
    assert read_cdo(data, base=WIDE) == expected
    assert read_cdo(cdo(command(0x103, 0x421A0000, 3)), base=0x4000_0000) == (Write(0x021A0000, 3),)


@pytest.mark.parametrize("wrong", [0, 15, 29])
def test_addresses_before_the_base_are_refused(wrong: int) -> None:
    writes = [command(0x103, 0x4000_0000 + 4 * n, 3) for n in range(30)]
    writes[wrong] = command(0x103, 0x3FFF_FFFC, 3)
    with pytest.raises(InputFileError, match=f"byte {20 + 12 * wrong:#06x}: address is 0x3ffffffc"):
        read_cdo(cdo(*writes), base=0x4000_0000)


def test_a_file_without_commands_is_a_program_without_operations() -> None:
    program = read_program(cdo(), "empty.bin")
    assert (program.format, program.operations, program.shape) == ("cdo", (), None)
