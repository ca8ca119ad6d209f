"""Does S2MM choose BDs by packet header, end them at TLAST, and report how long they were?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.packets import stream_header, token
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Packet
from memtile.bd.windows import OWN
from memtile.model.state.causes import Phase
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.stream_bench import Bench

UNAVAILABLE, LENGTH, PER_TASK, STALLED = 1 << 10, 1 << 12, 1 << 13, 1 << 5
POP = 0xA06C8


def feed(bench: Bench, ch: int, *packets: list[int]) -> None:
    """Offer packets, each with TLAST on its last word."""
    words = np.concatenate([np.array(p, dtype=np.uint32) for p in packets])
    last = np.concatenate([np.eye(1, len(p), len(p) - 1, dtype=np.uint8)[0] for p in packets])
    bench.engine.feed(ch, words, last)


def headed(bd: int, *words: int) -> list[int]:
    return [stream_header(7, out_of_order=bd), *words]


def receivers(bench: Bench, *bds: int, words: int = 4) -> None:
    """BD n writes at word 0x100 * n."""
    for bd in bds:
        bench.write_bd(bd, Descriptor("memory", words, OWN.address(0x100 * bd)))


# out of order ------------------------------------------------------------


@pytest.mark.feature("F09")
def test_the_header_chooses_the_descriptor_and_is_not_stored() -> None:
    """DEV-OOO-1: Start_BD_ID is ignored, each packet is one execution, Repeat_Count counts packets."""
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, Enable_Out_of_Order=1)
    receivers(bench, 2, 5, 23)
    bench.issue(ch, 0, 3)
    feed(bench, ch, headed(23, 1, 2, 3, 4), headed(2, 5, 6, 7, 8), headed(5, 9, 10, 11, 12))
    bench.run()
    assert bench.memory(0x1700, 4) == [1, 2, 3, 4]
    assert bench.memory(0x200, 4) == [5, 6, 7, 8]
    assert bench.memory(0x500, 5) == [9, 10, 11, 12, 0]
    assert bench.engine.state.channels.tasks_done[ch] == 1
    assert bench.engine.state.channels.phase[ch] == Phase.IDLE


@pytest.mark.feature("F09")
def test_packets_of_two_senders_arrive_where_each_says() -> None:
    """From BD field to BD choice, over one stream: two MM2S channels share the way to one S2MM channel."""
    bench = Bench("memory")
    bench.collects("DMA4", 0, 0)
    receivers(bench, 8, 9)
    receiver = bench.s2mm(4)
    bench.control(receiver, Enable_Out_of_Order=1)
    bench.issue(receiver, 0, 2)
    for number in (0, 2):
        bench.packets(f"DMA{number}", (number, 31, 0, 0))
        bench.fill(0x4000 + 16 * number, [number] * 4)
        source = OWN.address(0x4000 + 16 * number)
        packet = Descriptor("memory", 4, source, packet=Packet(number), ooo_id=9 - number // 2)
        bench.write_bd(number, packet)
        bench.issue(bench.mm2s(number), number)
    bench.run()
    assert bench.memory(0x900, 4) == [0] * 4
    assert bench.memory(0x800, 4) == [2] * 4
    assert bench.engine.state.channels.bds_done[receiver] == 2


@pytest.mark.feature("F09")
@pytest.mark.parametrize("bd", [24, 47, 48, 63])
def test_an_id_that_the_channel_may_not_use_halts_it(bd: int) -> None:
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, Enable_Out_of_Order=1)
    bench.issue(ch, 0)
    feed(bench, ch, headed(bd, 1, 2, 3, 4))
    bench.run()
    assert bench.status(ch) & UNAVAILABLE
    assert bench.engine.state.channels.phase[ch] == Phase.HALTED


@pytest.mark.feature("F09")
def test_a_chosen_descriptor_takes_its_lock_and_does_not_chain() -> None:
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, Enable_Out_of_Order=1)
    locked = Descriptor("memory", 2, OWN.address(0), acquire=Acquire(OWN.lock(3), -1, True), next=1)
    bench.write_bd(0, locked)
    receivers(bench, 1)
    bench.issue(ch, 0, 1)
    feed(bench, ch, headed(0, 5, 6))
    bench.run()
    assert bench.engine.state.channels.phase[ch] == Phase.ACQUIRE
    bench.door().write32(0xC0030, 1)
    bench.run()
    assert bench.memory(0, 2) == [5, 6]
    assert bench.engine.state.channels.bds_done[ch] == 1
    assert bench.engine.state.channels.phase[ch] == Phase.IDLE


@pytest.mark.feature("F09")
def test_headers_cost_no_cycle_beyond_the_bd_boundary() -> None:
    """The header is taken in the dead cycle between two BDs: words + 1 a packet, header included."""
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, Enable_Out_of_Order=1)
    receivers(bench, 0, 2)
    bench.issue(ch, 0, 20)
    feed(bench, ch, *[headed(2 * (n % 2), 1, 2, 3, 4) for n in range(20)])
    bench.run(40)
    first = int(bench.engine.state.spent[ch, 0])
    bench.run(10 * 5)
    assert bench.engine.state.spent[ch, 0] - first == 10 * 4


# finish on TLAST ------------------------------------------------------------


@pytest.mark.feature("F10")
@pytest.mark.parametrize("mode", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8])
def test_a_bd_ends_at_tlast(mode: int, length: int) -> None:
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, FoT_Mode=mode)
    receivers(bench, 0, words=8)
    bench.write_bd(1, Descriptor("memory", 8, OWN.address(0x100)))
    bench.issue(ch, 0)
    bench.issue(ch, 1)
    feed(bench, ch, list(range(1, length + 1)), [50, 51])
    bench.run()
    assert bench.memory(0, 9) == [*range(1, length + 1), *[0] * (9 - length)]
    assert bench.memory(0x100, 3) == [50, 51, 0]
    assert bench.engine.state.channels.tasks_done[ch] == 2


@pytest.mark.feature("F10")
def test_without_it_tlast_means_nothing() -> None:
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    receivers(bench, 0, words=4)
    bench.issue(ch, 0)
    feed(bench, ch, [1, 2], [3, 4])
    bench.run()
    assert bench.memory(0, 4) == [1, 2, 3, 4]


@pytest.mark.feature("F10")
def test_a_packet_longer_than_the_bd_halts_with_what_fits_in_memory() -> None:
    """DEV-FOT-1."""
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, FoT_Mode=1)
    receivers(bench, 0, words=3)
    bench.issue(ch, 0)
    feed(bench, ch, [1, 2, 3, 4])
    bench.run()
    assert bench.memory(0, 4) == [1, 2, 3, 0]
    assert bench.status(ch) & LENGTH
    assert bench.engine.state.channels.phase[ch] == Phase.HALTED


@pytest.mark.feature("F10")
def test_counts_are_popped_from_the_register() -> None:
    """Valid, last in task, BD, words; a full FIFO stalls the channel until something is popped."""
    timing = Timing(count_fifo_words=2)
    bench = Bench("memory", switched=False, timing=timing)
    ch = bench.s2mm(2)
    bench.control(ch, FoT_Mode=3)
    bench.write_bd(4, Descriptor("memory", 8, OWN.address(0), next=6))
    bench.write_bd(6, Descriptor("memory", 8, OWN.address(64)))
    bench.issue(ch, 4, 2)
    pop = POP + 4 * 2
    assert bench.door().read32(pop) == 0
    feed(bench, ch, [1, 2, 3], [4], [5, 6], [7] * 8)
    bench.run()
    assert bench.status(ch) & STALLED
    words = []
    for _ in range(4):
        words.append(bench.door().read32(pop))
        bench.run(100)
    valid, end = 1 << 31, 1 << 30
    assert words == [valid | 4 << 24 | 3, valid | 6 << 24 | 1, valid | 4 << 24 | 2, valid | end | 6 << 24 | 8]
    assert bench.door().read32(pop) == 0
    assert not bench.status(ch) & STALLED


@pytest.mark.feature("F10", "F12")
def test_counts_follow_the_token() -> None:
    """DEV-FOT-2: the token, then one word a BD as the pop register would show it, TLAST on the last."""
    bench = reporting()
    bench.run()
    assert bench.engine.left_port(0, "SOUTH1") == REPORTED


@pytest.mark.feature("F10", "F12")
@pytest.mark.parametrize("mode", [2, 3])
def test_the_pop_register_takes_no_count_that_belongs_to_a_token(mode: int) -> None:
    """DEV-FOT-2: read in every cycle, also when the mode changes after the task; all of it still leaves."""
    bench = reporting()
    ch, popped = bench.s2mm(1), []
    for _ in range(60):
        bench.run(1)
        if bench.engine.state.channels.tasks_done[ch] == 1:
            bench.control(ch, FoT_Mode=mode, Controller_ID=9)
        popped.append(bench.door().read32(POP + 4))
    bench.run()
    assert bench.engine.left_port(0, "SOUTH1") == REPORTED
    assert not any(popped)
    assert bench.engine.run(bench.engine.now + 2000) is Stop.QUIET


REPORTED = [
    (token("memory", 1, 9, column=1, row=1), 0),
    (1 << 31 | 24 << 24 | 3, 0),
    (1 << 31 | 24 << 24 | 1 << 30 | 5, 1),
]


def reporting() -> Bench:
    """S2MM 1 in mode 2 takes packets of three and of five words in one task; its report leaves at SOUTH1."""
    bench = Bench("memory")
    bench.packets("CTRL0", (9, 31, 0, 0))
    bench.collects("SOUTH1", 0, 0)
    bench.engine.catch_port(0, "SOUTH1")
    bench.circuit("DMA1", "DMA1")
    ch = bench.s2mm(1)
    bench.control(ch, FoT_Mode=2, Controller_ID=9)
    bench.write_bd(24, Descriptor("memory", 8, OWN.address(0)))
    bench.issue(ch, 24, 2, token=True)
    for bd, words in ((25, 3), (26, 5)):
        bench.write_bd(bd, Descriptor("memory", words, OWN.address(0x1000)))
        bench.issue(bench.mm2s(1), bd)
    return bench


@pytest.mark.feature("F10")
def test_more_bds_than_counts_in_a_task_with_token() -> None:
    """Bit 13."""
    bench = Bench("memory", switched=False, timing=Timing(count_fifo_words=2))
    ch = bench.s2mm()
    bench.control(ch, FoT_Mode=2)
    receivers(bench, 0, words=8)
    bench.issue(ch, 0, 3, token=True)
    feed(bench, ch, [1], [2], [3])
    bench.run()
    assert bench.status(ch) & PER_TASK
    assert bench.engine.state.channels.phase[ch] == Phase.HALTED


def test_a_reset_forgets_the_counts() -> None:
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, FoT_Mode=3)
    receivers(bench, 0)
    bench.issue(ch, 0)
    feed(bench, ch, [1])
    bench.run()
    bench.control(ch, Reset=1)
    bench.control(ch)
    assert bench.door().read32(POP) == 0


def test_out_of_order_with_finish_on_tlast() -> None:
    """Packets of any length, each to its own place."""
    bench = Bench("memory", switched=False)
    ch = bench.s2mm()
    bench.control(ch, Enable_Out_of_Order=1, FoT_Mode=1)
    receivers(bench, 1, 2)
    bench.issue(ch, 0, 2)
    feed(bench, ch, headed(2, 1), headed(1, 2, 3, 4))
    bench.run()
    assert bench.memory(0x200, 2) == [1, 0]
    assert bench.memory(0x100, 4) == [2, 3, 4, 0]


@pytest.mark.parametrize("fields", [{"FoT_Mode": 1}, {"Enable_Out_of_Order": 1}, {}])
def test_the_untimed_run_ends_in_the_same_memory(fields: dict[str, int]) -> None:
    memories = []
    for run in (lambda bench: bench.run(), lambda bench: run_untimed(bench.engine)):
        bench = Bench("memory", switched=False)
        ch = bench.s2mm()
        bench.control(ch, **fields)
        receivers(bench, 0, 1)
        bench.issue(ch, 0, 2)
        feed(bench, ch, headed(1, 1, 2, 3), headed(0, 4, 5, 6))
        run(bench)
        memories.append(bench.memory(0, 0x200))
    assert memories[0] == memories[1]
    assert any(memories[0])
