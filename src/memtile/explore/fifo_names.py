"""Name the buffers that a lock counts: by their object FIFO, by the lock's own name, or by the lock."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memtile.explain.lock_waits import owner
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine

_MLIR_LOCK = re.compile(r"%?(.+?)(_cons)?_(?:prod|cons)_lock(?:_\d+)?")
_MANY_ENDS = re.compile(r"(.+)_\d+")
_OWN_LOCK = re.compile(r"(.+)[._ ](?:free|empty)")


def fifo_of(name: str, known: Collection[str]) -> str:
    """Return the object FIFO to which a lock of MLIR belongs, by the lock's name; empty if there is none.

    Args:
        name: of the lock. With one consumer ``in_cons_prod_lock_0``, for the second of several
            ``in_1_cons_prod_lock_0``.
        known: names of all channels; a channel has the name of its object FIFO.
    """
    found = _MLIR_LOCK.fullmatch(name)
    if found is None:
        return ""
    several = _MANY_ENDS.fullmatch(found[1])
    if found[2] and found[1] not in known and several and several[1] in known:
        return several[1]
    return found[1]


def buffers_of(engine: Engine, lock: int, labels: Sequence[str], known: Collection[str]) -> str:
    """Return the user's name for the buffers whose free ones a lock counts.

    Args:
        engine: of the run.
        lock: index of the lock.
        labels: of the channels that use the lock.
        known: names of all channels.
    """
    name = engine.lock_names.get(lock, "")
    if fifo := fifo_of(name, known):
        return f"@{fifo}"
    if found := _OWN_LOCK.fullmatch(name):
        return repr(found[1])
    buffers = next((repr(label) for label in labels if label), "")
    tile, number = owner(engine, lock)
    called = f"lock {number}{f' {name!r}' if name else ''} of tile {place(engine.spec, tile)}"
    return f"{buffers} ({called})" if buffers else f"the buffers of {called}"
