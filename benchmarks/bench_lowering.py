"""How long does lowering take? Reported per request, certificate included."""

from __future__ import annotations

import random

from memtile.access.lowering.lower import lower
from memtile.access.tiling import TilingParameters, TraversingParameters, tiling_elements
from memtile.errors import TransferError

TRANSPOSE = TilingParameters((1024, 1024), (1, 1024), (), (TraversingParameters(0, 1, 1024),))
MANY = 1000


def random_tiling(rng: random.Random) -> TilingParameters:
    rank = rng.randint(1, 4)
    sizes = [rng.randint(1, 12) for _ in range(rank)]
    tile = [rng.randint(1, 6) for _ in range(rank)]
    offset = [rng.choice((0, 0, 0, rng.randint(-2, 2))) for _ in range(rank)]
    loops = [
        TraversingParameters(d, rng.randint(1, max(sizes[d], tile[d])), rng.randint(1, 4))
        for d in rng.sample(range(rank), rng.randint(0, rank))
    ]
    return TilingParameters(
        tuple(sizes), tuple(tile), tuple(offset), tuple(loops), repetition=rng.choice((1, 1, 2))
    )


def test_lower_megaword_transpose(benchmark) -> None:
    request = TRANSPOSE.request(32)
    benchmark(lambda: lower(request, "interface"))


def test_enumerate_megaword_transpose(benchmark) -> None:
    benchmark(lambda: tiling_elements(TRANSPOSE))


def test_lower_and_certify_a_thousand_random_tilings(benchmark) -> None:
    rng = random.Random(0)
    requests = [random_tiling(rng).request(32) for _ in range(MANY)]

    def lower_all() -> int:
        lowered = 0
        for request in requests:
            try:
                lowered += lower(request).certificate.holds
            except TransferError:
                continue
        return lowered

    assert benchmark.pedantic(lower_all, rounds=1) > 0.9 * MANY
    benchmark.extra_info["ms each"] = round(1e3 * benchmark.stats.stats.min / MANY, 2)
