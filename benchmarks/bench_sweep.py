"""What does a variant of a sweep cost? Processor time of tilings of a GEMM on one column, and as ratios.

Each design comes with several latencies of external memory, as in a sweep over both.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from memtile.explore.sweep import prepared
from memtile.explore.sweep.row import SweepRow, Variant, VariantState
from memtile.explore.sweep.sweep_attempt import Rivals, attempt

GEMM = str(Path(__file__).parents[1] / "examples" / "gemm_tiles.py")
SIDES, DEPTHS, CORES = (16, 32, 64, 128), (1, 2, 3), (1, 2, 4)
DESIGNS, LATENCIES = 24, range(100, 280, 10)


def points() -> list[dict[str, int]]:
    """Tilings by chance, always the same."""
    names = ("tall", "wide", "deep", "depth", "cores")
    every = [dict(zip(names, each, strict=True)) for each in product(SIDES, SIDES, SIDES, DEPTHS, CORES)]
    return random.Random(18).sample(every, DESIGNS)


def tried(rivals: Rivals) -> tuple[list[SweepRow], float]:
    """The rows of all variants, and the processor time of each in milliseconds."""
    began = time.process_time()
    rows = [
        attempt(GEMM, Variant("", {**point, "timing.external_latency": latency}), rivals)
        for point in points()
        for latency in LATENCIES
    ]
    return rows, 1e3 * (time.process_time() - began) / len(rows)


@contextmanager
def without_sharing() -> Iterator[None]:
    """Every design is made anew."""
    before, prepared.RUN_ONLY = prepared.RUN_ONLY, frozenset()
    try:
        yield
    finally:
        prepared.RUN_ONLY = before


def test_variants_of_a_gemm(benchmark) -> None:
    gc.set_threshold(100_000, 20, 20)  # as in the processes of sweeps
    tried(Rivals(("cycles",)))
    rows, each = tried(Rivals(("cycles",)))
    with without_sharing():
        same, alone = tried(Rivals(("cycles",)))
    assert [(row.state, row.why, row.figures) for row in rows] == [
        (row.state, row.why, row.figures) for row in same
    ]
    best = min(row.figures["cycles"] for row in rows if row.state is VariantState.GOOD)
    pruned, early = tried(Rivals(("cycles",), [(best,)]))
    benchmark.extra_info["ms a variant"] = round(each, 2)
    benchmark.extra_info["ms made anew"] = round(alone, 2)
    benchmark.extra_info["x made anew"] = round(alone / each, 2)
    benchmark.extra_info["ms pruned"] = round(early, 2)
    beaten = sum(row.state is VariantState.BEATEN for row in pruned)
    benchmark.extra_info["beaten of 100"] = 100 * beaten // len(pruned)
    benchmark.pedantic(lambda: None)
    assert alone > 1.2 * each
