"""States of models that were just made: each kind of model is built once in a process, then copied.

Building tables for all tiles of a device takes longer than most runs of a small design. What never changes
(``Spec``) all models of a kind have in common, but for the timing constants.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from memtile.arch.timing import Timing
from memtile.model.build.model import build
from memtile.model.state.state import State
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.tile_door import Door
from memtile.sim.loop.engine_warmup import warm_up
from memtile.sim.loop.memory_pool import lend_pages
from memtile.sim.loop.partition import open_partition, stop_clocks

_KEPT = 4  # kinds of models; sweeps have one, or a few that differ in a timing constant
_PAGES = 1 << 18  # bytes from which on an array of zeros is not copied, but made anew
_CLEARED = 1 << 20  # bytes of memory up to which clearing that of a model before is quicker than new memory
LOGS = frozenset({"access_log"})
"""Arrays whose first row says how many others mean something: in a model that was just made, none."""


def fresh_state(placed: Sequence[Placed], timing: Timing, *, switched: bool, booted: bool) -> State:
    """The state of a model that was just made, its own.

    Args:
        placed: the tiles, in model order.
        timing: timing constants.
        switched: as for :func:`~memtile.model.build.model.build`.
        booted: as firmware leaves a partition; else as after reset.
    """
    return _copied(*_made(tuple(placed), timing, switched, booted))


@lru_cache(maxsize=_KEPT)
def _made(
    placed: tuple[Placed, ...], timing: Timing, switched: bool, booted: bool
) -> tuple[State, frozenset[str]]:
    """A state that nobody runs, and the names of its large arrays that are zero."""
    state = build(placed, timing, switched=switched)
    warm_up(state)  # before the first access: who waits for the compiler is told
    doors = [Door(state, tile) for tile in range(len(placed))]
    if booted:
        open_partition(state.spec, doors.__getitem__)
    else:
        stop_clocks(state.spec, doors.__getitem__)
    arrays = {name: getattr(state, name) for name in state._fields}
    large = [name for name, a in arrays.items() if not _is_table(a) and a.nbytes >= _PAGES]
    return state, frozenset(name for name in large if not arrays[name].any())


def _is_table(value: Any) -> bool:
    """Whether it is a table or a struct: records for compiled code, else a tuple of columns."""
    return isinstance(value, tuple) or value.dtype.names is not None


def _copied(state: State, zero: frozenset[str]) -> State:
    own = {name: _copy(getattr(state, name)) for name in state._fields if name != "spec" and name not in zero}
    empty = {name: _zeros(name, getattr(state, name)) for name in zero}
    spec = state.spec._replace(timing=_copy(state.spec.timing))
    return State(spec=spec, **own, **empty)


def _copy(table: Any) -> Any:
    """An array or a table; that of the interpreter is a tuple of columns of one array of records."""
    if not isinstance(table, tuple):
        return table.copy()
    records = table[0].base.copy()
    return type(table)(*(records[name] for name in table._fields))  # type: ignore[attr-defined]


def _zeros(name: str, like: Any) -> Any:
    """Zeros in pages of their own, of which the host gives those that are touched.

    Those of a model before are used again where they are written in most runs: memory that is used for the
    first time costs more than what is done with it. Of a log only the first row has to be zero.
    """
    count, used = like.size, like.shape[-1] if name in LOGS else like.size if name == "memory" else 0
    if not 0 < used * like.itemsize <= _CLEARED:
        return np.frombuffer(mmap.mmap(-1, like.nbytes), like.dtype).reshape(like.shape)
    found, new = lend_pages(count, like.dtype)
    if not new:
        found[:used] = 0
    return found.reshape(like.shape)
