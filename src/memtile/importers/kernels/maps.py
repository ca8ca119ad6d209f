"""Affine maps, sets and expressions of MLIR text, read by their grammar, as nodes of Python.

An index wraps to its width after each operation; ``proofs`` takes out what cannot wrap.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from memtile.importers.kernels.expressions import INDEX, paired, wrapped
from memtile.importers.kernels.quote import Node, expr, value_of
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.forms.operand_faults import limit_error
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.token_packets import Tokens
from memtile.limits import limit

_MAP = re.compile(r"(?:affine_map|affine_set)<\(([^)]*)\)(?:\[([^\]]*)\])?(?:->|:)\((.*)\)>", re.DOTALL)
_OPERATOR = re.compile(r"floordiv|ceildiv|mod|[<>=]=|[-+*)]")
_OPERAND = re.compile(r"\d+|[-(]|[A-Za-z_]\w*?(?=floordiv|ceildiv|mod|\W|$)")
_SUMS, _PRODUCTS = ("+", "-"), ("*", "floordiv", "ceildiv", "mod")
_COMPARISONS = (">=", "<=", "==")
_ALLOWED = "values, numbers, +, -, *, floordiv, ceildiv, mod"
_aliases: WeakKeyDictionary[Tokens, dict[str, str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Affine:
    """An affine expression.

    Attributes:
        operator: of its operands; empty for a name or a number.
        operands: one or two.
        name: of a dimension, a symbol or a value; empty for others.
        number: of a constant.
        height: operations within each other.
    """

    operator: str = ""
    operands: tuple[Affine, ...] = ()
    name: str = ""
    number: int = 0
    height: int = 0

    def node(self, named: Callable[[str], Node]) -> Node:
        """The expression in Python.

        Args:
            named: gives what stands for a name.
        """
        if not self.operands:
            return named(self.name) if self.name else expr("_number", _number=self.number)
        return _combined(self.operator, [each.node(named) for each in self.operands])


@dataclass(frozen=True, slots=True)
class AffineMap:
    """A map, or the constraints of a set.

    Attributes:
        dims: names of its dimensions.
        symbols: names of its symbols.
        results: what it gives; of a set, what is compared with 0.
        signs: of a set, how each is compared.
    """

    dims: tuple[str, ...]
    results: tuple[Affine, ...]
    symbols: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()

    def nodes(self, given: Sequence[Node], symbols: Sequence[Node] = ()) -> list[Node]:
        """The results in Python, of these expressions for dimensions and symbols.

        Raises:
            ValueError: there are not as many as the map takes.
        """
        if len(given) != len(self.dims) or len(symbols) != len(self.symbols):
            many = len(self.dims) + len(self.symbols)
            raise ValueError(f"a map of {many} values gets {len(given) + len(symbols)}")
        names = dict(zip((*self.dims, *self.symbols), (*given, *symbols), strict=True))
        return [each.node(names.__getitem__) for each in self.results]

    def conditions(self, results: Sequence[Node]) -> list[Node]:
        """The constraints of a set in Python, of its results."""
        return [paired(sign, node, 0) for sign, node in zip(self.signs, results, strict=True)]

    def dimension(self, place: int) -> int | None:
        """The dimension that a result is, None if it is something else."""
        name = self.results[place].name
        return self.dims.index(name) if name in self.dims else None


def plain_map(dims: int, results: Sequence[int]) -> AffineMap:
    """The map that gives some of its dimensions."""
    names = tuple(f"d{n}" for n in range(dims))
    return AffineMap(names, tuple(Affine(name=names[n]) for n in results))


def affine_map(form: OperationForm, text: str) -> AffineMap:
    """The map or set of an attribute: written out, or by its alias.

    Raises:
        InputFileError: no map has this name, or it is none.
    """
    if text[:1] == "#":
        text = _alias(form.operation.tokens, text)
    inside = _MAP.fullmatch(text)
    if inside is None:
        raise form.error(f"{shown(text)} is no affine map that is known", "affine_map<(d0) -> (d0)>")
    dims, symbols = (tuple(name for name in (part or "").split(",") if name) for part in inside.groups()[:2])
    parts = _split(inside[3])
    if len(parts) > limit("map_results"):
        raise limit_error(form.operation, "map_results", f"its map has {len(parts)} results")
    names = frozenset((*dims, *symbols))
    if len(names) != len(dims) + len(symbols):
        raise form.error("two dimensions of its map have one name", "a name for each", reason="mlir_index")
    signs, results = list[str](), list[Affine]()
    for each in parts:
        words = _words(form, each)
        if text.startswith("affine_set"):
            sign = next((word for word in words if word in _COMPARISONS), "")
            at = words.index(sign) if sign else len(words)
            one, other = (_read(form, each_, names) for each_ in (words[:at], words[at + 1 :]))
            results.append(Affine("-", (one, other), height=max(one.height, other.height) + 1))
            signs.append(sign)
        else:
            results.append(_read(form, words, names))
    return AffineMap(dims, tuple(results), symbols, tuple(signs))


def affine(form: OperationForm, words: Sequence[str], use: Callable[[str], Node]) -> Node:
    """The node of an affine expression of values, from its tokens.

    Args:
        form: of its operation.
        words: tokens.
        use: gives the node of a value.

    Raises:
        InputFileError: it is none.
    """
    values = frozenset(word for word in words if word[:1] == "%")
    return _read(form, [word for word in words if word != "symbol"], values).node(use)


def _alias(tokens: Tokens, name: str) -> str:
    """What an alias stands for; itself if nobody says."""
    if tokens not in _aliases:
        words = tokens.words
        _aliases[tokens] = {
            word: tokens.join(at + 2, tokens.close.get(at + 3, at + 2) + 1)
            for at, word in reversed(list(enumerate(words)))
            if word[:1] == "#" and words[at + 1] == "="
        }
    return _aliases[tokens].get(name, name)


def _split(text: str) -> list[str]:
    """What commas separate outside of parentheses."""
    found, depth, first = list[str](), 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append(text[first:at])
            first = at + 1
    return [each for each in (*found, text[first:]) if each]


def _words(form: OperationForm, text: str) -> list[str]:
    """The words of an expression that is written without blanks."""
    found, at, operand = list[str](), 0, True
    while at < len(text):
        word = (_OPERAND if operand else _OPERATOR).match(text, at)
        if word is None:
            raise form.error(f"{shown(text[at:])} is no index", _ALLOWED, reason="mlir_index")
        found.append(word[0])
        operand = word[0] in "-(" if operand else word[0] != ")"
        at = word.end()
    return found


def _read(form: OperationForm, words: Sequence[str], names: frozenset[str]) -> Affine:
    """The expression that words are; all of them."""
    reader = _MapReader(form, words, names)
    found = reader.level(0)
    if reader.at < len(words):
        raise reader.error(words[reader.at])
    return found


class _MapReader:
    """Reads an affine expression.

    Args:
        form: of the operation that has it.
        words: of it.
        names: that stand for something.
    """

    def __init__(self, form: OperationForm, words: Sequence[str], names: frozenset[str]) -> None:
        self._form, self._words, self._names = form, words, names
        self.at = 0
        self._depth = limit("body_depth")

    def error(self, word: str) -> Exception:
        """What a word that is not expected is told with."""
        return self._form.error(f"{word or 'nothing'} is no index", _ALLOWED, reason="mlir_index")

    def level(self, depth: int) -> Affine:
        """A sum."""
        found = self._product(depth)
        while self._next()[:1] in _SUMS:
            word = self._next()
            self.at += len(word) == 1  # a number with a sign is added
            found = self._made("+" if len(word) > 1 else word, found, self._product(depth))
        return found

    def _product(self, depth: int) -> Affine:
        found = self._factor(depth)
        while (word := self._next()) in _PRODUCTS:
            self.at += 1
            found = self._made(word, found, self._factor(depth))
        return found

    def _made(self, operator: str, one: Affine, other: Affine | None) -> Affine:
        operands = (one,) if other is None else (one, other)
        height = 1 + max(each.height for each in operands)
        if height > self._depth:
            raise self._too_deep()
        return Affine(operator, operands, height=height)

    def _factor(self, depth: int) -> Affine:
        if depth > self._depth:
            raise self._too_deep()
        word = self._next()
        value = number(word)
        if isinstance(value, int):
            self.at += 1
            return Affine(number=value)
        if word == "-":
            self.at += 1
            return self._made("negative", self._factor(depth + 1), None)
        if word == "(":
            self.at += 1
            found = self.level(depth + 1)
            if self._next() != ")":
                raise self.error(self._next())
            self.at += 1
            return found
        if word not in self._names:
            raise self.error(word)
        self.at += 1
        return Affine(name=word)

    def _next(self) -> str:
        return self._words[self.at] if self.at < len(self._words) else ""

    def _too_deep(self) -> Exception:
        says = f"its index has more than {self._depth} operations within each other"
        return limit_error(self._form.operation, "body_depth", says)


def _combined(operator: str, given: Sequence[Node]) -> Node:
    """An operation on indices; what is divided by is positive, as the dialect says."""
    if operator == "negative":
        return _folded(wrapped(expr("-_a", _a=given[0]), INDEX))
    one, other = given
    if operator in ("+", "-", "*"):
        return wrapped(paired(operator, one, other), INDEX)
    by = value_of(other)
    divisor = other if by is not None and by > 0 else expr("positive(_by, SITE)", _by=other)
    if operator == "mod":
        return expr("_a % _b", _a=one, _b=divisor)
    if operator == "floordiv":
        return expr("_a // _b", _a=one, _b=divisor)
    return expr("-(-_a // _b)", _a=one, _b=divisor)


def _folded(node: Node) -> Node:
    """A negative number as a constant."""
    inner = node.args[0] if isinstance(node, ast.Call) else node
    known = value_of(inner.operand) if isinstance(inner, ast.UnaryOp) else None
    return node if known is None else expr("_number", _number=-known)
