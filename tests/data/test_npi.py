"""What do the registers in the NoC programming interface do to an array?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array
from memtile.model.state.causes import Phase
from memtile.sim.doors.array_door import Npi
from support.designs.paused_columns import CLOCK

MASK, CONTROL, LOCK, PROTECTED = 0x0, 0x4, 0xC, 0x200
SHIM_RESET = 1 << 27
LOCK_3, DEMUX = 0x14030, 0x1F004


def protect(first: int, last: int) -> int:
    return 1 | first << 1 | last << 8


def reset(npi: Npi, protected: int) -> None:
    for register, value in (
        (PROTECTED, protected),
        (MASK, SHIM_RESET),
        (CONTROL, SHIM_RESET),
        (CONTROL, 0),
        (MASK, 0),
    ):
        npi.write(register, value)


def used(columns: int) -> Array:
    """Interface tiles in the middle of their work: words on their way, locks, broadcasts, interrupts."""
    array = Array("npu1", columns)
    memory = array.external("memory", np.arange(64, dtype=np.int32))
    for column in range(columns):
        interface, tile = array.interface_tile(column), array.memory_tile(column)
        into = tile.buffer("into", 64)
        array.connect(interface.mm2s[0], tile.s2mm[0])
        interface.mm2s[0].start(interface.read(memory))
        tile.s2mm[0].start(tile.write(into))
        tile.door.write32(0xC0000, column)
    array.route()
    array.engine.run(130)
    for column in range(columns):
        door = array.interface_tile(column).door
        door.write32(LOCK_3, 5)
        door.write32(DEMUX, 1 << 4 | 1 << 6)
        door.write32(0x34010, 126)
        door.write32(0x35004, 0x10001)
        door.write32(0x34200, 0)
    return array


def test_registers_keep_what_is_written() -> None:
    """DEV-NPI-1: the control register only the bits of its mask."""
    npi = Npi(Array("npu1", 1).engine)
    assert npi.read(LOCK) == 0
    npi.write(LOCK, 0xF9E8D7C6)
    assert npi.read(LOCK) == 0xF9E8D7C6
    npi.write(CONTROL, 0xFF)
    assert npi.read(CONTROL) == 0
    npi.write(MASK, 0x0F)
    npi.write(CONTROL, 0xFF)
    npi.write(MASK, 0x3C)
    npi.write(CONTROL, 0x00)
    assert npi.read(CONTROL) == 0x03


def test_a_reset_interface_tile_is_as_new() -> None:
    """Everything that belongs to the tile is as in an array that was just built, without clocks above."""
    array = used(1)
    reset(Npi(array.engine), protect(0, 0))
    fresh = Array("npu1", 1)
    reset(Npi(fresh.engine), protect(0, 0))
    assert array.door.read32(array.door.address(0, 0, CLOCK)) == 0
    assert not array.engine.has_clock(array.memory_tile(0).index)
    for offset in (*range(0x14000, 0x14100, 0x10), *range(0x1D000, 0x1D230, 4), DEMUX, 0x1F000, 0x34010):
        assert array.door.read32(offset) == fresh.door.read32(offset), hex(offset)
    for engine in (array.engine, fresh.engine):
        own = engine.state.switch.tile == 0
        assert not engine.state.switch.held[own].any()
        assert (engine.state.switch.channel[own] == -1).all()
        assert (engine.channels.switch_port[:4] == -1).all()
        assert (engine.channels.phase[:4] == Phase.IDLE).all()
        assert (engine.state.observers.uses[:1] == 0).all()


def test_a_reset_interface_tile_works_again() -> None:
    array = used(1)
    reset(Npi(array.engine), protect(0, 0))
    for row in range(array.rows):
        array.door.write32(array.door.address(0, 0, CLOCK), 1)
        array.tile(0, row).door.write32(0x96030 if row == 1 else 0x36030, 0)
    door, base = array.door, array.door.address(0, 0)
    for at, word in ((0x1D000, 4), (0x1D01C, 1 << 25), (0x1D214, 0)):  # 4 words from where no memory is
        door.write32(base + at, word)
    array.engine.run(array.engine.now + 300)
    assert door.read32(base + 0x1D228) >> 16 & 1


@pytest.mark.parametrize(
    ("protected", "kept"),
    [
        (0, [0, 1, 2, 3]),
        (protect(1, 2), [0, 3]),
        (protect(3, 3), [0, 1, 2]),
        (protect(0, 3) & ~1, [0, 1, 2, 3]),
    ],
)
def test_only_the_protected_columns_are_reset(protected: int, kept: list[int]) -> None:
    array = Array("npu1", 4)
    for column in range(4):
        array.interface_tile(column).door.write32(LOCK_3, 5)
    reset(Npi(array.engine), protected)
    values = [array.interface_tile(column).door.read32(LOCK_3) for column in range(4)]
    assert values == [5 if column in kept else 0 for column in range(4)]


def test_a_masked_write_resets_nothing() -> None:
    array = Array("npu1", 1)
    array.interface_tile(0).door.write32(LOCK_3, 5)
    npi = Npi(array.engine)
    npi.write(PROTECTED, protect(0, 0))
    npi.write(CONTROL, SHIM_RESET)
    assert array.interface_tile(0).door.read32(LOCK_3) == 5


def test_tiles_without_a_dma_are_reset_too() -> None:
    array = Array("xcve2302", 3)
    for column in range(3):
        array.interface_tile(column).door.write32(0x34010, 126)
    before = array.engine.channels.switch_port.tolist()
    reset(Npi(array.engine), protect(0, 1))
    shown = [array.interface_tile(column).door.read32(0x34010) for column in range(3)]
    assert shown == [0, 0, 126]
    assert array.engine.channels.switch_port.tolist() == before
