"""Candidates in the Python source of a design: numbers, locks, subscripts, padding, and other orders.

Only what stands as a literal or a name in the source is changed, so that a change is a change of the text.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memtile.explain.findings import Change, Finding
from memtile.explain.repairs import Candidate, hides
from memtile.input_files import syntax_tree

_NEAR = 0.6  # how much likelier a change is at a line that the first finding names
_QUOTED = re.compile(r"'([^']+)'")
_KINDS = {"lock": "lock_value", "start": "repeat", "acquire": "count", "release": "count", "": "bound"}
"""What a number is, by the function that it is given to; lengths are given to all others."""

_TWO = 2  # sides of a dimension
_ARRAYS = ("external", "feed", "expect", "expect_array", "buffer", "object_fifo")
"""Functions whose arguments say how much data there is."""
_SIZES = ("shape", "data")


@dataclass(frozen=True, slots=True)
class _Number:
    """A whole number of the source: its node, and the function and parameter that it is for."""

    node: ast.Constant
    value: int
    function: str
    role: str


def python_candidates(source: str, file: str, findings: Sequence[Finding]) -> list[Candidate]:
    """The changes of a source that may repair its design, likeliest first.

    Args:
        source: of the design.
        file: that has it.
        findings: of its run or its check, the root of the matter first.

    Raises:
        SyntaxError: it is not Python.
    """
    reader = _Source(source, file)
    weights = _weights(findings, file, source)
    found: dict[tuple[tuple[int, str, str], ...], Candidate] = {}
    for line, each in reader.candidates():
        if hides(each, findings):
            continue
        made = replace(each, unlikely=each.unlikely - _NEAR * weights.get(line, 0.0))
        key = tuple((change.offset, change.old, change.new) for change in made.changes)
        if key not in found or found[key].unlikely > made.unlikely:
            found[key] = made
    return sorted(found.values(), key=lambda each: each.unlikely)


def _weights(findings: Sequence[Finding], file: str, source: str) -> dict[int, float]:
    """How near each line is to what findings name: by its number, else by a name in quotes."""
    lines, found = source.splitlines(), dict[int, float]()
    for n, finding in enumerate(findings[:4]):
        said = " ".join(
            [finding.message, *(f"{side.who} {side.does} {side.place}" for side in finding.sides)]
        )
        for number in re.findall(rf"{re.escape(file)}:(\d+)|{re.escape(file)}, line (\d+)", said):
            line = int(number[0] or number[1])
            found[line] = max(found.get(line, 0.0), 1.0 / (n + 1))
        for name in set(_QUOTED.findall(said)):
            for line, text in enumerate(lines, 1):
                if f'"{name}"' in text or f"'{name}'" in text:
                    found[line] = max(found.get(line, 0.0), 0.7 / (n + 1))
    return found


class _Source:
    """A source and its tree.

    Args:
        source: of the design.
        file: that has it.
    """

    def __init__(self, source: str, file: str) -> None:
        self._source, self._file = source, file
        self._tree = syntax_tree(source)
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def candidates(self) -> Iterator[tuple[int, Candidate]]:
        """Candidates, each with its line."""
        yield from self._numbers()
        yield from self._locks()
        yield from self._subscripts()
        yield from self._order()
        yield from self._paddings()
        yield from self._exchanges()

    def _offset(self, line: int, column: int) -> int:
        """Character of a place of the tree, whose columns count bytes."""
        begin, end = self._starts[line - 1], self._starts[line]
        return begin + len(self._source[begin:end].encode()[:column].decode())

    def _change(self, node: ast.expr | ast.stmt, new: str) -> Change:
        first = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        column = first - self._starts[node.lineno - 1] + 1
        return Change(self._file, node.lineno, column, self._source[first:end], new, first)

    def _numbers(self) -> Iterator[tuple[int, Candidate]]:
        numbers = [*self._all_numbers()]
        alike: dict[str, Counter[int]] = defaultdict(Counter)
        for each in numbers:
            alike[f"{each.function} {each.role}"][each.value] += 1
        for each in numbers:
            kind = "depth" if each.role == "depth" else _KINDS.get(each.function, "length")
            others = alike[f"{each.function} {each.role}"] - Counter({each.value: 1})
            for value, unlikely in _values(each, kind, others).items():
                name = each.role if each.function == "" else f"{each.function}({each.role})"
                says = f"line {each.node.lineno}, {name}: {value} instead of {each.value}"
                change = self._change(each.node, str(value))
                yield each.node.lineno, Candidate(kind, says, [change], unlikely)

    def _all_numbers(self) -> Iterator[_Number]:
        """Whole numbers that functions are given, and those of names at the top of the source."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                name = _name(node.func)
                given = [(str(n), each) for n, each in enumerate(node.args)]
                given += [(each.arg or "", each.value) for each in node.keywords]
                for role, value in given:
                    if isinstance(value, ast.Constant) and type(value.value) is int:
                        yield _Number(value, value.value, name, role)
        fixed = {*self._sizes_of_arrays()}
        for statement in self._tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                value, target = statement.value, statement.targets[0]
                if type(value.value) is int and isinstance(target, ast.Name) and target.id not in fixed:
                    yield _Number(value, value.value, "", target.id)

    def _sizes_of_arrays(self) -> Iterator[str]:
        """Names that say how large arrays and buffers are: with others the design would do other work."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and _name(node.func) in _ARRAYS:
                sizes = [*node.args, *(each.value for each in node.keywords if each.arg in _SIZES)]
                inside = (each for size in sizes for each in ast.walk(size))
                yield from (each.id for each in inside if isinstance(each, ast.Name))

    def _locks(self) -> Iterator[tuple[int, Candidate]]:
        """Another lock for an acquire or a release: likely for one of which the other is missing."""
        names = [*dict.fromkeys(self._lock_names())]
        uses = [node for node in ast.walk(self._tree) if isinstance(node, ast.Attribute)
                and node.attr in ("acquire", "release") and isinstance(node.value, ast.Name)
                and node.value.id in names]  # fmt: skip
        seen = {(node.value.id, node.attr) for node in uses if isinstance(node.value, ast.Name)}
        for node in uses:
            assert isinstance(node.value, ast.Name)
            partner = "release" if node.attr == "acquire" else "acquire"
            alone = (node.value.id, partner) not in seen
            for name in names:
                if name == node.value.id:
                    continue
                lonely = (name, node.attr) not in seen and (name, partner) in seen
                unlikely = 0.1 if alone and lonely else 0.4 if alone or lonely else 1.3
                says = f"line {node.lineno}: {node.attr} {name} instead of {node.value.id}"
                yield node.lineno, Candidate("lock", says, [self._change(node.value, name)], unlikely)

    def _lock_names(self) -> Iterator[str]:
        """Names of locks, of statements such as ``free, full = tile.lock(1), tile.lock(0)``."""
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Assign):
                continue
            target = node.targets[0]
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = [*zip(target.elts, node.value.elts, strict=False)]
            for one, value in pairs:
                if isinstance(one, ast.Name) and isinstance(value, ast.Call) and _name(value.func) == "lock":
                    yield one.id

    def _subscripts(self) -> Iterator[tuple[int, Candidate]]:
        """The variable of the loop for a number in brackets."""
        for loop in ast.walk(self._tree):
            if not isinstance(loop, ast.For):
                continue
            names = [each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)]
            for node in (each for part in loop.body for each in ast.walk(part)):
                if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                    for name in names if type(node.slice.value) is int else ():
                        says = f"line {node.lineno}: [{name}] instead of [{node.slice.value!r}]"
                        yield node.lineno, Candidate("lock", says, [self._change(node.slice, name)], 0.7)

    def _order(self) -> Iterator[tuple[int, Candidate]]:
        """Two statements that start something and follow each other, exchanged."""
        bodies = (getattr(node, "body", None) for node in ast.walk(self._tree) if hasattr(node, "lineno"))
        for body in bodies:
            for one, other in pairwise(body if isinstance(body, list) else ()):  # that of a lambda is no list
                if _starts(one) and _starts(other):
                    first, second = self._change(one, ""), self._change(other, "")
                    changes = [replace(first, new=second.old), replace(second, new=first.old)]
                    says = f"exchange lines {one.lineno} and {other.lineno}"
                    yield one.lineno, Candidate("order", says, changes, 1.0)

    def _paddings(self) -> Iterator[tuple[int, Candidate]]:
        """Zeros before and behind a dimension on its other side, or as many on each side."""
        calls = (node for node in ast.walk(self._tree) if isinstance(node, ast.Call))
        for call in (each for each in calls if _name(each.func) == "pad"):
            inside = (node for each in call.args[1:] for node in ast.walk(each))
            for pair in (node for node in inside if isinstance(node, ast.Tuple)):
                sides = [side for each in pair.elts if (side := _whole(each)) is not None]
                if len(sides) != _TWO or len(pair.elts) != _TWO:
                    continue
                before, after = sides
                both = before + after
                for first in dict.fromkeys((after, both // 2)):
                    if first != before:
                        new = f"({first}, {both - first})"
                        says = f"line {pair.lineno}, pad: {new} instead of ({before}, {after})"
                        yield pair.lineno, Candidate("padding", says, [self._change(pair, new)], 0.7)

    def _exchanges(self) -> Iterator[tuple[int, Candidate]]:
        """Two neighbours of one form in a list, or two of what is started one after the other, exchanged."""
        for node in ast.walk(self._tree):
            listed = node.elts if isinstance(node, ast.List) else []
            started = node.args if isinstance(node, ast.Call) and _name(node.func) == "start" else []
            for one, other in pairwise((*listed, *started)):
                first, second = self._change(one, ""), self._change(other, "")
                if type(one) is type(other) and not isinstance(one, ast.Constant) and first.old != second.old:
                    changes = [replace(first, new=second.old), replace(second, new=first.old)]
                    says = f"line {one.lineno}: exchange {first.old} and {second.old}"
                    yield one.lineno, Candidate("order", says, changes, 0.9)


def _whole(node: ast.expr) -> int | None:
    """The whole number that a node is."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    return None


def _values(number: _Number, kind: str, others: Counter[int]) -> dict[int, float]:
    """Numbers that may be meant instead of one, and how unlikely each is."""
    value, found = number.value, dict[int, float]()

    def offer(other: int, unlikely: float) -> None:
        if other != value and other >= 0:
            found[other] = min(unlikely, found.get(other, unlikely))

    for other, _ in others.most_common(3):
        offer(other, 1.0)
    if kind == "lock_value":
        offer(1, 0.5)
        offer(0, 0.8)
        offer(2, 1.0)
    else:
        offer(value + 1, 1.2)
        offer(value - 1 if value > 1 else value, 1.2)
        offer(2 * value, 1.1)
        offer(value // 2 if value % 2 == 0 else value, 1.1)
    if kind == "bound":
        offer(1, 1.15)
    return found


def _name(function: ast.expr) -> str:
    """The last part of the name of a function."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "?")


def _starts(node: ast.AST) -> bool:
    """Whether a statement is a call of ``start`` alone."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    return _name(node.value.func) == "start"
