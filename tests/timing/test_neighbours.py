"""Who gets the interface to a neighbour, when, and what does it cost to lose?"""

from __future__ import annotations

import pytest

from memtile.arch.timing import Timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import EAST, OWN, WEST, Window
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig

BANK_WORDS = 0x8000 // 4
STRIDED = (Dim(2, 0),)


def bench(latency: int = 0) -> Rig:
    """The middle one of three tiles, all with linear banks."""
    rig = Rig(tiles=3, at=1, timing=Timing(neighbour_latency=latency))
    for tile in range(3):
        rig.beside(tile).memory_control(interleaved=False)
    return rig


def reader(rig: Rig, number: int, window: Window, bank: int, words: int = 8) -> int:
    ch, bd = rig.mm2s(number), 24 * (number % 2) + number
    rig.write_bd(bd, Descriptor("memory", words, window.address(bank * BANK_WORDS), dims=STRIDED))
    rig.catch(ch)
    rig.issue(ch, bd)
    return ch


def writer(rig: Rig, number: int, window: Window, bank: int, words: int = 8) -> int:
    ch, bd = rig.s2mm(number), 24 * (number % 2) + number + 6
    rig.write_bd(bd, Descriptor("memory", words, window.address(bank * BANK_WORDS), dims=STRIDED))
    rig.feed(ch, words)
    rig.issue(ch, bd)
    return ch


def moving(rig: Rig, *channels: int) -> list[list[int]]:
    return [rig.cycles(ch, Cause.MOVING) for ch in channels]


@pytest.mark.feature("F15")
def test_readers_of_one_side_take_turns_although_their_banks_differ() -> None:
    """DEV-ARB-3: four strided readers of four banks of the eastern tile, a word every fourth cycle each."""
    rig = bench()
    channels = [reader(rig, n, EAST, n) for n in range(4)]
    rig.step(50)
    assert moving(rig, *channels) == [list(range(6 + n, 38, 4)) for n in range(4)]
    lost = [rig.spent(ch)[Cause.NEIGHBOUR_BUSY] for ch in channels]
    assert lost == [21, 22, 23, 24]


def test_contiguous_readers_lose_nothing_once_started() -> None:
    """An access of four words every fourth cycle each: the interface is just enough for four channels."""
    rig = bench()
    channels = []
    for n in range(4):
        ch, bd = rig.mm2s(n), 24 * (n % 2) + n
        rig.write_bd(bd, Descriptor("memory", 400, EAST.address(n * BANK_WORDS)))
        rig.catch(ch)
        rig.issue(ch, bd)
        channels.append(ch)
    rig.step(410)
    assert moving(rig, *channels) == [list(range(6 + n, 406 + n)) for n in range(4)]


@pytest.mark.parametrize(
    "others",
    [
        lambda rig: reader(rig, 1, WEST, 3),
        lambda rig: writer(rig, 1, EAST, 3),
        lambda rig: reader(rig, 1, OWN, 0),
    ],
    ids=["other side", "other direction", "own memory"],
)
def test_each_side_and_direction_has_an_interface_of_its_own(others: object) -> None:
    rig = bench()
    first = reader(rig, 0, EAST, 0)
    second = others(rig)  # type: ignore[operator]
    rig.step(30)
    assert rig.cycles(first, Cause.MOVING) == list(range(6, 14))
    assert Cause.NEIGHBOUR_BUSY not in rig.spent(second)


@pytest.mark.parametrize("receives", [True, False], ids=["S2MM", "MM2S"])
def test_two_tiles_reach_the_one_between_through_interfaces_of_their_own(receives: bool) -> None:
    """The western and the eastern tile use other banks of the middle one: nobody waits."""
    rig = bench()
    for tile, window in ((0, EAST), (2, WEST)):
        door, first = rig.engine.door(tile), tile * 2 * rig.kind.channels
        ch = first if receives else first + rig.kind.channels
        address = window.address((1 + tile) * BANK_WORDS)
        door.block_write32(rig.kind.bd_base, encode(Descriptor("memory", 8, address, dims=STRIDED)))
        rig.feed(ch, 8) if receives else rig.catch(ch)
        door.write32(rig.kind.queue_base + (ch - first) * rig.kind.channel_stride, 0)
    rig.step(30)
    guests = [tile * 12 + (0 if receives else 6) for tile in (0, 2)]
    start = 5 if receives else 6
    assert moving(rig, *guests) == [list(range(start, start + 8))] * 2


