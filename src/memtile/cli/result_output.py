"""How commands that run designs end: their result as a table or as JSON, and the exit code for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import typer

from memtile.cli.exit_codes import ExitCode
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.sheet import Sheet


class Shown(Protocol):
    """A result that has both forms."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""

    def __rich__(self) -> Sheet:
        """Tables and sentences."""


def show_result(result: Shown, *, as_json: bool) -> None:
    """Print the result."""
    if as_json:
        typer.echo(json_text(result.as_json(), indent=2))
        return
    from memtile.sheet import print_whole, stdout_console

    print_whole(stdout_console(), result)


def leave(*, interrupted: bool, good: bool) -> None:
    """Leave with the exit code of a result; return if it is a good one."""
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not good:
        raise typer.Exit(ExitCode.BAD_RESULT)
