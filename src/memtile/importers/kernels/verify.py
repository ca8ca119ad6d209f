"""The last step before generated Python is compiled: only what is known may be in it, and not too deep.

Trees are built from checked nodes alone (``kernels.quote``); this says it once more, of the result: kinds of
nodes, names that are called, attributes, spelling of identifiers, sizes of constants.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from memtile.errors import InputFileError
from memtile.importers.kernels.arithmetic import NAMES
from memtile.importers.kernels.expressions import WIDEST
from memtile.importers.kernels.proofs import HOST_TABLES, proved
from memtile.importers.kernels.quote import TYPES, children
from memtile.importers.mlir.forms.operand_faults import limit_error, operation_error
from memtile.importers.mlir.forms.operands import shown
from memtile.importers.mlir.tree import Operation
from memtile.limits import limit

_STATEMENTS = (
    ast.FunctionDef, ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Expr, ast.Return, ast.Pass,
    ast.Break, ast.Continue,
)  # fmt: skip
_EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call,
    ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.NamedExpr, ast.Yield, ast.YieldFrom,
)  # fmt: skip
ATTRIBUTES = frozenset(
    (
        "shape", "size", "reshape", "transpose", "copy", "view", "object_at",
        "acquire", "release", "objects", "cycles", "put_cascade", "get_cascade", "put_stream", "get_stream",
        "empty", "full", "zeros", "array", *TYPES,
    )
)  # fmt: skip
"""Of what generated code may ask, of ``np``, of arrays, and of its core."""
HOST_NAMES = frozenset(("core", "for_user", "to_words", "from_words", *HOST_TABLES))
_OWN = re.compile(
    r"(?:cycles|polled|turn|wide|bb|answer|words|body|(?:e|sum|sums|room|answer|piece)(?:_[0-9]+){1,2})"
)
_VALUE = re.compile(r"v_[A-Za-z0-9_]*")  # a result that has no name is v_
_PER_OPERATION = 4  # nodes within each other
_LOOPS = 20  # within each other, which CPython compiles


class UnknownCodeError(Exception):
    """Generated code has something that nobody generates: an error of this package, not of a design."""


def finished(
    tree: ast.FunctionDef,
    sites: Sequence[Operation],
    shapes: Mapping[str, tuple[int, ...]],
    prologue: int,
    *,
    is_host: bool = False,
) -> ast.FunctionDef:
    """A function whose indices are checked, and that has only what is known.

    Args:
        tree: as it was built.
        sites: operations by their number, which is one less than the line of their statements.
        shapes: sizes of arrays, see :func:`proofs.proved`.
        prologue: how many statements come before these can be checked.
        is_host: it is the generator.

    Raises:
        InputFileError: loops, conditions or expressions too deep within each other; numbers too wide.
    """
    check_depth(tree, sites, is_host=is_host)
    made = proved(tree, shapes, prologue)
    verify(made, is_host=is_host)
    return made


def check_depth(tree: ast.FunctionDef, sites: Sequence[Operation], *, is_host: bool) -> None:
    """Refuse loops, conditions and expressions that are too deep within each other, and numbers too wide.

    Raises:
        InputFileError: they are.
    """
    most_nesting, deepest = limit("body_nesting"), _PER_OPERATION * limit("body_depth")
    waiting: list[tuple[ast.AST, int, int, int, int]] = [(each, 1, 0, 0, 0) for each in tree.body]
    while waiting:
        node, line, loops, nesting, depth = waiting.pop()
        line = getattr(node, "lineno", line) if isinstance(node, ast.stmt) else line
        if isinstance(node, ast.stmt):
            loops += isinstance(node, ast.For | ast.While)
            nesting += isinstance(node, ast.For | ast.While | ast.If)
        elif isinstance(node, ast.expr):
            depth += 1
        if loops > _LOOPS or nesting > most_nesting or depth > deepest:
            raise _too_deep(sites[line - 1], is_nesting=nesting > most_nesting, is_depth=depth > deepest)
        for each in children(node):
            if not isinstance(each, ast.Name | ast.Constant):
                waiting.append((each, line, loops, nesting, depth))
            elif isinstance(each, ast.Constant) and not _is_constant(each.value, is_host=is_host):
                raise operation_error(
                    sites[line - 1],
                    f"the number {shown(each.value)} does not fit {WIDEST} bits",
                    f"integers of up to {WIDEST} bits",
                    reason="mlir_width",
                )


def _too_deep(operation: Operation, *, is_nesting: bool, is_depth: bool) -> InputFileError:
    if is_depth or is_nesting:
        name = "body_depth" if is_depth else "body_nesting"
        what = "operations" if is_depth else "loops and conditions"
        says = f"more than {limit(name)} {what} are within each other in what it becomes"
        return limit_error(operation, name, says)
    says = f"more than {_LOOPS} loops are within each other in what it becomes"
    return operation_error(operation, says, f"up to {_LOOPS}, as in CPython", reason="mlir_limit")


def verify(tree: ast.FunctionDef, *, is_host: bool = False) -> None:
    """See that a function has only what is known.

    Args:
        tree: of the function.
        is_host: it is the generator, which may wait, and names what it is given.

    Raises:
        UnknownCodeError: it has something else.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if not _is_known(node, is_host=is_host):
            shown = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else type(node).__name__
            raise UnknownCodeError(f"generated code has {shown[:200]}")


def _is_known(node: ast.AST, *, is_host: bool) -> bool:
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return is_host
    if isinstance(node, ast.Name):
        return _is_name(node.id, is_host=is_host)
    if isinstance(node, ast.arg):
        return _is_name(node.arg, is_host=is_host) and node.annotation is None
    if isinstance(node, ast.Constant):
        return _is_constant(node.value, is_host=is_host)
    if isinstance(node, ast.Attribute):
        return node.attr in ATTRIBUTES
    if isinstance(node, ast.Call):
        return _is_call(node) and not node.keywords
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list and node.returns is None and bool(_OWN.fullmatch(node.name))
    return isinstance(node, _STATEMENTS + _EXPRESSIONS + (ast.arguments,))


def _is_name(name: str, *, is_host: bool) -> bool:
    if name in NAMES or _OWN.fullmatch(name) or _VALUE.fullmatch(name):
        return True
    return is_host and name in HOST_NAMES


def _is_call(node: ast.Call) -> bool:
    """Whether it calls a function of ours by its name, or asks something of an array or of the core."""
    called = node.func
    if isinstance(called, ast.Name):
        return called.id in NAMES or called.id in HOST_NAMES or called.id.startswith("piece_")
    if isinstance(called, ast.Attribute):
        return called.attr in ATTRIBUTES
    table = called.value if isinstance(called, ast.Subscript) else None
    return isinstance(table, ast.Name) and table.id == "externals"


def _is_constant(value: object, *, is_host: bool) -> bool:
    if isinstance(value, bool) or value is Ellipsis or isinstance(value, float):
        return True
    if isinstance(value, str):
        return is_host
    return isinstance(value, int) and (is_host or abs(value) < 1 << WIDEST)
