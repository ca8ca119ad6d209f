"""Cycles of kernels of AMD's DSP library as its tables publish them, and what they say of other kernels.

A kernel takes as long as the row nearest to it, by the power ``SLOPE`` of the work (DEV-ADF-160). How near a
row is, ``distance`` says: sizes by the logarithm of their ratio, what else differs by weights that were
chosen before any row was compared. How wide the band is follows from the rows themselves, each predicted
from the others (docs/cpp.md, Cycles).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import NamedTuple

from memtile.arch.grades import Grade, Source

SOURCE = Source("Vitis Libraries 2024.2, DSP library, Benchmark/QoR, rows of AIE-ML", Grade.MANUAL)
SLOPE = 0.9
"""Power of the ratio of work by which cycles grow: the one with the least error among those rows."""
SLOPE_SOURCE = Source("least error among the rows, each from the others", Grade.ASSUMED)
_TYPE, _OTHER, _INTERFACE = 2.0, 1.5, 2.0
_CASES = (0.7, 1.0, 0.4, 0.4)
_CHAIN, _LONGER_CHAIN, _ITEMS = 0.5, 0.3, 0.5
_SPREADS = ((0.01, 0.09), (0.3, 0.41), (0.6, 0.49), (1.5, 0.65), (2.5, 1.4))
_WIDEST = 2.2
SPREAD_SOURCE = Source("19 of 20 rows of that distance, each from the others", Grade.ASSUMED)


class KernelShape(NamedTuple):
    """What decides the cycles of a call of an element's kernel; its terms are those of the file.

    Attributes:
        element: of the library, ``fir_sr_asym``.
        data: type of its data.
        other: type of coefficients, twiddles or the second operand.
        streams: whether its data comes by streams.
        case: mode, whether coefficients are reloaded, interpolation, decimation.
        work: products or butterflies of a call.
        items: elements that a call gives.
        chain: kernels in a cascade.
    """

    element: str
    data: str
    other: str
    streams: bool
    case: tuple[int, ...]
    work: float
    items: float
    chain: int = 1


class LibraryCount(NamedTuple):
    """Published cycles of an iteration.

    Attributes:
        shape: of the kernel.
        cycles: from iteration to iteration.
    """

    shape: KernelShape
    cycles: int


class CycleBand(NamedTuple):
    """Cycles of a call.

    Attributes:
        cycles: that it takes by the nearest row.
        least: that it may take.
        most: that it may take.
    """

    cycles: int
    least: int
    most: int


@cache
def library_counts() -> dict[str, tuple[LibraryCount, ...]]:
    """The published rows, by element."""
    found: dict[str, list[LibraryCount]] = {}
    text = files(__package__).joinpath("library_cycles.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            element, data, other, api, case, work, items, chain, cycles = line.split()
            cases = tuple(map(int, case.split("/")))
            shape = KernelShape(
                element, data, other, api == "1", cases, float(work), float(items), int(chain)
            )
            found.setdefault(element, []).append(LibraryCount(shape, int(cycles)))
    return {element: tuple(rows) for element, rows in found.items()}


def cycle_band(shape: KernelShape, rows: Iterable[LibraryCount] | None = None) -> CycleBand | None:
    """Cycles of a call by the nearest of the published rows; None where the element has none.

    Args:
        shape: of the call.
        rows: to look at; None = those of the element.
    """
    known = tuple(library_counts().get(shape.element, ()) if rows is None else rows)
    if not known:
        return None
    near = min(known, key=lambda row: distance(shape, row.shape))
    cycles = near.cycles * (shape.work / near.shape.work) ** SLOPE
    wide = exp(_spread(distance(shape, near.shape)))
    return CycleBand(round(cycles), round(cycles / wide), round(cycles * wide))


def distance(one: KernelShape, other: KernelShape) -> float:
    """How far one kernel is from another of the same element; 0 = they are alike."""
    far = _ratio(one.work, other.work) + _ITEMS * _ratio(one.items, other.items)
    far += _LONGER_CHAIN * _ratio(one.chain, other.chain) + _CHAIN * ((one.chain > 1) != (other.chain > 1))
    far += _TYPE * (one.data != other.data) + _OTHER * (one.other != other.other)
    far += _INTERFACE * (one.streams != other.streams)
    return far + sum(weight * (a != b) for weight, a, b in zip(_CASES, one.case, other.case, strict=True))


def _ratio(a: float, b: float) -> float:
    return abs(log(a / b))


def _spread(far: float) -> float:
    """Logarithm of the factor that the cycles may be wrong by."""
    return next((wide for end, wide in _SPREADS if far < end), _WIDEST)
