"""Does a broadcast reach each event unit of an array in its cycle, once, and nothing that is blocked?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from memtile import Array
from memtile.arch.register_map import event_modules
from memtile.arch.registers import ModuleName
from memtile.sim.doors.event_panel import EventUnit

Place = tuple[int, int, ModuleName]
PULSE = "USER_EVENT_0"


class Panel:
    """The event units of the first columns of an array, by place."""

    def __init__(self, columns: int) -> None:
        self.array = Array("npu1", columns=columns)
        self.units = dict(self._units())

    def _units(self) -> Iterator[tuple[Place, EventUnit]]:
        for column in range(self.array.columns):
            for row in range(self.array.rows):
                tile = self.array.tile(column, row)
                for module, _ in event_modules(tile.kind.name):
                    yield (column, row, module), EventUnit(tile.door, module)

    def channel(self, place: Place, number: int = 0) -> int:
        """Event of a broadcast channel in the unit at a place."""
        return self.units[place].events["BROADCAST_A_0" if place[2] == "pl" else "BROADCAST_0"] + number

    def drive(self, place: Place, event: int | str, number: int = 0) -> None:
        """Let an event of a unit drive a channel."""
        self.units[place].write(f"Event_Broadcast{number}", Event=event)

    def block(self, place: Place, side: str, switch: str = "", mask: int = 1) -> None:
        """Block channels at a side of a switch."""
        self.units[place].write(f"Event_Broadcast{switch}_Block_{side}_Set", Set=mask)

    def step(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            self.array.engine.run(self.array.engine.now + 1)

    def arrivals(self, source: Place, number: int = 0, cycles: int = 30) -> dict[Place, int]:
        """Cycles after an event of ``source`` in which each unit that a channel reaches hears it."""
        self.drive(source, PULSE, number)
        self.units[source].generate(PULSE)
        heard: dict[Place, int] = {}
        for cycle in range(cycles):
            self.step()
            for place in self.units.keys() - heard.keys():
                if self.units[place].status(self.channel(place, number)):
                    heard[place] = cycle
        return heard


def computes(panel: Panel, columns: Iterable[int]) -> Iterator[tuple[int, int]]:
    return ((column, row) for column in columns for row in range(2, panel.array.rows))


@pytest.mark.feature("F23")
@pytest.mark.parametrize("columns", [2, 4])
def test_from_an_interface_tile_up_and_across(columns: int) -> None:
    panel = Panel(columns)
    expected: dict[Place, int] = {(c, 0, "pl"): 4 * c for c in range(columns)}
    expected |= {(c, 1, "memory_tile"): 2 + 4 * c for c in range(columns)}
    for column, row in computes(panel, range(columns)):
        expected[column, row, "core"] = 2 * row + 4 * column
        expected[column, row, "memory"] = 2 * row + 4 * column + 2
    assert panel.arrivals((0, 0, "pl")) == expected


@pytest.mark.feature("F23")
def test_from_a_core_to_all_sides() -> None:
    """4 cycles a column, 2 a row, 2 from core to memory module, as measured (DEV-OBS-4)."""
    panel = Panel(4)
    expected: dict[Place, int] = {(c, 0, "pl"): 6 + 4 * abs(c - 2) for c in range(4)}
    expected |= {(c, 1, "memory_tile"): 4 + 4 * abs(c - 2) for c in range(4)}
    for column, row in computes(panel, range(4)):
        away = 2 * abs(row - 3) + 4 * abs(column - 2)
        expected[column, row, "core"] = away
        expected[column, row, "memory"] = away + (2 if column >= 2 else -2)
    assert panel.arrivals((2, 3, "core")) == expected


@pytest.mark.feature("F23")
@pytest.mark.parametrize("source", [(0, 0, "pl"), (1, 1, "memory_tile"), (1, 3, "core"), (0, 4, "memory")])
def test_a_pulse_is_heard_once_wherever_it_comes_from(source: Place) -> None:
    """No loop and no echo: what came from one side never comes back, nor on two ways."""
    panel = Panel(2)
    panel.drive(source, PULSE)
    for place, unit in panel.units.items():
        unit.count(0, panel.channel(place), panel.channel(place))
    panel.units[source].generate(PULSE)
    panel.step(60)
    counted = {place: unit.counted(0) for place, unit in panel.units.items()}
    assert set(counted.values()) == {1}


@pytest.mark.feature("F23")
@pytest.mark.parametrize(("bit", "silent"), [(1, True), (3, False), (0, False)])
def test_a_tile_hears_nothing_from_a_side_from_which_it_is_isolated(bit: int, silent: bool) -> None:
    """Tile_Control: 0 south, 1 west, 2 north, 3 east; what it sends itself goes out."""
    panel = Panel(2)
    panel.array.memory_tile(1).door.write32(0x96030, 1 << bit)
    heard = panel.arrivals((0, 1, "memory_tile"))
    assert ((1, 1, "memory_tile") not in heard) == silent
    assert (1, 2, "core") in heard  # over the compute tiles
    assert (0, 1, "memory_tile") in panel.arrivals((1, 1, "memory_tile"), 1)


def test_an_isolated_core_hears_nothing_from_below() -> None:
    panel = Panel(1)
    panel.array.compute_tile(0, 2).door.write32(0x36030, 1)
    heard = panel.arrivals((0, 1, "memory_tile"))
    assert set(heard) == {(0, 1, "memory_tile"), (0, 0, "pl")}


@pytest.mark.feature("F23")
@pytest.mark.parametrize(
    ("switch", "side", "silent"),
    [
        ("_A", "West", {0}),
        ("_A", "East", {2, 3}),
        ("_B", "East", {2, 3}),
        ("_B", "West", set()),  # what comes from A leaves to the east alone
        ("_A", "South", set()),
    ],
)
def test_the_interface_row_passes_on_to_its_sides(switch: str, side: str, silent: set[int]) -> None:
    """DEV-OBS-7: from the tile where it began, both ways, and on; the block registers close a side."""
    panel = Panel(4)
    panel.block((1, 0, "pl"), side, switch, mask=1 << 9)
    heard = panel.arrivals((1, 0, "pl"), number=9)
    assert {c: heard.get((c, 0, "pl")) for c in range(4)} == {
        c: None if c in silent else 4 * abs(c - 1) for c in range(4)
    }


def test_along_the_interface_row_nothing_turns_up_a_column() -> None:
    """As everywhere: from the west to the east alone. The column where it began carries it up."""
    panel = Panel(3)
    panel.block((0, 0, "pl"), "North", "_A")
    panel.block((0, 0, "pl"), "North", "_B")
    assert set(panel.arrivals((0, 0, "pl"))) == {(c, 0, "pl") for c in range(3)}


def test_an_isolated_interface_tile_hears_nothing_from_that_side() -> None:
    panel = Panel(3)
    panel.array.interface_tile(1).door.write32(0x36030, 1 << 1)  # from the west
    assert {c for c, row, _ in panel.arrivals((0, 0, "pl")) if row == 0} == {0}


@pytest.mark.feature("F23", "F24")
@pytest.mark.parametrize("columns", [1, 4])
def test_the_drivers_timer_synchronisation_reaches_every_tile(columns: int) -> None:
    """XAie_SyncTimer: channel n + 1 along the interface row starts channel n up each column."""
    channel = 5
    panel = Panel(columns)
    panel.step(1000)
    for place, unit in panel.units.items():
        for side in {"memory": ["East"], "core": ["West"], "memory_tile": ["West", "East"]}.get(place[2], []):
            panel.block(place, side, "_A" if place[2] == "memory_tile" else "", mask=1 << channel)
        unit.write("Timer_Control", Reset_Event=panel.channel(place, channel))
    for column in range(columns):
        shim: Place = (column, 0, "pl")
        panel.drive(shim, panel.channel(shim, channel + 1), channel)
    first = panel.units[0, 0, "pl"]
    first.generate(first.events["BROADCAST_A_0"] + channel + 1)
    panel.drive((0, 0, "pl"), first.events["BROADCAST_A_0"] + channel + 1, channel + 1)
    panel.step(100)
    ages = {place: unit.timer() for place, unit in panel.units.items()}
    reset_at = {place: ages[0, 1, "memory_tile"] + 2 - age for place, age in ages.items()}
    expected: dict[Place, int] = {}
    for column in range(columns):
        # the channel that goes up a column also goes along the row: the last one to come is from the east
        expected[column, 0, "pl"] = 8 * (columns - 1) - 4 * column
        expected[column, 1, "memory_tile"] = 4 * column + 2
        for row in range(2, panel.array.rows):
            expected[column, row, "core"] = 4 * column + 2 * row
            expected[column, row, "memory"] = 4 * column + 2 * row + 2
    assert reset_at == expected


def test_a_level_is_heard_as_long_as_it_lasts() -> None:
    panel = Panel(2)
    source, far = panel.units[0, 1, "memory_tile"], panel.units[1, 2, "core"]
    panel.drive((0, 1, "memory_tile"), "COMBO_EVENT_0")
    far.count(0, "BROADCAST_0", "BROADCAST_0")
    source.write("Combo_event_inputs", eventA="TRUE", eventB="TRUE")
    panel.step(12)
    source.write("Combo_event_inputs", eventA="NONE", eventB="NONE")
    panel.step(20)
    assert far.counted(0) == 12


@pytest.mark.feature("F23")
@pytest.mark.parametrize(
    ("switch", "side", "silent"),
    [
        ("_A", "North", {"above cores", "above memories"}),
        ("_A", "South", {"below"}),
        ("_A", "West", {"west"}),
        ("_A", "East", {"east"}),
        ("_B", "East", {"east"}),
        ("_B", "North", set()),  # what comes from west leaves to the east alone
        ("_B", "South", set()),
        ("_B", "West", set()),
    ],
)
def test_a_blocked_side_lets_nothing_out(switch: str, side: str, silent: set[str]) -> None:
    panel = Panel(3)
    source: Place = (1, 1, "memory_tile")
    panel.block(source, side, switch)
    heard = panel.arrivals(source)
    parts: dict[str, list[Place]] = {
        "above cores": [(1, row, "core") for row in range(2, panel.array.rows)],
        "above memories": [(1, row, "memory") for row in range(2, panel.array.rows)],
        "below": [(1, 0, "pl")],
        "west": [(0, 1, "memory_tile")],
        "east": [(2, 1, "memory_tile")],
    }
    for part, places in parts.items():
        assert [place in heard for place in places] == [part not in silent] * len(places), part


def test_going_west_the_eastern_switch_may_block() -> None:
    panel = Panel(3)
    panel.block((1, 1, "memory_tile"), "West", "_B")
    heard = panel.arrivals((2, 1, "memory_tile"))
    assert (1, 1, "memory_tile") not in heard
    assert (0, 1, "memory_tile") not in heard


def test_blocks_are_for_each_channel() -> None:
    panel = Panel(2)
    panel.block((0, 1, "memory_tile"), "North", "_A", mask=1 << 3)
    assert (0, 2, "core") not in panel.arrivals((0, 1, "memory_tile"), number=3)
    assert (0, 2, "core") in panel.arrivals((0, 1, "memory_tile"), number=15)
    panel.units[0, 1, "memory_tile"].write("Event_Broadcast_A_Block_North_Clr", Clear=1 << 3)
    assert (0, 2, "core") in panel.arrivals((0, 1, "memory_tile"), number=3)


@pytest.mark.feature("F23", "F24")
def test_timers_in_step_but_for_the_hops() -> None:
    """As the driver does it: one channel to every column, another one in each column resets the timers."""
    panel = Panel(3)
    for place, unit in panel.units.items():
        unit.write("Timer_Control", Reset_Event=panel.channel(place, 1))
    for column in range(3):
        place: Place = (column, 1, "memory_tile")
        panel.drive(place, panel.channel(place, 0), 1)
    for place in panel.units:
        for switch in ("_A", "_B") if place[2] in ("memory_tile", "pl") else ("",):
            panel.block(place, "West", switch, mask=1 << 1)
            if place[2] == "memory" or switch == "_B":  # not from core to memory module
                panel.block(place, "East", switch, mask=1 << 1)
    panel.drive((0, 1, "memory_tile"), PULSE, 0)
    panel.step(50)
    panel.units[0, 1, "memory_tile"].generate(PULSE)
    panel.step(40)
    first = panel.units[0, 1, "memory_tile"].timer()
    skew = {place: first - unit.timer() for place, unit in panel.units.items()}
    expected: dict[Place, int] = {}
    for column in range(3):
        expected[column, 0, "pl"] = 4 * column + 2
        expected[column, 1, "memory_tile"] = 4 * column
        for row in range(2, panel.array.rows):
            expected[column, row, "core"] = 4 * column + 2 * (row - 1)
            expected[column, row, "memory"] = 4 * column + 2 * (row - 1) + 2
    assert skew == expected
