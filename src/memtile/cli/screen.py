"""How much of a run a command shows, and how wide: one screen, unless more is asked for."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.explain.summary import Layout

_NO_END = 1 << 30  # lines
_NARROWEST = 20  # columns


class Shown(NamedTuple):
    """What is shown of a run.

    Attributes:
        everything: all tables and lines, however many.
        top: rows and lines of a kind; None = as many as fit on a screen.
        quiet: the verdict alone.
    """

    everything: bool = False
    top: int | None = None
    quiet: bool = False

    def check(self) -> None:
        """Refuse options that exclude each other.

        Raises:
            BadParameter: which they are.
        """
        if self.everything + self.quiet + (self.top is not None) > 1:
            raise typer.BadParameter("--all, --top and --quiet exclude each other. Give one of them.")

    def layout(self) -> Layout:
        """The layout for the terminal; where there is none, sentences are one line each, for ``grep``."""
        from memtile.explain.summary import HEIGHT, ROWS, WIDTH, Layout
        from memtile.sheet import stdout_console

        height = HEIGHT if self.top is None else _NO_END
        rows = ROWS if self.top is None else self.top
        console, columns = stdout_console(), os.environ.get("COLUMNS", "")
        if console.is_terminal:
            return Layout(max(console.width, _NARROWEST), rows, height=height)
        width = int(columns) if columns.isdecimal() and int(columns) else WIDTH
        return Layout(max(width, _NARROWEST), rows, wrapped=False, height=height)


SCREEN = Shown()
"""As much as fits on a screen."""


def show_run(result: Result, shown: Shown, notes: Sequence[str] = (), more: Sequence[str] = ()) -> None:
    """Print a run: its verdict, its summary, or all of it.

    Args:
        result: of the run.
        shown: how much of it.
        notes: lines of the run that a summary has too, if there is room.
        more: lines that only the complete output has.
    """
    from memtile.explain.summary import verdict
    from memtile.sheet import print_whole, stdout_console

    if shown.everything:
        print_whole(stdout_console(), result.sheet())
        for line in (*notes, *more):
            typer.echo(line)
        return
    lines = [verdict(result)] if shown.quiet else result.summary(shown.layout(), notes)
    _print(lines, good=result.good)


def show_lines(lines: Sequence[str], *, everything: bool) -> None:
    """Print lines; on a terminal the first screen of them, broken between words, and how many more there are.

    Args:
        lines: of an answer, those that matter most first.
        everything: print all of them.
    """
    from memtile.explain.summary import HEIGHT

    width = None if everything else terminal_width()
    _write(lines if width is None else first_lines(lines, width, HEIGHT))


def terminal_width() -> int | None:
    """The columns of the terminal that standard output is; None of a file or pipe."""
    from memtile.sheet import stdout_console

    console = stdout_console()
    return max(console.width, _NARROWEST) if console.is_terminal else None


def first_lines(lines: Sequence[str], width: int, height: int, option: str = "--all") -> list[str]:
    """As many lines as fit on a screen, broken between words, and how many more there are.

    Args:
        lines: of an answer.
        width: columns of the screen.
        height: its lines; the first line of an answer is shown even if it takes more.
        option: shows the others.
    """
    shown: list[str] = []
    for n, line in enumerate(lines):
        parts = _broken(line, width)
        if shown and len(shown) + len(parts) > height - (n + 1 < len(lines)):
            return [*shown, f"{len(lines) - n:,} more lines ({option})"]
        shown += parts
    return shown


def fits(lines: Sequence[str], width: int, height: int) -> bool:
    """Whether lines, broken between words, fit on a screen."""
    return sum(len(_broken(line, width)) for line in lines) <= height


def _broken(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _write(lines: Sequence[str]) -> None:
    """Write lines in the encoding of standard output; ``typer.echo`` has another one for ASCII."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


_STYLES = (("finding: error", "red"), ("finding: warning", "yellow"), ("error: ", "red"), ("Next: ", "cyan"))


def _print(lines: Sequence[str], *, good: bool) -> None:
    """Print lines that fit; in colour on a terminal, unless NO_COLOR forbids it."""
    from rich.text import Text

    from memtile.sheet import stdout_console

    console = stdout_console()
    if not console.is_terminal:
        _write(lines)
        return
    for n, line in enumerate(lines):
        style = next((style for start, style in _STYLES if line.startswith(start)), "")
        console.print(Text(line, style if n else f"bold {'green' if good else 'red'}"), soft_wrap=True)
