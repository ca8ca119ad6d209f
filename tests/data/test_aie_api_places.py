"""Do shuffles, loads, stores, iterators and tables of the host's AIE API move each element to its place?"""

from __future__ import annotations

import ctypes
from itertools import chain

import numpy as np
import pytest

from support.cpp.aie_api import BF16, Values, floats, integers, library, run, set_modes

TYPES = (("int8", np.dtype(np.int8), 64), ("int16", np.dtype(np.int16), 32), ("bfloat16", BF16, 32))


flat = chain.from_iterable


@pytest.fixture(autouse=True)
def modes_of_reset() -> None:
    set_modes()


def rows_of(values: Values, size: int) -> list[list[int]]:
    """The words of each vector."""
    return values.view(f"u{values.dtype.itemsize}").reshape(-1, size).tolist()


def shuffled(name: str, x: list[int], y: list[int], p: int) -> list[int]:
    """What UG1529, Reshaping, says becomes of a vector."""
    size = len(x)
    chunks = [x[at : at + p] for at in range(0, size, p)] if p else []
    others = [y[at : at + p] for at in range(0, size, p)] if p else []
    both = chunks + others
    zipped = [pair for two in zip(chunks, others, strict=True) for pair in two]
    results = {
        "up": [0] * p + x[: size - p],
        "down": x[p:] + [0] * p,
        "up_fill": (y[size - p :] + x)[:size],
        "down_fill": (x + y)[p : p + size],
        "up_replicate": [x[0]] * p + x[: size - p],
        "down_replicate": x[p:] + [x[-1]] * p,
        "up_rotate": x[size - p :] + x[: size - p],
        "down_rotate": x[p:] + x[:p],
        "reverse": x[::-1],
        "even": [*flat(chunks[0::2])],
        "odd": [*flat(chunks[1::2])],
        "zip": [*flat(zipped)],
        "unzip": [*flat([*both[0::2], *both[1::2]])],
    }
    return results[name]


