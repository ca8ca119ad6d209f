"""Designs that are made once and run with one set of timing constants after another.

A process keeps the last ones: variants that differ in timing constants alone come one after another. A design
that is run twice without being made twice has the same kernels. They may count, collect or draw numbers in
variables outside; then the second run would begin where the first one ended. So a design is kept only if what
its kernels close over, call and name is known, and is run again only if that is as it was.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property, partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

import numpy as np

from memtile.arch.timing import noting_looks
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.errors import MemtileError
from memtile.explore.sweep.variant_figures import static_bound
from memtile.sim.loop.rewind import RUN_ONLY, ModelStart, can_rewind

_MOST = 1 << 20  # bytes of arrays that are kept
_PLAIN = (int, float, complex, str, bytes, NoneType, range, slice, Enum, np.generic, np.dtype)
_INSTALLED = {"memtile", "numpy", "ml_dtypes"}
"""Packages whose functions, classes and objects kernels do not change, as those of Python."""
_STATEFUL = {"random", "secrets", "uuid", "time", "datetime", "os", "itertools"}
"""Modules, and names in modules, from which a kernel gets something else each time."""
_LIBRARY = os.path.dirname(os.__file__)


class Unchanged:
    """Functions, and all that what they do hangs on, as it is now.

    Args:
        functions: of a design.

    Attributes:
        known: False if there is something among it of which nobody can tell whether it changes.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self._seen: dict[int, object] = {}
        self._same: list[Callable[[], bool]] = []
        self._bytes = 0
        self.known = all(self._is_known(function) for function in functions)

    @property
    def holds(self) -> bool:
        """Whether all of it is still as it was."""
        return self.known and all(same() for same in self._same)

    def _is_known(self, value: object) -> bool:
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return True
        self._seen[id(value)] = value
        looks: tuple[tuple[type | tuple[type, ...], Callable[[Any], bool]], ...] = (
            (FunctionType, self._function),
            (MethodType, lambda method: self._all((method.__func__, method.__self__))),
            (partial, lambda made: self._all((made.func, made.args, made.keywords))),
            (CodeType, self._code),
            ((tuple, frozenset), self._all),
            ((list, set), lambda items: self._items(items, list)),
            (dict, lambda items: self._items(items, dict)),
            (np.ndarray, self._array),
            (ModuleType, lambda module: _is_steady(module.__name__)),
            (BuiltinFunctionType, lambda made: _is_steady(made.__module__)),
            (type, self._class),
        )
        for kinds, known in looks:
            if isinstance(value, kinds):
                return known(value)
        return self._object(value)

    def _all(self, values: Iterable[object]) -> bool:
        return all(self._is_known(value) for value in values)

    def _function(self, function: FunctionType) -> bool:
        if _is_library(function.__module__):
            return _is_steady(function.__module__)
        cells = function.__closure__ or ()
        self._same += [partial(_holds, cell, _content(cell)) for cell in cells]
        names = {name for code in _codes(function.__code__) for name in code.co_names}
        if names & _STATEFUL:
            return False
        named = {name: value for name, value in function.__globals__.items() if name in names}
        self._same += [partial(_is, function.__globals__, name, value) for name, value in named.items()]
        defaults = (function.__defaults__, function.__kwdefaults__)
        return self._all((*map(_content, cells), *named.values(), *defaults))

    def _code(self, _: CodeType) -> bool:
        return True

    def _items(self, items: Any, kind: type) -> bool:
        kept = list(items.items() if kind is dict else items)
        self._same.append(lambda: _identical(list(items.items() if kind is dict else items), kept))
        return self._all(part for item in kept for part in (item if kind is dict else (item,)))

    def _array(self, array: np.ndarray[Any, Any]) -> bool:
        self._bytes += array.nbytes
        if array.dtype.hasobject or self._bytes > _MOST:
            return False
        kept = array.copy()
        self._same.append(lambda: np.array_equal(array.view(np.uint8), kept.view(np.uint8)))
        return True

    def _class(self, kind: type) -> bool:
        if _is_library(kind.__module__):
            return True
        own = {name: value for name, value in vars(kind).items() if not name.startswith("__")}
        called = [value for name, value in vars(kind).items() if isinstance(value, FunctionType)]
        self._same.append(lambda: all(vars(kind).get(name) is value for name, value in own.items()))
        return self._all((*called, *filter(_is_data, own.values()), *kind.__bases__))

    def _object(self, value: object) -> bool:
        """An object of a class: of ours, or with attributes by name."""
        if type(value).__module__.partition(".")[0] == "memtile":
            return True
        if is_dataclass(value):
            attributes: Mapping[str, object] = {f.name: getattr(value, f.name) for f in fields(value)}
            self._same.append(lambda: all(getattr(value, n) is a for n, a in attributes.items()))
            return self._is_known(type(value)) and self._all(attributes.values())
        if _is_library(type(value).__module__) or not hasattr(value, "__dict__"):
            return False
        return self._is_known(type(value)) and self._is_known(vars(value))


