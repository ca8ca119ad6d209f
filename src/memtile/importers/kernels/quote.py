"""Python as trees: templates of our own source, whose holes take only what is checked.

A part of a template without holes is shared by all that comes of it: nodes are never changed, but by
``proofs``, which copies them. No text of a design becomes Python. A template is a literal of this package,
parsed once; its holes are the
names in it that begin with ``_``. A hole takes a node that was built the same way, or a number. The only
strings are data, made by :func:`text`; the only names those of :func:`variable`, :func:`temporary` and
:func:`own`. In a call, a list or a subscript ``*_hole`` takes several nodes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from memtile.input_files import syntax_tree

Node = ast.expr
Placed = TypeVar("Placed", ast.stmt, ast.expr)
Given = ast.expr | int | float | Sequence[ast.expr]
SITE = "SITE"
"""In a template, the number of the operation that its statement came from."""
_SIGNS = ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop
_BAD = re.compile(r"[^A-Za-z0-9]")
_OURS = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
TYPES = ("bool", "int8", "int16", "int32", "int64", "uint16", "uint32", "float16", "float32", "float64")
"""Types of NumPy that generated code has."""


def variable(value: str) -> ast.Name:
    """The Python name of a value: another one for every value, and no word of Python."""
    return ast.Name("v_" + _BAD.sub(lambda found: f"_{ord(found[0]):x}_", value[1:]), ast.Load())


def temporary(name: str, *numbers: int) -> ast.Name:
    """A name of ours with numbers behind it, ``e_3_0``, which no value has.

    Raises:
        ValueError: the name is not of this package's spelling.
    """
    made = "_".join((name, *(f"{int(number)}" for number in numbers)))
    if not _OURS.fullmatch(made) or made.startswith("v_"):
        raise ValueError(f"{name!r} is no name of generated code")
    return ast.Name(made, ast.Load())


def own(name: str) -> ast.Name:
    """The name of a function of generated code.

    Raises:
        ValueError: generated code has no such function.
    """
    from memtile.importers.kernels.arithmetic import NAMES

    if name not in NAMES:
        raise ValueError(f"{name!r} is no function of generated code")
    return ast.Name(name, ast.Load())


def text(given: str) -> ast.Constant:
    """A string as data."""
    return ast.Constant(str(given))


def numpy_type(name: str) -> Node:
    """NumPy's type of numbers with this name.

    Raises:
        ValueError: generated code has no such type.
    """
    if name not in TYPES:
        raise ValueError(f"{name!r} is no type of generated code")
    return ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())


def expr(template: str, **holes: Given) -> Node:
    """The expression of a template.

    Args:
        template: a literal, such as ``"_one + _other"``.
        holes: what its holes take.
    """
    (found,) = _parsed(template)
    assert isinstance(found, ast.Expr)
    made = _filled(found.value, holes)
    assert isinstance(made, ast.expr)
    return made


def statement(template: str, **holes: Given) -> ast.stmt:
    """The statement of a template, see :func:`expr`."""
    (found,) = _parsed(template)
    made = _copied(found, holes)
    assert isinstance(made, ast.stmt)
    return made


def function(name: ast.Name, parameters: Sequence[ast.Name], site: int = 0) -> ast.FunctionDef:
    """A function with these parameters, of the operation with this number; its body is to come."""
    made = statement("def body(): pass")
    assert isinstance(made, ast.FunctionDef)
    made.name = name.id
    taken = [ast.arg(each.id) for each in parameters]
    made.args = ast.arguments(posonlyargs=[], args=taken, kwonlyargs=[], kw_defaults=[], defaults=[])
    for each in taken:
        each.lineno = each.end_lineno = site + 1
        each.col_offset = each.end_col_offset = 0
    Lines(site).placed(made)
    return made


def every(nodes: Sequence[Node]) -> Node:
    """True where all conditions are."""
    if len(nodes) < 2:
        return nodes[0] if nodes else ast.Constant(True)
    return ast.BoolOp(ast.And(), list(nodes))


def part(low: Given, end: Given, step: Given = 1) -> Node:
    """The slice of an array from an index up to another."""
    if isinstance(step, int) and step == 1:
        return _slice(expr("array[_low:_end]", _low=low, _end=end))
    return _slice(expr("array[_low:_end:_step]", _low=low, _end=end, _step=step))


def all_of() -> Node:
    """The slice that is all of a dimension."""
    return _slice(expr("array[:]"))


def listed(nodes: Sequence[Given]) -> Node:
    """A tuple."""
    return expr("(*_nodes,)", _nodes=[number(each) for each in nodes])


def number(given: Given) -> Node:
    """A node, or the constant that a number is."""
    return _node(given)


def value_of(node: Node) -> int | None:
    """The whole number that a node is, None if it is something else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    return None


def _slice(node: Node) -> Node:
    assert isinstance(node, ast.Subscript)
    return node.slice


