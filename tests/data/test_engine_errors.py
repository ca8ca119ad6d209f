"""Does the tile answer what software does wrong with the status bits of the manual, and recover by reset?"""

from __future__ import annotations

import pytest

from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import EAST, OWN, WEST, DmaAddress, DmaLock
from memtile.model.state.causes import Cause
from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.rig import Rig

INVALID, UNAVAILABLE, MEMORY, LOCK, OVERFLOW = 1 << 11, 1 << 10, 1 << 9, 1 << 8, 1 << 18
ERRORS = INVALID | UNAVAILABLE | MEMORY | LOCK | OVERFLOW
START = OWN.address(0)
BOTH = pytest.mark.parametrize("direction", ["s2mm", "mm2s"])


def bd(length: int, address: DmaAddress = START, **more: object) -> Descriptor:
    return Descriptor("memory", length, address, **more)  # type: ignore[arg-type]


def run(rig: Rig, direction: str, descriptor: Descriptor, number: int = 0, bd_number: int = 0) -> int:
    """Issue one BD on a channel whose port is ready, run, and return the channel."""
    ch = rig.s2mm(number) if direction == "s2mm" else rig.mm2s(number)
    if direction == "s2mm":
        rig.feed(ch, 32)
    else:
        rig.catch(ch)
    rig.write_bd(bd_number, descriptor)
    rig.issue(ch, bd_number)
    rig.engine.run(rig.now + 200)
    return ch


def errors(rig: Rig, ch: int) -> int:
    return rig.status(ch) & ERRORS


def assert_halted_until_reset(rig: Rig, ch: int, error: int) -> None:
    """The bit is set, more tasks do not help, and after a reset the channel works again."""
    assert errors(rig, ch) == error
    good = 23 if ch % 2 == 0 else 47
    rig.write_bd(good, bd(4, OWN.address(1000)))
    rig.issue(ch, good)
    before = rig.spent(ch)
    rig.engine.run(rig.now + 50)
    after = rig.spent(ch)
    assert {cause for cause in after if after[cause] != before.get(cause)} <= {Cause.HALTED}
    assert rig.status(ch, "Task_Queue_Size") == 1
    rig.reset(ch)
    assert rig.status(ch) == 0
    if ch < rig.mm2s():
        rig.feed(ch, 4)
    else:
        rig.catch(ch)
    rig.issue(ch, good)
    rig.engine.run(rig.now + 50)
    assert rig.spent(ch).get(Cause.MOVING, 0) == before.get(Cause.MOVING, 0) + 4
    assert errors(rig, ch) == 0


@pytest.mark.feature("F16")
@BOTH
@pytest.mark.parametrize("address", [WEST.address(0), EAST.address(0), EAST.address(131068)])
def test_a_neighbour_that_is_not_there(direction: str, address: DmaAddress) -> None:
    """DEV-NBR-1."""
    rig = Rig()
    ch = run(rig, direction, bd(4, address))
    assert_halted_until_reset(rig, ch, MEMORY)


@pytest.mark.feature("F16")
@BOTH
def test_a_walk_that_leaves_the_last_window(direction: str) -> None:
    """The generated address counts, not only the base: two words fit, the third does not (DEV-HALT-1)."""
    rig = Rig()
    rig.fill(131072 - 4, [5, 6, 7, 8])
    ch = run(rig, direction, bd(4, OWN.address(131072 - 2), dims=(Dim(1, 0),) * 2))
    if direction == "s2mm":
        assert rig.memory(131072 - 4, 4).tolist() == [5, 6, 1, 2]
    else:
        assert rig.sent(ch) == [7]
    assert_halted_until_reset(rig, ch, MEMORY)


@pytest.mark.feature("F16")
@BOTH
@pytest.mark.parametrize("lock", [DmaLock(0), DmaLock(63), DmaLock(128), DmaLock(191)])
def test_an_acquire_of_a_neighbours_lock_that_is_not_there(direction: str, lock: DmaLock) -> None:
    rig = Rig()
    ch = run(rig, direction, bd(4, acquire=Acquire(lock, -1, True)))
    assert rig.spent(ch).get(Cause.MOVING, 0) == 0
    assert_halted_until_reset(rig, ch, LOCK)


