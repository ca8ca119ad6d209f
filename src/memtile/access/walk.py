"""The address walk of a buffer descriptor: which word each stream slot names, in order.

A walk is a nest of counters (AM020 ch. 5, address generation): D0 runs fastest, a counter that reaches its
wrap returns to 0 and advances the next, wrap 0 never returns, and the length ends the walk wherever it is.
Zero padding (memory tile MM2S) has box volume: the zeros of a dimension surround its whole loop and are
counted by the length. This module knows addresses, not time and not data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtile.bd.descriptor import Descriptor

PAD = -1  # address of a pad word: a stream slot without memory access
CHUNK_WORDS = 1 << 17

_SEED_WORDS = 1 << 9  # run that is counted before copying begins
_SOURCE_WORDS = 1 << 15  # block that is copied while it is still in the cache
_UNSEEN = np.int64(-(1 << 62))  # a pad while addresses are still being added to it

Addresses = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Walk:
    """One execution of a descriptor as plain numbers; all in 32-bit words.

    Attributes:
        base: address of the first data word, iteration offset included.
        length: stream words, pad words included.
        steps: address step per dimension, D0 first; missing steps are 1, what a register of 0 means.
        wraps: data words of a D0 row, rows of a D1 plane, planes of a D2 block; 0 or missing = never wraps,
            so the dimension after the last wrap runs until the length is used up.
        before: zeros before D0 in words, D1 in rows, D2 in planes.
        after: zeros after, in the same units.
    """

    base: int
    length: int
    steps: tuple[int, ...] = (1,)
    wraps: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    @classmethod
    def of(cls, descriptor: Descriptor, execution: int = 0) -> Walk:
        """The walk of the ``execution``-th run of ``descriptor`` from its current iteration on.

        Iteration_Current advances by one each time the BD is loaded and wraps after Iteration_Wrap runs
        (AM025). Values are taken as they are: legality is the business of ``bd.legality``.
        """
        iteration = descriptor.iteration
        last = descriptor.kind.dimensions - 1  # this dimension has no wrap field
        return cls(
            base=descriptor.address + iteration.position(execution) * iteration.step,
            length=descriptor.length,
            steps=tuple(dim.step for dim in descriptor.dims),
            wraps=tuple(dim.wrap for dim in descriptor.dims[:last]),
            before=tuple(pad.before for pad in descriptor.pad),
            after=tuple(pad.after for pad in descriptor.pad),
        )

    @property
    def padded(self) -> bool:
        """Whether any dimension has padding."""
        return any(self.before) or any(self.after)

    def moved(self, words: int) -> Walk:
        """This walk, ``words`` further up in memory."""
        return replace(self, base=self.base + words)

    def unpadded(self) -> Walk:
        """The walk of an S2MM channel: no padding and no step of 0 (AM025, AM029: MM2S only; DEV-V2-8)."""
        return replace(self, steps=tuple(step or 1 for step in self.steps), before=(), after=())


class Loop(NamedTuple):
    """One counter: ``before`` pad units, ``wrap`` units ``step`` words apart, ``after`` pad units."""

    before: int
    wrap: int
    after: int
    step: int

    @property
    def units(self) -> int:
        """Inner units that one turn of this loop emits."""
        return self.before + self.wrap + self.after

    @property
    def plain(self) -> bool:
        """Whether the loop has no padding of its own."""
        return not (self.before or self.after)


def _counter(walk: Walk, d: int) -> Loop:
    wrap = _at(walk.wraps, d, 0) or max(walk.length, 1)
    return Loop(_at(walk.before, d, 0), wrap, _at(walk.after, d, 0), _at(walk.steps, d, 1))


def _continues(loop: Loop, inner: Loop) -> bool:
    """Whether a loop goes on where the one below it ends, neither of them padded."""
    return inner.plain and loop.plain and inner.wrap * inner.step == loop.step


def loops(walk: Walk) -> tuple[Loop, ...]:
    """The counters of ``walk``, innermost first, in the fewest loops that give the same addresses.

    A counter that never wraps gets a count that outlasts the length. Loops that continue the one below are
    merged with it, so a contiguous walk is a single loop of step 1.
    """
    nest: list[Loop] = []
    size = 1
    for d in range(len(walk.wraps) + 1):
        loop = _counter(walk, d)
        if size >= walk.length and not loop.before:
            continue  # never reached
        size *= loop.units
        if nest and _continues(loop, nest[-1]):
            nest[-1] = nest[-1]._replace(wrap=nest[-1].wrap * loop.wrap)
        elif loop.units > 1:
            nest.append(loop)
    return tuple(nest) or (Loop(0, 1, 0, 1),)


def turn_words(nest: Sequence[Loop]) -> int:
    """Stream words of one turn of ``nest``, pads included."""
    return prod(loop.units for loop in nest)


def addresses(walk: Walk) -> Addresses:
    """Word address of every stream word of ``walk``: int64[length], :data:`PAD` (-1) for pad words."""
    return _emit(walk, 0, walk.length)


def chunks(walk: Walk, words: int = CHUNK_WORDS) -> Iterator[Addresses]:
    """The pieces of :func:`addresses`, ``words`` long but for the last; each is a fresh int64 array."""
    for start in range(0, walk.length, words):
        yield _emit(walk, start, min(start + words, walk.length))


def _at(values: tuple[int, ...], index: int, missing: int) -> int:
    return values[index] if index < len(values) else missing


def _emit(walk: Walk, start: int, stop: int) -> Addresses:
    out = np.empty(stop - start, np.int64)
    _fill(out, loops(walk), walk.base, start)
    return np.maximum(out, PAD, out=out) if walk.padded else out


def _fill(out: Addresses, nest: Sequence[Loop], base: int, start: int) -> None:
    """Write words ``start``, ``start + 1``, ... of one turn of ``nest`` to ``out``."""
    *inner, loop = nest
    unit = turn_words(inner)
    lead = max(min(loop.before * unit - start, len(out)), 0)
    position = max(start - loop.before * unit, 0)
    data = out[lead : lead + max(loop.wrap * unit - position, 0)]
    out[:lead] = _UNSEEN
    out[lead + len(data) :] = _UNSEEN
    index, inside = divmod(position, unit)
    if inside:
        _fill(data[: unit - inside], inner, base + index * loop.step, inside)
        data, index = data[unit - inside :], index + 1
    _repeat(data, inner, base + index * loop.step, loop.step)


def _repeat(out: Addresses, inner: Sequence[Loop], base: int, step: int) -> None:
    """Fill ``out`` with turns of ``inner``, each ``step`` further: make one, then copy what is there."""
    unit = turn_words(inner)
    if inner:
        done = min(unit, len(out))
        _fill(out[:done], inner, base, 0)
    else:
        done = min(_SEED_WORDS, len(out))
        out[:done] = base + step * np.arange(done)
    block = max(_SOURCE_WORDS // unit, 1) * unit
    while done < len(out):
        words = min(done, len(out) - done, block)
        np.add(out[:words], done // unit * step, out=out[done : done + words])
        done += words
