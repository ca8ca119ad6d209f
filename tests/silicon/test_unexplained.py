"""Do model and silicon still differ as the rows of deviations.md say that nothing else explains?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.boards import board
from memtile.arch.tiles import MM2S
from memtile.arch.timing import chosen_timing
from memtile.bd.windows import OWN
from memtile.model.state.event_columns import ChannelEvent
from memtile.sim.doors.event_panel import EventUnit
from support.designs.interface_bench import Column, caught
from support.silicon.silicon_hosts import PHOENIX, numbered_beyond
from support.silicon.silicon_rig import cases
from support.silicon.silicon_streams import (
    CONSUMED,
    RECEIVED,
    SENT,
    backlog,
    core_reads,
    gaps,
    handed_on,
    relay,
    relayed,
    runs,
    sent_to_interface,
    watched,
)
from support.silicon.silicon_tiles import (
    back_pressure,
    core_beside_dma,
    filled_and_drained,
    give_back,
    store_beside_dma,
)

PORTS = {"port_pause": 1, "ingress_latency": 2, "wire_start": 1}
MEASURED = {case.id: case.measured for case in cases()}


def test_dev_silicon_1_a_relay_s_first_word_leaves_early() -> None:
    """DEV-SILICON-1."""
    assert (MEASURED["relay-first-send"], relayed()["first_send"]) == (19, 4)
    with chosen_timing(PORTS):
        assert relayed()["first_send"] == 5
    with chosen_timing(board("phoenix")):
        assert relayed()["first_send"] == 11


def test_dev_silicon_1_the_lock_has_more_than_all_between_the_ends_of_both_descriptors() -> None:
    """DEV-SILICON-1: what is measured by `memtile measure`'s design `relay` as relay_finished."""
    assert (MEASURED["relay-finished"], handed_on()["finished"]) == (14, 10)
    with chosen_timing(board("phoenix")):
        assert handed_on()["finished"] == 16


def test_dev_silicon_2_a_receiving_port_pauses_if_asked() -> None:
    """DEV-SILICON-2: by default it does not, whatever the core takes for a buffer."""
    assert (MEASURED["relay-received-runs"], MEASURED["relay-first-sent-run"]) == (4, 8)
    for first in (20, 46, 80):
        found = relayed(first)
        assert (found["received_runs"], found["received_span"], found["first_sent_run"]) == (1, 64, 16)


def test_dev_silicon_2_ports_of_phoenix_run_and_stop_as_measured() -> None:
    """DEV-SILICON-2, DEV-SILICON-6: runs and gaps of three ports, the sender's first 8 words among them."""
    with chosen_timing(PORTS):
        came, went, got = watched(relay(), [RECEIVED, SENT, CONSUMED], 1200)
    assert (runs(came), gaps(came)) == ([16] * 4, [1] * 3)
    assert (runs(got), gaps(got)) == ([8] * 8, [1, 1, 1, 25, 61, 66, 61])
    assert (runs(went), gaps(went)) == ([8, 8, 14, 2, 14, 2, 6, 8, 2], [1, 1, 1, 1, 25, 1, 60, 66])


def test_dev_silicon_2_back_pressure_of_phoenix_begins_and_ends_as_measured() -> None:
    """DEV-SILICON-2: by pauses alone a cycle late; by what a channel takes a cycle later, as measured."""
    names = "start", "end", "cycles"
    assert [MEASURED[f"back-pressure-{name}"] for name in names] == [15, 1, 104]
    for constants, start in (({}, 15), ({"port_pause": 1}, 16), (PORTS, 15)):
        with chosen_timing(constants):
            found = back_pressure("compute", 119)
        assert found == {"start": start, "end": 1, "inside": 119 - start}


def test_dev_silicon_3_sides_keep_their_phase_in_a_bank() -> None:
    """DEV-SILICON-3: a fill and a drain that begin together meet every four cycles, or never."""
    found = [filled_and_drained(0, later, fill=True)["conflicts"] for later in range(4)]
    assert found == [61, 0, 0, 0]
    assert MEASURED["compute-conflicts-collide"] == 144
    assert core_beside_dma(0x400, 0x2400)["conflicts"] == 141
    assert MEASURED["compute-conflicts-collide2"] == 149
    assert core_beside_dma(0x8000, 0xA000)["conflicts"] == 141


def test_dev_silicon_3_a_core_that_stores_in_every_cycle_loses_half_of_what_it_meets() -> None:
    """DEV-SILICON-3."""
    found = store_beside_dma(0x400, 0x2400)
    assert [MEASURED[f"store-beside-dma-{what}"] for what in ("conflicts", "stalls")] == [1100, 19]
    assert (found["conflicts"], found["stalls"]) == (96, 96)


def test_dev_silicon_4_events_of_a_slave_port_are_those_of_words_that_leave_it() -> None:
    """DEV-SILICON-4: a receiver without a task; its ingress buffer and four ports take 16 and 14 words."""
    column = Column()
    column.circuit(1, "DMA0", "NORTH0")
    column.circuit(2, "SOUTH0", "DMA0")
    unit = EventUnit(column.doors[1], "memory_tile")
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=0, Port_0_Master_Slave=0)
    unit.count(0, "PORT_RUNNING_0", "PORT_RUNNING_0")
    column.start(1, MM2S, 0, 0, 64, OWN.address(0))
    column.engine.run(200)
    state = column.engine.state
    assert state.channels.moved[column.channel(1, MM2S)] == 16 + 14
    assert unit.counted(0) == 16 + 10
    assert MEASURED["relay-sent-ahead"] - 32 == 14


