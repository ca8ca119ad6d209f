"""JSON text, strict, with errors that name the file and the place."""

from __future__ import annotations

import json
import re
from typing import Any

from memtile.errors import InputFileError

_MOST_DIGITS = 100  # no number that means something here is longer


_HALF = re.compile(r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])")
"""Half of a surrogate pair without the other half, in JSON whose escaped backslashes are taken out."""
_BEGIN = re.compile(r'\s*(?:\[|\{\s*(?:"|\}|$)|[-\d"]|(?:true|false|null)\b|$)')


def begins_as_json(text: str) -> bool:
    """Whether a text begins as a JSON value does, and as C++ with a tiling does not."""
    return _BEGIN.match(text) is not None


def parse_json(text: str, name: str) -> Any:
    """The JSON value in ``text`` of the file ``name``.

    Raises:
        InputFileError: it is not JSON, which names line and column, an object has a key twice, or a text has
            half of a surrogate pair.
    """
    try:
        found = json.loads(text, object_pairs_hook=lambda pairs: _object(name, pairs), parse_int=_whole)
    except json.JSONDecodeError as error:
        place = f"{name}, line {error.lineno}, column {error.colno}"
        raise InputFileError(f"{place}: this is not JSON: {error.msg}.") from None
    except ValueError as error:
        raise InputFileError(f"{name}: this JSON cannot be read: {error}.") from None
    except RecursionError:
        raise InputFileError(f"{name}: this JSON cannot be read: it is nested too deeply.") from None
    if _HALF.search(text.replace(r"\\", " ")):
        raise InputFileError(f"{name}: a text has half of a surrogate pair. Give Unicode text.")
    return found


def parse_json_lines(text: str, name: str) -> Any:
    """The JSON value in ``text``; where it is several lines with a value each (NDJSON), the list of them.

    Raises:
        InputFileError: as :func:`parse_json`.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) < 2 or not all(_is_whole_value(line) for _, line in lines):
        return parse_json(text, name)
    return [parse_json(line, f"{name}, line {number}") for number, line in lines]


def _is_whole_value(line: str) -> bool:
    """Whether a line is an object or a list from its first character to its last."""
    stripped = line.strip()
    return (stripped[0], stripped[-1]) in (("{", "}"), ("[", "]"))


def _whole(digits: str) -> int:
    """A whole number, refusing one that Python could not print again."""
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits")
    return int(digits)


def _object(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, refusing a key given twice, of which one value would be lost."""
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputFileError(f'{name}: an object has the key "{twice}" twice.')
    return result
