"""What do events, counters and traces cost the engine, with all twelve channels of a tile at work?

The setups take turns within one run, and the best time of each is taken: a busy machine slows all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.testing.event_unit import EventUnit
from memtile.testing.rig import Rig

CYCLES, TURNS = 20_000, 15
WORDS, RUNS = 4096, 128
TRACED = (
    "DMA_S2MM_SEL0_START_TASK",
    "DMA_S2MM_SEL0_FINISHED_BD",
    "DMA_S2MM_SEL1_STALLED_LOCK",
    "DMA_MM2S_SEL0_FINISHED_BD",
    "DMA_MM2S_SEL1_STREAM_BACKPRESSURE",
    "LOCK_SEL0_ACQ_GE",
    "PORT_RUNNING_0",
    "GROUP_MEMORY_CONFLICT",
)
COUNTED = ("DMA_S2MM_SEL0_STALLED_LOCK", "PORT_RUNNING_0", "CONFLICT_DM_BANK_3")


def busy() -> Rig:
    """All twelve channels at work for the whole time, each in a bank of its own."""
    rig = Rig()
    rig.door.write32(register_named("memory_tile", "Memory_Control").offset, 0)  # no interleaving
    for ch in range(2 * MEMORY.channels):
        bd = MEMORY.bd_bank(ch)[ch]
        rig.write_bd(bd, Descriptor("memory", WORDS, OWN.address(ch * MEMORY.bank_bytes // WORD_BYTES)))
        rig.issue(ch, bd, RUNS)
        rig.feed(ch, WORDS * RUNS) if ch < MEMORY.channels else rig.catch(ch)
    return rig


def select_ports(unit: EventUnit) -> None:
    unit.write("Stream_Switch_Event_Port_Selection_0", Port_0_ID=0, Port_0_Master_Slave=1)


def counted(rig: Rig) -> None:
    """All four counters at work, one of them a stopwatch; sticky bits in use."""
    unit = EventUnit(rig.door)
    select_ports(unit)
    for number, event in enumerate(COUNTED):
        unit.count(number, event, event)
    unit.count(len(COUNTED), "TRUE", "NONE")
    unit.clear("GROUP_MEMORY_CONFLICT")


def traced(rig: Rig) -> None:
    """Eight events traced, one of them a group of 16."""
    unit = EventUnit(rig.door)
    select_ports(unit)
    unit.trace(TRACED, start="TRUE", stop="NONE")


def best_times(setups: Mapping[str, Callable[[Rig], None]]) -> tuple[dict[str, float], dict[str, Rig]]:
    """Best time of a cycle of each setup, in seconds."""
    rigs = {name: busy() for name in setups}
    for name, setup in setups.items():
        setup(rigs[name])
        rigs[name].engine.run(1000)
    best = dict.fromkeys(setups, float("inf"))
    for _ in range(TURNS):
        for name, rig in rigs.items():
            start = time.thread_time()
            rig.engine.run(rig.now + CYCLES)
            best[name] = min(best[name], (time.thread_time() - start) / CYCLES)
    return best, rigs


@pytest.fixture(scope="module")
def times() -> dict[str, float]:
    best, rigs = best_times({"unused": lambda _: None, "counted": counted, "traced": traced})
    assert EventUnit(rigs["counted"].door).counted(1) > CYCLES  # they did what they are timed for
    assert len(rigs["traced"].engine.traced(0)) > 0
    for name, seconds in best.items():
        print(f"{name}: {seconds * 1e9:.0f} ns a cycle, {seconds / best['unused']:.2f} of unused")
    return best


def test_counters_and_sticky_events_cost_a_fifth_at_most(times: dict[str, float]) -> None:
    assert times["counted"] <= 1.2 * times["unused"]


def test_eight_traced_events_take_twice_the_time_at_most(times: dict[str, float]) -> None:
    assert times["traced"] <= 2 * times["unused"]
