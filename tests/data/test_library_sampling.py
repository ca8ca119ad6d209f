"""Drawing tokens, against a draw over the whole row in exact fractions of its own."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import DesignError
from memtile.corelib.sampling import exp64
from memtile.kernels import aie

BF16 = ml_dtypes.bfloat16
COLUMNS, SLICE, MOST = 3, 70, 8
DEFINES = {"SAMPLE_SLICE": SLICE, "SAMPLE_K_MAX": MOST, "SAMPLE_COLUMNS": COLUMNS}
LIBRARY = aie.library("npu2", defines=DEFINES)
WORDS = 8 + 2 * MOST + -(-SLICE // 32)
RNG = np.random.default_rng(53)


def row_of(temperature: float, most: int, number: int) -> Any:
    bits = int(np.array(temperature, np.float32).view(np.int32))
    words = [bits, most, number & 0xFFFFFFFF, number >> 32]
    return np.array([word - (word >> 31 << 32) for word in words], np.int64).astype(np.int32)


def drawn(logits: Any, row: Any, chunk: int) -> int:
    """By the library: a summary of each column, then the token."""
    summaries = np.full(COLUMNS * WORDS, -1, np.int32)
    state = np.zeros(272, np.int32)
    for column in range(COLUMNS):
        own = logits[column * SLICE : (column + 1) * SLICE]
        summary = summaries[column * WORDS : (column + 1) * WORDS]
        for _ in range(1 if chunk == SLICE else 2):
            for begin in range(0, SLICE, chunk):
                LIBRARY["sample_select"](own[begin : begin + chunk], row, state, summary)
        assert not state[:2].any()  # as before the first call
    token, record = np.zeros(1, np.int32), np.zeros(1, np.int32)
    LIBRARY["sample_combine"](summaries, row, token, record)
    assert token == record
    return int(token[0])


def wanted(logits: Any, temperature: float, most: int, number: int) -> int:
    """The first token whose share of all weights is above the number."""
    values = [float(x) for x in logits]
    if not temperature:
        return values.index(max(values))
    least = sorted(values, reverse=True)[min(max(most, 1), MOST) - 1]
    single = np.float32
    top = single(max(values)) / single(temperature)
    weights = {
        n: Fraction(float(exp64(np.float64(single(x) / single(temperature) - top))))
        for n, x in enumerate(values)
        if x >= least
    }
    share, before = Fraction(number, 2**53) * sum(weights.values()), Fraction(0)
    for n, weight in weights.items():
        before += weight
        if before > share:
            return n
    raise AssertionError


@pytest.mark.parametrize("chunk", [10, 70, 14])
@pytest.mark.parametrize("kind", ["random", "ties", "flat", "wide"])
def test_a_token_is_drawn_by_its_share(chunk: int, kind: str) -> None:
    for _ in range(25):
        logits = {
            "random": RNG.normal(0, 3, COLUMNS * SLICE),
            "ties": RNG.integers(-3, 3, COLUMNS * SLICE),
            "flat": np.zeros(COLUMNS * SLICE) * RNG.choice([-1.0, 1.0], COLUMNS * SLICE),
            "wide": RNG.normal(0, 300, COLUMNS * SLICE),
        }[kind].astype(BF16)
        temperature = float(RNG.choice([0.0, 0.5, 1.0, 1.7]))
        most, number = int(RNG.integers(0, 12)), int(RNG.integers(0, 2**53))
        row = row_of(temperature, most, number)
        assert drawn(logits, row, chunk) == wanted(logits, temperature, most, number)


@pytest.mark.parametrize("number", [0, 2**53 - 1])
def test_the_least_and_the_largest_number(number: int) -> None:
    logits = np.zeros(COLUMNS * SLICE, BF16)
    assert drawn(logits, row_of(1.0, 4, number), SLICE) == (0 if not number else COLUMNS * SLICE - 1)


def test_a_token_at_the_border_is_the_next_one() -> None:
    """Two tokens of one weight: half the numbers draw each, and the half itself the second."""
    logits = np.full(COLUMNS * SLICE, -1.0, BF16)
    logits[[7, 100]] = 1.0
    border = 2**52
    assert [drawn(logits, row_of(1.0, 2, at), SLICE) for at in (border - 1, border)] == [7, 100]


def test_a_summary_is_laid_out_as_the_host_reads_it() -> None:
    """mlir-aie ``sample.h``: tau, entries, largest key, its first index, ties; pairs; a bit for each tie."""
    logits = np.full(SLICE, -1.0, BF16)
    logits[5], logits[40], logits[[3, 33, 69]] = 4.0, 8.0, 2.0
    summary, state = np.full(WORDS, -1, np.int32), np.zeros(272, np.int32)
    LIBRARY["sample_select"](logits, row_of(1.0, 4, 0), state, summary)
    key = {2.0: 0xC000, 4.0: 0xC080, 8.0: 0xC100}
    assert summary[:8].tolist() == [key[2.0], 2, key[8.0], 40, 3, 0, 0, 0]
    assert summary[8:12].tolist() == [5, key[4.0], 40, key[8.0]]
    assert summary[8 + 2 * MOST :].tolist() == [1 << 3, 1 << 1, 1 << 5]


def test_exp_is_the_same_on_every_machine() -> None:
    """Within one unit of the last place of libm's, also where it is no normal number; exact at the ends."""
    for x in (*(-RNG.uniform(0, 745, 3000)), -0.0, -1e-20, -708.0, -745.0):
        found, near = float(exp64(np.float64(x))), exp(x)
        assert abs(found - near) <= np.spacing(near)
    assert [float(exp64(np.float64(x))) for x in (0.0, -1024.0, -np.inf)] == [1.0, 0.0, 0.0]
    assert np.isnan(exp64(np.float64(np.nan)))


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        (
            "sample_select",
            (np.zeros(9, BF16), np.zeros(4, np.int32), np.zeros(272, np.int32), np.zeros(WORDS, np.int32)),
            "one that divides 70",
        ),
        (
            "sample_select",
            (np.zeros(10, BF16), np.zeros(4, np.int32), np.zeros(272, np.int32), np.zeros(30, np.int32)),
            "the size of a summary is 30 words; it must be 27 for 70 logits",
        ),
        (
            "sample_combine",
            (np.zeros(82, np.int32), *(np.zeros(n, np.int32) for n in (4, 1, 1))),
            "SAMPLE_COLUMNS is not known",
        ),
    ],
)
def test_what_does_not_fit_is_refused(name: str, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        LIBRARY[name](*arguments)
