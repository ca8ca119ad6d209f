"""Fixed rows with names that stay: how fast is what, beside what the machine can do in the same run?

``make bench`` prints them, ``make bench JSON=file`` also writes ``{row: {figure: value}}``. Times are those
of the processor, minima of some rounds; ``x limit`` compares with copying the same bytes by ``numpy.copyto``,
measured in this run. Rates hang on the machine; the ratios hardly do. docs/speed.md says what the rows are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import gemm
import halo_tiling
from bench_array import streaming
from memtile import run, run_many
from memtile.arch.tiles import MEMORY, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.design.array import Array
from memtile.io.program.operations import Write, address_of
from memtile.io.program.run import run_program
from memtile.sim.engine import Engine
from memtile.sim.fast_forward import fast_forwarding
from memtile.testing.rig import Rig

HERE = Path(__file__).parent
Figures = dict[str, Any]
ROUNDS = 3
BANK_WORDS = MEMORY.bank_bytes // WORD_BYTES
LENGTH, RUNS = 8192, 16  # of a BD, and how often: 128 k words a channel
LANE_RUNS = 128
FRAMES = 1200
WRITES = 20_000


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call in this thread."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def limits() -> Figures:
    """What the machine can do: bytes copied and words taken in a second."""
    words = np.zeros(1 << 24, np.uint32)
    other, index = np.empty_like(words), np.arange(1 << 22)
    copy = min(seconds(lambda: np.copyto(other, words)) for _ in range(ROUNDS + 1))
    take = min(seconds(lambda: np.take(words, index)) for _ in range(ROUNDS + 1))
    return {"memcpy bytes/s": words.nbytes / copy, "numpy.take words/s": len(index) / take}


def channels(numbers: range, runs: int, apart: int) -> Engine:
    """So many channels at work, each from ``apart`` words after the one before."""
    rig = Rig()
    rig.memory_control(interleaved=False)
    for ch in numbers:
        bd = MEMORY.bd_bank(ch)[ch]
        rig.write_bd(bd, Descriptor("memory", LENGTH, OWN.address(ch * apart)))
        rig.issue(ch, bd, runs)
        rig.feed(ch, LENGTH * runs) if ch < MEMORY.channels else rig.catch(ch)
    return rig.engine


def both_ways(
    make: Callable[[], Callable[[], int]], cycle_bytes: int = 0, copy: float = 1, rounds: int = ROUNDS
) -> Figures:
    """Cycles of a run and cycles a second, stepped and fast-forwarded.

    Args:
        make: makes a model; what it returns runs that and says how many cycles it took.
        cycle_bytes: that a cycle moves; 0 = there is no limit to compare with.
        copy: bytes that the machine copies in a second.
        rounds: how often each way.
    """
    found: Figures = {}
    for name, forward in (("stepped", False), ("fast-forward", True)):
        best = float("inf")
        for _ in range(rounds):
            call = make()
            with fast_forwarding(forward):
                began = time.thread_time()
                cycles = call()
                best = min(best, time.thread_time() - began)
        found["cycles"], found[f"{name} cycles/s"] = cycles, cycles / best
        if cycle_bytes:
            found[f"{name} x limit"] = cycles / best * cycle_bytes / copy
    return found


def of_engine(make: Callable[[], Engine], cycles: int = 1 << 30) -> Callable[[], Callable[[], int]]:
    """A run of an engine to its end, or for so many cycles."""

    def made() -> Callable[[], int]:
        engine = make()
        first = engine.now

        def call() -> int:
            engine.run(first + cycles)
            return engine.now - first

        return call

    return made


def of_design(make: Callable[[], Any]) -> Callable[[], Callable[[], int]]:
    """A run of a design to its end, with its result."""

    def made() -> Callable[[], int]:
        design = make()
        return lambda: design.run(1 << 40).cycles

    return made


def halo() -> Any:
    """The halo example with many frames, which are four that come again and again."""
    module: Any = halo_tiling
    former = module.FRAMES, module.feature_map, module.expected
    frames = [former[1](module.SIZE, module.CHANNELS, step) for step in range(former[0])]
    tiles = {(id(frame), lane): former[2](frame, lane) for frame in frames for lane in range(module.LANES)}
    module.FRAMES = FRAMES
    module.feature_map = lambda _size, _channels, step: frames[step % len(frames)]
    module.expected = lambda frame, lane: tiles[id(frame), lane]
    try:
        return module.design()
    finally:
        module.FRAMES, module.feature_map, module.expected = former


def sweep() -> Figures:
    """Designs a second by the clock on the wall, by one thread and by one for each core."""
    designs = [halo_tiling.design] * 12
    found: Figures = {"threads": len(os.sched_getaffinity(0))}
    for name, threads in (("one thread", 1), ("all threads", None)):
        began = time.perf_counter()
        run_many(designs, threads=threads)
        found[f"{name} designs/s"] = len(designs) / (time.perf_counter() - began)
    found["x one thread"] = found["all threads designs/s"] / found["one thread designs/s"]
    return found


def door() -> Figures:
    """Register writes a second: single ones from Python, blocks, and those of a program."""
    array = Array("npu1")
    tile = array.engine.door(1)
    base = MEMORY.bd_base

    def single() -> None:
        for n in range(WRITES):
            tile.write32(base + n % 384 * WORD_BYTES, n)

    words = np.arange(384, dtype=np.uint32)

    def blocks() -> None:
        for _ in range(WRITES // len(words)):
            tile.block_write32(base, words)

    program = [Write(address_of(n % 4, 1, base + n % 384 * WORD_BYTES), n) for n in range(WRITES)]
    return {
        "write32/s": WRITES / min(seconds(single) for _ in range(ROUNDS)),
        "block words/s": WRITES // len(words) * len(words) / min(seconds(blocks) for _ in range(ROUNDS)),
        "program writes/s": WRITES
        / min(seconds(lambda: run_program(program, Array("npu1"), launch=WRITES)) for _ in range(ROUNDS)),
    }


def process(*arguments: str, **environment: str) -> float:
    """Processor time of ``python -m memtile`` with these arguments."""
    before = os.times()
    command = [sys.executable, "-m", "memtile", *arguments]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def start() -> Figures:
    """Processor time of a run of the demo with a warm engine."""
    demo = str(HERE.parent / "examples" / "halo_tiling.py")
    return {"seconds": min(process("run", demo) for _ in range(ROUNDS))}


def compiling() -> Figures:
    """Processor time of the first compile."""
    with tempfile.TemporaryDirectory() as place:
        return {"seconds": process("warmup", MEMTILE_CACHE=place)}


def rows(copy: float) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """The rows by name; ``copy``: bytes that the machine copies in a second."""
    every, lane = range(2 * MEMORY.channels), range(0, MEMORY.channels + 1, MEMORY.channels)
    twelve = of_engine(lambda: channels(every, RUNS, BANK_WORDS))
    yield "stream12", lambda: both_ways(twelve, len(every) * WORD_BYTES, copy)
    yield "stream12_timing", lambda: {"missing": "runs without words (data=False) are not there yet"}
    one = of_engine(lambda: channels(lane, LANE_RUNS, BANK_WORDS))
    yield "lane1", lambda: both_ways(one, len(lane) * WORD_BYTES, copy)
    yield "allconflict12", lambda: both_ways(of_engine(lambda: channels(every, RUNS, 0)))
    yield (
        "halo1200",
        lambda: both_ways(of_design(halo), rounds=1),
    )  # to lay out so many frames takes longer than to run
    yield "gemm1", lambda: both_ways(of_design(lambda: routed(1)))
    yield "gemm4", lambda: both_ways(of_design(lambda: routed(4)))
    yield "columns8", lambda: both_ways(of_engine(lambda: streaming("xcve2802", 38, 8), 1 << 15))
    yield "idle38x11", lambda: both_ways(of_engine(lambda: streaming("xcve2802", 38, 1), 1 << 15))
    yield "sweep_threads", sweep
    yield "door", door
    yield "start", start
    yield "compile", compiling


def routed(columns: int) -> Array:
    """The matrix product on so many columns, ready to run."""
    array = gemm.design(columns)
    array.route()
    return array


def text(value: object) -> str:
    """A figure for people."""
    if isinstance(value, str):
        return value
    number = float(value)  # type: ignore[arg-type]
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def main() -> None:
    """Measure the rows that are asked for, print and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="rows; all if none is named")
    parser.add_argument("--json", type=Path, help="file to write them to")
    given = parser.parse_args()
    found = {"limits": limits()}
    print(f"{'limits':<16}" + "   ".join(f"{name} {text(value)}" for name, value in found["limits"].items()))
    known = dict(rows(found["limits"]["memcpy bytes/s"]))
    if unknown := set(given.names) - set(known):
        parser.error(f"no rows {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    run(halo_tiling.design)  # compiled, and all modules loaded
    for name in given.names or known:
        found[name] = known[name]()
        print(
            f"{name:<16}" + "   ".join(f"{key} {text(value)}" for key, value in found[name].items()),
            flush=True,
        )
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
