"""What a kernel in Python does to locks, recorded by running it alone: with zeros, and with other words.

Nothing moves meanwhile and each action is taken to succeed. As far as both recordings agree the kernel does
so in every run; where they part, it depends on words, and from there on nobody knows. Recording runs the
code of a user: a kernel is recorded only if nothing of what it names can be changed by that for good.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from itertools import takewhile
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from memtile.arch.tiles import COMPUTE
from memtile.check.core_turns import Turn
from memtile.jit.tables import plain
from memtile.sim.kernels.actions import Accesses, EventInstruction, LockOperation, Wait
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine

_MOST = 1_000  # actions of a kernel
_WORDS = 7, 1 << 16
_FIXED = (
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type,
    ModuleType,
    BuiltinFunctionType,
    np.dtype,
    np.generic,
)
_CONTAINERS = (list, dict, set, np.ndarray)


class Recorded(NamedTuple):
    """What a kernel does.

    Attributes:
        turns: at locks, in order.
        ends: after these the kernel has come to its end; else nobody knows what follows.
    """

    turns: tuple[Turn, ...]
    ends: bool


def recorded_kernels(engine: Engine, functions: Mapping[int, Any]) -> dict[int, Recorded]:
    """What kernels do, by model index of their tiles; memory is as before.

    Args:
        engine: that stands still.
        functions: kernels by model index of their tiles.
    """
    memory = engine.state.memory
    copies = dict[int, tuple[Any, Any]]()
    functions = {tile: each for tile, each in functions.items() if _is_restorable(each, copies)}
    before, made = memory.copy(), list[dict[int, Recorded]]()
    try:
        for first, step in ((0, 0), _WORDS):
            memory[:] = np.uint32(first) + np.arange(len(memory), dtype=np.uint32) % 251 * np.uint32(step)
            made.append({tile: _alone(engine, tile, each) for tile, each in functions.items()})
    finally:
        memory[:] = before
        for value, copy in copies.values():
            if copy is not None:
                _put_back(value, copy)
    return {tile: _common(zeros, made[1][tile]) for tile, zeros in made[0].items()}


def _is_restorable(value: object, copies: dict[int, tuple[Any, Any]]) -> bool:
    """Whether all that a function or value holds is fixed, or a container of which a copy can be put back.

    Values of our package are buffers, locks and the like: what a kernel does to them are its actions. An
    iterator or an object of a user's class may change in ways that no copy undoes.

    Args:
        value: what a kernel names.
        copies: gets each container with its copy, by identity.
    """
    if isinstance(value, _FIXED) or id(value) in copies:
        return True
    copies[id(value)] = (value, value.copy() if isinstance(value, _CONTAINERS) else None)
    held: Iterable[object]
    if isinstance(value, np.ndarray):
        held = value.flat if value.dtype.hasobject else ()
    elif isinstance(value, dict):
        held = (*value, *value.values())
    elif isinstance(value, list | set | tuple | frozenset | range):
        held = value
    elif isinstance(value, partial):
        held = (value.func, *value.args, *value.keywords.values())
    elif _is_ours(getattr(value, "__module__", None)) or _is_ours(type(value).__module__):
        held = ()
    elif isinstance(value, FunctionType):
        names = value.__code__.co_freevars
        stored = ((each.opname, each.argval) for each in dis.get_instructions(value))
        if any(how == "STORE_GLOBAL" or (how == "STORE_DEREF" and name in names) for how, name in stored):
            return False
        cells = [each.cell_contents for each in value.__closure__ or ()]
        named = [value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__]
        held = (*cells, *named, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    else:
        return False
    return all(_is_restorable(each, copies) for each in held)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == __name__.partition(".")[0]


def _put_back(value: Any, copy: Any) -> None:
    """Give a container what it held."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value[...] = copy
    elif isinstance(value, list):
        value[:] = copy
    else:
        value.clear()
        value.update(copy)


def _common(one: Recorded, other: Recorded) -> Recorded:
    """What two recordings have in common."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one.turns, other.turns, strict=False))
    turns = tuple(turn for turn, _ in pairs)
    return Recorded(turns, one == other and one.ends)


def _alone(engine: Engine, tile: int, function: Any) -> Recorded:
    """What a kernel does with the words that memory holds."""
    turns = list[Turn]()
    actions, begun = _of_user(lambda: function(Core(engine.state, tile, "")))
    for _ in range(_MOST if begun else 0):
        action, went_on = _of_user(lambda: next(actions, None))
        if not went_on or action is None:
            return Recorded(tuple(turns), went_on)
        if isinstance(action, LockOperation):
            turns.append(_turn(engine, tile, action, _place(actions)))
        elif not isinstance(action, Wait | Accesses | EventInstruction):
            break  # its effect is not known
    return Recorded(tuple(turns), ends=False)


def _of_user(call: Callable[[], Any]) -> tuple[Any, bool]:
    """What code of a user gives, and whether it did not fail: it was not written for these words."""
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            return call(), True
    except Exception:
        return None, False


def _turn(engine: Engine, tile: int, action: LockOperation, place: str) -> Turn:
    spec = plain(engine.spec.tiles)
    side, number = divmod(action.lock, COMPUTE.locks)
    lock = int(spec.lock_base[int(spec.core_reach[tile][side])]) + number
    if not action.acquire:
        return Turn(lock, 0, action.value, place)
    return Turn(lock, abs(action.value), 0, place, action.value >= 0)


def _place(actions: Iterator[Any]) -> str:
    """The line at which a kernel is."""
    while inspect.isgenerator(inner := getattr(actions, "gi_yieldfrom", None)):
        actions = inner
    frame = getattr(actions, "gi_frame", None)
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
