"""Do stages of FFTs of the host's AIE API give the numbers that AMD's simulator published, and exact sums?"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from support.cpp.aie_api import Values, integers, run, set_modes

PUBLISHED = "43786c41d3f08b4e6a04e3d9a9b4eb3863157e6f591939b232fe78486a6e29db"
"""SHA-256 of a transform of ``PLIO_o[0].txt``, little-endian cint16 (XD100, AIE-ML design tutorial 04)."""
POINTS = 1024
Stage = tuple[int, int, int, int, bool]
"""Radix, vectorization, shift of the twiddles, shift, and whether it is inverse."""


@pytest.fixture(autouse=True)
def modes() -> Iterator[None]:
    set_modes("positive_inf", "saturate")
    yield
    set_modes()


def twiddles(each: int, radix: int, power: int) -> npt.NDArray[np.int16]:
    """Those of the tutorial: 2**15 is cut off toward zero, and held to the type."""
    angles = -2 * np.pi * power * np.arange(each) / (radix * each)
    scaled = np.trunc(32768 * np.stack([np.cos(angles), np.sin(angles)], axis=-1))
    table: npt.NDArray[np.int16] = np.clip(scaled, -32768, 32767).astype(np.int16)
    return table


def stage(kind: str, x: Values, tables: list[Values], of: Stage, out: npt.DTypeLike = np.int16) -> Values:
    """One stage; tables are by power."""
    points = x.size // 2
    given = np.array([*of[:4], int(of[4])], np.uint32)
    return run(f"fft_{kind}", points, (2 * points, out), x, np.concatenate(tables), given)


def test_a_transform_is_that_of_the_published_simulation() -> None:
    x = np.zeros((POINTS, 2), np.int16)
    x[496:528, 0] = 1023
    each = 1
    while each < POINTS:
        tables: list[Values] = [twiddles(each, 4, power) for power in (1, 2, 3)]
        x = stage("cint16", x, tables, (4, POINTS // 4 // each, 15, 15, False)).reshape(-1, 2)
        each *= 4
    assert x[:2].tolist() == [[32735, 0], [-32681, -95]]
    assert sha256(x.astype("<i2").tobytes()).hexdigest() == PUBLISHED


def exact(x: Values, tables: list[Values], of: Stage) -> Any:
    """The lanes of a stage, in unlimited integers, by the sum of UG1529; real and imaginary parts."""
    radix, step, shift_tw, _, inverse = of
    points = x.size // 2 // radix
    numbers = x.astype(object).reshape(-1, radix, step, 2)
    lanes = np.zeros((radix, points // step, step, 2), object)
    for q in range(radix):
        lanes[q] += numbers[:, 0] << shift_tw
        for p in range(1, radix):
            w = tables[p - 1].astype(object).reshape(-1, 1, 2)
            real, imag = w[..., 0], -w[..., 1] if inverse else w[..., 1]
            for _ in range(p * q * (4 // radix) % 4):
                real, imag = (-imag, real) if inverse else (imag, -real)
            a, b = numbers[:, p, :, 0], numbers[:, p, :, 1]
            lanes[q, ..., 0] += a * real - b * imag
            lanes[q, ..., 1] += a * imag + b * real
    return lanes.reshape(-1)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(("radix", "step"), [(2, 32), (2, 1), (4, 16), (4, 2)])
def test_a_stage_rounds_once(radix: int, step: int, inverse: bool) -> None:
    """DEV-AIEAPI-10."""
    size = 2048
    x, each = integers(np.int16, size, 40), size // 2 // radix // step
    tables: list[Values] = [integers(np.int16, 2 * each, 41 + power) for power in range(1, radix)]
    for kind, dtype, shift in (("cint16", np.int16, 15), ("cint32", np.int32, 12)):
        of = (radix, step, 15, shift, inverse)
        kinds = np.iinfo(dtype)
        expected = np.clip((exact(x, tables, of) + (1 << shift >> 1)) >> shift, kinds.min, kinds.max)
        assert (stage(kind, x, tables, of, dtype) == expected).all()


def test_transforms_of_floats_are_those_of_numpy() -> None:
    x = np.random.default_rng(44).normal(size=16) + 1j * np.random.default_rng(45).normal(size=16)
    found: Values = x.astype(np.complex64).view(np.float32)
    for each in (1, 2, 4, 8):
        table = np.exp(-1j * np.pi * np.arange(each) / each).astype(np.complex64).view(np.float32)
        found = stage("cfloat", found, [table], (2, 8 // each, 0, 0, False), np.float32)
    assert np.abs(found.view(np.complex64) - np.fft.fft(x)).max() < 1e-5
