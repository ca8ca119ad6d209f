"""Indices of generated code: proved to be in range, or checked where they are used.

Whatever writes ``memory[i]``, this pass makes it ``memory[place(i, memory.shape[0], SITE)]``, unless ``i`` is
known to be one of the places: from the bounds of loops, constants, and what is computed from them. It takes
out the wraps of numbers that cannot leave their type the same way. Nothing is believed that the text only
says: sizes of arguments that a proof needs are checked once, where the function begins.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from memtile.importers.kernels.quote import SITE, Lines, expr, located, statement

Range = tuple[int, int]
_WRAPS = {f"w{bits}": bits for bits in (8, 16, 32, 64)}
_MASKS = {f"u{bits}": bits for bits in (8, 16, 32)}
HOST_TABLES = frozenset(("views", "locks", "ports", "externals"))
"""What the generator is given by name, which is no array."""
WIDE = "wide"
"""Name of a number that may be wrapped."""
_MADE = frozenset(("empty", "zeros", "full", "array"))


def proved(tree: ast.FunctionDef, shapes: Mapping[str, tuple[int, ...]], prologue: int) -> ast.FunctionDef:
    """The function with indices that are checked, or that need no check.

    Args:
        tree: of the function.
        shapes: sizes of arrays, as their types say, by their names; -1 where a type leaves one open.
        prologue: how many statements come before the sizes can be checked.
    """
    prover = _Prover(tree, shapes)
    body = prover.block(tree.body)
    site = tree.lineno - 1
    lines = Lines(site)
    for name, n in sorted(prover.believed):
        array, size = ast.Name(name, ast.Load()), shapes[name][n]
        check = statement("sized(_array.shape[_n], _size, SITE)", _array=array, _n=n, _size=size)
        body.insert(prologue, prover.statement(lines.placed(check)))
    tree.body = body
    return tree


class _Prover:
    """Goes through the statements of a function in their order.

    Args:
        tree: of the function.
        shapes: of its arrays.

    Attributes:
        believed: sizes of arrays that proofs needed: names and dimensions.
    """

    def __init__(self, tree: ast.FunctionDef, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._once = _named_once(tree)
        self._shapes = {name: shape for name, shape in shapes.items() if name in self._once}
        self._own: dict[str, tuple[int, ...]] = {}
        self._ranges: dict[str, Range] = {}
        self._inside: list[str] = []
        self._line = tree.lineno
        self.believed: set[tuple[str, int]] = set()

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements of a block; what they say of numbers is forgotten behind it."""
        before, own = dict(self._ranges), dict(self._own)
        found = [self.statement(each) for each in body]
        self._ranges, self._own = before, own
        return found

    def statement(self, node: ast.stmt) -> ast.stmt:
        """A statement, with its expressions on its line."""
        self._line = node.lineno
        if isinstance(node, ast.If):
            node.test = self._node(node.test)
            with self._where(node.test):
                node.body = self.block(node.body)
            node.orelse = self.block(node.orelse)
        elif isinstance(node, ast.While):
            node.test, node.body = self._node(node.test), self.block(node.body)
        elif isinstance(node, ast.For):
            self._loop(node)
        elif isinstance(node, ast.Assign):
            self._assign(node)
        elif isinstance(node, ast.AugAssign):
            assert isinstance(node.target, ast.Name)  # cycles
            node.target = ast.Name(node.target.id, ast.Store())
            located(node.target, node.lineno)
            node.value = self._node(node.value)
        elif isinstance(node, ast.Expr | ast.Return) and node.value is not None:
            node.value = self._node(node.value)
        return node

    def _loop(self, node: ast.For) -> None:
        node.iter, node.target = self._node(node.iter), self._node(node.target)
        before = dict(self._ranges)
        found = self._turns(node.iter)
        if found is not None and isinstance(node.target, ast.Name) and node.target.id in self._once:
            self._ranges[node.target.id] = found
        node.body = self.block(node.body)
        self._ranges = before

    def _turns(self, node: ast.expr) -> Range | None:
        """The numbers that a loop counts through."""
        if not isinstance(node, ast.Call):
            return None
        bounds = [self.range_of(each) for each in node.args]
        low, high = ((0, 0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        if low is None or high is None:
            return None
        step = bounds[2] if len(bounds) > 2 and low[0] == low[1] else None
        over = (high[1] - 1 - low[0]) % step[0] if step is not None and step[0] == step[1] > 0 else 0
        return low[0], max(high[1] - 1 - over, low[0])

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        node.value = self._node(node.value)
        node.targets = [self._node(target)]
        if isinstance(target, ast.Name) and target.id in self._once:
            found, shape = self.range_of(node.value), self._made(node.value)
            if found is not None:
                self._ranges[target.id] = found
            if shape is not None:
                self._own[target.id] = shape

    def _made(self, node: ast.expr) -> tuple[int, ...] | None:
        """The sizes of an array that an expression makes, None if that is not known."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            return None
        first = node.args[0]
        if isinstance(first, ast.List) and node.func.attr == "array":
            return (len(first.elts),)
        sizes = first.elts if isinstance(first, ast.Tuple) else [first]
        known = [each.value for each in sizes if isinstance(each, ast.Constant)]
        is_made = node.func.attr in _MADE and len(known) == len(sizes)
        return tuple(int(n) for n in known if isinstance(n, int)) if is_made else None

    @contextmanager
    def _where(self, test: ast.expr) -> Iterator[None]:
        """What a condition says of indices, where it holds."""
        many = len(self._inside)
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        self._inside += [ast.dump(each) for each in parts if isinstance(each, ast.Compare)]
        yield
        del self._inside[many:]

    def _node(self, node: ast.expr) -> ast.expr:
        """An expression with indices that are checked, and without wraps that do nothing."""
        if isinstance(node, ast.Name | ast.Constant):
            return self._leaf(node)
        if isinstance(node, ast.IfExp):
            test = self._node(node.test)
            with self._where(test):
                body = self._node(node.body)
            return located(ast.IfExp(test, body, self._node(node.orelse)), self._line)
        fields: dict[str, Any] = {name: self._field(getattr(node, name)) for name in node._fields}
        made = located(type(node)(**fields), self._line)
        if isinstance(made, ast.Subscript):
            made.slice = self._index(made)
        return self._kept(made) if isinstance(made, ast.Call) else made

    def _leaf(self, node: ast.Name | ast.Constant) -> ast.expr:
        """A name or a number; for :data:`quote.SITE` the number of the operation."""
        if isinstance(node, ast.Constant):
            return located(ast.Constant(node.value), self._line)
        found = ast.Constant(self._line - 1) if node.id == SITE else ast.Name(node.id, node.ctx)
        return located(found, self._line)

    def _field(self, given: object) -> object:
        if isinstance(given, ast.expr):
            return self._node(given)
        return [self._field(each) for each in given] if isinstance(given, list) else given

    def _index(self, node: ast.Subscript) -> ast.expr:
        """The index of an array, each dimension by itself."""
        value = node.value
        table = isinstance(value, ast.Name) and value.id in HOST_TABLES
        if table or (isinstance(value, ast.Attribute) and value.attr == "shape"):
            return node.slice
        if not isinstance(node.slice, ast.Tuple):
            return self._place(value, 0, node.slice)
        placed = [self._place(value, n, each) for n, each in enumerate(node.slice.elts)]
        return located(ast.Tuple(placed, ast.Load()), self._line)

    def _place(self, array: ast.expr, n: int, index: ast.expr) -> ast.expr:
        """An index in one dimension of an array, checked if need be."""
        if isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and index.value is Ellipsis):
            return index
        if isinstance(index, ast.Call) and isinstance(index.func, ast.Name) and index.func.id == "place":
            limit = index.args[1]
            if isinstance(array, ast.Name) and isinstance(limit, ast.Call):  # objects[place(i, len(objects))]
                return index
        found = self.range_of(index)
        if found is not None and isinstance(array, ast.Name) and self._is_in(array.id, n, found):
            return index
        if self._inside:
            size = self._size(array, n)
            if ast.dump(expr("0 <= _index < _size", _index=index, _size=size)) in self._inside:
                return index
        name, site = self._at(ast.Name("place", ast.Load())), self._at(ast.Constant(self._line - 1))
        return self._at(ast.Call(name, [index, self._size(array, n), site], []))

    def _size(self, array: ast.expr, n: int) -> ast.expr:
        """The size of an array in a dimension."""
        shape = self._at(ast.Attribute(array, "shape", ast.Load()))
        return self._at(ast.Subscript(shape, self._at(ast.Constant(n)), ast.Load()))

    def _at(self, node: ast.expr) -> ast.expr:
        """An expression that is made here, on the line of its statement."""
        return located(node, self._line)

    def _is_in(self, name: str, n: int, found: Range) -> bool:
        """Whether numbers are places in a dimension of an array, which the check of its size then says."""
        own = self._own.get(name)
        if own is not None:
            return n < len(own) and found[0] >= 0 and found[1] < own[n]
        shape = self._shapes.get(name, ())
        fits = n < len(shape) and found[0] >= 0 and found[1] < shape[n]
        if fits:
            self.believed.add((name, n))
        return fits

    def _kept(self, node: ast.Call) -> ast.expr:
        """A call; of a wrap or a check of what cannot leave its range only that."""
        if not isinstance(node.func, ast.Name) or not node.args:
            return node
        name, found = node.func.id, self.range_of(node.args[0])
        allowed = _signed(_WRAPS[name]) if name in _WRAPS else None
        if name in _MASKS:
            allowed = 0, (1 << _MASKS[name]) - 1
        if name in ("place", "shift"):
            limit = self.range_of(node.args[1])
            allowed = None if limit is None else (0, limit[0] - 1)
        if found is not None and allowed is not None and _holds(allowed, found):
            return node.args[0]
        is_written = name in _WRAPS and name != "w64" and allowed is not None
        return self._written(node, allowed) if is_written and allowed is not None else node

    def _written(self, node: ast.Call, allowed: Range) -> ast.expr:
        """A wrap written out: the interpreter compares in half the time of a call."""
        low, high = (self._at(ast.Constant(each)) for each in allowed)
        once, again = (self._at(ast.Name(WIDE, ast.Load())) for _ in range(2))
        target = ast.Name(WIDE, ast.Store())
        self._at(target)
        given = self._at(ast.NamedExpr(target, node.args[0]))
        test = self._at(ast.Compare(low, [ast.LtE(), ast.LtE()], [given, high]))
        return self._at(ast.IfExp(test, once, self._at(ast.Call(node.func, [again], []))))

    def range_of(self, node: ast.expr) -> Range | None:
        """The numbers between which an expression is, None if that is not known."""
        if isinstance(node, ast.Constant):
            known = isinstance(node.value, int) and not isinstance(node.value, bool)
            return (node.value, node.value) if known else None  # type: ignore[return-value]
        if isinstance(node, ast.Name):
            return self._ranges.get(node.id)
        if isinstance(node, ast.BinOp):
            one, other = self.range_of(node.left), self.range_of(node.right)
            if isinstance(node.op, ast.BitAnd) and other is not None and other[0] >= 0:
                return 0, other[1]
            return _combined(node.op, one, other) if one is not None and other is not None else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self.range_of(node.operand)
            return None if found is None else (-found[1], -found[0])
        if isinstance(node, ast.IfExp):
            return self._chosen(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._called(node.func.id, node.args)
        return None

    def _chosen(self, node: ast.IfExp) -> Range | None:
        """The numbers between which both ways of a choice are; of a wrap that is written out its type's."""
        one, other = self.range_of(node.body), self.range_of(node.orelse)
        if isinstance(node.body, ast.Name) and node.body.id == WIDE:
            return other
        return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))

    def _called(self, name: str, given: Sequence[ast.expr]) -> Range | None:
        """The numbers between which what a function gives is."""
        if name in _WRAPS:
            return _signed(_WRAPS[name])
        if name in _MASKS:
            return 0, (1 << _MASKS[name]) - 1
        if name == "place":
            limit = self.range_of(given[1])
            return None if limit is None else (0, max(limit[1] - 1, 0))
        if name in ("least", "largest"):
            one, other = (self.range_of(each) for each in given)
            choose = min if name == "least" else max
            both = one is not None and other is not None
            return (choose(one[0], other[0]), choose(one[1], other[1])) if both else None  # type: ignore[index]
        return None


