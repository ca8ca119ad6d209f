"""How fast is the engine, with and without time, and how long does it keep a person waiting?

Ratios are taken within one run and asserted; rates and times are printed only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from memtile.access.walk import Walk, addresses
from memtile.arch.tiles import MEMORY, WORD_BYTES
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import OWN
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.sim.skip.fast_forward import fast_forwarding
from memtile.testing.rig import Rig
from processor_time import processor_time

CYCLES = 1 << 18
BANK_WORDS = MEMORY.bank_bytes // WORD_BYTES
RUNS = 64


def busy(length: int, dims: tuple[Dim, ...] = (), runs: int = RUNS, apart: int = BANK_WORDS) -> Rig:
    """All twelve channels at work, each from ``apart`` words after the one before."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    for ch in range(2 * MEMORY.channels):
        bd = MEMORY.bd_bank(ch)[ch]
        rig.write_bd(bd, Descriptor("memory", length, OWN.address(ch * apart), dims=dims))
        rig.issue(ch, bd, runs)
        rig.feed(ch, length * runs) if ch < MEMORY.channels else rig.catch(ch)
    return rig


def looping() -> Engine:
    """Six channels that send one buffer for ever, each to a port that takes a word in 256 cycles."""
    rig = Rig()
    for number in range(MEMORY.channels):
        bd = MEMORY.bd_bank(number)[number]
        rig.write_bd(bd, Descriptor("memory", 4096, OWN.address(number * BANK_WORDS), next=bd))
        rig.issue(rig.mm2s(number), bd)
        rig.catch(rig.mm2s(number), [1, *[0] * 255])
    return rig.engine


def cycles_per_second(cycles: int) -> float:
    rig = busy(4096)
    rig.engine.run(1000)
    start = processor_time()
    rig.engine.run(1000 + cycles)
    return cycles / (processor_time() - start)


def python(code: str, **environment: str) -> str:
    """What ``code`` prints in a fresh interpreter, run from this directory."""
    environment = {**os.environ, **environment}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=Path(__file__).parent,
    )
    return run.stdout


def best_of(call: Callable[[], object], rounds: int = 7) -> float:
    times = []
    for _ in range(rounds):
        start = processor_time()
        call()
        times.append(processor_time() - start)
    return min(times)


def test_cycles_against_the_interpreter(benchmark) -> None:
    def setup() -> tuple[tuple[Engine], dict[str, object]]:
        return (busy(4096).engine,), {}

    with fast_forwarding(False):  # each cycle is stepped, as the interpreter does
        benchmark.pedantic(lambda engine: engine.run(CYCLES), setup=setup, rounds=7, warmup_rounds=1)
    rate = CYCLES / benchmark.stats.stats.min
    code = "import bench_engine; print(bench_engine.cycles_per_second(2000))"
    interpreted = float(python(code, MEMTILE_JIT="0"))
    benchmark.extra_info["kcycles/s"] = round(rate / 1e3)
    benchmark.extra_info["x interpreted"] = round(rate / interpreted)
    assert rate >= 100 * interpreted


def test_idle_cycles_are_skipped(benchmark) -> None:
    """A channel that starves of words while memory is being zeroised, against the same cycles at work."""
    zeroisation = 1 << 20

    def setup() -> tuple[tuple[Engine], dict[str, object]]:
        rig = Rig(timing=Timing(zeroisation=zeroisation))
        rig.write_bd(0, Descriptor("memory", 64, OWN.address(0)))
        rig.issue(rig.s2mm(), 0)
        rig.feed(rig.s2mm(), 8)
        rig.memory_control(interleaved=False, zeroise=True)
        return (rig.engine,), {}

    def timed(engine: Engine, cycles: int) -> None:
        began = time.thread_time()
        engine.run(cycles)
        spent.append(time.thread_time() - began)

    spent: list[float] = []
    benchmark.pedantic(lambda engine: timed(engine, zeroisation), setup=setup, rounds=7)
    skipping = min(spent)
    with fast_forwarding(False):
        timed(busy(4096).engine, CYCLES)
    ratio = zeroisation * (spent[-1] / CYCLES) / skipping
    benchmark.extra_info["x working"] = round(ratio)
    assert ratio >= 100


SHAPES = {
    "linear": (),
    "tiles": (Dim(1, 16), Dim(64, 16), Dim(16, 4), Dim(1024, 0)),
    "transpose": (Dim(128, 64), Dim(1, 0)),
}
WORDS = 1 << 18  # each channel moves
APART = 4096
ROUNDS = 15  # of a few milliseconds: one of them at least is not disturbed


