"""Fixed rows with names that stay: how fast is what, beside what the machine can do in the same run?

``make bench`` prints them, ``make bench JSON=file`` also writes ``{row: {figure: value}}``, of which
``history.py`` keeps records. Times are those of the processor, minima of some rounds; ``x limit`` compares
with copying the same bytes by ``numpy.copyto``, measured in this run. Rates hang on the machine; the ratios
hardly do. docs/speed.md says what the rows are, and the line of each what it compares.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import gemm
import halo_tiling
import user_rows
from bench_array import least, streaming, working
from long_sequence import long_sequence
from memtile import MemoryTile, run, run_many
from memtile.arch.tiles import MEMORY, WORD_BYTES, TileName
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.design.array import Array
from memtile.io.program.cdo import HEADER as CDO_HEADER
from memtile.io.program.cdo import IDENTIFICATION
from memtile.io.program.program_formats import read_program
from memtile.io.program.transaction import Transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.kernels import Action, Core, Kernel, apart
from memtile.runs.operations import BlockWrite, Operation, Write, address_of
from memtile.runs.session import run_program
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.timing_only import moving_words
from memtile.sim.skip.fast_forward import fast_forwarding
from memtile.testing.rig import Rig

HERE = Path(__file__).parent
Figures = dict[str, Any]
BANK_WORDS = MEMORY.bank_bytes // WORD_BYTES
LENGTH = 8192  # words of a BD
MEMORY_TILES: dict[str, TileName] = {"npu1": "memory", "npu2": "memory_2p"}
ARRAYS = {"npu1": ("xcve2802", 38), "npu2": ("npu2", 8)}  # the largest with such tiles
BD_WORDS = MEMORY.bds * MEMORY.bd_words  # registers that only hold what is written


class Sizes(NamedTuple):
    """How much is measured.

    Attributes:
        rounds: of which the fastest counts.
        runs: of a BD in each of twelve channels.
        lane_runs: the same of a single lane.
        frames: of the halo example.
        cycles: of arrays in which all columns do the same for ever.
        timing: of the channels that are run without words.
        most: cycles of a matrix product at most.
        columns: busy ones, whose cost of a cycle is compared.
        designs: of a sweep.
        writes: single accesses through the door, of each kind.
        program: writes of a program.
        copies: of a host sequence that is written out.
        compiles: whether the first compile is measured.
    """

    rounds: int = 3
    runs: int = 16
    lane_runs: int = 128
    frames: int = 1200
    cycles: int = 1 << 15
    timing: int = 1 << 27
    most: int = 1 << 40
    columns: Sequence[int] = (1, 2, 4, 8, 16, 32)
    designs: int = 12
    writes: int = 20_000
    program: int = 200_000
    copies: int = 19_000
    compiles: bool = True


WHOLE = Sizes()
SMALLEST = Sizes(1, 1, 1, 4, 512, 1 << 12, 2000, (1, 2), 2, 400, 400, 8, False)


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call in this thread."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def limits(rounds: int) -> Figures:
    """What the machine can do: bytes copied and words taken in a second."""
    words = np.zeros(1 << 24, np.uint32)
    other, index = np.empty_like(words), np.arange(1 << 22)
    copy = min(seconds(lambda: np.copyto(other, words)) for _ in range(rounds + 1))
    take = min(seconds(lambda: np.take(words, index)) for _ in range(rounds + 1))
    return {"memcpy bytes/s": words.nbytes / copy, "numpy.take words/s": len(index) / take}


def channels(numbers: range, runs: int, apart: int, kind: TileName) -> Engine:
    """So many channels of a memory tile at work, each from ``apart`` words after the one before."""
    rig = Rig(kind)
    rig.memory_control(interleaved=False)
    for ch in numbers:
        bd = MEMORY.bd_bank(ch)[ch]
        rig.write_bd(bd, Descriptor("memory", LENGTH, OWN.address(ch * apart)))
        rig.issue(ch, bd, runs)
        rig.feed(ch, LENGTH * runs) if ch < MEMORY.channels else rig.catch(ch)
    return rig.engine


def timing_only(numbers: range, cycles: int, rounds: int, kind: TileName) -> Figures:
    """Cycles a second of so many channels that work for ever, each in a bank of its own, without words."""

    def engine() -> Engine:
        rig = Rig(kind)
        rig.memory_control(interleaved=False)
        for ch in numbers:
            bd = MEMORY.bd_bank(ch)[ch]
            rig.write_bd(bd, Descriptor("memory", LENGTH, OWN.address(ch * BANK_WORDS), next=bd))
            rig.issue(ch, bd)
            if ch < MEMORY.channels:
                rig.engine.feed(ch, np.broadcast_to(np.uint32(1), (2 * cycles,)))
            else:
                rig.catch(ch)
        return rig.engine

    def once() -> float:
        made = engine()
        with moving_words(False):
            took = seconds(lambda: made.run(cycles))
        if made.now != cycles or not made.wordless:
            raise RuntimeError(f"ended in cycle {made.now} of {cycles}, without words: {made.wordless}")
        return took

    best = min(once() for _ in range(rounds))
    return {"cycles": cycles, "cycles/s": cycles / best, "words/s": len(numbers) * cycles / best}


def without_words(make: Callable[[], Callable[[], int]], rounds: int) -> float:
    """Cycles a second of a run that comes to its end, without words."""
    best = 0.0
    for _ in range(rounds):
        call = make()
        with moving_words(False):
            began = time.thread_time()
            cycles = call()
            best = max(best, cycles / (time.thread_time() - began))
    return best


def both_ways(
    make: Callable[[], Callable[[], int]], rounds: int, cycle_bytes: int = 0, copy: float = 1
) -> Figures:
    """Cycles of a run and cycles a second, stepped and fast-forwarded.

    Args:
        make: makes a model; what it returns runs that and says how many cycles it took.
        rounds: how often each way.
        cycle_bytes: that a cycle moves; 0 = there is no limit to compare with.
        copy: bytes that the machine copies in a second.
    """
    found: Figures = {}
    best = float("inf")
    for name, forward in (("stepped", False), ("fast-forward", True)):
        before, best = best, float("inf")
        for _ in range(rounds):
            call = make()
            with fast_forwarding(forward):
                began = time.thread_time()
                cycles = call()
                best = min(best, time.thread_time() - began)
        found["cycles"], found[f"{name} cycles/s"] = cycles, cycles / best
        if cycle_bytes:
            found[f"{name} x limit"] = cycles / best * cycle_bytes / copy
    found["fast-forward x stepped"] = before / best
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


def of_design(make: Callable[[], Any], most: int) -> Callable[[], Callable[[], int]]:
    """A run of a design to its end, or for so many cycles, with its result."""

    def made() -> Callable[[], int]:
        design = make()
        return lambda: design.run(most).cycles

    return made


def halo(count: int, device: str) -> Any:
    """The halo example on a device with many frames, which are four that come again and again."""
    module: Any = halo_tiling
    former = module.FRAMES, module.feature_map, module.expected
    frames = [former[1](module.SIZE, module.CHANNELS, step) for step in range(former[0])]
    tiles = {(id(frame), lane): former[2](frame, lane) for frame in frames for lane in range(module.LANES)}
    module.FRAMES = count
    module.feature_map = lambda _size, _channels, step: frames[step % len(frames)]
    module.expected = lambda frame, lane: tiles[id(frame), lane]
    try:
        with patch.object(module, "MemoryTile", lambda _: MemoryTile(device)):
            return module.design()
    finally:
        module.FRAMES, module.feature_map, module.expected = former


def growing(device: str, most: int, columns: Sequence[int], cycles: int) -> Figures:
    """What a cycle costs while so many of the ``most`` columns of an array are at work, in turns."""
    engines = [streaming(device, most, busy) for busy in columns]
    with fast_forwarding(False):
        costs = least(*(working(engine, cycles) for engine in engines))
    return {f"ns/cycle of {busy}": cost / cycles * 1e9 for busy, cost in zip(columns, costs, strict=True)}


def idle(cycles: int, rounds: int) -> Figures:
    """Milliseconds for so many cycles in which four cores compute, and nothing else can move."""

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(cycles)

    def once(device: str, kernel: Kernel) -> float:
        array = Array(device, 4)
        for column in range(4):
            array.compute_tile(column, 2).run_kernel(kernel)
        return seconds(lambda: array.run(1 << 40))

    kernels = {"": kernel, ", apart": apart(kernel)}
    return {
        f"{device}{name} ms": min(once(device, each) for _ in range(rounds)) * 1e3
        for device in ("npu1", "npu2")
        for name, each in kernels.items()
    }


def sweep(count: int) -> Figures:
    """Designs a second by the clock on the wall, by one thread and by one for each core."""
    designs = [halo_tiling.design] * count
    found: Figures = {"threads": len(os.sched_getaffinity(0))}
    for name, threads in (("one thread", 1), ("all threads", None)):
        began = time.perf_counter()
        run_many(designs, threads=threads)
        found[f"{name} designs/s"] = len(designs) / (time.perf_counter() - began)
    found["x one thread"] = found["all threads designs/s"] / found["one thread designs/s"]
    return found


def door(size: Sizes) -> Figures:
    """Accesses a second by ``array.door``, of registers and data memory, and register writes of programs."""
    array = Array("npu1")
    host, memory = array.door, array.door.address(column=0, row=1)
    base = memory + MEMORY.bd_base

    def write(first: int) -> None:
        for n in range(size.writes):
            host.write32(first + n % BD_WORDS * WORD_BYTES, n)

    def read(first: int) -> None:
        for n in range(size.writes):
            host.read32(first + n % BD_WORDS * WORD_BYTES)

    words = np.arange(BD_WORDS, dtype=np.uint32)
    times = -(-size.writes // len(words))

    def blocks() -> None:
        for _ in range(times):
            host.block_write32(base, words)

    def rate(access: Callable[[int], None], first: int) -> float:
        return size.writes / min(seconds(partial(access, first)) for _ in range(size.rounds))

    return {
        "write32/s": rate(write, base),
        "write32 of memory/s": rate(write, memory),
        "read32/s": rate(read, base),
        "read32 of memory/s": rate(read, memory),
        "block words/s": times * len(words) / min(seconds(blocks) for _ in range(size.rounds)),
        **programs(size.program, size.rounds),
    }


def programs(writes: int, rounds: int) -> Figures:
    """Words a second of programs, from the bytes of a file to the registers, with the array made for them."""
    places = [address_of(n % 4, 1, MEMORY.bd_base + n % BD_WORDS * WORD_BYTES) for n in range(writes)]
    single = [Write(place, n) for n, place in enumerate(places)]
    blocks = [BlockWrite(place, tuple(range(8))) for place in places[: writes // 8 * 8 : 8]]
    body = np.zeros((writes, 4), np.uint32)
    body[:, 0], body[:, 2], body[:, 3] = 3 << 16 | 0x108, places, range(writes)
    head = [4, IDENTIFICATION, 0x200, body.size]
    files = {
        "transaction": (packed(single), writes),
        "CDO": (CDO_HEADER.pack(*head, ~sum(head) & 0xFFFF_FFFF) + body.tobytes(), writes),
        "transaction of blocks": (packed(blocks), len(blocks) * 8),
    }

    def done(operations: Sequence[Operation]) -> None:
        run_program(operations, Array("npu1"), launch=len(operations))

    found: Figures = {"program writes/s": writes / min(seconds(lambda: done(single)) for _ in range(rounds))}
    for name, (data, words) in files.items():
        calls = [lambda data=data: done(read_program(data, "file").operations)] * rounds
        found[f"{name} words/s"] = words / min(map(seconds, calls))
    return found


def packed(operations: Sequence[Operation]) -> bytes:
    """The file of a transaction for npu1."""
    return transaction_bytes(Transaction(Header((1, 0), 3, 6, 4, 1), operations))


def process(*arguments: str, **environment: str) -> float:
    """Processor time of ``python -m memtile`` with these arguments."""
    before = os.times()
    command = [sys.executable, "-m", "memtile", *arguments]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def start(rounds: int) -> Figures:
    """Processor time of a run of the demo with a warm engine, and with the sources' byte code kept."""
    demo = str(HERE.parent / "examples" / "halo_tiling.py")
    with tempfile.TemporaryDirectory() as place:
        kept = {"PYTHONPYCACHEPREFIX": place, "PYTHONDONTWRITEBYTECODE": ""}
        process("run", demo, **kept)
        return {"seconds": min(process("run", demo, **kept) for _ in range(rounds))}


