"""MLIR text cut into tokens.

The places of tokens are computed on demand: cutting the text without them is three times as fast, and a text
without mistakes needs few.

It also has a text with its name: places in it, and problems that show them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from memtile.errors import InputFileError, Problem
from memtile.importers.mlir.generations import renamed
from memtile.limits import LIMITS, how_to_raise, limit

BUILD_FILES = "run*.lit"
"""Files beside a text that call the compiler, in tests of mlir-aie."""
_SHOWN = 100  # characters of a line that a message shows
_LONGEST = 1000  # characters of a sentence, which may name something of any length
_SOURCE = "MLIR language reference"


_FIRST = re.compile(
    r"^[ \t]*(?:module\b|\"builtin\.module\"|aie\.|AIE\.|//|[#!][\w.]+ *=|%[\w:, %]+=|func\.func|aiex\.)",
    re.MULTILINE,
)
"""What a line of MLIR begins with, at the top of a text."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text and what it is called.

    Attributes:
        name: of the file, as the user gave it.
        content: all of it.
        skipped: lines of a log before it, which are empty in the content.
        build: lines of a ``run.lit`` beside the file, which call the compiler.
        places: of the program that wrote the text, ``program.py:57``, by line; empty if nothing is known.
    """

    name: str
    content: str = field(repr=False)
    skipped: int = 0
    build: str = field(default="", repr=False)
    places: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _breaks: list[int] = field(default_factory=list, repr=False, compare=False)  # between lines, once asked

    @classmethod
    def of(cls, name: str, content: str) -> Text:
        """A text without the lines of a log that stand before its first line of MLIR; places stay theirs."""
        found = _FIRST.search(content)
        skipped = content[: found.start()] if found is not None else ""
        lines = skipped.count("\n") if skipped.strip() else 0
        return cls(name, "\n" * lines + content[len(skipped) :], lines) if lines else cls(name, content)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, counted from 1."""
        if not self._breaks:
            self._breaks.extend([-1, *(found.start() for found in re.finditer("\n", self.content))])
        line = bisect_left(self._breaks, offset)
        return line, offset - self._breaks[line - 1]

    def where(self, offset: int) -> str:
        """Place of a character as messages have it: ``file:line:column``, or ``program.py:line``."""
        line, column = self.place(offset)
        return self._program(line) or f"{self.name}:{line}:{column}"

    def line(self, offset: int) -> int:
        """Line of a character, counted from 1: that of the program where the text has its name."""
        line, _ = self.place(offset)
        file, _, said = self._program(line).rpartition(":")
        return int(said) if file == self.name else line

    def _program(self, line: int) -> str:
        return self.places[line - 1] if line <= len(self.places) else ""

    def caret(self, offset: int) -> str:
        """The line of a character, and below it a caret under the character."""
        begin = self.content.rfind("\n", 0, offset) + 1
        end = self.content.find("\n", offset)
        column = offset - begin
        first = max(0, column - _SHOWN // 2)
        line = self.content[
            begin + first : min(len(self.content) if end < 0 else end, begin + first + _SHOWN)
        ]
        shown = "".join(each if each.isprintable() else " " if each.isspace() else "\ufffd" for each in line)
        return f"{shown}\n{' ' * (column - first)}^"

    def beyond(self, name: str, offset: int, *, reason: str = "mlir_size") -> InputFileError:
        """The error of a text that exceeds a limit at a character.

        Args:
            name: of the limit.
            offset: of the character.
            reason: stable code, see :class:`~memtile.errors.Problem`.
        """
        allowed = f"up to {limit(name)} {LIMITS[name].what}"
        says = f"the text has more than {limit(name)} {LIMITS[name].what}"
        return self.error(offset, says, reason=reason, allowed=allowed, step=how_to_raise(name))

    def error(
        self,
        offset: int,
        says: str,
        *,
        reason: str = "mlir",
        allowed: str,
        given: str = "",
        step: str = "",
    ) -> InputFileError:
        """The error of one thing that is wrong at a character.

        Args:
            offset: of the character.
            says: what is wrong, a sentence without its full stop.
            allowed: what could stand there.
            given: what stands there; the text itself if empty.
            reason: stable code, see :class:`~memtile.errors.Problem`.
            step: what the user can do.
        """
        problem = Problem(
            "MLIR",
            _short(given) or self.content[offset : offset + 20].split("\n")[0] or "the end",
            allowed,
            f"{_short(says)}\n{self.caret(offset)}\n",
            step,
            reason=reason,
            where=self.where(offset),
            source=_SOURCE,
        )
        return InputFileError(problem)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_SHOWN]}..{text[-_SHOWN:]}"


_NAME = r"[A-Za-z_][\w$.]*"
_SKIPPED = r"(?:[\s\ufeff]+|//[^\n]*)*"
_METADATA = ("{-#", "#-}")  # brackets of a text's resources, of which nothing is read
_TOKEN = "|".join(
    (
        r"[%@^\#!]?\"[^\"\\\n]*+(?:\\[^\n][^\"\\\n]*+)*\"",  # strings, and names in quotes
        r"\"[^\n]*+\n",  # a string that its line does not close, which is refused
        r"\{-\#|\#-\}",
        r"%[ \t]*[\w$.\-]+(?:\#\d+)?",  # values, one of several results among them
        r"[@^\#!][\w$.\-]+",  # symbols, labels, attributes, types
        _NAME,
        r"-?[0-9][\w.]*+(?:(?<=[eE])[+\-](?=[0-9])[\w.]*+)*",  # numbers, and shapes: 4x8xi32
        r"->|::|[<>=]=|[^\s]",
    )
)
_CUT = re.compile(rf"{_SKIPPED}({_TOKEN}|\Z)", re.DOTALL)
_OPENS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSES = {close: opening for opening, close in _OPENS.items()}
_BRACKETS = frozenset(_OPENS) | frozenset(_CLOSES)
NAME = re.compile(_NAME)
_Item = TypeVar("_Item")


