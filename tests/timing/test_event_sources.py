"""Is each event asserted by what it stands for, at whichever channel, lock, port or bank is selected?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memtile import Array
from memtile.arch.events import EVENT_UNITS
from memtile.arch.ports import PORTS
from memtile.arch.register_map import register_named
from memtile.arch.registers import ModuleName
from memtile.arch.tiles import INTERFACE, MEMORY, WORD_BYTES
from memtile.bd.descriptor import Acquire, Descriptor
from memtile.bd.windows import OWN
from memtile.errors import RegisterError
from memtile.model.build.event_tables import MODULES, sources
from memtile.model.state.event_columns import EventSource
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.testing.rig import Rig
from memtile.testing.stream_bench import Bench

FREE = Acquire()
FEATURE = pytest.mark.feature("F23")
PAGE = Path(__file__).parents[2] / "docs" / "deviations.md"
PULSES = ("START_TASK", "FINISHED_BD", "FINISHED_TASK")


def raised(unit: EventUnit, prefix: str) -> set[str]:
    """Events of the unit with this prefix that have been asserted, without it."""
    return {
        name.removeprefix(prefix) for name in unit.events if name.startswith(prefix) and unit.status(name)
    }


def moving(rig: Rig, side: str, number: int, acquire: Acquire = FREE) -> int:
    """A channel with eight words to move, not started: its model index."""
    ch = rig.s2mm(number) if side == "S2MM" else rig.mm2s(number)
    rig.write_bd(rig.kind.bd_bank(number)[0], Descriptor("memory", 8, OWN.address(0), acquire=acquire))
    return ch


@FEATURE
@pytest.mark.parametrize("number", range(MEMORY.channels))
@pytest.mark.parametrize("selector", [0, 1])
@pytest.mark.parametrize("side", ["S2MM", "MM2S"])
def test_the_pulses_of_the_selected_channel(side: str, selector: int, number: int) -> None:
    rig = Rig()
    unit, ch = EventUnit(rig.door), moving(rig, side, number)
    unit.write("DMA_Event_Channel_Selection", **{f"{side}_Sel{selector}_Channel": number})
    unit.write("DMA_Event_Channel_Selection", **{f"{side}_Sel{1 - selector}_Channel": (number + 1) % 6})
    rig.feed(ch, 8) if side == "S2MM" else rig.catch(ch)
    rig.issue(ch, rig.kind.bd_bank(number)[0])
    rig.step(40)
    assert raised(unit, f"DMA_{side}_SEL{selector}_") >= set(PULSES)
    assert raised(unit, f"DMA_{side}_SEL{1 - selector}_") == set()


@FEATURE
@pytest.mark.parametrize("number", [0, 1])
def test_the_channels_of_a_compute_tile_have_events_of_their_own(number: int) -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    source, target = tile.buffer("source", 16), tile.buffer("target", 16)
    unit = EventUnit(tile.door, "memory")
    array.connect(tile.mm2s[number], tile.s2mm[1 - number])
    tile.mm2s[number].start(tile.read(source))
    tile.s2mm[1 - number].start(tile.write(target))
    array.run()
    assert raised(unit, f"DMA_MM2S_{number}_") >= set(PULSES)
    assert raised(unit, f"DMA_S2MM_{1 - number}_") >= set(PULSES)
    assert raised(unit, f"DMA_MM2S_{1 - number}_") | raised(unit, f"DMA_S2MM_{number}_") == set()


@FEATURE
def test_the_channels_of_an_interface_tile() -> None:
    array = Array("npu1", columns=1)
    there = np.zeros(64, np.int32)
    source = array.external("source", np.arange(64, dtype=np.int32))
    target, tile = array.external("target", there), array.interface_tile(0)
    unit = EventUnit(tile.door, "pl")
    array.connect(tile.mm2s[0], tile.s2mm[1])
    tile.mm2s[0].start(tile.read(source))
    tile.s2mm[1].start(tile.write(target))
    array.run()
    assert (there == np.arange(64)).all()
    assert raised(unit, "DMA_MM2S_0_") >= set(PULSES)
    assert raised(unit, "DMA_S2MM_1_") >= set(PULSES)
    assert raised(unit, "DMA_S2MM_0_") | raised(unit, "DMA_MM2S_1_") == set()


@FEATURE
@pytest.mark.parametrize("side", ["S2MM", "MM2S"])
def test_waiting_for_a_lock(side: str) -> None:
    rig = Rig()
    ch = moving(rig, side, 0, Acquire(OWN.lock(3), -1, True))
    rig.issue(ch, 0)
    rig.step(20)
    assert raised(EventUnit(rig.door), f"DMA_{side}_SEL0_") >= {"START_TASK", "STALLED_LOCK"}


@FEATURE
def test_waiting_for_the_stream() -> None:
    rig = Rig()
    rig.catch(rig.mm2s(), [0] * 60 + [1])
    for side in ("S2MM", "MM2S"):
        rig.issue(moving(rig, side, 0), 0)
    rig.step(40)
    unit = EventUnit(rig.door)
    assert "STREAM_STARVATION" in raised(unit, "DMA_S2MM_SEL0_")
    assert "STREAM_BACKPRESSURE" in raised(unit, "DMA_MM2S_SEL0_")


@FEATURE
@pytest.mark.parametrize("bank", range(16))
def test_waiting_for_memory_and_conflicts_name_the_bank(bank: int) -> None:
    rig = Rig()
    rig.door.write32(register_named("memory_tile", "Memory_Control").offset, 0)  # no interleaving
    words = MEMORY.bank_bytes // WORD_BYTES
    for n in range(4):
        bd = rig.kind.bd_bank(n)[n]
        rig.write_bd(bd, Descriptor("memory", 64, OWN.address(bank * words + n * 256)))
        ch = rig.s2mm(n) if n % 2 else rig.mm2s(n)
        rig.feed(ch, 64) if n % 2 else rig.catch(ch)
        rig.issue(ch, bd)
    unit = EventUnit(rig.door)
    unit.write("DMA_Event_Channel_Selection", S2MM_Sel0_Channel=1, MM2S_Sel0_Channel=2)
    rig.step(300)
    assert raised(unit, "CONFLICT_DM_BANK_") == {str(bank)}


@FEATURE
def test_waiting_for_memory() -> None:
    """While zeroisation owns the banks nothing else does."""
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.write_bd(0, Descriptor("memory", 64, OWN.address(0)))
    rig.catch(rig.mm2s())
    rig.feed(rig.s2mm(), 64)
    for ch in (rig.s2mm(), rig.mm2s()):
        rig.issue(ch, 0)
    rig.step(12)
    unit.write("Memory_Control", Memory_Zeroisation=1)
    rig.step(60)
    assert "MEMORY_BACKPRESSURE" in raised(unit, "DMA_S2MM_SEL0_")
    assert "MEMORY_STARVATION" in raised(unit, "DMA_MM2S_SEL0_")


def test_memory_starvation_is_none_before_the_first_word_of_a_bd_has_left() -> None:
    """Cases compute-starved-*: none in 16 transfers on Phoenix, each of which waits for its first access."""
    rig = Rig()
    unit = EventUnit(rig.door)
    ch = moving(rig, "MM2S", 0)
    rig.catch(ch)
    unit.write("Memory_Control", Memory_Zeroisation=1)
    rig.issue(ch, 0)
    rig.step(60)
    assert "MEMORY_STARVATION" not in raised(unit, "DMA_MM2S_SEL0_")


@FEATURE
@pytest.mark.parametrize("selector", range(8))
def test_lock_selectors(selector: int) -> None:
    rig = Rig()
    unit, lock = EventUnit(rig.door), 63 - 7 * selector
    for n in range(8):  # the others watch a lock that nobody touches
        unit.write(f"Locks_Event_Selection_{n}", Lock_Select=lock if n == selector else 1, Lock_Value=4)
    rig.step(1)
    rig.request_lock(lock, 5, acquire=False)
    rig.step(1)
    assert raised(unit, "LOCK_SEL") == {f"{selector}_REL"}
    rig.request_lock(lock, -1, acquire=True)
    rig.step(1)
    assert raised(unit, "LOCK_SEL") == {f"{selector}_{x}" for x in ("REL", "ACQ_GE", "EQUAL_TO_VALUE")}
    rig.request_lock(lock, 4, acquire=True)
    rig.step(1)
    assert f"{selector}_ACQ_EQ" in raised(unit, "LOCK_SEL")


@FEATURE
@pytest.mark.parametrize("selector", range(INTERFACE.lock_event_selectors))
def test_lock_selectors_of_an_interface_tile_count_when_they_are_written(selector: int) -> None:
    """They are registers of module noc, the unit whose events they select is that of module pl."""
    rig = Rig("interface")
    unit, lock = EventUnit(rig.door, "pl"), 15 - selector
    unit.count(0, f"LOCK_{selector}_REL", f"LOCK_{selector}_REL")
    register = register_named("noc", f"Locks_Event_Selection_{selector}")
    rig.door.write32(register.offset, register.pack(Lock_Select=lock))
    rig.request_lock(lock, 1, acquire=False)
    rig.step(2)
    assert raised(unit, "LOCK_") == {f"{selector}_REL"}
    assert unit.read("Performance_Counter0") == 1


@FEATURE
@pytest.mark.parametrize("selector", range(8))
def test_port_selectors(selector: int) -> None:
    """Words that wait at a slave port of the switch because the channel behind the master is not started."""
    bench = Bench("memory")
    bench.circuit("DMA1", "DMA1")
    ports, unit = PORTS["memory"], EventUnit(bench.door())
    register = f"Stream_Switch_Event_Port_Selection_{selector // 4}"

    def watch(port: int, *, master: bool) -> None:
        unit.write(register, **{f"Port_{selector}_ID": port, f"Port_{selector}_Master_Slave": int(master)})
        for name in ("RUNNING", "STALLED", "TLAST", "IDLE"):
            unit.clear(f"PORT_{name}_{selector}")

    def seen() -> set[str]:
        return {name for name in ("RUNNING", "STALLED", "TLAST") if unit.status(f"PORT_{name}_{selector}")}

    bench.write_bd(25, Descriptor("memory", 24, OWN.address(0)))
    bench.write_bd(24, Descriptor("memory", 24, OWN.address(64)))
    watch(ports.slave("DMA1"), master=False)
    bench.issue(bench.mm2s(1), 25)
    bench.engine.run(60)
    assert seen() == {"RUNNING", "STALLED"}
    watch(ports.master("DMA1"), master=True)
    bench.issue(bench.s2mm(1), 24)
    bench.engine.run(140)
    assert "RUNNING" in seen()
    assert "TLAST" in seen()
    watch(ports.slave("SOUTH1"), master=False)
    bench.engine.run(160)
    assert seen() == set()
    assert unit.status(f"PORT_IDLE_{selector}")


@FEATURE
@pytest.mark.parametrize(("side", "other"), [("S2MM", "MM2S"), ("MM2S", "S2MM")])
def test_errors_of_a_direction(side: str, other: str) -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    rig.issue(rig.s2mm(4) if side == "S2MM" else rig.mm2s(4), 5)  # its BD is not valid
    rig.step(20)
    assert unit.status(f"DMA_{side}_ERROR")
    assert not unit.status(f"DMA_{other}_ERROR")


@FEATURE
def test_an_access_that_nothing_answers() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    with pytest.raises(RegisterError, match="slave error"):
        rig.door.write32(0xFFFF8, 1)
    rig.step(2)
    assert unit.status("AXI_MM_SLAVE_ERROR")


@FEATURE
def test_events_of_a_core() -> None:
    rig = Rig("compute")
    unit = EventUnit(rig.door, "core")

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(3)
        yield core.event(0)
        yield core.release(5)
        yield core.event(1)
        yield core.acquire(6)

    unit.count(0, "INSTR_EVENT_0", "INSTR_EVENT_1")
    unit.count(1, "INSTR_EVENT_0", "INSTR_EVENT_0")
    unit.count(2, "ACTIVE", "ACTIVE")
    rig.engine.attach_kernel(0, kernel)
    rig.step(60)
    names = {"INSTR_EVENT_0", "INSTR_EVENT_1", "ACTIVE", "LOCK_STALL"}
    names |= {"INSTR_LOCK_RELEASE_REQ", "INSTR_LOCK_ACQUIRE_REQ"}
    assert {name for name in names if unit.status(name)} == names
    assert not unit.status("MEMORY_STALL")
    release = rig.engine.timing.core_lock + 1
    assert [unit.counted(n) for n in range(3)] == [release + 1, 1, 60]


def test_a_core_waits_for_memory() -> None:
    rig = Rig("compute")
    unit = EventUnit(rig.door, "core")

    def kernel(core: Core) -> Iterator[Action]:
        words = np.zeros(32, dtype=np.int64) + 0x70000
        for _ in range(8):
            yield core.access(Pattern(words, 32), store=Pattern(words, 32))

    rig.engine.attach_kernel(0, kernel)
    rig.step(100)
    assert unit.status("MEMORY_STALL")


OWN_EVENTS = re.compile(
    r"NONE|TIMER_.*|PERF_CNT.*|(COMBO|EDGE_DETECTION)_EVENT_\d|BROADCAST_.*|USER_EVENT_\d"
)
ELSEWHERE = {"INSTR_EVENT_0", "INSTR_EVENT_1"}  # raised by their number


def silent(module: ModuleName) -> set[str]:
    """Events that nothing but Event_Generate raises."""
    table = sources()[MODULES.index(module)]
    numbers = EVENT_UNITS[module].events
    raised = {name for name in numbers if table[numbers[name]][0] == EventSource.RAISED}
    return {name for name in raised - ELSEWHERE if not OWN_EVENTS.fullmatch(name)}


def test_the_page_lists_the_events_that_nothing_raises() -> None:
    """DEV-OBS-6."""
    section = (
        PAGE.read_text(encoding="utf-8").partition("### Events that nothing raises")[2].partition("\n## ")[0]
    )
    rows = dict(re.findall(r"^\| (\w+) \| (.+) \|$", section, re.MULTILINE))
    listed = {module: set(re.findall(r"`(\w+)`", rows.get(module, ""))) for module in MODULES}
    assert listed == {module: silent(module) for module in MODULES}
