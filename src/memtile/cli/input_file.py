"""JSON or text that commands read from a file or from standard input."""

from __future__ import annotations

import sys
from typing import Any

import typer

from memtile.errors import InputFileError
from memtile.input_files import STDIN, name_of, read_text
from memtile.io.json_text import begins_as_json, parse_json_lines

_DESIGNS = (".py", ".mlir")


def read_json_or_text(file: str) -> Any:
    """Return the JSON value in ``file``, or its text where it does not begin as JSON does.

    Args:
        file: its path; ``-`` is standard input. A name that ends in ``.json`` is JSON.

    Raises:
        BadParameter: as of ``read_json_lines``.
        InputFileError: as of ``read_json_lines``.
    """
    _refuse_others(file)
    text = read_text(file)
    if file.endswith((".json", ".jsonl", ".ndjson")) or begins_as_json(text):
        return parse_json_lines(text, name_of(file))
    return text


def read_json_lines(file: str) -> Any:
    """Return the JSON value in ``file``; several lines with a value each (NDJSON) are a list of them.

    Args:
        file: its path; ``-`` is standard input.

    Raises:
        BadParameter: standard input is a terminal, where nobody would know what to type.
        InputFileError: it cannot be read, is not UTF-8 or not JSON; names line and column.
    """
    _refuse_others(file)
    return parse_json_lines(read_text(file), name_of(file))


def _refuse_others(file: str) -> None:
    if file.endswith(_DESIGNS):
        raise InputFileError(
            f"{file}: this is a design; the command reads tilings or descriptors. memtile run, check, "
            "explain, sweep and diff take designs."
        )
    if file == STDIN and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("give a file, or pipe JSON into standard input")
