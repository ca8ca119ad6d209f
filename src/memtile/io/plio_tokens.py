"""Numbers between blanks in a text of bytes, found and read all at once, each with its line.

Millions of short numbers are read as arrays, digit by digit; what is longer than a machine's integer, or no
number at all, is looked at alone. Time and memory are proportional to the length of the text.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError
from memtile.limits import how_to_raise, limit

Array = npt.NDArray[Any]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

DECIMAL_BASE, HEX_BASE = 10, 16
_LONGEST = 40  # characters of a token that is a number
_AT_ONCE = {DECIMAL_BASE: 18, HEX_BASE: 15}  # digits of a number that surely fits int64
_BLANKS = np.isin(np.arange(256), np.frombuffer(b" \t\r\n\v\f", np.uint8))
_NO_DIGIT = 99
_PIECE = 1 << 15  # tokens at once, so that their arrays stay in a cache
_EMPTY = (np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, bool))
_DECIMAL = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,4})?|inf(inity)?|nan)", re.IGNORECASE | re.ASCII
)
_INTEGER = {DECIMAL_BASE: re.compile("[+-]?[0-9]+"), HEX_BASE: re.compile("(0[xX])?[0-9a-fA-F]+")}


def check_count(count: int, name: str) -> None:
    """Check that a file has no more values than the limit ``plio_values``.

    Raises:
        InputFileError: it has.
    """
    if count > limit("plio_values"):
        most = f"the file has more than {limit('plio_values'):,} values"
        raise InputFileError(f"{name}: {most}. {how_to_raise('plio_values')}")


class Tokens:
    """What stands between blanks.

    Args:
        data: bytes of a text.
        name: of the file, for messages.

    Attributes:
        starts: first byte of each token.
        ends: byte behind each.
        lines: line of each, from 1 on.

    Raises:
        InputFileError: there are more than the limit ``plio_values``.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.text = np.frombuffer(b"%b\n" % data, np.uint8)
        blank = _BLANKS[self.text]
        edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
        if not blank[0]:
            edges = np.concatenate((np.zeros(1, edges.dtype), edges))
        self.starts, self.ends = edges[0::2], edges[1::2]
        check_count(len(self.starts), name)
        self.lines = np.searchsorted(np.flatnonzero(self.text == ord("\n")), self.starts) + 1

    def __len__(self) -> int:
        return len(self.starts)

    def word(self, token: int) -> str:
        """A token as text, its beginning where it is long."""
        return bytes(self.text[self.starts[token] : self.ends[token]][:_LONGEST]).decode("latin-1")

    def integers(self, tokens: Indices, base: int) -> tuple[Array, Mask]:
        """The integers that tokens are.

        Args:
            tokens: their numbers.
            base: 10, with a sign or without; 16, with ``0x`` or without.

        Returns:
            Values, int64 or, where one of them is larger, Python's; and which tokens are no integer.
        """
        pieces = [self._short(tokens[at : at + _PIECE], base) for at in range(0, len(tokens), _PIECE)]
        values, wrong, is_long = (np.concatenate(each) for each in zip(_EMPTY, *pieces, strict=True))
        return self._with_long(values, wrong, tokens, np.flatnonzero(is_long), base)

    def _short(self, tokens: Indices, base: int) -> tuple[Array, Mask, Mask]:
        """The integers that tokens are, which are none, and which are too long for this way."""
        starts, ends = self.starts[tokens], self.ends[tokens]
        lead = self.text[starts]
        negative = lead == ord("-")
        if base == DECIMAL_BASE:
            begins = starts + (negative | (lead == ord("+")))
        else:
            begins = starts + 2 * ((lead == ord("0")) & np.isin(self.text[starts + 1], (ord("x"), ord("X"))))
        values, wrong = np.zeros(len(tokens), np.int64), begins >= ends
        is_long = ends - begins > _AT_ONCE[base]
        digits = _digits(base)
        for place in range(int((ends - begins)[~is_long].max(initial=0))):
            at = begins + place
            left = (at < ends) & ~is_long
            digit = digits[self.text[np.where(left, at, 0)]]
            wrong |= left & (digit == _NO_DIGIT)
            values = np.where(left, values * base + digit, values)
        if base == DECIMAL_BASE:
            values = np.where(negative, -values, values)
        return values, wrong, is_long

    def _with_long(
        self, values: Array, wrong: Mask, tokens: Indices, long: Indices, base: int
    ) -> tuple[Array, Mask]:
        """Those that may not fit a machine's integer, one by one."""
        if not len(long):
            return values, wrong
        values = values.astype(object)
        for each in long.tolist():
            token = int(tokens[each])
            word = self.word(token) if self.ends[token] - self.starts[token] <= _LONGEST else ""
            wrong[each] = not _INTEGER[base].fullmatch(word)
            values[each] = 0 if wrong[each] else int(word, base)
        return values, wrong

    def floats(self, tokens: Indices) -> tuple[Array, Mask]:
        """The decimal fractions that tokens are, and which are none."""
        text = self.text if len(tokens) == len(self) else self._only(tokens)
        values = _parsed(text)
        if values is not None and len(values) == len(tokens):
            return values, np.zeros(len(tokens), bool)
        words = [self.word(int(token)) for token in tokens]
        long = (self.ends - self.starts)[tokens] > _LONGEST
        wrong = long | np.array([not _DECIMAL.fullmatch(word) for word in words], bool)
        found = [0.0 if bad else float(word) for word, bad in zip(words, wrong.tolist(), strict=True)]
        return np.array(found), wrong

    def _only(self, tokens: Indices) -> Array:
        """The text with blanks for all other tokens."""
        steps = np.zeros(len(self.text), np.int8)
        steps[self.starts[tokens]] = 1
        steps[self.ends[tokens]] = -1
        return np.where(np.cumsum(steps, dtype=np.int8) == 1, self.text, np.uint8(ord(" ")))


def _digits(base: int) -> Array:
    """The digit that each byte is."""
    found = np.full(256, _NO_DIGIT, np.int64)
    for digit in range(base):
        for sign in {f"{digit:x}", f"{digit:X}"}:
            found[ord(sign)] = digit
    return found


def _parsed(text: Array) -> Array | None:
    """The numbers of a text as NumPy reads them; None where it stops before the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how older NumPy says that it stopped
        try:
            return np.fromstring(text.tobytes(), np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
