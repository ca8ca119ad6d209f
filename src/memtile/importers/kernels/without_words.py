"""Core bodies without their arithmetic: what a core does to locks, streams and time, and nothing else.

Of the Python that a body became (``body``) only what decides cycles and actions stays: loops, branches, calls
and what their numbers are computed from. Loads, stores and what is made of words go. Where a word decides a
branch, the turns of a loop, or an action, there is no such body, and the error has the line of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from memtile.importers.kernels.body import CoreProgram
from memtile.importers.kernels.body_segments import BodySegment, defined
from memtile.importers.kernels.cascade_handlers import WORD, bits_in
from memtile.importers.kernels.proofs import HOST_TABLES
from memtile.importers.kernels.quote import children
from memtile.importers.mlir.forms.operand_faults import operation_error

_ALWAYS = frozenset(("cycles", "turn"))
_ZEROS = "zeros"
"""Name of a function that gives what a stream or the cascade gets: as many zeros as there were words."""


class Kind(IntEnum):
    """What a value depends on: a later one of two that meet wins."""

    PLAIN = 0  # the text alone
    MEMORY = 1  # the place of words, not the words
    WORD = 2


class _Pieces:
    """The pieces of a program, each with the kinds of its values as far as its call says."""

    def __init__(self, program: CoreProgram) -> None:
        self.program = program
        self.made: dict[str, _Function] = {}

    def of(self, name: str) -> _Function:
        """A piece."""
        if name not in self.made:
            piece = self.program.names[name]
            assert isinstance(piece, BodySegment)
            self.made[name] = _Function(piece.tree, self, self.program)
        return self.made[name]


class _Function:
    """A function whose values have kinds, and of which the lines that decide time stay.

    Args:
        tree: of the function; it is left as it is.
        pieces: that it may call.
        program: that it is part of.
    """

    def __init__(self, tree: ast.FunctionDef, pieces: _Pieces, program: CoreProgram) -> None:
        self.tree, self.pieces, self.program = tree, pieces, program
        self.kinds: dict[str, Kind] = {}
        self.objects = {_only_name(s) for s in _statements(tree.body) if _gives_objects(s)} - {""}
        self.needed: set[str] = set(_ALWAYS)
        self.results: Sequence[ast.expr] = ()
        self.wanted: Sequence[bool] = ()

    def learn(self) -> None:
        """Find the kinds of all values; calls of pieces teach these theirs."""
        changed = True
        while changed:
            changed = False
            for each in _statements(self.tree.body):
                for name, kind in self._given(each):
                    if kind > self.kinds.get(name, Kind.PLAIN):
                        self.kinds[name] = kind
                        changed = True

    def _given(self, statement: ast.stmt) -> Iterator[tuple[str, Kind]]:
        """The names that a statement gives values, and their kinds."""
        if isinstance(statement, ast.For):
            kind = max(map(self.kind, _call(statement.iter).args))
            yield _only_name(statement), kind
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, self.kind(statement.value)
        elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
            self.results = statement.value.elts[1:]
        elif isinstance(statement, ast.Assign):
            yield from self._assigned(statement.targets[0], statement.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Kind]]:
        if isinstance(target, ast.Name):
            yield target.id, self.kind(value)
        elif isinstance(target, ast.Tuple):
            names = [each.id for each in target.elts if isinstance(each, ast.Name)]
            if _is_piece(value):
                yield from zip(names[1:], self._piece_results(_call(value)), strict=True)
            elif isinstance(value, ast.Tuple):
                yield from zip(names, map(self.kind, value.elts), strict=True)
            elif isinstance(value, ast.YieldFrom):  # answer, turn
                yield from ((name, Kind.WORD) for name in names if name not in _ALWAYS)
            else:
                yield from ((name, self.kind(value)) for name in names)

    def _piece_results(self, call: ast.Call) -> list[Kind]:
        piece = self.pieces.of(_name(call.func))
        for parameter, given in zip(piece.tree.args.args, call.args, strict=True):
            kind = max(self.kind(given), piece.kinds.get(parameter.arg, Kind.PLAIN))
            piece.kinds[parameter.arg] = kind
        piece.learn()
        return [piece.kind(result) for result in piece.results]

    def kind(self, node: ast.expr) -> Kind:
        """What an expression depends on."""
        if isinstance(node, ast.Name):  # "wide" is what the expression itself has named so
            array = node.id in self.program.arrays
            return Kind.MEMORY if array else self.kinds.get(node.id, Kind.PLAIN)
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return Kind.WORD
        if isinstance(node, ast.Attribute):
            kind = self.kind(node.value)
            return Kind.PLAIN if node.attr in ("shape", "size") and kind < Kind.WORD else kind
        if isinstance(node, ast.Subscript):
            return self._element(node)
        parts = [self.kind(each) for each in children(node) if isinstance(each, ast.expr)]
        most = max(parts, default=Kind.PLAIN)
        if isinstance(node, ast.Call):
            return self._called(node, most)
        if isinstance(node, ast.Tuple | ast.List | ast.NamedExpr | ast.Slice):
            return most
        return Kind.PLAIN if most is Kind.PLAIN else Kind.WORD

    def _element(self, node: ast.Subscript) -> Kind:
        base, at = node.value, self.kind(node.slice)
        if isinstance(base, ast.Name) and base.id in HOST_TABLES:
            return Kind.MEMORY if base.id == "views" else Kind.PLAIN
        if at is not Kind.PLAIN:
            return Kind.WORD
        if isinstance(base, ast.Name) and base.id in self.objects:
            return Kind.MEMORY
        kind = self.kind(base)
        if kind is Kind.MEMORY and not any(isinstance(each, ast.Slice) for each in ast.walk(node.slice)):
            return Kind.WORD
        return kind

    def _called(self, node: ast.Call, most: Kind) -> Kind:
        called, given = node.func, max(map(self.kind, node.args), default=Kind.PLAIN)
        if isinstance(called, ast.Attribute):
            if called.attr in ("objects", "object_at", "empty", "full", "zeros", "array"):
                return Kind.WORD if given is Kind.WORD else Kind.MEMORY
            return most
        name = _name(called)
        if name == "for_user":
            return self.kind(node.args[0])
        if name == "len":
            return Kind.PLAIN if given < Kind.WORD else given
        return Kind.PLAIN if given is Kind.PLAIN else Kind.WORD

    def slice(self) -> None:
        """Find the values that decide time, among all that are computed.

        Raises:
            InputFileError: one of them depends on words.
        """
        count = -1
        while count != len(self.needed):
            count = len(self.needed)
            self._kept(self.tree.body)

    def _kept(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for each in body for made in self._keep(each)]

    def _keep(self, statement: ast.stmt) -> list[ast.stmt]:
        """What stays of a statement; the values that it needs are noted."""
        if isinstance(statement, ast.For | ast.While | ast.If):
            return self._keep_block(statement)
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
            cycles, *results = statement.value.elts
            kept = [each for each, is_wanted in zip(results, self.wanted, strict=True) if is_wanted]
            self._need(kept, statement, _OF_VALUE)
            return [_placed(ast.Return(ast.Tuple([cycles, *kept], ast.Load())), statement)]
        if isinstance(statement, ast.Expr):
            return self._keep_action(statement)
        if isinstance(statement, ast.Assign):
            return self._keep_assigned(statement)
        if isinstance(statement, ast.AugAssign):
            if _only_name(statement) not in self.needed:
                return []
            self._need([statement.value], statement, _OF_VALUE)
        return [] if isinstance(statement, ast.Pass) else [statement]

    def _keep_block(self, statement: ast.For | ast.While | ast.If) -> list[ast.stmt]:
        body, other = self._kept(statement.body), self._kept(statement.orelse)
        if not (body or other or isinstance(statement, ast.While)):
            return []
        if isinstance(statement, ast.For):
            self._need(_call(statement.iter).args, statement, "words decide how often a loop turns")
            return [_placed(ast.For(statement.target, statement.iter, body, []), statement)]
        if isinstance(statement, ast.While):
            self._need([statement.test], statement, "words decide how often a loop turns")
            return [_placed(ast.While(statement.test, body or [ast.Pass()], []), statement)]
        self._need([statement.test], statement, "words decide a branch")
        return [_placed(ast.If(statement.test, body or [ast.Pass()], other), statement)]

    def _keep_action(self, statement: ast.Expr) -> list[ast.stmt]:
        value = statement.value
        if isinstance(value, ast.Yield):
            call = _call(value.value)
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("put_cascade", "put_stream"):
                (words,) = call.args
                zeros = ast.Call(ast.Name(_ZEROS, ast.Load()), [_call(words).args[1]], [])
                return [_placed(ast.Expr(ast.Yield(ast.Call(call.func, [zeros], []))), statement)]
            self._need(call.args, statement, "words decide what it does")
            return [statement]
        if isinstance(value, ast.YieldFrom):
            self._need(value.value.args if isinstance(value.value, ast.Call) else [], statement, _OF_CALL)
            return [statement]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "endless":
            return [statement]
        return []

    def _keep_assigned(self, statement: ast.Assign) -> list[ast.stmt]:
        target, value = statement.targets[0], statement.value
        if isinstance(value, ast.YieldFrom):
            self._need(_call(value.value).args, statement, _OF_CALL)
            return [statement]
        if isinstance(value, ast.Yield):
            return [statement]
        if _is_piece(value):
            return self._keep_piece(statement)
        if not _targets(target) & self.needed:
            return []
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = [
                (name, given)
                for name, given in zip(target.elts, value.elts, strict=True)
                if _name(name) in self.needed
            ]
            self._need([given for _, given in pairs], statement, _OF_VALUE)
            names, values = zip(*pairs, strict=True)
            made = ast.Assign([_tuple(names)], ast.Tuple([*values], ast.Load()))
            return [_placed(made, statement)]
        self._need([value], statement, _OF_VALUE)
        return [statement]

    def _keep_piece(self, statement: ast.Assign) -> list[ast.stmt]:
        target, call = statement.targets[0], _call(statement.value)
        assert isinstance(target, ast.Tuple)
        piece = self.pieces.of(_name(call.func))
        wanted = [_name(each) in self.needed for each in target.elts[1:]]
        piece.wanted = [*wanted]
        piece.slice()
        given = [
            each
            for parameter, each in zip(piece.tree.args.args, call.args, strict=True)
            if parameter.arg in piece.needed
        ]
        self._need(given, statement, _OF_VALUE)
        names = [
            target.elts[0],
            *(e for e, is_wanted in zip(target.elts[1:], wanted, strict=True) if is_wanted),
        ]
        return [_placed(ast.Assign([_tuple(names)], ast.Call(call.func, given, [])), statement)]

    def need(self, values: Iterable[ast.expr]) -> None:
        """Note that values decide time."""
        for value in values:
            self.needed |= {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}

    def _need(self, values: Iterable[ast.expr], statement: ast.stmt, says: str) -> None:
        for value in values:
            if self.kind(value) is Kind.WORD:
                raise operation_error(
                    self.program.sites[statement.lineno - 1],
                    f"{says} in core {self.program.tile}, and a run without data has none",
                    "a run with data",
                    reason="no_words",
                )
        self.need(values)

    def written(self) -> ast.FunctionDef:
        """The function as it stays."""
        taken = self.tree.args
        if self.tree is not self.program.tree:
            kept = [each for each in taken.args if each.arg in self.needed]
            taken = ast.arguments([], kept, None, [], [], None, [])
        body = _shorter(self._kept(self.tree.body))
        return _placed(ast.FunctionDef(self.tree.name, taken, body, [], None, None), self.tree)


def generator_without_words(program: CoreProgram, file: str, names: Mapping[str, Any]) -> FunctionType:
    """The generator of a program that does what it does to all but words, in the same cycles.

    Args:
        program: of a core.
        file: that tracebacks show.
        names: what it calls beside its pieces.

    Raises:
        InputFileError: words decide what it does; the line has the first of them.
    """
    assert program.tree is not None
    pieces = _Pieces(program)
    host = _Function(program.tree, pieces, program)
    host.learn()
    host.slice()
    tree = host.written()
    left = {name: BodySegment(name, piece.written(), 0) for name, piece in pieces.made.items()}
    return defined(tree, file, {**names, **program.names, **left, _ZEROS: _zeros})


_OF_CALL = "words decide what a call is given"
_OF_VALUE = "words decide a number that decides time"


def _only_name(statement: ast.AST) -> str:
    """The name that a statement gives a value; empty if it is not one name."""
    target = _target(statement)
    return target.id if isinstance(target, ast.Name) else ""


def _target(statement: ast.AST) -> ast.expr | None:
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    return statement.target if isinstance(statement, ast.For | ast.AugAssign) else None


def _targets(target: ast.expr) -> set[str]:
    """The names that a target gives values; memory has none."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return {each.id for each in parts if isinstance(each, ast.Name)}


