"""What a kernel in Python does to locks, recorded by running it alone: with zeros, and with other words.

Nothing moves meanwhile and each action is taken to succeed. As far as both recordings agree the kernel does
so in every run; where they part, it depends on words, and from there on nobody knows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from itertools import takewhile
from os import devnull
from typing import Any, NamedTuple

import numpy as np

from memtile.check.core_turns import Turn
from memtile.jit.tables import plain
from memtile.sim.kernels.actions import Accesses, EventInstruction, LockOperation, Wait
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine

_MOST = 1_000  # actions of a kernel
_LOCKS = 16  # of each tile that a core sees
_WORDS = 0x01010101, 1 << 16


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
    before, made = memory.copy(), list[dict[int, Recorded]]()
    try:
        for first, step in ((0, 0), _WORDS):
            memory[:] = np.uint32(first) + np.arange(len(memory), dtype=np.uint32) % 251 * np.uint32(step)
            made.append({tile: _alone(engine, tile, each) for tile, each in functions.items()})
    finally:
        memory[:] = before
    return {tile: _common(zeros, made[1][tile]) for tile, zeros in made[0].items()}


def _common(one: Recorded, other: Recorded) -> Recorded:
    """What two recordings have in common."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one.turns, other.turns, strict=False))
    turns = tuple(turn for turn, _ in pairs)
    return Recorded(turns, one == other and one.ends)


def _alone(engine: Engine, tile: int, function: Any) -> Recorded:
    """What a kernel does with the words that memory holds."""
    turns, ends = list[Turn](), False
    try:
        with open(devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            actions = function(Core(engine.state, tile, ""))
            for _ in range(_MOST):
                action = next(actions, None)
                if action is None:
                    ends = True
                    break
                if isinstance(action, LockOperation):
                    turns.append(_turn(engine, tile, action, _place(actions)))
                elif not isinstance(action, Wait | Accesses | EventInstruction):
                    break  # what comes of it is not known
    except Exception:
        ends = False  # code of a user, with words that it was not written for: what follows is not known
    return Recorded(tuple(turns), ends)


def _turn(engine: Engine, tile: int, action: LockOperation, place: str) -> Turn:
    spec = plain(engine.spec.tiles)
    seen = int(spec.core_reach[tile][action.lock // _LOCKS])
    lock = int(spec.lock_base[seen]) + action.lock % _LOCKS
    if not action.acquire:
        return Turn(lock, 0, action.value, place)
    return Turn(lock, abs(action.value), 0, place, action.value >= 0)


def _place(actions: Iterator[Any]) -> str:
    """The line at which a kernel is."""
    while inspect.isgenerator(inner := getattr(actions, "gi_yieldfrom", None)):
        actions = inner
    frame = getattr(actions, "gi_frame", None)
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
