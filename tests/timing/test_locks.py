"""Are locks granted, refused and released in exactly the cycle that the page says?"""

from __future__ import annotations

import pytest

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.model.state.event_columns import ChannelEvent
from memtile.testing.rig import Rig

TAKE, GIVE = Acquire(OWN.lock(0), -1, True), Release(OWN.lock(0), 1)


def bd(length: int, word: int = 0, **more: object) -> Descriptor:
    return Descriptor("memory", length, OWN.address(word), **more)  # type: ignore[arg-type]


def writers(rig: Rig, *numbers: int, length: int = 2) -> list[int]:
    """S2MM channels that each take lock 0 once."""
    channels = [rig.s2mm(n) for n in numbers]
    for index, ch in enumerate(channels):
        rig.write_bd(index, bd(length, 64 * index, acquire=TAKE))
        rig.feed(ch, length)
        rig.issue(ch, index)
    return channels


@pytest.mark.parametrize(("direction", "pipeline"), [("s2mm", 1), ("mm2s", 2)])
def test_first_word_after_the_lock_is_set(direction: str, pipeline: int) -> None:
    rig = Rig()
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    rig.feed(rig.s2mm(), 4)
    rig.catch(rig.mm2s())
    rig.write_bd(0, bd(4, acquire=TAKE))
    rig.issue(ch, 0)
    rig.step(25)
    assert rig.cycles(ch, Cause.LOCK_ACQUIRE) == list(range(4, 25))
    rig.set_lock(0, 1)
    rig.assert_earliest(25, lambda: rig.lock(0) == 0)
    rig.assert_earliest(25 + pipeline, lambda: rig.timeline(ch).endswith("#"))


@pytest.mark.feature("F14")
def test_a_release_is_seen_by_acquires_of_the_next_cycle() -> None:
    """DEV-LOCK-2: S2MM releases in the cycle of its last write, the other channel acquires one later."""
    rig = Rig()
    s, m = rig.s2mm(), rig.mm2s()
    rig.write_bd(0, bd(4, release=GIVE))
    rig.write_bd(1, bd(4, acquire=TAKE))
    rig.feed(s, 4)
    rig.catch(m)
    rig.issue(m, 1)
    rig.issue(s, 0)
    rig.assert_earliest(9, lambda: rig.lock(0) == 1)
    rig.assert_earliest(10, lambda: rig.lock(0) == 0)
    rig.assert_earliest(12, lambda: rig.timeline(m).endswith("#"))
    rig.step(5)
    assert rig.sent(m) == [1, 2, 3, 4]


@pytest.mark.parametrize(("stride", "granted"), [(1, 5), (2, 8)], ids=["one access", "four accesses"])
def test_mm2s_releases_when_its_last_access_is_granted(stride: int, granted: int) -> None:
    """DEV-MM2S-1: before its last word leaves."""
    rig = Rig()
    m = rig.mm2s()
    rig.write_bd(0, bd(4, dims=((stride, 0),), release=GIVE))
    rig.issue(m, 0)
    rig.assert_earliest(granted, lambda: rig.lock(0) == 1)
    rig.step(20)
    assert rig.held(m)[-1] == 4


def test_one_acquire_per_lock_and_cycle() -> None:
    """DEV-LOCK-2."""
    rig = Rig()
    channels = writers(rig, 0, 2, 4)
    rig.set_lock(0, 3)
    for granted, left in enumerate((2, 1, 0)):
        rig.assert_earliest(4 + granted, lambda left=left: rig.lock(0) == left)
    assert [len(rig.cycles(ch, Cause.LOCK_ACQUIRE)) for ch in channels] == [0, 1, 2]


def test_two_locks_are_granted_in_one_cycle() -> None:
    rig = Rig()
    for n in (0, 2):
        rig.write_bd(n, bd(2, 64 * n, acquire=Acquire(OWN.lock(n), -1, True)))
        rig.feed(rig.s2mm(n), 2)
        rig.issue(rig.s2mm(n), n)
        rig.set_lock(n, 1)
    rig.assert_earliest(4, lambda: rig.lock(0) == rig.lock(2) == 0)


