"""Which tiles have clocks of their own, and is the state the same as with one clock for all?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memtile.arch.register_map import register_named, tile_register
from memtile.arch.tiles import S2MM
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Release
from memtile.bd.windows import EAST, OWN, WEST
from memtile.model.events.reports import signal
from memtile.model.events.units import hold
from memtile.model.state.event_columns import ChannelEvent, TileSignal
from memtile.model.state.state import State
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.timing_only import moving_words
from memtile.testing.rig import Rig
from support.designs.flowing_designs import (
    CORE,
    MEM,
    TIMINGS,
    Design,
    add_area,
    differences,
    kernel_of,
    set_lock_of,
    set_up,
)
from support.designs.interface_bench import Column, side_by_side
from support.designs.repeating_designs import EAGER
from support.designs.separate_designs import parts, sending

LONG = 8_000
LONG_RUNS = pytest.mark.compiled("runs of many rounds")


def design(**given: Any) -> Design:
    """A column without a kernel, but for what is ``given``."""
    what: dict[str, Any] = {
        "timing": TIMINGS[0], "words": 64, "buffers": 2, "sent": (), "came": (), "went": (), "length": 4096,
        "runs": 1, "waits": (), "moody": 0, "rounds": 0, "stops": (),
    }  # fmt: skip
    return Design(**{**what, **given})


def beside(
    *columns: Design,
    areas: Callable[[int], tuple[int, int]] = lambda n: (2 * n, 2 * n + 1),
    kernels: dict[int, Kernel] | None = None,
) -> Engine:
    """Columns side by side; words of column n come from and go to areas of external memory."""
    engine = side_by_side(len(columns))
    for area in sorted({area for n in range(len(columns)) for area in areas(n)}):
        add_area(engine, f"area {area}", area)
    for n, each in enumerate(columns):
        kernel = (kernels or {}).get(n) or kernel_of(each)
        set_up(Column(beside=engine, number=n), each, *areas(n), kernel)
    return engine


def clocks(make: Callable[[], Engine], until: int = LONG, *, forward: bool = False) -> Engine:
    """The engine with clocks of their own, after a run that was compared with one of one clock."""
    own, one = make(), make()
    own.clocks.on = own.clocks.free = True
    own.forward.on, own.forward.free = forward, EAGER
    one.forward.on, one.clocks.on = False, False
    ends = [engine.run(until) for engine in (own, one)]
    assert ends[0] is ends[1]
    assert own.now == one.now
    assert not differences(own, one)
    assert one.clocks.pieces == 0
    return own


def row(*descriptors: tuple[int, Descriptor]) -> Engine:
    """Memory tiles side by side, each of which sends what its descriptor says, by an MM2S channel."""
    rig = Rig(tiles=len(descriptors))
    for tile, (number, descriptor) in enumerate(descriptors):
        each = rig.beside(tile)
        for lock in range(4):
            each.set_lock(lock, 1)
        bd = 24 * (number % 2)
        each.write_bd(bd, descriptor.but(next=bd))
        each.issue(each.mm2s(number), bd)
        each.catch(each.mm2s(number))
    return rig.engine


def sends(length: int = 100, at: int = OWN.address(0), **more: Any) -> tuple[int, Descriptor]:
    return 0, Descriptor("memory", length, at, **more)


@pytest.mark.parametrize("forward", [False, True])
@LONG_RUNS
def test_columns_with_other_periods_have_clocks_of_their_own(forward: bool) -> None:
    lengths = (64, 96, 250)
    engine = clocks(lambda: beside(*(design(words=words) for words in lengths)), forward=forward)
    assert parts(engine) == 3


def test_a_run_ends_where_the_last_part_comes_to_rest() -> None:
    ends = [clocks(lambda n=n: beside(design(length=n)), 3000).now for n in (64, 128)]
    both = clocks(lambda: beside(design(length=64), design(length=128)), 3000)
    assert parts(both) == 2
    assert ends[0] < ends[1] == both.now


REACHING: dict[str, tuple[tuple[int, Descriptor], ...]] = {
    "memory of a neighbour": (sends(), sends(at=WEST.address(0))),
    "the walk comes to it": (sends(dims=(Dim(8191, 2), Dim(131072 - 99, 0))), sends()),
    "an iteration": (sends(iteration=Iteration(131072 - 99, 2)), sends()),
    "a lock of a neighbour": (sends(acquire=Acquire(EAST.lock(1), 1, True)), sends()),
    "a release there": (sends(release=Release(EAST.lock(1), 1)), sends()),
}


@pytest.mark.parametrize("what", REACHING)
def test_who_reaches_a_neighbour_has_its_clock(what: str) -> None:
    assert parts(clocks(lambda: row(*REACHING[what], sends()), 900)) == 2


def test_who_could_reach_a_neighbour_and_does_not_has_a_clock_of_its_own() -> None:
    unused = sends(acquire=Acquire(EAST.lock(1), 1, False), release=Release(EAST.lock(1), 0))
    assert parts(clocks(lambda: row(unused, sends(), sends(length=77)), 900)) == 3


def test_tasks_that_wait_are_looked_at() -> None:
    def make() -> Engine:
        rig = Rig(tiles=2)
        for tile in range(2):
            each = rig.beside(tile)
            each.write_bd(0, Descriptor("memory", 300, OWN.address(0)))
            each.write_bd(2, Descriptor("memory", 300, OWN.address(0), next=3))
            each.write_bd(3, Descriptor("memory", 300, (WEST if tile else OWN).address(0)))
            each.issue(each.mm2s(), 0)
            each.issue(each.mm2s(), 2)
            each.catch(each.mm2s())
        return rig.engine

    assert parts(clocks(make, 900)) == 1


def test_what_is_written_outside_for_another_column_makes_one_clock() -> None:
    three = [design(), design(words=96), design(words=32)]
    # the second column reads what the first one writes
    engine = clocks(lambda: beside(*three, areas=lambda n: ((0, 1), (1, 2), (3, 4))[n]), 400)
    assert parts(engine) == 2
    # all read the same
    assert parts(clocks(lambda: beside(*three, areas=lambda n: (0, 1 + n)), 400)) == 3


def test_kernels_have_one_clock_and_others_none_of_theirs() -> None:
    def kernel(core: Core) -> Iterator[Action]:
        while True:
            yield core.cycles(77)

    def make(*kernels: int) -> Engine:
        engine = side_by_side(5)
        for number in (0, 2):
            sending(engine, number, 300 + number)
        for number in kernels:
            engine.attach_kernel(3 * number + CORE, kernel, endless=True)
        return engine

    assert parts(clocks(lambda: make(4), 900)) == 3
    assert parts(clocks(lambda: make(1, 4), 900)) == 2  # a core sees its neighbour to the west


def test_kernels_may_look_at_what_is_written_outside() -> None:
    assert parts(clocks(lambda: beside(design(), design(waits=(30,)), design(words=96)), 400)) == 1


def test_kernels_that_may_access_registers_have_the_clock_of_all() -> None:
    control = tile_register("compute", "core.Performance_Control0").offset

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(700)
        core.bus.write(control, 1)  # an event unit is at work from now on
        yield core.cycles(500)
        core.bus.write(control, 0)

    def make() -> Engine:
        engine = side_by_side(4)
        sending(engine, 0, 300)
        sending(engine, 1, 77)
        engine.door(3 * 3 + CORE).write32(tile_register("compute", "Core_Processor_Bus").offset, 1)
        engine.attach_kernel(3 * 3 + CORE, kernel)
        return engine

    engine = clocks(make, 1500)
    assert engine.cores.touches == 2
    assert engine.clocks.pieces == 0
    assert engine.forward.together.endswith("kernels may access registers")


def test_an_error_of_a_kernel_leaves_all_at_its_cycle() -> None:
    def failing(core: Core) -> Iterator[Action]:
        yield core.cycles(700)
        raise ZeroDivisionError

    def make() -> Engine:
        engine = side_by_side(3)
        sending(engine, 0, 300)
        engine.attach_kernel(2 * 3 + CORE, failing)
        return engine

    own, one = make(), make()
    own.clocks.on = own.clocks.free = True
    one.forward.on = one.clocks.on = False
    for engine in (own, one):
        with pytest.raises(ZeroDivisionError):
            engine.run(LONG)
    assert own.now == one.now == 700
    assert not differences(own, one)


def test_a_run_that_is_interrupted_ends_with_all_at_one_cycle() -> None:
    made = [beside(design(), design(words=96)) for _ in range(2)]
    made[0].clocks.on = made[0].clocks.free = True
    made[1].clocks.on = False
    seen: list[int] = []
    step = made[0].skipper.step

    def interrupted(st: State, until: int, cycles: int) -> Stop:
        seen.append(until)
        if len(seen) == 2:  # in the second part
            raise KeyboardInterrupt
        return step(st, until, cycles)

    made[0].skipper.step = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        made[0].run(900)
    made[1].run(900)
    assert made[0].now == 900
    assert not differences(*made)


def test_event_units_make_one_clock_and_the_result_says_so() -> None:
    def make() -> Engine:
        engine = beside(design(), design())
        engine.door(MEM).write32(tile_register("memory", "Performance_Control0").offset, 1)
        return engine

    engine = clocks(make, 600)
    assert parts(engine) == 1
    assert engine.forward.kept_off == ("independent parts share one clock because event units are active",)


def test_a_port_before_a_full_channel_waits_while_time_is_skipped() -> None:
    """What nothing happens to does the same whether or not others go on."""

    def make() -> Engine:
        engine = beside(design(length=256), design(length=512))
        column = Column(beside=engine)
        set_lock_of(column, MEM, 1, 0)  # words come, and there is no buffer for them
        return engine

    stuck = clocks(make, 900)
    assert parts(stuck) == 2
    ch = Column(beside=stuck).channel(MEM, S2MM)
    assert stuck.state.seen[ch, ChannelEvent.MEMORY] == 899


@pytest.mark.parametrize("what", [TileSignal.TOKEN_STALL, TileSignal.STREAM_PACKET])
def test_what_a_tile_reports_again_and_again_it_reports_while_time_is_skipped(what: TileSignal) -> None:
    engine = beside(design())
    engine.run(400)
    st, tile = engine.present, MEM if what is TileSignal.TOKEN_STALL else CORE
    st.clock.now[0] -= 1
    signal(st, tile, what)
    st.clock.now[0] += 1
    hold(st, 500)
    assert st.signals[tile, what] == 500


def test_words_that_are_not_moved_tie_nothing_together() -> None:
    own = beside(design(), design(), areas=lambda n: ((0, 1), (1, 0))[n])
    own.clocks.on = own.clocks.free = True
    with moving_words(False):
        own.run(600)
    assert parts(own) == 2
    assert own.now == 600


def test_tokens_of_each_tile_come_in_their_order() -> None:
    def make() -> Engine:
        rig = Rig(tiles=3)
        queue = register_named("memory_tile", "DMA_MM2S_0_Start_Queue")
        for tile, length in enumerate((40, 70, 33)):
            each = rig.beside(tile)
            each.write_bd(0, Descriptor("memory", length, OWN.address(0)))
            for _ in range(4):
                each.door.write32(
                    queue.offset, queue.pack(Start_BD_ID=0, Enable_Token_Issue=1, Repeat_Count=1)
                )
            each.catch(each.mm2s())
        return rig.engine

    one = make()
    one.clocks.on = False
    one.run(2000)
    own = clocks(make, 2000)
    assert parts(own) == 3
    assert [len(own.tokens(tile)) for tile in range(3)] == [4, 4, 4]
    assert [own.tokens(tile) for tile in range(3)] == [one.tokens(tile) for tile in range(3)]
