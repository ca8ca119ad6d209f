"""Arguments for many calls of a kernel at once: random, small, extreme and tie values in turns.

A batch has a column for each argument: an array with a row for each call, where every row begins at an
address that vector accesses allow, or the numbers of all calls. A call has the same values in every run.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from support.aie.kernel_cases import KINDS, Buffer, Case, Number
from support.aie.plain_references import BF16

Array = npt.NDArray[Any]
WAYS = ("random", "small", "extreme", "ties")
_ALIGNMENT = 64  # bytes
_MOST_CALLS, _MOST_BYTES = 64, 1 << 21  # of a batch
_WRITTEN = ("out", "put", "stream", "asked")  # roles whose values only the call gives
_BLOCK = 9  # bytes of a block of bfp16
_EXPONENTS = {False: (126, 127), True: (127, 133)}  # of factors, of what products are added to


def batch_size(case: Case) -> int:
    """Calls of a batch: as many of each way, in at most 2 MiB."""
    size = sum(
        each.count * np.dtype(KINDS[each.kind]).itemsize
        for each in case.arguments
        if isinstance(each, Buffer)
    )
    return int(np.clip(_MOST_BYTES // max(size, 1) // len(WAYS) * len(WAYS), len(WAYS), _MOST_CALLS))


def rows(number: int, count: int, kind: npt.DTypeLike) -> Array:
    """Zeros of ``number`` calls, each row at an aligned address."""
    size = count * np.dtype(kind).itemsize
    stride = -(-size // _ALIGNMENT) * _ALIGNMENT
    room = np.zeros(number * stride + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + number * stride].reshape(number, stride)[:, :size].view(kind)


def batch_of(case: Case, first: int) -> list[Array]:
    """The arguments of the calls from ``first`` on, one column for each argument."""
    number = batch_size(case)
    random = np.random.default_rng([first, zlib.crc32(f"{case.file} {case.name}".encode())])
    found = []
    for each in case.arguments:
        if isinstance(each, Number):
            found.append(random.integers(each.low, each.high, number, endpoint=True))
            continue
        kind = np.dtype(KINDS[each.kind])
        target = rows(number, each.count, kind)
        if each.role not in _WRITTEN:
            for at, way in enumerate(WAYS):
                part = target[at :: len(WAYS)]
                part[...] = _values(each, kind, way, random, part.shape)
        found.append(target)
    return found


def copied(columns: list[Array]) -> list[Array]:
    """The same values in rows of their own."""
    found = []
    for each in columns:
        if each.ndim == 1:
            found.append(each)
        else:
            found.append(rows(*each.shape, each.dtype))
            found[-1][...] = each
    return found


def _values(
    buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator, shape: tuple[int, ...]
) -> Array:
    if buffer.kind == "bits":
        return _floats(buffer, BF16, way, random, shape).view(kind)
    make = _blocks if buffer.kind == "bfp" else _integers if kind.kind in "iu" else _floats
    return make(buffer, kind, way, random, shape)


def _blocks(
    buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator, shape: tuple[int, ...]
) -> Array:
    """Blocks of bfp16 with exponents so near each other that all sums of products are exact in float32."""
    found = np.zeros((shape[0], buffer.count // _BLOCK, _BLOCK), kind)
    exponents = _EXPONENTS[buffer.role != "in"]
    found[..., 0] = random.integers(*exponents, found.shape[:2], endpoint=True)
    size = (shape[0], found.shape[1] * (_BLOCK - 1))
    numbers = _integers(Buffer("i8", size[1]), np.dtype(np.int8), way, random, size)
    found[..., 1:] = numbers.view(np.uint8).reshape(*found.shape[:2], _BLOCK - 1)
    return found.reshape(shape)


def _integers(
    buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator, shape: tuple[int, ...]
) -> Array:
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    if buffer.spread:
        high = int(buffer.spread)
        return random.integers(
            -high if buffer.least is None else buffer.least, high, shape, kind, endpoint=True
        )
    if way == "small":
        return random.integers(max(low, -4), 5, shape, kind)
    if way == "extreme":
        chosen = np.array([low, high, high - 1, 0, 1, max(low, -1), high, low], kind)
        return chosen[random.integers(0, len(chosen), shape, np.uint8)]
    if way == "ties":
        shifts = random.integers(0, kind.itemsize * 8, (shape[0], 1))
        return ((random.integers(0, 64, shape) * 2 + 1) << shifts).astype(kind)
    return random.integers(low, high, shape, kind, endpoint=True)


def _floats(
    buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator, shape: tuple[int, ...]
) -> Array:
    scale = buffer.spread or 1.0
    if way == "ties":  # sums and products of these lie halfway between bfloat16 numbers
        return (random.integers(-255, 256, shape, np.int16) / np.float32(128) * np.float32(scale)).astype(
            kind
        )
    if way == "extreme":
        far = 8 * scale if buffer.spread else float(np.finfo(np.float32).max)
        beyond = [] if buffer.spread else [np.inf, -np.inf]
        chosen = np.array([0.0, -0.0, far, -far, scale, -scale, 1e-30, -1e-30, *beyond]).astype(kind)
        return chosen[random.integers(0, len(chosen), shape, np.uint8)]
    if way == "random" and not buffer.spread and kind == BF16:
        words = random.integers(0, 1 << 16, shape, np.uint16)
        return np.where(words & 0x7F80 == 0x7F80, words & 0xBFFF, words).astype(np.uint16).view(BF16)
    return (random.standard_normal(shape, np.float32) * np.float32(scale)).astype(kind)
