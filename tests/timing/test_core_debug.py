"""Does the debug unit of a core halt its kernel, let it go on, and show both, at the right cycles?

DEV-DEBUG-1; the registers are those of AM025, by their offsets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile.arch.core import CORE
from memtile.arch.register_map import tile_register
from memtile.arch.tiles import TileName
from memtile.explain.bd_chains import BdChains
from memtile.explain.core_view import core_views
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.doors.tile_door import Door
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from support.designs.core_designs import lock_value, set_lock, timelines

CONTROL, STATUS, ENABLING, RESET_EVENT = 0x32000, 0x32004, 0x32008, 0x3200C
HALT, EVENTS, STALLS, SHOWN = 0x32010, 0x32014, 0x32018, 0x3201C
ERROR, ERROR_EVENT = 0x32030, 0x32034
DEBUG_HALTED, ERROR_HALTED, DONE = 1 << 16, 1 << 19, 1 << 20  # of Core_Status
USER = "USER_EVENT_0"
OWN_LOCK = 0


def working(core: Core) -> Iterator[Action]:
    yield core.cycles(6)


def busy(kernel=working, *, endless: bool = False) -> tuple[Engine, Door]:
    engine = Engine([Placed("compute")])
    engine.attach_kernel(0, kernel, endless=endless)
    return engine, engine.door(0)


@pytest.mark.parametrize("made", range(6))
def test_a_halt_stops_a_kernel_at_once_and_its_end_lets_it_go_on(made: int) -> None:
    engine, door = busy()
    assert timelines(engine, made) == ["#" * made]
    door.write32(HALT, 1)
    assert timelines(engine, 5) == ["HHHHH"]
    door.write32(HALT, 0)
    assert timelines(engine, 8) == ["#" * (6 - made) + "d" * (made + 2)]


def test_status_registers_show_a_halt_and_the_end_of_a_kernel() -> None:
    engine, door = busy()
    assert (door.read32(SHOWN), door.read32(STATUS)) == (0, 2)
    door.write32(CONTROL, 1)
    door.write32(HALT, 1)
    assert (door.read32(SHOWN), door.read32(STATUS)) == (1, 1 | DEBUG_HALTED)
    door.write32(HALT, 0)
    assert (door.read32(SHOWN), door.read32(STATUS)) == (0, 1)
    assert engine.run(100) is Stop.QUIET
    assert door.read32(STATUS) == 1 | DONE
    engine.attach_kernel(0, working)
    assert door.read32(STATUS) == 1


def test_an_idle_core_can_be_halted_before_its_kernel_comes() -> None:
    engine = Engine([Placed("compute")])
    door = engine.door(0)
    door.write32(HALT, 1)
    assert door.read32(SHOWN) == 1
    engine.attach_kernel(0, working)
    assert timelines(engine, 3) == ["HHH"]
    door.write32(HALT, 0)
    assert timelines(engine, 8) == ["######dd"]


def test_a_run_with_a_halted_core_ends_and_says_so() -> None:
    engine, door = busy()
    engine.run(2)
    door.write32(HALT, 1)
    assert engine.run(10_000) is Stop.QUIET
    [core] = core_views(engine, BdChains(engine))
    assert not core.done
    assert core.waits_for() == ("core (0, 0), kernel 'working': halted (Debug_Status, Error_Halt_Control)")


def test_jumps_over_idle_cycles_count_them_as_halted() -> None:
    """The clock jumps while a core waits: a halted one must not get nearer to its end meanwhile."""

    def slow(core: Core) -> Iterator[Action]:
        yield core.cycles(1000)

    engine, door = busy(slow)
    engine.run(400)
    door.write32(HALT, 1)
    engine.wait(5000)
    door.write32(HALT, 0)
    engine.run(10_000)
    assert list(engine.state.core_spent[0])[:1] == [1000]
    assert engine.state.core_spent[0, 7] == 5000


def test_a_halted_core_takes_no_lock_and_takes_it_when_it_goes_on() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(OWN_LOCK, -1)

    engine, door = busy(kernel)
    engine.run(5)
    assert door.read32(STATUS) & 1 << 9  # Lock_Stall_E: the core sees its own locks in the east
    door.write32(HALT, 1)
    set_lock(engine, 0, 0, 1)
    engine.run(50)
    assert lock_value(engine, 0, 0) == 1
    door.write32(HALT, 0)
    engine.run(100)
    assert lock_value(engine, 0, 0) == 0


def test_a_release_waits_too() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.release(OWN_LOCK, 1)

    engine, door = busy(kernel)
    door.write32(HALT, 1)
    engine.run(50)
    assert lock_value(engine, 0, 0) == 0
    door.write32(HALT, 0)
    engine.run(100)
    assert lock_value(engine, 0, 0) == 1


def test_accesses_go_on_where_they_were() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.access(Pattern(CORE.memory_windows["own"] + 32 * np.arange(6), 256))

    engine, door = busy(kernel)
    assert timelines(engine, 2) == ["##"]
    door.write32(HALT, 1)
    assert timelines(engine, 3) == ["HHH"]
    door.write32(HALT, 0)
    assert timelines(engine, 6) == ["####dd"]


@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_single_step_count_runs_so_many_cycles(count: int) -> None:
    engine, door = busy()
    door.write32(HALT, 1)
    assert timelines(engine, 2) == ["HH"]
    door.write32(HALT, 1 | count << 2)
    assert timelines(engine, 8) == ["#" * count + "H" * (8 - count)]
    assert door.read32(SHOWN) == 1
    door.write32(HALT, 0)
    assert timelines(engine, 7) == ["#" * (6 - count) + "d" * (count + 1)]


def test_a_single_step_is_not_jumped_over() -> None:
    def slow(core: Core) -> Iterator[Action]:
        yield core.cycles(1000)

    engine, door = busy(slow)
    door.write32(HALT, 15 << 2)
    engine.run(800)
    assert engine.state.core_spent[0, 0] == 15


def test_a_stalled_cycle_is_no_step() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(OWN_LOCK, -1)
        yield core.cycles(5)

    engine, door = busy(kernel)
    door.write32(HALT, 2 << 2)
    seen = timelines(engine, 10)[0]
    assert seen == "#" + "L" * 9
    set_lock(engine, 0, 0, 1)
    assert timelines(engine, 6) == ["L#HHHH"]


@pytest.mark.parametrize(("field", "bit"), [("Debug_Halt_Core_Event0", 5), ("Debug_Halt_Core_Event1", 6)])
def test_an_event_halts_in_the_cycle_after_it(field: str, bit: int) -> None:
    engine, door = busy()
    unit = EventUnit(door, "core")
    door.write32(EVENTS, tile_register("compute", "Debug_Control1").pack(**{field: unit.number(USER)}))
    assert timelines(engine, 2) == ["##"]
    unit.generate(USER)
    assert timelines(engine, 4) == ["#HHH"]
    assert door.read32(SHOWN) == 1 << bit | 1
    assert unit.status("DEBUG_HALTED")


def test_an_event_resumes_and_a_halt_in_the_same_cycle_wins() -> None:
    engine, door = busy()
    unit = EventUnit(door, "core")
    events = tile_register("compute", "Debug_Control1")
    door.write32(EVENTS, events.pack(Debug_Resume_Core_Event=unit.number(USER)))
    door.write32(HALT, 1)
    assert timelines(engine, 2) == ["HH"]
    unit.generate(USER)
    assert timelines(engine, 3) == ["H##"]
    assert (door.read32(SHOWN), door.read32(HALT)) == (0, 0)
    number = unit.number(USER)
    door.write32(EVENTS, events.pack(Debug_Resume_Core_Event=number, Debug_Halt_Core_Event0=number))
    unit.generate(USER)
    assert timelines(engine, 3) == ["#HH"]


def test_an_event_resumes_a_core_between_two_actions() -> None:
    """It goes on while the clock runs, without Python having a look in between."""

    def steps(core: Core) -> Iterator[Action]:
        for _ in range(4):
            yield core.cycles(1)

    engine, door = busy(steps)
    unit = EventUnit(door, "core")
    events = tile_register("compute", "Debug_Control1")
    door.write32(EVENTS, events.pack(Debug_Resume_Core_Event=unit.number("TIMER_VALUE_REACHED")))
    unit.write("Timer_Trig_Event_Low_Value", TimerTrigLow=20)
    unit.write("Timer_Trig_Event_High_Value", TimerTrigHigh=0)
    engine.run(2)
    door.write32(HALT, 1)
    engine.wait(100)
    assert engine.state.core_spent[0, 0] == 4
    assert engine.state.core_spent[0, 7] == 19


def test_a_single_step_event_takes_the_count() -> None:
    engine, door = busy()
    unit = EventUnit(door, "core")
    events = tile_register("compute", "Debug_Control1")
    door.write32(EVENTS, events.pack(Debug_SingleStep_Core_Event=unit.number(USER)))
    door.write32(HALT, 1)
    unit.generate(USER)
    assert timelines(engine, 4) == ["H#HH"]


def test_an_error_event_halts_until_a_written_one() -> None:
    """As XAie_ErrorHandlingInit sets it up: the core halts on GROUP_ERRORS_0."""
    engine, door = busy()
    unit = EventUnit(door, "core")
    door.write32(ERROR_EVENT, unit.number("GROUP_ERRORS_0"))
    assert timelines(engine, 1) == ["#"]
    unit.generate("INSTR_ERROR")
    assert timelines(engine, 3) == ["#HH"]
    assert (door.read32(ERROR), door.read32(SHOWN)) == (1, 0)
    assert door.read32(STATUS) == 2 | ERROR_HALTED
    assert not unit.status("DEBUG_HALTED")
    door.write32(HALT, 0)
    assert timelines(engine, 2) == ["HH"]
    door.write32(ERROR, 1)
    assert timelines(engine, 3) == ["###"]
    assert (door.read32(ERROR), door.read32(STATUS)) == (0, 2)


def test_a_lock_stall_halts_if_it_is_chosen() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(OWN_LOCK, -1)

    engine, door = busy(kernel)
    door.write32(STALLS, 1 << 1)
    assert set(timelines(engine, 4)[0]) == {"#", "L"}
    door.write32(STALLS, 1 << 2)
    assert timelines(engine, 3) == ["LHH"]
    assert door.read32(SHOWN) == 1 << 3 | 1


def test_a_memory_stall_halts_if_it_is_chosen_and_shows_its_side() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        bank = CORE.memory_windows["own"] + np.zeros(4, dtype=np.int64)
        yield core.access(Pattern(bank, 256), Pattern(bank, 256))

    engine, door = busy(kernel)
    assert timelines(engine, 1) == ["B"]
    assert door.read32(STATUS) & 0x3C == 0 or door.read32(STATUS) & 0x3C == 1 << 5
    door.write32(STALLS, 1 << 1)
    seen = timelines(engine, 3)[0]
    assert seen.strip("#") in ("BH", "BHH")
    assert door.read32(SHOWN) == 1 << 2 | 1


def test_events_enable_disable_and_reset_a_core() -> None:
    engine = Engine([Placed("compute")])
    door = engine.door(0)
    unit = EventUnit(door, "core")
    door.write32(CONTROL, 0)
    on, off = unit.number(USER), unit.number("USER_EVENT_1")
    door.write32(ENABLING, on | off << 8)
    unit.generate(USER)
    engine.wait(2)
    assert (door.read32(CONTROL), door.read32(STATUS), door.read32(ENABLING) & 0x8080) == (1, 1, 0x80)
    unit.generate("USER_EVENT_1")
    engine.wait(2)
    assert (door.read32(CONTROL), door.read32(ENABLING) & 0x8080) == (0, 0x8080)
    door.write32(ENABLING, on | off << 8 | 0x8000)  # XAie_ClearCoreDisableEventOccurred
    assert door.read32(ENABLING) & 0x8080 == 0x80
    door.write32(RESET_EVENT, on)
    unit.generate(USER)
    engine.wait(2)
    assert door.read32(CONTROL) == 3


@pytest.mark.parametrize("kind", ["compute", "compute_2p"])
def test_a_core_that_loses_its_enable_bit_raises_disabled(kind: TileName) -> None:
    """DEV-CORE-8: whether a host or an event takes it, once; Disable_Event may be that event itself."""
    engine = Engine([Placed(kind)])
    door = engine.door(0)
    unit = EventUnit(door, "core")
    off = unit.number("USER_EVENT_1")
    door.write32(ENABLING, unit.number("DISABLED") << 8)
    for word, seen in ((0, False), (1, False), (3, False), (2, True)):
        door.write32(CONTROL, word)
        engine.wait(2)
        assert (unit.status("DISABLED"), door.read32(ENABLING) >> 15 & 1) == (seen, seen)
    door.write32(CONTROL, 1)
    door.write32(ENABLING, off << 8 | 0x8000)
    unit.count(0, start="USER_EVENT_1", stop="DISABLED")
    unit.generate("USER_EVENT_1")
    engine.wait(5)
    assert (door.read32(CONTROL), unit.counted(0)) == (0, 1)


def test_pc_events_are_kept_and_halt_nothing() -> None:
    engine, door = busy()
    door.write32(0x32020, 0x8000_0000)
    door.write32(STALLS, 1)
    assert timelines(engine, 7) == ["######d"]
    assert door.read32(0x32020) == 0x8000_0000
