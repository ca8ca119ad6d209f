"""Translates changes of the MLIR text that an IRON program prints into changes of the program.

A number is changed in the only literal of its value in the statement of the program's line, or in the only
literal that a name of that statement is assigned. A release goes behind the statement and uses the handle
that acquires from the same object FIFO. ``missing`` reports what has no place in the program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from memtile.explain.findings import Change
from memtile.importers.mlir.token_packets import Text
from memtile.importers.python.source_text import SourceText

_FIFO, _ENDS = "ObjectFifo", ("cons", "prod")
_NUMBER = re.compile(r"-?\d+")
_RELEASE = re.compile(r"\s*aie\.objectfifo\.release @(\w+)\s*\((\w+), (\d+)\)\s*")
_ACQUIRE = r"aie\.objectfifo\.acquire @{}\s*\({},"


class ProgramChanges:
    """Finds the change of a program that makes a change of its MLIR text.

    Args:
        source: of the program.
        file: of the program, by the name that the MLIR text uses in its locations.
        text: MLIR that the program printed, with the program's lines.

    Raises:
        SyntaxError: it is not Python.
    """

    def __init__(self, source: str, file: str, text: Text) -> None:
        self._program, self._printed = SourceText(source, file), text

    def of(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return the changes of the program; empty if one of them has no place in it."""
        found = [self._one(each) for each in changes]
        return tuple(each for each in found if each is not None) if all(found) else ()

    def missing(self, changes: Sequence[Change]) -> str:
        """Return a description of the first change that has no place in the program."""
        change = next(each for each in changes if self._one(each) is None)
        if not self._is_own(change):
            return f"{change.file} is another file"
        if change.old and _NUMBER.fullmatch(change.old):
            return f"line {change.line} has no literal {change.old} for this alone"
        return f"line {change.line} has no call for this alone"

    def _one(self, change: Change) -> Change | None:
        if not self._is_own(change):
            return None
        statement = self._statement(change.line)
        if statement is None:
            return None
        if _NUMBER.fullmatch(change.old) and _NUMBER.fullmatch(change.new):
            return self._number(statement, change.line, int(change.old), change.new)
        release = _RELEASE.fullmatch(change.new) if not change.old else None
        return self._release(statement, *release.groups()) if release is not None else None

    def _is_own(self, change: Change) -> bool:
        return Path(change.file).resolve() == Path(self._program.file).resolve()

    def _statement(self, line: int) -> ast.stmt | None:
        """The innermost statement of a line."""
        around = [
            each
            for each in ast.walk(self._program.tree)
            if isinstance(each, ast.stmt) and each.lineno <= line <= (each.end_lineno or each.lineno)
        ]
        return min(around, key=lambda each: (each.end_lineno or 0) - each.lineno, default=None)

    def _number(self, statement: ast.stmt, line: int, old: int, new: str) -> Change | None:
        literals = [each for each in _own(statement) if _is_number(each, old)]
        on_line = [each for each in literals if each.lineno == line]
        names = {each.id for each in _own(statement) if isinstance(each, ast.Name)}
        given = [each for name in sorted(names) for each in self._given(name) if _is_number(each, old)]
        at_ends = [each for each in self._depths(statement) if _is_number(each, old)]
        for found in (on_line, literals, given, at_ends):
            if found:
                return self._program.change(found[0], new) if len(found) == 1 else None
        return None

    def _depths(self, statement: ast.stmt) -> Iterator[ast.expr]:
        """Depths of the ends, as in ``fifo.cons(4)``, of an object FIFO that a statement creates."""
        made = {ast.unparse(each.func) for each in _own(statement) if isinstance(each, ast.Call)}
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = (
            {each.id for each in targets if isinstance(each, ast.Name)}
            if made & {_FIFO, f"iron.{_FIFO}"}
            else set()
        )
        for call in (each for each in ast.walk(self._program.tree) if isinstance(each, ast.Call)):
            end = call.func
            if isinstance(end, ast.Attribute) and end.attr in _ENDS and ast.unparse(end.value) in names:
                yield from (*call.args[:1], *(each.value for each in call.keywords if each.arg == "depth"))

    def _given(self, name: str) -> list[ast.expr]:
        """The value of a name that is assigned once, or has a default and is never assigned."""
        found: list[ast.expr] = []
        for each in ast.walk(self._program.tree):
            if isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load):
                found.append(each)
            elif isinstance(each, ast.arg) and each.arg == name:
                found.append(ast.Name(name))
        values = [value for each in ast.walk(self._program.tree) for value in _values_of(each, name)]
        return values if len(found) == len(values) == 1 else []

    def _release(self, statement: ast.stmt, fifo: str, end: str, count: str) -> Change | None:
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With | ast.FunctionDef):
            return None  # a line behind its head would be in its body
        handle = self._handle(fifo, end)
        return self._program.next_line(statement, f"{handle}.release({count})") if handle else None

    def _handle(self, fifo: str, end: str) -> str:
        """The expression whose ``acquire`` is that of an object FIFO's end; empty if not unique."""
        pattern = re.compile(_ACQUIRE.format(re.escape(fifo), end))
        places = {self._printed.where(found.start()) for found in pattern.finditer(self._printed.content)}
        lines = {int(place.rpartition(":")[2]) for place in places}
        handles = {
            ast.unparse(call.func.value)
            for call in ast.walk(self._program.tree)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "acquire"
            and call.lineno in lines
        }
        return handles.pop() if len(handles) == 1 else ""


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of statements in its body."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            continue
        yield from (each for each in ast.walk(child) if isinstance(each, ast.expr))


def _is_number(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == value


def _values_of(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """The values that a statement assigns to a name, or that it has as a default."""
    if isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Name) and each.id == name for each in node.targets
    ):
        yield node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
        yield from [node.value] if node.value is not None else []
    elif isinstance(node, ast.arguments):
        plain = [*node.posonlyargs, *node.args]
        pairs = [*zip(plain[len(plain) - len(node.defaults) :], node.defaults, strict=True)]
        pairs += [(one, value) for one, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value]
        yield from (value for one, value in pairs if one.arg == name)
