"""A design on the command line of ``memtile explain``: run, to say what limits it or why it is stuck."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memtile.cli.conditions import with_conditions
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.report_files import ReportFiles, Studies
from memtile.explain.finding_places import placed
from memtile.explain.findings import Severity
from memtile.plain_text import json_text
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.cli.runnable import Maker
    from memtile.explain.results import Result


def is_design(file: str) -> bool:
    """Whether a file is a design in Python, IRON or MLIR, by its name."""
    return Path(file).suffix in (".py", SUFFIX) and Path(file).is_file()


def explain_design(
    make: Maker, of_run: RunOptions, files: ReportFiles, record: Path | None, *, as_json: bool
) -> None:
    """Run a design, say why it is stuck or what limits it, and leave with the exit code for it.

    Args:
        make: loads the design.
        of_run: options of each of the runs.
        files: of its history.
        record: file of its record; None = none.
        as_json: write what ``memtile run --json`` writes.

    Raises:
        MemtileError: as loading and running it raises.
    """
    from memtile.cli.report_files import WaveformFile
    from memtile.cli.result_output import leave
    from memtile.cli.run import studied_run
    from memtile.explain.results import Status

    files.check()
    studies = Studies(bottleneck=True, record=record, report=files)
    studies.check()
    made, done = studied_run(make, replace(of_run, history=files.wanted), 0, studies, WaveformFile())
    done = with_conditions(made, done, of_run)
    typer.echo(json_text(done.result.as_json(), indent=2) if as_json else "\n".join(explained(done.result)))
    leave(interrupted=done.result.status is Status.INTERRUPTED, good=done.result.good)


def explained(result: Result) -> list[str]:
    """What a run says of itself, its errors first, without its table of channels."""
    sheet = result.sheet()
    lines = [*sheet.above, sheet.title, *sheet.below]
    wrong = {f"finding: {placed(each)}" for each in result.findings if each.severity is Severity.ERROR}
    return sorted(lines, key=lambda line: line not in wrong)
