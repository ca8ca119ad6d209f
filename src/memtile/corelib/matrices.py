"""Products of matrices, in the layouts of mlir-aie's kernels (``aie_kernels/aie2/mm.cc``, ``mv.cc``).

It also has products of matrices whose sums go from core to core over the cascade (``cascade_mm.cc``).

Each sum is a value of its own, in the first 32 bits, as a whole number: kernels convert it. What comes over
the cascade is added to the core's own sum. They are generators of actions of the ``core`` that calls them.
"""

from __future__ import annotations

from collections.abc import Generator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.core import CORE
from memtile.arch.core_costs import BLOCKS
from memtile.arch.tiles import Generation
from memtile.corelib.name_types import TYPES, Values, floats, is_float, saturated
from memtile.corelib.registry import CallError, answers
from memtile.corelib.rounding import Modes

PAIRS = (
    ("i8", "i8"),
    ("i8", "i16"),
    ("i8", "i32"),
    ("i16", "i16"),
    ("i16", "i32"),
    ("bf16", "bf16"),
    ("bf16", "f32"),
)
_ALL = (*PAIRS, ("i32", "i32"), ("f32", "f32"))
_TYPES = {"a": "IN", "b": "IN", "c": "OUT"}
_EXACT_BYTES = 2  # products of operands so wide, and their sums, are exact in float64


def macs_of(a: Values, b: Values, c: Values, *_: Any) -> tuple[int, str]:
    """MACs of a product of matrices with these numbers of elements, and the type of its operands."""
    m, k, n = dimensions(a, b, c)
    return m * k * n, _kind(a)


def _vector_macs(a: Values, *_: Any) -> tuple[int, str]:
    return a.size, _kind(a)


def _kind(values: Values) -> str:
    return next(kind for kind, dtype in TYPES.items() if dtype == values.dtype)


@answers("matmul_{IN}_{OUT}", "mm_{IN}_{OUT}", types=_TYPES, pairs=PAIRS, macs=macs_of)
def matmul(
    a: Values,
    b: Values,
    c: Values,
    *,
    generation: Generation,
    modes: Modes,
    b_columns: bool = False,
    c_columns: bool = False,
) -> None:
    """``c += a @ b`` in blocks, each row-major: a of r x s, b of s x t, c of r x t.

    Flat and two-dimensional arrays hold a[m/r, k/s, r, s], b[k/s, n/t, s, t], c[m/r, n/t, r, t]; m, k, n
    follow from their sizes. r, s, t are those of the generation: on npu1 4, 4, 4 for i16, 4, 8, 4 for bf16,
    4, 8, 8 for i8. Arrays of four dimensions say themselves what they hold; mlir-air's have the two outer
    dimensions swapped. Integers wrap in c's type, or saturate where the core does; floats are summed
    exactly, then rounded to float32 and to c's type by the mode of the core. A library with ``b_columns``
    or ``c_columns`` has b or c transposed: b[n/t, k/s, t, s], c[n/t, m/r, t, r] (not c of i16 and i32 from
    i8 on npu1: DEV-KERNEL-12). Source: mlir-aie ``mm.cc``, DEV-KERNEL-2.
    """
    c_columns = c_columns and not (generation == "AIE-ML" and a.itemsize == 1 and c.itemsize > 1)
    sizes = dimensions(a, b, c)
    blocks = None if b_columns or c_columns else _blocks_of_types(a, b, c)
    swapped = blocks is not None and _swapped(a, b, c)
    order = BlockOrder(swapped, b_columns, c_columns)
    _blocked((a, b, c), sizes, blocks or BLOCKS[generation][_kind(a)], order, modes)


@answers(
    "matmul_scalar_{m}x{k}x{n}_{r}x{s}x{t}_{IN}_{OUT}",
    types=_TYPES,
    pairs=_ALL,
    macs=macs_of,
    objects=("mm",),
)
def matmul_of_blocks(
    a: Values, b: Values, c: Values, *, m: int, k: int, n: int, r: int, s: int, t: int, modes: Modes
) -> None:
    """``c += a @ b`` with m x k x n blocks of r x s x t, column by column: a[k, m, r, s], b[n, k, s, t].

    c is [n, m, r, t]; integers wrap. Source: mlir-aie ``test/npu-xrt/matrix_multiplication_using_cascade``.
    """
    sizes = (m * r, k * s, n * t)
    wanted = (sizes[0] * sizes[1], sizes[1] * sizes[2], sizes[0] * sizes[2])
    for name, values, size in zip("abc", (a, b, c), wanted, strict=True):
        if values.size != size:
            raise CallError(
                f"the number of elements of {name}", str(values.size), f"{size}, as the name says"
            )
    _blocked((a, b, c), sizes, (r, s, t), BlockOrder(swapped=True), Modes(modes.rounding))


