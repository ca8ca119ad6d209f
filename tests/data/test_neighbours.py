"""Do memory tiles share memory and locks with their neighbours, and refuse when they are isolated?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.arch.devices import device
from memtile.arch.tiles import MEMORY
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import EAST, OWN, WEST, DmaAddress, Window
from memtile.model.state.causes import Cause
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig

TILE_CONTROL = 0x96030
FROM_WEST, FROM_EAST = 1 << 1, 1 << 3
MEMORY_ERROR, LOCK_ERROR = 1 << 9, 1 << 8
WORDS = MEMORY.memory_words
SIDES = pytest.mark.parametrize(
    ("window", "owner", "bit"), [(WEST, 0, FROM_EAST), (EAST, 2, FROM_WEST)], ids=["west", "east"]
)
BOTH = pytest.mark.parametrize("reads", [False, True], ids=["S2MM", "MM2S"])


def started(rig: Rig, descriptor: Descriptor, *, reads: bool, number: int = 0) -> int:
    ch = rig.mm2s(number) if reads else rig.s2mm(number)
    rig.catch(ch) if reads else rig.feed(ch, descriptor.length)
    bd = 24 * (number % 2) + number
    rig.write_bd(bd, descriptor)
    rig.issue(ch, bd)
    return ch


@pytest.mark.feature("F16")
@SIDES
@BOTH
def test_an_isolated_neighbour_does_not_give_its_memory(
    window: Window, owner: int, bit: int, reads: bool
) -> None:
    """DEV-ISO-1: the owner's Tile_Control blocks the side the request comes from, and only that side."""
    for blocked in (bit, ~bit & 0xF):
        rig = Rig(tiles=3, at=1)
        rig.engine.door(owner).write32(TILE_CONTROL, blocked)
        ch = started(rig, Descriptor("memory", 4, window.address(0)), reads=reads)
        rig.engine.run(100)
        assert rig.status(ch) & (MEMORY_ERROR | LOCK_ERROR) == MEMORY_ERROR * (blocked == bit)
        assert rig.spent(ch).get(Cause.HALTED, 0) > 0 or blocked != bit


@pytest.mark.parametrize("window", [WEST, EAST], ids=["west", "east"])
@BOTH
def test_a_tile_that_isolates_itself_still_reaches_out(window: Window, reads: bool) -> None:
    """DEV-ISO-1: as at the edge of a partition, which isolates its own tiles from what is beside it."""
    rig = Rig(tiles=3, at=1)
    rig.engine.door(1).write32(TILE_CONTROL, 0xF)
    ch = started(rig, Descriptor("memory", 4, window.address(0)), reads=reads)
    rig.engine.run(100)
    assert rig.status(ch) & (MEMORY_ERROR | LOCK_ERROR) == 0
    assert rig.spent(ch).get(Cause.HALTED, 0) == 0
    assert rig.engine.channels.bds_done[ch] == 1


@pytest.mark.feature("F16", "F17")
@SIDES
@pytest.mark.parametrize("acquires", [True, False], ids=["acquire", "release"])
def test_an_isolated_neighbour_does_not_give_its_locks(
    window: Window, owner: int, bit: int, acquires: bool
) -> None:
    rig = Rig(tiles=3, at=1)
    rig.engine.door(owner).write32(TILE_CONTROL, bit)
    lock = window.lock(7)
    use = {"acquire": Acquire(lock, 0, True)} if acquires else {"release": Release(lock, 1)}
    ch = started(rig, Descriptor("memory", 4, OWN.address(0), **use), reads=False)
    rig.engine.run(100)
    assert rig.status(ch) & (MEMORY_ERROR | LOCK_ERROR) == LOCK_ERROR


@pytest.mark.feature("F16")
def test_a_channel_halted_by_isolation_works_again_after_the_side_is_opened_and_a_reset() -> None:
    rig = Rig(tiles=2, at=0)
    east = rig.engine.door(1)
    east.write32(TILE_CONTROL, FROM_WEST)
    ch = started(rig, Descriptor("memory", 4, EAST.address(0)), reads=False)
    rig.engine.run(100)
    east.write32(TILE_CONTROL, 0)
    rig.engine.run(200)
    assert rig.status(ch) & MEMORY_ERROR
    assert not east.block_read32(0, 4).any()
    rig.reset(ch)
    rig.feed(ch, 4)
    rig.issue(ch, 0)
    rig.engine.run(300)
    assert rig.status(ch) & MEMORY_ERROR == 0
    assert east.block_read32(0, 4).any()


def test_isolation_stops_a_walk_in_its_middle() -> None:
    rig = Rig(tiles=2, at=0)
    ch = started(rig, Descriptor("memory", 40, EAST.address(0)), reads=False)
    rig.step(20)
    rig.engine.door(1).write32(TILE_CONTROL, FROM_WEST)
    rig.engine.run(200)
    assert rig.status(ch) & MEMORY_ERROR
    written = np.count_nonzero(rig.engine.door(1).block_read32(0, 40))
    assert 0 < written < 40


def test_every_side_is_isolated_after_reset_and_inner_edges_are_open_after_boot() -> None:
    row = [Placed("memory", n - 1, n + 1 if n < 2 else -1) for n in range(3)]
    raw, booted = Engine(row, booted=False), Engine(row)
    assert [raw.door(n).read32(TILE_CONTROL) for n in range(3)] == [0xF] * 3
    assert [booted.door(n).read32(TILE_CONTROL) for n in range(3)] == [0b0111, 0b0101, 0b1101]


