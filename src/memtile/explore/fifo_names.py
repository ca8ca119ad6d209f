"""What the buffers of a lock are called: an object FIFO, a ring of buffers, or the lock itself."""

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
    """The object FIFO of MLIR whose lock has a name; empty if it is none.

    Args:
        name: ``in_cons_prod_lock_0`` of one consumer, ``in_1_cons_prod_lock_0`` of the second of several.
        known: names of channels, which are called after their object FIFOs.
    """
    found = _MLIR_LOCK.fullmatch(name)
    if found is None:
        return ""
    several = _MANY_ENDS.fullmatch(found[1])
    if found[2] and found[1] not in known and several and several[1] in known:
        return several[1]
    return found[1]


def buffers_of(engine: Engine, lock: int, labels: Sequence[str], known: Collection[str]) -> str:
    """The object FIFO, or else the buffers, whose free ones a lock counts, as the user calls them.

    Args:
        engine: that has the lock.
        lock: its index.
        labels: of the channels that use it.
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
