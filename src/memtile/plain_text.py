"""Names and texts from outside as plain text: characters without a form of their own appear as escapes.

Control characters (ESC begins commands to a terminal), marks that turn the direction of a line, zero-width
characters, separators of lines and lone surrogates appear as Python writes them: ``\\x1b``, ``\\u202e``.
Every output (terminal, page, picture, table, message) makes its texts printable in one place of its own.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]")  # printable by their class, yet invisible
_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def printable(text: str, keep: str = "") -> str:
    """The text with escapes for all characters that have no form of their own.

    Args:
        text: any text.
        keep: characters that stay as they are, such as the line feeds of a text of several lines.
    """
    rest = text
    for sign in keep:
        rest = rest.replace(sign, "")
    if rest.isprintable() and not _BLANK.search(rest):
        return text
    return "".join(sign if sign in keep or _is_visible(sign) else _escape(sign) for sign in text)


def _is_visible(sign: str) -> bool:
    return sign.isprintable() and not _BLANK.match(sign)


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def printable_data(data: Any) -> Any:
    """Plain data (dictionaries, lists, texts, numbers) with all its texts printable."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, dict):
        return {printable_data(key): printable_data(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [printable_data(value) for value in data]
    return data


def markup_text(text: str) -> str:
    """The text for HTML, SVG and XML: printable, and without markup of its own."""
    return escape(printable(text))


def script_json(data: Any) -> str:
    """Plain data as JSON for a ``<script>`` of a page: no text in it can end or begin an element."""
    return json.dumps(printable_data(data), separators=(",", ":")).translate(_MARKUP)


def json_text(data: Any, indent: int | None = None) -> str:
    """Plain data as JSON in ASCII that is printable itself; reading it gives exactly the data."""
    return json.dumps(data, indent=indent).replace("\x7f", "\\u007f")
