"""Do the vector ports of an AIE-ML v2 core move 512 bits, and which banks do they meet in?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile.arch.core import CORE, CORES
from memtile.arch.tiles import COMPUTE_V2
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import DmaAddress
from memtile.errors import DesignError
from memtile.model.state.tile_columns import Placed
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from memtile.testing.rig import Rig
from support.designs.core_designs import Piece, timelines

BASE = CORE.memory_windows["own"]
PAIR = 0x4000  # bytes of a pair of banks
VECTOR = 64  # bytes


def pattern(first: int, bits: int = 512, steps: int = 1, stride: int = 0) -> Pattern:
    return Pattern(BASE + first + stride * np.arange(steps), bits)


def ran(*loads: Pattern, store: Pattern | None = None, tile: str = "compute_v2") -> str:
    engine = Engine([Placed(tile)])

    def kernel(core: Core) -> Iterator[Action]:
        yield core.access(*loads, store=store)

    engine.attach_kernel(0, kernel)
    return timelines(engine, 16)[0].rstrip("d")


@pytest.mark.feature("F35")
def test_three_512_bit_ports_run_together_when_their_pairs_differ():
    """DEV-V2-9: 512 bits are both banks of a pair, as 256 bits are in AIE-ML."""
    ports = [pattern(n * PAIR, steps=4, stride=VECTOR) for n in range(3)]
    assert ran(*ports[:2], store=ports[2]) == "####"
    assert CORES["AIE-ML v2"].vector_bits == 512


@pytest.mark.feature("F35")
def test_two_vectors_in_one_pair_take_turns():
    """DEV-V2-10."""
    assert ran(pattern(0), pattern(2 * VECTOR)) == "B#"


@pytest.mark.parametrize(("second", "seen"), [(32, "#"), (64, "B#"), (0, "B#")])
def test_scalars_meet_only_within_the_same_256_bit_bank(second, seen):
    assert ran(pattern(0, 32), pattern(second, 32)) == seen


@pytest.mark.feature("F35")
def test_a_core_walks_a_buffer_in_half_the_steps():
    steps = {}
    for tile in ("compute", "compute_v2"):
        engine = Engine([Placed(tile)])

        def kernel(core: Core) -> Iterator[Action]:
            yield core.access(core.walk(Piece("a", 0, (128,))))

        engine.attach_kernel(0, kernel)
        steps[tile] = timelines(engine, 24)[0].count("#")
    assert steps == {"compute": 16, "compute_v2": 8}


def test_a_width_of_the_other_generation_is_refused():
    with pytest.raises(DesignError, match="load 0 has 256 bits; it must have one of 512, 32, 16, 8"):
        ran(pattern(0, 256))
    with pytest.raises(DesignError, match="load 0 has 512 bits; it must have one of 256, 32, 16, 8"):
        ran(pattern(0, 512), tile="compute")


@pytest.mark.feature("F35")
def test_the_dma_of_a_compute_tile_moves_two_words_per_cycle():
    rig, data = Rig("compute_v2"), list(range(1, 65))
    rig.fill(0, data)
    rig.write_bd(0, Descriptor("compute_v2", 64, DmaAddress(0), (Dim(1, 8), Dim(8, 8))))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    rig.step(60)
    assert rig.sent(rig.mm2s()) == data
    assert rig.timeline(rig.mm2s()).count("#") == 64 // COMPUTE_V2.stream_words
