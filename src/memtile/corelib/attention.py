"""The steps of attention as mlir-aie's ``mha.cc`` has them: scores, weights, values; a state between them.

A design calls them for one block of keys after another. Between the blocks a buffer of four numbers for each
row of queries has the state: the largest score before, the largest score now, the sum of the weights, and
the sum of this block's weights, which becomes what the sums before are scaled by. It is float32, or bf16 as
until September 2026; each step rounds to nearest even, the core's mode stays as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.corelib.matrices import dimensions, macs_of, matmul, matmul_row_major
from memtile.corelib.name_types import BF16, Values, floats
from memtile.corelib.registry import CallError, answers, first
from memtile.corelib.rounding import Modes

Floats = npt.NDArray[np.float32]
_ABC = dict.fromkeys("abc", "bf16")
_SIDE = 8  # rows and columns of a block of weights, values and outputs
_COLUMNS = 64  # of the outputs that the steps over rows are written for
_STATE = 4  # numbers of a row of queries
_LOWEST = np.float32(-(2.0**127) * (2 - 2.0**-7))  # of bf16: stands for no score
_OBJECTS = ("mha",)


@answers("matmul_bf16_bf16_wrapper", types=_ABC, macs=macs_of, objects=_OBJECTS,
         defines={"emulated": "AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16"})  # fmt: skip
def mha_scores(
    a: Values, b: Values, c: Values, index: Values, *, b_columns: bool = False, emulated: int = 0
) -> None:
    """As ``matmul_bf16_bf16`` of npu2, rounded to nearest even; nothing where ``index[0]`` is above
    ``index[1]``: keys that come after all queries of the block. With
    ``AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16`` its blocks are 8 x 8 x 8. Source: mlir-aie ``mha.cc``.
    """
    if int(first(index, 2, "index")[0]) > int(index.reshape(-1)[1]):
        return
    m, k, n = dimensions(a, b, c)
    if emulated:
        _check_blocks(m, k, n)
        a, c = a.reshape(m // _SIDE, -1, _SIDE, _SIDE), c.reshape(m // _SIDE, -1, _SIDE, _SIDE)
        if b_columns:  # a block of b holds its columns, so it is turned like the order of the blocks
            b = b.reshape(n // _SIDE, -1, _SIDE, _SIDE).transpose(1, 0, 3, 2)
        else:
            b = b.reshape(k // _SIDE, -1, _SIDE, _SIDE)
        b_columns = False
    matmul(a, b, c, generation="AIE2P", modes=Modes("conv_even"), b_columns=b_columns)


@answers("matmul_bf16_bf16_wrapper_scalar", types=_ABC, macs=macs_of, objects=_OBJECTS)
def mha_scores_scalar(a: Values, b: Values, c: Values, *, b_columns: bool = False) -> None:
    """As ``matmul_scalar_bf16_bf16``, rounded to nearest even. Source: mlir-aie ``mha.cc``."""
    matmul_row_major(a, b, c, modes=Modes("conv_even"), b_columns=b_columns)


@answers("matmul_bf16_bf16_rowmaj", types=_ABC, macs=macs_of, objects=_OBJECTS)
def mha_rows(a: Values, b: Values, c: Values) -> None:
    """``c += a @ b`` in blocks of 8 x 8, rounded to nearest even: a[m/8, k/8, 8, 8], b[k/8, n/8, 8, 8],
    c[m/8, n/8, 8, 8]. Source: mlir-aie ``mha.cc``.
    """
    m, k, n = dimensions(a, b, c)
    _check_blocks(m, k, n)
    blocks = [each.reshape(rows // _SIDE, -1, _SIDE, _SIDE) for each, rows in ((a, m), (b, k), (c, m))]
    matmul(*blocks, generation="AIE2P", modes=Modes("conv_even"))


def _check_blocks(m: int, k: int, n: int) -> None:
    if any(each % _SIDE for each in (m, k, n)):
        raise CallError("m, k, n", f"{m}, {k}, {n}", f"multiples of {_SIDE}")


@answers("init_scale_buffer", writes=("state",), objects=_OBJECTS)
def mha_begin(state: Values, rows: int) -> None:
    """The state before the first block of keys, for ``rows`` queries: no score yet, sums of 0. Source:
    mlir-aie ``mha.cc``.
    """
    found = first(state, (_STATE - 1) * rows, "state")
    found[:rows] = _LOWEST
    found[rows:] = 0


@answers("partial_softmax", writes=("a", "p", "state"), types={"a": "bf16", "p": "bf16"}, objects=_OBJECTS)
def mha_softmax(
    a: Values,
    p: Values,
    state: Values,
    index: Values,
    scale: float,
    queries: int,
    keys: int,
    all_queries: int,
    all_keys: int,
) -> None:
    """Scores a[queries, keys] of block ``index[0]`` of keys and block ``index[1]`` of queries become weights
    ``p = 2 ** (a * scale - largest)``, rounded to nearest even, and the state goes on. A key that comes after
    its query, or that is none of ``all_keys``, weighs nothing, and so does a row that is none of
    ``all_queries``; their scores become the lowest number. Source: mlir-aie ``mha.cc``, DEV-KERNEL-4.
    """
    key_block, query_block = (int(each) for each in first(index, 2, "index"))
    diagonal = query_block * queries - key_block * keys
    rows = min(max(all_queries - query_block * queries, 0), queries)
    columns = min(max(all_keys - key_block * keys, 0), keys)
    if diagonal + queries <= 0 or not rows or not columns:
        p[...] = 0
        return
    given, found = (
        first(each, queries * keys, name).reshape(queries, keys) for each, name in ((a, "a"), (p, "p"))
    )
    last = np.minimum(columns, np.arange(rows) + diagonal + 1)
    given[rows:] = _LOWEST
    given[:rows][np.arange(keys) >= last[:, None]] = _LOWEST
    before, now, sums, own = first(state, _STATE * queries, "state").reshape(_STATE, queries)
    mode = Modes("conv_even")
    factor, live = floats(np.asarray(scale, BF16)), floats(given[:rows])
    largest = mode.step(live.max(axis=1) * factor, BF16)
    now[:rows] = np.maximum(np.maximum(largest, _LOWEST), floats(before[:rows])).astype(state.dtype)
    found[:rows] = mode.into(np.exp2(live * factor - floats(now[:rows])[:, None]), p.dtype)
    found[rows:] = 0
    own[:rows] = mode.into(floats(found[:rows]).sum(axis=1, dtype=np.float32), state.dtype)
    kept = mode.step(np.exp2(floats(before) - floats(now)), BF16)
    sums[...] = mode.into(floats(own) + floats(sums) * kept, state.dtype)
    own[...], before[...] = kept, now


@answers("matmul_PV", writes=("b", "c", "state"), types={"a": "bf16", "b": "bf16"}, objects=_OBJECTS)
def mha_values(
    a: Values,
    b: Values,
    c: Values,
    state: Values,
    queries: int,
    later: int,
    index: Values,
    all_keys: int | None = None,
) -> None:
    """Weights times values: ``c = c * kept + a @ b`` in blocks of 8 x 8 as ``matmul_bf16_bf16_rowmaj``, where
    kept is what the state has of each row; c is 0 before where ``later`` is 0. Nothing where all keys of the
    block come after its queries. Rows of b that are no key of ``all_keys`` become 0. c is float32, or bf16
    with a state in bf16. Source: mlir-aie ``mha.cc``.
    """
    _, k, n = dimensions(a, b, c)
    if not later:
        c[...] = 0
    key_block, query_block = (int(each) for each in first(index, 2, "index"))
    if query_block * queries + queries <= key_block * k:
        return
    if all_keys is not None:
        held = b.reshape(k // _SIDE, n // _SIDE, _SIDE, _SIDE).swapaxes(1, 2).reshape(k, n // _SIDE, _SIDE)
        held[max(all_keys - key_block * k, 0) :] = 0
        b.reshape(-1)[...] = held.reshape(k // _SIDE, _SIDE, n // _SIDE, _SIDE).swapaxes(1, 2).reshape(-1)
    if later:
        kept = floats(first(state, _STATE * queries, "state")[-queries:])
        _scaled(c, c, kept)
    mha_rows(a, b, c)


@answers("rescale_O", writes=(), objects=_OBJECTS)
def mha_divide(*given: Any) -> None:
    """(o, c, state, queries, index): ``c = o / sums``, rounded to nearest even, in blocks of 8 x 8; the state
    gets the reciprocals of its sums, 0 for 0. Without c, o itself becomes that. Source: mlir-aie ``mha.cc``.
    """
    *arrays, queries, _ = given
    if len(arrays) not in (2, 3) or isinstance(queries, np.ndarray):
        raise CallError("the list of arguments", f"one of {len(given)}", "o, c, state, queries, index")
    *matrices, state = (each for each in arrays if isinstance(each, np.ndarray))
    sums = first(state, _STATE * queries, "state").reshape(_STATE, queries)[2]
    mode = Modes("conv_even")
    with np.errstate(divide="ignore"):
        sums[...] = mode.into(np.where(floats(sums) == 0, 0, 1 / floats(sums)), state.dtype)
    _scaled(matrices[0], matrices[-1], floats(sums))


def _scaled(source: Values, target: Values, factors: Floats) -> None:
    """Rows of blocks of 8 x 8 in 64 columns, each times its factor; rows without one stay as they are."""
    rows = factors.size
    if rows % _SIDE:
        raise CallError("the number of queries", str(rows), f"a multiple of {_SIDE}")
    blocks = floats(first(source, rows * _COLUMNS, "o")).reshape(rows // _SIDE, -1, _SIDE, _SIDE)
    scaled = blocks * factors.reshape(-1, 1, _SIDE, 1)
    first(target, rows * _COLUMNS, "c")[...] = Modes("conv_even").into(scaled.reshape(-1), target.dtype)
