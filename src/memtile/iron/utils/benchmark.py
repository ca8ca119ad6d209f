"""``aie.utils.benchmark``: how long calls take; the array's time is the model's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Stats:
    """Microseconds."""

    avg_us: float
    min_us: float
    max_us: float


@dataclass
class BenchmarkResult:
    """Of the call, and of the array."""

    e2e: Stats
    npu: Stats | None


def _stats(samples: list[float]) -> Stats:
    return Stats(sum(samples) / len(samples), min(samples), max(samples))


def run_iters(
    fn: Callable[..., Any], *args: Any, warmup: int = 0, iters: int = 1, **kwargs: Any
) -> BenchmarkResult:
    """Call a design ``warmup + iters`` times and take the times of the last ``iters``.

    Raises:
        ValueError: no call is to be timed.
    """
    if iters < 1 or warmup < 0:
        raise ValueError(f"iters is at least 1 and warmup at least 0, not {iters} and {warmup}")
    whole, array = [], []
    for turn in range(warmup + iters):
        begins = time.perf_counter()
        done = fn(*args, **kwargs)
        took = (time.perf_counter() - begins) * 1e6
        if turn < warmup:
            continue
        whole.append(took)
        ns = getattr(done[1] if isinstance(done, tuple) and len(done) > 1 else done, "npu_time", None)
        if ns is not None:
            array.append(ns / 1000)
    return BenchmarkResult(_stats(whole), _stats(array) if array else None)


def print_benchmark(result: BenchmarkResult) -> None:
    """Average, least and most."""
    for name, stats in (("NPU time    ", result.npu), ("End-to-end  ", result.e2e)):
        if stats is not None:
            print(f"{name} (avg/min/max us): {stats.avg_us:.1f} / {stats.min_us:.1f} / {stats.max_us:.1f}")
