"""Which columns of the state compiled code uses as an index, or as the bound of a loop; found in the sources.

A value that comes from a column is followed through local names, arithmetic, calls and returns of the model's
functions. What a mask or a remainder limits is followed no further.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import memtile
from memtile.model.state.columns import Column, columns_of, fields_of
from memtile.model.state.state import StateTables
from memtile.sim.loop.compiled_model import COMPILED

ROOT = Path(memtile.__file__).parent
Found = frozenset[str]
NOTHING: Found = frozenset()
_LIMITING = (ast.Mod, ast.BitAnd)


@cache
def tables() -> Mapping[str, Mapping[str, Column]]:
    """The columns of each table of the state, by the name of its field; arrays under their own name."""
    found = {}
    for field, (what, _) in fields_of(StateTables).items():
        found[field] = {"": what} if isinstance(what, Column) else columns_of(what)
    return found


@cache
def _classes() -> Mapping[str, str]:
    """Field of the state by the class of its table."""
    hints = get_type_hints(StateTables, include_extras=True)
    return {get_args(hint)[0].__name__: name for name, hint in hints.items() if get_args(hint)}


def functions() -> Iterator[tuple[str, ast.Module, ast.FunctionDef]]:
    """All functions of compiled modules, each with its module."""
    for name in COMPILED:
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            module = ".".join(["memtile", *file.relative_to(ROOT).with_suffix("").parts])
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    yield module, tree, node


def names_in(module: str, tree: ast.Module) -> dict[str, str]:
    """What a module calls functions and modules of others, ``module.function`` by its own name for them."""
    found = {node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


class Function:
    """A function, what its parameters may be, and what it gives."""

    def __init__(self, node: ast.FunctionDef, calls: Mapping[str, str]) -> None:
        self.node, self.calls = node, calls
        self.names = [arg.arg for arg in node.args.args]
        self.given: dict[str, Found] = dict.fromkeys(self.names, NOTHING)
        self.tables: dict[str, str] = {}
        for arg in node.args.args:
            kind = arg.annotation.id if isinstance(arg.annotation, ast.Name) else ""
            if kind in _classes():
                self.tables[arg.arg] = _classes()[kind]
        self.result = NOTHING
        self.used: dict[str, str] = {}
        self.callees: dict[str, Function] = {}
        self.read_with: tuple[object, ...] | None = None

    def reads_as_before(self) -> bool:
        """Whether what it is given, and what it gets of others, is as when this was last asked."""
        before = self.read_with
        self.read_with = (*self.given.values(), *((name, each.result) for name, each in self.callees.items()))
        return self.read_with == before


def _dotted(node: ast.expr) -> str:
    """The name that is called, with those before its dots; "" where it is none."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


class Reader(ast.NodeVisitor):
    """One pass through a function."""

    def __init__(self, function: Function, known: Mapping[str, Function]) -> None:
        self.function, self.known = function, known
        self.values: dict[str, Found] = defaultdict(lambda: NOTHING, function.given)
        self.tables = dict(function.tables)
        self.changed = False

    def table(self, node: ast.AST) -> str:
        """The field of the state that an expression is; "" = none."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st":
            return node.attr if node.attr in tables() else ""
        return self.tables.get(node.id, "") if isinstance(node, ast.Name) else ""

    def column(self, node: ast.AST) -> str:
        """The column that an expression is, all of it; "" = none."""
        if isinstance(node, ast.Attribute) and (table := self.table(node.value)):
            return f"{table}.{node.attr}" if node.attr in tables()[table] else ""
        table = self.table(node)
        return table if table and "" in tables()[table] else ""

    def of(self, node: ast.AST) -> Found:
        """The columns that a value comes from."""
        if isinstance(node, ast.Subscript):
            column = self.column(node.value)
            return frozenset([column]) if column else NOTHING
        if isinstance(node, ast.Name):
            return self.values[node.id]
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return NOTHING
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, _LIMITING):
                return NOTHING
            return self.of(node.left) | self.of(node.right)
        if isinstance(node, ast.Call):
            return self.called(node)
        parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return frozenset().union(*map(self.of, parts)) if parts else NOTHING

    def called(self, node: ast.Call) -> Found:
        name = _dotted(node.func)
        if name in ("int", "min", "max"):
            return frozenset().union(*map(self.of, node.args))
        first, dot, rest = name.partition(".")
        function = self.known.get(self.function.calls.get(first, "") + dot + rest)
        if function is None:
            return NOTHING
        self.function.callees[name] = function
        for parameter, argument in zip(function.names, node.args, strict=False):
            found = self.of(argument)
            if not found <= function.given[parameter]:
                function.given[parameter] |= found
                self.changed = True
        return function.result

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    self.values[name.id] |= self.of(value)
                    if table := self.table(value):
                        self.tables[name.id] = table

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and not isinstance(node.op, _LIMITING):
            self.values[node.target.id] |= self.of(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        self.generic_visit(node)
        if node.value is not None and not (found := self.of(node.value)) <= self.function.result:
            self.function.result |= found
            self.changed = True

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        self.use(node.slice)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        self.called(node)
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            for argument in node.args:
                self.use(argument)

    def use(self, node: ast.AST) -> None:
        for column in self.of(node):
            self.function.used.setdefault(column, f"{self.function.node.name}: {ast.unparse(node)}")


@cache
def index_columns() -> Mapping[str, str]:
    """Columns that are used as an index or as a bound of a loop, each with a place."""
    known, names = dict[str, Function](), dict[str, dict[str, str]]()
    for module, tree, node in functions():
        if module not in names:
            names[module] = names_in(module, tree)
        known[f"{module}.{node.name}"] = Function(node, names[module])
    made, changed = list(known.values()), True
    while changed:
        changed = False
        for function in made:
            if function.reads_as_before():
                continue
            for _ in range(2):  # a name may be used above the line that gives it, in a loop
                reader = Reader(function, known)
                reader.visit(function.node)
                changed |= reader.changed
    found: dict[str, str] = {}
    for function in made:
        found |= {column: place for column, place in function.used.items() if column not in found}
    return found


class Noted(dict[str, Any]):
    """The saved columns, noting which ones are looked at."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return super().__getitem__(name)
