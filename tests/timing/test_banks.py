"""Does each bank serve one access per cycle, in turn, and does the loser wait exactly one cycle?"""

from __future__ import annotations

from itertools import pairwise

import pytest

from memtile.arch.timing import Timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import EAST, OWN, DmaAddress
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig

INTERLEAVED, ZEROISE = 0b10, 0b01  # bits of Memory_Control
BANK_WORDS = 8192  # linear: 32 KB
EVERY_OTHER = (Dim(2, 0),)


def reading(rig: Rig, number: int, bd: int, word: int, length: int, dims: tuple[Dim, ...] = ()) -> int:
    """An MM2S channel with one BD issued and a port that is always ready."""
    ch = rig.mm2s(number)
    rig.write_bd(bd, Descriptor("memory", length, OWN.address(word), dims=dims))
    rig.catch(ch)
    rig.issue(ch, bd)
    return ch


def readers(rig: Rig, words: list[int], length: int, dims: tuple[Dim, ...] = ()) -> list[int]:
    """Channels MM2S 0, 2, 4 ... reading from the given words."""
    return [reading(rig, 2 * n, n, word, length, dims) for n, word in enumerate(words)]


def sending(rig: Rig, ch: int) -> bool:
    return rig.timeline(ch).endswith("#")


@pytest.mark.feature("F03")
@pytest.mark.parametrize(("second", "delay"), [(64, 1), (BANK_WORDS, 0)], ids=["same bank", "other bank"])
def test_loser_of_a_bank_is_one_cycle_late(second: int, delay: int) -> None:
    rig = Rig()
    rig.memory_control(interleaved=False)
    first, loser = readers(rig, [0, second], 1)
    rig.assert_earliest(6 + delay, lambda: sending(rig, loser))
    assert rig.cycles(first, Cause.MOVING) == [6]
    assert rig.cycles(loser, Cause.BANK_CONFLICT) == [6] * delay


@pytest.mark.feature("F03")
def test_a_bank_reads_or_writes_in_a_cycle() -> None:
    rig = Rig()
    rig.memory_control(interleaved=False)
    writer, reader = rig.s2mm(), rig.mm2s()
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(0), dims=EVERY_OTHER))
    rig.feed(writer, 8)
    rig.issue(writer, 0)
    reading(rig, 0, 1, 64, 8, EVERY_OTHER)
    first, accesses = 5, 16
    delay = rig.engine.timing.finished_bd_delay
    rig.assert_earliest(first + accesses - 1, lambda: rig.finished_bd(writer) > 0)
    assert rig.finished_bd(writer) == first + accesses - 1 + delay
    assert rig.finished_bd(reader) == first + accesses - 2 + delay


@pytest.mark.parametrize("count", [2, 3])
def test_round_robin_serves_all_channels_alike_and_in_order(count: int) -> None:
    """DEV-ARB-1."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    channels = readers(rig, [64 * n for n in range(count)], 20, EVERY_OTHER)
    rig.step(6 + 20 * count + 4)
    for n, ch in enumerate(channels):
        assert rig.cycles(ch, Cause.MOVING) == list(range(6 + n, 6 + n + 20 * count, count))


def test_the_turn_moves_past_the_winner_only() -> None:
    """The last winner comes last: a channel that has not been served for longest is next."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    (late,) = readers(rig, [0], 1)
    rig.step(10)
    early = reading(rig, 2, 1, 64, 1)
    again = reading(rig, 0, 0, 0, 1)
    assert late == again
    rig.step(10)
    assert rig.cycles(early, Cause.MOVING) == [16]
    assert rig.cycles(again, Cause.MOVING) == [6, 17]


@pytest.mark.feature("F04", "F05")
@pytest.mark.parametrize(
    ("start", "dims", "accesses"),
    [(0, (), 2), (1, (), 3), (3, (), 3), (0, EVERY_OTHER, 8), (0, (Dim(1, 4), Dim(8, 0)), 2)],
    ids=["aligned", "from word 1", "from word 3", "strided", "granules apart"],
)
def test_one_access_carries_what_is_contiguous_in_16_bytes(
    start: int, dims: tuple[Dim, ...], accesses: int
) -> None:
    """Egress depth 32 and a closed port: one access per cycle, each seen as a growth of the buffer."""
    rig = Rig(timing=Timing(memory_egress_words=32))
    ch = rig.mm2s()
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(start), dims=dims))
    rig.issue(ch, 0)
    rig.step(20)
    held = rig.held(ch)
    assert sum(now > before for before, now in pairwise(held)) == accesses
    assert held[-1] == 8


