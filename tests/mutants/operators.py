"""Changes of a function that a test should notice, as spans of its text.

A change is never in a docstring, an annotation, a default of an argument, an ``assert``, the ``strict=True``
of a ``zip``, which asserts too, or a statement with prose in it: text with a blank, or an f-string. Such a
statement may only go as a whole.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

COMPARED: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
DEFAULTS = {
    "int": "0",
    "bool": "False",
    "str": '""',
    "list": "[]",
    "dict": "{}",
    "set": "set()",
    "tuple": "()",
}
TYPED = {"isinstance", "issubclass", "cast", "getattr", "setattr", "hasattr"}  # exchanged, they only raise
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Change(NamedTuple):
    """A span of a file, and what stands there instead.

    Attributes:
        kind: the operator.
        start: first byte.
        end: the byte behind it.
        new: the text instead.
    """

    kind: str
    start: int
    end: int
    new: str


class Text:
    """A module, and where its nodes are."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._lines = [0]
        for line in self.data.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def start(self, node: ast.expr | ast.stmt) -> int:
        """The first byte of a node."""
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """The byte behind a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return self.data[self.start(node) : self.end(node)].decode()

    def line(self, start: int) -> int:
        """The line that a byte is in, from 1."""
        return self.data.count(b"\n", 0, start) + 1

    def instead(self, kind: str, node: ast.expr | ast.stmt, new: str) -> Change:
        """Another text for a node."""
        return Change(kind, self.start(node), self.end(node), new)

    def between(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Change]:
        """Another operator between two nodes, unless brackets are around one of them."""
        start, end = self.end(left), self.start(right)
        said = self.data[start:end].decode()
        if said.split() == old.split():
            yield Change(kind, start, end, said.replace(old, new))


def functions(tree: ast.AST, name: str = "") -> Iterator[tuple[str, Function]]:
    """Functions of a module by name, those within others too."""
    for child in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(child, Function | ast.ClassDef):
            inner = f"{name}.{child.name}".lstrip(".")
            if isinstance(child, Function) and child.name not in ("__repr__", "__str__"):
                yield inner, child
        yield from functions(child, inner)


def has_prose(node: ast.AST) -> bool:
    """Whether a node builds a sentence."""
    return any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str) and " " in each.value)
        for each in ast.walk(node)
    )


def changes(text: Text, function: Function) -> list[Change]:
    """All changes of a function, without those of functions in it."""
    found: list[Change] = []
    for statement in _statements(function.body[ast.get_docstring(function) is not None :]):
        found += _of_statement(text, statement, function)
        for part in _expressions(statement):
            if isinstance(statement, ast.Assert | ast.Raise) or has_prose(part):
                continue
            for node in _walk(part):
                for operator in OPERATORS:
                    found += operator(text, node)
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, Function | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for case in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from _statements(case.body)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement computes itself, without annotations and statements in it."""
    for name, value in ast.iter_fields(statement):
        if name != "annotation":
            every = value if isinstance(value, list) else [value]
            yield from (each for each in every if isinstance(each, ast.expr))
    for item in getattr(statement, "items", []):
        yield item.context_expr
    for case in getattr(statement, "cases", []):
        if case.guard:
            yield case.guard


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of an expression but defaults of a lambda, and what asserts."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.arguments) and not _asserts(child):
            yield from _walk(child)


def _asserts(node: ast.AST) -> bool:
    """Whether it is ``strict=True``: the lengths are equal, or the source is wrong."""
    value = getattr(node, "value", None)
    return isinstance(node, ast.keyword) and node.arg == "strict" and getattr(value, "value", None) is True


def _of_statement(text: Text, statement: ast.stmt, function: Function) -> Iterator[Change]:
    """It is left out, its condition is negated, or it returns a default."""
    call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    stored = isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name | ast.Tuple)
    if call or stored or isinstance(statement, ast.AugAssign | ast.Raise | ast.Continue | ast.Break):
        yield text.instead("statement", statement, "pass")
    if isinstance(statement, ast.If) and not has_prose(statement.test):
        yield text.instead("condition", statement.test, f"not ({text.of(statement.test)})")
    if isinstance(statement, ast.Return) and statement.value and not has_prose(statement):
        for default in _defaults(function.returns):
            if text.of(statement.value) != default:
                yield text.instead("return", statement.value, default)


def _defaults(kind: ast.expr | None) -> Iterator[str]:
    said = ast.unparse(kind) if kind else ""
    if said.endswith("| None"):
        yield "None"
    elif said.partition("[")[0] in DEFAULTS:
        yield DEFAULTS[said.partition("[")[0]]
    if said == "bool":
        yield "True"


def _compare(text: Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        olds = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "Is": "is"}
        olds |= {"IsNot": "is not", "In": "in", "NotIn": "not in"}
        for new in COMPARED[type(node.ops[0])]:
            old = olds[type(node.ops[0]).__name__]
            yield from text.between("compare", node.left, node.comparators[0], old, new)


def _compute(text: Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield from text.between("compute", node.left, node.right, *COMPUTED[type(node.op)])


def _constant(text: Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield text.instead("constant", node, str(node.value + 1))
        if node.value:
            yield text.instead("constant", node, str(node.value - 1))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield text.instead("constant", node, str(not node.value))


def _logic(text: Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from text.between("logic", left, right, old, new)


def _negation(text: Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield text.instead("condition", node, f"bool({text.of(node.operand)})")
    tests = [node.test] if isinstance(node, ast.IfExp) else getattr(node, "ifs", [])
    for test in tests:
        yield text.instead("condition", test, f"(not ({text.of(test)}))")


def _call(text: Text, node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("min", "max", "any", "all"):
        other = {"min": "max", "max": "min", "any": "all", "all": "any"}[name]
        yield text.instead("extreme", node.func, other)
    two = node.args[:2]
    if len(two) < 2 or name in TYPED or any(isinstance(each, ast.Starred | ast.GeneratorExp) for each in two):
        return
    first, second = map(text.of, two)
    if first != second:
        middle = text.data[text.end(two[0]) : text.start(two[1])].decode()
        yield Change("arguments", text.start(two[0]), text.end(two[1]), f"{second}{middle}{first}")


def _slice(text: Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound and not isinstance(bound, ast.Constant):
                for sign in "+-":
                    yield text.instead("slice", bound, f"({text.of(bound)}) {sign} 1")


OPERATORS: tuple[Callable[[Text, ast.AST], Iterator[Change]], ...] = (
    _compare,
    _compute,
    _constant,
    _logic,
    _negation,
    _call,
    _slice,
)
