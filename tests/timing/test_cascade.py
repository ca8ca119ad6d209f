"""When does a value on a cascade come to the next core, who waits for it, and which core is the next one?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from memtile.arch.register_map import register_named
from memtile.arch.timing import Timing
from memtile.errors import DesignError
from memtile.explain.outcome import outcome
from memtile.model import column_clock
from memtile.model.state.state_differences import columns
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from support.designs.core_designs import timelines

CONTROL, STATUS, HALT = 0x36060, 0x32004, 0x32010  # AM025, module core
FROM_WEST, TO_EAST = 1, 2
STALL_GET, STALL_PUT = 1 << 14, 1 << 15  # Core_Status: Cascade_Stall_SCD, Cascade_Stall_MCD
PAIR = [Placed("compute", column=c, row=3) for c in (0, 1)]
Value = np.ndarray
Kernel = Callable[[Core], Iterator[Action]]


def value(n: int) -> Value:
    return np.arange(16, dtype=np.int32) + 100 * n


def joined(places: Sequence[tuple[int, int]], timing: Timing | None = None) -> Engine:
    """Cores at places, each one's cascade going to the next one."""
    engine = Engine([Placed("compute", column=c, row=r) for c, r in places], timing)
    for n, (column, _) in enumerate(places):
        east = n + 1 < len(places) and places[n + 1][0] > column
        west = n > 0 and places[n - 1][0] < column
        engine.door(n).write32(CONTROL, TO_EAST * east + FROM_WEST * west)
    return engine


def puts(count: int, before: int = 0) -> Kernel:
    def kernel(core: Core) -> Iterator[Action]:
        if before:
            yield core.cycles(before)
        for n in range(count):
            yield core.put_cascade(value(n))

    return kernel


def gets(count: int, got: list[Value], before: int = 0) -> Kernel:
    def kernel(core: Core) -> Any:
        if before:
            yield core.cycles(before)
        for _ in range(count):
            got.append((yield core.get_cascade()))

    return kernel


def passes_on(count: int) -> Kernel:
    def kernel(core: Core) -> Any:
        for _ in range(count):
            given = yield core.get_cascade()
            yield core.put_cascade(given + 1)

    return kernel


def run(engine: Engine, kernels: Sequence[Kernel], cycles: int = 24) -> list[str]:
    for tile, kernel in enumerate(kernels):
        engine.attach_kernel(tile, kernel)
    return [text.rstrip("d") for text in timelines(engine, cycles, range(len(kernels)))]


@pytest.mark.parametrize(("latency", "seen"), [(2, "CC#"), (3, "CCC#"), (7, "CCCCCCC#")])
def test_a_value_comes_to_the_neighbour_after_the_latency(latency: int, seen: str) -> None:
    """DEV-CASC-1."""
    got: list[Value] = []
    engine = joined([(0, 3), (1, 3)], Timing(cascade_latency=latency))
    assert run(engine, [puts(1), gets(1, got)]) == ["#", seen]
    assert [each.tolist() for each in got] == [value(0).tolist()]
    assert f"cascade_latency = {latency}" in outcome(engine, Stop.QUIET, {}, []).assumed


def test_a_value_that_is_there_is_got_at_once() -> None:
    assert run(joined([(0, 3), (1, 3)]), [puts(1), gets(1, [], before=2)]) == ["#", "###"]
    assert run(joined([(0, 3), (1, 3)]), [puts(1), gets(1, [], before=1)]) == ["#", "#C#"]


def test_a_value_a_cycle_goes_through() -> None:
    got: list[Value] = []
    assert run(joined([(0, 3), (1, 3)]), [puts(8), gets(8, got)]) == ["########", "CC########"]
    assert np.array_equal(got, [value(n) for n in range(8)])


def test_a_get_and_a_put_take_a_cycle_each() -> None:
    """DEV-CORE-7: a core that passes values on does so every other cycle, with the next ones at hand."""
    texts = run(joined([(0, 3), (1, 3), (2, 3)]), [puts(4), passes_on(4), gets(4, [])])
    assert texts == ["####", "CC########", "CCCCC#C#C#C#"]


