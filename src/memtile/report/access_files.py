"""Pictures of lowered tilings as files: the suffix says which kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memtile.access.lowering.lower import Lowering
from memtile.access.request import WORD_BITS
from memtile.access.slices import slices
from memtile.bd.explain import count
from memtile.report.access_page import Part, access_page, save_page
from memtile.report.access_picture import access_figure, save_figure
from memtile.report.lowering import Answer, headline

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


def _parts(given: Answer, lowering: Lowering) -> list[Part]:
    """Which descriptor moves which elements."""
    steps = [(bd, run) for bds, runs in given.tasks for run in range(runs) for bd in bds]
    words = np.cumsum([lowering.descriptors[bd].length for bd, _ in steps])
    ends = words * WORD_BITS // lowering.request.element_bits
    return [Part(bd, run, int(end)) for (bd, run), end in zip(steps, ends, strict=True)]
