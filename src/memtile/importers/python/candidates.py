"""Candidates in the Python source of a design: those of this package, with its own of numbers and orders.

A change is one of the text: another literal or name, a line put in or moved.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path

from memtile.explain.findings import Finding
from memtile.explain.repairs import Candidate, hides
from memtile.importers.python.host_candidates import host_candidates, repeat_candidates
from memtile.importers.python.lock_candidates import LockCandidates
from memtile.importers.python.name_candidates import buffer_candidates, order_candidates, turn_candidates
from memtile.importers.python.source_text import SourceText, assigned, called, calls, lines_of

_NEAR = 0.6  # how much likelier a change is at a line that the first finding names
_QUOTED = re.compile(r"'([^']+)'")
_KINDS = {"lock": "lock_value", "start": "repeat", "acquire": "count", "release": "count"}
_KINDS |= {"range": "bound", "": "number"}
"""What a number is, by the function that it is given to; lengths are given to all others."""

_ROOM = (1, 2, 3, 4)
"""Units that a lock usually begins with: one for each buffer."""
_STREAMS = "streams"
_LONELY_ID, _OTHER_ID = 0.3, 1.1
_FIRST = 2  # findings whose names make a change likelier
_TWO = 2  # sides of a dimension
_ARRAYS = ("external", "feed", "expect", "expect_array", "buffer", "object_fifo")
"""Functions whose arguments say how much data there is."""
_SIZES = ("shape", "data")


@dataclass(frozen=True, slots=True)
class _Number:
    """A whole number of the source.

    Attributes:
        node: that has it.
        value: of it.
        function: that it is given to; empty for one that a name stands for.
        role: the parameter or the name.
        call: of that function.
    """

    node: ast.expr
    value: int
    function: str
    role: str
    call: ast.Call | None = None


def python_candidates(source: str, file: str, findings: Sequence[Finding]) -> list[Candidate]:
    """The changes of a source that may repair its design, likeliest first.

    Args:
        source: of the design.
        file: that has it.
        findings: of its run or its check, the root of the matter first.

    Raises:
        SyntaxError: it is not Python.
    """
    text = SourceText(source, file)
    weights, quoted = _weights(findings, file, source), {*_quoted(findings[:_FIRST])}
    locks = LockCandidates(text, quoted)
    every = chain(
        _Literals(text, locks).candidates(), locks.candidates(), turn_candidates(text),
        order_candidates(text), buffer_candidates(text), host_candidates(text), repeat_candidates(text),
    )  # fmt: skip
    found: dict[tuple[tuple[int, str, str], ...], Candidate] = {}
    for line, each in every:
        if hides(each, findings):
            continue
        made = replace(each, unlikely=each.unlikely - _NEAR * weights.get(line, 0.0))
        key = tuple((change.offset, change.old, change.new) for change in made.changes)
        if key not in found or found[key].unlikely > made.unlikely:
            found[key] = made
    return sorted(found.values(), key=lambda each: each.unlikely)


def _said(finding: Finding) -> str:
    """All that a finding says."""
    sides = (f"{side.who} {side.does} {side.place}" for side in finding.sides)
    return " ".join([finding.message, finding.fix, *sides])


def _quoted(findings: Sequence[Finding]) -> Iterator[str]:
    """Names in quotes in what findings say."""
    for finding in findings:
        yield from _QUOTED.findall(_said(finding))


def _weights(findings: Sequence[Finding], file: str, source: str) -> dict[int, float]:
    """How near each line is to what findings name: by its number, else by a name in quotes."""
    lines, found = lines_of(source), dict[int, float]()
    named = re.escape(Path(file).name)  # places are shown from the folder in which a command runs
    for n, finding in enumerate(findings[:4]):
        said = _said(finding)
        for number in re.findall(rf"{named}:(\d+)|\bline (\d+)", said):
            line = int(number[0] or number[1])
            found[line] = max(found.get(line, 0.0), 1.0 / (n + 1))
        for name in set(_QUOTED.findall(said)):
            for line, text in enumerate(lines, 1):
                if f'"{name}"' in text or f"'{name}'" in text:
                    found[line] = max(found.get(line, 0.0), 0.7 / (n + 1))
    return found


class _Literals:
    """What may be changed about numbers and orders.

    Args:
        text: of the design.
        locks: of it.
    """

    def __init__(self, text: SourceText, locks: LockCandidates) -> None:
        self._text, self._tree, self._change, self._locks = text, text.tree, text.change, locks
        self._makes = {id(value): name for name, value in assigned(text.tree)}

    def candidates(self) -> Iterator[tuple[int, Candidate]]:
        """Candidates, each with its line."""
        yield from self._numbers()
        yield from self._order()
        yield from self._paddings()
        yield from self._exchanges()
        yield from self._streams()

    def _numbers(self) -> Iterator[tuple[int, Candidate]]:
        numbers = [*self._all_numbers()]
        alike: dict[str, Counter[int]] = defaultdict(Counter)
        for each in numbers:
            alike[f"{each.function} {each.role}"][each.value] += 1
        for each in numbers:
            kind = "depth" if each.role == "depth" else _KINDS.get(each.function, "length")
            others = alike[f"{each.function} {each.role}"] - Counter({each.value: 1})
            quoted = each.call is not None and kind == "count" and self._locks.quotes(each.call)
            room = kind == "lock_value" and self._locks.is_of_transfers(self._makes.get(id(each.call), ""))
            for value, seldom in _values(each, kind, others, room=room).items():
                unlikely = seldom - _NEAR if quoted else seldom
                name = each.role if each.function == "" else f"{each.function}({each.role})"
                says = f"line {each.node.lineno}, {name}: {value} instead of {each.value}"
                change = self._change(each.node, str(value))
                yield each.node.lineno, Candidate(kind, says, [change], unlikely)

    def _all_numbers(self) -> Iterator[_Number]:
        """Whole numbers that functions are given, and those that names stand for."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                name = called(node.func)
                given = [(str(n), each) for n, each in enumerate(node.args)]
                given += [(each.arg or "", each.value) for each in node.keywords]
                for role, value in given:
                    if (number := _whole(value)) is not None:
                        yield _Number(value, number, name, role, node)
        fixed = {*self._sizes_of_arrays()}
        for name, value in assigned(self._tree):
            if (number := _whole(value)) is not None and name not in fixed:
                yield _Number(value, number, "", name)

    def _sizes_of_arrays(self) -> Iterator[str]:
        """Names that say how large arrays and buffers are: with others the design would do other work.

        Also those by which the data are made that an array is given.
        """
        names = {*self._given_to_arrays()}
        yield from names
        yield from (
            each.id
            for name, value in assigned(self._tree)
            if name in names and isinstance(value, ast.Call)
            for each in ast.walk(value)
            if isinstance(each, ast.Name)
        )

    def _given_to_arrays(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and called(node.func) in _ARRAYS:
                sizes = [*node.args, *(each.value for each in node.keywords if each.arg in _SIZES)]
                yield from (
                    each.id for size in sizes for each in ast.walk(size) if isinstance(each, ast.Name)
                )
            if isinstance(node, ast.ListComp) and any(calls(node.elt, "external")):
                yield from (each.id for part in node.generators for each in ast.walk(part.iter)
                            if isinstance(each, ast.Name))  # fmt: skip

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
        for call in calls(self._tree, "pad"):
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

    def _streams(self) -> Iterator[tuple[int, Candidate]]:
        """Another stream of a packet bus, which has another packet id."""
        used = [
            (node, number)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Subscript) and called(node.value) == _STREAMS
            if (number := _whole(node.slice)) is not None
        ]
        often = Counter((self._text.text(node.value), number) for node, number in used)
        for node, number in used:
            bus = self._text.text(node.value)
            for other in dict.fromkeys((*(n for name, n in often if name == bus), number + 1)):
                if other == number:
                    continue
                unlikely = _LONELY_ID if often[bus, number] > 1 and not often[bus, other] else _OTHER_ID
                says = f"line {node.lineno}: {bus}[{other}] instead of {bus}[{number}]"
                change = self._change(node.slice, str(other))
                yield node.lineno, Candidate("packet_id", says, [change], unlikely)

    def _exchanges(self) -> Iterator[tuple[int, Candidate]]:
        """Two neighbours of one form in a list, or two of what is started one after the other, exchanged."""
        taken = _taken_in_order(self._tree)
        for node in ast.walk(self._tree):
            listed = _listed(node, taken)
            started = node.args if isinstance(node, ast.Call) and called(node.func) == "start" else []
            for one, other in pairwise((*listed, *started)):
                first, second = self._change(one, ""), self._change(other, "")
                if type(one) is type(other) and not isinstance(one, ast.Constant) and first.old != second.old:
                    changes = [replace(first, new=second.old), replace(second, new=first.old)]
                    says = f"line {one.lineno}: exchange {first.old} and {second.old}"
                    yield one.lineno, Candidate("order", says, changes, 0.9)


