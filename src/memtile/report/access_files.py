"""Pictures of lowered tilings as files: the suffix says which kind.

It also has an animated picture of an access order as one HTML file, without matplotlib and without a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memtile.access.lowering.lower import Lowering
from memtile.access.request import WORD_BITS
from memtile.access.slices import Slices, slices
from memtile.bd.explain import count
from memtile.output_files import write_output
from memtile.plain_text import markup_text, script_json
from memtile.report.access_picture import access_figure, save_figure
from memtile.report.lowering import Answer, headline
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


class Execution(NamedTuple):
    """One execution of a descriptor: BD number, run of the chain, stream position where it ends."""

    bd: int
    run: int
    end: int


def access_page(order: Slices, title: str, subtitle: str = "", parts: Sequence[Execution] = ()) -> str:
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


SUFFIXES = (".svg", ".png", ".html")


def save_picture(given: Answer, path: Path, plane: tuple[int, int] | None = None) -> None:
    """Draw the access order of a lowered tiling into ``path``; ``.html`` is animated.

    Args:
        given: the tiling and its descriptors.
        path: the file.
        plane: dimensions to the right and downwards; see ``slices``.

    Raises:
        TransferError: a plane that is not two dimensions of the buffer.
        InputFileError: the file cannot be written.
        MemtileError: matplotlib is missing for .svg and .png.
    """
    if given.lowering is None:
        return
    order = slices(given.lowering.request, plane=plane)
    texts = headline(given), _subtitle(given.lowering)
    if path.suffix == ".html":
        save_page(access_page(order, *texts, _parts(given, given.lowering)), str(path))
    else:
        save_figure(access_figure(order, *texts), str(path))


def picture_paths(path: Path, number: int) -> list[Path]:
    """``path`` for one tiling; numbered beside it for several: ``order-1.svg``, ``order-2.svg``, ..."""
    if number == 1:
        return [path]
    return [path.with_stem(f"{path.stem}-{n}") for n in range(1, number + 1)]


def _subtitle(lowering: Lowering) -> str:
    checked = lowering.certificate
    parts = [
        count(len(lowering.descriptors), "BD"),
        *([count(len(lowering.tasks), "task")] if len(lowering.tasks) > 1 else []),
        count(lowering.runs, "run"),
        count(checked.words, "word"),
    ]
    return ", ".join(parts + ([f"{checked.pads} of them zero"] if checked.pads else []))


def _parts(given: Answer, lowering: Lowering) -> list[Execution]:
    """Which descriptor moves which elements."""
    steps = [(bd, run) for bds, runs in given.tasks for run in range(runs) for bd in bds]
    words = np.cumsum([lowering.descriptors[bd].length for bd, _ in steps])
    ends = words * WORD_BITS // lowering.request.element_bits
    return [Execution(bd, run, int(end)) for (bd, run), end in zip(steps, ends, strict=True)]