def test_four_values_stand_between_two_cores_and_the_fifth_waits() -> None:
    """AM020: two in the output of the one and two in the input of the other."""
    texts = run(joined([(0, 3), (1, 3)]), [puts(5), gets(5, [], before=9)])
    assert texts == ["####" + "C" * 7 + "#", "#" * 14]
    assert run(joined([(0, 3), (1, 3)]), [puts(4)]) == ["####"]


def test_a_place_that_gets_free_is_taken_in_the_next_cycle() -> None:
    engine = joined([(0, 3), (1, 3)])
    texts = run(engine, [puts(6), gets(1, [], before=9)])
    assert texts[0].startswith("####" + "C" * 7 + "#C")  # got at 9, moved at 10, put at 11


@pytest.mark.parametrize(
    "places",
    [
        [(0, 3), (1, 3), (2, 3), (3, 3)],
        [(0, 5), (0, 4), (0, 3), (0, 2)],
        [(0, 4), (1, 4), (1, 3), (2, 3)],
    ],
    ids=["a row", "a column", "corners"],
)
def test_a_chain_of_four_cores(places: list[tuple[int, int]]) -> None:
    got: list[Value] = []
    run(joined(places), [puts(9), passes_on(9), passes_on(9), gets(9, got)], 60)
    assert np.array_equal(got, [value(n) + 2 for n in range(9)])


@pytest.mark.parametrize(
    ("places", "words", "waits"),
    [
        (
            [(0, 3), (1, 3)],
            (0, FROM_WEST),
            "core (0, 3) in the west, which puts its values to the south",
        ),
        ([(0, 3), (1, 3)], (TO_EAST, 0), "whose input is the north, where no core is"),
        ([(0, 4), (0, 3)], (0, FROM_WEST), "whose input is the west, where no core is"),
        ([(0, 4), (0, 3)], (TO_EAST, 0), "from core (0, 4) in the north, which puts its values to the east"),
    ],
)
def test_cores_whose_registers_do_not_name_each_other_wait(
    places: list[tuple[int, int]], words: tuple[int, int], waits: str
) -> None:
    """DEV-CASC-2."""
    got: list[Value] = []
    engine = Engine([Placed("compute", column=c, row=r) for c, r in places])
    for tile, word in enumerate(words):
        engine.door(tile).write32(CONTROL, word)
    assert run(engine, [puts(1), gets(1, got)], 9) == ["#", "C" * 9]
    stop = engine.run(1000)
    assert waits in str(outcome(engine, stop, {}, []))
    for tile, word in enumerate((TO_EAST, FROM_WEST) if places[1] == (1, 3) else (0, 0)):
        engine.door(tile).write32(CONTROL, word)
    engine.run(engine.now + 9)
    assert np.array_equal(got, [value(0)])  # what stood in the output goes where it now leads


def test_a_core_that_has_no_neighbour_there_fills_its_output_and_waits() -> None:
    engine = Engine([Placed("compute", column=0, row=2)])
    assert run(engine, [puts(3)], 6) == ["##CCCC"]
    text = str(outcome(engine, engine.run(99), {}, []))
    assert "waits for room on its cascade, whose output is the south, where no core is" in text


def test_two_cores_that_wait_for_each_other_are_named_both() -> None:
    def first(core: Core) -> Any:
        yield core.get_cascade()
        yield core.put_cascade(value(0))

    engine = Engine([Placed("compute", column=c, row=r) for c, r in ((0, 3), (1, 3))])
    engine.door(0).write32(CONTROL, TO_EAST | FROM_WEST)
    engine.door(1).write32(CONTROL, FROM_WEST)
    engine.attach_kernel(0, first)
    engine.attach_kernel(1, gets(1, []))
    text = str(outcome(engine, engine.run(1000), {}, []))
    assert "stuck" in text
    assert "core (0, 3), kernel 'first': waits for a value on its cascade, whose input is the west" in text
    assert (
        "core (1, 3), kernel 'kernel': waits for a value on its cascade from core (0, 3) in the west, "
        "whose kernel 'first' waits for a value on its cascade itself" in text
    )


def test_a_put_and_a_put_back_over_locks_name_both() -> None:
    """One puts more than fits while the other waits for its lock."""

    def takes(core: Core) -> Any:
        yield core.acquire(0, -1)
        yield core.get_cascade()

    engine = joined([(0, 3), (1, 3)])
    engine.attach_kernel(0, puts(9))
    engine.attach_kernel(1, takes)
    text = str(outcome(engine, engine.run(1000), {}, []))
    assert (
        "waits for room on its cascade to core (1, 3) in the east, with 4 of 4 places taken, "
        "whose kernel 'takes' waits for a lock" in text
    )