@pytest.mark.feature("F16")
@BOTH
def test_a_release_of_a_neighbours_lock_that_is_not_there(direction: str) -> None:
    rig = Rig()
    ch = run(rig, direction, bd(4, release=Release(DmaLock(130), 1)))
    assert_halted_until_reset(rig, ch, LOCK)


@pytest.mark.feature("F16")
@BOTH
def test_a_lock_id_beyond_the_windows_written_raw(direction: str) -> None:
    """The field has eight bits; ids 192 to 255 name nothing."""
    rig = Rig()
    rig.write_bd(0, bd(4))
    rig.door.mask_write32(rig.kind.bd_base + 7 * 4, 0xFFFF, 1 << 15 | 0x7F << 8 | 200)
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    rig.issue(ch, 0)
    rig.engine.run(100)
    assert_halted_until_reset(rig, ch, LOCK)


@pytest.mark.feature("F15", "F16")
@BOTH
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("side", ["west", "east"])
def test_channels_0_to_3_reach_the_neighbours_and_4_and_5_do_not(
    direction: str, number: int, side: str
) -> None:
    rig = Rig(tiles=3, at=1)
    window = WEST if side == "west" else EAST
    neighbour = rig.engine.door(0 if side == "west" else 2)
    neighbour.block_write32(64, [71, 72, 73, 74])
    ch = run(rig, direction, bd(4, window.address(16)), number, 24 * (number % 2))
    if number > 3:
        assert_halted_until_reset(rig, ch, MEMORY)
    elif direction == "s2mm":
        assert neighbour.block_read32(64, 4).tolist() == [1, 2, 3, 4]
    else:
        assert rig.sent(ch) == [71, 72, 73, 74]


@pytest.mark.feature("F15")
def test_a_walk_may_cross_into_the_next_window() -> None:
    rig = Rig(tiles=2, at=0)
    ch = run(rig, "s2mm", bd(4, OWN.address(131072 - 2), dims=(Dim(1, 0),) * 2))
    assert errors(rig, ch) == 0
    assert rig.memory(131072 - 2, 2).tolist() == [1, 2]
    assert rig.engine.door(1).block_read32(0, 2).tolist() == [3, 4]


@pytest.mark.feature("F15", "F17")
def test_a_neighbours_lock_is_taken_and_given() -> None:
    rig = Rig(tiles=2, at=0)
    east = rig.engine.door(1)
    east.write32(rig.kind.lock_value_base + 5 * 16, 1)
    ch = run(rig, "s2mm", bd(4, acquire=Acquire(EAST.lock(5), -1, True), release=Release(EAST.lock(6), 2)))
    assert errors(rig, ch) == 0
    assert east.read32(rig.kind.lock_value_base + 5 * 16) == 0
    assert east.read32(rig.kind.lock_value_base + 6 * 16) == 2


@pytest.mark.feature("F13")
@BOTH
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("bd_number", [0, 23, 24, 47])
def test_a_channel_can_run_the_24_bds_of_its_half(direction: str, number: int, bd_number: int) -> None:
    """DEV-BD-1."""
    rig = Rig()
    ch = run(rig, direction, bd(4), number, bd_number)
    if (bd_number < 24) == (number % 2 == 0):
        assert rig.spent(ch)[Cause.MOVING] == 4
        assert errors(rig, ch) == 0
    else:
        assert_halted_until_reset(rig, ch, UNAVAILABLE)


def test_a_chain_that_leaves_the_half_stops_there() -> None:
    rig = Rig()
    rig.write_bd(30, bd(4))
    ch = run(rig, "s2mm", bd(4, next=30))
    assert rig.spent(ch)[Cause.MOVING] == 4
    assert_halted_until_reset(rig, ch, UNAVAILABLE)


