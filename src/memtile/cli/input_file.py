"""Input files of commands: bytes, text or JSON of a file or standard input; errors name the place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from memtile.errors import InputFileError
from memtile.io.formats.json_text import parse_json, parse_json_lines

STDIN = "-"


def read_json(file: str) -> Any:
    """The JSON value in ``file``; ``-`` is standard input.

    Raises:
        BadParameter: standard input is a terminal, where nobody would know what to type.
        InputFileError: it cannot be read, is not UTF-8 or not JSON; names line and column.
    """
    if file == STDIN and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("give a file, or pipe JSON into standard input")
    return parse_json(read_text(file), name_of(file))


def read_json_lines(file: str) -> Any:
    """As :func:`read_json`; several lines, each of them a JSON value (NDJSON), are a list of them."""
    if file == STDIN and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("give a file, or pipe JSON into standard input")
    return parse_json_lines(read_text(file), name_of(file))


def read_text(file: str) -> str:
    """The text of ``file``; ``-`` is standard input.

    Raises:
        InputFileError: it cannot be read, or is not UTF-8.
    """
    try:
        return read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputFileError(f"{name_of(file)}: byte {error.start} is not UTF-8 text.") from None


def read_bytes(file: str) -> bytes:
    """All bytes of ``file``; ``-`` is standard input.

    Raises:
        InputFileError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise InputFileError(f"{name_of(file)}: the file cannot be read: {error.strerror}.") from None


def name_of(file: str) -> str:
    """How messages call ``file``."""
    return "standard input" if file == STDIN else file
