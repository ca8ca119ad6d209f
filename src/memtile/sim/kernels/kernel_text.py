"""Which locks a kernel releases by its text: what it says of itself, or what its Python source says.

The source of a kernel, and of the functions to which it hands its core, is read, never run: of each
``core.release(lock)`` it is found what ``lock`` can be, through closures, globals, defaults, attributes,
elements of sequences and loops over them. Where a source is not there, or the core cannot be followed,
nothing is known; where only a lock cannot be, it is one of those that the kernel can come to at all.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.tiles import COMPUTE
from memtile.errors import MemtileError
from memtile.input_files import syntax_tree
from memtile.jit.tables import plain
from memtile.model.state.state import Spec
from memtile.sim.kernels.kernel_core import RELEASES
from memtile.sim.kernels.running_cores import Running

_LIBRARY = "memtile.corelib"  # its functions are given a core and take no lock
_PASSING_ON = ("enumerate", "list", "reversed", "sorted", "tuple")
_MOST = 2000  # things of a kernel that are looked at
_MOST_VALUES = 64  # that a name can have


class KernelText(NamedTuple):
    """What is known of the releases of a kernel.

    Attributes:
        locks: that it releases, by index among all of the model.
        maybe: that it may release instead, or beside them.
    """

    locks: frozenset[int]
    maybe: frozenset[int] = frozenset()


class _NotKnownError(Exception):
    """A core that goes where nobody can follow, or a source that is not there."""


def released_by(running: Running, spec: Spec) -> KernelText | None:
    """The locks that a kernel releases by its text; None where nobody knows.

    Args:
        running: the kernel.
        spec: of its model.
    """
    function = running.function
    if function is None:
        return None
    if hasattr(function, RELEASES):
        said: frozenset[int] | None = getattr(function, RELEASES)
        return None if said is None else KernelText(said)
    try:
        found = _Reader(running.core.tile, spec).read(function)
    except _NotKnownError:
        return None
    return found if running.released <= found.locks | found.maybe else None


class _Scope(NamedTuple):
    """A function that is read.

    Attributes:
        node: its syntax.
        core: what it calls the core.
        names: values of the names that it does not set itself.
        set: what it sets names to: expressions, each with the way into their value.
        inner: names of the functions in it.
        given: names that it is given values for.
        doubts: expressions of which not all values need be meant.
    """

    node: ast.AST
    core: str
    names: Mapping[str, Any]
    set: Mapping[str, Sequence[tuple[ast.expr, tuple[int | None, ...]]]]
    inner: frozenset[str]
    given: frozenset[str]
    doubts: list[ast.expr]


class _Reader:
    """Reads the functions of one kernel.

    Args:
        tile: model index of the tile of its core.
        spec: of the model.
    """

    def __init__(self, tile: int, spec: Spec) -> None:
        self._tile, self._tiles = tile, plain(spec.tiles)
        self._locks, self._maybe, self._open = set[int](), set[int](), False
        self._read: set[int] = set()
        self._things: list[Any] = []

    def read(self, kernel: Any) -> KernelText:
        """What a kernel releases.

        Raises:
            _NotKnownError: its core cannot be followed.
        """
        self._function(kernel, 0)
        first, end = (int(self._tiles.lock_base[self._tile]) + n for n in (0, COMPUTE.locks))
        self._locks |= {lock for lock in self._maybe if first <= lock < end}  # one of several of its own
        reached = set(self._reachable()) if self._open else set()
        if self._open and not reached:
            raise _NotKnownError
        return KernelText(frozenset(self._locks), frozenset((self._maybe | reached) - self._locks))

    def _function(self, function: Any, at: int) -> None:
        """Read a function that is given the core as argument number ``at``."""
        before: tuple[Any, ...] = ()
        named: dict[str, Any] = {}
        while not isinstance(function, FunctionType):
            if isinstance(function, partial):
                before, named = (*function.args, *before), {**function.keywords, **named}
                function = function.func
            elif isinstance(function, MethodType):
                before, function = (function.__self__, *before), function.__func__
            elif isinstance(call := inspect.getattr_static(type(function), "__call__", None), FunctionType):
                before, function = (function, *before), call
            else:
                raise _NotKnownError
        if (function.__module__ or "").startswith(_LIBRARY) or id(function) in self._read:
            return
        self._read.add(id(function))
        self._things += [*before, *named.values()]
        self._scope(_scope(function, at, before, named))

    def _scope(self, scope: _Scope) -> None:
        self._things += scope.names.values()
        followed = set[int]()
        for node in ast.walk(scope.node):
            if isinstance(node, ast.Call):
                followed |= self._call(node, scope)
        for node in ast.walk(scope.node):
            is_core = isinstance(node, ast.Name) and node.id == scope.core
            if isinstance(node, ast.Attribute) and id(node) not in followed and node.attr == "release":
                raise _NotKnownError
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                followed.add(id(node.value))
            if is_core and id(node) not in followed:
                raise _NotKnownError

    def _call(self, node: ast.Call, scope: _Scope) -> set[int]:
        """Follow a call; gives the nodes of the core that are followed by it."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "release":
            self._release(node, scope)
            return {id(node.func)}
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        cores = [each for each in given if isinstance(each, ast.Name) and each.id == scope.core]
        if not cores:
            return set()
        if not (isinstance(node.func, ast.Name) and node.func.id in scope.inner):
            functions = _values(node.func, scope)
            if not functions or len(cores) > 1 or any(isinstance(each, ast.Starred) for each in node.args):
                raise _NotKnownError
            for function in functions:
                self._function(function, self._place(node, cores[0], function))
        return {id(each) for each in cores}

    @staticmethod
    def _place(node: ast.Call, core: ast.Name, function: Any) -> int:
        """Which argument of a call the core is."""
        if core in node.args:
            return node.args.index(core)
        (name,) = (keyword.arg for keyword in node.keywords if keyword.value is core)
        try:
            return list(inspect.signature(function).parameters).index(str(name))
        except (TypeError, ValueError) as error:
            raise _NotKnownError from error

    def _release(self, node: ast.Call, scope: _Scope) -> None:
        """Note what a call of ``core.release`` can release."""
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        what = node.args[0] if node.args else named.get("lock")
        tiles = _values(named["tile"], scope) if "tile" in named else [None]
        values = [] if what is None else _values(what, scope)
        found = [self._lock(value, tile) for value in values for tile in tiles]
        if not found or None in found:
            self._open = True
        into = self._maybe if scope.doubts else self._locks
        into |= {lock for lock in found if lock is not None}
        scope.doubts.clear()

    def _lock(self, thing: Any, at: Any = None) -> int | None:
        """Index of a lock in the model; of a number and a lock without a place it is one of the own tile."""
        if isinstance(thing, int | np.integer):
            number = int(thing)
        elif _is_lock(thing):
            number, at = int(thing.id), thing.place if at is None else at
        else:
            return None
        tile = self._tile_at(at)
        return (
            None if tile < 0 or not 0 <= number < COMPUTE.locks else int(self._tiles.lock_base[tile]) + number
        )

    def _tile_at(self, at: Any) -> int:
        if at is None:
            return self._tile
        if not isinstance(at, tuple):
            return at if isinstance(at, int) and at < len(self._tiles.column) else -1
        column, row = at
        found = np.flatnonzero((self._tiles.column == column) & (self._tiles.row == row))
        return int(found[0]) if len(found) else -1

    def _reachable(self) -> Iterator[int]:
        """All locks that the functions could come to; of object FIFOs what their ends here release."""
        seen, rest = set[int](), list(self._things)
        while rest and len(seen) < _MOST:
            thing = rest.pop()
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            if _is_lock(thing):
                lock = self._lock(thing)
                yield from () if lock is None else (lock,)
            elif hasattr(thing, "producer") and hasattr(thing, "consumers"):
                rest += self._ends(thing)
            else:
                rest += _parts(thing)

    def _ends(self, fifo: Any) -> Iterator[Any]:
        ends = [(fifo.producer, 1), *((end, 0) for end in fifo.consumers)]
        for end, which in ends:
            if end.locks is not None and end.tile.index == self._tile:
                yield end.locks[which]


