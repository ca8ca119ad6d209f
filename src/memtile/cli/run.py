"""``memtile run``: run a design file and show what every channel did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from memtile.cli.exit_codes import ExitCode

EXAMPLES = """\b
Examples:
  memtile run examples/halo_tiling.py
  memtile run --untimed examples/halo_tiling.py
  memtile run --json --max-cycles 100000 examples/halo_tiling.py
  memtile run --picture cycles.png examples/halo_tiling.py
"""


def run(
    file: Annotated[str, typer.Argument(metavar="DESIGN.py", help="Python file with a design() function.")],
    untimed: Annotated[bool, typer.Option("--untimed", help="Move the data without a clock.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Data instead of a table.")] = False,
    max_cycles: Annotated[int, typer.Option(min=1, help="Stop after this many cycles.")] = 10_000_000,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw each channel's cycles: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Run a design and show its cycles, bandwidth and the cause of every stalled cycle.

    Ctrl-C stops the run and shows what was done until then, marked as interrupted.
    """
    from memtile.cli.design_file import load_design
    from memtile.cli.progress import cycles_progress
    from memtile.sim.results import Status

    made = load_design(file)
    with cycles_progress() as progress:
        result = made.run(max_cycles, untimed=untimed, progress=progress)
    if as_json:
        typer.echo(json.dumps(result.as_json(), indent=2))
    else:
        from rich.console import Console

        Console(highlight=False).print(result)
    if picture is not None:
        from memtile.report.cycles_picture import save_cycles

        save_cycles(result, picture)
    if result.status is Status.INTERRUPTED:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not result.good:
        raise typer.Exit(ExitCode.BAD_RESULT)
