"""What the commands print, also into a log that scripts of users read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from memtile.cli.amd_tools.command_line import CommandLine
from memtile.output_files import write_output


class Report:
    """Lines on standard output, which go into a log at the end.

    Args:
        log: its path.
        tool: name in messages.
    """

    def __init__(self, log: Path, tool: str) -> None:
        self._log, self._tool, self._lines = log, tool, list[str]()

    def line(self, text: str) -> None:
        """A line."""
        self._lines.append(text)
        typer.echo(text)

    def info(self, text: str, number: str = "") -> None:
        """A line as AMD's tools have it, with the number of the message where it is public."""
        self.line(f"INFO: [{' '.join(filter(None, (self._tool, number)))}] {text}")

    def table(self, lines: Sequence[str]) -> None:
        """Lines of a table."""
        for each in lines:
            self.line(each)

    def without_effect(self, line: CommandLine) -> None:
        """Say which options change nothing, each once."""
        for option in line.without_effect:
            self.line(f"note: --{option.key} has no effect: {option.why}.")

    def close(self) -> None:
        """Write the log."""
        write_output(self._log, "".join(f"{each}\n" for each in self._lines), durable=False)
