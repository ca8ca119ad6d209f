"""Drawing the next token on the array, as mlir-aie's ``sample_select.cc`` and ``sample_combine.cc`` do.

A row of logits is cut into columns. ``sample_select`` makes a summary of each: its k largest logits as pairs
of index and key above the k-th largest, and a bit for each logit that equals that one. ``sample_combine``
draws from all summaries. A key is a logit's bits in the order of its numbers. All is exact: the weights are
``exp`` in float64 by the steps of :func:`exp64`, their sums are whole numbers of 2**-1074.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.corelib.name_types import Values
from memtile.corelib.registry import CallError, answers, first, unsaid

_HEADER = 8  # words of a summary before its entries
_TAU, _ENTRIES, _MAX_KEY, _ARGMAX, _TIES = range(5)
_SLICE, _CHUNK, _K_MAX, _COLUMNS = 32064, 5344, 64, 4  # the factories' defaults
_POS, _PHASE, _COUNT, _THR, _MAX, _FOUND, _TIED = 0, 1, 3, 5, 6, 7, 8  # words of the state between calls
_KEYS, _STATE_WORDS = 16, 272
_SIGN = 1 << 15  # of a logit; its key has the bit the other way round
_UNIT = 1074  # weights are whole numbers of 2**-1074
_OBJECTS = ("sample_select", "sample_combine", "sample")
_TABLE_BITS = 7
_TABLE = 1 << _TABLE_BITS
_SHIFT = np.float64(3 * 2.0**51)
_C2, _C3, _C4, _C5 = (np.float64(1) / np.float64(n) for n in (2, 6, 24, 120))


class Summary(NamedTuple):
    """What is known of a column.

    Attributes:
        slice: logits of the column.
        entries: most entries that it can have.
    """

    slice: int
    entries: int

    @property
    def bitmap(self) -> int:
        """Where the bits of ties begin."""
        return _HEADER + 2 * self.entries

    @property
    def words(self) -> int:
        """All words."""
        return self.bitmap + -(-self.slice // 32)


@answers(
    "sample_select",
    writes=("state", "c"),
    partly=("row", "state", "c"),
    types={"a": "bf16", **dict.fromkeys(("row", "state", "c"), "i32")},
    objects=_OBJECTS,
    defines={"slice_": "SAMPLE_SLICE", "most": "SAMPLE_K_MAX"},
)
def select(
    a: Values, row: Values, state: Values, c: Values, *, slice_: int | None = None, most: int | None = None
) -> None:
    """The summary c of a column whose logits come in chunks a, all of them twice, or once where a chunk is
    the column. ``row[1]`` is how many logits a token is drawn from; ``state`` is 0 before the first call and
    as it was after the last one. The column has ``SAMPLE_SLICE`` logits, 32,064 if nothing says it, and at
    most ``SAMPLE_K_MAX`` entries, 64. Source: mlir-aie ``sample_select.cc``.
    """
    form = _form(c.size, 1, slice_, most)
    held = first(state, _STATE_WORDS, "state")
    keys = _keys_of(a)
    if not keys.size or form.slice % keys.size:
        raise CallError("the number of elements of a", str(keys.size), f"one that divides {form.slice}")
    wanted = _top(row, form)
    while True:
        held[_COUNT] *= bool(held[_POS] or held[_PHASE])
        (_collect if held[_PHASE] else _scan)(keys, held, c, wanted, form)
        held[_POS] += keys.size
        if held[_POS] == form.slice:
            _end_pass(held, c, form)
        if not (keys.size == form.slice and held[_PHASE]):
            return


def _scan(keys: Values, held: Values, c: Values, wanted: int, form: Summary) -> None:
    """Keep the largest keys so far, and clear the bits of ties before the first chunk."""
    if not held[_POS]:
        c.reshape(-1)[form.bitmap : form.words] = 0
        held[_FOUND] = held[_TIED] = 0
    known = held[_KEYS : _KEYS + held[_COUNT]]
    largest = np.sort(np.concatenate([known, keys]))[::-1][:wanted]
    held[_COUNT], held[_KEYS : _KEYS + largest.size] = largest.size, largest


def _collect(keys: Values, held: Values, c: Values, _: int, form: Summary) -> None:
    """Note the logits above the k-th largest, and those that equal it."""
    summary, at, tau = c.reshape(-1), int(held[_POS]), held[_THR]
    above = np.flatnonzero(keys > tau)
    place = _HEADER + 2 * int(held[_FOUND])
    pairs = np.stack([at + above, keys[above]], axis=1).reshape(-1)
    summary[place : place + pairs.size] = pairs
    held[_FOUND] += above.size
    bits = summary[form.bitmap : form.words].view(np.uint32)
    tied = at + np.flatnonzero(keys == tau)
    np.bitwise_or.at(bits, tied // 32, np.uint32(1) << (tied % 32).astype(np.uint32))
    held[_TIED] += tied.size


def _end_pass(held: Values, c: Values, form: Summary) -> None:
    summary = c.reshape(-1)
    if held[_PHASE] == 0:
        held[_MAX], held[_THR] = held[_KEYS], held[_KEYS + held[_COUNT] - 1]
    else:
        summary[:_HEADER] = 0
        for at, word in ((_TAU, _THR), (_ENTRIES, _FOUND), (_MAX_KEY, _MAX), (_TIES, _TIED)):
            summary[at] = held[word]
        pairs = list(_above(summary, form))
        best = [index for index, key in pairs if key == held[_MAX]] or list(_tied(summary, form))
        summary[_ARGMAX] = best[0]
    held[_POS], held[_PHASE] = 0, 1 - held[_PHASE]


@answers("sample_combine", writes=("c", "record"), types=dict.fromkeys(("a", "row", "c", "record"), "i32"),
         objects=_OBJECTS, partly=("a", "row"),
         defines={"slice_": "SAMPLE_SLICE", "most": "SAMPLE_K_MAX", "columns": "SAMPLE_COLUMNS"})  # fmt: skip
def combine(
    a: Values,
    row: Values,
    c: Values,
    record: Values,
    *,
    slice_: int | None = None,
    most: int | None = None,
    columns: int | None = None,
) -> None:
    """The token that is drawn from the summaries a of ``SAMPLE_COLUMNS`` columns, 4 if nothing says it, into
    c and into ``record``. ``row`` has the temperature as float32, how many logits it is drawn from, and the
    53 bits of the number that draws; without a temperature it is the first of the largest. Source: mlir-aie
    ``sample_combine.cc``.
    """
    many = _COLUMNS if columns is None else columns
    if not many or a.size % many:
        raise unsaid("SAMPLE_COLUMNS", f"the columns of {a.size} words of summaries")
    form = _form(a.size // many, many, slice_, most)
    words = first(row, 4, "row").view(np.uint32).tolist()
    c[...] = record[...] = _drawn(a.reshape(many, -1), words, _top(row, form), form)


def _drawn(summaries: Values, words: list[int], wanted: int, form: Summary) -> int:
    """The index of the token in the whole row."""
    best = max(range(len(summaries)), key=lambda n: (int(summaries[n][_MAX_KEY]), -n))
    largest = int(summaries[best][_MAX_KEY])
    if not words[0] & (1 << 31) - 1:
        return best * form.slice + int(summaries[best][_ARGMAX])
    every = [
        (n * form.slice + index, key)
        for n, summary in enumerate(summaries)
        for index, key in sorted(
            [*_above(summary, form), *((at, int(summary[_TAU])) for at in _tied(summary, form))]
        )
    ]
    tau = sorted((key for _, key in every), reverse=True)[min(wanted, len(every)) - 1]
    candidates = [(index, key) for index, key in every if key >= tau]
    temperature = _single(words[0])
    known = {key: _weight(key, largest, temperature) for _, key in candidates}
    total = sum(known[key] for _, key in candidates)
    share = (words[2] | words[3] << 32) * total >> 53
    before = 0
    for index, key in candidates:
        before += known[key]
        if before > share:
            return index
    return candidates[-1][0]


def _weight(key: int, largest: int, temperature: np.float32) -> int:
    """A key's weight in units of 2**-1074, at most 1."""
    with np.errstate(all="ignore"):
        value = _number(key) / temperature - _number(largest) / temperature
    found = float(exp64(np.float64(value)))
    return int(Fraction(found if found <= 1 else 1.0) * 2**_UNIT)


