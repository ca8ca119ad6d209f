"""Do the two performance counters that AIE-ML v2 adds count, stop and reset like the others?"""

from __future__ import annotations

import pytest

from memtile.arch.events import EVENT_UNITS
from memtile.arch.register_map import register_map
from memtile.arch.registers import ModuleName, Register
from memtile.arch.tiles import TileName
from memtile.testing.rig import Rig

UNITS: list[tuple[TileName, ModuleName, int]] = [("memory_v2", "memory_tile", 4), ("compute_v2", "memory", 2)]


class Counters:
    """The counters of a tile of AIE-ML v2, by the fields of their registers."""

    def __init__(self, tile: TileName, module: ModuleName) -> None:
        self.rig = Rig(tile)
        self.events = EVENT_UNITS[module].events
        registers = register_map("memory_tile_v2" if module == "memory_tile" else "memory_v2")
        self.registers = list(registers.values())

    def holding(self, field: str) -> Register:
        (register,) = [r for r in self.registers if field in [f.name for f in r.fields]]
        return register

    def select(self, field: str, event: str) -> None:
        register = self.holding(field)
        word = self.rig.door.read32(register.offset)
        mask = register.field(field).mask
        self.rig.door.mask_write32(
            register.offset, mask, self.events[event] << register.field(field).lsb | word & ~mask
        )

    def set(self, counter: int, start: str, stop: str, reset: str = "NONE") -> None:
        for what, event in (("Start", start), ("Stop", stop), ("Reset", reset)):
            self.select(f"Cnt{counter}_{what}_Event", event)

    def generate(self, event: str) -> None:
        (register,) = [r for r in self.registers if r.name == "Event_Generate"]
        self.rig.door.write32(register.offset, self.events[event])

    def counted(self, counter: int) -> int:
        (register,) = [r for r in self.registers if r.name == f"Performance_Counter{counter}"]
        return self.rig.door.read32(register.offset)


@pytest.mark.feature("F24")
@pytest.mark.parametrize(("tile", "module", "first"), UNITS)
@pytest.mark.parametrize("more", [0, 1])
def test_a_counter_counts_from_start_to_stop(
    tile: TileName, module: ModuleName, first: int, more: int
) -> None:
    counters, n = Counters(tile, module), first + more
    counters.set(n, "USER_EVENT_0", "USER_EVENT_1")
    counters.generate("USER_EVENT_0")
    counters.rig.step(7)
    counters.generate("USER_EVENT_1")
    counters.rig.step(5)
    assert [counters.counted(other) for other in range(first + 2)] == [
        7 if other == n else 0 for other in range(first + 2)
    ]


@pytest.mark.feature("F24")
@pytest.mark.parametrize(("tile", "module", "first"), UNITS)
def test_all_counters_at_once_each_with_events_of_its_own(
    tile: TileName, module: ModuleName, first: int
) -> None:
    counters = Counters(tile, module)
    for n in range(first + 2):
        counters.set(n, "TRUE", "NONE", "USER_EVENT_0" if n % 2 else "NONE")
    counters.rig.step(3)
    before = counters.counted(0)
    counters.generate("USER_EVENT_0")
    counters.rig.step(11)
    assert [counters.counted(n) for n in range(first + 2)] == [before + 11, 10] * (first // 2 + 1)


@pytest.mark.feature("F24")
def test_a_new_counter_has_no_threshold_and_so_no_event() -> None:
    """Not when it is at 0 either."""
    counters = Counters("memory_v2", "memory_tile")
    counters.set(4, "TRUE", "NONE")
    counters.rig.step(20)
    raised = counters.rig.engine.state.stamps[0]
    assert [int(raised[counters.events[f"PERF_CNT{n}_EVENT"]]) for n in range(4)] == [-1] * 4
    assert int(raised[counters.events["COMBO_EVENT_0"]]) == -1
    assert counters.counted(4) == counters.rig.engine.now - 1
