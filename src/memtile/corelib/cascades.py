"""Products of matrices whose sums go from core to core over the cascade (mlir-aie's ``cascade_mm.cc``).

Each sum is a value of its own, in the first 32 bits, as a whole number: kernels convert it. What comes over
the cascade is added to the core's own sum. They are generators of actions of the ``core`` that calls them.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from memtile.arch.core import CORE
from memtile.corelib.matrices import matmul_of_blocks, matmul_row_major
from memtile.corelib.registry import answers
from memtile.corelib.types import TYPES, Values, is_float, saturated

Actions = Generator[Any, Values, None]

_PAIRS = (("i16", "i16"), ("i16", "i32"), ("i32", "i32"), ("bf16", "bf16"), ("bf16", "f32"))
_TYPES = {"a": "IN", "b": "IN", "c": "OUT"}
_FAR = 2.0**40  # beyond any int32
_I32 = dict.fromkeys("abc", "i32")


def _macs(a: Values, b: Values, c: Values, *_: Any) -> tuple[int, str]:
    kind = next(kind for kind, dtype in TYPES.items() if dtype == a.dtype)
    return round((float(a.size) * b.size * c.size) ** 0.5), kind


@answers("matmul_scalar_cascade_put_only_{IN}_{OUT}", types=_TYPES, pairs=_PAIRS, macs=_macs)
def put_only(a: Values, b: Values, c: Values, *, core: Any) -> Actions:
    """Puts ``a @ b``, all row-major, on the cascade, element by element as whole numbers; c stays as it is.

    Sums are in c's type, as in ``matmul_scalar_{IN}_{OUT}``. Source: mlir-aie ``cascade_mm.cc``.
    """
    for own in _sums(a, b, c):
        yield core.put_cascade(_value(own))


@answers("matmul_scalar_cascade_put_get_{IN}_{OUT}", types=_TYPES, pairs=_PAIRS, macs=_macs)
def put_get(a: Values, b: Values, c: Values, *, core: Any) -> Actions:
    """Gets a number for each element of ``a @ b`` from the cascade and puts their sum; c stays as it is.

    Source: mlir-aie ``cascade_mm.cc``.
    """
    for own in _sums(a, b, c):
        before = yield core.get_cascade(np.int32)
        yield core.put_cascade(_value(_plus(own, before[0])))


@answers("matmul_scalar_cascade_get_only_{IN}_{OUT}", types=_TYPES, pairs=_PAIRS, macs=_macs)
def get_only(a: Values, b: Values, c: Values, *, core: Any) -> Actions:
    """``c += a @ b``, all row-major, and what comes for each element over the cascade.

    Source: mlir-aie ``cascade_mm.cc``.
    """
    target = c.reshape(-1)
    for n, own in enumerate(_sums(a, b, c)):
        before = yield core.get_cascade(np.int32)
        target[n] = _plus(target[n], _plus(own, before[0]))


@answers("matmul_scalar_put_{m}x{k}x{n}_{r}x{s}x{t}_i32_i32", types=_I32, macs=_macs)
def put_blocks(
    a: Values, b: Values, c: Values, *, core: Any, m: int, k: int, n: int, r: int, s: int, t: int
) -> Actions:
    """``c += a @ b`` in blocks, as without ``put``; then each number of c goes on the cascade.

    It takes two values of 512 bits, of which the first has it.

    Source: mlir-aie ``test/npu-xrt/matrix_multiplication_using_cascade``.
    """
    return _blocks((a, b, c), core, (m, k, n, r, s, t), gets=False, puts=True)


@answers("matmul_scalar_put_get_{m}x{k}x{n}_{r}x{s}x{t}_i32_i32", types=_I32, macs=_macs)
def put_get_blocks(
    a: Values, b: Values, c: Values, *, core: Any, m: int, k: int, n: int, r: int, s: int, t: int
) -> Actions:
    """``c += a @ b`` in blocks and what comes for each number of c over the cascade; then c goes on.

    Source: mlir-aie ``test/npu-xrt/matrix_multiplication_using_cascade``.
    """
    return _blocks((a, b, c), core, (m, k, n, r, s, t), gets=True, puts=True)


@answers("matmul_scalar_get_{m}x{k}x{n}_{r}x{s}x{t}_i32_i32", types=_I32, macs=_macs)
def get_blocks(
    a: Values, b: Values, c: Values, *, core: Any, m: int, k: int, n: int, r: int, s: int, t: int
) -> Actions:
    """``c += a @ b`` in blocks and what comes for each number of c over the cascade.

    Source: mlir-aie ``test/npu-xrt/matrix_multiplication_using_cascade``.
    """
    return _blocks((a, b, c), core, (m, k, n, r, s, t), gets=True, puts=False)


def _blocks(
    matrices: tuple[Values, Values, Values], core: Any, sizes: tuple[int, ...], *, gets: bool, puts: bool
) -> Actions:
    a, b, c = matrices
    own, target = np.zeros_like(c), c.reshape(-1)
    m, k, n, r, s, t = sizes
    matmul_of_blocks(a, b, own, m=m, k=k, n=n, r=r, s=s, t=t)
    for at, each in enumerate(own.reshape(-1)):
        if gets:
            low = yield core.get_cascade(np.int32)
            yield core.get_cascade(np.int32)
            each = _plus(each, low[0])
        target[at] = _plus(target[at], each)
        if puts:
            yield core.put_cascade(_value(target[at]))
            yield core.put_cascade(_value(0))


def _sums(a: Values, b: Values, c: Values) -> Values:
    """``a @ b`` in the type of c, in the order of its elements."""
    found = np.zeros_like(c)
    matmul_row_major(a, b, found)
    return found.reshape(-1)


def _value(number: Any) -> Values:
    """A value of the cascade with a number in its first 32 bits: the whole part of one that is not whole."""
    lanes = np.zeros(CORE.cascade_words, np.int32)
    whole = float(np.nan_to_num(number)) if is_float(np.asarray(number).dtype) else int(number)
    lanes[0] = saturated(np.array(np.clip(whole, -_FAR, _FAR), np.int64), np.int32)
    return lanes


def _plus(one: Any, other: Any) -> Any:
    """The sum in the type of the first one, wrapped or rounded."""
    dtype = one.dtype
    if is_float(dtype):
        return np.float32(float(one) + float(other)).astype(dtype)
    return np.int64(int(one) + int(other)).astype(dtype)
