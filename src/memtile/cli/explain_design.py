"""A design on the command line of ``memtile explain``: run, to say what limits it or why it is stuck."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.conditions import with_conditions
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.report_files import ReportFiles, Studies
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.cli.runnable import Maker


def is_design(file: str) -> bool:
    """Whether a file is a design in Python, IRON or MLIR, by its name."""
    return Path(file).suffix in (".py", SUFFIX) and Path(file).is_file()


def explain_design(
    make: Maker,
    of_run: RunOptions,
    files: ReportFiles,
    record: Path | None,
    *,
    as_json: bool,
    everything: bool = False,
) -> None:
    """Run a design, say why it is stuck or what limits it, and leave with the exit code for it.

    Args:
        make: loads the design.
        of_run: options of each of the runs.
        files: of its history.
        record: file of its record; None = none.
        as_json: write what ``memtile run --json`` writes.
        everything: show all tables and lines.

    Raises:
        MemtileError: as loading and running it raises.
    """
    from memtile.cli.report_files import WaveformFile
    from memtile.cli.result_output import leave, show_result
    from memtile.cli.run import studied_run
    from memtile.cli.screen import Shown, show_run
    from memtile.explain.results import Status

    files.check()
    studies = Studies(bottleneck=True, record=record, report=files)
    studies.check()
    made, done = studied_run(make, replace(of_run, history=files.wanted), 0, studies, WaveformFile())
    done = with_conditions(made, done, of_run)
    if as_json:
        show_result(done.result, as_json=True)
    else:
        show_run(done.result, Shown(everything))
    leave(interrupted=done.result.status is Status.INTERRUPTED, good=done.result.good)