def test_values_that_nobody_gets_stay_and_do_not_keep_a_run_from_its_end() -> None:
    engine = joined([(0, 3), (1, 3)])
    run(engine, [puts(3), gets(1, [])])
    assert engine.run(10_000) == Stop.QUIET
    got: list[Value] = []
    engine.attach_kernel(1, gets(2, got))
    engine.run(engine.now + 9)
    assert np.array_equal(got, [value(1), value(2)])


# endless kernels -------------------------------------------------------------------------------------------


def forever(core: Core) -> Any:
    while True:
        yield core.get_cascade()


def test_an_endless_kernel_may_wait_when_the_core_before_it_has_ended() -> None:
    engine = joined([(0, 3), (1, 3)])
    run(engine, [puts(3), forever])
    assert "finished" in str(outcome(engine, engine.run(1000), {}, []))


def test_an_endless_kernel_that_never_got_a_value_is_stuck() -> None:
    engine = joined([(0, 3), (1, 3)])
    run(engine, [puts(0, before=3), forever])
    text = str(outcome(engine, engine.run(1000), {}, []))
    assert "stuck" in text
    assert "from core (0, 3) in the west, whose kernel 'kernel' has ended" in text


# registers, events, resets ---------------------------------------------------------------------------------


def test_status_shows_which_end_stalls() -> None:
    engine = joined([(0, 3), (1, 3)])
    run(engine, [puts(9), gets(1, [], before=2)], 1)
    assert engine.door(0).read32(STATUS) & (STALL_GET | STALL_PUT) == 0
    engine.run(40)
    assert engine.door(0).read32(STATUS) & (STALL_GET | STALL_PUT) == STALL_PUT
    other = joined([(0, 3), (1, 3)])
    run(other, [puts(0, before=1), gets(1, [])], 4)
    assert other.door(1).read32(STATUS) & (STALL_GET | STALL_PUT) == STALL_GET


def test_events_of_puts_gets_and_stalls() -> None:
    engine = joined([(0, 3), (1, 3)])
    units = [EventUnit(engine.door(n), "core") for n in (0, 1)]
    for unit, name in zip(units, ("INSTR_CASCADE_PUT", "INSTR_CASCADE_GET"), strict=True):
        unit.count(0, name, name)
        unit.count(1, "CASCADE_STALL", "CASCADE_STALL")
    run(engine, [puts(6), gets(6, [], before=9)], 40)
    assert [unit.status("MEMORY_STALL") for unit in units] == [False, False]
    assert [unit.counted(n) for unit in units for n in (0, 1)] == [6, 7 + 0, 6, 0]


def test_a_halted_core_neither_puts_nor_gets() -> None:
    engine = joined([(0, 3), (1, 3)])
    engine.attach_kernel(0, puts(1))
    engine.attach_kernel(1, gets(1, []))
    engine.door(1).write32(HALT, 1)
    assert timelines(engine, 6, (0, 1)) == ["#ddddd", "HHHHHH"]
    engine.door(1).write32(HALT, 0)
    assert timelines(engine, 2, (1,)) == ["#d"]


def test_a_core_that_is_reset_in_the_middle_drops_what_is_in_its_fifos() -> None:
    """DEV-CASC-3."""
    engine = joined([(0, 3), (1, 3)])
    run(engine, [puts(4), gets(1, [], before=20)], 8)
    engine.cores.stop(0)  # two stand in its output, two in the input of the other
    got: list[Value] = []
    engine.attach_kernel(0, puts(1))
    engine.run(30)
    engine.attach_kernel(1, gets(9, got))
    engine.run(60)
    assert np.array_equal(got, [value(1), value(0)])
    engine.cores.stop(1)
    assert engine.state.cascades.in_held.tolist() == engine.state.cascades.out_held.tolist() == [0, 0]
    assert engine.state.cascading[0] == 0