@answers("matmul_scalar_{IN}_{OUT}", types=_TYPES, pairs=_ALL, macs=macs_of)
def matmul_row_major(
    a: Values, b: Values, c: Values, *, modes: Modes, b_columns: bool = False, c_columns: bool = False
) -> None:
    """``c += a @ b``, all row-major; m, k, n follow from the sizes. Integers wrap; of floats each product is
    added in the type of c.

    A library with ``b_columns`` or ``c_columns`` has b or c column-major.

    Source: mlir-aie ``mm.cc``, scalar functions.
    """
    m, k, n = dimensions(a, b, c)
    right = b.reshape(n, k).T if b_columns else b.reshape(k, n)
    product = _in_steps(a.reshape(m, k), right, c.dtype, modes)
    _add(c.reshape(n, m).T if c_columns else c.reshape(m, n), product, Modes(modes.rounding))


@answers(
    "matvec_scalar_{IN}_{OUT}",
    types=_TYPES,
    pairs=(("i16", "i32"), ("bf16", "f32"), ("i32", "i32")),
    macs=_vector_macs,
)
def matvec(a: Values, b: Values, c: Values, *, modes: Modes) -> None:
    """``c += a @ b``: a is m x k and row-major, b has k elements, c has m. Integers wrap; of floats each
    product is added in the type of c.

    Source: mlir-aie ``mv.cc``.
    """
    _check_vector(a, b, c)
    product = _in_steps(a.reshape(c.size, b.size), b.reshape(-1, 1), c.dtype, modes)
    _add(c.reshape(-1, 1), product, Modes(modes.rounding))


