"""How fast are address walks and data movement along them? Rates are in extra_info, in words per second."""

from __future__ import annotations

import numpy as np
import pytest

from memtile.access.move import WHOLE, copy, gather, scatter, strips
from memtile.access.walk import Walk, addresses
from processor_time import processor_time

WORDS = (1 << 17) - 1  # the longest memory tile BD
MEMORY = np.arange(1 << 20, dtype=np.uint32)

PLAIN = {
    "linear": Walk(0, WORDS),
    "transpose": Walk(0, WORDS, (512, 1), (256,)),
    "pairs": Walk(0, WORDS, (5, 3), (2,)),
    "tiles-4d": Walk(0, WORDS, (1, 64, 8, 512), (8, 8, 8)),
}
PADDED = {
    "halo-8x8x8": Walk(0, WORDS, (1, 64, 8, 512), (8, 8, 8), (1, 1, 1), (1, 1, 1)),
    "halo-62x62": Walk(0, WORDS, (1, 64, 4096), (62, 62), (1, 1), (1, 1)),
    "every-other": Walk(0, WORDS, (1, 3), (1,), (1,)),
}


def words_per_second(benchmark, call) -> float:
    benchmark(call)
    benchmark.extra_info["Mwords/s"] = round(WORDS / benchmark.stats.stats.min / 1e6)
    return WORDS / benchmark.stats.stats.min


def best_of(call, rounds: int = 15) -> float:
    times = []
    for _ in range(rounds):
        start = processor_time()
        call()
        times.append(processor_time() - start)
    return min(times)


@pytest.mark.parametrize("name", [*PLAIN, *PADDED])
def test_addresses(benchmark, name) -> None:
    words_per_second(benchmark, lambda: addresses((PLAIN | PADDED)[name]))


@pytest.mark.parametrize("name", [*PLAIN, *PADDED])
def test_gather_against_take(benchmark, name) -> None:
    walk = (PLAIN | PADDED)[name]
    index = np.maximum(addresses(walk), 0)
    rate = words_per_second(benchmark, lambda: gather(MEMORY, walk))
    ratio = rate * best_of(lambda: np.take(MEMORY, index)) / WORDS
    benchmark.extra_info["of numpy.take"] = round(ratio, 2)
    assert ratio >= 0.3


@pytest.mark.parametrize("name", PLAIN)
def test_scatter(benchmark, name) -> None:
    walk = PLAIN[name]
    data = gather(MEMORY, walk)
    memory = MEMORY.copy()
    words_per_second(benchmark, lambda: scatter(memory, walk, data))


@pytest.mark.parametrize(
    ("rows", "columns", "least"),
    [
        *((256, 512, 1.6), (1024, 1024, 2.5), (64, 2048, 1.15), (128, 768, 1.6), (320, 320, 1.6)),
        *((32, 4096, 0.8), (360, 360, 0.8), (64, 64, 0.7)),
    ],
)
def test_a_transpose_by_blocks_against_a_plain_one(benchmark, rows, columns, least) -> None:
    """Of NumPy's own copy, which is what is done where nothing is gained (the last three)."""
    held = MEMORY[: rows * columns].reshape(rows, columns).T
    out = np.empty(held.shape, np.uint32)
    cut = strips(held.shape, out.strides, held.strides)
    benchmark(lambda: copy(out, held, cut))
    plain, blocks = float("inf"), float("inf")
    for _ in range(40):  # in turn: what others do on the machine takes from both
        plain = min(plain, best_of(lambda: copy(out, held, WHOLE), 1))
        blocks = min(blocks, best_of(lambda: copy(out, held, cut), 1))
    benchmark.extra_info["x plain"] = round(plain / blocks, 2)
    benchmark.extra_info["ns/word"] = round(blocks / out.size * 1e9, 2)
    assert plain / blocks >= least
