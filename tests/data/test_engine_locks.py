"""Do the locks count, refuse, saturate and flag as the manual says, from the DMA and from software?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtile import MemoryTile, Status
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN
from memtile.testing.rig import Rig

OVERFLOW, UNDERFLOW = 0xC0420, 0xC0428  # locks 0-31; the next word has 32-63


def word_and_bit(lock: int) -> tuple[int, int]:
    return 4 * (lock // 32), 1 << lock % 32


@pytest.mark.feature("F17")
@pytest.mark.parametrize("lock", range(0, 64, 9))
@pytest.mark.parametrize("value", [0, 1, 63])
def test_each_lock_holds_six_bits(lock: int, value: int) -> None:
    """DEV-LOCK-4: 0 to 63; a write keeps the low six bits."""
    rig = Rig()
    rig.set_lock(lock, value)
    assert [rig.lock(n) for n in range(64)] == [value if n == lock else 0 for n in range(64)]
    rig.set_lock(lock, value + 64)
    assert rig.lock(lock) == value


@pytest.mark.feature("F17")
@given(held=st.integers(0, 63), operand=st.integers(-64, 63), lock=st.integers(0, 63))
@settings(max_examples=80, deadline=None)
@example(held=5, operand=-5, lock=0)
@example(held=4, operand=-5, lock=1)
@example(held=5, operand=5, lock=2)
@example(held=6, operand=5, lock=3)
@example(held=4, operand=5, lock=4)
@example(held=0, operand=0, lock=63)
def test_an_acquire_by_software_is_one_attempt(held: int, operand: int, lock: int) -> None:
    """Negative: at least; else: equal (DEV-LOCK-3). Bit 9 of the address is the acquire (DEV-LOCK-5)."""
    rig = RIG
    rig.set_lock(lock, held)
    granted = held >= -operand if operand < 0 else held == operand
    assert rig.request_lock(lock, operand, acquire=True) == granted
    assert rig.lock(lock) == (held + min(operand, 0) if granted else held)


@pytest.mark.feature("F17")
@given(held=st.integers(0, 63), operand=st.integers(-64, 63), lock=st.integers(0, 63))
@settings(max_examples=80, deadline=None)
@example(held=62, operand=1, lock=0)
@example(held=63, operand=1, lock=1)
@example(held=1, operand=-1, lock=2)
@example(held=0, operand=-1, lock=63)
def test_a_release_by_software_adds_and_flags(held: int, operand: int, lock: int) -> None:
    """DEV-LOCK-1: saturates, and the sticky flag of that lock alone is set."""
    rig = RIG
    rig.set_lock(lock, held)
    assert rig.request_lock(lock, operand, acquire=False)
    total = held + operand
    assert rig.lock(lock) == min(max(total, 0), 63)
    word, bit = word_and_bit(lock)
    for register, flagged in ((OVERFLOW, total > 63), (UNDERFLOW, total < 0)):
        assert rig.door.read32(register + word) == bit * flagged
        assert rig.door.read32(register + 4 - word) == 0
        rig.door.write32(register + word, bit)
        assert rig.door.read32(register + word) == 0


RIG = Rig()  # software's accesses need no cycle, so one tile serves all examples


def test_flags_clear_one_by_one() -> None:
    rig = Rig()
    for lock in (1, 2, 40):
        rig.request_lock(lock, -1, acquire=False)
    assert rig.door.read32(UNDERFLOW) == 0b110
    rig.door.write32(UNDERFLOW, 0b010)
    assert rig.door.read32(UNDERFLOW) == 0b100
    assert rig.door.read32(UNDERFLOW + 4) == 1 << 8


@pytest.mark.parametrize(("held", "value"), [(63, 1), (60, 4), (0, -1), (5, -9), (10, 3), (10, -10)])
def test_a_release_by_the_dma_adds_and_flags(held: int, value: int) -> None:
    """DEV-LOCK-1."""
    rig = Rig()
    rig.set_lock(33, held)
    rig.write_bd(0, Descriptor("memory", 2, OWN.address(0), release=Release(OWN.lock(33), value)))
    rig.feed(rig.s2mm(), 2)
    rig.issue(rig.s2mm(), 0)
    rig.engine.run(100)
    total = held + value
    assert rig.lock(33) == min(max(total, 0), 63)
    assert rig.door.read32(OVERFLOW + 4) == 2 * (total > 63)
    assert rig.door.read32(UNDERFLOW + 4) == 2 * (total < 0)


@pytest.mark.feature("F14", "F17")
@pytest.mark.parametrize("held", [0, 1, 2, 3, 63])
@pytest.mark.parametrize("operand", [-63, -2, -1, 0, 1, 2, 63])
def test_an_acquire_by_the_dma_waits_for_its_condition(held: int, operand: int) -> None:
    """DEV-LOCK-3: an acquire of at least V subtracts V; an acquire of exactly V changes nothing."""
    rig = Rig()
    rig.set_lock(7, held)
    rig.write_bd(0, Descriptor("memory", 2, OWN.address(0), acquire=Acquire(OWN.lock(7), operand, True)))
    rig.feed(rig.s2mm(), 2)
    rig.issue(rig.s2mm(), 0)
    rig.engine.run(100)
    granted = held >= -operand if operand < 0 else held == operand
    assert rig.lock(7) == (held + min(operand, 0) if granted else held)
    assert rig.status(rig.s2mm(), "Stalled_Lock_Acq") == (not granted)
    assert rig.memory(0, 2).tolist() == ([1, 2] if granted else [0, 0])


@pytest.mark.feature("F17")
@pytest.mark.parametrize("value", [0, 2, 63])
def test_acquire_equal_of_a_design_waits_for_one_value_alone(value: int) -> None:
    """A lock that is higher would let ``acquire`` go on."""
    for held in {max(value - 1, 0), value, min(value + 1, 63)}:
        tile = MemoryTile()
        lock, buffer = tile.lock(held), tile.buffer("b", 8)
        tile.mm2s[0].start(tile.read(buffer).guarded(acquire=lock.acquire_equal(value)))
        tile.mm2s[0].expect(np.zeros(8, dtype=np.uint32))
        result = tile.run()
        assert result.status is (Status.FINISHED if held == value else Status.STUCK)
        assert tile.lock_value(lock) == held
        if held != value:
            assert f"waits for lock 0 (needs exactly {value}, has {held})" in result.waiting[0]


@pytest.mark.feature("F17")
def test_acquire_equal_goes_on_when_a_release_makes_the_value() -> None:
    tile = MemoryTile()
    lock, buffer, data = tile.lock(1), tile.buffer("b", 8), np.arange(8, dtype=np.uint32)
    tile.s2mm[0].start(tile.write(buffer).guarded(release=lock.release(2)))
    tile.mm2s[0].start(tile.read(buffer).guarded(acquire=lock.acquire_equal(3)))
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    assert tile.run().good
    assert tile.lock_value(lock) == 3


def test_an_acquire_that_is_not_enabled_is_not_made() -> None:
    rig = Rig()
    rig.write_bd(0, Descriptor("memory", 2, OWN.address(0), acquire=Acquire(OWN.lock(7), -5, False)))
    rig.feed(rig.s2mm(), 2)
    rig.issue(rig.s2mm(), 0)
    rig.engine.run(100)
    assert rig.memory(0, 2).tolist() == [1, 2]


def test_software_can_let_a_channel_go_on() -> None:
    rig = Rig()
    rig.write_bd(0, Descriptor("memory", 2, OWN.address(0), acquire=Acquire(OWN.lock(7), 3, True)))
    rig.feed(rig.s2mm(), 2)
    rig.issue(rig.s2mm(), 0)
    for given_so_far in range(3):
        rig.engine.run(rig.now + 50)
        assert rig.lock(7) == given_so_far
        rig.request_lock(7, 1, acquire=False)
    rig.engine.run(rig.now + 50)
    assert rig.lock(7) == 3
    assert rig.memory(0, 2).tolist() == [1, 2]


@pytest.mark.parametrize("register", ["lock_overflow_base", "lock_underflow_base"])
def test_clearing_flags_stays_inside_the_tile(register: str) -> None:
    """A compute tile has 16 locks: the other 16 bits of the word are nobody's, not its neighbour's."""
    rig = Rig("compute", tiles=2, at=0)
    kind, neighbour = rig.kind, rig.engine.door(1)
    change = -1 if register == "lock_underflow_base" else 63
    neighbour.write32(kind.lock_value_base, 1 if change > 0 else 0)
    neighbour.read32(kind.lock_request_base | (change & 0x7F) << 2)
    flags = getattr(kind, register)
    assert neighbour.read32(flags) == 1
    rig.door.write32(flags, 0xFFFFFFFF)
    assert neighbour.read32(flags) == 1
    neighbour.write32(flags, 0xFFFFFFFF)
    assert neighbour.read32(flags) == 0