def _is_lock(thing: Any) -> bool:
    return hasattr(thing, "acquire_equal") and hasattr(thing, "id") and hasattr(thing, "place")


def _parts(thing: Any) -> Iterable[Any]:
    """The elements of a container, and the attributes of what a user made."""
    if isinstance(thing, dict):
        return [*thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return [*thing]
    if isinstance(thing, FunctionType):
        cells = thing.__closure__ or ()
        return [value for cell in cells for value in _content(cell)]
    is_ours = type(thing).__module__.partition(".")[0] in ("memtile", "builtins", "numpy")
    return [] if is_ours or isinstance(thing, type) else [*getattr(thing, "__dict__", {}).values()]


def _content(cell: Any) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # nothing was put into it
        return []


def _scope(function: FunctionType, at: int, before: Sequence[Any], named: Mapping[str, Any]) -> _Scope:
    """A function with what its names stand for; ``before`` come before the arguments of its call."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        (node,) = syntax_tree(text).body
    except (OSError, SyntaxError, TypeError, ValueError) as error:
        raise _NotKnownError from error
    if not isinstance(node, ast.FunctionDef):
        raise _NotKnownError
    _name_loops_apart(node, count())
    parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    asked = [*parameters, *(each.arg for each in node.args.kwonlyargs)]
    if at + len(before) >= len(asked):
        raise _NotKnownError
    core = asked[at + len(before)]
    closure = inspect.getclosurevars(function)
    defaults = function.__defaults__ or ()
    names = {
        **closure.builtins,
        **closure.globals,
        **closure.nonlocals,
        **dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True)),
        **(function.__kwdefaults__ or {}),
        **dict(zip(parameters, before, strict=False)),
        **named,
    }
    inner = [
        each for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.Lambda) and each is not node
    ]
    within = {
        arg.arg for each in inner for arg in (*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs)
    }
    given = (set(asked) - set(names) - {core}) | within
    names_of_inner = frozenset(each.name for each in inner if isinstance(each, ast.FunctionDef))
    return _Scope(node, core, names, _assigned(node), names_of_inner, frozenset(given), [])


def _name_loops_apart(node: ast.AST, counted: Iterator[int]) -> None:
    """Give the names that a loop or comprehension sets another name in each, inner ones first."""
    for each in ast.iter_child_nodes(node):
        _name_loops_apart(each, counted)
    if isinstance(node, ast.For):
        _rename(node.target, node.body, next(counted))
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        value = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inside = [*value, *(test for each in node.generators for test in each.ifs)]
        for n, each in enumerate(node.generators):
            later = [other.iter for other in node.generators[n + 1 :]]
            _rename(each.target, [*inside, *later], next(counted))


def _rename(target: ast.expr, places: Iterable[ast.AST], number: int) -> None:
    names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    for place in (target, *places):
        for each in ast.walk(place):
            if isinstance(each, ast.Name) and each.id in names:
                each.id = f"{each.id}#{number}"


def _assigned(node: ast.AST) -> dict[str, list[tuple[ast.expr, tuple[int | None, ...]]]]:
    """What names are set to in a function: an expression and the way into its value; None = each element."""
    found: dict[str, list[tuple[ast.expr, tuple[int | None, ...]]]] = {}

    def note(target: ast.expr, value: ast.expr, way: tuple[int | None, ...]) -> None:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append((value, way))
        elif isinstance(target, ast.Tuple | ast.List):
            for n, each in enumerate(target.elts):
                note(each, value, (*way, n))

    for each in ast.walk(node):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                note(target, each.value, ())
        elif isinstance(each, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and each.value is not None:
            note(each.target, each.value, ())
        elif isinstance(each, ast.For | ast.comprehension):
            note(each.target, each.iter, (None,))
    return found


def _values(node: ast.expr, scope: _Scope, depth: int = 0) -> list[Any]:
    """All that an expression can be; empty where it is not known."""
    found: list[Any] = []
    if depth > 8:  # names that are set to each other
        return found
    if isinstance(node, ast.Constant):
        found = [node.value]
    elif isinstance(node, ast.Name):
        found = _of_name(node.id, scope, depth)
    elif isinstance(node, ast.Attribute):
        found = _mapped(_values(node.value, scope, depth + 1), lambda each: [getattr(each, node.attr)])
    elif isinstance(node, ast.Subscript):
        found = _of_subscript(node, scope, depth)
    elif isinstance(node, ast.IfExp):
        both = [_values(each, scope, depth + 1) for each in (node.body, node.orelse)]
        found = [*both[0], *both[1]] if all(both) else []
    elif isinstance(node, ast.Tuple | ast.List):
        parts = [_values(each, scope, depth + 1) for each in node.elts]
        found = [tuple(each[0] for each in parts)] if all(len(each) == 1 for each in parts) else []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        inside = _values(node.args[0], scope, depth + 1) if node.func.id in _PASSING_ON else []
        found = [list(enumerate(each)) if node.func.id == "enumerate" else each for each in inside]
    return found if len(found) <= _MOST_VALUES else []


def _of_subscript(node: ast.Subscript, scope: _Scope, depth: int) -> list[Any]:
    """An element that is known by its index, or all of which it is one; of a slice the whole."""
    things = _values(node.value, scope, depth + 1)
    if isinstance(node.slice, ast.Slice):
        scope.doubts.append(node)
        return things
    index = _values(node.slice, scope, depth + 1)
    if len(index) == 1:
        return _mapped(things, partial(_element, index=index[0]))
    scope.doubts.append(node)
    return _mapped(things, _held)


def _of_name(name: str, scope: _Scope, depth: int) -> list[Any]:
    if name in scope.given:
        return []
    if name not in scope.set:
        return [scope.names[name]] if name in scope.names else []
    found: list[Any] = []
    for expression, way in scope.set[name]:
        values = _values(expression, scope, depth + 1)
        for step in way:
            values = _mapped(values, _turns if step is None else partial(_element, index=step))
        if not values:
            return []
        found += values
    return found


def _element(thing: Any, index: Any) -> list[Any]:
    return [thing[index]] if isinstance(thing, list | tuple | dict) else []


def _held(thing: Any) -> list[Any]:
    """All that a subscript can give."""
    return [*thing.values()] if isinstance(thing, dict) else _turns(thing)


def _turns(thing: Any) -> list[Any]:
    """What a loop over it gives."""
    return [*thing] if isinstance(thing, list | tuple | dict) else []


def _mapped(values: Sequence[Any], step: Any) -> list[Any]:
    """What comes of all values; empty if nothing is known of one."""
    found: list[Any] = []
    for each in values:
        try:
            more = step(each)
        except (AttributeError, LookupError, TypeError, MemtileError):
            return []
        if not more:
            return []
        found += more
    return found