class Tokens:
    """The tokens of a text, and which brackets belong together.

    Args:
        text: what is read.

    Attributes:
        text: what was read.
        words: the tokens, and an empty one behind the last.
        close: by the place of an opening bracket that of its closing one.

    Raises:
        InputFileError: a bracket that is not closed, or closes nothing.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        self._offsets: list[int] | None = None
        self._is_as_written = "//" not in text.content and _METADATA[0] not in text.content
        if len(text.content) > limit("words"):
            self._check_size()
        self.words: list[str] = _CUT.findall(f"{text.content}\n")
        self._skipped = self._metadata() if _METADATA[0] in text.content else []
        if self._skipped:
            self.words = self._without_metadata(self.words)
        if '"' in text.content:
            self._check_strings()
        while self.words and not self.words[-1]:
            self.words.pop()
        self.words.append("")
        if "% " in text.content or "%\t" in text.content:
            self.words = [re.sub("^%[ \t]+", "%", word) for word in self.words]
            self._is_as_written = False
        present = renamed(self.words, text.content)
        self._is_as_written &= present is self.words
        self.words = present
        self.close = self._matched()

    def _cut(self) -> Iterator[re.Match[str]]:
        """The tokens in the text; the line of the last one is closed as the others are."""
        return _CUT.finditer(f"{self.text.content}\n")

    def _check_size(self) -> None:
        """A text of too many words is refused before they are kept."""
        beyond = next(islice(self._cut(), limit("words"), None), None)
        if beyond is not None and beyond[1]:
            raise self.text.beyond("words", beyond.start(1))

    def _check_strings(self) -> None:
        """A string that is not closed in its line is refused."""
        number = next((n for n, word in enumerate(self.words) if word[-1:] == "\n"), None)
        if number is not None:
            says = "the string is not closed in its line"
            raise self.text.error(self.offset(number), says, reason="bracket", allowed="pairs of quotes")

    def _metadata(self) -> list[tuple[int, int]]:
        """The spans of tokens that are the text's resources."""
        found, first = list[tuple[int, int]](), -1
        for number, word in enumerate(self.words):
            if word == _METADATA[0] and first < 0:
                first = number
            elif word == _METADATA[1] and first >= 0:
                found.append((first, number + 1))
                first = -1
        if first >= 0:
            at = [each.start(1) for each in islice(self._cut(), first, first + 1)]
            says, allowed = f"the bracket {_METADATA[0]} is never closed", "pairs of brackets"
            raise self.text.error(at[0], says, reason="bracket", allowed=allowed)
        return found

    def _without_metadata(self, items: list[_Item]) -> list[_Item]:
        """What is found for each token of the text, without those of its resources."""
        ends = [0, *(place for span in self._skipped for place in span), len(items)]
        return [item for first, end in zip(ends[::2], ends[1::2], strict=True) for item in items[first:end]]

    def offset(self, number: int) -> int:
        """Character at which a token begins; behind the last one the end of the text."""
        if self._offsets is None:
            self._offsets = self._found() if self._is_as_written else self._cut_again()
        return self._offsets[number] if number < len(self.words) - 1 else len(self.text.content)

    def _found(self) -> list[int]:
        """Where the tokens are, between which there are only blanks."""
        found, at, find = list[int](), 0, f"{self.text.content}\n".find  # its end closes the last line
        for word in self.words[:-1]:
            at = find(word, at)
            found.append(at)
            at += len(word)
        return found

    def _cut_again(self) -> list[int]:
        return self._without_metadata([found.start(1) for found in self._cut()])

    def join(self, first: int, end: int) -> str:
        """Tokens as text without blanks, for types."""
        return "".join(self.words[first:end])

    def _matched(self) -> dict[int, int]:
        """The closing bracket of each opening one; ``<`` and ``>`` may also stand alone, to compare."""
        found: dict[int, int] = {}
        open_: list[tuple[str, int]] = []
        words = self.words
        for number in [n for n, word in enumerate(words) if word in _BRACKETS]:
            word = words[number]
            if word in _OPENS:
                open_.append((word, number))
                continue
            wanted = _CLOSES[word]
            while open_ and open_[-1][0] == "<" != wanted:
                open_.pop()
            if open_ and open_[-1][0] == wanted:
                found[open_.pop()[1]] = number
            elif word != ">":
                self._refuse(number, open_)
        left = [number for word, number in open_ if word != "<"]
        if left:
            says = f"the bracket {words[left[-1]]} is never closed"
            raise self.text.error(self.offset(left[-1]), says, reason="bracket", allowed="pairs of brackets")
        return found

    def _refuse(self, number: int, open_: list[tuple[str, int]]) -> None:
        word = self.words[number]
        says = f"the bracket {word} closes nothing"
        if open_:
            line, _ = self.text.place(self.offset(open_[-1][1]))
            says = f"the bracket {word} cannot close {open_[-1][0]} of line {line}"
        raise self.text.error(self.offset(number), says, reason="bracket", allowed="pairs of brackets")
