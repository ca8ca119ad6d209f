"""The picture of an array for notebooks, as SVG: its tiles, what they are used for, and where streams go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from memtile.plain_text import printable

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.design.router import RouteDemand
    from memtile.design.tile import Tile

_WIDE, _HIGH, _GAP = 108, 46, 14
_COLOURS = {"compute": "#4477aa", "memory": "#228833", "interface": "#ee6677"}
_LETTERS = 16  # of a line in a tile
_Point = tuple[float, float]


def array_svg(array: Array) -> str:
    """The array as SVG: columns from left to right, row 0 at the bottom.

    Tiles that the design uses are filled; a line is a circuit, or what packets of one source share, from its
    source to one of its targets. Pointing at a tile or a line shows its name.
    """
    width, height = array.columns * (_WIDE + _GAP) + _GAP, array.rows * (_HIGH + _GAP) + _GAP
    used = {tile.place: tile for tile in array.tiles if tile.place is not None and _is_used(tile)}
    places = [(column, row) for row in range(array.rows) for column in range(array.columns)]
    parts = [
        *(_tile(array, place, used.get(place)) for place in places),
        *_ways(array, list(array.circuits.trees)),
    ]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="sans-serif" font-size="11"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{"".join(parts)}</svg>'


def _is_used(tile: Tile) -> bool:
    return bool(tile.buffers or tile.locks or any(c.started for c in (*tile.s2mm, *tile.mm2s)))


def _corner(array: Array, place: tuple[int, int]) -> _Point:
    column, row = place
    return _GAP + column * (_WIDE + _GAP), _GAP + (array.rows - 1 - row) * (_HIGH + _GAP)


def _tile(array: Array, place: tuple[int, int], tile: Tile | None) -> str:
    x, y = _corner(array, place)
    role = tile.kind.role if tile is not None else ""
    fill = _COLOURS.get(role, "none")
    box = f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" rx="5" fill="{fill}" stroke="#888"/>'
    colour = "#fff" if tile is not None else "#888"
    lines = [f"({place[0]},{place[1]}){f' {role}' if tile is not None else ''}", *_inside(array, place, tile)]
    texts = "".join(
        f'<text x="{x + 6}" y="{y + 15 + 14 * n}" fill="{colour}">{escape(_short(line))}</text>'
        for n, line in enumerate(lines)
    )
    return f"<g><title>{escape(_title(lines, tile))}</title>{box}{texts}</g>"


def _inside(array: Array, place: tuple[int, int], tile: Tile | None) -> Iterator[str]:
    """What a tile is used for: its kernel, and its bytes."""
    if tile is None:
        return
    tiles, owners = array.engine.spec.tiles, array.engine.state.cores.tile
    for core, running in array.engine.cores.running.items():
        if (int(tiles.column[owners[core]]), int(tiles.row[owners[core]])) == place:
            yield running.kernel
    if tile.buffers:
        yield f"{sum(buffer.nbytes for buffer in tile.buffers):,} bytes"


def _title(lines: Sequence[str], tile: Tile | None) -> str:
    buffers = [f"{each.name}: {each.nbytes:,} bytes" for each in tile.buffers] if tile is not None else []
    return printable("\n".join([*lines, *buffers]), "\n")


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 2]}.."


def _ways(array: Array, demands: Sequence[RouteDemand]) -> Iterator[str]:
    """A line for each source and target, beside those between the same tiles."""
    count = max(len(demands), 1)
    for n, demand in enumerate(demands):
        shift = (n + 1) / (count + 1)
        here = (demand.source.column, demand.source.row)
        for target in demand.targets:
            if (target.column, target.row) == here:
                continue  # it does not leave the tile
            ends = (here, (target.column, target.row))
            (x1, y1), (x2, y2) = (_point(array, end, shift) for end in ends)
            line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            title = f"<title>{escape(printable(demand.name))}</title>"
            yield f'<g>{title}{line} stroke="#cc8800" stroke-width="1.5" stroke-opacity="0.7"/></g>'


def _point(array: Array, place: tuple[int, int], shift: float) -> _Point:
    x, y = _corner(array, place)
    return x + shift * _WIDE, y + _HIGH / 2