def _named_once(tree: ast.FunctionDef) -> frozenset[str]:
    """Names that one statement gives a value to, or that are parameters."""
    found = Counter(each.arg for each in tree.args.args)
    found.update(
        each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )
    return frozenset(name for name, many in found.items() if many == 1)


def _signed(bits: int) -> Range:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


class Called(ast.NodeTransformer):
    """Makes wraps that are written out calls again, of which a compiler makes one instruction."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """The call of a wrap, or another choice as it is."""
        self.generic_visit(node)
        test, other = node.test, node.orelse
        if isinstance(test, ast.Compare) and isinstance(other, ast.Call):
            given = test.comparators[0]
            if isinstance(given, ast.NamedExpr):
                return ast.copy_location(ast.Call(other.func, [given.value], []), node)
        return node


def _holds(outer: Range, inner: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _combined(operator: ast.operator, one: Range, other: Range) -> Range | None:
    """The numbers between which a sum, a product or a quotient by a positive number is."""
    if isinstance(operator, ast.Add):
        return one[0] + other[0], one[1] + other[1]
    if isinstance(operator, ast.Sub):
        return one[0] - other[1], one[1] - other[0]
    if isinstance(operator, ast.Mult):
        products = [a * b for a in one for b in other]
        return min(products), max(products)
    by, is_known = other[0], other[0] == other[1] > 0
    if isinstance(operator, ast.FloorDiv) and is_known:
        return one[0] // by, one[1] // by
    if isinstance(operator, ast.Mod) and is_known:
        return 0, by - 1
    return None
