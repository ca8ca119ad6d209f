"""When may a channel take a word that came, and when does the first word over an idle wire arrive?"""

from __future__ import annotations

import pytest

from memtile import Timing
from memtile.arch.tiles import MM2S
from memtile.arch.timing import WIRE_IDLE
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN, DmaAddress
from memtile.testing.rig import Rig
from support.designs.interface_bench import Column
from support.designs.repeating_designs import differences
from support.silicon.silicon_streams import Port, runs, watched

SLOW = Timing(ingress_latency=2)
STARTING = Timing(wire_start=1)


def filled(timing: Timing, words: int, size: int = 4) -> Rig:
    """A ring of descriptors, and words without gaps from cycle 20 on."""
    rig = Rig("memory", timing=timing)
    s = rig.s2mm()
    rig.write_bd(0, Descriptor("memory", size, OWN.address(0), next=0))
    rig.issue(s, 0)
    rig.step(20)
    rig.feed(s, words)
    return rig


@pytest.mark.parametrize(("timing", "first"), [(Timing(), 21), (SLOW, 22)], ids=["1", "2"])
def test_a_word_is_taken_so_many_cycles_after_it_came(timing: Timing, first: int) -> None:
    """And not one before; the channel stays starved until then, and moves a word a cycle from then on."""
    rig = filled(timing, 4)
    rig.step(12)
    told = rig.timeline(rig.s2mm())
    assert told[:first].endswith("s")
    assert told[first:].startswith("####-")


def test_a_word_alone_that_just_came_is_no_reason_to_jump() -> None:
    """It waits for a cycle in which nothing else happens."""
    rigs = [filled(SLOW, 3) for _ in range(2)]
    rigs[0].engine.run(60)
    while rigs[1].now < rigs[0].now:
        rigs[1].engine.run(rigs[1].now + 1)
    assert not differences(*rigs)
    assert rigs[0].engine.state.channels.moved[rigs[0].s2mm()] == 3


@pytest.mark.parametrize("timing", [Timing(), SLOW, Timing(ingress_latency=2, port_pause=1)])
def test_a_ring_takes_as_long_as_before(timing: Timing) -> None:
    """A word a cycle, and one dead cycle for each descriptor."""
    rig = filled(timing, 400)
    rig.step(400)
    assert rig.engine.state.channels.bds_done[rig.s2mm()] == 79


def sent(timing: Timing, pause: int) -> tuple[list[int], list[int]]:
    """Cycles of eight words that enter a memory tile's slave port, and that leave the master port above it.

    Four of them are sent at once, and four ``pause`` cycles after the task of the first ones was queued.
    """
    column = Column(timing)
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    column.start(2, 0, 0, 0, 64, DmaAddress(0))
    column.start(1, MM2S, 0, 0, 4, OWN.address(0))
    ports = [Port(1, "DMA0", False), Port(2, "DMA0", True)]
    first = watched(column, ports, pause)
    column.issue(1, MM2S, 0, 0)
    went, came = (one + two for one, two in zip(first, watched(column, ports, 60), strict=True))
    return went, came


def test_the_first_word_over_an_idle_wire_is_a_cycle_late() -> None:
    """DEV-SILICON-6: at its start, and after a pause; the words behind it follow without a gap."""
    for timing, late in ((Timing(), 7), (STARTING, 8)):
        went, came = sent(timing, 80)
        assert [b - a for a, b in zip(went, came, strict=True)] == [late] * 8
        assert runs(came) == [4, 4]


@pytest.mark.parametrize(("idle", "late"), [(WIRE_IDLE, 1), (WIRE_IDLE - 1, 0)])
def test_a_wire_is_idle_after_some_cycles(idle: int, late: int) -> None:
    """From the last word's leaving the port to the north to the next one's coming there."""
    went, _ = sent(STARTING, 20)
    stays = 2 + 2 + 1  # cycles of the last word in both ports, the first one's late one among them
    pause = 20 + idle - (went[4] + 2 - (went[3] + stays))
    went, came = sent(STARTING, pause)
    assert went[4] + 2 - (went[3] + stays) == idle
    assert came[4] - went[4] == 7 + late


def test_a_sender_that_starts_stands_still_for_a_cycle_when_the_ports_are_full() -> None:
    """Eight words are what the ports of a tile hold (case relay-first-sent-run)."""
    for timing, expected in ((Timing(), [30]), (STARTING, [8, 22])):
        column = Column(timing)
        column.circuit(1, "DMA0", "NORTH0")
        column.circuit(2, "SOUTH0", "DMA0")
        column.start(2, 0, 0, 0, 64, DmaAddress(0))
        column.start(1, MM2S, 0, 0, 30, OWN.address(0))
        (went,) = watched(column, [Port(1, "DMA0", False)], 80)
        assert runs(went) == expected
