"""Is the compressed stream, and what is made of one, what a Phoenix NPU sends and writes (GT-30)?"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pytest

from memtile.access.compression import compress, compressed_length, decompress
from memtile.arch.tiles import TileName
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN, DmaAddress
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig
from support.formats.oracle_files import load

Words = npt.NDArray[np.uint32]
ORACLE = load("compression_goldens")
SENT, RAW, LENGTH = (ORACLE[key] for key in ("words_sent", "raw_words", "words_compressed"))
COUNTING = np.arange(SENT, dtype=np.uint32)
PLAIN, SOURCE, STREAM = COUNTING[:RAW], COUNTING[RAW:], COUNTING[RAW:LENGTH]
ENABLE = 1 << 4  # Compression_Enable and Decompression_Enable of the channel control registers
BD_WORDS = 1024
TILES = pytest.mark.parametrize("tile", ["memory", "compute"])
TIMED = pytest.mark.parametrize("timed", [True, False])


def digest(words: Words) -> str:
    """Of what the host finds: the words of the first descriptor as they were, then ``words``."""
    return hashlib.sha256(np.concatenate([PLAIN, words]).astype("<u4").tobytes()).hexdigest()


def chained(rig: Rig, ch: int) -> None:
    """Compressed descriptors of 1,024 memory words, one after the other, as in the measured design."""
    base = OWN.address(0) if rig.kind.role == "memory" else DmaAddress(0)
    count = len(SOURCE) // BD_WORDS
    for n in range(count):
        following = n + 1 if n + 1 < count else None
        bd = Descriptor(rig.kind.name, BD_WORDS, base + n * BD_WORDS, compression=True, next=following)
        rig.write_bd(n, bd)
    rig.door.write32(rig.kind.control_base + ch * rig.kind.channel_stride, ENABLE)
    rig.issue(ch, 0)


@pytest.mark.feature("F08")
def test_the_coder_is_phoenix() -> None:
    """DEV-COMP-1."""
    stream = compress(SOURCE)
    assert RAW + len(stream) == LENGTH
    assert digest(stream) == ORACLE["sha256"]["npu1"]["compress"]


@pytest.mark.feature("F08")
def test_the_decoder_is_phoenix() -> None:
    """DEV-COMP-1: words that nobody compressed; their groups end in the middle of what is sent."""
    assert digest(decompress(STREAM, len(SOURCE))) == ORACLE["sha256"]["npu1"]["decompress"]
    taken = compressed_length(STREAM, len(SOURCE))
    assert taken is not None
    assert taken < len(STREAM)


@pytest.mark.feature("F08")
@TILES
@TIMED
def test_mm2s_sends_what_phoenix_sends(tile: TileName, timed: bool) -> None:
    """DEV-COMP-1: Buffer_Length counts memory words."""
    rig = Rig(tile)
    rig.fill(0, SOURCE)
    rig.catch(rig.mm2s())
    chained(rig, rig.mm2s())
    assert (rig.engine.run(20_000) if timed else run_untimed(rig.engine)) is Stop.QUIET
    sent = np.array(rig.sent(rig.mm2s()), dtype=np.uint32)
    assert digest(sent) == ORACLE["sha256"]["npu1"]["compress"]


@pytest.mark.feature("F08")
@TILES
@TIMED
def test_s2mm_writes_what_phoenix_writes(tile: TileName, timed: bool) -> None:
    """DEV-COMP-1: Buffer_Length counts memory words."""
    rig = Rig(tile)
    taken = compressed_length(STREAM, len(SOURCE))
    rig.feed(rig.s2mm(), STREAM[:taken])
    chained(rig, rig.s2mm())
    assert (rig.engine.run(20_000) if timed else run_untimed(rig.engine)) is Stop.QUIET
    assert digest(rig.memory(0, len(SOURCE))) == ORACLE["sha256"]["npu1"]["decompress"]


def test_aie2p_has_another_format() -> None:
    """DEV-AIE2P-3: as long, but other words; why compression is refused there."""
    goldens = ORACLE["sha256"]
    assert digest(compress(SOURCE)) != goldens["npu2"]["compress"]
    assert digest(decompress(STREAM, len(SOURCE))) != goldens["npu2"]["decompress"]
