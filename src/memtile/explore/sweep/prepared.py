"""Designs that are made once and run with one set of timing constants after another.

A process keeps the last ones: variants that differ in timing constants alone come one after another.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

from memtile.arch.timing import noting_looks
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.errors import MemtileError
from memtile.explore.sweep.unchanged import Unchanged
from memtile.explore.sweep.variant_figures import static_bound
from memtile.sim.loop.rewind import RUN_ONLY, ModelStart, can_rewind

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
