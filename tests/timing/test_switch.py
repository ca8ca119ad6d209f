"""Do words cross a stream switch with the latency, depth and multicast of AM020?"""

from __future__ import annotations

import numpy as np
import pytest

from circuits import circuit, copy_within, push
from memtile.arch.tiles import COMPUTE, MEMORY, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.model.state.tiles import Placed
from memtile.sim.engine import Engine


@pytest.mark.feature("F18", "F19")
def test_a_loopback_moves_every_word_in_order() -> None:
    engine = copy_within(1000)
    engine.run(10_000)
    moved = engine.door(0).block_read32(0x4000 * WORD_BYTES, 1000)
    np.testing.assert_array_equal(moved, np.arange(1, 1001))
    assert engine.now < 1000 + 30


def entered_after(engine: Engine, ch: int, limit: int = 100) -> int:
    """Cycle in which the first word entered the S2MM channel's ingress buffer."""
    while engine.state.fifos.held[ch] == 0:
        assert engine.now < limit
        engine.run(engine.now + 1)
    return engine.now - 1


def test_local_to_local_takes_three_cycles() -> None:
    engine = copy_within(8)
    ch = MEMORY.channels
    while engine.state.channels.moved[ch] == 0:
        engine.run(engine.now + 1)
    left = engine.now - 1
    assert entered_after(engine, 0) == left + 3


def column() -> Engine:
    """A memory tile below a compute tile, wired up."""
    return Engine([Placed("memory", row=1), Placed("compute", row=2)], switched=True)


def test_two_tiles_away_takes_the_sum_of_the_paths() -> None:
    engine = column()
    circuit(engine, 0, "memory", "DMA3", "NORTH2")
    circuit(engine, 1, "compute", "SOUTH2", "DMA1")
    ch = MEMORY.channels + 3
    push(engine, 0, ch, 24, Descriptor("memory", 8, OWN.address(0)))
    receiver = 2 * MEMORY.channels + 1
    push(engine, 1, 1, 0, Descriptor("compute", 8, 0))  # type: ignore[arg-type]
    while engine.state.channels.moved[ch] == 0:
        engine.run(engine.now + 1)
    left = engine.now - 1
    assert entered_after(engine, receiver) == left + 4 + 3


@pytest.mark.feature("F19")
@pytest.mark.parametrize("slow", [0, 1])
def test_multicast_reaches_all_and_the_slowest_receiver_stops_all(slow: int) -> None:
    """Whichever of the masters the slow receiver stands behind."""
    engine = column()
    circuit(engine, 0, "memory", "DMA0", "NORTH0", "NORTH1")
    circuit(engine, 1, "compute", "SOUTH0", "DMA0")
    circuit(engine, 1, "compute", "SOUTH1", "DMA1")
    engine.door(0).block_write32(0, np.arange(100, dtype=np.uint32))
    push(engine, 0, MEMORY.channels, 0, Descriptor("memory", 100, OWN.address(0)))
    push(engine, 1, 1 - slow, 0, Descriptor("compute", 100, 0))  # type: ignore[arg-type]
    engine.run(1000)
    blocked = int(engine.state.channels.moved[MEMORY.channels])
    path = 4 + 4 + 4 + 2 + engine.timing.ingress_words
    assert blocked == path  # what fits on the way to the channel without a task
    push(engine, 1, slow, 1, Descriptor("compute", 100, 0x400))  # type: ignore[arg-type]
    engine.run(2000)
    door = engine.door(1)
    for word in (0, 0x400):
        np.testing.assert_array_equal(door.block_read32(word * WORD_BYTES, 100), np.arange(100))
    assert COMPUTE.channels == 2


def test_an_unconnected_slave_takes_what_its_port_holds() -> None:
    engine = Engine([Placed("memory")], switched=True)
    push(engine, 0, MEMORY.channels, 0, Descriptor("memory", 100, OWN.address(0)))
    engine.run(1000)
    assert engine.state.channels.moved[MEMORY.channels] == engine.timing.local_slave_words