def test_the_winner_of_the_interface_may_lose_the_bank_and_keeps_its_turn() -> None:
    """In cycle 5 guest 0 has the interface, but the bank serves its own tile's channel; in 6 it serves guest
    0, whose turn has stayed. In 7 guest 2 has the interface and loses the bank again; and so on."""
    rig = bench()
    guests = [reader(rig, 0, EAST, 0, 2), reader(rig, 2, EAST, 0, 2)]
    east = rig.engine.door(2)
    own = 2 * 12 + 6
    descriptor = Descriptor("memory", 2, OWN.address(64), dims=STRIDED)
    east.block_write32(rig.kind.bd_base, encode(descriptor))
    rig.catch(own)
    east.write32(rig.kind.queue_base + 6 * rig.kind.channel_stride, 0)
    rig.step(20)
    assert [rig.timeline(ch)[4:12] for ch in (*guests, own)] == ["--B#nn#.", "--nnB#n#", "--#B#..."]


def test_accounts_close_when_the_interface_is_shared() -> None:
    rig = bench(latency=2)
    for n in range(4):
        reader(rig, n, EAST if n % 2 else WEST, n, 40)
        writer(rig, n, EAST, n + 4, 40)
    rig.step(300)
    assert (rig.engine.state.spent.sum(axis=1) == 300).all()
    assert rig.engine.state.spent[:, Cause.MOVING].sum() == 8 * 40


@pytest.mark.parametrize("latency", [0, 1, 5])
def test_an_access_to_a_neighbour_asks_so_much_later(latency: int) -> None:
    """DEV-NBR-2: each access, one at a time; the channel's own memory costs nothing."""
    rig = bench(latency)
    guest, local = reader(rig, 0, EAST, 0, 4), reader(rig, 2, OWN, 0, 4)
    rig.step(60)
    assert moving(rig, guest) == [[6 + latency + n * (1 + latency) for n in range(4)]]
    assert moving(rig, local) == [[6, 7, 8, 9]]


@pytest.mark.parametrize("latency", [0, 1, 5])
def test_a_write_to_a_neighbour_asks_so_much_later(latency: int) -> None:
    """DEV-NBR-2: word 1 moves in cycle 5, its access is written in 6 + latency."""
    rig = bench(latency)
    writer(rig, 0, EAST, 0, 1)
    east = rig.engine.door(2)
    rig.assert_earliest(6 + latency, lambda: east.read32(0) == 1)


def test_skipping_idle_cycles_waits_for_an_access_on_its_way() -> None:
    stepped, ran = bench(16), bench(16)
    for rig in (stepped, ran):
        reader(rig, 0, EAST, 0, 3)
    stepped.step(200)
    ran.engine.run(200)
    assert ran.sent(ran.mm2s()) == stepped.sent(stepped.mm2s())
    assert len(ran.sent(ran.mm2s())) == 3
    assert (ran.engine.state.spent[:, : Cause.IDLE] == stepped.engine.state.spent[:, : Cause.IDLE]).all()


def everywhere(rig: Rig) -> tuple[list[int], list[int]]:
    """All that can reach a bank of the middle tile: its own channels, and eight of each neighbour.

    Returns the model indices of the own channels and of the others; they read and write without end.
    """
    own, guests = [], []
    for tile, window, channels in ((1, OWN, range(6)), (0, EAST, range(4)), (2, WEST, range(4))):
        beside = rig.beside(tile)
        for receives in (True, False):
            for number in channels:
                bd = 24 * (number % 2) + number + 6 * receives
                ch = beside.s2mm(number) if receives else beside.mm2s(number)
                at = window.address(64 * number + 1024 * receives + 2048 * tile)
                beside.write_bd(bd, Descriptor("memory", 64, at, dims=STRIDED, next=bd))
                beside.feed(ch, 4000) if receives else beside.catch(ch)
                beside.issue(ch, bd)
                (own if tile == 1 else guests).append(ch)
    return own, guests


@pytest.mark.feature("F03")
def test_a_bank_has_one_share_for_each_interface_and_not_for_each_channel_behind_it() -> None:
    """DEV-ARB-3: six readers, six writers, and west and east for each direction are sixteen requesters."""
    rig = Rig(tiles=3, at=1)
    for tile in range(3):
        rig.beside(tile).memory_control(interleaved=False)
    own, guests = everywhere(rig)
    assert (len(own), len(guests)) == (12, 16)
    rig.step(100)
    before = rig.engine.state.channels.moved.copy() + 64 * rig.engine.state.channels.bds_done
    rig.step(16 * 100)
    after = rig.engine.state.channels.moved + 64 * rig.engine.state.channels.bds_done
    got = after - before
    assert all(abs(int(got[ch]) - 100) <= 2 for ch in own)
    assert all(abs(int(got[ch]) - 25) <= 2 for ch in guests)
