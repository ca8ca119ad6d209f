"""Patterns that a BD cannot hold as several that it can (mlir-aie, AIEDecomposeLargeDmaBd).

aiecc does this by default with constant patterns that are not contiguous. What is moved and in which order
stays: a dimension becomes two, or the outermost one is cut into slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd, isqrt

from memtile.arch.tiles import TileKind
from memtile.importers.mlir.sequence.bd_lowering import (
    GRANULE_BITS,
    INNER,
    Pattern,
    is_contiguous,
    pattern_fault,
)


def decomposed(kind: TileKind, bits: int, pattern: Pattern) -> list[Pattern]:
    """The patterns that mlir-aie makes of one, in order; itself if it fits, or if no way is found.

    Args:
        kind: of the tile that has the BDs.
        bits: of an element.
        pattern: in elements.
    """
    if is_contiguous(pattern) or _fits(kind, bits, pattern) or max(pattern.sizes) > _MOST_SIZE:
        return [pattern]
    found = _parts(kind, bits, pattern, iter(range(_MOST_TRIES)))
    return found if found and len(found) <= kind.bds else [pattern]


_MOST_TRIES = 1 << 14
"""Patterns that are tried for one; real ones need some dozens."""

_MOST_SIZE = 1 << 32
"""Elements of a dimension that is looked at; more than a BD of an interface tile can move."""


def _fits(kind: TileKind, bits: int, pattern: Pattern) -> bool:
    return not pattern_fault(kind, bits, pattern, linear=False)


def _parts(kind: TileKind, bits: int, pattern: Pattern, tries: Iterator[int]) -> list[Pattern]:
    """The patterns; none if no way is found."""
    if next(tries, None) is None:
        return []
    if _fits(kind, bits, pattern):
        return [pattern]
    outermost = max((n for n, size in enumerate(pattern.sizes) if size > 1), default=None)
    if outermost is None:
        return []
    for factored in _factored(bits, pattern) if pattern.sizes[INNER] == 1 else ():
        if found := _parts(kind, bits, factored, tries):
            return found
    size, most = pattern.sizes[outermost], _most(kind, bits, outermost)
    if not 0 < most < size:
        return []
    slices = list[Pattern]()
    for first in range(0, size, most):
        found = _parts(kind, bits, _slice(pattern, outermost, first, min(most, size - first)), tries)
        if not found:
            return []
        slices += found
    return slices


def _factored(bits: int, pattern: Pattern) -> Iterator[Pattern]:
    """Each way to make two dimensions of one, the largest inner factor first."""
    for at in range(INNER):
        size, stride = pattern.sizes[at], pattern.strides[at]
        for inner in _factors(size):
            if at == 0 and inner * bits % GRANULE_BITS:
                continue
            sizes = (*pattern.sizes[:at], inner, size // inner, *pattern.sizes[at + 1 : INNER])
            strides = (*pattern.strides[:at], stride, inner * stride, *pattern.strides[at + 1 : INNER])
            yield Pattern(sizes, strides, pattern.offset)


@lru_cache(maxsize=1 << 12)
def _factors(size: int) -> list[int]:
    """The factors of a number but for 1 and itself, the largest first."""
    small = [n for n in range(2, isqrt(size) + 1) if size % n == 0]
    return sorted({*small, *(size // n for n in small)}, reverse=True)


def _slice(pattern: Pattern, at: int, first: int, size: int) -> Pattern:
    sizes = (*pattern.sizes[:at], size, *pattern.sizes[at + 1 :])
    return Pattern(sizes, pattern.strides, pattern.offset + first * pattern.strides[at])


def _most(kind: TileKind, bits: int, dimension: int) -> int:
    """The largest size of a dimension, in elements (mlir-aie, maxLegalInputSizeForDim)."""
    if dimension == INNER:
        return 1 << kind.bd_fields["Iteration_Wrap"].bits
    wrap = (1 << kind.bd_fields["D0_Wrap"].bits) - 1
    if dimension:
        return wrap
    whole = GRANULE_BITS // gcd(bits, GRANULE_BITS)
    return wrap * GRANULE_BITS // bits // whole * whole
