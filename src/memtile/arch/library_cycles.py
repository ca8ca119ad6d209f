"""Cycles of kernels of AMD's DSP library as its tables publish them, and what they say of other kernels.

A row has the period of a graph of one kernel, or of a few. Where the kernel sets it, that is how long a call
takes. Where PLIOs set it, the latency says how long: words are under way before the buffers, as many as the
FIFOs of AM020 hold, then in both buffers of each side; what is left of the latency is the call (DEV-ADF-160).

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
_UNDER_WAY = 78  # words that wait before an input buffer
_LAG = 95  # cycles and words that a latency has beside periods, blocks of words and the call
LATENCY_SOURCE = Source(
    "AM020: a FIFO of 12 PLIO words, eight words in each of four switches, six before and 16 in the DMA; "
    "what the latencies of rows leave whose kernel sets the period",
    Grade.ASSUMED,
)
_PACE = 1.03  # PLIOs set a period up to that multiple of their words ...
_PACE_CYCLES = 10  # ... and so many cycles more
_TYPE, _OTHER, _INTERFACE = 2.0, 1.5, 2.0
_CASES = (0.7, 1.0, 0.4, 0.4, _OTHER)  # points set in a run: as other as other twiddles
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
        case: mode, whether coefficients are reloaded, interpolation, decimation, whether the points of an
            FFT are set in a run.
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
    """Cycles of a call, by a published row.

    Attributes:
        shape: of the kernel.
        cycles: of a call.
    """

    shape: KernelShape
    cycles: int


class Passage(NamedTuple):
    """An iteration at a stable rate, as a published row has it, in the terms of the file.

    Attributes:
        cycles: from iteration to iteration.
        into: words at the first input PLIO, 0 = there is none.
        out: words at each output PLIO.
        latency: cycles from the first word in to the first word out, -1 = none.
    """

    cycles: int
    into: int
    out: int
    latency: int


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
            element, data, other, api, case, work, items, chain, *passage = line.split()
            cases = tuple(map(int, case.split("/")))
            shape = KernelShape(
                element, data, other, api == "1", cases, float(work), float(items), int(chain)
            )
            cycles = call_cycles(shape, Passage(*map(int, passage)))
            found.setdefault(element, []).append(LibraryCount(shape, cycles))
    return {element: tuple(rows) for element, rows in found.items()}


def call_cycles(shape: KernelShape, row: Passage) -> int:
    """Cycles of a call of a row's kernel.

    The period of the row, unless its PLIOs set that. Then, with two buffers on each side: an output PLIO
    that sets it holds the kernel back, and the input fills all that lies before; an input PLIO that sets it
    is never held back. Kernels in a chain, and those that read streams, have the period: when they begin is
    not known.

    Args:
        shape: of the kernel.
        row: as published.
    """
    pace = max(row.into, row.out)
    alone = shape.chain == 1 and not shape.streams and row.into and row.latency >= 0
    if not alone or row.cycles > _PACE * pace + _PACE_CYCLES:
        return row.cycles
    if row.into < row.out:
        blocks = _UNDER_WAY // row.into + 1
        left = (3 + blocks) * row.cycles - blocks * row.into + _LAG - row.latency
    else:
        left = row.latency - row.into - _LAG
    return left if 0 < left < row.cycles else row.cycles


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
