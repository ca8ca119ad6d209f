"""Integer constants that a C++ text declares, by scope, and those that it changes.

A name that is set under a condition, in a loop or step by step has no one value: it is known as such from its
declaration on, so that no tiling is made with a value of the moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memtile.access.graph_text.integers import INTEGER_TYPES, Integers
from memtile.access.graph_text.preprocessor import Preprocessed
from memtile.access.graph_text.tokens import Token
from memtile.errors import InputFileError

_QUALIFIERS = frozenset(("const", "constexpr", "static", "inline", "auto", "std", "::"))
_CHANGES = frozenset(("+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--"))
_TILINGS = frozenset(("adf", "tiling", "tiling_parameters"))


@dataclass
class _Scope:
    """The names between two braces.

    Attributes:
        label: of a class, struct or namespace.
        constants: their values, or why they have none.
        places: tokens of their declarations.
    """

    label: str = ""
    constants: dict[str, int | str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)


class Constants:
    """The names that are known at a place of the walk.

    Args:
        text: its tokens.
        unsteady: places of names that change where the walk cannot follow, and how, as an earlier walk found.

    Attributes:
        unsteady: those that this walk finds.
    """

    def __init__(self, text: Preprocessed, unsteady: Mapping[int, str]) -> None:
        self.text = text
        self.tokens = text.tokens
        self.known_unsteady = unsteady
        self.unsteady: dict[int, str] = {}
        self.scopes = [_Scope()]
        self.qualified: dict[tuple[str, str], int | str] = {}

    @property
    def label(self) -> str:
        """Names of the classes and namespaces around, dots between them."""
        return ".".join(scope.label for scope in self.scopes if scope.label)

    def step(self, place: int, token: Token) -> int:
        """Read a declaration or a change of a constant that begins at a name; returns where to go on."""
        if token.text in INTEGER_TYPES or token.text in ("const", "constexpr", "auto"):
            return self._declaration(place)
        after, before = self.tokens[place + 1], self.tokens[place - 1].text if place else ";"
        home = next((scope for scope in reversed(self.scopes) if token.text in scope.constants), None)
        if home is None or before in (".", "->", "::"):
            return place + 1
        plain = home is self.scopes[-1] and before in (";", "{", "}")
        if after.text in _CHANGES or before in ("++", "--") or (after.text == "=" and not plain):
            says = f"changes in line {token.line}"
            self.unsteady[home.places[token.text]] = home.constants[token.text] = says
        elif after.text == "=":
            home.constants[token.text] = self._value(place + 2)
        return place + 1

    def _declaration(self, place: int) -> int:
        """``const uint A = 1, B = 2;``: the names with their values."""
        passed = place > 0 and self.tokens[place - 1].text in ("(", ",", "<")
        while self.tokens[place].text in INTEGER_TYPES or self.tokens[place].text in _QUALIFIERS:
            place += 1
        while self.tokens[place].kind == "name" and self.tokens[place + 1].text in ("=", "{"):
            name, begin = self.tokens[place].text, place + 2
            value = "is a parameter or counts a loop" if passed else self._value(begin)
            if isinstance(value, str) and self.tokens[begin].text in _TILINGS:
                return begin
            self.scopes[-1].constants[name] = self.known_unsteady.get(place, value)
            self.scopes[-1].places[name] = place
            place = self.after_item(begin - (self.tokens[place + 1].text == "{"))
            if self.tokens[place].text != ",":
                break
            place += 1
        return place

    def after_item(self, place: int) -> int:
        """Where the comma or semicolon behind an expression is."""
        while self.tokens[place].kind != "end" and self.tokens[place].text not in (",", ";", ")", "}"):
            place = self.text.matching.get(place, place) + 1
        return place

    def reader(self, place: int) -> Integers:
        """A reader of expressions with the names that are known now."""
        return Integers(self.tokens, self.text.file, self.known, place)

    def _value(self, place: int) -> int | str:
        """The value of the expression at ``place``; a text says why it has none."""
        reader = self.reader(place)
        try:
            value = reader.value()
        except InputFileError as error:
            return f"has no value that memtile can compute: {error.problems[0].says}"
        if reader.token.text in (",", ";", ")", "}"):
            return value
        return f"has no value that memtile can compute in line {self.tokens[place].line}"

    def known(self, names: list[Token]) -> int:
        """The value of a name, perhaps qualified.

        Raises:
            InputFileError: it has none, or one that the walk cannot follow.
        """
        name = names[-1].text
        found: int | str | None
        if len(names) > 1:
            found = self.qualified.get((names[-2].text, name))
        else:
            found = next((s.constants[name] for s in reversed(self.scopes) if name in s.constants), None)
        if isinstance(found, int):
            return found
        text = "::".join(each.text for each in names)
        arguments = name in self.text.macros
        says = f"{text} {found or ('is a macro with arguments' if arguments else 'has no value here')}"
        step = f"Write a line const int {name} = NUMBER; before it, or give -D {name}=NUMBER."
        raise self.text.fail(names[0], says, step)

    def enter(self, label: str) -> None:
        """Begin a scope: a class, struct or namespace of that name, or another; empty."""
        self.scopes.append(_Scope(label))

    def leave(self) -> None:
        """End a scope; constants of a class stay, under its name."""
        if len(self.scopes) == 1:
            return
        scope = self.scopes.pop()
        if scope.label:
            self.qualified |= {(scope.label, name): value for name, value in scope.constants.items()}