@pytest.mark.parametrize("bd_number", [48, 63])
def test_a_bd_that_does_not_exist(bd_number: int) -> None:
    rig = Rig()
    rig.issue(rig.s2mm(1), bd_number)
    rig.engine.run(50)
    assert_halted_until_reset(rig, rig.s2mm(1), UNAVAILABLE)


@BOTH
def test_a_bd_without_its_valid_bit(direction: str) -> None:
    rig = Rig()
    ch = run(rig, direction, bd(4, valid=False))
    assert_halted_until_reset(rig, ch, INVALID)


@pytest.mark.feature("F11")
def test_a_push_to_a_full_queue_is_dropped_and_flagged_until_cleared() -> None:
    """DEV-QUEUE-1."""
    rig = Rig()
    ch = rig.mm2s(2)
    rig.write_bd(0, bd(1))
    for _ in range(7):
        rig.issue(ch, 0)
    assert errors(rig, ch) == OVERFLOW
    rig.catch(ch)
    rig.engine.run(200)
    assert len(rig.sent(ch)) == 5  # the first one was about to start
    rig.door.write32(rig.status_offset(ch), INVALID)
    assert errors(rig, ch) == OVERFLOW
    rig.door.write32(rig.status_offset(ch), OVERFLOW)
    assert errors(rig, ch) == 0


def test_four_wait_beside_one_that_has_begun() -> None:
    """DEV-QUEUE-1, however far it is."""
    for cycles in range(9):
        rig = Rig()
        ch = rig.mm2s(2)
        rig.write_bd(0, bd(16))
        rig.issue(ch, 0)
        rig.step(cycles)
        for _ in range(4):
            rig.issue(ch, 0)
        assert errors(rig, ch) == 0
        rig.issue(ch, 0)
        assert errors(rig, ch) == OVERFLOW


def test_reset_clears_the_channel_and_nothing_else() -> None:
    """DEV-RESET-1: queue, state, buffers and errors go; memory, locks, BDs and other channels stay."""
    rig = Rig()
    s, other = rig.s2mm(0), rig.s2mm(2)
    rig.write_bd(0, bd(8, release=Release(OWN.lock(0), 1), acquire=Acquire(OWN.lock(1), -1, True)))
    rig.write_bd(1, bd(8, OWN.address(64)))
    rig.set_lock(1, 1)
    for ch, number in ((s, 0), (s, 0), (other, 1)):
        rig.issue(ch, number)
    rig.feed(s, 6)
    rig.feed(other, 8)
    words = rig.door.block_read32(rig.kind.bd_base, 8).tolist()
    rig.step(12)
    rig.reset(s)
    assert rig.status(s) == 0
    rig.engine.run(rig.now + 100)
    assert (rig.lock(0), rig.lock(1)) == (0, 0)
    assert rig.memory(0, 4).tolist() == [1, 2, 3, 4]
    assert rig.memory(64, 8).tolist() == list(range(1, 9))
    assert rig.door.block_read32(rig.kind.bd_base, 8).tolist() == words


def test_a_channel_held_in_reset_starts_nothing() -> None:
    """DEV-RESET-1: what is pushed meanwhile waits."""
    rig = Rig()
    rig.write_bd(0, bd(4))
    rig.catch(rig.mm2s())
    control = rig.kind.control_base + 6 * rig.kind.channel_stride
    rig.door.write32(control, 0b10)
    rig.issue(rig.mm2s(), 0)
    rig.engine.run(50)
    assert rig.sent(rig.mm2s()) == []
    rig.door.write32(control, 0)
    rig.engine.run(rig.now + 50)
    assert len(rig.sent(rig.mm2s())) == 4


