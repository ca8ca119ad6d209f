"""Does each lock protocol deliver every frame once, whole and in order, whatever the back-pressure?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Descriptor, MemoryTile, Result, Status, TilingParameters, Transfer
from memtile.access.walk import Walk, addresses
from memtile.bd.descriptor import Iteration, Packet, Pad
from memtile.bd.windows import OWN
from memtile.design.buffers import Buffer
from memtile.design.protocols import Guarded, first_piece, hand_over, one_reader, one_writer

Frames = npt.NDArray[np.int32]
PACES = ([1], [1, 0, 0, 1], [1] * 40 + [0] * 90, [0] * 60 + [1] * 30)
"""Readiness patterns: always, choppy, and long stops that outlast a frame."""

WORDS, FRAMES = 24, 7


def frames(count: int = FRAMES, words: int = WORDS) -> Frames:
    """Distinct numbers, so that a word of another frame cannot pass unnoticed."""
    return (1000 * np.arange(1, count + 1)[:, None] + np.arange(words)).astype(np.int32)


def buffers(tile: MemoryTile, count: int, words: int = WORDS) -> list[Buffer]:
    return [tile.buffer(f"b{n}", words) for n in range(count)]


def reads_of(tile: MemoryTile, places: Sequence[Buffer], readers: int) -> list[list[Transfer]]:
    return [[tile.read(b) for b in places] for _ in range(readers)]


def finished(result: Result) -> bool:
    assert result.status is Status.FINISHED, str(result)
    assert result.exact, str(result)
    return True


@pytest.mark.feature("F14", "F17")
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("slow", PACES)
@pytest.mark.parametrize("who", ["writer", "reader"])
def test_a_queue_of_any_depth_delivers_every_frame(depth: int, slow: list[int], who: str) -> None:
    tile, sent = MemoryTile(), frames()
    places = buffers(tile, depth)
    guarded = hand_over(tile, "q", [tile.write(b) for b in places], [tile.read(b) for b in places])
    guarded.start([tile.s2mm[0]], [tile.mm2s[0]])
    tile.s2mm[0].feed(sent, slow if who == "writer" else None)
    tile.mm2s[0].expect(sent, slow if who == "reader" else None)
    assert finished(tile.run())


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_queue_needs_two_locks_with_all_buffers_free_at_the_start(depth: int) -> None:
    tile = MemoryTile()
    places = buffers(tile, depth)
    guarded = hand_over(tile, "q", [tile.write(b) for b in places], [tile.read(b) for b in places])
    assert {lock.name: initial for lock, initial in guarded.locks} == {"q.full": 0, "q.free": depth}


def test_depth_two_is_faster_than_one_and_lets_both_sides_work_at_once() -> None:
    def cycles(depth: int) -> int:
        tile, sent = MemoryTile(), frames(8, 128)
        places = buffers(tile, depth, 128)
        guarded = hand_over(tile, "q", [tile.write(b) for b in places], [tile.read(b) for b in places])
        guarded.start([tile.s2mm[0]], [tile.mm2s[0]])
        tile.s2mm[0].feed(sent)
        tile.mm2s[0].expect(sent)
        result = tile.run()
        assert finished(result)
        return result.cycles

    assert cycles(2) * 3 < cycles(1) * 2


def fan_out(depth: int, paces: Sequence[list[int]]) -> Result:
    tile, sent = MemoryTile(), frames()
    places = buffers(tile, depth)
    reads = reads_of(tile, places, len(paces))
    channels = tile.mm2s[: len(paces)]
    one_writer(tile, "q", [tile.write(b) for b in places], reads).start([tile.s2mm[0]], channels)
    tile.s2mm[0].feed(sent)
    for channel, pace in zip(channels, paces, strict=True):
        channel.expect(sent, pace)
    return tile.run()


@pytest.mark.feature("F17")
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("paces", [(PACES[0], PACES[2]), (PACES[3], PACES[0]), PACES], ids=str)
def test_every_reader_sees_every_frame_once(depth: int, paces: Sequence[list[int]]) -> None:
    assert finished(fan_out(depth, paces))


pace = st.lists(st.integers(0, 1), min_size=1, max_size=60).map(lambda bits: [*bits, 1])


@settings(max_examples=25, deadline=None)
@given(depth=st.integers(1, 3), paces=st.lists(pace, min_size=1, max_size=4))
def test_no_pattern_of_readiness_makes_a_reader_miss_a_frame(depth: int, paces: list[list[int]]) -> None:
    assert finished(fan_out(depth, paces))


@pytest.mark.parametrize("depth", [1, 2])
def test_why_the_token_goes_round_one_shared_lock_lets_a_fast_reader_take_twice(depth: int) -> None:
    """AMD's counting of readers, in rings: the fast reader gets a frame twice and the slow one misses it."""
    tile, sent = MemoryTile(), frames()
    places = buffers(tile, depth)
    free, full = [tile.lock(2) for _ in places], [tile.lock(0) for _ in places]
    guards = list(zip(places, free, full, strict=True))
    write = [tile.write(b).guarded(e.acquire(2), f.release(2)) for b, e, f in guards]
    read = [tile.read(b).guarded(f.acquire(), e.release()) for b, e, f in guards]
    tile.s2mm[0].start(*write, loop=True)
    tile.s2mm[0].feed(sent)
    for channel, speed in zip(tile.mm2s[:2], ([1], [0] * 200 + [1]), strict=True):
        channel.start(*read, loop=True)
        channel.expect(sent, speed)
    assert tile.run().exact is False