def long_text(copies: int) -> Figures:
    """Processor time and memory of a check of a text with many tasks, and of one with a quarter of them."""
    found: Figures = {}
    with tempfile.TemporaryDirectory() as place:
        for device, name, count in (
            ("npu1", "quarter", copies // 4),
            ("npu1", "whole", copies),
            ("npu2", "npu2 whole", copies),
        ):
            file = Path(place, f"{name}.mlir")
            file.write_text(long_sequence(count, f"{device}_1col"))
            found[f"{name} MB"] = file.stat().st_size / 1e6
            found[f"{name} seconds"] = process("check", str(file))
    found["child MB"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    return found


def compiling() -> Figures:
    """Processor time of the first compile."""
    with tempfile.TemporaryDirectory() as place:
        return {"seconds": process("warmup", MEMTILE_CACHE=place)}


def rows(copy: float, size: Sizes) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """The rows by name; ``copy``: bytes that the machine copies in a second."""
    every, lane = range(2 * MEMORY.channels), range(0, MEMORY.channels + 1, MEMORY.channels)
    rounds = size.rounds

    def ways(make: Callable[[str], Callable[[], Callable[[], int]]], cycle_bytes: int = 0) -> Figures:
        found = both_devices(lambda device: both_ways(make(device), rounds, cycle_bytes, copy))
        for rate in ("stepped cycles/s", "fast-forward cycles/s"):
            found[f"npu2 x npu1, {rate}"] = found[f"npu2 {rate}"] / found[rate]
        return found

    def tile(numbers: range, runs: int, apart: int, device: str) -> Callable[[], Callable[[], int]]:
        return of_engine(lambda: channels(numbers, runs, apart, MEMORY_TILES[device]))

    twelve = partial(tile, every, size.runs, BANK_WORDS)
    one = partial(tile, lane, size.lane_runs, BANK_WORDS)
    yield "stream12", lambda: ways(twelve, len(every) * WORD_BYTES)
    yield (
        "stream12_timing",
        lambda: both_devices(
            lambda device: {
                **timing_only(every, size.timing, rounds, MEMORY_TILES[device]),
                "stream12 cycles/s": without_words(twelve(device), rounds),
                "lane1 cycles/s": without_words(one(device), rounds),
            }
        ),
    )
    yield "lane1", lambda: ways(one, len(lane) * WORD_BYTES)
    yield "allconflict12", lambda: ways(partial(tile, every, size.runs, 0))
    yield "halo1200", lambda: ways(lambda device: of_design(lambda: halo(size.frames, device), 1 << 40))
    yield "gemm1", lambda: ways(lambda device: of_design(lambda: routed(1, device), size.most))
    yield "gemm4", lambda: ways(lambda device: of_design(lambda: routed(4, device), size.most))

    def busy(count: int, device: str) -> Callable[[], Callable[[], int]]:
        return of_engine(lambda: streaming(*ARRAYS[device], count), size.cycles)

    def columns() -> Figures:
        return both_devices(
            lambda device: growing(
                *ARRAYS[device], [n for n in size.columns if n <= ARRAYS[device][1]], size.cycles
            )
        )

    yield "columns8", lambda: {**ways(partial(busy, 8)), **columns()}
    yield "idle38x11", lambda: ways(partial(busy, 1))
    yield "idle_time", lambda: idle(10**9, rounds)
    yield "sweep_threads", lambda: sweep(size.designs)
    yield "door", lambda: door(size)
    yield from user_rows.rows(size.most, rounds, compiles=size.compiles)
    yield "start", lambda: start(rounds)
    yield "long_text", lambda: long_text(size.copies)
    yield "compile", compiling if size.compiles else lambda: {"missing": "not with the smallest sizes"}


def both_devices(measured: Callable[[str], Figures]) -> Figures:
    """Figures of AIE-ML as they are, and of npu2 with its name before them."""
    return {**measured("npu1"), **{f"npu2 {name}": value for name, value in measured("npu2").items()}}


def routed(columns: int, device: str) -> Array:
    """The matrix product on so many columns of a device, ready to run."""
    with patch.object(gemm, "Array", lambda _, columns: Array(device, columns)):
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
    parser.add_argument(
        "--smallest", action="store_true", help="only to see that it works: sizes near nothing"
    )
    given = parser.parse_args()
    size = SMALLEST if given.smallest else WHOLE
    found = {"limits": limits(size.rounds)}
    print(f"{'limits':<16}" + "   ".join(f"{name} {text(value)}" for name, value in found["limits"].items()))
    known = dict(rows(found["limits"]["memcpy bytes/s"], size))
    if unknown := set(given.names) - set(known):
        parser.error(f"no rows {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    run(halo_tiling.design)  # compiled, and all modules loaded
    for name in given.names or known:
        found[name] = known[name]()
        print(
            f"{name:<16}" + "   ".join(f"{key} {text(value)}" for key, value in found[name].items()),
            flush=True,
        )
        if given.json:  # after each row: what takes long may be ended
            given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
