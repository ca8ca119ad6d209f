"""Does the memory-mapped port reach all of the 1 MB tile, and refuse what nothing answers?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.arch.events import slave_error_status
from memtile.arch.register_map import register_map, tile_register
from memtile.arch.tiles import TileName
from memtile.arch.timing import Timing
from memtile.errors import RegisterError
from memtile.model.register_tables import answering
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.passing_time import PaceColumn, PacedAccesses
from memtile.sim.loop.engine import Engine
from memtile.testing.rig import Rig

DATA_BYTES, TILE_BYTES = 0x80000, 0x100000
MEMORY_CONTROL = tile_register("memory", "Memory_Control").offset


@pytest.mark.feature("F21")
@pytest.mark.parametrize("offset", [0, 4, 0x1234, DATA_BYTES - 4])
def test_a_word_of_data_memory(offset: int) -> None:
    """DEV-ARB-2: at once, without a cycle."""
    rig = Rig()
    rig.door.write32(offset, 0xDEADBEEF)
    assert rig.door.read32(offset) == 0xDEADBEEF
    assert rig.memory(offset // 4, 1).tolist() == [0xDEADBEEF]
    assert rig.now == 0


@pytest.mark.feature("F21")
def test_blocks_of_data_memory_and_of_registers() -> None:
    rig = Rig()
    rig.door.block_write32(0x100, np.arange(1000, dtype=np.uint32))
    assert rig.door.block_read32(0x100, 1000).tolist() == list(range(1000))
    words = [1, 2, 3, 4, 5, 6, 7, 8]
    rig.door.block_write32(rig.kind.bd_base, words)
    assert rig.door.block_read32(rig.kind.bd_base, 8).tolist() == words


@pytest.mark.parametrize(("offset", "hole"), [(0x7FFF8, 0x80000), (0x90000, 0x90000)])
def test_a_block_with_a_word_that_nothing_answers_is_refused_whole(offset: int, hole: int) -> None:
    rig = Rig()
    with pytest.raises(RegisterError, match=f"^memory tile: nothing is at offset {hole:#x}, "):
        rig.door.block_write32(offset, [1, 2, 3, 4])
    assert rig.door.block_read32(0x7FFF8, 2).tolist() == [0, 0]
    status, bit = slave_error_status("memory")
    assert rig.door.read32(status) >> bit & 1


@pytest.mark.parametrize(
    ("name", "has_dma"), [("memory", True), ("compute", True), ("interface", True), ("interface", False)]
)
def test_the_table_of_what_answers_is_that_of_the_model(name: TileName, has_dma: bool) -> None:
    engine, words = Engine([Placed(name, has_dma=has_dma)], Timing(access_cycles=0)), TILE_BYTES // 4
    writes = PacedAccesses.room(words)
    writes.offsets[:], writes.counters[PaceColumn.END] = np.arange(words) * 4, words
    assert list(engine.perform(writes))[-1] == words
    np.testing.assert_array_equal(answering(name, has_dma), writes.answers == 0)


@pytest.mark.parametrize("given", ["x", 1.5, 4.0, None])
def test_an_address_that_is_no_number(given: Any) -> None:
    rig, array = Rig(), Array("npu1", columns=1)
    tile = rf"^memory tile: offset is {given!r}; it must be a multiple of 0x4 in 0x0\.\.0xffffc"
    for access in (
        lambda door: door.read32(given),
        lambda door: door.write32(given, 1),
        lambda door: door.mask_write32(given, 1, 1),
        lambda door: door.block_write32(given, [1]),
        lambda door: door.block_write32(given, [-1]),
        lambda door: door.block_read32(given, 1),
        lambda door: door.poll(given, 1, 1, lambda: False),
    ):
        with pytest.raises(RegisterError, match=tile):
            access(rig.door)
        with pytest.raises(RegisterError, match=f"^array: address is {given!r}; it must be a whole number"):
            access(array.door)
    with pytest.raises(
        RegisterError,
        match=(
            f"^memory tile: the bytes written are {given!r}, allowed are those of data memory, 0x0..0x7ffff"
        ),
    ):
        rig.door.write_bytes(given, b"1")


def test_a_block_of_a_negative_length() -> None:
    text = (
        r"^memory tile: the block at 0x00100 has -1 words; it must have 0 or more \(AM025 memory "
        r"map\)\.$"
    )
    with pytest.raises(RegisterError, match=text):
        Rig().door.block_read32(0x100, -1)
    assert Rig().door.block_read32(0x100, 0).tolist() == []


def test_a_masked_write_changes_the_masked_bits() -> None:
    rig = Rig()
    rig.door.write32(0x40, 0xFFFF0000)
    rig.door.mask_write32(0x40, 0x00FF00FF, 0x12345678)
    assert rig.door.read32(0x40) == 0xFF340078


def test_polling_advances_until_the_value_or_the_end() -> None:
    rig = Rig()
    rig.door.write32(MEMORY_CONTROL, 0b11)
    assert rig.door.poll(MEMORY_CONTROL, 1, 0, lambda: rig.engine.run(rig.now + 500) is not None)
    assert rig.now >= 2048
    assert not rig.door.poll(0x40, 1, 1, lambda: False)


@pytest.mark.feature("F21")
def test_every_register_of_the_map_answers() -> None:
    rig = Rig()
    for offset, register in register_map("memory_tile").items():
        if register.width == 32:
            assert 0 <= rig.door.read32(offset) < 1 << 32


@pytest.mark.feature("F21")
@pytest.mark.parametrize("offset", [DATA_BYTES, 0x90000, 0xA06E0, TILE_BYTES - 4])
def test_an_address_that_nothing_answers(offset: int) -> None:
    rig = Rig()
    text = (
        rf"^memory tile: nothing is at offset {offset:#07x}, neither data memory nor a register \(AM025 "
        r"memory map\)\. The tile answers with a slave error\.$"
    )
    with pytest.raises(RegisterError, match=text):
        rig.door.read32(offset)
    with pytest.raises(RegisterError, match=text):
        rig.door.write32(offset, 0)


@pytest.mark.parametrize("offset", [-4, 2, TILE_BYTES, 0x1FFFFFFFC])
def test_an_address_outside_the_tile_or_not_of_a_word(offset: int) -> None:
    text = (
        rf"^memory tile: offset is {hex(offset)}; it must be a multiple of 0x4 in 0x0\.\.0xffffc \(AM025 "
        r"memory map\)\.$"
    )
    with pytest.raises(RegisterError, match=text):
        Rig().door.read32(offset)


@pytest.mark.parametrize("value", [-1, 1 << 32, 1 << 70, 1.5, 2.0])
def test_a_value_that_is_not_a_word(value: Any) -> None:
    given = hex(value) if isinstance(value, int) else value
    text = (
        rf"^memory tile: the value for 0x00044 is {given}, allowed are 0x0\.\.0xffffffff \(AM025 memory "
        r"map\)\.$"
    )
    rig = Rig()
    with pytest.raises(RegisterError, match=text):
        rig.door.write32(0x44, value)
    with pytest.raises(RegisterError, match=text):
        rig.door.block_write32(0x40, [7, value])
    assert rig.door.read32(0x40) == 0


def test_bits_of_signed_words_are_taken_as_they_are() -> None:
    rig = Rig()
    rig.door.block_write32(0x40, np.array([-1, 1], dtype=np.int32))  # type: ignore[arg-type]
    assert rig.door.block_read32(0x40, 2).tolist() == [0xFFFFFFFF, 1]


def test_reserved_bits_and_read_only_registers_keep_nothing() -> None:
    rig = Rig()
    rig.door.write32(MEMORY_CONTROL, 0xFFFFFFFE)
    assert rig.door.read32(MEMORY_CONTROL) == 0b10
    rig.door.write32(rig.status_offset(0), 0xFFFFFFFF)
    assert rig.status(0) == 0


@pytest.mark.feature("F21")
@pytest.mark.parametrize(("offset", "data"), [(0x41, b"\x11"), (0x42, b"\x22\x33\x44\x55\x66"), (0x40, b"")])
def test_byte_enables_on_data_memory(offset: int, data: bytes) -> None:
    """DEV-AXI-2."""
    rig = Rig()
    rig.door.block_write32(0x40, [0xA3A2A1A0, 0xB3B2B1B0])
    wanted = bytearray(bytes.fromhex("a0a1a2a3b0b1b2b3"))
    wanted[offset - 0x40 : offset - 0x40 + len(data)] = data
    rig.door.write_bytes(offset, data)
    assert rig.door.block_read32(0x40, 2).tobytes() == bytes(wanted)


def test_byte_enables_in_an_array() -> None:
    door = Array("npu1", columns=2).door
    place = door.address(1, 1, 0x40)
    door.write_bytes(place + 3, b"\x11\x22")
    assert door.block_read32(place, 2).tolist() == [0x11000000, 0x22]
    with pytest.raises(RegisterError, match="array: address 0x10000000 "):
        door.write_bytes(8 << 25, b"")


@pytest.mark.parametrize("offset", [-1, DATA_BYTES - 1, 0xA0000])
def test_byte_enables_elsewhere(offset: int) -> None:
    rig = Rig()
    text = (
        rf"^memory tile: the bytes written are {offset:#x}\.\.{offset + 1:#x}, allowed are those of "
        r"data memory, 0x0\.\.0x7ffff \(AM025 memory map\)\. Registers take whole 32-bit words\.$"
    )
    with pytest.raises(RegisterError, match=text):
        rig.door.write_bytes(offset, b"\x01\x02")
    assert rig.door.read32(DATA_BYTES - 4) == 0


def test_privileged_registers_answer() -> None:
    """DEV-AXI-1: Memory_Control is privileged."""
    rig = Rig()
    rig.door.write32(MEMORY_CONTROL, 0)
    assert rig.door.read32(MEMORY_CONTROL) == 0


def test_polling_an_array_lets_it_run() -> None:
    array = Array("npu1", columns=1)
    control = array.door.address(0, 1, MEMORY_CONTROL)
    array.door.write32(control, 0b11)
    assert not array.poll(control, 1, 0, max_cycles=1000)
    assert array.engine.now == 1000
    assert array.poll(control, 1, 0)
    assert 2048 <= array.engine.now <= 2200
    assert not array.poll(control, 1, 1)
    assert array.engine.now < 10_000  # nothing moves: it does not wait for the limit
