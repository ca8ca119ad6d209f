"""The host's AIE API, called from Python: one library of checks, and values that are worth trying."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
from filelock import FileLock
from ml_dtypes import bfloat16

from memtile.cpp.build import INCLUDE, Sources
from memtile.cpp.compilers import compiler
from memtile.jit.cache import cache_directory
from memtile.sim.loop.compiled_sources import ENGINE

SOURCE = Path(__file__).with_name("aie_api_checks.cc")
BF16 = np.dtype(bfloat16)
MODES = {
    "floor": 0,
    "ceil": 1,
    "symmetric_floor": 2,
    "symmetric_ceil": 3,
    "negative_inf": 8,
    "positive_inf": 9,
    "symmetric_zero": 10,
    "symmetric_inf": 11,
    "conv_even": 12,
    "conv_odd": 13,
}
"""Rounding modes of AIE-ML and their numbers (UG1583, Mode Settings)."""
SATURATION = {"none": 0, "saturate": 1, "symmetric": 3}
AS_BLOCKS = "AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16"
CALLS = 10_000  # values of each operation
Values = npt.NDArray[np.generic]


def checks() -> Path:
    """The folder of libraries that tests make once for all processes and runs."""
    folder = cache_directory(ENGINE).parents[1] / "checks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def library(sanitize: bool = False, generation: str = "AIE-ML") -> ctypes.CDLL:
    """The checks, compiled once for all processes; warnings of the headers are errors."""
    sources = Sources((SOURCE,), defines={AS_BLOCKS: None}, generation=generation)
    options = [option for option in sources.options() if option != "-w"]
    options += ["-DMEMTILE_SANITIZE=1", "-O0"] if sanitize else ["-O1"]  # -O2 compiles twice as long
    options += ["-g0", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-shared", str(SOURCE)]
    texts = [SOURCE, *sorted(file for file in INCLUDE.rglob("*") if file.is_file())]
    key = sha256(" ".join([compiler().version, *options]).encode())
    for text in texts:
        key.update(text.read_bytes())
    place = checks() / f"{key.hexdigest()[:20]}.so"
    with FileLock(f"{place}.lock"):
        if not place.exists():
            made = place.with_suffix(".new")
            command = [*compiler().command, *options, "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[:3000]
            made.replace(place)
    return ctypes.CDLL(str(place))


def aligned(size: int, dtype: npt.DTypeLike) -> Values:
    """An array of zeros that begins at a multiple of 64 bytes."""
    kind = np.dtype(dtype)
    data = np.zeros(size * kind.itemsize + 64, np.uint8)
    start = -data.ctypes.data % 64
    return data[start : start + size * kind.itemsize].view(kind)


def run(
    name: str,
    vectors: int,
    out: tuple[int, npt.DTypeLike],
    *inputs: Values | None,
    p: int = 0,
    where: ctypes.CDLL | None = None,
) -> Values:
    """What the check ``name`` makes of so many vectors; ``out`` is the size and type of all its results."""
    found = aligned(*out)
    held = []
    for values in (*inputs, None, None, None)[:3]:
        if values is None:
            held.append(None)
            continue
        copy = aligned(values.size, values.dtype)
        copy[...] = values.reshape(-1)
        held.append(copy)
    pointers = [None if values is None else ctypes.c_void_p(values.ctypes.data) for values in held]
    getattr(where or library(), name)(*pointers, ctypes.c_void_p(found.ctypes.data), vectors, p)
    return found


def set_modes(rounding: str = "floor", saturation: str = "none") -> None:
    """The modes of the core from here on."""
    library().set_modes(MODES[rounding], SATURATION[saturation])


def integers(dtype: npt.DTypeLike, number: int, seed: int) -> npt.NDArray[np.generic]:
    """Numbers of an integer type: its ends, small ones, powers of two and their neighbours, random ones."""
    kind = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    near = [s * (1 << k) + d for k in range(kind.bits) for s in (1, -1) for d in (-1, 0, 1)]
    ends = [kind.min, kind.min + 1, kind.max, kind.max - 1]
    special = np.array([x for x in [*ends, *range(-4, 5), *near] if kind.min <= x <= kind.max], object)
    found = rng.integers(kind.min, kind.max, number, dtype, endpoint=True)
    places = rng.random(number) < 0.4
    found[places] = rng.choice(special, int(places.sum())).astype(dtype)
    return found


def floats(number: int, seed: int, dtype: npt.DTypeLike = np.float32, finite: bool = True) -> Values:
    """Floats of all sizes, ties of bfloat16, zeros of both signs; with ``finite=False`` also others."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 32, number, np.uint32)
    words[::3] &= np.uint32(0xFFFF0000)
    words[1::3] = (words[1::3] & np.uint32(0xFFFF0000)) | np.uint32(0x8000)
    found = words.view(np.float32)
    plain = ~np.isfinite(found) if finite else np.zeros(number, bool)
    found = np.where(plain, np.float32(1.5), found).astype(np.float32)
    found[:8] = [0.0, -0.0, 1.0, -1.0, 3.0, -0.5, 65280.0, 1e-3]
    return found.astype(dtype)


def flushed(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """In float32, subnormal numbers as zeros of their sign (AM020, Floating-Point Vector Unit)."""
    single = np.asarray(values, np.float32)
    return np.where(np.abs(single) < np.float32(2.0**-126), np.copysign(np.float32(0), single), single)
