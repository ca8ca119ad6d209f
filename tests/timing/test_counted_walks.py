"""Do jumps end as stepping does, in each column of the state, that go on through the ends of rows outside?"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from memtile.arch.tiles import WORD_BYTES
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Dim
from memtile.design.array import Array
from memtile.jit.tables import plain
from memtile.model.state.causes import Phase
from memtile.sim.loop.engine import Engine
from memtile.sim.skip.counted_walks import buffer_with, has_whole_rows
from support.designs.flowing_designs import (
    AREA,
    PLACE,
    Design,
    add_area,
    build,
    compared,
    design,
    differences,
    kernel_of,
    set_up,
)
from support.designs.interface_bench import Column
from support.designs.repeating_designs import EAGER

LONG = pytest.mark.compiled("runs of many rounds")
GEMM = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "gemm.py"))["design"]
NO_BURSTS = Timing(external_burst_overhead=0)

WALKS = {
    "rows of whole bursts": design(waits=(), words=512, came=(Dim(1, 112), Dim(128, 0))),
    "rows on both sides": design(
        waits=(), words=500, came=(Dim(1, 112), Dim(128, 0)), went=(Dim(1, 48), Dim(64, 0))
    ),
    "three dimensions": design(
        waits=(), words=500, came=(Dim(1, 16), Dim(64, 4), Dim(16, 0)), went=(Dim(1, 48), Dim(64, 0))
    ),
    "rows that overlap": design(waits=(), words=512, came=(Dim(1, 112), Dim(48, 0))),
    "rows of whole accesses, as bursts cost nothing": design(
        timing=NO_BURSTS, waits=(), words=512, came=(Dim(1, 100), Dim(104, 0))
    ),
    "between the actions of a kernel": design(
        waits=(400,), words=500, came=(Dim(1, 112), Dim(128, 0)), went=(Dim(1, 48), Dim(64, 0))
    ),
}


@LONG
@pytest.mark.parametrize("name", WALKS)
def test_a_jump_goes_on_through_the_ends_of_rows(name: str) -> None:
    engine = compared(lambda on: build(WALKS[name], forward=on), range(4507, 14507, 1237))
    assert engine.forward.jumped > 300


@pytest.mark.parametrize("stop", [690, 755, 871])
def test_such_a_jump_may_end_at_any_cycle(stop: int) -> None:
    engine = compared(lambda on: build(WALKS["rows on both sides"], forward=on), range(stop, stop + 1))
    assert engine.forward.jumped > 180


@pytest.mark.parametrize(
    ("came", "overhead", "counted"),
    [
        ((Dim(1, 16), Dim(32, 16), Dim(512, 0)), 1, True),
        ((Dim(1, 16), Dim(32, 16), Dim(520, 0)), 1, False),  # planes that begin within a burst
        ((Dim(1, 16), Dim(40, 16), Dim(640, 0)), 1, False),  # rows that do
        ((Dim(1, 24), Dim(32, 64), Dim(2048, 0)), 1, False),  # rows that end within one
        ((Dim(1, 24), Dim(40, 64), Dim(2560, 0)), 0, True),  # where bursts cost nothing
        ((Dim(1, 24), Dim(26, 64), Dim(2048, 0)), 0, False),  # rows that begin within an access
        ((Dim(2, 16), Dim(32, 64), Dim(2048, 0)), 0, False),  # each word is an access
        ((), 1, True),
    ],
)
def test_what_is_counted_begins_and_ends_with_accesses_and_bursts(
    came: tuple[Dim, ...], overhead: int, counted: bool
) -> None:
    engine = build(design(timing=Timing(external_burst_overhead=overhead), came=came), forward=False)
    engine.run(40)
    assert has_whole_rows(engine.state, reader(engine)) == counted
    plain(engine.state.walks).origin[reader(engine)] += 4  # a whole access on
    assert has_whole_rows(engine.state, reader(engine)) == (counted and overhead == 0)


def reader(engine: Engine) -> int:
    """The channel that reads external memory."""
    channels = plain(engine.state.channels)
    return int(np.flatnonzero((channels.external >= 0) & (channels.phase == Phase.RUN))[-1])


def within_buffers(what: Design, went: int, behind: int, forward: bool) -> Engine:
    """A column that writes so many words behind the beginning of an area of external memory."""
    column = Column(what.timing)
    column.engine.forward.on, column.engine.forward.free = forward, EAGER
    for area in range(went + 1):
        add_area(column.engine, ("came", "went")[area], area)
    set_up(column, what, 0, went, kernel_of(what), behind)
    return column.engine


def test_rows_that_leave_their_buffer_are_not_counted() -> None:
    what = design(waits=(), words=64, went=(Dim(1, 48), Dim(1600, 0)))
    engine = compared(lambda on: build(what, forward=on), range(1800, 2201, 100))
    assert (engine.channels.errors != 0).any(), "no channel came to the end of its buffer"


@pytest.mark.parametrize(
    ("low", "high", "buffer"),
    [
        (0, AREA - 1, 0),
        (AREA, 2 * AREA - 1, 1),
        (AREA - 1, AREA, -1),  # two have some of the words
        (2 * AREA - 1, 2 * AREA, -1),  # nobody has the last one
        (-1, 0, -1),
        (2 * AREA, 2 * AREA, -1),
    ],
)
def test_a_walk_that_is_counted_has_a_buffer_of_its_own(low: int, high: int, buffer: int) -> None:
    engine, first = build(design(), forward=False), PLACE // WORD_BYTES
    engine.run(1)
    assert buffer_with(engine.state, first + low, first + high) == buffer


@pytest.mark.parametrize("behind", [192, 240, 480])
def test_rows_that_another_channel_writes_are_not_counted(behind: int) -> None:
    rows = Dim(1, 48), Dim(48, 0)
    what = design(waits=(), words=64, came=rows, went=rows)
    engines = [within_buffers(what, 0, behind, forward) for forward in (True, False)]
    for engine in engines:
        engine.run(3500)
    assert not differences(*engines)


def product(forward: bool = True) -> Array:
    """The matrix product among the examples, on one column."""
    array: Array = GEMM(1)
    array.route()
    array.engine.forward.on = forward
    return array


@LONG
def test_two_thirds_of_a_matrix_product_are_jumped_over() -> None:
    assert product().run(200_000).jumped > 130_000


@LONG
@pytest.mark.parametrize("stop", [71_003, 80_517, 90_100])
def test_a_matrix_product_is_that_of_stepping(stop: int) -> None:
    compared(lambda on: product(on).engine, range(stop, stop + 1))


def columns_that_read(forward: bool) -> Engine:
    """Three columns that read for another while each, and so slow each other down (DEV-EXT-7)."""
    timing = Timing(external_latency=60, external_egress_words=32, external_beside=14)
    array = Array("npu1", 3, timing)
    for n, objects in enumerate((96, 36, 60)):
        door, tile = array.interface_tile(n), array.memory_tile(n)
        come = array.external(f"in{n}", np.arange(64 * objects, dtype=np.int32))
        go = array.external(f"out{n}", np.zeros(64 * objects, np.int32))
        fifo = array.object_fifo(f"come{n}", door, tile, shape=64)
        back = fifo.forward(f"go{n}", door)
        fifo.producer.channel.start(door.read(come))
        back.consumers[0].channel.start(door.write(go))
    array.route()
    array.engine.forward.on, array.engine.forward.free = forward, EAGER
    return array.engine


@LONG
def test_columns_that_slow_each_other_down_are_those_of_stepping() -> None:
    engine = compared(columns_that_read, range(2003, 16_003, 1500))
    assert engine.forward.jumped > 9000