def test_the_channel_after_the_last_winner_comes_first() -> None:
    """DEV-LOCK-2: with one unit at a time, channels 2, 4 and 0 are served in rotating order."""
    rig = Rig()
    channels = writers(rig, 0, 2, 4)
    order = []
    rig.step(6)
    for _ in channels:
        rig.set_lock(0, 1)
        rig.step(6)
        order += [ch for ch in channels if rig.spent(ch).get(Cause.MOVING) and ch not in order]
    assert order == channels
    rig.issue(channels[0], 0)
    rig.issue(channels[1], 1)
    rig.feed(channels[0], 2)
    rig.feed(channels[1], 2)
    rig.step(6)
    rig.set_lock(0, 1)
    rig.step(6)
    assert rig.spent(channels[0])[Cause.MOVING] == 4  # after 4 comes 0 again
    rig.issue(channels[0], 0)
    rig.feed(channels[0], 2)
    rig.step(6)
    rig.set_lock(0, 1)
    rig.step(6)
    assert rig.spent(channels[1])[Cause.MOVING] == 4  # 0 was last served, so 2 is next
    assert rig.spent(channels[0])[Cause.MOVING] == 4


def test_a_blocked_acquire_does_not_keep_others_from_the_lock() -> None:
    """An acquire that is not satisfied does not bid: S2MM 0 waits for five units, S2MM 2 needs one."""
    rig = Rig()
    first, second = rig.s2mm(0), rig.s2mm(2)
    rig.write_bd(0, bd(2, acquire=Acquire(OWN.lock(0), -5, True)))
    rig.write_bd(1, bd(2, 64, acquire=TAKE))
    for index, ch in enumerate((first, second)):
        rig.feed(ch, 2)
        rig.issue(ch, index)
    rig.set_lock(0, 4)
    rig.step(10)
    assert rig.lock(0) == 3
    assert rig.cycles(second, Cause.MOVING) == [5, 6]
    assert rig.timeline(first).endswith("L")


@pytest.mark.parametrize(("direction", "pipeline"), [("s2mm", 1), ("mm2s", 2)])
def test_who_waited_for_a_lock_hears_of_it_later(direction: str, pipeline: int) -> None:
    """DEV-LOCK-6: the lock is taken in cycle 25 as before, the stall lasts five cycles longer."""
    waits = {"s2mm_lock_wait": 9, "mm2s_lock_wait": 9} | {f"{direction}_lock_wait": 5}
    rig = Rig(timing=Timing(**waits))
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    rig.feed(rig.s2mm(), 4)
    rig.catch(rig.mm2s())
    rig.write_bd(0, bd(4, acquire=TAKE))
    rig.issue(ch, 0)
    rig.step(25)
    rig.set_lock(0, 1)
    rig.assert_earliest(25, lambda: rig.lock(0) == 0)
    rig.assert_earliest(25 + 5 + pipeline, lambda: rig.timeline(ch).endswith("#"))
    assert rig.cycles(ch, Cause.LOCK_ACQUIRE) == list(range(4, 30))
    assert int(rig.engine.state.seen[ch, ChannelEvent.STALLED_LOCK]) == 29


def test_who_finds_its_lock_there_hears_of_it_at_once() -> None:
    """DEV-LOCK-6: of three BDs in a chain only the second one finds no lock."""
    rig = Rig(timing=Timing(s2mm_lock_wait=5))
    s = rig.s2mm()
    for n in range(3):
        rig.write_bd(n, bd(2, 64 * n, acquire=TAKE, next=n + 1 if n < 2 else None))
    rig.set_lock(0, 1)
    rig.feed(s, 6)
    rig.issue(s, 0)
    rig.step(12)
    rig.set_lock(0, 2)
    rig.step(14)
    assert rig.timeline(s) == "tttt-##LLLLLLLLLL-##-##-.."


def test_the_end_of_a_wait_is_found_without_looking_at_every_cycle() -> None:
    """DEV-LOCK-6: the clock jumps to it, and nobody takes the design for stuck meanwhile."""
    at = []
    for one_by_one in (True, False):
        rig = Rig(timing=Timing(mm2s_lock_wait=16))
        m = rig.mm2s()
        rig.catch(m)
        rig.write_bd(0, bd(4, acquire=TAKE))
        rig.issue(m, 0)
        rig.engine.run(50)
        rig.set_lock(0, 1)
        began = rig.now
        if one_by_one:
            rig.step(400)
        else:
            rig.engine.run(began + 400)
        at.append(rig.finished_bd(m) - began)
    assert at == [16 + 1 + 2] * 2