def test_readers_share_the_memory_in_time_and_pass_the_token_early() -> None:
    """Four readers of one frame take hardly longer than one: each starts a granule after the one before."""

    def cycles(readers: int) -> int:
        tile, sent = MemoryTile(), frames(4, 512)
        places = buffers(tile, 2, 512)
        reads = reads_of(tile, places, readers)
        one_writer(tile, "q", [tile.write(b) for b in places], reads).start(
            tile.s2mm[:1], tile.mm2s[:readers]
        )
        tile.s2mm[0].feed(sent)
        for channel in tile.mm2s[:readers]:
            channel.expect(sent)
        result = tile.run()
        assert finished(result)
        return result.cycles

    assert cycles(4) < 1.1 * cycles(1)


def test_readers_that_cannot_be_cut_still_take_turns() -> None:
    """A padded read is one descriptor; it gives the token on when it is done."""
    tile, sent = MemoryTile(), frames()
    places = buffers(tile, 2)
    padded = TilingParameters(
        buffer_dimension=(4, 6), tiling_dimension=(6, 8), offset=(-1, -1), boundary_dimension=(4, 6)
    )
    assert all(first_piece(tile.read(b, padded)) is None for b in places)
    reads = [[tile.read(b, padded) for b in places], [tile.read(b) for b in places]]
    guarded = one_writer(tile, "q", [tile.write(b) for b in places], reads)
    guarded.start(tile.s2mm[:1], tile.mm2s[:2])
    tile.s2mm[0].feed(sent)
    tile.mm2s[0].expect(np.pad(sent.reshape(-1, 6, 4), ((0, 0), (1, 1), (1, 1))), PACES[2])
    tile.mm2s[1].expect(sent)
    assert finished(tile.run())


def halves(buffer: Buffer) -> list[Transfer]:
    half = buffer.words // 2
    return [Transfer((Descriptor("memory", half, buffer.dma_address + at),)) for at in (0, half)]  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("paces", [(PACES[0], PACES[2]), (PACES[3], PACES[0]), (PACES[1], PACES[3])], ids=str)
def test_the_reader_waits_for_all_writers(depth: int, paces: Sequence[list[int]]) -> None:
    tile, sent = MemoryTile(), frames()
    places = buffers(tile, depth)
    writes = list(zip(*map(halves, places), strict=True))
    one_reader(tile, "q", writes, [tile.read(b) for b in places]).start(tile.s2mm[:2], tile.mm2s[:1])
    for channel, part, pattern in zip(tile.s2mm, np.split(sent, 2, axis=1), paces, strict=False):
        channel.feed(part, pattern)
    tile.mm2s[0].expect(sent, PACES[1])
    assert finished(tile.run())


def unguarded(tile: MemoryTile) -> Guarded:
    (place,) = buffers(tile, 1)
    return Guarded(((tile.write(place),),), ((tile.read(place),),), ())


def test_without_locks_the_same_frames_come_out_torn() -> None:
    """So that the tests above are known to see a race when there is one."""
    tile, sent = MemoryTile(), frames()
    unguarded(tile).start(tile.s2mm[:1], tile.mm2s[:1])
    tile.s2mm[0].feed(sent)
    tile.mm2s[0].expect(sent)
    assert tile.run(2000).exact is False


def walk_of(transfer: Transfer) -> list[int]:
    return [int(a) for d in transfer.descriptors for a in addresses(Walk.of(d))]


@given(
    dims=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 5)), max_size=3),
    last=st.integers(1, 99),
    length=st.integers(1, 300),
)
@settings(max_examples=300, deadline=None)
def test_both_pieces_together_are_the_whole(dims: list[tuple[int, int]], last: int, length: int) -> None:
    whole = Transfer((Descriptor("memory", length, OWN.address(0), dims=(*dims, (last, 0))),))  # type: ignore[arg-type]
    pieces = first_piece(whole)
    if pieces is None:
        return
    head, rest = pieces
    assert walk_of(head) + walk_of(rest) == walk_of(whole)
    assert head.descriptors[0].tlast_suppress
    assert not rest.descriptors[-1].tlast_suppress


@pytest.mark.parametrize(
    "change",
    [
        {"length": 4},
        {"pad": (Pad(1, 0),)},
        {"packet": Packet(1, 0)},
        {"compression": True},
        {"iteration": Iteration(8, 2)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_cannot_be_cut_stays_whole(change: dict[str, object]) -> None:
    base = Descriptor("memory", 64, OWN.address(0), dims=((1, 8), (8, 0)))  # type: ignore[arg-type]
    assert first_piece(Transfer((base,))) is not None
    plain = base.but(dims=()) if "length" in change else base
    assert first_piece(Transfer((plain.but(**change),))) is None


def test_a_chain_is_cut_between_its_descriptors() -> None:
    chain = Transfer(tuple(Descriptor("memory", 8, OWN.address(8 * n)) for n in range(3)))
    pieces = first_piece(chain)
    assert pieces is not None
    assert [len(piece.descriptors) for piece in pieces] == [1, 2]
