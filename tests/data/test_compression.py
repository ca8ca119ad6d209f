"""Is the compressed stream what the format says, in NumPy and in the engine, both ways?"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.access.compression import compress, compressed_length, decompress
from memtile.arch.tiles import MEMORY, TileName
from memtile.bd.descriptor import Descriptor, Dim, Iteration, Pad
from memtile.bd.windows import OWN, DmaAddress
from memtile.errors import TransferError
from memtile.model.state.causes import Cause
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig

Words = npt.NDArray[np.uint32]
ENABLE = 1 << 4  # Compression_Enable and Decompression_Enable of the channel control registers


def one_by_one(words: Words) -> list[int]:
    """The format, told again byte by byte."""
    data = words.astype("<u4").tobytes()
    data += bytes(-len(data) % 32)
    out = b""
    for at in range(0, len(data), 32):
        group = data[at : at + 32]
        mask = sum(1 << i for i, byte in enumerate(group) if byte)
        kept = bytes(byte for byte in group if byte)
        out += mask.to_bytes(4, "little") + kept + bytes(-len(kept) % 4)
    return np.frombuffer(out, "<u4").tolist()


@st.composite
def sparse(draw: st.DrawFn, most: int = 70) -> Words:
    """Words with about as many zero bytes as one likes."""
    seed, share, count = draw(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 10), st.integers(0, most)))
    random = np.random.default_rng(seed)
    data = random.integers(1, 256, count * 4) * (random.integers(0, 10, count * 4) < share)
    return data.astype(np.uint8).view("<u4").astype(np.uint32)


@pytest.mark.feature("F08")
@given(sparse())
@settings(max_examples=150, deadline=None)
def test_the_stream_is_mask_bytes_filler_for_every_eight_words(words: Words) -> None:
    """DEV-COMP-1."""
    assert compress(words).tolist() == one_by_one(words)


@pytest.mark.feature("F08")
@given(sparse(), st.integers(0, 5))
@settings(max_examples=150, deadline=None)
def test_decompression_gives_the_words_back(words: Words, more: int) -> None:
    """DEV-COMP-3: of a tail only the words that were there; what follows in the stream is left alone."""
    stream = compress(words)
    followed = np.concatenate([stream, np.full(more, 0xFFFFFFFF, np.uint32)])
    assert compressed_length(followed, len(words)) == len(stream)
    assert decompress(followed, len(words)).tolist() == words.tolist()


@pytest.mark.feature("F08")
@pytest.mark.parametrize(("present", "length"), [(0, 1), (1, 2), (4, 2), (5, 3), (31, 9), (32, 9)])
def test_a_group_takes_one_to_nine_words(present: int, length: int) -> None:
    data = np.array([7] * present + [0] * (32 - present), dtype=np.uint8)
    assert len(compress(data.view(np.uint32))) == length


def test_a_stream_that_ends_early_is_refused() -> None:
    text = "the stream ends after 5 words, before the groups for 9 memory words are complete"
    with pytest.raises(TransferError, match=re.escape(text)):
        decompress(np.full(5, 0xFFFFFFFF, np.uint32), 9)


def enable(rig: Rig, ch: int, value: int = ENABLE) -> None:
    rig.door.write32(rig.kind.control_base + ch * rig.kind.channel_stride, value)


def bd(tile: TileName, length: int, **more: object) -> Descriptor:
    base = OWN.address(0) if tile == "memory" else DmaAddress(0)
    return Descriptor(tile, length, base, compression=True, **more)  # type: ignore[arg-type]


def started(rig: Rig, ch: int, descriptor: Descriptor, number: int = 0) -> None:
    rig.write_bd(number, descriptor)
    enable(rig, ch)
    rig.issue(ch, number)


TILES = pytest.mark.parametrize("tile", ["memory", "compute"])
shapes = st.sampled_from([(), (Dim(1, 3), Dim(8, 0)), (Dim(2, 0),), (Dim(1, 12), Dim(14, 0))])
patterns = st.lists(st.integers(0, 1), max_size=5).filter(lambda p: not p or any(p))


@pytest.mark.feature("F08")
@TILES
@given(words=sparse(), dims=shapes, pattern=patterns, timed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_mm2s_sends_the_compressed_words(
    tile: TileName, words: Words, dims: tuple[Dim, ...], pattern: list[int], timed: bool
) -> None:
    rig = Rig(tile)
    spread = np.zeros(8 * 70, dtype=np.uint32)
    descriptor = bd(tile, len(words), dims=dims)
    where = addresses(descriptor)
    spread[where] = words
    rig.fill(0, spread)
    rig.catch(rig.mm2s(), pattern)
    started(rig, rig.mm2s(), descriptor)
    assert (rig.engine.run(10_000) if timed else run_untimed(rig.engine)) is Stop.QUIET
    stream = compress(spread[where])
    assert rig.sent(rig.mm2s()) == stream.tolist()
    assert rig.engine.tlasts(rig.mm2s()).tolist() == [0] * (len(stream) - 1) + [1] * (len(stream) > 0)
    assert rig.spent(rig.mm2s()).get(Cause.MOVING, 0) == len(stream)
    assert not timed or sum(rig.spent(rig.mm2s()).values()) == rig.now


@pytest.mark.feature("F08")
@TILES
@given(words=sparse(), dims=shapes, pattern=patterns, timed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_s2mm_writes_the_words_that_were_compressed(
    tile: TileName, words: Words, dims: tuple[Dim, ...], pattern: list[int], timed: bool
) -> None:
    """Two BDs in a chain: the second one begins with the stream word that the first one left."""
    rig = Rig(tile)
    stream = compress(words)
    rig.feed(rig.s2mm(), np.concatenate([stream, compress(words)]), pattern)
    first = bd(tile, len(words), dims=dims)
    rig.write_bd(1, first.but(address=first.address + 1000))
    started(rig, rig.s2mm(), first.but(next=1))
    assert (rig.engine.run(10_000) if timed else run_untimed(rig.engine)) is Stop.QUIET
    expected = np.zeros(600, np.uint32)
    expected[addresses(first)] = words
    assert rig.memory(0, 600).tolist() == rig.memory(1000, 600).tolist() == expected.tolist()
    assert rig.spent(rig.s2mm()).get(Cause.MOVING, 0) == 2 * len(stream)
    assert not timed or sum(rig.spent(rig.s2mm()).values()) == rig.now
    assert rig.status(rig.s2mm(), "Channel_Running") == 0


def addresses(descriptor: Descriptor) -> list[int]:
    """Word addresses of the walk, from the buffer on: two dimensions are enough here."""
    (step, wrap), (jump, _) = [*descriptor.dims, Dim(1, 0), Dim(0, 0)][:2]
    wrap = wrap or 1 << 20
    return [n % wrap * step + n // wrap * jump for n in range(descriptor.length)]


@pytest.mark.feature("F08")
def test_there_and_back_through_a_tile() -> None:
    """Weights come compressed, are expanded into memory, and leave compressed again."""
    rig = Rig()
    words = np.random.default_rng(3).integers(0, 256, 4 * 500).astype(np.uint8)
    words[np.random.default_rng(4).random(2000) < 0.7] = 0
    stream = compress(words.view(np.uint32))
    rig.feed(rig.s2mm(), stream)
    started(rig, rig.s2mm(), bd("memory", 500))
    rig.engine.run(5000)
    assert rig.memory(0, 500).tolist() == words.view(np.uint32).tolist()
    rig.catch(rig.mm2s())
    started(rig, rig.mm2s(), bd("memory", 500), 2)
    rig.engine.run(10_000)
    assert rig.sent(rig.mm2s()) == stream.tolist()
    assert len(stream) < 0.6 * 500


def test_padding_is_compressed_with_the_words() -> None:
    rig = Rig()
    rig.fill(0, [1, 2, 3, 4])
    rig.catch(rig.mm2s())
    started(rig, rig.mm2s(), bd("memory", 8, dims=(Dim(1, 2), Dim(2, 2)), pad=(Pad(1, 1),)))
    rig.engine.run(1000)
    assert rig.sent(rig.mm2s()) == one_by_one(np.array([0, 1, 2, 0, 0, 3, 4, 0], np.uint32))


@pytest.mark.feature("F08")
@pytest.mark.parametrize(("in_bd", "in_channel"), [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("reads", [False, True], ids=["S2MM", "MM2S"])
def test_both_the_bd_and_the_channel_must_ask_for_it(reads: bool, in_bd: bool, in_channel: bool) -> None:
    rig = Rig()
    ch = rig.mm2s() if reads else rig.s2mm()
    rig.fill(0, [5, 0, 0, 0] if reads else [0] * 4)
    rig.catch(ch) if reads else rig.feed(ch, [5, 0, 0, 0])
    rig.write_bd(0, bd("memory", 4).but(compression=in_bd))
    enable(rig, ch, ENABLE * in_channel)
    rig.issue(ch, 0)
    rig.engine.run(1000)
    assert (rig.sent(ch) if reads else rig.memory(0, 4).tolist()) == [5, 0, 0, 0]


@pytest.mark.parametrize("cut", range(4, 40, 3))
@pytest.mark.parametrize("reads", [False, True], ids=["S2MM", "MM2S"])
def test_a_reset_leaves_nothing_of_a_group_behind(reads: bool, cut: int) -> None:
    """DEV-RESET-1."""
    rig = Rig()
    ch = rig.mm2s() if reads else rig.s2mm()
    words = np.arange(40, dtype=np.uint32) * 0x01010101
    rig.fill(0, words)
    stream = compress(words)
    rig.catch(ch, [1, 0, 0]) if reads else rig.feed(ch, stream)
    started(rig, ch, bd("memory", 40))
    rig.step(cut)
    enable(rig, ch, 0b10)
    enable(rig, ch)
    begun = len(rig.sent(ch))
    left = rig.engine.pending(ch)
    rig.engine.take(ch, left)
    if not reads:
        rig.feed(ch, stream)
        rig.fill(0, np.zeros(40, np.uint32))
    rig.issue(ch, 0)
    rig.engine.run(rig.now + 1000)
    assert (rig.sent(ch)[begun:] if reads else rig.memory(0, 40).tolist()) == (
        stream.tolist() if reads else words.tolist()
    )


def test_finish_on_tlast_does_not_look_into_a_compressed_stream() -> None:
    """DEV-COMP-3: the length ends the BD, and reaching it without TLAST is no error."""
    rig = Rig()
    words = np.arange(1, 25, dtype=np.uint32)
    rig.feed(rig.s2mm(), compress(words))
    rig.write_bd(0, bd("memory", 24))
    enable(rig, rig.s2mm(), ENABLE | 1 << 16)
    rig.issue(rig.s2mm(), 0)
    rig.engine.run(1000)
    assert rig.memory(0, 24).tolist() == words.tolist()
    assert rig.status(rig.s2mm()) == 0


def test_packets_choose_descriptors_that_decompress() -> None:
    """Out of order, twice: the header between two compressed BDs is a header, not a mask."""
    rig = Rig()
    words = np.arange(1, 11, dtype=np.uint32)
    header = 3 << 5
    stream = compress(words).tolist()
    ends = [0] * len(stream) + [1]
    rig.engine.feed(
        rig.s2mm(), np.array([header, *stream, header, *stream], np.uint32), np.array(ends * 2, np.uint8)
    )
    walk = bd("memory", 10, iteration=Iteration(100, 2, 0))
    rig.write_bd(3, walk)
    enable(rig, rig.s2mm(), ENABLE | 1 << 3)
    rig.issue(rig.s2mm(), 0, 2)
    rig.engine.run(1000)
    assert rig.memory(0, 10).tolist() == rig.memory(100, 10).tolist() == words.tolist()
    assert rig.status(rig.s2mm(), "Channel_Running") == 0


def test_a_stream_that_dries_up_in_a_group_waits_for_more() -> None:
    """The same state with and without time, and the next words let it go on."""
    words = np.full(16, 0x01020304, np.uint32)
    stream = compress(words)
    for run in (lambda e: e.run(5000), run_untimed):
        rig = Rig()
        rig.feed(rig.s2mm(), stream[:12])
        started(rig, rig.s2mm(), bd("memory", 16))
        run(rig.engine)
        assert rig.memory(0, 16).tolist() == [*words[:8].tolist(), *[0] * 8]
        assert rig.status(rig.s2mm(), "Stalled_Stream_Starvation") == 1
        assert rig.door.read32(MEMORY.write_count_base) == 8
        rig.feed(rig.s2mm(), stream[12:])
        run(rig.engine)
        assert rig.memory(0, 16).tolist() == words.tolist()