@pytest.mark.parametrize(("name", "dtype", "size"), TYPES)
def test_shuffles(name: str, dtype: np.dtype[np.generic], size: int) -> None:
    number = 10_000 // size
    words = np.dtype(f"u{dtype.itemsize}")
    left, right = integers(words, number * size, 1).view(dtype), integers(words, number * size, 2).view(dtype)
    pairs = list(zip(rows_of(left, size), rows_of(right, size), strict=True))
    for check in (
        "up",
        "down",
        "up_fill",
        "down_fill",
        "up_replicate",
        "down_replicate",
        "up_rotate",
        "down_rotate",
    ):
        for p in (1, 2, 7, size - 1):
            found = run(f"{check}_{name}", number, (number * size, dtype), left, right, p=p)
            assert rows_of(found, size) == [shuffled(check, x, y, p) for x, y in pairs], (check, p)
    for check, length in (("even", size // 2), ("odd", size // 2), ("zip", 2 * size), ("unzip", 2 * size)):
        for p in (1, 2, 8, size // 2):
            found = run(f"{check}_{name}", number, (number * length, dtype), left, right, p=p)
            assert rows_of(found, length) == [shuffled(check, x, y, p) for x, y in pairs], (check, p)
    found = run(f"reverse_{name}", number, (number * size, dtype), left)
    assert rows_of(found, size) == [x[::-1] for x, _ in pairs]


@pytest.mark.parametrize(("name", "dtype", "size"), TYPES)
def test_transposes(name: str, dtype: np.dtype[np.generic], size: int) -> None:
    values = np.arange(3 * size).astype(dtype)
    for rows in (1, 2, 8, size):
        found = run(f"transpose_{name}", 3, (3 * size, dtype), values, p=rows)
        expected = values.reshape(3, rows, size // rows).swapaxes(1, 2).reshape(-1)
        assert rows_of(found, size) == rows_of(np.ascontiguousarray(expected), size)


@pytest.mark.parametrize(("name", "dtype", "size"), TYPES)
def test_parts_of_vectors(name: str, dtype: np.dtype[np.generic], size: int) -> None:
    left, right = np.arange(3 * size).astype(dtype), np.arange(1000, 1000 + 3 * size).astype(dtype)
    quarter, half = size // 4, size // 2
    pairs = list(zip(rows_of(left, size), rows_of(right, size), strict=True))
    for p in range(4):
        pushed = run(f"push_{name}", 3, (3 * size, dtype), left, right, p=p)
        assert rows_of(pushed, size) == [[y[p], *x[:-1]] for x, y in pairs]
        expected = []
        for x, y in pairs:
            row = x[: p * quarter] + y[(3 - p) * quarter : (4 - p) * quarter] + x[(p + 1) * quarter :]
            expected.append([y[-1], *row[1:]])
        found = run(f"parts_{name}", 3, (3 * size, dtype), left, right, p=p)
        assert rows_of(found, size) == expected
        found = run(f"grow_{name}", 3, (6 * size, dtype), left, right, p=p)
        assert rows_of(found, 2 * size) == [
            (2 * x)[: p * half] + y[half:] + (2 * x)[(p + 1) * half :] for x, y in pairs
        ]


def halves(values: Values) -> list[list[int]]:
    """Numbers of 4 bits of each vector of 64, the lower index in the lower half of a byte."""
    return np.stack([values & 15, values >> 4], axis=-1).reshape(-1, 64).tolist()


def test_numbers_of_4_bits_move_alone() -> None:
    left, right = integers(np.uint8, 320, 3), integers(np.uint8, 320, 4)
    pairs = list(zip(halves(left), halves(right), strict=True))
    for check, p in (("up_fill", 3), ("down_rotate", 5), ("up_replicate", 1)):
        found = run(f"{check}_int4", 10, (320, np.uint8), left, right, p=p)
        assert halves(found) == [shuffled(check, x, y, p) for x, y in pairs]
    found = run("parts_int4", 10, (320, np.uint8), left, right, p=1)
    assert halves(found) == [[y[-1], *x[1:16], *y[32:48], *x[32:]] for x, y in pairs]


def test_vectors_of_one_value_and_of_steps() -> None:
    values = integers(np.int16, 100, 5)
    assert (run("broadcast", 100, (3200, np.int16), values) == np.repeat(values, 32)).all()
    steps = (values[:, None].astype(np.int64) + 7 * np.arange(32)).astype(np.int16)
    assert (run("iota", 100, (3200, np.int16), values, p=7) == steps.reshape(-1)).all()
    assert not run("zeros", 4, (128, np.int16)).any()
    bytes_ = integers(np.int8, 640, 6)
    assert (run("cast", 10, (160, np.int32), bytes_) == bytes_.view(np.int32)).all()


def test_memory_is_read_and_written_in_order() -> None:
    values = integers(np.int16, 32 * 9, 7)
    assert (run("load_store", 8, (256, np.int16), values[:256]) == values[:256]).all()
    assert (run("unaligned", 8, (256, np.int16), values, p=3) == values[3:259]).all()
    spread = run("unaligned_store", 8, (33 * 8, np.int16), values[:256]).reshape(8, 33)
    assert (spread[:, :32].reshape(-1) == values[:256]).all()
    assert not spread[:, 32].any()
    assert (run("load_floor", 8, (256, np.int16), values, p=5) == values[:256]).all()


def test_iterators_and_buffer_streams() -> None:
    values = integers(np.int16, 320, 8)
    vectors = values.reshape(10, 32)
    backwards = vectors[::-1].copy()
    backwards[0] += 1
    assert (run("iterators", 10, (320, np.int16), values) == backwards.reshape(-1)).all()
    around = vectors[np.arange(10) % 3].reshape(-1)
    assert (run("circular", 10, (320, np.int16), values, p=3) == around).all()
    assert (run("streams", 10, (320, np.int16), values, p=2)[:256] == vectors[2:].reshape(-1)).all()


def test_loops_that_are_written_out_and_iterators_by_type() -> None:
    values = np.arange(100, 132, dtype=np.int16)
    found = run("unrolled", 1, (32, np.int16), values)
    assert found[:16].tolist() == values[::2].tolist()
    assert found[16:25].tolist() == [0, 1, 2, 3, 10, 11, 12, 13, 2]
    values = np.arange(64, dtype=np.int16)
    for p in (3, 5, 9):
        found = run("typed_circles", 1, (16, np.int16), values, p=p)
        assert found[0] == -p % 8
        assert found[1:].tolist() == values.reshape(4, 16)[p % 4, 1:].tolist()


def test_elements_of_bfloat16_are_compared_as_floats_and_vectors_cast_to_lanes() -> None:
    values = floats(160, 9, BF16).reshape(10, 16)
    values[0, :3] = [0.25, -0.5, 0.25]
    x = values.astype(np.float32)
    first = x[:, :1]
    expected = (x > first) | (first >= x) << 1 | (x == first) << 2 | (x < 0.25) << 3 | (x != 0.25) << 4
    assert (run("compared_elements", 10, (160, np.uint8), values) == expected.reshape(-1)).all()
    halves = integers(np.int16, 160, 10)
    assert (run("cast_to_lanes", 10, (80, np.int32), halves) == halves.view(np.int32)).all()


def test_tensors_of_vectors_are_walked_innermost_dimension_first() -> None:
    """DEV-AIEAPI-9: the outermost one goes on without end; more than three are streams of streams."""
    values = integers(np.int16, 40 * 16, 15)
    vectors = values.reshape(-1, 16)
    order = [2 + 7 * x - 2 * y + z for x, y, z in np.ndindex(4, 2, 3)]  # of three steps, one more
    found = (
        run("tensors", 24, (24 * 16, np.int16), values, p=3).reshape(2, 12, 16).swapaxes(0, 1).reshape(24, 16)
    )
    assert (found == vectors[order]).all()
    order = [8 * v + 4 * w + 2 * y + z for v, w, _, y, z in np.ndindex(2, 2, 2, 2, 2)][:24]
    found = (
        run("tensors", 6, (24 * 16, np.int16), values, p=5).reshape(2, 12, 16).swapaxes(0, 1).reshape(24, 16)
    )
    assert (found == vectors[order]).all()


def test_iterators_without_alignment_and_over_buffers() -> None:
    values = integers(np.int16, 330, 11)
    found = run("unaligned_iterators", 10, (321, np.int16), values, p=5)
    assert (found[1:] == values[5:325]).all()
    assert (run("buffers", 10, (320, np.int16), values) == values[:320]).all()


def test_accesses_state_their_bytes_and_alignment() -> None:
    """UG1529, Memory: 32 bytes on AIE-ML, 64 on AIE2P, the element for unaligned accesses."""
    for generation, width in (("AIE-ML", 32), ("AIE2P", 64)):
        checks = library(sanitize=True, generation=generation)
        values = np.zeros(64, np.int16)
        before, after = (ctypes.c_uint64 * 5)(), (ctypes.c_uint64 * 5)()
        checks.get_seen(before)
        run("load_store", 1, (64, np.int16), values, where=checks)
        checks.get_seen(after)
        assert [new - old for new, old in zip(after[:3], before[:3], strict=True)] == [1, 1, 0]
        assert after[3:] == [64, width]
        run("unaligned_store", 1, (64, np.int16), values, where=checks)
        checks.get_seen(after)
        assert (after[2] - before[2], *after[3:]) == (1, 64, width), "written by way of its windows"
        run("circular", 1, (64, np.int16), values, p=1, where=checks)
        checks.get_seen(after)
        assert after[4] == width


def twice(table: Values) -> Values:
    """A table as UG1529 wants it in memory: each 128 bits two times."""
    lines = table.reshape(-1, 16 // table.dtype.itemsize)
    return np.repeat(lines, 2, axis=0).reshape(-1)


def test_tables() -> None:
    table, values = integers(np.int16, 256, 9), integers(np.int16, 3200, 10)
    for p in (0, 128, -5):
        index = (values.astype(np.int64) >> 2) + p
        found = run("lookup_low_bits", 100, (3200, np.int16), values, twice(table), p=p)
        assert (found == table[index % 256]).all()
        held = table[np.clip(index, 0, 255)]
        checked = run("linear", 200, (3200, np.int64), values, twice(table[:128]), p=p)
        places = np.clip((values.astype(np.int64) >> 4) + p, 0, 63)
        slopes, offsets = table[0:128:2].astype(np.int64), table[1:128:2].astype(np.int64)
        assert (checked == slopes[places] * (values.astype(np.int64) & 15) + offsets[places] * 8).all()
        assert (run("lookup", 100, (3200, np.int16), values, twice(table), p=p) == held).all()


@pytest.mark.parametrize("step", [-2, 0, 3])
def test_a_line_for_each_piece_of_the_values_of_bfloat16(step: int) -> None:
    """DEV-AIEAPI-8: a slope is the upper half of its 32 bits; sums are rounded once."""
    values = floats(3200, 12, BF16)
    values[:400] = (np.arange(400) / 16 - 12).astype(BF16)
    table = floats(64, 13)
    piece = np.clip(np.floor(values.astype(np.float64) * 2.0**-step) + 16, 0, 31).astype(int)
    slopes = (table[0::2].view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    with np.errstate(over="ignore"):
        lines = (slopes[piece] * values.astype(np.float64) + table[1::2].astype(np.float64)[piece]).astype(
            np.float32
        )
    found = run("linear_bfloat16", 200, (3200, np.float32), values, twice(table), p=step)
    assert (found == lines).all()
