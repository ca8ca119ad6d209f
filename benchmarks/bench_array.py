"""What does a cycle of an array cost, and what makes it cost more: work, or size?

Ratios are taken within one run and asserted; rates are printed only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memtile import Array
from memtile.arch.tiles import MEMORY
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.sim.loop.engine import Engine, Placed
from memtile.sim.skip.fast_forward import fast_forwarding
from memtile.testing.rig import Rig

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import gemm  # an example is no package

CYCLES = 1 << 15
WORDS = 1 << 10
SMALL, LARGE = "npu1", "xcve2802"  # 4 x 6 and 38 x 11 tiles
ROUNDS = 7
RUNS = 10


def streaming_array(device: str, columns: int, busy: int) -> Array:
    """In each of ``busy`` columns the memory tile sends a buffer to a compute tile for ever."""
    array = Array(device, columns)
    for number in range(busy):
        row = array.device.compute_rows[0]
        source, target = array.memory_tile(number), array.compute_tile(number, row)
        out, into = source.buffer("out", WORDS), target.buffer("in", WORDS)
        array.connect(source.mm2s[0], target.s2mm[0])
        source.mm2s[0].start(source.read(out), loop=True)
        target.s2mm[0].start(target.write(into), loop=True)
    array.route()
    return array


def streaming(device: str, columns: int, busy: int) -> Engine:
    """The engine of :func:`streaming_array` at work."""
    engine = streaming_array(device, columns, busy).engine
    engine.run(100)
    return engine


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def least(*calls: Callable[[], object]) -> list[float]:
    """Seconds of the fastest of some calls of each, made in turns: a machine that slows down slows all."""
    rounds = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def working(engine: Engine, cycles: int = CYCLES) -> Callable[[], object]:
    return lambda: engine.run(engine.now + cycles)


@pytest.mark.parametrize("columns", [1, 4])
def test_matrix_product(benchmark, columns) -> None:
    """512 x 512 x 512 int32: cores, memory tiles and interface tiles of all columns at work."""
    spent: list[float] = []
    cycles = 0

    def run(array: Array) -> None:
        nonlocal cycles
        began = time.thread_time()
        result = array.run()
        spent.append(time.thread_time() - began)
        cycles = result.cycles
        assert result.exact

    def setup() -> tuple[tuple[Array], dict[str, object]]:
        array = gemm.design(columns)
        array.route()
        return (array,), {}

    benchmark.pedantic(run, setup=setup, rounds=3, warmup_rounds=1)
    benchmark.extra_info["kcycles/s"] = round(cycles / min(spent) / 1e3)
    benchmark.extra_info["compute tiles"] = 4 * columns


def test_one_busy_tile_costs_the_same_in_a_large_array(benchmark) -> None:
    """Each cycle is stepped: what a jump costs, it costs once, and few cycles are left to share it."""
    alone, among = streaming(SMALL, 1, 1), streaming(LARGE, 38, 1)
    with fast_forwarding(False):
        benchmark.pedantic(working(among), rounds=3)
        many, one = least(working(among), working(alone))
    ratio = many / one
    benchmark.extra_info["x in one column"] = round(ratio, 2)
    assert ratio < 1.5


def test_the_cost_of_a_cycle_grows_with_the_columns_at_work(benchmark) -> None:
    runs = [working(streaming(LARGE, 38, busy)) for busy in (1, 8, 32)]
    benchmark.pedantic(runs[-1], rounds=3)
    one, eight, most = least(*runs)
    benchmark.extra_info["x at 8"] = round(eight / one, 1)
    benchmark.extra_info["x at 32"] = round(most / one, 1)
    assert eight < 1.2 * 8 * one
    assert most < 1.15 * 32 * one


def irregular(channels: range) -> Engine:
    """Channels of one tile that go round BDs of odd lengths, at ports that are ready at random."""
    random, rig = np.random.default_rng(1), Rig()
    for ch in channels:
        bd = MEMORY.bd_bank(ch)[ch]
        length = int(random.integers(37, 900))
        rig.write_bd(bd, Descriptor("memory", length, OWN.address(ch * 8192), next=bd))
        rig.issue(ch, bd)
        if ch < MEMORY.channels:
            rig.feed(ch, 1 << 20)
        else:
            rig.catch(ch)
        rig.engine.pace(ch, random.integers(0, 2, int(random.integers(1000, 100_000))))
    return rig.engine


def first_runs(make: Callable[[], Engine], cycles: int) -> float:
    """Processor time of the first run of an engine that looks for periods, times that of one that steps."""

    def first(forward: bool) -> float:
        engine = make()
        with fast_forwarding(forward):
            return seconds(working(engine, cycles))

    rounds = [(first(True), first(False)) for _ in range(3 * ROUNDS)]
    looking, stepped = (min(times) for times in zip(*rounds, strict=True))
    return looking / stepped


@pytest.mark.parametrize("busy", [1, 8])
def test_a_large_array_is_never_slower_with_fast_forward(benchmark, busy) -> None:
    """Though the first run of an engine lays out what is compared; eight columns are jumped over together."""
    ratio = first_runs(lambda: streaming(LARGE, 38, busy), CYCLES)
    benchmark.pedantic(lambda: None)
    benchmark.extra_info["x stepped"] = round(ratio, 2)
    assert ratio < (1.15 if busy == 1 else 0.7)  # 1.31 ms against 1.34 ms: what is laid out costs a twentieth


@pytest.mark.parametrize("channels", [2, 12])
def test_fast_forward_costs_little_where_nothing_repeats(benchmark, channels) -> None:
    among = range(0, 2 * MEMORY.channels, 2 * MEMORY.channels // channels)
    ratio = first_runs(lambda: irregular(among), 1 << 19)
    benchmark.pedantic(lambda: None)
    benchmark.extra_info["x stepped"] = round(ratio, 2)
    assert ratio < 1.1


def test_an_idle_array_costs_less_than_four_tiles(benchmark) -> None:
    """Each run finds that nothing can move, after the two cycles that show it."""
    one, array = Engine([Placed("memory")]), Array(LARGE).engine

    def idle(engine: Engine) -> Callable[[], None]:
        def run() -> None:
            for _ in range(100):
                engine.run(engine.now + 1000)

        return run

    benchmark.pedantic(idle(array), rounds=3)
    many, alone = least(idle(array), idle(one))
    ratio = many / alone
    benchmark.extra_info["x one tile"] = round(ratio, 2)
    assert ratio < 4


def test_a_run_in_which_nothing_happens(benchmark) -> None:
    """Result and all, against an array of few tiles, and a thousand stores into a NumPy array."""
    large, small = Array(LARGE), Array(SMALL)
    words = np.zeros(64, np.int64)

    def stores() -> None:
        for number in range(1000):
            words[number & 63] = number

    def runs(array: Array) -> Callable[[], None]:
        def run() -> None:
            for _ in range(RUNS):
                array.run()

        return run

    large.run(), small.run()
    benchmark.pedantic(large.run, rounds=50, iterations=10)
    many, few, scale = least(runs(large), runs(small), stores)
    benchmark.extra_info["us"] = round(many / RUNS * 1e6)
    benchmark.extra_info["x small array"] = round(many / few, 2)
    benchmark.extra_info["x 1000 stores"] = round(many / RUNS / scale, 1)
    assert many < 3.5 * few
    assert many < 24 * RUNS * scale
