"""How long do compressed transfers take?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.access.compression import compress
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig

ENABLE = 1 << 4
DENSE, EMPTY = 0x01010101, 0


def run(words: np.ndarray, *, reads: bool, cycles: int = 400) -> tuple[Rig, int]:
    rig = Rig()
    ch = rig.mm2s() if reads else rig.s2mm()
    rig.fill(0, words)
    rig.catch(ch) if reads else rig.feed(ch, compress(words))
    rig.write_bd(0, Descriptor("memory", len(words), OWN.address(0), compression=True))
    rig.door.write32(rig.kind.control_base + ch * rig.kind.channel_stride, ENABLE)
    rig.issue(ch, 0)
    rig.step(cycles)
    return rig, ch


@pytest.mark.feature("F08")
@pytest.mark.parametrize("reads", [True, False], ids=["MM2S", "S2MM"])
def test_what_does_not_shrink_moves_a_stream_word_every_cycle(reads: bool) -> None:
    """DEV-COMP-2: 9 words for 8, back to back."""
    rig, ch = run(np.full(64, DENSE, np.uint32), reads=reads)
    cycles = rig.cycles(ch, Cause.MOVING)
    assert cycles == list(range(cycles[0], cycles[0] + 72))


@pytest.mark.feature("F08")
@pytest.mark.parametrize("reads", [True, False], ids=["MM2S", "S2MM"])
def test_zeros_move_as_fast_as_the_memory_goes(reads: bool) -> None:
    """DEV-COMP-2: a word for eight, every second cycle, since an access has four words."""
    rig, ch = run(np.full(64, EMPTY, np.uint32), reads=reads)
    cycles = rig.cycles(ch, Cause.MOVING)
    assert len(cycles) == 8
    assert set(np.diff(cycles[2:])) == {2}


def test_the_first_word_waits_for_its_group() -> None:
    """Accesses in cycles 5 and 6, coded in 7, sent in 8; uncompressed the first word leaves in 6."""
    rig, ch = run(np.full(8, DENSE, np.uint32), reads=True)
    assert rig.cycles(ch, Cause.MOVING) == list(range(8, 17))


@pytest.mark.parametrize("reads", [True, False], ids=["MM2S", "S2MM"])
def test_every_cycle_is_booked(reads: bool) -> None:
    random = np.random.default_rng(1)
    words = (random.integers(0, 1 << 32, 300) * (random.random(300) < 0.4)).astype(np.uint32)
    rig, ch = run(words, reads=reads)
    spent = rig.spent(ch)
    assert sum(spent.values()) == rig.now
    assert spent[Cause.MOVING] == len(compress(words))
