"""Constant integer expressions of C++, as numbers of tilings are written: ``(D1 + 2 * Pad) / Tile1``.

Operators have C++'s precedence, division rounds towards zero. Values have 64 bits; nothing wraps around, so a
negative number of an unsigned type stays negative.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from memtile.access.element_types import ELEMENT_BITS
from memtile.access.graph_text.tokens import Token, problem_at
from memtile.access.request import BYTE_BITS
from memtile.errors import InputFileError
from memtile.limits import limit

_BITS = 64
INTEGER_TYPES = frozenset(
    ["bool", "char", "short", "int", "long", "signed", "unsigned", "uint", "size_t", "ssize_t"]
    + [f"{sign}int{bits}{end}" for sign in ("", "u") for bits in (8, 16, 32, 64) for end in ("", "_t")]
)
"""Words of integer types."""

_BYTES = {"char": 1, "bool": 1, "short": 2, "int": 4, "unsigned": 4, "signed": 4, "uint": 4, "long": 8}
_BYTES |= {"size_t": 8, "ssize_t": 8}
_BYTES |= {f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)}
_BYTES |= {name: bits // BYTE_BITS for name, bits in ELEMENT_BITS.items() if bits >= BYTE_BITS}
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL = {sign: n for n, signs in enumerate(_LEVELS) for sign in signs}


def _divided(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_DO: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": lambda a, b: a - _divided(a, b) * b,
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": operator.not_,
}


class Integers:
    """Reads expressions from tokens, beginning at ``place``.

    Args:
        tokens: ending with one of kind ``end``.
        file: how messages name the text.
        known: the value of a name, which may be qualified; it raises for one without.
        place: of the first token.
    """

    def __init__(
        self, tokens: Sequence[Token], file: str, known: Callable[[list[Token]], int], place: int = 0
    ) -> None:
        self.tokens = tokens
        self.file = file
        self.known = known
        self.place = place
        self._depth = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def take(self, text: str = "") -> Token:
        """The next token, which must be ``text`` if given.

        Raises:
            InputFileError: it is another.
        """
        token = self.token
        if text and token.text != text:
            raise self.fail(token, f"{named(token)} stands where {text} must be")
        self.place += token.kind != "end"
        return token

    def fail(self, token: Token, says: str, next_step: str = "") -> InputFileError:
        """The error of the text at a token."""
        return InputFileError(problem_at(token, says, next_step, file=self.file))

    def value(self, level: int = 0) -> int:
        """The value of the expression that begins here.

        Raises:
            InputFileError: it is none, has an unknown name, divides by 0, or leaves 64 bits.
        """
        left = self._operand()
        while (mine := _LEVEL.get(self.token.text, -1)) >= level and self.token.kind == "sign":
            sign = self.take()
            left = self._done(sign, left, self.value(mine + 1))
        return left

    def _done(self, sign: Token, left: int, right: int) -> int:
        if sign.text in ("/", "%") and not right:
            raise self.fail(sign, f"{left} {sign.text} 0 has no value")
        if sign.text in ("<<", ">>") and not 0 <= right < _BITS:
            raise self.fail(sign, f"{left} is shifted by {right}; a shift must be by 0..{_BITS - 1}")
        return self._checked(sign, int(_DO[sign.text](left, right)))

    def _checked(self, token: Token, value: int) -> int:
        if not -(1 << (_BITS - 1)) <= value < 1 << (_BITS - 1):
            raise self.fail(token, f"the value has more than {_BITS} bits")
        return value

    def _operand(self) -> int:
        self._depth += 1
        token = self.token
        if self._depth > limit("lists"):
            says = f"the expression has more than {limit('lists')} parts within each other"
            raise self.fail(token, says, "Write it in several constants.")
        if token.kind == "sign" and token.text in _UNARY:
            self.take()
            value = self._checked(token, int(_UNARY[token.text](self._operand())))
        elif token.text == "(":
            value = self._in_brackets()
        elif token.kind == "number":
            value = self._checked(token, self._number(self.take()))
        elif token.kind == "name":
            value = self._named()
        else:
            raise self.fail(token, f"{named(token)} stands where a number must be")
        self._depth -= 1
        return value

    def _in_brackets(self) -> int:
        """An expression in brackets, or the operand of a cast to an integer type."""
        self.take("(")
        if self._is_type():
            self._skip_type()
            self.take(")")
            return self._operand()
        value = self.value()
        self.take(")")
        return value

    def _is_type(self) -> bool:
        return self.token.kind == "name" and self.token.text in INTEGER_TYPES

    def _skip_type(self) -> Token:
        if self.token.text == "std" and self.tokens[self.place + 1].text == "::":
            self.place += 2
        token = self.token
        if not self._is_type():
            raise self.fail(token, f"{named(token)} is no type of integers")
        while self._is_type():
            self.take()
        return token

    def _number(self, token: Token) -> int:
        text = token.text.replace("'", "").lower().rstrip("ulz")
        base = 16 if text.startswith("0x") else 2 if text.startswith("0b") else 10
        base = 8 if base == 10 and text.startswith("0") else base
        try:
            if len(text) > _BITS + 2:
                raise ValueError
            return int(text, base)
        except ValueError:
            raise self.fail(token, f"{named(token)} is no whole number of up to {_BITS} bits") from None

    def _named(self) -> int:
        token = self.token
        if token.text == "static_cast":
            self.take()
            self.take("<")
            self._skip_type()
            self.take(">")
            return self._in_brackets()
        if token.text == "sizeof":
            return self._size()
        if self._is_type() and self.tokens[self.place + 1].text == "(":
            self.take()
            return self._in_brackets()
        return self.known(self._qualified())

    def _size(self) -> int:
        self.take()
        self.take("(")
        token = self.take()
        while self.token.text in INTEGER_TYPES:
            token = self.take() if self.token.text in ("long", "short", "char") else self.take() and token
        if token.text not in _BYTES:
            raise self.fail(token, f"the size of {named(token)} is not known")
        self.take(")")
        return _BYTES[token.text]

    def _qualified(self) -> list[Token]:
        """``D0`` or ``Shape::D0``; what is called, indexed or a member is no constant."""
        names = [self.take()]
        while self.token.text == "::" and self.tokens[self.place + 1].kind == "name":
            self.take()
            names.append(self.take())
        if self.token.text in ("(", "[", ".", "->", "{"):
            text = "::".join(each.text for each in names)
            needed = "which a tiling read without a compiler needs"
            says = f"{text}{self.token.text} is no integer constant, {needed}"
            raise self.fail(names[0], says, f"Give its value instead, or -D {names[-1].text}=NUMBER.")
        return names


def named(token: Token) -> str:
    """How messages show a token, cut where it is long."""
    if token.kind == "end":
        return token.text
    return token.text if len(token.text) <= 30 else f"{token.text[:30]}..."
