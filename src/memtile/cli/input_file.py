"""Input files of commands: text and JSON from a file or standard input, with errors that name the place."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError

STDIN = "-"


def read_json(file: str) -> Any:
    """The JSON value in ``file``; ``-`` is standard input.

    Raises:
        InputFileError: it cannot be read, is not UTF-8 or not JSON; names line and column.
    """
    name = "standard input" if file == STDIN else file
    try:
        return json.loads(read_text(file), object_pairs_hook=lambda pairs: _object(name, pairs))
    except json.JSONDecodeError as error:
        place = f"{name}, line {error.lineno}, column {error.colno}"
        raise InputFileError(f"{place}: not JSON: {error.msg}") from None
    except ValueError as error:
        raise InputFileError(f"{name}: not JSON that can be read: {error}") from None
    except RecursionError:
        raise InputFileError(f"{name}: not JSON that can be read: nested too deeply") from None


def read_text(file: str) -> str:
    """The text of ``file``; ``-`` is standard input.

    Raises:
        InputFileError: it cannot be read, or is not UTF-8.
    """
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputFileError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputFileError(f"{file}: not UTF-8 text, see byte {error.start}") from None


def _object(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, refusing a key given twice, of which one value would be lost."""
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputFileError(f'{name}: key "{twice}" is given twice in one object')
    return result
