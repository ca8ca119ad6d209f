"""An animated picture of an access order as one HTML file, without matplotlib and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from memtile.access.slices import Slices
from memtile.output_files import write_output
from memtile.plain_text import markup_text, script_json
from memtile.report.page_template import PAGE

MOST_STEPS = 1 << 17  # elements that a page animates; a longer stream is shown up to here
_VIRIDIS = (
    "440154",
    "482878",
    "3e4989",
    "31688e",
    "26828e",
    "1f9e89",
    "35b779",
    "6ece58",
    "b5de2b",
    "fde725",
)


class Part(NamedTuple):
    """One execution of a descriptor: BD number, run of the chain, stream position where it ends."""

    bd: int
    run: int
    end: int


def access_page(order: Slices, title: str, subtitle: str = "", parts: Sequence[Part] = ()) -> str:
    """The page: slices as in ``access_figure``, a slider over the stream, play and pause.

    Args:
        order: what to show.
        title: heading.
        subtitle: the text below it.
        parts: executions of descriptors in order, to be named beside each element.
    """
    data: dict[str, Any] = {
        "corner": order.corner,
        "width": order.width,
        "height": order.height,
        "fold": order.fold,
        "names": order.names,
        "axes": _axes(order),
        "cells": order.cells[:MOST_STEPS].tolist(),
        "inside": "".join("01"[cell] for cell in order.inside.reshape(-1).tolist()),
        "parts": [part._asdict() for part in parts],
        "colours": [[*bytes.fromhex(colour)] for colour in _VIRIDIS],
    }
    marks = {
        "$TITLE": markup_text(title),
        "$SUBTITLE": markup_text(subtitle),
        "$NOTE": _note(order),
        "$GRADIENT": ", ".join(f"#{colour}" for colour in _VIRIDIS),
        "$DATA": script_json(data),
    }
    page = PAGE
    for mark, text in marks.items():
        page = page.replace(mark, text)
    return page


def save_page(page: str, path: str) -> None:
    """Write ``page`` to a file.

    Raises:
        InputFileError: the file cannot be written.
    """
    write_output(path, page)


def _axes(order: Slices) -> tuple[str, str]:
    if order.fold:
        return "dimension 0 (elements)", f"rows of {order.fold}"
    across, down = order.plane
    return f"dimension {across} (elements)", f"dimension {down}" if order.height > 1 else ""


def _note(order: Slices) -> str:
    notes = [f"each cell is all {order.together} elements of dimension 0"] if order.together else []
    if order.left_out:
        notes.append(f"{order.left_out} more slices are not shown")
    if len(order.cells) > MOST_STEPS:
        notes.append(f"the first {MOST_STEPS} of {len(order.cells)} elements")
    return "; ".join(notes)
