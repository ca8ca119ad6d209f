"""Does every column of the state say what it may hold, and is a saved state held to it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memtile import Array
from memtile.model.checking.saved import LINKS, ArrayForm, faults, forms
from memtile.model.dma.bd_fields import BURST_LENGTH
from memtile.model.roster import put_in_order
from memtile.model.state.causes import Phase
from memtile.model.state.columns import (
    ANY,
    AtBuild,
    Column,
    Cycle,
    Holds,
    Motion,
    Roster,
    RowLimit,
    Rows,
    Same,
)
from memtile.model.state.event_columns import SOURCE, THING, EventSource
from memtile.model.state.state import State
from memtile.model.state.state_differences import columns
from support.compiled.index_columns import Noted, index_columns, tables

Columns = dict[str, npt.NDArray[Any]]
FEW = 1 << 20  # a limit up to here, the address space of a tile, is a length of something in the model
NO_INDEX = {
    "accesses": "a core without a kernel has its accesses written anew before it makes them",
    "axi_ports.left": "cycles of a loop that ends at the limit of the run",
    "channels.length": "words: counted, and each address is looked up",
    "clock.now": "a cycle",
    "cores.single": "cycles of a loop that ends at the limit of the run",
    "externals.passed": "words: counted",
    "externals.region": "dma.external.inside asks whether there is such a buffer",
    "externals.target": "dma.external.answers asks whether a buffer has it, when its words arrive",
    "observers.timer_trigger": "cycles of a loop that ends at the limit of the run",
    "ports.source_base": "words: counted",
    "walks.left": "words: counted, and each address is looked up",
    "walks.origin": "memory.windows.reach asks what is there",
    "walks.step": "memory.windows.reach asks what is there",
    "memory": "given to compiled code whole",
    "program": "given to compiled code whole",
}
"""Columns that come near an index without a limit in their declaration or a link, and why that is no harm."""


@pytest.fixture(scope="module")
def built() -> State:
    return Array("npu1", 1).engine.state


@pytest.fixture
def saved(built: State) -> Columns:
    return {each.name: each.values.copy() for each in columns(built)}


def declared() -> dict[str, Column]:
    return {
        f"{table}.{name}" if name else table: column
        for table, own in tables().items()
        for name, column in own.items()
    }


def test_every_column_that_is_saved_says_what_it_holds() -> None:
    silent = [name for name, column in declared().items() if column.holds is None]
    assert silent == [name for name, column in declared().items() if column.kind is Motion.PROCESS]


def test_a_model_that_was_just_built_holds_what_its_columns_say(built: State, saved: Columns) -> None:
    assert faults(built, saved) == []


def test_an_index_has_a_limit(built: State, saved: Columns) -> None:
    """What compiled code takes for an index or a bound is limited where it is declared, or by a link."""
    noted, found = Noted(saved), index_columns()
    assert [fault for link in LINKS for fault in link(built, noted)] == []
    assert len(found) > 100
    open_ones = {name: place for name, place in found.items() if not limited(declared()[name])}
    assert open_ones.keys() - noted.seen - NO_INDEX.keys() == set()
    assert NO_INDEX.keys() <= open_ones.keys() - noted.seen, "a reason that nothing needs any more"


def limited(column: Column) -> bool:
    if not isinstance(column.holds, Holds):
        return True
    tied = isinstance(column.holds.last, (Rows, Same, AtBuild, RowLimit, Cycle))
    return tied or (isinstance(column.holds.last, int) and column.holds.last <= FEW)


@pytest.mark.parametrize("name", [n for n, c in declared().items() if isinstance(c.holds, Holds)])
@pytest.mark.parametrize("end", ["first", "last"])
def test_a_value_out_of_range_is_found(built: State, saved: Columns, name: str, end: str) -> None:
    holds, values = declared()[name].holds, saved[name]
    assert isinstance(holds, Holds)
    limit = np.iinfo(values.dtype).min if end == "first" else np.iinfo(values.dtype).max
    same = limit == getattr(holds, end)
    if holds == ANY or not values.size or same or values.dtype == np.uint32:
        return  # whatever is there is in the range
    values.reshape(-1)[-1] = limit
    found = faults(built, saved)
    assert name in {fault.name for fault in found}
    fault = next(fault for fault in found if fault.name == name)
    assert (fault.given, fault.place) == (limit, tuple(length - 1 for length in values.shape))


@pytest.mark.parametrize("name", [n for n, c in declared().items() if isinstance(c.holds, Roster)])
def test_a_list_has_each_row_once(built: State, saved: Columns, name: str) -> None:
    roster, values = declared()[name].holds, saved[name]
    assert isinstance(roster, Roster)
    for listed in ([len(values)], [-1], [2, 0, 0], [1, 1 << 40], [1, -1]):
        values[:] = 0
        values[: len(listed)] = listed
        if roster.flag and listed[0] == 2:
            saved[roster.flag][0] = 1
        assert {fault.name for fault in faults(built, saved)} == {name}, listed


@pytest.mark.parametrize("name", [n for n, c in declared().items() if isinstance(c.holds, Roster)])
def test_a_run_leaves_a_list_in_order(name: str) -> None:
    """The order in which things woke is no part of the state: it hangs on how a run was cut."""
    state = Array("npu2", 2).engine.state
    listed = getattr(state, name)
    listed[:5] = 2, 5, 3, 4, 1
    put_in_order(state)
    assert listed[:5].tolist() == [2, 3, 5, 0, 0]


def test_a_list_and_its_flags_agree(built: State, saved: Columns) -> None:
    saved["channels.active"][3] = 1
    (fault,) = faults(built, saved)
    assert (fault.name, fault.place, fault.given) == ("active_channels", (3,), 0)
    saved["active_channels"][:2] = 1, 3
    assert faults(built, saved) == []


def of_memory(built: State) -> int:
    """A channel of a memory tile, S2MM."""
    return int(built.spec.tiles.channel_base[1])


def starts_nothing(_: State, s: Columns) -> None:
    s["channels.phase"][0] = Phase.STARTING


def ends_behind_memory(built: State, s: Columns) -> None:
    ch = of_memory(built)
    s["granules.owner"][ch], s["granules.formed"][ch] = 1, 4
    s["granules.closed"][ch], s["channels.phase"][ch] = 1, Phase.RUN
    s["granules.target"][ch] = built.spec.tiles.memory_base[1] + built.spec.tiles.memory_words[1] - 3


def writes_behind_memory(built: State, s: Columns) -> None:
    ch = of_memory(built)
    s["granules.port_owner"][ch], s["granules.port_count"][ch] = 1, 4
    s["granules.port_target"][ch] = len(s["memory"]) - 2


def is_too_wide(built: State, s: Columns) -> None:
    s["granules.port_count"][of_memory(built)] = 5


def has_no_room(built: State, s: Columns) -> None:
    ch = of_memory(built)
    s["channels.phase"][ch], s["granules.formed"][ch], s["granules.owner"][ch] = Phase.RUN, 4, 1
    s["granules.target"][ch] = built.spec.tiles.memory_base[1]


def collects_between_bds(built: State, s: Columns) -> None:
    ch = of_memory(built)
    s["granules.formed"][ch], s["granules.owner"][ch] = 1, 1
    s["granules.target"][ch] = built.spec.tiles.memory_base[1]


def runs_over(_: State, s: Columns) -> None:
    s["walks.wrap"][0, 1], s["walks.position"][0, 1] = 4, 4


def hides_padding(_: State, s: Columns) -> None:
    s["walks.before"][0, 0] = 1


def miscounts(_: State, s: Columns) -> None:
    s["externals.held"][0] = s["externals.arrived"][0] = 1
    s["externals.buffered"][0] = 4


def codes_too_much(_: State, s: Columns) -> None:
    ch = int(np.flatnonzero(s["channels.direction"] == 1)[0])
    s["codecs.at"][ch], s["codecs.coded_held"][ch] = 9, 1


def expands_too_much(built: State, s: Columns) -> None:
    s["codecs.at"][of_memory(built)], s["codecs.held"][of_memory(built)] = 9, 16


def takes_too_much(built: State, s: Columns) -> None:
    s["codecs.coded_held"][of_memory(built)] = 2


def feeds_another_tile(built: State, s: Columns) -> None:
    s["switch.feeds"][0] = built.spec.tiles.master_base[2]


def feeds_a_slave(_: State, s: Columns) -> None:
    s["switch.feeds"][0] = 1


def asks_another_arbiter(_: State, s: Columns) -> None:
    s["switch.arbiter"][0] = 8


def sends_to_no_master(_: State, s: Columns) -> None:
    s["switch.targets"][0] = 1 << 31


def counts_no_flight(_: State, s: Columns) -> None:
    s["in_flight"][0] = 1


def zeroises_for_nobody(_: State, s: Columns) -> None:
    s["memories.busy_until"][1] = 50


def has_an_unknown_source(_: State, s: Columns) -> None:
    s["lines"][0, 5, SOURCE] = len(EventSource)


def has_a_source_elsewhere(_: State, s: Columns) -> None:
    s["lines"][0, 5, SOURCE], s["lines"][0, 5, THING] = EventSource.PORT, len(s["switch.held"])


def paces_behind(_: State, s: Columns) -> None:
    s["ports.pattern_length"][0] = 2


def scrubs_behind(built: State, s: Columns) -> None:
    s["guards.at"][1] = built.spec.tiles.memory_words[1]


def reports_no_event(_: State, s: Columns) -> None:
    s["guards.again"][1] = 1 << 50


def traces_too_much(_: State, s: Columns) -> None:
    s["traces.used"][0] = 28


def bursts_for_ever(_: State, s: Columns) -> None:
    s["fields"][0, BURST_LENGTH] = 64


CASES: dict[Callable[[State, Columns], None], str] = {
    starts_nothing: "channels.queue_count",
    ends_behind_memory: "granules.target",
    writes_behind_memory: "granules.port_target",
    is_too_wide: "granules.port_count",
    has_no_room: "granules.formed",
    collects_between_bds: "granules.formed",
    runs_over: "walks.position",
    hides_padding: "walks.padded",
    miscounts: "externals.buffered",
    codes_too_much: "codecs.at",
    expands_too_much: "codecs.at",
    takes_too_much: "codecs.coded_held",
    feeds_another_tile: "switch.feeds",
    feeds_a_slave: "switch.feeds",
    asks_another_arbiter: "switch.arbiter",
    sends_to_no_master: "switch.targets",
    counts_no_flight: "in_flight",
    zeroises_for_nobody: "memories.control",
    has_an_unknown_source: "lines",
    has_a_source_elsewhere: "lines",
    paces_behind: "ports.pattern_base",
    scrubs_behind: "guards.at",
    reports_no_event: "guards.again",
    traces_too_much: "traces.used",
    bursts_for_ever: "fields",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_columns_that_contradict_each_other_are_found(
    built: State, saved: Columns, case: Callable[[State, Columns], None]
) -> None:
    case(built, saved)
    assert CASES[case] in {fault.name for fault in faults(built, saved)}


def test_every_link_finds_something(built: State) -> None:
    found = set()
    for case in CASES:
        s = {each.name: each.values.copy() for each in columns(built)}
        case(built, s)
        found |= {link for link in LINKS if list(link(built, s))}
    assert found == set(LINKS)


def test_a_limit_is_the_last_row(built: State, saved: Columns) -> None:
    saved["channels.lock"][0] = len(saved["locks.value"]) - 1
    assert faults(built, saved) == []
    saved["channels.lock"][0] += 1
    (fault,) = faults(built, saved)
    assert (fault.name, fault.allowed) == ("channels.lock", f"-1..{len(saved['locks.value']) - 1}")


def test_siblings_are_no_ring(built: State, saved: Columns) -> None:
    """A port is fed after those of a lower number, so that the way from sibling to sibling ends."""
    saved["switch.sibling"][3] = 3
    (fault,) = faults(built, saved)
    assert (fault.name, fault.allowed) == ("switch.sibling", "-1..2")


def test_forms_are_those_of_the_arrays(built: State) -> None:
    found = forms(built)
    assert found["fifos.words"] == ArrayForm(np.dtype(np.int64), built.fifos.words.shape)
    assert found["pattern"].shape == (-1,)
    assert not found["pattern"].fits(np.dtype(np.int64), (1, 1))
    assert not found["fifos.held"].fits(np.dtype(np.int32), built.fifos.held.shape)
