"""Releases that go to the lock of another ring.

Who takes from a ring gives back: one channel waits for lock *room* and gives *data*, another one takes *data*
and gives *room*. Where nobody gives *room*, and who takes *data* gives a lock that somebody else gives
already, that one stands where *room* was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memtile.explain.bd_chains import BdChains
from memtile.sim.engine import Engine


class Swap(NamedTuple):
    """A release that goes to the wrong lock; channels and locks by their indices in the model.

    Attributes:
        giver: channel that releases.
        gives: lock that it releases.
        meant: lock that nobody releases.
        waiting: channel that takes from that one.
    """

    giver: int
    gives: int
    meant: int
    waiting: int


def swaps(engine: Engine, chains: BdChains) -> Iterator[Swap]:
    """All such releases of the channels' present tasks, or of their last ones."""
    steps = chains.lock_steps()
    by_cores = {lock for running in engine.cores.running.values() for lock in running.released}
    given = {gives for _, _, gives in steps if gives is not None} | by_cores
    for waiting, meant, data in steps:
        if meant is None or data is None or meant in given or data == meant:
            continue
        for giver, takes, gives in steps:
            if giver == waiting or takes != data or gives is None:
                continue
            others = {ch for ch, _, lock in steps if lock == gives and ch != giver}
            if others or gives in by_cores:
                yield Swap(giver, gives, meant, waiting)