@pytest.mark.feature("F15", "F17")
@pytest.mark.parametrize(("window", "owner"), [(WEST, 0), (EAST, 2)], ids=["west", "east"])
def test_a_lock_hands_words_from_tile_to_tile(window: Window, owner: int) -> None:
    """The middle tile writes into a neighbour, whose own channel waits for the lock and sends the words."""
    rig = Rig(tiles=3, at=1)
    writer = started(
        rig,
        Descriptor("memory", 32, window.address(64), release=Release(window.lock(9), 1)),
        reads=False,
    )
    reader = started(
        rig.beside(owner),
        Descriptor("memory", 32, OWN.address(64), acquire=Acquire(OWN.lock(9), -1, True)),
        reads=True,
        number=5,
    )
    assert rig.engine.run(1000) is Stop.QUIET
    assert rig.sent(reader) == list(range(1, 33))
    assert rig.status(writer) & MEMORY_ERROR == 0


def snake(reads: bool) -> Rig:
    """A walk of 96 words that touches all three tiles every three words: a 1.5 MB buffer."""
    rig = Rig(tiles=3, at=1)
    for tile in range(3):
        rig.engine.door(tile).block_write32(0, np.arange(200) + 1000 * tile)
    walk = (Dim(WORDS, 3), Dim(2, 0))
    started(rig, Descriptor("memory", 96, WEST.address(0), dims=walk), reads=reads)
    return rig


@pytest.mark.feature("F15")
@BOTH
@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
def test_a_buffer_spans_three_tiles(reads: bool, timed: bool) -> None:
    rig = snake(reads)
    assert (rig.engine.run(5000) if timed else run_untimed(rig.engine)) is Stop.QUIET
    if reads:
        expected = [1000 * tile + 2 * n for n in range(32) for tile in range(3)]
        assert rig.sent(rig.mm2s()) == expected
        return
    for tile in range(3):
        words = rig.engine.door(tile).block_read32(0, 64)
        assert words[::2].tolist() == list(range(tile + 1, 97, 3))
        assert words[1::2].tolist() == list(range(1000 * tile + 1, 1000 * tile + 65, 2))


@pytest.mark.feature("F15")
@BOTH
def test_a_contiguous_walk_runs_through_all_three_memories(reads: bool) -> None:
    """1.5 MB in one walk of many BDs: last granule of the west to the first of the own, own to the east."""
    for border in (OWN.address(0), EAST.address(0)):
        rig = Rig(tiles=3, at=1)
        before, after = (0, 1) if border == OWN.address(0) else (1, 2)
        rig.engine.door(before).block_write32((WORDS - 6) * 4, np.arange(6) + 1)
        rig.engine.door(after).block_write32(0, np.arange(6) + 7)
        ch = started(rig, Descriptor("memory", 12, DmaAddress(border - 6)), reads=reads)
        assert rig.engine.run(500) is Stop.QUIET
        words = [
            *rig.engine.door(before).block_read32((WORDS - 6) * 4, 6).tolist(),
            *rig.engine.door(after).block_read32(0, 6).tolist(),
        ]
        assert (rig.sent(ch) if reads else words) == list(range(1, 13))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.sampled_from([WEST, OWN, EAST])), max_size=6),
    st.integers(0, 3),
)
@settings(max_examples=25, deadline=None)
def test_words_arrive_whoever_shares_the_interfaces(
    work: list[tuple[int, bool, Window]], latency: int
) -> None:
    """Any channels at once, each with memory of its own in some window; every word goes where it should."""
    rig = Rig(tiles=3, at=1, timing=Timing(neighbour_latency=latency))
    seen = {}
    for number, reads, window in work:
        at = 4096 * (number + 4 * reads)
        tile = [WEST, OWN, EAST].index(window)
        rig.engine.door(tile).block_write32(at * 4, np.arange(200) + at + 1)
        seen[number, reads] = (tile, at, window)
    for (number, reads), (_, at, window) in seen.items():
        ch = rig.mm2s(number) if reads else rig.s2mm(number)
        bd = 24 * (number % 2) + number + 4 * reads
        rig.write_bd(bd, Descriptor("memory", 30, window.address(at), dims=(Dim(1 + number, 0),)))
        rig.catch(ch) if reads else rig.feed(ch, np.arange(30) + 5)
        rig.issue(ch, bd)
    assert rig.engine.run(5000) is Stop.QUIET
    for (number, reads), (tile, at, _) in seen.items():
        if reads:
            assert rig.sent(rig.mm2s(number)) == [at + 1 + n * (1 + number) for n in range(30)]
        else:
            words = rig.engine.door(tile).block_read32(at * 4, 30 * (1 + number))
            assert words[:: 1 + number].tolist() == list(range(5, 35))


def test_a_tile_alone_has_no_neighbour_whatever_is_on_the_die() -> None:
    """DEV-NBR-1: an array of Phoenix has the tile west of it; a tile alone is alone."""
    assert device("npu1").has_west_neighbour(0)
    rig = Rig()
    ch = started(rig, Descriptor("memory", 4, WEST.address(0)), reads=False)
    rig.engine.run(100)
    assert rig.status(ch) & MEMORY_ERROR
