"""Do cores that share a product of matrices over their cascade get that of one core?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import Array, Status
from memtile.errors import DesignError
from memtile.kernels import aie
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core

DTYPES = {"i16": np.int16, "i32": np.int32, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
NAMES = ("put_only", "put_get", "put_get", "get_only")


def shared(names: list[str], operands: list[tuple[Any, Any]], c: Any) -> np.ndarray:
    """What the last of a row of cores makes of c, each with its part of the operands."""
    array, library = Array("npu1", 4), aie.library("npu1")
    tiles = [array.compute_tile(n, 2) for n in range(4)]
    for tile, following in pairwise(tiles):
        tile.cascade_to(following)
    results = [np.zeros_like(c), np.zeros_like(c), np.zeros_like(c), c.copy()]

    def kernel(n: int) -> Any:
        def run(core: Core) -> Iterator[Action]:
            a, b = operands[n]
            yield from library[names[n]](a, b, results[n], core=core)

        return run

    for n, tile in enumerate(tiles):
        tile.run_kernel(kernel(n))
    assert array.run().status is Status.FINISHED
    return results


def parts(rng: np.random.Generator, kind: str, high: int) -> list[tuple[Any, Any]]:
    drawn = [(rng.integers(-high, high, (4, 8)), rng.integers(-high, high, (8, 6))) for _ in range(4)]
    return [(a.astype(DTYPES[kind]), b.astype(DTYPES[kind])) for a, b in drawn]


@pytest.mark.parametrize("pair", ["i16_i16", "i16_i32", "i32_i32", "bf16_bf16", "bf16_f32"])
def test_four_cores_in_a_row_add_their_products(pair: str) -> None:
    kind, out = pair.split("_")
    rng = np.random.default_rng(3)
    operands = parts(rng, kind, 3 if "bf16" in pair else 200)
    start = rng.integers(-9, 9, (4, 6)).astype(DTYPES[out])
    results = shared([f"matmul_scalar_cascade_{name}_{pair}" for name in NAMES], operands, start)
    exact = start.astype(np.int64) + sum(a.astype(np.int64) @ b.astype(np.int64) for a, b in operands)
    if out == "bf16":  # whole numbers, rounded by each core on the way
        assert np.allclose(results[3].astype(float), exact, atol=2)
    else:
        assert np.array_equal(results[3], exact.astype(DTYPES[out]))
    assert not any(result.any() for result in results[:3])


def test_fractions_are_lost_on_the_way() -> None:
    """cascade_mm.cc converts the sum to an int: towards zero."""
    ones = np.ones((1, 1), np.float32).astype(ml_dtypes.bfloat16)
    operands = [((ones * x).astype(ones.dtype), ones) for x in (2.75, 0.0, -5.5, 0.25)]
    names = [f"matmul_scalar_cascade_{name}_bf16_f32" for name in NAMES]
    assert shared(names, operands, np.zeros((1, 1), np.float32))[3][0, 0] == -3 + 0.25


def test_blocks_go_on_through_all_cores() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(-1000, 1000, (2, 16, 16)).astype(np.int32)
    blocks = [
        (
            a[:, 4 * n : 4 * n + 4].reshape(4, 4, 1, 4).transpose(2, 0, 1, 3).copy(),
            b[4 * n : 4 * n + 4].reshape(1, 4, 4, 4).transpose(2, 0, 1, 3).copy(),
        )
        for n in range(4)
    ]
    names = [f"matmul_scalar_{name}_4x1x4_4x4x4_i32_i32" for name in ("put", "put_get", "put_get", "get")]
    results = shared(names, blocks, np.zeros((4, 4, 4, 4), np.int32))
    assert np.array_equal(results[3].transpose(1, 2, 0, 3).reshape(16, 16), a @ b)


def words_after(name: str, operands: tuple[Any, Any, Any], given: list[Any]) -> list[Any]:
    """The values that a core puts on its cascade when a function of the library gets the given ones."""
    array, library = Array("npu1", 3), aie.library("npu1")
    tiles = [array.compute_tile(n, 2) for n in range(3)]
    for tile, following in pairwise(tiles):
        tile.cascade_to(following)
    found: list[Any] = []

    def sender(core: Core) -> Iterator[Action]:
        for each in given:
            yield core.put_cascade(each)

    def receiver(core: Core) -> Iterator[Action]:
        while True:
            found.append((yield core.get_cascade()).copy())

    tiles[0].run_kernel(sender)
    tiles[1].run_kernel(lambda core: library[name](*operands, core=core))
    tiles[2].run_kernel(receiver)
    array.run()
    return found


def test_lanes_beside_a_sum_go_on_as_they_came() -> None:
    """As the compiled kernel does (tests/oracle/kernel_campaign.py)."""
    one = np.ones((1, 1), np.int32)
    given = np.arange(100, 116, dtype=np.int32)
    (found,) = words_after("matmul_scalar_cascade_put_get_i32_i32", (2 * one, 3 * one, 0 * one), [given])
    assert [*found] == [106, *range(101, 116)]


def test_blocks_go_on_row_by_row() -> None:
    """c lies by columns of blocks, its numbers go by rows (tests/oracle/kernel_campaign.py)."""
    a = np.array([1, 10], np.int32).reshape(1, 2, 1, 1)
    b = np.array([1, 2], np.int32).reshape(2, 1, 1, 1)
    found = words_after("matmul_scalar_put_2x1x2_1x1x1_i32_i32", (a, b, np.zeros((2, 2, 1, 1), np.int32)), [])
    assert [int(each[0]) for each in found[::2]] == [1, 2, 10, 20]


def test_a_target_with_gaps_is_written_at_the_end() -> None:
    rng = np.random.default_rng(3)
    operands = parts(rng, "i32", 50)
    array, library = Array("npu1", 2), aie.library("npu1")
    tiles = [array.compute_tile(n, 2) for n in range(2)]
    tiles[0].cascade_to(tiles[1])
    wide = np.zeros((4, 12), np.int32)

    def first(core: Core) -> Iterator[Action]:
        call = library["matmul_scalar_cascade_put_only_i32_i32"]
        yield from call(*operands[0], np.zeros((4, 6), np.int32), core=core)

    def second(core: Core) -> Iterator[Action]:
        call = library["matmul_scalar_cascade_get_only_i32_i32"]
        yield from call(*operands[1], wide[:, ::2], core=core)

    tiles[0].run_kernel(first)
    tiles[1].run_kernel(second)
    array.run()
    assert np.array_equal(wide[:, ::2], sum(a @ b for a, b in operands[:2]))
    assert not wide[:, 1::2].any()


def test_a_call_without_core_is_refused() -> None:
    zeros = np.zeros((2, 2), np.int32)
    with pytest.raises(DesignError, match="core is none; it must be the core that calls it"):
        aie.library("npu1")["matmul_scalar_cascade_put_only_i32_i32"](zeros, zeros, zeros)
