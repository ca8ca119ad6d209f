"""What do events, counters and traces cost the engine, with all twelve channels of a tile at work?

Stepped, and where time is skipped. The setups take turns within one run, so that a busy machine slows all of
them; only ratios are asserted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import pytest

from memtile.arch.register_map import register_named
from memtile.arch.tiles import MEMORY, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.skip.fast_forward import fast_forwarding
from memtile.testing.rig import Rig

CYCLES, TURNS = 8_000, 45
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


def seconds(rig: Rig) -> float:
    """Time of the next ``CYCLES`` cycles, each of them stepped."""
    with fast_forwarding(False):
        start = time.thread_time()
        rig.engine.run(rig.now + CYCLES)
        return time.thread_time() - start


@pytest.fixture(scope="module")
def rigs() -> dict[str, Rig]:
    """A tile for each setup, at work."""
    made = {"unused": busy(), "counted": busy(), "traced": busy()}
    counted(made["counted"])
    traced(made["traced"])
    for rig in made.values():
        rig.engine.run(1000)
    return made


@pytest.fixture(scope="module")
def ratios(rigs: dict[str, Rig]) -> dict[str, float]:
    """Time of each setup over that with no unit in use: medians over the turns."""
    turns = [{name: seconds(rig) for name, rig in rigs.items()} for _ in range(TURNS)]
    assert EventUnit(rigs["counted"].door).counted(1) > CYCLES  # they did what they are timed for
    assert len(rigs["traced"].engine.traced(0)) > 0
    return {name: median(turn[name] / turn["unused"] for turn in turns) for name in rigs}


@pytest.mark.parametrize(("setup", "most"), [("counted", 1.2), ("traced", 2.0)])
def test_events_and_traces_cost_little(benchmark, rigs, ratios, setup: str, most: float) -> None:
    """Counters and sticky events a fifth at most, eight traced events as much again as all the rest."""
    benchmark.pedantic(seconds, args=(rigs[setup],), rounds=3)
    benchmark.extra_info["x stepped"] = round(ratios[setup], 2)
    assert ratios[setup] <= most


def skipping(setup: Callable[[Rig], None] | None) -> float:
    """Time of a run of half a million cycles in which time that repeats is skipped."""
    rig = busy()
    if setup is not None:
        setup(rig)
    rig.engine.run(1000)
    start = time.thread_time()
    rig.engine.run(rig.now + WORDS * (RUNS - 1))
    return time.thread_time() - start


@pytest.mark.parametrize(("setup", "most"), [(counted, 3), (traced, 15)])
def test_events_and_traces_cost_little_where_time_is_skipped(
    setup: Callable[[Rig], None], most: float
) -> None:
    """A trace writes a frame at each end of a BD and after each 1,023 repeats of what it has seen."""
    ratios = [skipping(setup) / skipping(None) for _ in range(5)]
    assert median(ratios) <= most
