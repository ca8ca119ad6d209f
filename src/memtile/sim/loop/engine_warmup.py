"""Compiling the engine ahead of its first use: ``memtile warmup``.

Everything that a run and the door need is compiled here and nowhere else, so that nobody waits twice.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from memtile.arch.tiles import MEMORY
from memtile.jit import decorators as jit
from memtile.jit.cache import cache_directory
from memtile.jit.structs import place_of
from memtile.model.build.model import build
from memtile.model.state.state import State
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop import compiled_model

_ready: list[float] = []  # seconds that it took, once the engine is there


def warm_up(state: State) -> float:
    """Compile or load the engine, once per process; says so on stderr if it compiles.

    Args:
        state: of any model; no time passes in it.

    Returns:
        The seconds that it took in this process.
    """
    if not jit.ENABLED:
        return 0.0
    if not _ready:
        start = time.perf_counter()
        place_of(state)
        with jit.compiling(jit.to_stderr, compiled_model.COMPILED, compiled_model.operate):
            compiled_model.settle(state)
        _ready.append(time.perf_counter() - start)
    return _ready[0]


class Ready(NamedTuple):
    """An engine that can be called.

    Attributes:
        seconds: that it took in this process.
        directory: of the cache; None = with ``MEMTILE_JIT=0`` there is nothing to compile, and no place.
        carried: the package has brought it, and the cache has none.
    """

    seconds: float
    directory: Path | None
    carried: bool


def ready() -> Ready:
    """Compile or load the engine."""
    if not jit.ENABLED:
        return Ready(0.0, None, False)
    seconds = warm_up(build([Placed(MEMORY.name)]))
    carried = (
        compiled_model.operate.in_cache() is None and compiled_model.operate.in_package().code is not None
    )
    return Ready(seconds, cache_directory(compiled_model.COMPILED), carried)