@pytest.mark.feature("F04")
@pytest.mark.parametrize(
    ("interleaved", "apart", "conflict"),
    [
        (True, 64, True),  # 256 bytes: round once through all banks
        (True, 60, False),
        (True, 4, False),  # neighbouring granules
        (True, BANK_WORDS, True),
        (False, 4, True),
        (False, BANK_WORDS - 4, True),
        (False, BANK_WORDS, False),
    ],
)
def test_which_words_share_a_bank(interleaved: bool, apart: int, conflict: bool) -> None:
    rig = Rig()
    rig.memory_control(interleaved=interleaved)
    _, second = readers(rig, [0, apart], 4)
    rig.step(12)
    assert (Cause.BANK_CONFLICT in rig.spent(second)) == conflict


def test_banks_are_interleaved_after_reset() -> None:
    rig = Rig()
    assert rig.register("Memory_Control") == INTERLEAVED
    _, second = readers(rig, [0, 4], 4)
    rig.step(12)
    assert Cause.BANK_CONFLICT not in rig.spent(second)


@pytest.mark.feature("F01")
def test_there_are_sixteen_banks() -> None:
    """Six readers in each of three runs, and one in a bank already used (DEV-MEM-1, DEV-MEM-2)."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    last = 15 * BANK_WORDS
    channels = readers(rig, [0, 8 * BANK_WORDS, last], 4)
    rig.step(12)
    assert all(Cause.BANK_CONFLICT not in rig.spent(ch) for ch in channels)
    assert rig.memory(last, BANK_WORDS).size == BANK_WORDS
    assert rig.kind.memory_words == 16 * BANK_WORDS


@pytest.mark.feature("F02", "F05")
def test_all_twelve_channels_move_a_word_per_cycle_in_different_banks() -> None:
    rig = Rig()
    rig.memory_control(interleaved=False)
    channels = []
    for n in range(6):
        half = 24 * (n % 2)
        for ch, bd, bank in ((rig.s2mm(n), half + n, n), (rig.mm2s(n), half + n + 6, n + 6)):
            rig.write_bd(bd, Descriptor("memory", 400, OWN.address(bank * BANK_WORDS)))
            rig.issue(ch, bd)
            channels.append(ch)
        rig.feed(rig.s2mm(n), 400)
        rig.catch(rig.mm2s(n))
    rig.step(450)
    for ch in channels:
        moving = rig.cycles(ch, Cause.MOVING)
        assert moving == list(range(moving[0], moving[0] + 400))


@pytest.mark.feature("F01")
@pytest.mark.parametrize("cycles", [1, 7, 2048])
def test_zeroisation_takes_its_time_and_clears_its_bit(cycles: int) -> None:
    """DEV-MEM-3: the time is assumed, and the memory reads zero from the start."""
    rig = Rig(timing=Timing(zeroisation=cycles))
    rig.fill(0, [5] * 16)
    rig.memory_control(zeroise=True)
    assert not rig.memory(0, 16).any()
    rig.assert_earliest(cycles, lambda: rig.register("Memory_Control") == INTERLEAVED)


def test_zeroisation_keeps_channels_from_the_banks() -> None:
    rig = Rig(timing=Timing(zeroisation=30))
    rig.memory_control(zeroise=True)
    writer = rig.s2mm()
    rig.write_bd(1, Descriptor("memory", 16, OWN.address(68)))
    rig.feed(writer, 16)
    rig.issue(writer, 1)
    (reader,) = readers(rig, [0], 4)
    rig.assert_earliest(31, lambda: sending(rig, reader))
    rig.step(20)
    assert rig.spent(reader)[Cause.MEMORY_BUSY] == 31 - 6
    assert rig.spent(writer)[Cause.MEMORY_BUSY] > 0
    assert rig.memory(68, 16).tolist() == list(range(1, 17))


@pytest.mark.parametrize("zeroise", [False, True])
def test_a_write_during_zeroisation_neither_ends_nor_restarts_it(zeroise: bool) -> None:
    """DEV-MEM-3: the hardware clears the bit, software cannot."""
    rig = Rig(timing=Timing(zeroisation=20))
    rig.memory_control(zeroise=True)
    rig.step(10)
    rig.memory_control(zeroise=zeroise)
    assert rig.register("Memory_Control") == INTERLEAVED | ZEROISE
    rig.assert_earliest(20, lambda: rig.register("Memory_Control") == INTERLEAVED)


def test_what_a_design_sets_up_takes_no_bank() -> None:
    """Nor does it take time: a read in every cycle costs a strided reader of that bank nothing."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    (reader,) = readers(rig, [0], 20, EVERY_OTHER)
    for _ in range(30):
        rig.door.read32(0)
        rig.step()
    assert rig.cycles(reader, Cause.MOVING) == list(range(6, 26))


