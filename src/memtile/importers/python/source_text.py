"""The source of a design in Python with its tree, and changes of it: a node, a statement put in or moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memtile.explain.findings import Change
from memtile.input_files import syntax_tree

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_of(source: str) -> list[str]:
    """The lines of a source with their ends, as Python counts them: form feeds and U+2028 end none."""
    return _LINE.findall(source)


def called(function: ast.expr) -> str:
    """The last part of the name of a function."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "?")


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of functions of a name."""
    return (each for each in ast.walk(tree) if isinstance(each, ast.Call) and called(each.func) == name)


def assigned(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and what they stand for, of ``free, full = tile.lock(1), tile.lock(0)`` too."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        target, pairs = node.targets[0], [(node.targets[0], node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = [*zip(target.elts, node.value.elts, strict=False)]
        yield from ((one.id, value) for one, value in pairs if isinstance(one, ast.Name))


@dataclass(frozen=True, slots=True)
class Scope:
    """Statements that follow each other.

    Attributes:
        statements: of it.
        function: that has it; None = the module.
        loop: whether it is the body of a loop.
    """

    statements: list[ast.stmt]
    function: ast.FunctionDef | None
    loop: bool


class SourceText:
    """A source and its tree.

    Args:
        source: of the design.
        file: that has it.

    Raises:
        SyntaxError: it is not Python.
    """

    def __init__(self, source: str, file: str) -> None:
        self.source, self.file = source, file
        self.tree = syntax_tree(source)
        self._starts = [0]
        for line in lines_of(source):
            self._starts.append(self._starts[-1] + len(line))

    def change(self, node: ast.expr | ast.stmt, new: str) -> Change:
        """Another text for a node."""
        first = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        column = first - self._starts[node.lineno - 1] + 1
        return Change(self.file, node.lineno, column, self.source[first:end], new, first)

    def behind(self, node: ast.expr, new: str) -> Change:
        """A text put in behind an expression."""
        line, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        end = self._offset(line, column)
        return Change(self.file, line, end - self._starts[line - 1] + 1, "", new, end)

    def line_before(self, statement: ast.stmt, new: str) -> Change:
        """A line put in before a statement, as far in as it."""
        first = self._starts[statement.lineno - 1]
        return Change(self.file, statement.lineno, 1, "", f"{self._margin(statement)}{new}\n", first)

    def line_after(self, statement: ast.stmt, new: str) -> Change:
        """A line put in behind a statement, as far in as it."""
        line = statement.end_lineno or statement.lineno
        first = self._starts[line]
        end = "" if self.source[:first].endswith("\n") else "\n"
        return Change(self.file, line + 1, 1, "", f"{end}{self._margin(statement)}{new}\n", first)

    def next_line(self, statement: ast.stmt, new: str) -> Change:
        """A line put in at the end of a statement's last line, as far in as its first line."""
        last = statement.end_lineno or statement.lineno
        first = self.source[self._starts[statement.lineno - 1] : self._starts[statement.lineno]]
        indent = first[: len(first) - len(first.lstrip())]
        at = self._starts[last] - self.source[: self._starts[last]].endswith("\n")
        return Change(self.file, last, at - self._starts[last - 1] + 1, "", f"\n{indent}{new}", at)

    def without(self, statement: ast.stmt) -> Change:
        """A statement taken away, with its lines."""
        first = self._starts[statement.lineno - 1]
        end = self._starts[statement.end_lineno or statement.lineno]
        return Change(self.file, statement.lineno, 1, self.source[first:end], "", first)

    def text(self, node: ast.AST) -> str:
        """A node as it is written."""
        return ast.get_source_segment(self.source, node) or ast.unparse(node)

    def is_alone(self, statement: ast.stmt) -> bool:
        """Whether no other statement is in its lines."""
        begin = self._starts[statement.lineno - 1]
        line = statement.end_lineno or statement.lineno
        end = self._offset(line, statement.end_col_offset or 0)
        before = self.source[begin : self._offset(statement.lineno, statement.col_offset)]
        after = self.source[end : self._starts[line]].split("#")[0]
        return not before.strip() and not after.strip()

    def scopes(self) -> Iterator[Scope]:
        """All bodies of the module, of functions, loops and branches."""
        yield from self._scopes(self.tree.body, None, loop=False)

    def _scopes(
        self, statements: list[ast.stmt], function: ast.FunctionDef | None, *, loop: bool
    ) -> Iterator[Scope]:
        yield Scope(statements, function, loop)
        for each in statements:
            inside = each if isinstance(each, ast.FunctionDef) else function
            looping = isinstance(each, (ast.For, ast.While)) or (
                loop and not isinstance(each, ast.FunctionDef)
            )
            for part in ("body", "orelse", "finalbody"):
                if isinstance(nested := getattr(each, part, None), list) and nested:
                    yield from self._scopes(nested, inside, loop=looping)

    def _margin(self, statement: ast.stmt) -> str:
        begin = self._starts[statement.lineno - 1]
        return self.source[begin : self._offset(statement.lineno, statement.col_offset)]

    def _offset(self, line: int, column: int) -> int:
        """Character of a place of the tree, whose columns count bytes."""
        begin, end = self._starts[line - 1], self._starts[line]
        return begin + len(self.source[begin:end].encode()[:column].decode())