def _above(summary: Values, form: Summary) -> Iterator[tuple[int, int]]:
    """Index and key of each logit above the k-th largest."""
    pairs = summary[_HEADER : form.bitmap].reshape(-1, 2)[: int(summary[_ENTRIES])]
    yield from ((int(index), int(key)) for index, key in pairs)


def _tied(summary: Values, form: Summary) -> Iterator[int]:
    """Indices of the logits that equal the k-th largest."""
    bits = np.unpackbits(
        np.ascontiguousarray(summary[form.bitmap : form.words]).view(np.uint8), bitorder="little"
    )
    yield from map(int, np.flatnonzero(bits))


def _form(words: int, columns: int, slice_: int | None, most: int | None) -> Summary:
    form = Summary(_SLICE if slice_ is None else slice_, _K_MAX if most is None else most)
    if form.words != words:
        given = f"{words} words for each of {columns} columns" if columns > 1 else f"{words} words"
        said = f"{form.slice} logits (SAMPLE_SLICE) and {form.entries} entries (SAMPLE_K_MAX)"
        allowed = f"{form.words} for {said}, or those of other ones: aie.library(..., defines={{...}})"
        raise CallError("the size of a summary", given, allowed)
    return form


def _top(row: Values, form: Summary) -> int:
    return min(max(int(first(row, 4, "row")[1]), 1), form.entries)