def _is_data(value: object) -> bool:
    """Whether what a class has is a value, and no function or descriptor of one."""
    return not isinstance(value, FunctionType | property | staticmethod | classmethod) and not hasattr(
        value, "__get__"
    )


@cache
def _is_library(module: str | None) -> bool:
    """Whether a module is Python's, or one that many designs have, and not a file beside a design."""
    package = (module or "builtins").partition(".")[0]
    file = getattr(sys.modules.get(package), "__file__", None) or _LIBRARY
    return package in _INSTALLED or (package in sys.stdlib_module_names and file.startswith(_LIBRARY))


def _is_steady(module: str | None) -> bool:
    return _is_library(module) and (module or "").partition(".")[0] not in _STATEFUL


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


_EMPTY = object()


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not given yet
        return None


def _holds(cell: CellType, value: object) -> bool:
    return _content(cell) is value


def _is(names: Mapping[str, object], name: str, value: object) -> bool:
    return names.get(name, _EMPTY) is value


def _identical(now: list[Any], before: list[Any]) -> bool:
    """Whether these are the objects of before in their order; of pairs their parts."""
    return len(now) == len(before) and all(map(_one, now, before))


def _one(now: Any, before: Any) -> bool:
    pairs = type(now) is type(before) is tuple and len(now) == len(before) == 2
    return now is before or (pairs and now[0] is before[0] and now[1] is before[1])


_KEPT = 2  # designs; each may have some megabytes
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Prepared:
    """A design that is ready to run.

    Attributes:
        made: it.
        start: puts its model back to where it was; None = it is not known to do the same again.
        kernels: what its kernels hang on; None likewise.
    """

    made: MemoryTile | Array
    start: ModelStart | None = None
    kernels: Unchanged | None = None

    @cached_property
    def bound(self) -> int:
        """Cycles that no run of it can be shorter than, whatever the timing constants; asked before a run."""
        return static_bound(self.made)

    def again(self) -> bool:
        """Put the design back to its beginning; False if that cannot be done."""
        if self.start is None or self.kernels is None or not self.kernels.holds:
            return False
        return self.start.rewind()


_known: OrderedDict[Hashable, Prepared | MemtileError] = OrderedDict()


def prepared(key: Hashable, timing: Mapping[str, object], make: Callable[[], MemoryTile | Array]) -> Prepared:
    """A design, made or put back to its beginning, with the timing constants in force.

    Args:
        key: what it is made of; equal keys are equal designs.
        timing: the constants that are in force and may differ between calls.
        make: makes it, routed.

    Raises:
        MemtileError: as ``make`` does; with the same words where it is known that it would.
    """
    if not timing or not timing.keys() <= RUN_ONLY:
        return Prepared(make())
    with _LOCK:
        found = _known.pop(key, None)
    if isinstance(found, MemtileError):
        keep(key, found)
        raise found
    if found is not None and found.again():
        return found
    with noting_looks() as looks:
        try:
            made = make()
        except MemtileError as error:
            if not looks:
                keep(key, error)
            raise
    engine = made.engine
    if looks or not can_rewind(engine) or _has_hosts(made):
        return Prepared(made)
    kernels = Unchanged(running.function for running in engine.cores.running.values() if running.function)
    return Prepared(made, ModelStart(engine), kernels) if kernels.known else Prepared(made)


def keep(key: Hashable, what: Prepared | MemtileError) -> None:
    """Keep a design whose run is over, or why there is none."""
    if isinstance(what, Prepared) and what.start is None:
        return
    with _LOCK:
        _known[key] = what
        while len(_known) > _KEPT:
            _known.popitem(last=False)


def _has_hosts(made: MemoryTile | Array) -> bool:
    return bool((made if isinstance(made, Array) else made.bench).hosts)
