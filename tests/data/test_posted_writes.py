"""Do the writes that a host posts happen once and in their order, and do the refused ones stay refused?"""

from __future__ import annotations

import re

import pytest

from memtile import Array
from memtile.arch.address_map import ARRAY_BASE, NPI_BASE
from memtile.arch.events import slave_error_status
from memtile.errors import RegisterError
from memtile.hosts.address_space import AddressSpace
from memtile.io.program.operations import address_of

MEMORY, INTERFACE = ARRAY_BASE + address_of(1, 1), ARRAY_BASE + address_of(1, 0)
CLOCK = INTERFACE + 0xFFF20
STATUS, BIT = slave_error_status("memory")


def post(space: AddressSpace, *writes: tuple[int, int]) -> list[str]:
    addresses, values = zip(*writes, strict=True)
    return [str(error) for error in space.write_many(addresses, values)]


def test_a_write_that_met_no_clock_stays_refused() -> None:
    space = AddressSpace(Array("npu1"))
    errors = post(space, (CLOCK, 0), (MEMORY + 0x40, 111), (CLOCK, 1), (MEMORY + 0x40, 222))
    assert space.read32(MEMORY + 0x40) == 222
    (error,) = errors
    assert error.startswith(
        "memory tile: 0x00040 does not answer: while the clock of column 1 is off or its reset is on, "
        "only its interface tile does"
    )


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
    assert [re.split("[;,] ", error)[0] for error in errors] == [
        "memory tile: nothing is at offset 0x90000",
        "memory tile: offset is 0x42",
        "array: address 0x12100000 is in column 9",
        "host: nothing answers at 0x1000",
        f"host: nothing answers at {NPI_BASE + 2:#x}",
    ]
    assert (space.read32(MEMORY), space.read32(NPI_BASE)) == (6, 7)
    for place, error in zip(places, errors, strict=True):
        with pytest.raises(RegisterError) as alone:
            space.write32(place, 1)
        assert str(alone.value) == error
