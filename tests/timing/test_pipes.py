"""Is a chain of ports that is one ring while words go steadily what it is port by port, in each column?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array
from memtile.arch.ports import PORTS
from memtile.arch.tiles import MEMORY, WORD_BYTES
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.jit.tables import plain
from memtile.model.state.streams import TLAST, Pipe
from memtile.model.state.tile_columns import Placed
from memtile.model.streams.packet_flow import with_parity
from memtile.sim.loop.engine import Engine
from support.designs.circuits import circuit, push
from support.designs.piped_designs import Design, Route, Running, build, differences, no_pipes

STEADY = Route(True, 3, 0, False, 1000, False, 1000, False, False, 0)
STOPS = tuple((29 + 7 * n % 19, "nothing") for n in range(12))
DESIGNS = {
    "steadily": STEADY,
    "short packets": STEADY._replace(sent=5, tile=1),
    "packets": STEADY._replace(sent=63, taken=256),
    "into scattered places": STEADY._replace(slow=True),
    "from scattered places": STEADY._replace(scattered=True),
    "for a while": STEADY._replace(sent=63, runs=3),
    "with a fork": STEADY._replace(fork=1),
    "through a stream FIFO": STEADY._replace(fifo=True, tile=1),
    "downwards": STEADY._replace(up=False, tile=2),
    "where a receiver waits for a lock": STEADY._replace(locked=True, taken=63),
}


def both(design: Design) -> tuple[Running, Running]:
    """The design with pipes and without."""
    return build(design, piped=True), build(design, piped=False)


def had_pipes(engine: Engine) -> bool:
    """Whether there ever was a pipe; the row of one that ended keeps where it was."""
    assert engine.state.piped[0] == 0
    assert not engine.state.pipes[:, Pipe.PORTS].any()
    return bool(engine.state.pipes[0, Pipe.LATENCY] > 0)


@pytest.mark.parametrize("name", DESIGNS)
def test_each_column_is_that_of_ports_one_by_one(name: str) -> None:
    piped, single = both(Design({}, (DESIGNS[name],), False, ()))
    for cycles, _ in STOPS:
        until = piped.engine.now + cycles
        assert piped.engine.run(until) == single.engine.run(until)
        assert not differences(piped.engine, single.engine)
    assert had_pipes(piped.engine) == (name != "short packets")
    assert single.engine.state.pipes[:, Pipe.LATENCY].max() == 0


def within(first: int, timing: Timing, words: int, runs: int, *, piped: bool) -> Engine:
    """A memory tile sends to itself BDs of so many words; stopped at cycle ``first``, and later."""
    engine = Engine([Placed("memory")], timing, switched=True)
    engine.forward.on = False
    if not piped:
        no_pipes(engine)
    circuit(engine, 0, "memory", "DMA0", "DMA0")
    made = Running(engine)
    made.give(0, MEMORY.channels, 0, Descriptor("memory", words, OWN.address(0)), runs)
    made.give(0, 0, 1, Descriptor("memory", 1000, OWN.address(0x4000)), 1)
    engine.run(first)
    engine.run(first + 27)
    return engine


@pytest.mark.parametrize("words", [5, 40])
def test_a_pipe_begins_in_any_cycle_around_a_gap(words: int) -> None:
    """The sender leaves one from each BD to the next, and comes to its end."""
    had = False
    for first in range(10, 34):
        piped, single = (within(first, Timing(), words, 3, piped=on) for on in (True, False))
        assert not differences(piped, single)
        had |= had_pipes(piped)
    assert had


def test_ports_with_less_room_than_two_latencies_are_no_pipe() -> None:
    """They pass seven words in eight cycles: at times both are as full as those of a pipe."""
    timing = Timing(local_slave_latency=4, local_slave_words=7)
    for first in range(24, 34):
        piped, single = (within(first, timing, 1000, 1, piped=on) for on in (True, False))
        assert not differences(piped, single)
        assert not had_pipes(piped)


def test_senders_that_meet_in_a_bank_leave_gaps() -> None:
    routes = (STEADY._replace(scattered=True, tile=1), STEADY._replace(scattered=True, tile=2))
    piped, single = both(Design({}, routes, True, ()))
    for cycles, _ in STOPS[:6]:
        until = piped.engine.now + cycles
        piped.engine.run(until)
        single.engine.run(until)
        assert not differences(piped.engine, single.engine)


@pytest.mark.parametrize("deed", ["watch", "lock", "parity", "token", "cut"])
def test_what_a_host_does_between_runs_finds_the_ports_as_they_are(deed: str) -> None:
    piped, single = both(Design({}, (STEADY, STEADY._replace(up=False, tile=1, locked=True)), False, ()))
    for number, (cycles, _) in enumerate(STOPS):
        until = piped.engine.now + cycles
        piped.engine.run(until)
        single.engine.run(until)
        assert not differences(piped.engine, single.engine)
        for running in (piped, single):
            running.act(
                "join" if deed == "cut" and number % 2 else deed, number // 2 if deed == "cut" else number
            )
    assert had_pipes(piped.engine)


def test_a_word_that_comes_is_in_the_first_port_when_the_pipe_ends() -> None:
    """The receiver's task ends while the sender goes on; the next run looks at what it left."""
    engines = []
    for piped in (True, False):
        engine = Engine([Placed("memory", row=1), Placed("compute", row=2)], Timing(), switched=True)
        engine.forward.on = False
        if not piped:
            no_pipes(engine)
        circuit(engine, 0, "memory", "DMA0", "NORTH0")
        circuit(engine, 1, "compute", "SOUTH0", "DMA0")
        push(engine, 0, MEMORY.channels, 0, Descriptor("memory", 200, OWN.address(0)))
        push(engine, 1, 0, 0, Descriptor("compute", 90, 0))  # type: ignore[arg-type]
        engine.run(300)
        engines.append(engine)
    assert not differences(*engines)
    assert had_pipes(engines[0])
    assert plain(engines[0].state.switch).held.sum() == 4 + 4 + 4 + 2