@answers(
    "matvec_vectorized_{IN}_{OUT}",
    types=_TYPES,
    pairs=(("i16", "i32"), ("bf16", "f32")),
    macs=_vector_macs,
)
def matvec_of_words(a: Values, b: Values, c: Values, *, modes: Modes) -> None:
    """``c += a @ b`` with a[k/2, m, 2]: the matrix transposed in words of 32 bits. Integers wrap.

    Source: mlir-aie ``mv.cc``, vectorized.
    """
    _check_vector(a, b, c)
    if b.size % 2:
        raise CallError("the number of elements of b", str(b.size), "even")
    rows = a.reshape(b.size // 2, c.size, 2).transpose(1, 0, 2).reshape(c.size, b.size)
    _add(c.reshape(-1, 1), _product(rows, b.reshape(-1, 1)), modes)


@answers("matvec_vectorized_bf16_bf16", "matvec_scalar_bf16_bf16")
def matvec_bf16(*given: Any, modes: Modes) -> None:
    """(m, [k,] row, a, b, c): ``c[row:row + m] = a @ b``, a row-major; with a, b, c alone as
    ``matvec_of_words``.

    k is the length of b where it is not given. Sums as in ``matmul``. Source: amd/IRON ``mv.cc``.
    """
    *numbers, a, b, c = given if len(given) >= 3 else (0, 0, 0)
    arrays = all(isinstance(value, np.ndarray) for value in (a, b, c))
    if not arrays or len(numbers) not in (0, 2, 3) or any(isinstance(n, np.ndarray) for n in numbers):
        raise CallError("the list of arguments", f"one of {len(given)}", "m, k, row, a, b, c or a, b, c")
    a, b, c = (values.view(TYPES["bf16"]) for values in (a, b, c))
    if not numbers:
        return matvec_of_words(a, b, c, modes=modes)
    m, row = int(numbers[0]), int(numbers[-1])
    k = int(numbers[1]) if len(numbers) == 3 else b.size
    if a.size < m * k or b.size < k or not 0 <= row <= c.size - m:
        sizes = f"{a.size}, {b.size} and {c.size} elements"
        raise CallError("the size of a, b and c", sizes, f"at least {m * k}, {k} and {row + m}")
    rows = _product(a.reshape(-1)[: m * k].reshape(m, k), b.reshape(-1)[:k].reshape(k, 1))
    c.reshape(-1)[row : row + m] = modes.into(rows.reshape(-1), c.dtype)
    return None


_FIRST, _LAST = 1, 2  # flags of a call: it begins the sums, it ends them


@answers(
    "matvec_vectorized_col_maj_bf16_bf16", types={"a": "bf16", "b": "bf16", "sums": "f32", "c": "bf16"},
    writes=("sums", "c"), partly=("c",),
)  # fmt: skip
def matvec_of_columns(flags: int, a: Values, b: Values, sums: Values, c: Values) -> None:
    """``c = a.T @ b``, a[k, m], over as many calls as the rows of a come in: bit 0 of ``flags`` begins the
    sums, bit 1 adds the lanes up and rounds to nearest even. sums[lanes, m] has the sum of every lane-th row,
    in float32 and in the order of the rows. Source: mlir-aie ``mv_bf16.cc``, column-major.
    """
    k, m = b.size, c.size
    lanes = sums.size // m if m else 0
    if not lanes or not k or a.size != k * m or sums.size != lanes * m or k % lanes or lanes & (lanes - 1):
        sizes = f"{a.size}, {k}, {sums.size} and {m} elements"
        raise CallError("the size of a, b, sums and c", sizes, "k x m, k, lanes x m and m, k in whole lanes")
    total = sums.reshape(lanes, m)
    products = floats(a).reshape(-1, lanes, m) * floats(b).reshape(-1, lanes, 1)
    if flags & _FIRST:
        total[...], products = products[0], products[1:]
    for each in products:
        total += each
    if flags & _LAST:
        half = lanes
        while half := half // 2:
            total[:half] += total[half : 2 * half]
        c.reshape(-1)[...] = Modes("conv_even").into(total[0], c.dtype)


def _check_vector(a: Values, b: Values, c: Values) -> None:
    if a.size != b.size * c.size:
        raise CallError("the number of elements of a", str(a.size), f"{c.size} rows of {b.size}")


def dimensions(a: Values, b: Values, c: Values) -> tuple[int, int, int]:
    """m, k, n of matrices with these numbers of elements.

    Raises:
        CallError: they are those of no product.
    """
    sizes = (a.size, b.size, c.size)
    if min(sizes):
        m = isqrt(a.size * c.size // b.size)
        k = a.size // m if m else 0
        n = c.size // m if m else 0
        if (m * k, k * n, m * n) == sizes:
            return m, k, n
    raise CallError(
        "the number of elements of a, b and c", ", ".join(map(str, sizes)), "those of m x k, k x n and m x n"
    )


def _blocks_of_types(a: Values, b: Values, c: Values) -> tuple[int, int, int] | None:
    """Blocks of arrays that have four dimensions; None for others."""
    if {a.ndim, b.ndim, c.ndim} != {4}:
        return None
    r, s, t = a.shape[2], a.shape[3], b.shape[3]
    if b.shape[2] != s or c.shape[2:] != (r, t):
        shapes = ", ".join("x".join(map(str, values.shape[2:])) for values in (a, b, c))
        raise CallError("the size of the blocks of a, b and c", shapes, "r x s, s x t and r x t")
    return r, s, t


def _swapped(a: Values, b: Values, c: Values) -> bool:
    """Whether blocks of four-dimensional arrays are stored column by column."""
    straight = (a.shape[0], a.shape[1], b.shape[1]) == (c.shape[0], b.shape[0], c.shape[1])
    across = (a.shape[1], a.shape[0], b.shape[0]) == (c.shape[1], b.shape[1], c.shape[0])
    if not straight and not across:
        shapes = ", ".join("x".join(map(str, values.shape[:2])) for values in (a, b, c))
        raise CallError("the number of blocks of a, b and c", shapes, "m x k, k x n and m x n")
    return not straight


class BlockOrder(NamedTuple):
    """How blocks lie in memory.

    Attributes:
        swapped: column by column, each block row-major.
        b_columns: b is column-major, blocks and elements.
        c_columns: c is column-major, blocks and elements.
    """

    swapped: bool = False
    b_columns: bool = False
    c_columns: bool = False


def _blocked(
    matrices: tuple[Values, Values, Values],
    sizes: tuple[int, int, int],
    blocks: tuple[int, int, int],
    order: BlockOrder,
    modes: Modes,
) -> None:
    (a, b, c), (m, k, n), (r, s, t) = matrices, sizes, blocks
    if m % r or k % s or n % t:
        raise CallError("m, k, n", f"{m}, {k}, {n}", f"multiples of {r}, {s}, {t}")
    left = _unblocked(a, m, k, r, s, order.swapped)
    right = (
        _unblocked(b, n, k, t, s, False).T if order.b_columns else _unblocked(b, k, n, s, t, order.swapped)
    )
    product = _product(left, right).reshape(m // r, r, n // t, t)
    if order.c_columns:
        _add(c.reshape(n // t, m // r, t, r).transpose(1, 3, 0, 2), product, modes)
    elif order.swapped:
        _add(c.reshape(n // t, m // r, r, t).transpose(1, 2, 0, 3), product, modes)
    else:
        _add(c.reshape(m // r, n // t, r, t).transpose(0, 2, 1, 3), product, modes)


def _unblocked(values: Values, rows: int, columns: int, r: int, s: int, swapped: bool) -> Values:
    shape = (columns // s, rows // r, r, s) if swapped else (rows // r, columns // s, r, s)
    order = (1, 2, 0, 3) if swapped else (0, 2, 1, 3)
    return values.reshape(shape).transpose(order).reshape(rows, columns)


def _product(a: Values, b: Values) -> Values:
    """The product in float64 or int64: exact for integers, and for bf16 as far as float64 holds the sums."""
    if is_float(a.dtype) or a.itemsize <= _EXACT_BYTES:
        return a.astype(np.float64) @ b.astype(np.float64)
    exact: Values = a.astype(np.int64) @ b.astype(np.int64)
    return exact


def _in_steps(a: Values, b: Values, dtype: np.dtype[Any], modes: Modes) -> Values:
    """The product as a scalar loop makes it: each product of floats added in ``dtype``, in order."""
    if not is_float(dtype):
        return _product(a, b)
    left, right = floats(a), floats(b)
    total = np.zeros((len(left), right.shape[1]), np.float32)
    for at in range(right.shape[0]):
        total = modes.step(total + left[:, at, None] * right[at], dtype)
    return total


def _add(c: Values, product: Values, modes: Modes) -> None:
    """Add a product to ``c``, a view, as a core with these modes stores it."""
    if is_float(c.dtype):
        c[...] = modes.into(c.astype(np.float64) + product, c.dtype)
    else:
        c[...] = modes.stored(c.astype(np.int64) + product.astype(np.int64), c.dtype)


Actions = Generator[Any, Values, None]

_PAIRS = (("i16", "i16"), ("i16", "i32"), ("i32", "i32"), ("bf16", "bf16"), ("bf16", "f32"))
_FAR = 2.0**40  # beyond any int32
_I32 = dict.fromkeys("abc", "i32")


def _macs_of_part(a: Values, b: Values, c: Values, *_: Any) -> tuple[int, str]:
    kind = next(kind for kind, dtype in TYPES.items() if dtype == a.dtype)
    return round((float(a.size) * b.size * c.size) ** 0.5), kind


@answers("matmul_scalar_cascade_put_only_{IN}_{OUT}", types=_TYPES, pairs=_PAIRS, macs=_macs_of_part)
def put_only(a: Values, b: Values, c: Values, *, core: Any, modes: Modes) -> Actions:
    """Puts ``a @ b``, all row-major, on the cascade, element by element as whole numbers; c stays as it is.

    Sums are in c's type, as in ``matmul_scalar_{IN}_{OUT}``. Source: mlir-aie ``cascade_mm.cc``.
    """
    for own in _sums(a, b, c, modes):
        yield core.put_cascade(_value(own))


@answers("matmul_scalar_cascade_put_get_{IN}_{OUT}", types=_TYPES, pairs=_PAIRS, macs=_macs_of_part)
def put_get(a: Values, b: Values, c: Values, *, core: Any, modes: Modes) -> Actions:
    """Gets a number for each element of ``a @ b`` from the cascade and puts their sum; c stays as it is.

    The other 15 lanes of a value go on as they came. Source: mlir-aie ``cascade_mm.cc``.
    """
    for own in _sums(a, b, c, modes):
        before = yield core.get_cascade(np.int32)
        after = _value(_plus(own, before[0], modes))
        after[1:] = before[1:]
        yield core.put_cascade(after)


@answers("matmul_scalar_cascade_get_only_{IN}_{OUT}", types=_TYPES, pairs=_PAIRS, macs=_macs_of_part)
def get_only(a: Values, b: Values, c: Values, *, core: Any, modes: Modes) -> Actions:
    """``c += a @ b``, all row-major, and what comes for each element over the cascade.

    Source: mlir-aie ``cascade_mm.cc``.
    """
    target = c.reshape(-1)
    for n, own in enumerate(_sums(a, b, c, modes)):
        before = yield core.get_cascade(np.int32)
        target[n] = _plus(target[n], _plus(own, before[0], modes), modes)


@answers("matmul_scalar_put_{m}x{k}x{n}_{r}x{s}x{t}_i32_i32", types=_I32, macs=_macs_of_part, objects=("mm",))
def put_blocks(
    a: Values, b: Values, c: Values, *, core: Any, m: int, k: int, n: int, r: int, s: int, t: int
) -> Actions:
    """``c += a @ b`` in blocks, as without ``put``; then each number of c goes on the cascade.

    It takes two values of 512 bits, of which the first has it; blocks go row by row.

    Source: mlir-aie ``test/npu-xrt/matrix_multiplication_using_cascade``.
    """
    return _blocks((a, b, c), core, (m, k, n, r, s, t), gets=False, puts=True)


@answers(
    "matmul_scalar_put_get_{m}x{k}x{n}_{r}x{s}x{t}_i32_i32", types=_I32, macs=_macs_of_part, objects=("mm",)
)
def put_get_blocks(
    a: Values, b: Values, c: Values, *, core: Any, m: int, k: int, n: int, r: int, s: int, t: int
) -> Actions:
    """``c += a @ b`` in blocks and what comes for each number of c over the cascade; then c goes on.

    Source: mlir-aie ``test/npu-xrt/matrix_multiplication_using_cascade``.
    """
    return _blocks((a, b, c), core, (m, k, n, r, s, t), gets=True, puts=True)


@answers("matmul_scalar_get_{m}x{k}x{n}_{r}x{s}x{t}_i32_i32", types=_I32, macs=_macs_of_part, objects=("mm",))
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
    matmul_of_blocks(a, b, own, m=m, k=k, n=n, r=r, s=s, t=t, modes=Modes())
    order = np.arange(c.size).reshape(n, m, r * t).swapaxes(0, 1).reshape(-1)  # c is [n, m, r, t]
    for at, each in zip(order, own.reshape(-1)[order], strict=True):
        if gets:
            low = yield core.get_cascade(np.int32)
            yield core.get_cascade(np.int32)
            each = _plus(each, low[0], Modes())
        target[at] = _plus(target[at], each, Modes())
        if puts:
            yield core.put_cascade(_value(target[at]))
            yield core.put_cascade(_value(0))


def _sums(a: Values, b: Values, c: Values, modes: Modes) -> Values:
    """``a @ b`` in the type of c, in the order of its elements."""
    found = np.zeros_like(c)
    matmul_row_major(a, b, found, modes=modes)
    return found.reshape(-1)


def _value(number: Any) -> Values:
    """A value of the cascade with a number in its first 32 bits: the whole part of one that is not whole."""
    lanes = np.zeros(CORE.cascade_words, np.int32)
    whole = float(np.nan_to_num(number)) if is_float(np.asarray(number).dtype) else int(number)
    lanes[0] = saturated(np.array(np.clip(whole, -_FAR, _FAR), np.int64), np.int32)
    return lanes


def _plus(one: Any, other: Any, modes: Modes) -> Any:
    """The sum in the type of the first one, wrapped or rounded."""
    dtype = one.dtype
    if is_float(dtype):
        return modes.into(float(one) + float(other), dtype)
    return np.int64(int(one) + int(other)).astype(dtype)
