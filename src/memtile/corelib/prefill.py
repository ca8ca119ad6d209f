"""Attention over 128 keys at a time, as mlir-aie's ``flash_attn_prefill.cc`` has it, in two geometries.

A head of 512 numbers is worked on in 8 queries by 8 keys, one of 256 in 16 by 16. Which one a call is of
follows from its arrays. Matrices are in blocks of 8 x 8, each row-major; sums are float32, in the order of
the keys. Products, weights and outputs round to bf16 by the core's mode.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.corelib.name_types import BF16, Values, floats
from memtile.corelib.registry import CallError, answers, first
from memtile.corelib.rounding import Modes

Floats = npt.NDArray[np.float32]
_SIDE = 8
_KEYS = 128  # of a block
_LOG2E = 1.4426950408889634
_NONE = -(2.0**127) * (2 - 2.0**-7)  # the lowest number of bf16 stands for no score
_OBJECTS = ("flash_attn_prefill",)
_BF = "bf16"


class AttentionHead(NamedTuple):
    """A geometry.

    Attributes:
        size: numbers of a query, a key and a value.
        side: queries of a tile and keys of a step.
    """

    size: int
    side: int

    @property
    def scale(self) -> np.float32:
        """What differences of scores are multiplied by: log2(e) over the root of the size, in bf16."""
        single = np.float32(_LOG2E) * np.float32(self.size**-0.5)
        return np.float32(np.asarray(single, BF16)[()])


_HEADS = (AttentionHead(512, 8), AttentionHead(256, 16))


def _of_rows(values: Values, name: str) -> AttentionHead:
    return _head(values, name, {head.side: head for head in _HEADS})


def _of_scores(values: Values) -> AttentionHead:
    return _head(values, "s", {head.side * keys: head for head in _HEADS for keys in (head.side, _KEYS)})


def _head(values: Values, name: str, sizes: dict[int, AttentionHead]) -> AttentionHead:
    if values.size not in sizes:
        allowed = f"one of {', '.join(map(str, sizes))}"
        raise CallError(f"the number of elements of {name}", str(values.size), allowed)
    return sizes[values.size]


@answers("prefill_round_begin", writes=("before", "now", "c", "sums", "y"), objects=_OBJECTS,
         types={"before": _BF, "now": _BF, "c": "f32", "sums": "f32", "y": "f32"})  # fmt: skip
def prefill_begin(before: Values, now: Values, c: Values, sums: Values, y: Values) -> None:
    """The state before the first block of keys: no largest score, factors of 1, sums and outputs of 0.
    Source: mlir-aie ``flash_attn_prefill.cc``.
    """
    _of_rows(c, "c")
    before[...], now[...], c[...] = _NONE, _NONE, 1
    sums[...], y[...] = 0, 0


@answers("prefill_qk_step", writes=("s", "m"), objects=_OBJECTS,
         partly=("s", "q", "before", "begin_", "window"),
         types=dict.fromkeys(("s", "q", "k", "m", "before"), _BF))  # fmt: skip
def prefill_scores(
    s: Values, q: Values, k: Values, m: Values, before: Values, begin_: Values, window: Values,
    row: int, column: int, round_: int, block: int, step: int, *, modes: Modes,
) -> None:  # fmt: skip
    """Scores of step ``step`` of block ``block`` of keys, into their place in s, and the largest ones of each
    row and lane in m, which step 0 begins with those before. Keys after their query, and those that are
    ``window[0]`` and more before it, score the lowest number. Queries begin at ``begin_[0] + 128 * round_``;
    ``row`` and ``column`` of the core say which are its own. Source: mlir-aie ``flash_attn_prefill.cc``.
    """
    head = _of_rows(before, "before")
    size, side = head
    if step == 0:
        first(m, side * side, "m").reshape(side, side)[...] = before.reshape(-1, 1)
    start = int(begin_.reshape(-1)[0]) + round_ * _KEYS
    across, offset = _place(head, row, column)
    tile = first(q, (offset + 1) * side * size, "q")[offset * side * size :]
    queries = _unblocked(tile, side, size)
    across_first = first(k, side * size, "k").reshape(size // _SIDE, side // _SIDE, -1).swapaxes(0, 1)
    keys = _unblocked(across_first, side, size)
    found = modes.into(queries.astype(np.float64) @ keys.astype(np.float64).T, BF16)
    width = int(window.reshape(-1)[0])
    key = max(start - width, 0) + (block * (_KEYS // side) + step) * side + np.arange(side)
    own = start + across + np.arange(side).reshape(-1, 1)
    least = np.maximum(own - width, np.arange(side).reshape(-1, 1) - side)
    found[(key > own) | (key <= least)] = _NONE
    largest = first(m, side * side, "m").reshape(side, side)
    largest[...] = np.maximum(floats(largest), floats(found))
    place = first(s, (step + 1) * side * side, "s")[step * side * side :]
    place[...] = found.reshape(-1)


def _place(head: AttentionHead, row: int, column: int) -> tuple[int, int]:
    """The first query of a core in its round, and which tile of its queries it works on."""
    if head.side == _SIDE:
        return (column >> 1) * 64 + (column & 1) * 8 + row * 16, column & 1
    return column * 16 + row * 32, column


@answers(
    "prefill_block_mid",
    writes=("s", "now", "before", "c", "sums", "y"),
    objects=_OBJECTS,
    types={**dict.fromkeys(("s", "m", "now", "before"), _BF), **dict.fromkeys(("c", "sums", "y"), "f32")},
)
def prefill_softmax(
    s: Values, m: Values, now: Values, before: Values, c: Values, sums: Values, y: Values, *, modes: Modes
) -> None:
    """Scores of a block of keys become weights, ``2 ** ((s - largest) * log2(e) / sqrt(size))``; what was
    summed before is scaled by c, and the weights are added to the sums. Scores are of [step, query, key],
    weights in blocks of 8 x 8. Source: mlir-aie ``flash_attn_prefill.cc``, DEV-KERNEL-4.
    """
    head = _of_rows(now, "now")
    side = head.side
    now[...] = floats(first(m, side * side, "m")).reshape(side, side).max(axis=1).astype(BF16)
    steps = first(s, side * _KEYS, "s").reshape(-1, side, side)
    less = modes.step(floats(steps) - floats(now).reshape(-1, 1), BF16)
    found = modes.into(np.exp2(less * head.scale), BF16)
    c[...] = modes.step(np.exp2(modes.step(floats(before) - floats(now), BF16) * head.scale), BF16)
    blocks = found.reshape(-1, side // _SIDE, _SIDE, side // _SIDE, _SIDE).swapaxes(2, 3)
    first(s, side * _KEYS, "s")[...] = blocks.reshape(-1)
    sums[...] = floats(found).sum(axis=(0, 2), dtype=np.float32) + sums * c
    outputs = y.reshape(side // _SIDE, -1, _SIDE, _SIDE)
    outputs *= c.reshape(-1, 1, _SIDE, 1)  # AMD's keeps 16 bits of y
    before[...] = now


@answers(
    "prefill_fv_step", writes=("y",), objects=_OBJECTS, partly=("s",), types={"y": "f32", "s": _BF, "v": _BF}
)
def prefill_values(y: Values, s: Values, v: Values, step: int) -> None:
    """``y += weights @ v`` of step ``step``: y[queries/8, size/8, 8, 8], weights in blocks of 8 x 8,
    v[size/8, keys/8, 8, 8]. Source: mlir-aie ``flash_attn_prefill.cc``.
    """
    size, side = _of_scores(s)
    tile = first(s, (step + 1) * side * side, "s")[step * side * side :]
    left = _unblocked(tile, side, side)
    right = floats(first(v, side * size, "v")).reshape(size // _SIDE, side, _SIDE)
    outputs = first(y, side * size, "y").reshape(side // _SIDE, -1, _SIDE, _SIDE)
    for key in range(side):  # in float32, one key after another, as the core sums
        outputs += left[:, key].reshape(-1, 1, _SIDE, 1) * right[:, key].reshape(1, -1, 1, _SIDE)


@answers(
    "prefill_epilogue",
    writes=("c", "sums"),
    objects=_OBJECTS,
    partly=("sums", "y"),
    types={"c": _BF, "sums": "f32", "y": "f32"},
)
def prefill_divide(c: Values, sums: Values, y: Values, chunk: int, *, modes: Modes) -> None:
    """64 outputs of y over their sums; chunk 0 first replaces the sums by their reciprocals. Source: mlir-aie
    ``flash_attn_prefill.cc``.
    """
    head = _of_rows(sums, "sums")
    if chunk == 0:
        with np.errstate(divide="ignore"):
            sums[...] = np.float32(1) / sums
    row = chunk // (head.size // _SIDE)
    outputs = first(y, (chunk + 1) * _SIDE * _SIDE, "y")[chunk * _SIDE * _SIDE :].reshape(_SIDE, _SIDE)
    factors = first(sums, (row + 1) * _SIDE, "sums")[row * _SIDE :]
    first(c, _SIDE * _SIDE, "c")[...] = modes.into((outputs * factors.reshape(-1, 1)).reshape(-1), BF16)


def _unblocked(values: Values, rows: int, columns: int) -> Floats:
    """A matrix in blocks of 8 x 8, [rows/8, columns/8, 8, 8]."""
    blocks = floats(values).reshape(rows // _SIDE, columns // _SIDE, _SIDE, _SIDE)
    return blocks.swapaxes(1, 2).reshape(rows, columns)
