"""Functions of cores that write nowhere: what they compute is lost.

A function is followed through its source, statement by statement: which names may be, or be views of, its
arguments, and whether anything may be written into these, or be done outside. Only a function that surely
does neither is reported, so whatever is not known here counts as a write.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from memtile.input_files import syntax_tree

LOST = "__lost__"
"""Attribute of a kernel: the functions that it calls and whose results are lost, as ``LostResult``."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBERS = _words("shape size dtype ndim nbytes itemsize")
_VIEWS = _words("view reshape ravel transpose squeeze swapaxes diagonal newbyteorder")
_FRESH = _words(
    """astype copy sum max min mean dot prod cumsum cumprod round clip all any tobytes tolist item argmax
    argmin argsort std var nonzero repeat take trace flatten conj ptp searchsorted"""
)
_VIEWING = _words(
    """asarray asanyarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d ravel reshape
    transpose squeeze moveaxis swapaxes rollaxis broadcast_to broadcast_arrays expand_dims flip flipud fliplr
    rot90 split array_split hsplit vsplit dsplit diagonal real imag require frombuffer nditer ndenumerate"""
)
_WRITING = _words("copyto put place putmask fill_diagonal put_along_axis at shuffle")
_BUILTINS = _words(
    """abs bool divmod enumerate float int isinstance iter len list map max min next pow range reversed round
    slice sum tuple zip"""
)
_LIBRARIES = _words("numpy ml_dtypes math")
_OF_CORE = _words("acquire release cycles event access walk read view buffer")
_MANY, _WITH_OUT = 1 << 10, 2  # positional arguments of a function of NumPy: any, and the fewest with ``out``
_UNARY = _words(
    """abs absolute negative exp exp2 log log2 sqrt square tanh sin cos floor ceil rint sign reciprocal"""
)
_BINARY = _words(
    """add subtract multiply divide maximum minimum power matmul dot fmax fmin mod floor_divide true_divide"""
)


class LostResult(NamedTuple):
    """A function that writes into none of its arguments.

    Attributes:
        function: its name.
        place: file and line of what it does instead, or of its first line.
        name: the argument, or the view, that it assigns anew; empty = none.
    """

    function: str
    place: str
    name: str


def lost_result(function: Callable[..., Any]) -> LostResult | None:
    """What a function of the user loses; None if it may write, or nobody can say.

    Args:
        function: plain, with arrays as arguments, or a kernel of a core.
    """
    if not isinstance(function, FunctionType):
        return None
    if function not in _KNOWN:
        _KNOWN[function] = _lost_result(function)
    return _KNOWN[function]


_KNOWN: WeakKeyDictionary[FunctionType, LostResult | None] = WeakKeyDictionary()


def _lost_result(function: FunctionType) -> LostResult | None:
    tree = _tree(function)
    if tree is None or _is_stub(tree.body):
        return None
    walk, known = _Walk(_modules(function)), tree.args
    kernel = inspect.isgeneratorfunction(function)
    names = [each.arg for each in (*known.posonlyargs, *known.args)]
    if known.vararg or known.kwarg or known.kwonlyargs or not names or (kernel and len(names) > 1):
        return None
    walk.core = names[0] if kernel else ""
    walk.views = set() if kernel else set(names)
    try:
        walk.block(tree.body)
    except _MayWriteError:
        return None
    if kernel and not walk.lost:
        return None
    name, line = walk.lost or ("", tree.lineno)
    code = function.__code__
    return LostResult(function.__name__, f"{code.co_filename}:{code.co_firstlineno + line - 1}", name)


def lost_by(functions: Iterable[Callable[..., Any]]) -> tuple[LostResult, ...]:
    """What the functions lose, each once."""
    found = map(lost_result, functions)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _tree(function: FunctionType) -> ast.FunctionDef | None:
    """The definition of a function; None of a lambda, of a decorated one, or without a source."""
    if hasattr(function, "__wrapped__"):
        return None
    try:
        (tree,) = syntax_tree(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.FunctionDef) else None


def _is_stub(body: list[ast.stmt]) -> bool:
    """Whether a function does nothing on purpose."""
    return all(isinstance(each, ast.Pass) or _is_text(each) for each in body)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _modules(function: FunctionType) -> frozenset[str]:
    """Names that stand for modules whose functions are known."""
    free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    outer = {
        name: cell.cell_contents for name, cell in free.items() if isinstance(_content(cell), ModuleType)
    }
    found = {**function.__globals__, **outer}.items()
    return frozenset(
        name for name, each in found if isinstance(each, ModuleType) and each.__name__ in _LIBRARIES
    )


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return None


class _MayWriteError(Exception):
    """The function may write, or do something outside."""


