"""Picture of a run: each channel's cycles as one bar, split by cause (needs the ``plots`` extra)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.errors import InputFileError
from memtile.explain.results import Result
from memtile.model.state.causes import Cause
from memtile.output_files import output_file
from memtile.plain_text import printable
from memtile.report.access_picture import plain_texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SUFFIXES = (".png", ".svg", ".pdf")


@plain_texts()
def cycles_figure(result: Result) -> Figure:
    """One horizontal bar per channel; the lengths of its parts are cycles and add up to the run."""
    from matplotlib.figure import Figure

    names = [printable(f"{use.label}  {use.name}".strip()) for use in result.channels]
    figure = Figure(figsize=(9, 1.2 + 0.32 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    left = [0] * len(names)
    for cause in Cause:
        widths = [use.spent.get(cause, 0) for use in result.channels]
        if any(widths):
            axes.barh(names, widths, left=left, color=cause.colours.light, label=cause.text, height=0.75)
            left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("cycles")
    axes.set_xlim(0, result.cycles)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


def check_picture(path: Path, *, timed: bool) -> None:
    """Refuse what :func:`save_cycles` cannot draw, before anything has run.

    Raises:
        InputFileError: a suffix that is no picture, an untimed run, or no Matplotlib.
    """
    if path.suffix not in _SUFFIXES:
        raise InputFileError(f"{path}: the name of a picture must end in one of {', '.join(_SUFFIXES)}.")
    if not timed:
        raise InputFileError(f"{path}: an untimed run has no cycles to draw. Run without --untimed.")
    if find_spec("matplotlib") is None:
        raise InputFileError('Pictures need matplotlib, which is not installed: pip install "matplotlib".')


def save_cycles(result: Result, path: Path) -> None:
    """Write :func:`cycles_figure` to a file.

    Raises:
        InputFileError: as :func:`check_picture`, or a path that cannot be written.
    """
    check_picture(path, timed=result.timed)
    with plain_texts(), output_file(path) as file:
        cycles_figure(result).savefig(file, format=path.suffix[1:], dpi=150)
