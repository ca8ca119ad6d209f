"""Words and signs of C++ text with their places, without comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtile.errors import Problem

SOURCE = "C++ text of a graph"
_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r\f\v]|\\\r?\n)+|//(?:[^\n\\]|\\\r?\n|\\)*|/\*.*?\*/)
    |(?P<line>\n)
    |(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\()
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<open>/\*|["'])
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign><<=|>>=|<=>|->\*|\.\.\.|<<|>>|::|->|&&|\|\||[-+*/%&|^<>=!]=|\+\+|--|.)""",
    re.VERBOSE | re.DOTALL,
)
_ALLOWED = "C++ with tilings of integer constants"


class Token(NamedTuple):
    """A word or sign.

    Attributes:
        kind: ``name``, ``number``, ``string`` or ``sign``; ``end`` after the last.
        text: as it is written.
        line: from 1 on.
        column: from 1 on.
    """

    kind: str
    text: str
    line: int
    column: int


def problem_at(token: Token, says: str, next_step: str = "", *, file: str) -> Problem:
    """The problem of a text at a token; ``says`` is the sentence."""
    where = f"{file}, line {token.line}, column {token.column}"
    return Problem(
        "text", token.text, _ALLOWED, says, next_step, reason="graph_text", where=where, source=SOURCE
    )


def scanned(text: str) -> Iterator[Token]:
    """All tokens, lines' ends (kind ``line``) too, without comments."""
    line, begin, place = 1, 0, 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None  # the last alternative is any character
        kind, end = str(found.lastgroup), found.end()
        if found["raw"]:
            closed = text.find(f'){found["mark"]}"', end)
            kind, end = ("string", closed + len(found["mark"]) + 2) if closed >= 0 else ("open", end)
        if kind != "space":
            yield Token(kind, text[place:end], line, place - begin + 1)
        if kind == "open":
            return  # what follows has no meaning
        ends = text.count("\n", place, end)
        line += ends
        begin = text.rindex("\n", place, end) + 1 if ends else begin
        place = end
