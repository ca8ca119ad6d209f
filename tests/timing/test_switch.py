"""Do words cross a stream switch with the latency, depth and multicast of AM020?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.tiles import COMPUTE, MEMORY, WORD_BYTES
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.jit.tables import plain
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from support.designs.circuits import circuit, copy_within, push


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


def test_after_an_untimed_run_no_word_is_of_a_cycle_to_come() -> None:
    engine = copy_within(1000)
    run_untimed(engine)
    ports = plain(engine.state.switch)
    assert engine.now < 30  # what the words took is undone
    assert max(ports.popped.max(), ports.entered.max()) <= engine.now
    assert not ports.departures.any()


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


def held_up(tiles: int, timing: Timing | None = None) -> tuple[Engine, int, int]:
    """A sender, and a receiver without a task one or two tiles away; what is on the way is full."""
    placed = [Placed("memory", row=1), Placed("compute", row=2)][:tiles]
    engine = Engine(placed, timing, switched=True)
    if tiles == 1:
        circuit(engine, 0, "memory", "DMA0", "DMA0")
    else:
        circuit(engine, 0, "memory", "DMA0", "NORTH0")
        circuit(engine, 1, "compute", "SOUTH0", "DMA0")
    push(engine, 0, MEMORY.channels, 0, Descriptor("memory", 200, OWN.address(0)))
    engine.run(1000)
    return engine, MEMORY.channels, 0 if tiles == 1 else 2 * MEMORY.channels


@pytest.mark.parametrize(
    ("tiles", "timing", "later"),
    [(1, {}, 2 + 1), (2, {}, 4 + 3), (2, {"external_port_latency": 3, "external_port_words": 6}, 6 + 3)],
    ids=["one tile", "two tiles", "longer wires"],
)
def test_a_sender_hears_of_room_as_late_as_its_words_come(
    tiles: int, timing: dict[str, int], later: int
) -> None:
    """The last port gives a word away in the cycle in which the receiver moves its first one."""
    engine, sender, receiver = held_up(tiles, Timing(**timing))
    moved = engine.state.channels.moved
    place = OWN.address(0x4000) if tiles == 1 else 0
    push(engine, tiles - 1, 0, 1, Descriptor("memory" if tiles == 1 else "compute", 200, place))  # type: ignore[arg-type]
    sent = int(moved[sender])
    while moved[receiver] == 0:
        engine.run(engine.now + 1)
    freed = engine.now - 1
    engine.run(freed + later)
    assert moved[sender] == sent
    engine.run(freed + later + 1)
    assert moved[sender] == sent + 1


def test_downwards_it_hears_of_room_as_late_as_upwards() -> None:
    """The ports of the lower tile are served first; that must not matter."""
    engine = column()
    circuit(engine, 1, "compute", "DMA0", "SOUTH0")
    circuit(engine, 0, "memory", "NORTH0", "DMA0")
    sender = 2 * MEMORY.channels + COMPUTE.channels
    push(engine, 1, COMPUTE.channels, 0, Descriptor("compute", 200, 0))  # type: ignore[arg-type]
    engine.run(1000)
    moved = engine.state.channels.moved
    push(engine, 0, 0, 1, Descriptor("memory", 200, OWN.address(0)))
    sent = int(moved[sender])
    assert sent == 4 + 4 + 4 + 2 + engine.timing.ingress_words
    while moved[0] == 0:
        engine.run(engine.now + 1)
    freed = engine.now - 1
    engine.run(freed + 7)
    assert moved[sender] == sent
    engine.run(freed + 8)
    assert moved[sender] == sent + 1


def test_the_manual_s_depths_are_just_enough_for_a_word_in_every_cycle() -> None:
    """A port of one word less waits for its room: three words in four cycles."""
    cycles = {}
    for words in (4, 3):
        engine = Engine([Placed("memory")], Timing(local_slave_words=words), switched=True)
        circuit(engine, 0, "memory", "DMA0", "DMA0")
        push(engine, 0, MEMORY.channels, 0, Descriptor("memory", 1000, OWN.address(0)))
        push(engine, 0, 0, 1, Descriptor("memory", 1000, OWN.address(0x4000)))
        engine.run(10_000)
        cycles[words] = engine.now
    assert cycles[4] < 1000 + 30
    assert 1000 * 4 // 3 <= cycles[3] < 1000 * 4 // 3 + 30


def test_room_that_only_time_keeps_away_is_no_quiet() -> None:
    """All words have left the switch when the sender's port has room again; nobody else has any work."""
    timing = Timing(local_slave_latency=8, local_slave_words=2)
    engine = Engine([Placed("memory")], timing, switched=True)
    engine.door(0).block_write32(0, np.arange(1, 101, dtype=np.uint32))
    circuit(engine, 0, "memory", "DMA0", "DMA0")
    push(engine, 0, MEMORY.channels, 0, Descriptor("memory", 100, OWN.address(0)))
    push(engine, 0, 0, 1, Descriptor("memory", 100, OWN.address(0x4000)))
    engine.run(10_000)
    np.testing.assert_array_equal(engine.door(0).block_read32(0x4000 * WORD_BYTES, 100), np.arange(1, 101))