def test_status_names_what_the_channel_waits_for() -> None:
    rig = Rig()
    s, m, locked = rig.s2mm(0), rig.mm2s(0), rig.s2mm(2)
    rig.write_bd(0, bd(4))
    rig.write_bd(3, bd(4, acquire=Acquire(OWN.lock(0), -1, True)))
    for ch, number in ((s, 0), (m, 0), (locked, 3)):
        rig.issue(ch, number)
    rig.step()
    assert rig.status(s, "Status") == 1
    rig.step(19)
    assert rig.status(s, "Stalled_Stream_Starvation") == 1
    assert rig.status(m, "Stalled_Stream_Backpressure") == 1
    assert rig.status(locked, "Stalled_Lock_Acq") == 1
    assert rig.status(locked, "Cur_BD") == 3
    assert [rig.status(ch, "Channel_Running") for ch in (s, m, locked)] == [1, 1, 1]
    assert [rig.status(ch, "Status") for ch in (s, m, locked)] == [2, 2, 2]
    assert rig.status(rig.s2mm(4)) == 0


@pytest.mark.parametrize("cut", range(4, 24))
def test_a_reset_at_any_moment_leaves_no_word_behind_in_s2mm(cut: int) -> None:
    """DEV-RESET-1: ingress words, a half-formed access and one that waits for its bank are dropped."""
    rig = Rig()
    rig.memory_control(interleaved=False)  # linear: both channels want bank 0
    s, rival = rig.s2mm(0), rig.s2mm(2)
    rig.write_bd(0, bd(30, dims=(Dim(3, 2), Dim(8))))
    rig.write_bd(1, bd(30, OWN.address(500), dims=(Dim(3, 0),)))
    rig.write_bd(2, bd(20, OWN.address(1000)))
    rig.feed(s, 12)
    rig.feed(rival, 30)
    rig.issue(s, 0)
    rig.issue(rival, 1)
    rig.step(cut)
    still_to_come = list(range(1, 13))[12 - rig.engine.pending(s) :]
    rig.reset(s)
    written = rig.memory(0, 256).tolist()
    fresh = [100 + n for n in range(20 - len(still_to_come))]
    rig.feed(s, fresh)
    rig.issue(s, 2)
    rig.engine.run(rig.now + 300)
    assert rig.memory(1000, 20).tolist() == still_to_come + fresh
    assert rig.memory(0, 256).tolist() == written


@pytest.mark.parametrize("cut", range(4, 16))
def test_a_reset_at_any_moment_leaves_no_word_behind_in_mm2s(cut: int) -> None:
    """DEV-RESET-1: words in the egress buffer and an access that waits for room are dropped."""
    rig = Rig()
    rig.fill(0, list(range(64)))
    m = rig.mm2s()
    rig.write_bd(0, bd(30, OWN.address(1)))
    rig.write_bd(1, bd(6, OWN.address(40)))
    rig.catch(m, [1, 0, 0])
    rig.issue(m, 0)
    rig.step(cut)
    before = len(rig.sent(m))
    rig.reset(m)
    rig.issue(m, 1)
    rig.assert_earliest(cut + 5, lambda: rig.held(m)[-1] == 4)
    rig.engine.run(rig.now + 100)
    assert rig.sent(m)[before:] == [40, 41, 42, 43, 44, 45]


@BOTH
def test_a_compute_tile_shows_no_bit_for_an_address_beyond_its_memory(direction: str) -> None:
    """DEV-HALT-2: AM025 has none there; the channel halts with its error event, and a reset ends that."""
    rig = Rig("compute")
    unit = EventUnit(rig.door, "memory")
    beyond = rig.kind.memory_words - 2
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    if direction == "s2mm":
        rig.feed(ch, 8)
    else:
        rig.catch(ch)
    rig.write_bd(0, Descriptor("compute", 8, DmaAddress(beyond)))
    rig.issue(ch, 0)
    rig.engine.run(rig.now + 200)
    assert rig.status(ch) == 1 << 19 | 2
    assert unit.status(f"DMA_{direction.upper()}_0_ERROR")
    assert not unit.status(f"DMA_{direction.upper()}_1_ERROR")
    assert rig.spent(ch)[Cause.HALTED] > 0
    rig.reset(ch)
    assert rig.status(ch) == 0
