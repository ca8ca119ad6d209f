"""Affine maps and sets of MLIR text as Python expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tokens import Tokens

_WORD = re.compile(r"%[\w$.#-]+|floordiv|ceildiv|mod(?![a-z])|symbol|[ds]\d+|\d+|[<>=]=|[-+*()]")
_LEVELS = ("+-", ("*", "floordiv", "ceildiv", "mod"))
_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class AffineMap:
    """A map, or the constraints of a set.

    Attributes:
        dims: how many dimensions it takes.
        results: what it gives, as text.
    """

    dims: int
    results: tuple[str, ...]

    def expressions(self, given: Sequence[str], symbols: Sequence[str] = ()) -> list[str]:
        """The results in Python, of these expressions for dimensions and symbols."""
        names = {f"d{n}": text for n, text in enumerate(given)} | {
            f"s{n}": text for n, text in enumerate(symbols)
        }
        return [expression(text, names) for text in self.results]

    def dimension(self, place: int) -> int | None:
        """The dimension that a result is, None if it is something else."""
        text = self.results[place]
        return int(text[1:]) if re.fullmatch(r"d\d+", text) else None


def affine_map(form: Form, text: str) -> AffineMap:
    """The map or set of an attribute: written out, or by its alias.

    Raises:
        InputFileError: no map has this name.
    """
    if text[:1] == "#":
        text = _alias(form.operation.tokens, text)
    inside = re.fullmatch(r"(?:affine_map|affine_set)<\(([^)]*)\)(?:\[[^\]]*\])?(?:->|:)\((.*)\)>", text)
    if inside is None:
        raise form.error(f"{text} is no affine map that is known", "affine_map<(d0) -> (d0)>")
    dims = [name for name in inside[1].split(",") if name]
    symbols = re.search(r"\)\[([^\]]*)\](?:->|:)", text)
    results = _split(inside[2])
    names = {name: f"d{n}" for n, name in enumerate(dims)}
    names |= {name: f"s{n}" for n, name in enumerate(symbols[1].split(",") if symbols else [])}
    plain = [
        re.sub(r"[A-Za-z_]\w*?(?=floordiv|ceildiv|mod|\b)", lambda m: names.get(m[0], m[0]), r)
        for r in results
    ]
    return AffineMap(len(dims), tuple(plain))


def _alias(tokens: Tokens, name: str) -> str:
    """What an alias stands for; itself if nobody says."""
    words = tokens.words
    for at, word in enumerate(words):
        if word == name and words[at + 1] == "=":
            return tokens.join(at + 2, tokens.close.get(at + 3, at + 2) + 1)
    return name


def _split(text: str) -> list[str]:
    """What commas separate outside of parentheses."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [each for each in found if each]


def expression(text: str, names: Mapping[str, str] = _NO_NAMES, use: Callable[[str], str] = str) -> str:
    """An affine expression in Python.

    Args:
        text: of it.
        names: what stands for dimensions and symbols.
        use: what stands for a value.
    """
    words = [word for word in _WORD.findall(text) if word != "symbol"]
    found, end = _level(words, 0, 0, lambda word: use(word) if word[:1] == "%" else names.get(word, word))
    return found if end == len(words) else f"{found}"


def _level(words: Sequence[str], at: int, level: int, named: Callable[[str], str]) -> tuple[str, int]:
    if level == len(_LEVELS):
        return _factor(words, at, named)
    text, at = _level(words, at, level + 1, named)
    while at < len(words) and words[at] in _LEVELS[level]:
        operator = words[at]
        other, at = _level(words, at + 1, level + 1, named)
        if operator == "ceildiv":
            text = f"(-(-{text} // {other}))"
        else:
            text = f"({text} { {'floordiv': '//', 'mod': '%'}.get(operator, operator) } {other})"
    return text, at


def _factor(words: Sequence[str], at: int, named: Callable[[str], str]) -> tuple[str, int]:
    if words[at] == "-":
        text, at = _factor(words, at + 1, named)
        return f"(-{text})", at
    if words[at] == "(":
        text, at = _level(words, at + 1, 0, named)
        return text, at + 1
    return named(words[at]), at + 1


def condition(constraint: str, names: Mapping[str, str]) -> str:
    """A constraint of a set, ``d0 - 10 >= 0``, in Python."""
    sign = next(sign for sign in (">=", "<=", "==") if sign in constraint)
    one, other = constraint.split(sign)
    return f"{expression(one, names)} {sign} {expression(other, names)}"