def _keys_of(values: Values) -> npt.NDArray[np.int32]:
    """Keys of logits: their order is that of the numbers, both zeros have one."""
    bits = values.reshape(-1).view(np.uint16).astype(np.int32)
    bits[bits == _SIGN] = 0
    return np.where(bits & _SIGN, 0xFFFF - bits, bits | _SIGN).astype(np.int32)


def _number(key: int) -> np.float32:
    bits = key & _SIGN - 1 if key & _SIGN else key ^ 0xFFFF
    return _single(bits << 16)


def _single(bits: int) -> np.float32:
    """The float32 number of a word."""
    return np.float32(np.array(bits, np.uint32).view(np.float32)[()])


def _double(bits: int) -> np.float64:
    """The float64 number of 64 bits."""
    return np.float64(np.array(bits & (1 << 64) - 1, np.uint64).view(np.float64)[()])


@cache
def _powers() -> tuple[tuple[np.float64, int], ...]:
    """What ``2**(n / 128)`` is more than its float64, relatively, and the bits of that, less n << 45."""
    context, found = Context(prec=60), []
    for n in range(_TABLE):
        exact = context.power(Decimal(2), context.divide(Decimal(n), Decimal(_TABLE)))
        near = float(exact)
        tail = context.subtract(context.divide(exact, Decimal(near)), Decimal(1))
        bits = int(np.float64(near).view(np.uint64)) - (n << 52 - _TABLE_BITS)
        found.append((np.float64(float(tail)), bits))
    return tuple(found)


@cache
def _halves() -> tuple[np.float64, np.float64, np.float64]:
    """128 / ln 2, and -ln 2 / 128 in two parts, the first with 34 bits so that its products are exact."""
    context = Context(prec=60)
    part = context.divide(context.ln(Decimal(2)), Decimal(_TABLE))
    scale = 2**42
    high = Fraction(round(Fraction(part) * scale), scale)
    low = float(Fraction(part) - high)
    return np.float64(float(context.divide(Decimal(1), part))), np.float64(-float(high)), np.float64(-low)


def exp64(x: np.float64) -> np.float64:
    """``exp(x)`` of a number that is not above 0, in steps of float64 that are the same on every machine.

    ``x = n * ln 2 / 128 + r``; the power of 2 is from a table and ``exp(r)`` a polynomial of degree 5.
    Source: mlir-aie ``exp64.h``.
    """
    if not x > -1024:
        return np.float64(np.exp(x)) if np.isnan(x) else np.float64(0)
    if abs(x) < 2.0**-54:
        return np.float64(1) + x
    inverse, high, low = _halves()
    shifted = inverse * x + _SHIFT
    whole = int(shifted.view(np.uint64))
    n = shifted - _SHIFT
    r = (x + n * high) + n * low
    tail, bits = _powers()[whole % _TABLE]
    scale_bits = bits + (whole << 52 - _TABLE_BITS)
    square = r * r
    sum_ = ((tail + r) + square * (_C2 + r * _C3)) + (square * square) * (_C4 + r * _C5)
    return _tiny(scale_bits, sum_) if x <= -512 else _scaled(scale_bits, sum_)


def _scaled(bits: int, more: np.float64) -> np.float64:
    scale = _double(bits)
    return scale + scale * more


def _tiny(bits: int, more: np.float64) -> np.float64:
    """The power where it may be no normal number: at a scale that is, rounded once on its way down."""
    scale = _double(bits + (1022 << 52))
    part = scale * more
    found = scale + part
    if found < 1:
        rest = (scale - found) + part
        up = np.float64(1) + found
        found = (up + (((np.float64(1) - up) + found) + rest)) - np.float64(1)
    return np.float64(2.0**-1022) * found
