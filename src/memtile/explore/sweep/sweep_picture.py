"""Pictures of a sweep: variants as lines over their values and figures, and the front of two figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memtile.access.drawing import Drawing, drawing, text
from memtile.explore.sweep.row import SweepRow
from memtile.explore.sweep.sensitivity import sensitivity
from memtile.explore.sweep.space import Space, SweepAxis
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.plain_text import markup_text

_TALL, _STEP, _EDGE, _HEAD = 260, 120, 60, 60  # pixels
_LINES = 1000  # variants that are drawn, the best
_FRONT, _OTHER = "#D55E00", "#0072B2"  # Okabe and Ito's colours
_BAR, _LEFT, _WIDE = 18, 170, 260  # pixels of a bar that is 100%, and where it begins
_LABELS = 10  # ticks of an axis
_NARROW = 14  # letters of a tick
_TICKS = 5  # of an axis of numbers, at most so many steps
_NEAR = 0.06  # of an axis: a tick so near to an end is left out


@dataclass(frozen=True, slots=True)
class _Scale:
    """One vertical axis: where a value is on it, 0 (bottom) to 1 (top), and its ticks."""

    name: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 1.0

    def at(self, value: Any) -> float | None:
        if self.values:
            return self.values.index(value) / max(len(self.values) - 1, 1) if value in self.values else None
        if value is None:
            return None
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5

    def _round_ticks(self) -> Iterator[tuple[float, str]]:
        """Both ends, and round numbers between them that are not too near."""
        wide = self.high - self.low
        yield 0.0 if wide > 0 else 0.5, f"{self.low:,.6g}"
        if wide <= 0:
            return
        yield 1.0, f"{self.high:,.6g}"
        step = _nice(wide)
        for n in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            at = (n * step - self.low) / wide
            if _NEAR < at < 1 - _NEAR:
                yield at, f"{n * step:,.6g}"

    def ticks(self) -> Iterator[tuple[float, str]]:
        if not self.values:
            yield from self._round_ticks()
            return
        every = -(-len(self.values) // _LABELS)
        for place in range(0, len(self.values), every):
            yield place / max(len(self.values) - 1, 1), str(self.values[place])[:_NARROW]


def _nice(wide: float) -> float:
    """The smallest of 1, 2, 5, 10, ... that parts a width in at most ``_TICKS``."""
    least = wide / _TICKS
    power = 10.0 ** math.floor(math.log10(least))
    return power * next(n for n in (1, 2, 5, 10) if n * power >= least)


def sweep_picture(
    space: Space, objectives: Sequence[str], ranked: Sequence[SweepRow], front: Sequence[SweepRow]
) -> Drawing:
    """Parallel coordinates; below them the first two objectives over each other, and what moves each of them.

    Args:
        space: what was varied; one axis for each.
        objectives: figures; one axis for each.
        ranked: good variants, best first.
        front: those that none is better than.
    """
    on_front = {row.key for row in front}
    scales = [*map(_of_axis, space.axes), *(_of_figure(name, ranked) for name in objectives)]
    parts = [text(16, 20, f"{len(ranked)} good variants; orange: the front of {', '.join(objectives)}", 13)]
    parts += _axes(scales)
    shown = [*ranked[:_LINES], *(row for row in front if row not in ranked[:_LINES])]
    for row in sorted(shown, key=lambda row: row.key in on_front):
        parts += _line(row, scales, len(space.axes), row.key in on_front)
    bottom = _HEAD + _TALL + 40
    if len(ranked) > len(shown):
        parts.append(text(16, bottom - 8, f"{len(ranked) - len(shown)} more are not drawn", 11, fill="#555"))
    width = max(2 * _EDGE + _STEP * (len(scales) - 1) + _EDGE, 480)
    if len(objectives) > 1 and ranked:
        parts += _scatter(objectives[:2], shown, on_front, bottom)
        width = max(width, _EDGE + 20 + 2 * _TALL + _EDGE)
        bottom += _TALL + 60
    if len(ranked) > 1:
        bars = list(_effects(space, objectives, ranked, bottom))
        parts += bars
        bottom += 30 + _BAR * len(objectives) * (len(space.axes) + 1)
    return drawing(parts, width, bottom)


def _effects(
    space: Space, objectives: Sequence[str], ranked: Sequence[SweepRow], top: float
) -> Iterator[str]:
    """Bars: the part of each objective's variance that each axis explains alone."""
    top += 20
    for name in objectives:
        yield text(16, top + 12, f"what moves {name}: part of its variance, each alone", 12)
        for n, (axis, part) in enumerate(sensitivity(space, ranked, name).items(), 1):
            y = top + n * _BAR
            yield text(_LEFT - 8, y + 12, axis, 11, "end", "#333")
            width = max(part * _WIDE, 1)
            yield f"<rect x='{_LEFT}' y='{y}' width='{width:.1f}' height='{_BAR - 4}' fill='{_OTHER}'/>"
            yield text(_LEFT + width + 6, y + 12, f"{part:.0%}", 11, fill="#333")
        top += _BAR * (len(space.axes) + 1)


