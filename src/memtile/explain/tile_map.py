"""A map of the array for notebooks, as SVG of some 2,000 characters: tiles in use, and where streams go.

Column 0 is left and row 0 at the bottom. Tiles of one kind are one path, and so are streams: the map of 400
tiles is not much longer than that of four.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from memtile.plain_text import printable

Place = tuple[int, int]

_PITCH_X, _PITCH_Y, _WIDE, _HIGH = 44, 26, 38, 20  # pixels
_MARGIN = 14  # pixels left of column 0, for numbers of rows
_COLOURS = {"compute": "#47a", "memory": "#283", "interface": "#e67"}
_LEVELS = 4  # of opacity
_FAINT = 0.35  # opacity of what is in use and never works
_TITLES = 12  # tiles, up to which each has its text for the pointer
_MOST_WAYS = 1000  # characters of streams that are drawn


class MapTile(NamedTuple):
    """A tile in use.

    Attributes:
        role: its kind.
        share: the part of its time in which it works, 0 to 1.
        title: text for the pointer.
    """

    role: str
    share: float = 1.0
    title: str = ""


def tile_map(
    columns: int, rows: int, tiles: Mapping[Place, MapTile], ways: Iterable[tuple[Place, Place]] = ()
) -> str:
    """Return the map as SVG.

    Args:
        columns: of the array.
        rows: of the array.
        tiles: those in use, by column and row.
        ways: source and target of each stream; those inside of a tile are left out.
    """
    width, height = _MARGIN + columns * _PITCH_X, (rows + 1) * _PITCH_Y
    left = _MARGIN
    every = "".join(f"M{left} {_y(rows, row)}h{columns * _PITCH_X - 6}" for row in range(rows))
    dashes = f"{_WIDE} {_PITCH_X - _WIDE}"
    parts = [
        f"<g stroke-width='{_HIGH}' stroke-dasharray='{dashes}' fill='none'>",
        f"<path d='{every}' stroke='#8882'/>",
        *_used(rows, tiles),
        "</g>",
        f"<path d='{''.join(_streams(rows, ways))}' stroke='#c80' fill='none'/>",
        *_numbers(columns, rows),
    ]
    box = f"width='{width}' height='{height}' viewBox='0 0 {width} {height}' font-size='10'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {box}>{''.join(parts)}</svg>"


def _y(rows: int, row: int) -> int:
    return (rows - 1 - row) * _PITCH_Y + _HIGH // 2 + 2


def _used(rows: int, tiles: Mapping[Place, MapTile]) -> Iterator[str]:
    groups: dict[tuple[str, float], list[Place]] = {}
    for place, tile in sorted(tiles.items(), key=lambda item: item[0][::-1]):
        level = round(_FAINT + (1 - _FAINT) * round(tile.share * _LEVELS) / _LEVELS, 2)
        groups.setdefault((tile.role, level), []).append(place)
    for (role, level), places in groups.items():
        look = f"stroke='{_COLOURS.get(role, '#888')}'" + (f" opacity='{level:g}'" if level < 1 else "")
        if len(tiles) > _TITLES:
            yield f"<path {look} d='{''.join(_runs(rows, places))}'/>"
            continue
        for place in places:
            text = escape(printable(tiles[place].title or "({},{})".format(*place), "\n"))
            yield f"<path {look} d='{''.join(_runs(rows, [place]))}'><title>{text}</title></path>"


def _runs(rows: int, places: Sequence[Place]) -> Iterator[str]:
    """Tiles beside each other as one line, which the dashes part."""
    first, length = places[0], 1
    for place in (*places[1:], (-1, -1)):
        if place == (first[0] + length, first[1]):
            length += 1
            continue
        x = _MARGIN + first[0] * _PITCH_X
        yield f"M{x} {_y(rows, first[1])}h{length * _PITCH_X - (_PITCH_X - _WIDE)}"
        first, length = place, 1


def _streams(rows: int, ways: Iterable[tuple[Place, Place]]) -> Iterator[str]:
    length = 0
    for n, (source, target) in enumerate(dict.fromkeys(way for way in ways if way[0] != way[1])):
        shift = 6 + 8 * (n % 4)  # beside those of the same columns
        x, y = _MARGIN + source[0] * _PITCH_X + shift, _y(rows, source[1])
        text = f"M{x} {y}l{(target[0] - source[0]) * _PITCH_X} {_y(rows, target[1]) - y}"
        length += len(text)
        if length > _MOST_WAYS:
            return
        yield text


def _numbers(columns: int, rows: int) -> Iterator[str]:
    """Numbers of the first and last column and row."""
    for row in dict.fromkeys((0, rows - 1)):
        yield f"<text y='{_y(rows, row) + 4}'>{row}</text>"
    for column in dict.fromkeys((0, columns - 1)):
        yield f"<text x='{_MARGIN + column * _PITCH_X + 14}' y='{rows * _PITCH_Y + 14}'>{column}</text>"
