"""Chains of BDs as the descriptors link them: of a channel's running task, and of those in its queue."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.model.dma import bd_fields
from memtile.model.dma.registers import QUEUE_START_BD_MASK
from memtile.sim.engine import Engine


def chain(engine: Engine, ch: int) -> tuple[int, ...]:
    """BD numbers of the running task's chain, each once; where it loops, up to the loop."""
    return _follow(engine, ch, int(engine.state.channels.task_bd[ch]))


def next_bd(engine: Engine, ch: int, bd: int) -> int:
    """The BD after ``bd`` in its chain; -1 = none."""
    linked = bd_field(engine, ch, bd, bd_fields.USE_NEXT_BD)
    return bd_field(engine, ch, bd, bd_fields.NEXT_BD) if linked else -1


def bds_to_come(engine: Engine, ch: int) -> Iterator[tuple[int, bool]]:
    """BDs that a channel has still to end, in the order of their chains, and whether their task is queued."""
    c = engine.channels
    running = chain(engine, ch)
    if running and not c.runs_left[ch]:
        left = _follow(engine, ch, int(c.bd[ch]))
        running = tuple(bd for bd in running if bd in left)
    yield from ((bd, False) for bd in running)
    for word in c.queue[ch, : c.queue_count[ch]].tolist():
        yield from ((bd, True) for bd in _follow(engine, ch, word & QUEUE_START_BD_MASK) if bd not in running)


def bd_field(engine: Engine, ch: int, bd: int, field: int) -> int:
    """A field of a BD of the channel's tile; ``field`` is one of ``model.dma.bd_fields``."""
    tile = int(engine.state.channels.tile[ch])
    return int(bd_fields.read_field(engine.state, tile, bd, field))


def _follow(engine: Engine, ch: int, bd: int) -> tuple[int, ...]:
    """BD numbers of the chain from ``bd`` on, as in :func:`chain`."""
    seen: dict[int, None] = {}
    while bd >= 0 and bd not in seen:
        seen[bd] = None
        bd = next_bd(engine, ch, bd)
    return tuple(seen)