def _of_axis(axis: SweepAxis) -> _Scale:
    if axis.values:
        return _Scale(axis.name, axis.values)
    return _Scale(axis.name, (), *axis.span)


def _of_figure(name: str, rows: Sequence[SweepRow]) -> _Scale:
    values = [row.figures[name] for row in rows]
    return _Scale(name, (), min(values, default=0), max(values, default=1))


def _y(at: float, top: float = _HEAD) -> float:
    return top + (1 - at) * _TALL


def _axes(scales: Sequence[_Scale]) -> Iterator[str]:
    for n, scale in enumerate(scales):
        x = _EDGE + n * _STEP
        yield f"<line x1='{x}' x2='{x}' y1='{_HEAD}' y2='{_HEAD + _TALL}' stroke='#777'/>"
        yield text(x, _HEAD - 14, scale.name, 12, "middle")
        for at, label in scale.ticks():
            yield text(x - 6, _y(at) + 4, label, 10, "end", "#333")


def _line(row: SweepRow, scales: Sequence[_Scale], axes: int, on_front: bool) -> Iterator[str]:
    values = [
        row.point.get(scale.name) if n < axes else row.figures[scale.name] for n, scale in enumerate(scales)
    ]
    places = [scale.at(value) for scale, value in zip(scales, values, strict=True)]
    points = " ".join(f"{_EDGE + n * _STEP},{_y(at):.1f}" for n, at in enumerate(places) if at is not None)
    colour, width, opacity = (_FRONT, 2, 1) if on_front else (_OTHER, 1, 0.35)
    title = ", ".join(f"{scale.name} = {value}" for scale, value in zip(scales, values, strict=True))
    style = f"fill='none' stroke='{colour}' stroke-width='{width}' stroke-opacity='{opacity}'"
    variant = f"data-variant='{markup_text(row.key)}'"
    yield f"<polyline {variant} points='{points}' {style}><title>{markup_text(title)}</title></polyline>"


def _scatter(names: Sequence[str], rows: Sequence[SweepRow], on_front: set[str], top: float) -> Iterator[str]:
    across, up = (_of_figure(name, rows) for name in names)
    left, wide = _EDGE + 20, 2 * _TALL
    top += 20
    yield f"<rect x='{left}' y='{top}' width='{wide}' height='{_TALL}' fill='none' stroke='#777'/>"
    yield text(left + wide / 2, top + _TALL + 30, FIGURES[across.name].text, 12, "middle")
    yield text(left, top - 6, FIGURES[up.name].text, 12)
    for at, label in across.ticks():
        yield text(left + at * wide, top + _TALL + 14, label, 10, "middle", "#333")
    for at, label in up.ticks():
        yield text(left - 6, _y(at, top) + 4, label, 10, "end", "#333")
    for row in sorted(rows, key=lambda row: row.key in on_front):
        x = left + (across.at(row.figures[across.name]) or 0) * wide
        y = _y(up.at(row.figures[up.name]) or 0, top)
        colour, size = (_FRONT, 5) if row.key in on_front else (_OTHER, 3)
        title = ", ".join(f"{name} = {value}" for name, value in ({**row.point, **row.figures}).items())
        yield (
            f"<circle data-variant='{markup_text(row.key)}' cx='{x:.1f}' cy='{y:.1f}' r='{size}'"
            f" fill='{colour}' fill-opacity='0.7'><title>{markup_text(title)}</title></circle>"
        )
