"""``#define``, ``#if`` and brackets of C++ text: the tokens that a compiler would see.

A macro without arguments is replaced as a compiler does it, so that a constant from outside (``-D``) wins
over a line of the text. Source: the C++ standard's phases of translation, as far as integer constants need
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memtile.access.graph_text.integers import Integers
from memtile.access.graph_text.tokens import Token, problem_at, scanned
from memtile.errors import InputFileError
from memtile.limits import how_to_raise, limit

_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Preprocessed:
    """Tokens of a text after its directives; ``matching`` has the partner of each bracket.

    Attributes:
        file: how messages name the text.
        macros: name -> what stands for it; None = a macro with arguments.
        given: names that come from outside and win over the text's.
        tokens: those that a compiler would see, and an ``end``.
        matching: the closing bracket of each opening one, by place.
        left: words that may still come.
        deepest: brackets, and macros, that may be within each other.
    """

    file: str
    macros: dict[str, list[Token] | None] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    tokens: list[Token] = field(default_factory=list)
    matching: dict[int, int] = field(default_factory=dict)
    left: int = field(default_factory=lambda: limit("words"))
    deepest: int = field(default_factory=lambda: limit("lists"))

    def read(self, text: str) -> None:
        """Read a text.

        Raises:
            InputFileError: more words than the limit, a comment or a bracket without its end, or a directive
                that cannot be decided.
        """
        last = Token("end", "the end of the text", text.count("\n") + 1, len(text) - text.rfind("\n"))
        branches = _Branches(self)
        for line in _lines(scanned(text)):
            if line and line[0].text == "#":
                branches.directive(line)
            elif branches.taken:
                for token in line:
                    self._add(token, ())
        branches.check_end()
        self.tokens.append(last)
        self._pair()

    def fail(self, token: Token, says: str, next_step: str = "") -> InputFileError:
        """The error of the text at a token."""
        return InputFileError(problem_at(token, says, next_step, file=self.file))

    def expanded(self, line: list[Token]) -> list[Token]:
        """A line with its macros replaced."""
        kept, self.tokens = self.tokens, []
        for token in line:
            self._add(token, ())
        found, self.tokens = self.tokens, kept
        return found

    def _add(self, token: Token, inside: tuple[str, ...]) -> None:
        """Add a token, or what stands for it; a macro is not replaced within itself."""
        if token.kind == "open":
            what = "comment" if token.text == "/*" else "string"
            raise self.fail(token, f"a {what} begins here and has no end")
        body = self.macros.get(token.text) if token.kind == "name" and token.text not in inside else None
        if body is None:
            self._spend(token)
            self.tokens.append(token)
            return
        self._spend(token)
        for each in body if len(inside) < self.deepest else ():
            self._add(each._replace(line=token.line, column=token.column), (*inside, token.text))

    def _spend(self, token: Token) -> None:
        """Count a word, or a macro that is replaced."""
        self.left -= 1
        if self.left < 0:
            raise self.fail(token, "the text has more words than memtile reads", how_to_raise("words"))

    def _pair(self) -> None:
        open_: list[int] = []
        for place, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in _PAIRS:
                open_.append(place)
                if len(open_) > self.deepest:
                    says = f"there are more than {self.deepest} brackets within each other"
                    raise self.fail(token, says, "Paste the tilings alone.")
            elif token.kind == "sign" and token.text in _PAIRS.values():
                self._close(open_, place, token)
        if open_:
            token = self.tokens[open_[-1]]
            raise self.fail(token, f"the bracket {token.text} has no {_PAIRS[token.text]}")

    def _close(self, open_: list[int], place: int, token: Token) -> None:
        if not open_ or _PAIRS[self.tokens[open_[-1]].text] != token.text:
            before = self.tokens[open_[-1]] if open_ else None
            opened = f"; {before.text} of line {before.line} is open" if before else ""
            raise self.fail(token, f"the bracket {token.text} closes nothing{opened}")
        self.matching[open_.pop()] = place


def _lines(tokens: Iterator[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    for token in tokens:
        if token.kind == "line":
            yield line
            line = []
        else:
            line.append(token)
    yield line


@dataclass
class _Branches:
    """Which lines of ``#if`` ... ``#endif`` are read."""

    text: Preprocessed
    open: list[tuple[Token, bool, bool, bool]] = field(default_factory=list)
    """Per ``#if``: its token, whether its lines are read, one of its branches was, the lines around are."""

    @property
    def taken(self) -> bool:
        """Whether the lines here are read."""
        return not self.open or self.open[-1][1]

    def directive(self, line: list[Token]) -> None:
        """Do a directive; ``#include``, ``#pragma``, ``#error`` and the like say nothing about tilings."""
        name = line[1].text if len(line) > 1 else ""
        if name in ("if", "ifdef", "ifndef"):
            around = self.taken
            chosen = around and self._holds(name, line)
            self.open.append((line[1], chosen, chosen, around))
        elif name in ("else", "elif", "endif"):
            self._turn(name, line)
        elif name == "define" and self.taken and len(line) > 2:
            self._define(line)
        elif name == "undef" and self.taken and len(line) > 2:
            self.text.macros.pop(line[2].text, None)

    def check_end(self) -> None:
        """Refuse an ``#if`` without its end."""
        if self.open:
            raise self.text.fail(self.open[-1][0], "this directive has no #endif")

    def _turn(self, name: str, line: list[Token]) -> None:
        if not self.open:
            raise self.text.fail(line[1], f"#{name} has no #if")
        first, _, done, around = self.open.pop()
        if name != "endif":
            chosen = around and not done and (name == "else" or self._holds("if", line))
            self.open.append((first, chosen, done or chosen, around))

    def _define(self, line: list[Token]) -> None:
        name = line[2]
        if name.text in self.text.given:
            return
        bracket = len(line) > 3 and line[3].text == "(" and line[3].column == name.column + len(name.text)
        self.text.macros[name.text] = None if bracket else line[3:]

    def _holds(self, name: str, line: list[Token]) -> bool:
        if len(line) < 3:
            raise self.text.fail(line[1], f"#{name} has no condition")
        if name != "if":
            return (line[2].text in self.text.macros) == (name == "ifdef")
        end = Token("end", "the end of the line", line[1].line, line[-1].column + len(line[-1].text))
        asked = [*self.text.expanded(_decided(line[2:], self.text.macros)), end]
        return bool(Integers(asked, self.text.file, lambda _: 0).value())


def _decided(line: list[Token], macros: Mapping[str, object]) -> list[Token]:
    """The condition with ``defined(X)`` and ``defined X`` as 1 or 0."""
    found: list[Token] = []
    place = 0
    while place < len(line):
        token = line[place]
        if token.text != "defined":
            found.append(token)
            place += 1
            continue
        names = [each for each in line[place + 1 : place + 3] if each.kind == "name"]
        known = bool(names) and names[0].text in macros
        found.append(token._replace(kind="number", text=str(int(known))))
        place += 4 if place + 1 < len(line) and line[place + 1].text == "(" else 2
    return found
