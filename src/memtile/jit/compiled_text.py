"""The text that compiled code is made of, as a hash: finer than that of whole files (``cache.source_hash``).

Bitcode that a checkout carries stays valid while docstrings of modules, tables and functions of Python
beside the compiled ones change. What it can depend on is found from its entry: the lines of each function,
the values of the globals and of the attributes of modules that it names, and so on through the parts that
it calls. ``jit`` itself counts with all its files. A value of an unknown kind makes the hash unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dis import get_instructions
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from memtile.jit.cache import source_hash
from memtile.jit.compiled_part import CompiledPart
from memtile.jit.struct_layout import layout_of
from memtile.jit.structs import Deferred

_PLAIN = (bool, int, float, str, type(None))
_OURS = __name__.rpartition(".")[0]


class UnknownValueError(Exception):
    """Compiled code names a global whose influence on it is not known."""


def text_hash(function: Callable[..., Any]) -> str:
    """Hash of all that the code of an entry is made of; empty = something of it is of an unknown kind."""
    try:
        digest = sha256(source_hash(()).encode())
        for part in sorted(parts_of(function), key=name_of):
            digest.update("\n".join((name_of(part), *_text(part))).encode())
    except (UnknownValueError, OSError, KeyError):  # KeyError: no struct of a kind was made so far
        return ""
    return digest.hexdigest()[:32]


def parts_of(function: Callable[..., Any]) -> set[FunctionType]:
    """The function and all parts that it may call, as they were written."""
    found: set[FunctionType] = set()
    waiting = [_written(function)]
    while waiting:
        part = waiting.pop()
        if part not in found:
            found.add(part)
            waiting += [
                _written(value) for value in _values(part).values() if isinstance(value, CompiledPart)
            ]
    return found


def name_of(part: FunctionType) -> str:
    """Module and name of a part."""
    return f"{part.__module__}.{part.__qualname__}"


def _written(function: Any) -> FunctionType:
    written = function.function if isinstance(function, CompiledPart) else function
    if (
        not isinstance(written, FunctionType)
        or written.__closure__
        or any(isinstance(c, CodeType) for c in written.__code__.co_consts)
    ):
        raise UnknownValueError(repr(function))
    return written


def _text(part: FunctionType) -> Iterator[str]:
    """The lines of a part, and what each name in it stands for."""
    code = part.__code__
    last = max(place[1] or place[0] or 0 for place in code.co_positions())
    yield from _lines(code.co_filename)[code.co_firstlineno - 1 : last]
    yield from map(_meaning, part.__defaults__ or ())
    yield from sorted(f"{name} = {_meaning(value)}" for name, value in _values(part).items())


@cache
def _values(part: FunctionType) -> dict[str, Any]:
    """The globals that a part names; of modules, the attributes that it names."""
    code, found = part.__code__, dict[str, Any]()
    names = {each.argval for each in get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    waiting = [(name, part.__globals__[name]) for name in names if name in part.__globals__]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, ModuleType):
            waiting += [
                (f"{name}.{each}", getattr(value, each)) for each in code.co_names if hasattr(value, each)
            ]
        else:
            found[name] = value
    return found


def _meaning(value: Any) -> str:
    """What compiled code sees of a value, as text."""
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name} {_meaning(value.value)}"
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"{type(value).__qualname__}({', '.join(map(_meaning, value))})"
    if isinstance(value, CompiledPart):
        return name_of(_written(value))
    if isinstance(value, Deferred):
        return f"{value.of} {layout_of(value.of) if isinstance(value.of, type) else ''}"
    if isinstance(value, type) and issubclass(value, Enum):
        return f"{value.__mro__} {', '.join(map(_meaning, value.__members__.values()))}"
    if getattr(value, "__module__", "").startswith((f"{_OURS}.", "builtins")):
        return f"{value.__module__}.{value.__qualname__}"
    raise UnknownValueError(repr(value))


@cache
def _lines(path: str) -> list[str]:
    return Path(path).read_text("utf-8").splitlines()
