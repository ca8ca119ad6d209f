"""Does a packet cost the cycles that docs/timing.md says?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.timing import Timing, Unlimited
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import OWN
from memtile.testing.stream_bench import Bench
from support.designs.packet_bench import ALL, send, take


def first_arrival(bench: Bench) -> int:
    """Cycle in which a word entered S2MM 0, counted from the cycle in which MM2S 0 sent its first one."""
    start = None
    for _ in range(100):
        before = int(bench.engine.state.channels.moved[bench.mm2s()])
        bench.run(1)
        if start is None and bench.engine.state.channels.moved[bench.mm2s()] > before:
            start = bench.engine.now
        if bench.engine.state.fifos.held[bench.s2mm()]:
            assert start is not None
            return bench.engine.now - start
    raise AssertionError("nothing came")


def loopback(arbitration: int) -> Bench:
    bench = Bench("memory", timing=Timing(packet_arbitration=arbitration))
    bench.packets("DMA0", (3, 31, 0, 0))
    bench.collects("DMA0", 0, 0)
    bench.write_bd(0, Descriptor("memory", 8, OWN.address(0), packet=Packet(3)))
    return bench


@pytest.mark.parametrize("arbitration", [0, 1, 5])
def test_arbitration_adds_its_cycles_to_the_way_of_a_circuit(arbitration: int) -> None:
    bench = loopback(arbitration)
    bench.issue(bench.mm2s(), 0)
    assert first_arrival(bench) == 3 + arbitration


@pytest.mark.feature("F19")
@pytest.mark.parametrize("arbitration", [0, 1, 5])
def test_a_packet_occupies_its_master_for_its_words_and_the_arbitration(arbitration: int) -> None:
    """Two slaves that always have a packet ready: header, eight words and the arbitration, each."""
    bench = loopback(arbitration)
    bench.packets("DMA2", (3, 31, 0, 0))
    packets, words = 10, 9
    for number in (0, 2):
        bench.issue(bench.mm2s(number), 0, packets)
    bench.write_bd(1, Descriptor("memory", 2 * packets * words, OWN.address(0x1000)))
    bench.issue(bench.s2mm(), 1)
    bench.run(20)
    first = int(bench.engine.state.channels.moved[bench.s2mm()])
    bench.run(10 * (words + arbitration))
    assert bench.engine.state.channels.moved[bench.s2mm()] - first == 10 * words


def test_a_waiting_packet_is_not_skipped_over() -> None:
    """Time alone separates the header from its move: that is no quiet state."""
    bench = loopback(8)
    bench.issue(bench.mm2s(), 0)
    bench.write_bd(1, Descriptor("memory", 9, OWN.address(0x1000)))
    bench.issue(bench.s2mm(), 1)
    bench.run(1000)
    assert bench.engine.state.channels.tasks_done[bench.s2mm()] == 1
    assert bench.engine.now < 50


def test_a_packet_without_arbiters_on_its_way_is_cut_and_lets_its_master_go() -> None:
    """DEV-PKT-5, in a run with packets relaxed."""
    bench = Bench("memory", timing=Timing(unlimited=Unlimited.PACKETS))
    bench.collects("DMA5", 0, 0, drop=True)
    bench.packets("DMA0", (0, ALL, 0, 0))
    send(bench, 0, 0, [*range(10, 18)])
    take(bench, 5, 8)
    switch = bench.engine.state.switch
    while bench.engine.state.channels.moved[bench.s2mm(5)] < 2:
        bench.engine.run(bench.engine.now + 1)
    bench.collects("DMA4", 1, 0, drop=True)
    bench.run(1)
    (slave,) = np.flatnonzero(switch.arbiter >= 0)
    master = switch.targets[slave]
    assert switch.asked[master] == slave, "it goes on"
    bench.circuit("DMA0")
    assert switch.asked[master] == -1