def test_a_reset_drops_what_stands_in_the_input_too() -> None:
    """DEV-CASC-3: the other core's output stays, and moves up into the room."""
    engine = joined([(0, 3), (1, 3)])
    run(engine, [puts(4), gets(0, [], before=1)])
    assert engine.state.cascades.in_held.tolist() == [0, 2]
    engine.cores.stop(1)
    assert engine.state.cascades.in_held.tolist() == [0, 0]
    got: list[Value] = []
    engine.attach_kernel(1, gets(2, got))
    engine.run(engine.now + 9)
    assert np.array_equal(got, [value(2), value(3)])


def test_a_column_reset_empties_a_cascade_and_puts_its_sides_back() -> None:
    places = [Placed("interface", column=c, row=0) for c in (0, 1)] + PAIR
    engine = Engine(places, switched=True)
    engine.door(2).write32(CONTROL, TO_EAST)
    engine.door(3).write32(CONTROL, FROM_WEST)
    engine.attach_kernel(2, puts(4))
    engine.run(9)
    reset = register_named("pl", "AIE_Tile_Column_Reset")
    engine.door(1).write32(reset.offset, 1)
    engine.run(12)
    engine.door(1).write32(reset.offset, 0)
    engine.run(20)
    assert engine.door(3).read32(CONTROL) == 0
    assert engine.state.cascades.in_held.tolist() == [0, 0]
    assert engine.state.cascades.out_held.tolist() == [2, 0]  # no one gets them now
    assert engine.state.cascading[0] == 2
    got: list[Value] = []
    engine.door(3).write32(CONTROL, FROM_WEST)
    engine.attach_kernel(3, gets(2, got))
    engine.run(40)
    assert np.array_equal(got, [value(2), value(3)])


def test_a_tile_without_clock_takes_no_value() -> None:
    engine = joined([(0, 3), (1, 3)])
    engine.attach_kernel(0, puts(3))
    column_clock.stop(engine.state, 1)
    engine.run(9)
    assert engine.state.cascades.out_held.tolist() == [2, 0]
    column_clock.start(engine.state, 1)
    engine.run(12)
    assert engine.state.cascades.in_held.tolist()[1] == 2


def test_skipping_and_stepping_end_in_the_same_state() -> None:
    got: list[Value] = []

    def made() -> Engine:
        engine = joined([(0, 3), (1, 3)], Timing(cascade_latency=9))
        engine.attach_kernel(0, puts(7, before=50))
        engine.attach_kernel(1, gets(6, got, before=3))
        return engine

    skipped, stepped = made(), made()
    skipped.run(500)
    assert len(got) == 6  # the wait for the latency is no end of the run
    while stepped.now < skipped.now:
        stepped.run(stepped.now + 1)
    for one, other in zip(columns(skipped.state), columns(stepped.state), strict=True):
        if not one.name.startswith("clock."):
            assert np.array_equal(one.values, other.values), one.name


# what kernels give -----------------------------------------------------------------------------------------


def test_a_value_is_64_bytes_of_any_type() -> None:
    got: list[Any] = []
    given = [np.arange(64, dtype=np.uint8), np.linspace(0, 1, 16, dtype=np.float32), list(range(16))]

    def sender(core: Core) -> Iterator[Action]:
        for each in given:
            yield core.put_cascade(each)

    def receiver(core: Core) -> Any:
        for kind in (np.uint8, np.float32, np.int32):
            got.append((yield core.get_cascade(kind)))

    run(joined([(0, 3), (1, 3)]), [sender, receiver])
    assert all(map(np.array_equal, got, given))
    assert [each.dtype for each in got] == [np.uint8, np.float32, np.int32]


@pytest.mark.parametrize(
    "given", [[1, 2], np.zeros(15, np.int32), np.zeros(32, np.int32), [1.5] * 16, [1 << 32] * 16, 3]
)
def test_another_size_is_refused(given: Any) -> None:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.put_cascade(given)

    engine = joined([(0, 3)])
    engine.attach_kernel(0, kernel)
    with pytest.raises(DesignError, match="it must have 64 bytes, such as 16 of int32"):
        engine.run(5)


def test_a_put_that_is_not_yielded_is_refused() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        core.put_cascade(value(0))
        yield core.cycles(1)

    engine = joined([(0, 3)])
    engine.attach_kernel(0, kernel)
    with pytest.raises(DesignError, match=r"core.put_cascade\(\.\.\.\) was made, but not yielded"):
        engine.run(5)
