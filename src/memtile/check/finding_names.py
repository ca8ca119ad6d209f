"""Names of locks, channels and descriptors in findings."""

from __future__ import annotations

from memtile.check.task_list import GivenTask, StaticBd
from memtile.explain.lock_waits import owner
from memtile.explain.names import called
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine


def lock_text(engine: Engine, lock: int) -> str:
    """``lock 3 'full' of tile (0, 1)``; the tile only where there are several."""
    tile, local = owner(engine, lock)
    name = engine.lock_names.get(lock)
    whose = f" of tile {place(engine.spec, tile)}" if len(engine.spec.tiles.kind) > 1 else ""
    return f"lock {local}{f' {name!r}' if name else ''}{whose}"


def bd_text(engine: Engine, task: GivenTask, bd: StaticBd) -> str:
    """``memory(0,1) MM2S 0 'a' (BD 3)``."""
    return f"{called(engine, task.ch)} (BD {bd.number})"
