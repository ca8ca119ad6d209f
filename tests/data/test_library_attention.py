"""The steps of attention in both of mlir-aie's kernels, each against loops over queries and keys."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import DesignError
from memtile.kernels import aie

BF16 = ml_dtypes.bfloat16
LIBRARY = aie.library("npu2", b_columns=False)
LOWEST = -(2.0**127) * (2 - 2.0**-7)
SIDE = 64


def blocked(x: Any, high: int = 8, wide: int = 8) -> Any:
    """A matrix in blocks, each row-major."""
    rows, columns = x.shape
    out = [
        x[at + row, left + column]
        for at in range(0, rows, high) for left in range(0, columns, wide)
        for row in range(high) for column in range(wide)
    ]  # fmt: skip
    return np.array(out, x.dtype)


def rows_of(flat: Any, rows: int, columns: int, high: int = 8, wide: int = 8) -> Any:
    """The matrix of its blocks."""
    found, at = np.zeros((rows, columns), flat.dtype), iter(flat.tolist())
    for top in range(0, rows, high):
        for left in range(0, columns, wide):
            for row in range(high):
                for column in range(wide):
                    found[top + row, left + column] = next(at)
    return found


def numbers(seed: int, *shape: int, size: float = 1.0) -> Any:
    return np.random.default_rng(seed).normal(0, size, shape).astype(BF16)


@pytest.mark.parametrize("emulated", [0, 1])
@pytest.mark.parametrize("b_columns", [False, True])
def test_scores_of_a_block(emulated: int, b_columns: bool) -> None:
    m, k, n, r = 16, 24, 32, 8 if emulated else 4
    library = aie.library(
        "npu2", b_columns=b_columns, defines={"AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16": emulated}
    )
    a, b, c = numbers(1, m, k), numbers(2, k, n), numbers(3, m, n)
    given = blocked(b.T) if b_columns else blocked(b)
    sums = blocked(c, r)
    library["matmul_bf16_bf16_wrapper"](blocked(a, r), given, sums, np.array([1, 1], np.int32))
    found = rows_of(sums, m, n, r)
    exact = c.astype(float) + a.astype(float) @ b.astype(float)
    assert found.tolist() == exact.astype(np.float32).astype(BF16).tolist()
    library["matmul_bf16_bf16_wrapper"](blocked(a, r), given, sums, np.array([2, 1], np.int32))
    assert rows_of(sums, m, n, r).tolist() == found.tolist()  # keys after all queries


def test_products_of_rows() -> None:
    a, b, c = numbers(1, 16, 8), numbers(2, 8, 24), np.zeros((16, 24), BF16)
    sums, scalar = blocked(c), c.copy()
    LIBRARY["matmul_bf16_bf16_rowmaj"](blocked(a), blocked(b), sums)
    LIBRARY["matmul_bf16_bf16_wrapper_scalar"](a, b, scalar)
    wanted = (a.astype(float) @ b.astype(float)).astype(np.float32).astype(BF16)
    assert rows_of(sums, 16, 24).tolist() == wanted.tolist()
    steps = np.zeros((16, 24), BF16)  # the scalar function rounds after each product
    for k in range(8):
        steps = (steps + np.outer(a[:, k].astype(float), b[k])).astype(np.float32).astype(BF16)
    assert scalar.tolist() == steps.tolist()


def attention(q_block: int, blocks: int, all_queries: int, all_keys: int, state_type: Any) -> tuple[Any, Any]:
    """One block of queries over blocks of keys, by the four steps; outputs and weights of the last block."""
    scale, step = 0.25, LIBRARY
    state = np.zeros(4 * SIDE, state_type)
    outputs = np.zeros(SIDE * SIDE, state_type)
    step["init_scale_buffer"](state, SIDE)
    p = np.zeros((SIDE, SIDE), BF16)
    for block in range(blocks):
        index = np.array([block, q_block], np.int32)
        scores = numbers(10 + block, SIDE, SIDE, size=4)
        values = blocked(numbers(20 + block, SIDE, SIDE))
        sizes = (SIDE, SIDE, all_queries, all_keys)
        step["partial_softmax"](scores, p, state, index, scale, *sizes)
        step["matmul_PV"](
            blocked(p),
            values,
            outputs,
            state,
            SIDE,
            block,
            index,
            *([all_keys] if state_type != BF16 else []),
        )
    index = np.array([0, q_block], np.int32)
    if state_type == BF16:
        step["rescale_O"](outputs, state, SIDE, index)
        return rows_of(outputs, SIDE, SIDE), p
    divided = np.zeros(SIDE * SIDE, BF16)
    step["rescale_O"](outputs, divided, state, SIDE, index)
    return rows_of(divided, SIDE, SIDE), p


@pytest.mark.parametrize(
    ("q_block", "blocks", "all_queries", "all_keys"),
    [(0, 1, 64, 64), (1, 2, 128, 128), (0, 2, 64, 128), (0, 1, 37, 37), (2, 3, 150, 150), (1, 2, 70, 100)],
)
@pytest.mark.parametrize("state_type", [np.float32, BF16])
def test_a_row_of_blocks_is_softmax(
    q_block: int, blocks: int, all_queries: int, all_keys: int, state_type: Any
) -> None:
    """Blocks after the queries and padding weigh nothing; mlir-aie compares with 5 % and 0.5."""
    found, _ = attention(q_block, blocks, all_queries, all_keys, state_type)
    for row in range(SIDE):
        query = q_block * SIDE + row
        total, sums = 0.0, np.zeros(SIDE)
        if query < all_queries:
            for key in range(min(query + 1, all_keys, blocks * SIDE)):
                score = float(numbers(10 + key // SIDE, SIDE, SIDE, size=4)[row, key % SIDE])
                weight = 2.0 ** (0.25 * score)
                total += weight
                sums += weight * numbers(20 + key // SIDE, SIDE, SIDE)[key % SIDE].astype(float)
        wanted = sums / total if total else sums
        np.testing.assert_allclose(found[row].astype(float), wanted, rtol=0.05, atol=0.02)


def test_weights_of_the_block_on_the_diagonal() -> None:
    """Each weight is 2 to the power of the difference from the largest, to nearest; others are 0."""
    scores, p = numbers(5, SIDE, SIDE, size=3), np.ones((SIDE, SIDE), BF16)
    state = np.zeros(4 * SIDE, np.float32)
    given = scores.copy()
    LIBRARY["init_scale_buffer"](state, SIDE)
    assert state.tolist() == [LOWEST] * SIDE + [0.0] * 2 * SIDE + [0.0] * SIDE
    LIBRARY["partial_softmax"](scores, p, state, np.array([0, 0], np.int32), 0.5, SIDE, SIDE, 60, 64)
    for row in range(60):
        kept = given[row, : row + 1].astype(float) * 0.5
        largest = float(BF16(kept.max()))
        weights = [float(np.float32(2.0 ** (x - largest)).astype(BF16)) for x in kept]
        np.testing.assert_allclose(p[row, : row + 1].astype(float), weights, rtol=2**-8)
        assert not p[row, row + 1 :].any()
        assert (scores[row, row + 1 :].astype(float) == LOWEST).all()
        assert state[row] == largest
        assert state[2 * SIDE + row] == pytest.approx(float(p[row].astype(float).sum()), rel=1e-6)
        assert state[3 * SIDE + row] == 0  # what was before the first block weighs nothing
    assert not p[60:].any()


def test_values_that_are_no_keys_become_zero() -> None:
    """They may hold anything, and 0 times NaN is NaN (mlir-aie ``mha.cc``)."""
    values = numbers(6, SIDE, SIDE)
    values[40:] = np.nan
    p = numbers(7, SIDE, SIDE)
    p[:, 40:] = 0
    c, given = np.zeros(SIDE * SIDE, np.float32), blocked(values)
    state = np.zeros(4 * SIDE, np.float32)
    LIBRARY["matmul_PV"](blocked(p), given, c, state, SIDE, 0, np.array([1, 1], np.int32), 104)
    assert not rows_of(given, SIDE, SIDE)[40:].any()
    exact = p[:, :40].astype(float) @ values[:40].astype(float)
    np.testing.assert_allclose(rows_of(c, SIDE, SIDE), exact, rtol=1e-5, atol=1e-5)


def test_a_window_ends_at_its_last_key() -> None:
    """Of a window of 4 a query sees itself and the three keys before it."""
    q, k = np.ones((8, 512), BF16), np.ones((8, 512), BF16)
    s, m, before = np.zeros(1024, BF16), np.zeros(64, BF16), np.full(8, LOWEST, BF16)
    begin, window = np.zeros(1, np.int32), np.full(1, 4, np.int32)
    LIBRARY["prefill_qk_step"](s, blocked(q), keys_in_blocks(k), m, before, begin, window, 0, 0, 0, 0, 0)
    seen = (s[:64].reshape(8, 8).astype(float) == 512).tolist()
    assert seen == [[query - 4 < key <= query for key in range(8)] for query in range(8)]


# prefill: 8 queries of 512 numbers, or 16 of 256, over 128 keys


def keys_in_blocks(keys: Any) -> Any:
    """K of a step as the kernel reads it: blocks of 8 keys by 8 numbers, keys first."""
    side, size = keys.shape
    return np.concatenate([
        keys[top : top + 8, left : left + 8].reshape(-1)
        for left in range(0, size, 8) for top in range(0, side, 8)
    ])  # fmt: skip


def values_in_blocks(values: Any) -> Any:
    """V of a step: blocks of 8 keys by 8 numbers, the keys of 8 numbers together."""
    side, size = values.shape
    return np.concatenate([
        values[top : top + 8, left : left + 8].reshape(-1)
        for left in range(0, size, 8) for top in range(0, side, 8)
    ])  # fmt: skip


@pytest.mark.parametrize(("size", "side", "row", "column"), [(512, 8, 1, 2), (512, 8, 0, 1), (256, 16, 1, 0)])
@pytest.mark.parametrize("window", [1 << 20, 100])
def test_a_round_of_prefill_is_softmax(size: int, side: int, row: int, column: int, window: int) -> None:
    first = {8: (column >> 1) * 64 + (column & 1) * 8 + row * 16, 16: column * 16 + row * 32}[side] + 128
    tile = column & 1 if side == 8 else column
    q = numbers(1, (tile + 1) * side, size)
    keys, values = numbers(2, 256, size), numbers(3, 256, size)
    before, now = np.zeros(side, BF16), np.zeros(side, BF16)
    c, sums, y = np.zeros(side, np.float32), np.zeros(side, np.float32), np.zeros(side * size, np.float32)
    step = aie.library("npu2", rounding="conv_even")
    step["prefill_round_begin"](before, now, c, sums, y)
    assert (before.astype(float) == LOWEST).all()
    assert (c == 1).all()
    begin, width = np.array([0], np.int32), np.array([window], np.int32)
    start = max(128 - window, 0)
    blocks = (128 - start) // 128 + 1
    largest = np.zeros(side * side, BF16)
    for block in range(blocks):
        s = np.zeros(side * 128, BF16)
        for at in range(128 // side):
            here = start + (block * (128 // side) + at) * side
            part = np.zeros((side, size), BF16)
            part[: len(keys[here : here + side])] = keys[here : here + side]
            place = (row, column, 1, block, at)
            step["prefill_qk_step"](
                s, blocked(q), keys_in_blocks(part), largest, before, begin, width, *place
            )
        step["prefill_block_mid"](s, largest, now, before, c, sums, y)
        for at in range(128 // side):
            here = start + (block * (128 // side) + at) * side
            part = np.zeros((side, size), BF16)
            part[: len(values[here : here + side])] = values[here : here + side]
            step["prefill_fv_step"](y, s, values_in_blocks(part), at)
    outputs = np.zeros(side * size, BF16)
    for chunk in range(side * size // 64):
        step["prefill_epilogue"](outputs[chunk * 64 : chunk * 64 + 64], sums, y, chunk)
    found = rows_of(outputs, side, size)
    for query in range(side):
        own = first + query
        seen = [key for key in range(start, start + 128 * blocks) if own - window < key <= own]
        scores = [
            float(q[tile * side + query].astype(float) @ keys[key].astype(float)) / size**0.5 for key in seen
        ]
        weights = np.exp(np.array(scores) - max(scores))
        wanted = weights @ values[seen].astype(float) / weights.sum()
        np.testing.assert_allclose(found[query].astype(float), wanted, rtol=0.05, atol=0.02)


@pytest.mark.parametrize(("size", "side"), [(512, 8), (256, 16)])
def test_values_are_summed_in_float32_in_the_order_of_their_keys(size: int, side: int) -> None:
    """Contract of prefill_fv: 1e-5, on products that cancel as well."""
    s, v = numbers(4, side, side, size=100), numbers(5, side, size, size=100)
    y = np.zeros(side * size, np.float32)
    LIBRARY["prefill_fv_step"](y, blocked(s), values_in_blocks(v), 0)
    found = rows_of(y, side, size)
    for query in range(side):
        for at in range(0, size, 37):
            total = np.float32(0)
            for key in range(side):
                total += np.float32(s[query, key]) * np.float32(v[key, at])
            assert found[query, at] == total


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (
            "prefill_fv_step",
            (np.zeros(4096, np.float32), np.zeros(100, BF16), np.zeros(4096, BF16), 0),
            "64, 1024",
        ),
        (
            "matmul_bf16_bf16_rowmaj",
            (np.zeros(16, BF16),) * 3,
            "m, k, n is 4, 4, 4; it must be multiples of 8",
        ),
        ("rescale_O", (np.zeros(64, BF16), np.zeros(16, BF16), 4, np.zeros(2, np.int32)), "a multiple of 8"),
        ("rescale_O", (np.zeros(64, BF16), 4, np.zeros(2, np.int32)), "o, c, state, queries, index"),
        (
            "init_scale_buffer",
            (np.zeros(8, BF16), 4),
            "the length of state is 8 elements; it must be at least 12",
        ),
    ],
)
def test_what_does_not_fit_is_refused(name: str, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        LIBRARY[name](*arguments)
