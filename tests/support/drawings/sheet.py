"""A small SVG canvas whose colours follow the reader's light or dark setting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from memtile.model.state.causes import Cause

LETTER = {cause.letter: cause for cause in Cause}
_LIGHT = {
    "bg": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#5b6571",
    "edge": "#7a8694",
    "plain": "#f3f5f8",
    "blue": "#cfe3f7",
    "gold": "#fbe3b8",
    "green": "#d3ecd5",
    "red": "#f8d2d0",
    "violet": "#e2d9f3",
}
_DARK = {
    "bg": "#15191e",
    "ink": "#e6eaef",
    "soft": "#a3adb8",
    "edge": "#6b7683",
    "plain": "#222830",
    "blue": "#1f4465",
    "gold": "#5d4716",
    "green": "#24512b",
    "red": "#632a2a",
    "violet": "#413263",
}


class Sheet:
    """A picture under construction; :meth:`text_of` gives the file.

    Args:
        width: of the picture, in pixels.
        height: of the picture, in pixels.
        title: what a screen reader says.
    """

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []
        self.causes: set[Cause] = set()

    def box(self, x: float, y: float, w: float, h: float, fill: str = "plain", words: str = "") -> None:
        """A rectangle, with words in its middle."""
        self.parts.append(f'<rect class="{fill}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="3"/>')
        lines = words.split("\n") if words else []
        for n, line in enumerate(lines):
            self.say(x + w / 2, y + h / 2 + 4.5 + 15 * (n - (len(lines) - 1) / 2), line, "middle")

    def say(self, x: float, y: float, words: str, anchor: str = "start", style: str = "") -> None:
        """A line of text; ``style`` is ``soft``, ``small``, ``bold`` or empty."""
        more = f' class="{style}"' if style else ""
        self.parts.append(f'<text{more} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>')

    def arrow(self, points: Sequence[tuple[float, float]], words: str = "", *, tip: bool = True) -> None:
        """A line through points, with a tip at its end and words beside its middle."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        mark = ' marker-end="url(#tip)"' if tip else ""
        self.parts.append(f'<polyline class="line" points="{path}"{mark}/>')
        if words:
            (x, y), (to_x, to_y) = points[len(points) // 2 - 1], points[len(points) // 2]
            self.say((x + to_x) / 2, (y + to_y) / 2 - 6, words, "middle", "small")

    def track(self, x: float, y: float, letters: str, cell: float = 12, high: float = 20) -> None:
        """A row of cycles: what a channel does in each, by the letters of its causes."""
        start = 0
        for n in range(1, len(letters) + 1):
            if n == len(letters) or letters[n] != letters[start]:
                cause = LETTER[letters[start]]
                self.causes.add(cause)
                self.parts.append(_bar(cause, x + start * cell, y, (n - start) * cell, high))
                start = n

    def legend(self, x: float, y: float) -> None:
        """What the colours of the tracks stand for."""
        for cause in sorted(self.causes, key=int):
            self.parts.append(_bar(cause, x, y - 10, 12, 12))
            self.say(x + 17, y, cause.text, style="small")
            x += 30 + 6.6 * len(cause.text)

    def text_of(self) -> str:
        """The picture as SVG."""
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<style>{self._style()}</style>",
                '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
                'orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
                f'<rect class="bg" width="{self.width}" height="{self.height}"/>',
                *self.parts,
                "</svg>",
                "",
            )
        )

    def _style(self) -> str:
        font = "text{font:13px sans-serif}.small{font-size:11px}.bold{font-weight:bold}"
        light, dark = (
            _rules(colours, ((c, c.colours[n]) for c in sorted(self.causes, key=int)))
            for n, colours in enumerate((_LIGHT, _DARK))
        )
        return f"{font}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _bar(cause: Cause, x: float, y: float, wide: float, high: float) -> str:
    return f'<rect class="c{int(cause)}" x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}"/>'


def _rules(colours: dict[str, str], causes: Iterable[tuple[Cause, str]]) -> str:
    fills = "".join(
        f".{name}{{fill:{colours[name]};stroke:{colours['edge']}}}"
        for name in ("plain", "blue", "gold", "green", "red", "violet")
    )
    rest = (
        f".bg{{fill:{colours['bg']}}}text{{fill:{colours['ink']}}}.soft{{fill:{colours['soft']}}}"
        f".line{{fill:none;stroke:{colours['soft']};stroke-width:1.5}}.tip{{fill:{colours['soft']}}}"
    )
    return fills + rest + "".join(f".c{int(cause)}{{fill:{colour}}}" for cause, colour in causes)