@pytest.mark.feature("F03")
@pytest.mark.parametrize("word", [64, BANK_WORDS], ids=["same bank", "other bank"])
@pytest.mark.parametrize("writes", [True, False], ids=["write", "read"])
def test_an_access_of_a_host_takes_its_bank_twice(writes: bool, word: int) -> None:
    """DEV-ARB-2: in cycles 8 and 10, for the reader of that bank comes between; it loses 8 and 10."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    (reader,) = readers(rig, [0], 20, EVERY_OTHER)
    host = rig.engine.door(0, timed=True)
    rig.step(8)
    host.write32(4 * word, 1) if writes else host.read32(4 * word)
    rig.step(30)
    moving = rig.cycles(reader, Cause.MOVING)
    lost = rig.cycles(reader, Cause.BANK_CONFLICT)
    if word == BANK_WORDS:
        assert (moving, lost) == (list(range(6, 26)), [])
    else:
        assert lost == [9, 11]
        assert moving == [*range(6, 9), 10, *range(12, 28)]
    assert rig.engine.state.axi_ports.served[0] == 2


def test_the_next_access_of_a_host_waits_for_the_port() -> None:
    """Accesses without time between them: each waits until the one before it is served."""
    rig = Rig(timing=Timing(access_cycles=0))
    host = rig.engine.door(0, timed=True)
    for n in range(5):
        host.write32(64 * n, n)
        assert rig.now == 2 * n
    host.block_write32(0, range(64))
    assert rig.now == 10
    host.read32(0)
    assert rig.now == 10 + 63  # a burst brings a word a cycle; its sixteen granules are 32 requests


@pytest.mark.feature("F03")
def test_hosts_and_channels_share_a_bank_evenly() -> None:
    """Accesses one after another to the bank of a strided reader: each has every other cycle."""
    rig = Rig(timing=Timing(access_cycles=0))
    rig.memory_control(interleaved=False)
    (reader,) = readers(rig, [0], 60, EVERY_OTHER)
    host = rig.engine.door(0, timed=True)
    rig.step(20)
    began = rig.now
    for _ in range(10):
        host.read32(256)
    assert rig.now - began == 17 * 2 + 1  # eighteen requests, every other cycle
    rig.step(60)
    assert rig.spent(reader)[Cause.BANK_CONFLICT] == 20
    assert rig.spent(reader)[Cause.MOVING] == 60


def test_a_host_takes_a_bank_of_a_compute_tile_too() -> None:
    """The tile's own MM2S 0 reads from bank 0 and bank 1 by turns; so does the host."""
    rig = Rig("compute", timing=Timing(access_cycles=0))
    ch = rig.mm2s()
    rig.write_bd(0, Descriptor("compute", 20, DmaAddress(0), dims=EVERY_OTHER))
    rig.catch(ch)
    rig.issue(ch, 0)
    host = rig.engine.door(0, timed=True)
    rig.step(6)
    for _ in range(8):
        host.write32(0x3F0, 1)
    rig.step(40)
    assert rig.spent(ch)[Cause.BANK_CONFLICT] > 0


@pytest.mark.feature("F03")
@pytest.mark.parametrize(("word", "delay"), [(64, 1), (BANK_WORDS, 0)], ids=["same bank", "other bank"])
def test_a_neighbour_competes_for_the_banks_it_reaches(word: int, delay: int) -> None:
    """The eastern tile's own MM2S 0 and the western one's MM2S 0 read a word each."""
    rig = Rig(tiles=2, at=0)
    east = rig.engine.door(1)
    rig.beside(1).memory_control(interleaved=False)
    east.block_write32(rig.kind.bd_base, encode(Descriptor("memory", 1, OWN.address(word))))
    own = rig.mm2s() + 2 * rig.kind.channels
    rig.catch(own)
    east.write32(rig.kind.queue_base + 6 * rig.kind.channel_stride, 0)
    guest = rig.mm2s()
    rig.write_bd(0, Descriptor("memory", 1, EAST.address(0)))
    rig.catch(guest)
    rig.issue(guest, 0)
    rig.step(12)
    assert rig.cycles(own, Cause.MOVING) == [6]
    assert rig.cycles(guest, Cause.MOVING) == [6 + delay]
