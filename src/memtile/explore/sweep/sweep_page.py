"""A sweep as a page in the style of the report of a run: one file, without other resources.

A variant under the mouse is marked in both pictures and in the table, and its values are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from memtile.plain_text import markup_text

_STYLE = """
figure { margin: 0; overflow-x: auto; } svg { background: #fff; border-radius: .3rem; max-width: none; }
[data-variant] { cursor: pointer; } polyline.hot { stroke: #d1410c; stroke-width: 4; stroke-opacity: 1; }
circle.hot { fill: #d1410c; fill-opacity: 1; stroke: #1b1f24; stroke-width: 1.5; }
td, th { text-align: right; padding: .15rem .9rem .15rem 0; white-space: nowrap; } th { cursor: pointer; }
td:first-child { text-align: center; } tr.hot { background: var(--chosen); }
.on-front td { font-weight: 600; }
#told { min-height: 1.5em; }
"""
_SCRIPT = """
"use strict";
const all = [...document.querySelectorAll("[data-variant]")], told = document.getElementById("told");
const mark = variant => {
  for (const each of all) each.classList.toggle("hot", each.dataset.variant === variant);
  const row = document.querySelector(`tr[data-variant="${variant}"]`);
  const heads = [...document.querySelectorAll("th")].map(each => each.textContent);
  const said = row ? [...row.cells].slice(1).map((cell, n) => `${heads[n + 1]} ${cell.textContent}`) : [];
  told.textContent = said.join(", ");
};
for (const each of all) {
  each.addEventListener("pointerenter", () => mark(each.dataset.variant));
  each.addEventListener("click", () => mark(each.dataset.variant));
}
const body = document.querySelector("tbody"), number = text => Number(text.replace(/[,%*\\s]/g, ""));
document.querySelectorAll("th").forEach((head, n) => head.addEventListener("click", () => {
  const down = head.dataset.down = head.dataset.down === "1" ? "" : "1";
  const rows = [...body.rows].sort((a, b) => {
    const [x, y] = [a, b].map(row => row.cells[n].textContent);
    return number(x) - number(y) || x.localeCompare(y);
  });
  body.append(...(down ? rows : rows.reverse()));
}));
document.body.dataset.ready = "1";
"""


class PageRow(NamedTuple):
    """A variant in the table.

    Attributes:
        key: that the pictures have too.
        cells: as text.
        on_front: whether it is on the Pareto front.
    """

    key: str
    cells: Sequence[str]
    on_front: bool


def sweep_page(
    design: str, facts: Sequence[str], picture: str, heads: Sequence[str], rows: Sequence[PageRow]
) -> str:
    """Return the text of the page.

    Args:
        design: name of its file.
        facts: lines below the title.
        picture: SVG whose variants have their key as ``data-variant``.
        heads: of the table.
        rows: variants, the best first.
    """
    style = (
        resources.files("memtile").joinpath("report", "run", "page", "page.css").read_text(encoding="utf-8")
    )
    said = "".join(f"<p class='bound'>{markup_text(line)}</p>" for line in facts)
    head = "".join(f"<th scope='col'>{markup_text(each)}</th>" for each in heads)
    body = "\n".join(map(_row, rows))
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{markup_text(design)}: sweep</title><style>{style}{_STYLE}</style></head>\n<body>"
        f"<header><div class='head'><h1>{markup_text(design)}</h1></div></header>\n<main>"
        f"<section>{said}</section>\n<section><h2>Variants</h2>"
        "<p class='quiet'>Point at a variant to follow it. Orange: the Pareto front.</p>"
        f"<p id='told' role='status'>&nbsp;</p><figure>{picture}</figure></section>\n"
        f"<section><h2>Table</h2><p class='quiet'>A click on a head sorts.</p><div class='scroll'>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>"
        f"</main>\n<script>{_SCRIPT}</script></body></html>\n"
    )


def _row(row: PageRow) -> str:
    cells = "".join(f"<td>{markup_text(cell)}</td>" for cell in row.cells)
    kind = " class='on-front'" if row.on_front else ""
    return f"<tr data-variant='{markup_text(row.key)}'{kind}>{cells}</tr>"