@pytest.mark.parametrize("length", [1 << 12, 1 << 16])
@pytest.mark.parametrize("shape", SHAPES)
def test_untimed_against_take(benchmark, shape, length) -> None:
    """All words through twelve channels, against ``numpy.take`` on the indices of the same BDs."""
    dims = SHAPES[shape]
    runs = WORDS // length

    def setup() -> tuple[tuple[Engine], dict[str, object]]:
        return (busy(length, dims, runs, APART).engine,), {}

    benchmark.pedantic(run_untimed, setup=setup, rounds=ROUNDS, warmup_rounds=1)
    words = 2 * MEMORY.channels * length * runs
    rate = words / benchmark.stats.stats.min
    walk = Walk(0, length, tuple(d.step for d in dims), tuple(d.wrap for d in dims[:3]))
    index = np.concatenate([addresses(walk.moved(ch * APART)) for ch in range(12) for _ in range(runs)])
    memory = np.zeros(MEMORY.memory_words + length, np.uint32)
    take = len(index) / best_of(lambda: np.take(memory, index), ROUNDS)
    benchmark.extra_info["Mwords/s"] = round(rate / 1e6)
    benchmark.extra_info["of numpy.take"] = round(rate / take, 2)
    benchmark.extra_info["us per BD"] = round(
        benchmark.stats.stats.min / (2 * MEMORY.channels * runs) * 1e6, 1
    )
    assert rate >= 0.3 * take


START = {
    "import memtile": (["-c", "import memtile"], 10),
    "memtile --help": (["-m", "memtile", "--help"], 30),
}


@pytest.mark.parametrize("command", START)
def test_start_against_bare_python(benchmark, command) -> None:
    arguments, allowed = START[command]

    def start(given: list[str]) -> None:
        subprocess.run([sys.executable, *given], check=True, capture_output=True)

    benchmark.pedantic(start, args=(arguments,), rounds=9, warmup_rounds=1)
    bare = []
    for _ in range(9):
        began = processor_time()
        start(["-c", "pass"])
        bare.append(processor_time() - began)
    benchmark.extra_info["ms"] = round(benchmark.stats.stats.median * 1e3)
    benchmark.extra_info["x bare python"] = round(benchmark.stats.stats.median / median(bare), 1)
    assert benchmark.stats.stats.median <= allowed * median(bare)


def test_first_compile_against_later_starts(benchmark, tmp_path) -> None:
    """Seconds until the engine is ready, with an empty cache and with a full one.

    An empty cache is filled from the code that the package brings, which costs a few starts.
    A full cache spares at least half of it.
    """
    code = "from memtile.sim.loop.engine import Engine, Placed; Engine([Placed('memory')])"

    def start() -> None:
        python(code, MEMTILE_CACHE=str(tmp_path))

    began = processor_time()
    start()
    first = processor_time() - began
    benchmark.pedantic(start, rounds=5)
    benchmark.extra_info["s first"] = round(first, 1)
    benchmark.extra_info["ms later"] = round(benchmark.stats.stats.median * 1e3)
    ratio = first / benchmark.stats.stats.median
    benchmark.extra_info["x later"] = round(ratio, 1)
    assert 2 <= ratio <= 10


def test_ctrl_c_is_heard_between_slices(benchmark) -> None:
    """The longest time between two looks at the outside world."""
    gaps: list[float] = []

    def run() -> None:
        engine = busy(4096).engine
        last = processor_time()

        def look(_now: int) -> None:
            nonlocal last
            gaps.append(processor_time() - last)
            last += gaps[-1]

        engine.run(CYCLES, look)

    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info["ms longest"] = round(max(gaps) * 1e3)
    assert max(gaps) < benchmark.stats.stats.max


def test_memory_after_ten_times_the_cycles(benchmark) -> None:
    """Size of the process after 1 M and after 10 M cycles of channels that loop for ever."""
    code = """
import resource
from bench_engine import looping
engine = looping()
for cycles in (10**6, 10**7):
    engine.run(cycles)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    printed: list[str] = []
    benchmark.pedantic(lambda: printed.append(python(code)), rounds=1)
    first, later = map(int, printed[0].split())
    benchmark.extra_info["MB at 1 M"] = round(first / 1024)
    benchmark.extra_info["MB at 10 M"] = round(later / 1024)
    assert later <= 1.1 * first