def test_a_release_comes_two_cycles_before_its_finished_bd_and_63_after_the_one_before() -> None:
    """Measured: 63 or 64 cycles from FINISHED_BD to the next release, with a buffer filled in 65 cycles."""
    assert give_back() == {"own_release": -2, "next_release": 63}
    assert 63 <= MEASURED["release-after-finished"] <= 64


@pytest.mark.slow
def test_dev_silicon_5_a_transaction_with_more_descriptors_than_the_tile_has_hangs() -> None:
    """DEV-SILICON-5."""
    assert [MEASURED[f"wedge-{count}"] for count in (8, 16)] == [1, 0]
    found = {count: numbered_beyond(count) for count in (8, 9, 12, 16)}
    assert [each["completed"] for each in found.values()] == [1, 1, 1, 0]
    assert [each["in"] for each in found.values()] == [8, 10, 13, 17]


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "completed"), [(14, 1), (15, 0)])
def test_dev_silicon_5_the_address_says_how_often_the_task_is_repeated_that_nobody_pushed(
    bits: int, completed: int
) -> None:
    """DEV-SILICON-5."""
    assert numbered_beyond(16, address=bits << 16)["completed"] == completed


def test_dev_silicon_6_a_core_sees_every_dead_cycle_of_its_sender() -> None:
    """DEV-SILICON-6: 10 bundles beside the words, and one for each descriptor but the first."""
    assert MEASURED["stream-262144"] == 262144 + 10 + 262144 / 16384 - 2
    assert core_reads(4096, 256)["cycles"] == 4096 + 10 + 4096 / 256 - 1


def test_dev_silicon_6_two_wires_that_were_idle_hold_a_sender_back_for_two_cycles_in_each_transfer() -> None:
    """DEV-SILICON-6: GT-1's back-pressure, 30, 28, 30 and 30 cycles in 15 transfers."""
    measured = [
        MEASURED[f"compute-back-pressure-{name}"] for name in ("idle", "apart", "collide", "collide2")
    ]
    assert measured == [30, 28, 30, 30]
    assert sent_to_interface(4)["back_pressure"] == 0
    with chosen_timing(PORTS):
        assert sent_to_interface(4)["back_pressure"] == 2 * 4


def test_dev_silicon_8_a_sender_fetches_nothing_of_its_next_descriptor_while_it_sends() -> None:
    """DEV-SILICON-8."""
    measured = {size: MEASURED[f"egress-backlog-{size}"] for size in (1, 2, 4, 8, 16)}
    assert measured == {1: 30, 2: 18, 4: 12, 8: 6, 16: 3}
    assert {size: backlog(size)["descriptors"] for size in measured} == {1: 41, 2: 21, 4: 11, 8: 6, 16: 3}


def fetched(size: int, outside: int, held: int, *, accesses: bool) -> int:
    """Descriptors whose last access a sender of AIE-ML has made when nothing moves any more.

    Args:
        size: words of each of 64 descriptors.
        outside: words that leave the sender.
        held: accesses of four words, or words, that it holds, of whatever descriptors.
        accesses: it counts accesses.
    """
    buffer: list[int] = []
    for done in range(64):
        for at in range(0, size, 4):
            words = min(4, size - at)
            while buffer and outside >= buffer[0]:
                outside -= buffer.pop(0)
            if buffer and outside:
                buffer[0], outside = buffer[0] - outside, 0
            if (len(buffer) if accesses else sum(buffer) + words - 1) >= held:
                return done
            buffer.append(words)
    return 64


def test_dev_silicon_8_six_accesses_and_no_word_before_the_task_are_all_that_has_the_five_counts() -> None:
    """DEV-SILICON-8, DEV-INGRESS-2: six ports of four words, none in the receiver; no words of a buffer."""
    measured = {size: MEASURED[f"egress-backlog-{size}"] for size in (1, 2, 4, 8, 16)}
    fitting = [
        (outside, held, accesses)
        for accesses in (True, False)
        for outside in range(64)
        for held in range(1, 33)
        if all(fetched(size, outside, held, accesses=accesses) == n for size, n in measured.items())
    ]
    assert fitting == [(23, 7, True), (24, 6, True)]
    assert 6 * PHOENIX.local_slave_words == 24


def test_dev_silicon_7_a_task_starts_when_the_one_before_it_has_ended() -> None:
    """DEV-SILICON-7: on Phoenix START_TASK of a task that was pushed early comes before that."""
    assert MEASURED["chain-8-mm2s-gap-0"] < 0
    assert MEASURED["chain-8-mm2s-task-1"] + MEASURED["chain-8-mm2s-gap-0"] == 371
    assert 364 <= 371 <= 399  # what tasks take that need not wait: 5, 6 and 7 of the chain
    column, ch = caught(timing=PHOENIX)
    at = column.engine.external.add("in", np.arange(64, dtype=np.uint32)).at()
    column.start(0, MM2S, 0, 0, 64, at)
    column.engine.run(100)
    column.issue(0, MM2S, 0, 0)
    state, stamps = column.engine.state, set()
    for _ in range(2600):
        column.engine.run(column.engine.now + 1)
        stamps.add(int(state.seen[ch, ChannelEvent.START_TASK]))
    started, ended = sorted(stamps)[-1], int(state.seen[ch, ChannelEvent.FINISHED_TASK])
    assert started == 4 + 12 + 323 + 1255 + 64
    assert ended - started == 323 + 64


def test_fewer_words_on_their_way_than_cycles_of_latency_would_not_give_the_measured_rate() -> None:
    assert MEASURED["shim-mm2s-rate"] == 1.05
    assert PHOENIX.external_egress_words >= PHOENIX.external_latency