class _Walk:
    """Follows the statements of a function.

    Args:
        modules: names of known modules.

    Attributes:
        views: names that may be arguments, or views of them.
        fresh: names of what the function itself has made.
        core: name of the core of a kernel; empty = it is none.
        lost: the first view that is assigned anew, and its line.
    """

    def __init__(self, modules: Collection[str]) -> None:
        self._modules = modules
        self.views, self.fresh = set[str](), set[str]()
        self.core = ""
        self.lost: tuple[str, int] | None = None

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements in order.

        Raises:
            _MayWriteError: one of them may write.
        """
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._value(value)
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._value(value)
                self._assign(target, value)
            case ast.AugAssign(target=ast.Name(id=name), value=value) if name in self.fresh - self.views:
                self._value(value)
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                self._value(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self._value(test)
                self._either(body, orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self._value(test)
                self._either([*body, *body], [])
                self.block(orelse)
            case ast.For(target=target, iter=each, body=body, orelse=orelse):
                self._value(each)
                self._assign(target, each, anew=False)
                self._either([*body, *body], [])
                self.block(orelse)
            case ast.Pass() | ast.Return() | ast.Break() | ast.Continue() | ast.AnnAssign():
                pass
            case _:
                raise _MayWriteError

    def _either(self, one: list[ast.stmt], other: list[ast.stmt]) -> None:
        """Follow two ways, of which either may be taken."""
        views = set(self.views)
        self.block(one)
        after, self.views = self.views, views
        self.block(other)
        self.views |= after

    def _assign(self, target: ast.expr, value: ast.expr, *, anew: bool = True) -> None:
        match target:
            case ast.Name(id=name):
                if self._is_view(value):
                    self.views.add(name)
                elif name in self.views and anew:
                    self.lost = self.lost or (name, target.lineno)
                    self.views.discard(name)
                self.fresh.add(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                own = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(parts) else []
                for part, each in zip(parts, own or [value] * len(parts), strict=True):
                    self._assign(part, each, anew=bool(own))
            case ast.Starred(value=part):
                self._assign(part, value, anew=False)
            case ast.Subscript(value=base) if self._is_own(base):
                self._value(target.slice)
            case _:
                raise _MayWriteError

    def _is_own(self, base: ast.expr) -> bool:
        """Whether an expression is an array that the function itself has made."""
        return isinstance(base, ast.Name) and base.id in self.fresh - self.views

    def _value(self, value: ast.AST) -> None:
        """See that to evaluate an expression writes nothing."""
        for node in ast.walk(value):
            match node:
                case ast.Call():
                    self._call(node)
                case ast.Lambda() | ast.Await() | ast.NamedExpr():
                    raise _MayWriteError
                case ast.Yield() | ast.YieldFrom() if not self.core:
                    raise _MayWriteError
                case _:
                    pass

    def _call(self, call: ast.Call) -> None:
        if any(each.arg in (None, "out", "where") for each in call.keywords):
            raise _MayWriteError
        match call.func:
            case ast.Name(id=name):
                known = name in _BUILTINS and name not in self.fresh
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == self.core and name:
                known = attr in _OF_CORE
            case ast.Attribute(attr=attr, value=base) if self._root(base) in self._modules:
                known = attr not in _WRITING and len(call.args) < _most(attr)
            case ast.Attribute(attr=attr):
                known = attr in _VIEWS | _FRESH and not call.keywords
            case _:
                known = False
        if not known:
            raise _MayWriteError

    def _root(self, base: ast.expr) -> str:
        """The name that a chain of attributes begins with; empty = none."""
        while isinstance(base, ast.Attribute):
            base = base.value
        return base.id if isinstance(base, ast.Name) and base.id not in self.fresh | self.views else ""

    def _is_view(self, value: ast.expr) -> bool:
        """Whether a value may be an argument, or share its words."""
        match value:
            case ast.Constant() | ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.JoinedStr():
                return False
            case ast.Attribute(attr=attr) if attr in _NUMBERS:
                return False
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="view")) if self.core and (
                name == self.core
            ):
                return True
            case ast.Call(func=ast.Attribute(value=base, attr=attr), args=args):
                if self._root(base) in self._modules:
                    return attr in _VIEWING and any(map(self._is_view, args))
                return attr not in _FRESH and self._is_view(base)
            case ast.Name(id=name):
                return name in self.views
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(map(self._is_view, parts))
        return any(isinstance(node, ast.Name) and node.id in self.views for node in ast.walk(value))


def _most(name: str) -> int:
    """Positional arguments of a function of NumPy from which on one is its output."""
    return _WITH_OUT if name in _UNARY else _WITH_OUT + 1 if name in _BINARY else _MANY