def _tuple(names: Iterable[ast.expr]) -> ast.Tuple:
    """A target of several names."""
    return ast.Tuple([ast.Name(_name(each), ast.Store()) for each in names], ast.Store())


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _call(node: ast.expr | None) -> ast.Call:
    assert isinstance(node, ast.Call)
    return node


def _is_piece(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _name(value.func).startswith("piece_")


def _gives_objects(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "objects"


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, outer ones first."""
    for each in body:
        yield each
        if isinstance(each, ast.For | ast.While | ast.If):
            yield from _statements((*each.body, *each.orelse))


_Placed = TypeVar("_Placed", bound=ast.stmt)


def _placed(made: _Placed, like: ast.stmt) -> _Placed:
    """A statement in the line of another one."""
    return ast.fix_missing_locations(ast.copy_location(made, like))


def _shorter(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements with loops that only count cycles as products."""
    made = list[ast.stmt]()
    for each in body:
        if isinstance(each, ast.For):
            inner = _shorter(each.body)
            made += _product(each, inner) or [_placed(ast.For(each.target, each.iter, inner, []), each)]
        elif isinstance(each, ast.While):
            made.append(_placed(ast.While(each.test, _shorter(each.body), []), each))
        elif isinstance(each, ast.If):
            made.append(_placed(ast.If(each.test, _shorter(each.body), _shorter(each.orelse)), each))
        else:
            made.append(each)
    return made


def _product(loop: ast.For, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """What a loop counts, times its turns; empty if it does something else."""
    counted = [each.value for each in body if isinstance(each, ast.AugAssign) and _counts(each)]
    checks = [each for each in body[len(counted) :] if isinstance(each, ast.If) and _is_check(each)]
    changed = {_only_name(loop), *_ALWAYS}
    names = {each.id for value in counted for each in ast.walk(value) if isinstance(each, ast.Name)}
    if len(counted) + len(checks) != len(body) or not counted or names & changed:
        return []
    bounds = _call(loop.iter).args
    turns: ast.expr = ast.Call(ast.Name("len", ast.Load()), [loop.iter], [])
    if all(_number(each) is not None for each in bounds):
        turns = ast.Constant(len(range(*(_number(each) or 0 for each in bounds))))
    total: ast.expr = counted[0]
    for each in counted[1:]:
        total = ast.BinOp(total, ast.Add(), each)
    one, many = _number(total), _number(turns)
    product = ast.BinOp(total, ast.Mult(), turns) if one is None or many is None else ast.Constant(one * many)
    return [_placed(ast.AugAssign(ast.Name("cycles", ast.Store()), ast.Add(), product), loop), *checks]


def _counts(statement: ast.AugAssign) -> bool:
    return isinstance(statement.op, ast.Add) and _only_name(statement) == "cycles"


def _is_check(statement: ast.If) -> bool:
    """Whether a statement sees whether a piece has an end."""
    (inner,) = statement.body if len(statement.body) == 1 else (None,)
    called = inner.value if isinstance(inner, ast.Expr) else None
    return isinstance(called, ast.Call) and _name(called.func) == "endless" and not statement.orelse


def _number(node: ast.expr) -> int | None:
    """A constant; sums and products of constants are such."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _number(node.operand)
        return None if found is None else -found
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        one, other = _number(node.left), _number(node.right)
        return None if one is None or other is None else one + other
    return None


def _zeros(kind: str) -> npt.NDArray[np.uint32]:
    return np.zeros((bits_in(kind) or WORD) // WORD, np.uint32)
