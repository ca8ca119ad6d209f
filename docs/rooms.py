"""Draws the rooms of ``src/memtile`` as the imports have them: ``make docs`` runs it.

Each room stands below all rooms that import it; an arrow that others imply is left out. Places, arrows and
texts come from the source, the layers from :data:`LAYERS`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "memtile"
PICTURE = HERE / "pictures" / "rooms.svg"
LAYERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "faces": ("#dbe7f6", ("cli", "explore", "report", "sandbox", "schemas", "testing")),
    "front ends": ("#e2f0d9", ("adf", "corelib", "cpp", "design", "hosts", "importers", "io", "iron")),
    "why": ("#fdebd0", ("check", "explain")),
    "run": ("#f9d9d9", ("runs", "sim")),
    "chip": ("#e7e0f3", ("access", "arch", "bd", "jit", "model")),
}
"""Colour and rooms of each layer."""
FENCE = ("kernels",)  # packages that only offer names of rooms to users
WIDTH, ROW, TALL, LEFT, RIGHT, TOP = 960, 50, 42, 16, 760, 44  # pixels

Graph = Mapping[str, frozenset[str]]


def rooms() -> list[str]:
    """The rooms of the package, sorted."""
    return sorted({path.parent.name for path in SOURCE.glob("*/__init__.py")} - set(FENCE))


def layer_of(room: str) -> str:
    """The layer of a room.

    Raises:
        LookupError: no layer has it.
    """
    for layer, (_, members) in LAYERS.items():
        if room in members:
            return layer
    raise LookupError(f"room {room}: name it in a layer of docs/rooms.py")


def imports() -> Graph:
    """What each room imports of the others, lazily or for typing alone too."""
    known = set(rooms())
    found = {
        room: {name for path in (SOURCE / room).rglob("*.py") for name in _named(path)} for room in known
    }
    return {room: frozenset((names & known) - {room}) for room, names in found.items()}


def _named(path: Path) -> Iterator[str]:
    """Rooms that a module names in its imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("memtile."))


def arrows(graph: Graph) -> Graph:
    """The imports that no others imply; the rooms must not import each other."""

    @cache
    def below(room: str) -> frozenset[str]:
        return graph[room].union(*(below(other) for other in graph[room]))

    return {room: graph[room].difference(*(below(other) for other in graph[room])) for room in graph}


def order(graph: Graph) -> list[str]:
    """The rooms from top to bottom: each above all that it imports, equals by layer and name."""

    @cache
    def height(room: str) -> int:
        return 1 + max((height(other) for other in graph[room]), default=-1)

    layers = list(LAYERS)
    return sorted(graph, key=lambda room: (-height(room), layers.index(layer_of(room)), room))


def draw() -> str:
    """The picture, as SVG."""
    graph = arrows(imports())
    row = {room: number for number, room in enumerate(order(graph))}
    boxes = [line for room, number in row.items() for line in _box(room, TOP + number * ROW)]
    lines = [_arrow(row[room], row[other]) for room in row for other in sorted(graph[room])]
    high = TOP + len(row) * ROW + 8
    return "\n".join((*_head(high), *_legend(), *lines, *boxes, "</svg>", ""))


def _head(high: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" font-family="sans-serif">',
        "<title>Rooms of memtile; an arrow goes from a room to one that it imports</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{high}" fill="#fff"/>',
    ]


def _legend() -> Iterator[str]:
    for number, (layer, (colour, _)) in enumerate(LAYERS.items()):
        x = LEFT + number * 120
        yield f'<rect x="{x}" y="12" width="16" height="16" fill="{colour}" stroke="#888"/>'
        yield f'<text x="{x + 22}" y="25" font-size="13">{layer}</text>'


def _box(room: str, y: int) -> Iterator[str]:
    """A room: its name, the first line of its docstring, and the rooms in it."""
    colour, _ = LAYERS[layer_of(room)]
    text = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    inner = ", ".join(sorted(path.parent.name for path in (SOURCE / room).glob("*/__init__.py")))
    wide = RIGHT - LEFT
    yield f'<rect x="{LEFT}" y="{y}" width="{wide}" height="{TALL}" rx="4" fill="{colour}" stroke="#888"/>'
    yield f'<text x="{LEFT + 10}" y="{y + 26}" font-size="15" font-weight="bold">{room}</text>'
    middle = y + (18 if inner else 26)
    yield f'<text x="{LEFT + 108}" y="{middle}" font-size="12">{escape(text.splitlines()[0])}</text>'
    if inner:
        yield f'<text x="{LEFT + 108}" y="{y + 34}" font-size="11" fill="#555">{inner}</text>'


def _arrow(start: int, end: int) -> str:
    """An arc on the right, the wider the more rows it passes."""
    y, reached = (TOP + row * ROW + TALL // 2 + shift for row, shift in ((start, 6), (end, -6)))
    out = RIGHT + min(30 + 17 * (end - start), 250)
    return (
        f'<path d="M{RIGHT} {y}C{out} {y} {out} {reached} {RIGHT + 1} {reached}" '
        'fill="none" stroke="#555" marker-end="url(#tip)"/>'
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
