"""A run as bars: what every channel spent its cycles on, as plain SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memtile.access.drawing import Drawing, drawing, text
from memtile.model.state.causes import Cause

_BAR, _STEP, _LINE, _LONG = 14, 20, 20, 480  # pixels
_LETTER = 7  # pixels of a letter
_KEYS = 4  # entries of a line of the key


def cause_bars(rows: Sequence[tuple[str, Mapping[Cause, int]]], cycles: int) -> Drawing:
    """One bar for each channel, as long as the run; its parts are cycles by cause.

    Args:
        rows: name and cycles by cause of each channel.
        cycles: length of the run.
    """
    seen = [cause for cause in Cause if any(spent.get(cause) for _, spent in rows)]
    left = 16 + _LETTER * max((len(name) for name, _ in rows), default=0)
    keys = -(-len(seen) // _KEYS)
    parts = [*_key(seen)]
    for n, (name, spent) in enumerate(rows):
        y = (keys + n) * _STEP + 8
        parts.append(text(left - 8, y + _BAR - 3, name, 12, "end"))
        parts += _bar(spent, left, y, max(cycles, 1))
    bottom = (keys + len(rows)) * _STEP + 8
    parts.append(text(left, bottom + _LINE - 6, f"0 to {cycles} cycles", 11, fill="#555"))
    return drawing(parts, max(left + _LONG + 16, 16 + _KEYS * 170), bottom + _LINE)


def _bar(spent: Mapping[Cause, int], left: float, y: float, cycles: int) -> Iterator[str]:
    x = left
    for cause in Cause:
        wide = _LONG * spent.get(cause, 0) / cycles
        if wide:
            box = f"x='{x:.2f}' y='{y}' width='{wide:.2f}' height='{_BAR}' fill='{cause.colours.light}'"
            yield f"<rect {box}><title>{spent[cause]} {cause.text}</title></rect>"
            x += wide


def _key(seen: Sequence[Cause]) -> Iterator[str]:
    for n, cause in enumerate(seen):
        x, y = 12 + n % _KEYS * 170, 6 + n // _KEYS * _STEP
        yield f"<rect x='{x}' y='{y}' width='10' height='10' fill='{cause.colours.light}'/>"
        yield text(x + 16, y + 9, cause.text, 11)