def _taken_in_order(tree: ast.AST) -> set[str | int]:
    """What loops and starred arguments go through: names, and identities of nodes."""
    found = set[str | int]()
    for node in ast.walk(tree):
        taken = node.iter if isinstance(node, (ast.For, ast.comprehension)) else None
        if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
            taken = node.value
        if taken is not None:
            found.add(taken.id if isinstance(taken, ast.Name) else id(taken))
    return found | {id(value) for name, value in assigned(tree) if name in found}


def _listed(node: ast.AST, taken: Set[str | int]) -> Sequence[ast.expr]:
    """What may be meant in another order: elements of a list, or of a tuple of names that is gone through."""
    if isinstance(node, ast.List):
        return node.elts
    if not isinstance(node, ast.Tuple) or id(node) not in taken or len(node.elts) <= _TWO:
        return ()
    return node.elts if all(isinstance(each, ast.Name) for each in node.elts) else ()


def _whole(node: ast.expr) -> int | None:
    """The whole number that a node is."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _whole(node.operand)
        return None if number is None else -number
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _values(number: _Number, kind: str, others: Counter[int], *, room: bool) -> dict[int, float]:
    """Numbers that may be meant instead of one, and how unlikely each is.

    Args:
        number: that stands there.
        kind: of change.
        others: numbers that stand in such places.
        room: whether it is what a lock of transfers begins with: one unit for each buffer.
    """
    value, found = number.value, dict[int, float]()

    def offer(other: int, unlikely: float) -> None:
        if other != value and (other >= 0) == (value >= 0):  # a negative number is one for another reason
            found[other] = min(unlikely, found.get(other, unlikely))

    for other, _ in others.most_common(3):
        offer(other, 1.0)
    if kind == "lock_value":
        for other in (*range(1, value), *_ROOM) if room else ():
            offer(other, 0.5)  # of those with the right words the quickest has all buffers in use
        offer(1, 0.5)
        offer(0, 0.8)
        offer(2, 1.0)
    else:
        offer(value + 1, 1.2)
        offer(value - 1 if value not in (0, 1) else value, 1.2)
        offer(2 * value, 1.1)
        offer(value // 2 if value % 2 == 0 else value, 1.1)
    if kind == "number":
        offer(1, 1.15)
    return found


def _starts(node: ast.AST) -> bool:
    """Whether a statement starts things and does nothing else: a call, a step of a host, a loop of them."""
    if isinstance(node, ast.For):
        return all(map(_starts, node.body))
    value = node.value if isinstance(node, ast.Expr) else None
    inner = value.value if isinstance(value, ast.Yield) else value
    return isinstance(inner, ast.Call) and called(inner.func) == "start"
