"""Rows for what users run, on npu1 and npu2: planned layers, a product in MLIR, a traced design, a first run.

Rates are cycles of the array in a second of processor time; the ratios of a row are of runs in one process:
timing alone against words, C++ kernels against library functions, traced against untraced.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import bench_cpp
from memtile.cpp.compilers import candidates, tried
from memtile.design.array import Array
from memtile.explore.plan.designs import convolution_rounds, gemm
from memtile.importers.design import load
from memtile.kernels import cpp
from memtile.runs import earlier_runs
from memtile.runs.run_store import RunStore
from memtile.trace import Tracing

Figures = dict[str, Any]
LLAMA: tuple[tuple[int, int], ...] = (
    *((4096, 4096), (1024, 4096), (1024, 4096), (4096, 4096)),
    *((14336, 4096), (14336, 4096), (4096, 14336)),
)
"""Columns and inner dimension of the products of a layer of Llama-3-8B: Q, K, V, O, gate, up, down."""
_NPU1: Mapping[str, Any] = {"device": "npu1", "macs": 256, "columns": 4}
_NPU2: Mapping[str, Any] = {"device": "npu2", "macs": 512, "columns": 8}
_GEMM: Mapping[str, Any] = {"tall": 64, "wide": 64, "s": 8, "t": 8, "ways": 2}
GEMMS: Mapping[int, Mapping[str, Mapping[str, Any]]] = {
    side: {
        "npu1": {**_NPU1, **_GEMM, "m": side, "n": side, "k": side, "deep": deep, "panel": deep},
        "npu2": {**_NPU2, **_GEMM, "m": side, "n": side, "k": side, "deep": deep, "panel": max(deep, 32)},
    }
    for side, deep in ((512, 16), (2048, 64))
}
"""Arguments of designs that ``memtile plan gemm`` finds, int8, by the side of the matrices and device."""
_CUTS: Mapping[str, Mapping[str, Any]] = {
    "conv3": {"height": 28, "width": 28, "channels": 128, "features": 128},
    "conv4": {"height": 14, "width": 14, "channels": 256, "features": 256},
    "conv5": {"height": 7, "width": 7, "channels": 512, "features": 512},
}
RESNET: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    name: {
        "npu1": {**_NPU1, **cut, "wide": 4 if name == "conv5" else 8, "deep": 16, "panel": 16, "ways": 2},
        "npu2": {**_NPU2, **cut, "wide": 4 if name != "conv4" else 8, "deep": 16, "panel": 64, "ways": 2},
    }
    for name, cut in _CUTS.items()
}
"""Those of ``memtile plan conv --weights rounds`` for 3 x 3 layers of ResNet-50, by layer and device."""


def rate(make: Callable[[], Callable[[], int]], rounds: int) -> tuple[int, float]:
    """Cycles of a run, and cycles in a second of the fastest of some."""
    best = float("inf")
    for _ in range(rounds):
        call = make()
        began = time.thread_time()
        cycles = call()
        best = min(best, time.thread_time() - began)
    return cycles, cycles / best


def ran(design: Callable[..., Array], most: int, **values: Any) -> Callable[[], int]:
    """A run of a planned design, ready to begin; its words are compared with those of NumPy."""
    array = design(**values)
    array.route()

    def call() -> int:
        result = array.run(most)
        if result.exact is False and result.cycles < most:
            raise RuntimeError(f"{values} came out otherwise than by NumPy")
        return result.cycles

    return call


def planned(
    design: Callable[..., Array], points: Mapping[str, Mapping[str, Any]], most: int, rounds: int
) -> Figures:
    """Cycles and rates of a planned layer by device, with words and without."""
    found: Figures = {}
    for device, values in points.items():
        cycles, words = rate(lambda values=values: ran(design, most, **values), rounds)
        _, alone = rate(lambda values=values: ran(design, most, **values, data=False), rounds)
        found[f"{device} cycles"], found[f"{device} cycles/s"] = cycles, words
        found[f"{device} timing only cycles/s"], found[f"{device} timing only x"] = alone, alone / words
    return found


@contextmanager
def empty_store() -> Iterator[None]:
    """Context in which no run was run before."""
    with tempfile.TemporaryDirectory() as place:
        store = RunStore(Path(place))
        with patch.object(earlier_runs, "store_in_use", lambda: store):
            yield


def timed_alone(values: Mapping[str, Any], most: int) -> Callable[[], int]:
    """A run of a planned product for its time alone, ready to begin."""
    array = gemm.design(**values, data=False)
    array.route()
    return lambda: array.run(most, data=False).cycles


def recalled(points: Mapping[str, Mapping[str, Any]], most: int, rounds: int) -> Figures:
    """Rates of a planned product without words by device: of a first run, and of one that was run before."""
    found: Figures = {}
    for device, values in points.items():
        with empty_store():
            _, first = rate(partial(timed_alone, values, most), 1)
            _, later = rate(partial(timed_alone, values, most), rounds)
        found[f"{device} first cycles/s"], found[f"{device} later cycles/s"] = first, later
        found[f"{device} later x first"] = later / first
    return found


def llama(side: int, most: int) -> Figures:
    """Seconds of a layer of Llama-3-8B, prefill ``side``, in products of that side; designs are made anew."""
    usual = GEMMS[max(GEMMS)]["npu1"]
    sizes = [
        (min(n - x, side), min(k - y, side))
        for n, k in LLAMA
        for x, y in itertools.product(range(0, n, side), range(0, k, side))
    ]
    found: Figures = {"products": len(sizes), "distinct": len(set(sizes))}
    with empty_store():
        for name in ("first", "second"):
            began = time.thread_time()
            found["cycles"] = sum(timed_alone({**usual, "m": side, "n": n, "k": k}, most)() for n, k in sizes)
            found[f"{name} seconds"] = time.thread_time() - began
    return found


def resnet(most: int, rounds: int) -> Figures:
    """Rates of three layers of ResNet-50 by layer and device."""
    found: Figures = {}
    for name, points in RESNET.items():
        made = planned(convolution_rounds.design, points, most, rounds)
        found |= {f"{name} {figure}": value for figure, value in made.items()}
    return found


def sixteen_cores(rounds: int) -> Figures:
    """Rates of a product in MLIR on sixteen cores, with library functions and with kernels in C++."""
    a, b = np.random.default_rng(1).integers(-128, 128, (2, bench_cpp.SIZE, bench_cpp.SIZE)).astype(np.int8)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    found: Figures = {}
    with tempfile.TemporaryDirectory() as place:
        for device, block in bench_cpp.DEVICES.items():
            (file := Path(place, f"{device}.mlir")).write_text(bench_cpp.design(device))
            (source := Path(place, f"{device}.cc")).write_text(bench_cpp.mmul("int8", block))

            def made(functions: Any, file: Path = file) -> Callable[[], int]:
                loaded = load(file, functions=functions)

                def call() -> int:
                    done = loaded.run(a, b)
                    if not np.array_equal(done.arrays["2"].reshape(expected.shape), expected):
                        raise RuntimeError("the product came out otherwise than by NumPy")
                    return done.result.cycles

                return call

            found[f"{device} cycles"], library = rate(partial(made, {}), rounds)
            found[f"{device} library cycles/s"] = library
            if any(map(tried, candidates())):
                functions = cpp(source)
                made(functions)()  # compiled
                found[f"{device} C++ cycles/s"] = rate(partial(made, functions), rounds)[1]
                found[f"{device} C++ x library"] = found[f"{device} C++ cycles/s"] / library
    return found


def traced(most: int, rounds: int) -> Figures:
    """Rates of a planned product with eight events of a memory tile and a core traced, against none."""

    def made(values: Mapping[str, Any], *, trace: bool) -> Callable[[], int]:
        array = gemm.design(**values)
        if trace:
            memory, worker = array.memory_tile(0), array.compute_tile(0, array.device.compute_rows[0])
            events = [
                memory.events.event("STREAM_BACKPRESSURE", memory.mm2s[0]),
                *(
                    memory.events.event("FINISHED_BD", channel)
                    for channel in (memory.mm2s[0], memory.s2mm[0])
                ),
                *(worker.events.event("FINISHED_BD", channel) for channel in worker.s2mm),
                *(worker.events.event("STALLED_LOCK", channel) for channel in worker.s2mm),
                worker.events.event("LOCK_STALL"),
            ]
            Tracing(array, events)
        array.route()
        return lambda: array.run(most).cycles

    found: Figures = {}
    for device, whole in GEMMS[512].items():
        values = {**whole, "columns": 2, "rows": 2}  # circuits of traces have links beside those of C
        for name, trace in (("untraced", False), ("traced", True)):
            found[f"{device} {name} cycles/s"] = rate(partial(made, values, trace=trace), rounds)[1]
        found[f"{device} untraced x traced"] = (
            found[f"{device} untraced cycles/s"] / found[f"{device} traced cycles/s"]
        )
    return found


def first_run() -> Figures:
    """Processor time and memory of a run of the demo with nothing compiled, and of one after it."""
    demo = str(Path(__file__).parents[1] / "examples" / "halo_tiling.py")
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)"
    )
    found: Figures = {}
    with tempfile.TemporaryDirectory() as place:
        for name in ("first", "second"):
            command = [sys.executable, "-c", code, sys.executable, "-m", "memtile", "run", demo]
            environment = {**os.environ, "MEMTILE_CACHE": place}
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
            found[f"{name} seconds"], found[f"{name} MB"] = map(float, done.stdout.split())
    found["first x second"] = found["first seconds"] / found["second seconds"]
    return found


def rows(most: int, rounds: int, *, compiles: bool) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """The rows by name; runs end after ``most`` cycles."""
    for side, points in GEMMS.items():
        yield f"plan_gemm{side}", partial(planned, gemm.design, points, most, 1 if side > 512 else rounds)
    yield "gemm512_again", partial(recalled, GEMMS[512], most, rounds)
    yield "gemm2048_again", partial(recalled, GEMMS[2048], most, rounds)
    yield (
        "llama",
        partial(llama, 2048, most) if compiles else lambda: {"missing": "not with the smallest sizes"},
    )
    yield "resnet", partial(resnet, most, rounds)
    yield "gemm16", partial(sixteen_cores, rounds)
    yield "traced", partial(traced, most, rounds)
    yield "first_run", first_run if compiles else lambda: {"missing": "not with the smallest sizes"}
