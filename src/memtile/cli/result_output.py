"""How commands that run designs end: their result as a table or as JSON, and the exit code for it.

It also has answers of commands as JSON: one for one item, a list for a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import typer

from memtile.cli.exit_codes import ExitCode
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.sheet import Sheet


class PrintedResult(Protocol):
    """A result that has both forms."""

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""

    def __rich__(self) -> Sheet:
        """Tables and sentences."""


def show_result(result: PrintedResult, *, as_json: bool) -> None:
    """Print the result."""
    if as_json:
        typer.echo(json_text(result.as_json(), indent=2))
        return
    from memtile.sheet import print_whole, stdout_console

    print_whole(stdout_console(), result)


def show_verdict(name: str, result: Result, *, as_sarif: bool) -> None:
    """Print the verdict on a run for other tools: SARIF, or JUnit XML.

    Args:
        name: of the design, as the user gave it.
        result: of the run.
        as_sarif: it is SARIF.
    """
    from memtile.explain.judged_run import JudgedRun
    from memtile.report.finding_formats import junit, sarif

    verdicts = [JudgedRun(name, result)]
    if as_sarif:
        typer.echo(json_text(sarif(verdicts), indent=2))
    else:
        typer.echo(junit(verdicts, "run"), nl=False)


def leave(*, interrupted: bool, good: bool) -> None:
    """Leave with the exit code of a result; return if it is a good one."""
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not good:
        raise typer.Exit(ExitCode.BAD_RESULT)


def print_answers(answers: Sequence[dict[str, Any]], *, single: bool) -> None:
    """One line per answer, so that long lists stay readable and greppable."""
    if single:
        typer.echo(json_text(answers[0]))
    else:
        lines = ",\n".join(json_text(answer) for answer in answers)
        typer.echo(f"[\n{lines}\n]" if answers else "[]")
