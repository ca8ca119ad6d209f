"""JSON that commands read from a file or from standard input."""

from __future__ import annotations

import sys
from typing import Any

import typer

from memtile.input_files import STDIN, name_of, read_text
from memtile.io.json_text import parse_json_lines


def read_json_lines(file: str) -> Any:
    """Return the JSON value in ``file``; several lines with a value each (NDJSON) are a list of them.

    Args:
        file: its path; ``-`` is standard input.

    Raises:
        BadParameter: standard input is a terminal, where nobody would know what to type.
        InputFileError: it cannot be read, is not UTF-8 or not JSON; names line and column.
    """
    if file == STDIN and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("give a file, or pipe JSON into standard input")
    return parse_json_lines(read_text(file), name_of(file))