def test_a_control_packet_that_cuts_a_circuit_finds_the_words_in_its_ports() -> None:
    """A channel of the memory tile sends it to the tile's own control port."""
    made = both(Design({}, (STEADY,), False, ()))
    ports = PORTS["memory"]
    cut = ports.base + ports.master("NORTH0") * WORD_BYTES
    packet = np.array([with_parity(0), with_parity(cut), 0], np.uint32)
    for running in made:
        door = running.engine.door(0)
        door.block_write32(0x1E000 * WORD_BYTES, packet)
        circuit(running.engine, 0, "memory", "DMA5", "CTRL0")
        running.engine.run(60)
        push(running.engine, 0, MEMORY.channels + 5, 40, Descriptor("memory", 3, OWN.address(0x1E000)))
        running.engine.run(160)
        assert door.read32(cut) == 0
    assert not differences(*(running.engine for running in made))
    assert had_pipes(made[0].engine)


def from_outside(*, piped: bool) -> Engine:
    """External memory sends 600 words to a memory tile; stopped on the way."""
    array = Array("npu1", 1)
    outside, tile = array.interface_tile(0), array.memory_tile(0)
    words, into = array.external("words", np.arange(600, dtype=np.int32)), tile.buffer("in", 600)
    array.connect(outside.mm2s[0], tile.s2mm[0])
    outside.mm2s[0].start(outside.read(words))
    tile.s2mm[0].start(tile.write(into))
    array.route()
    array.engine.forward.on = False
    if not piped:
        no_pipes(array.engine)
    array.engine.run(400)
    return array.engine


def test_a_pipe_begins_at_a_sender_of_an_interface_tile() -> None:
    piped, single = (from_outside(piped=on) for on in (True, False))
    assert had_pipes(piped)
    for until in (431, 477, 2000):
        assert piped.run(until) == single.run(until)
        assert not differences(piped, single)
    assert single.state.pipes[:, Pipe.LATENCY].max() == 0


@pytest.mark.parametrize("cycles", [24, 26, 29, 33])
def test_packets_that_follow_each_other_without_a_gap_end_in_each_port(cycles: int) -> None:
    """Words that are under way are made the last ones of packets."""
    made = both(Design({}, (STEADY,), False, ()))
    for n in range(4):
        for running in made:
            running.engine.run(60 + n * cycles)
            switch = plain(running.engine.state.switch)
            for port in np.flatnonzero(switch.held == 2)[n % 2 :: 2]:
                switch.last[port, switch.head[port]] |= TLAST
        assert not differences(*(running.engine for running in made))
    assert had_pipes(made[0].engine)
