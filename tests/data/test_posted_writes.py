"""Do the writes that a host posts happen once and in their order, and do the refused ones stay refused?"""

from __future__ import annotations

import re

import pytest

from memtile import Array
from memtile.arch.devices import ARRAY_BASE, NPI_BASE
from memtile.arch.events import slave_error_status
from memtile.errors import RegisterError
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.unanswered import HostAccess
from memtile.runs.operations import address_of

MEMORY, INTERFACE = ARRAY_BASE + address_of(1, 1), ARRAY_BASE + address_of(1, 0)
CLOCK = INTERFACE + 0xFFF20
STATUS, BIT = slave_error_status("memory")


def post(space: AddressSpace, *writes: tuple[int, int]) -> list[str]:
    answers = [answer for given in space.carry_out(writes) for answer in given]
    return [
        space.refused(HostAccess(*write), answer).text
        for write, answer in zip(writes, answers, strict=True)
        if isinstance(answer, RegisterError)
    ]


def test_a_write_that_met_no_clock_stays_refused() -> None:
    space = AddressSpace(Array("npu1"))
    errors = post(space, (CLOCK, 0), (MEMORY + 0x40, 111), (CLOCK, 1), (MEMORY + 0x40, 222))
    assert space.read32(MEMORY + 0x40) == 222
    (error,) = errors
    assert error.startswith(f"write of 0x0000006f to memory(1,1) 0x00040 at {MEMORY + 0x40:#x} refused: ")
    assert "while the clock of column 1 is off or its reset is on, only its interface tile does" in error


def test_a_status_that_was_cleared_after_a_refused_write_stays_clear() -> None:
    array = Array("npu1")
    space, status = AddressSpace(array), MEMORY + STATUS - ARRAY_BASE
    assert len(post(space, (MEMORY + 0x90000, 1))) == 1
    assert array.door.read32(status) >> BIT & 1
    assert len(post(space, (MEMORY + 0x90000, 1), (MEMORY + STATUS, 1 << BIT))) == 1
    assert array.door.read32(status) >> BIT & 1 == 0


def test_every_refused_write_says_why() -> None:
    space = AddressSpace(Array("npu1", columns=2))
    places = [MEMORY + 0x90000, MEMORY + 0x42, MEMORY + (8 << 25), 0x1000, NPI_BASE + 2]
    errors = post(space, (NPI_BASE, 5), *((place, 1) for place in places), (MEMORY, 6), (NPI_BASE, 7))
    assert [re.split("[;,] ", error.partition("refused: ")[2])[0] for error in errors] == [
        "neither data memory nor a register of the map is there",
        "it is not the address of a 32-bit word",
        "address 0x12100000 is in column 9",
        "nothing answers at 0x1000",
        f"nothing answers at {NPI_BASE + 2:#x}",
    ]
    assert all(f"{place:#x}" in error for place, error in zip(places, errors, strict=True))
    assert (space.read32(MEMORY), space.read32(NPI_BASE)) == (6, 7)
    for place in places:
        with pytest.raises(RegisterError):
            space.write32(place, 1)


NOWHERE = "neither data memory nor a register of the map is there"
MOVED = "AIE-ML has {} there, {} has it at {}"
INTERRUPT = "Interrupt_controller_2nd_level_interrupt"


@pytest.mark.parametrize(
    ("device", "column", "row", "offset", "reason"),
    [
        ("xcve2802", 10, 0, 0x1D000, "interface(10,0) DMA_BD0_0 0x1d000: this interface tile has no DMA"),
        ("xcve2802", 10, 0, 0x15010, "this interface tile has no DMA"),
        ("xcve2302", 0, 0, 0x1D204, "this interface tile has no DMA"),
        ("xcve2802", 10, 0, 0x80000, NOWHERE),
        ("xc2ve3858", 3, 1, 0x96030, f"{NOWHERE}; {MOVED.format('Tile_Control', 'AIE-ML v2', '0xfff20')}"),
        ("xc2ve3858", 3, 0, 0x15010, f"{NOWHERE}; {MOVED.format(INTERRUPT, 'AIE-ML v2', '0x01010')}"),
        ("npu2", 1, 1, 0x96030, f"{NOWHERE}; {MOVED.format('Tile_Control', 'AIE2P', '0xfff20')}"),
        ("xc2ve3858", 3, 0, 0x15020, NOWHERE),
        (
            *("xc2ve3858", 3, 1, 0x92120),
            f"{NOWHERE}; AIE-ML has ECC_FAILING_ADDRESS there, AIE-ML v2 lacks it",
        ),
    ],
)
def test_a_register_that_this_tile_lacks(
    device: str, column: int, row: int, offset: int, reason: str
) -> None:
    """DEV-NOC-1: what the driver sends to columns that have no DMA here; DEV-V2-2: places of AIE-ML."""
    space = AddressSpace(Array(device))
    address = ARRAY_BASE + address_of(column, row) + offset
    (told,) = post(space, (address, 1))
    place, _, why = reason.rpartition(": ")
    assert place in told
    assert told.endswith(f" at {address:#x} refused: {why}")
    with pytest.raises(RegisterError) as caught:
        space.read32(address)
    assert (caught.value.problems[0].reason == "no_dma") == ("no DMA" in reason)
    assert ("this interface tile has no DMA" in str(caught.value)) == ("no DMA" in reason)