def _node(given: Given) -> Node:
    """What a hole takes as a node."""
    if isinstance(given, ast.expr):
        return given
    if isinstance(given, int | float) and type(given) in (bool, int, float):
        return ast.Constant(int(given) if isinstance(given, bool) else given)
    raise TypeError(f"a hole takes nodes and numbers, not {type(given).__name__}")


@cache
def _parsed(template: str) -> tuple[ast.stmt, ...]:
    return tuple(syntax_tree(template).body)


@cache
def _has_holes(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id[0] == "_" for each in ast.walk(node))


def _filled(node: ast.AST, holes: Mapping[str, Given]) -> ast.AST:
    """A part of a template, with what its holes take in their places.

    Raises:
        KeyError: a hole takes nothing.
        TypeError: a hole takes something else than nodes and numbers.
    """
    if isinstance(node, ast.Name) and node.id[0] == "_":
        found = _node(holes[node.id])
        return _stored(found) if isinstance(node.ctx, ast.Store) else found
    return _copied(node, holes) if _has_holes(node) else node


def _copied(node: ast.AST, holes: Mapping[str, Given]) -> ast.AST:
    fields: dict[str, object] = {}
    for name in node._fields:
        given = getattr(node, name, None)
        if isinstance(given, list):
            fields[name] = [each for item in given for each in _items(item, holes)]
        else:
            fields[name] = _filled(given, holes) if isinstance(given, ast.AST) else given
    made = type(node)(**fields)
    if isinstance(made, ast.Subscript) and isinstance(node, ast.Subscript):
        _unwrap(made, node)
    return made


def _items(item: ast.AST, holes: Mapping[str, Given]) -> Iterator[ast.AST]:
    """What an item of a list in a template becomes: one node, or several."""
    if not isinstance(item, ast.Starred):
        yield _filled(item, holes)
        return
    assert isinstance(item.value, ast.Name)
    given = holes[item.value.id]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError("a hole with a star takes a sequence of nodes")
    for each in given:
        yield _stored(_node(each)) if isinstance(item.ctx, ast.Store) else _node(each)


def _unwrap(made: ast.Subscript, template: ast.Subscript) -> None:
    """One index is no tuple."""
    several = isinstance(template.slice, ast.Tuple) and isinstance(template.slice.elts[0], ast.Starred)
    if several and isinstance(made.slice, ast.Tuple) and len(made.slice.elts) == 1:
        made.slice = made.slice.elts[0]


def _stored(node: Node) -> Node:
    """A name or an element as the target of an assignment."""
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Store())
    if isinstance(node, ast.Subscript):
        return ast.Subscript(node.value, node.slice, ast.Store())
    raise TypeError(f"nothing can be assigned to {type(node).__name__}")


class Lines:
    """Statements of a function.

    Attributes:
        body: the statements so far, of the innermost block that is open.
        cost: cycles of operations since the last time they were booked.
        site: number of the operation that is written; its statements have one more as their line.
    """

    def __init__(self, site: int = 0) -> None:
        self.body: list[ast.stmt] = []
        self.cost = 0
        self.site = site
        self._count = 0

    def add(self, template: str, **holes: Given) -> None:
        """Add the statement of a template."""
        self.body.append(self.placed(statement(template, **holes)))

    def fresh(self, name: str) -> ast.Name:
        """A name that nothing else in the function has."""
        self._count += 1
        return temporary(name, self._count)

    @contextmanager
    def within(self, template: str, **holes: Given) -> Iterator[None]:
        """Add a statement with a block, ``"while True: pass"``; what is added then goes into it."""
        made = self.placed(statement(template, **holes))
        assert isinstance(made, ast.For | ast.While | ast.If)
        self.body.append(made)
        with self._inside(made.body):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other way of the condition that was added last."""
        last = self.body[-1]
        assert isinstance(last, ast.If)
        with self._inside(last.orelse):
            yield

    @contextmanager
    def _inside(self, body: list[ast.stmt]) -> Iterator[None]:
        outer, self.body = self.body, body
        body.clear()
        yield
        if not body:
            self.add("pass")
        self.body = outer

    def book(self) -> None:
        """Book the cycles of the operations before."""
        if self.cost:
            self.add("cycles += _cost", _cost=self.cost)
            self.cost = 0

    def placed(self, node: ast.stmt) -> ast.stmt:
        """A statement on the line of its operation; its expressions get theirs in ``proofs``."""
        return located(node, self.site + 1)


def located(node: Placed, line: int) -> Placed:
    """A node that is on a line."""
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = 0
    return node


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a node, but for those that only say which operator or access it is."""
    for name in node._fields:
        given = getattr(node, name, None)
        if isinstance(given, list):
            yield from (each for each in given if isinstance(each, ast.AST) and not isinstance(each, _SIGNS))
        elif isinstance(given, ast.AST) and not isinstance(given, _SIGNS):
            yield given
