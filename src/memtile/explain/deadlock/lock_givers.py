"""Who would release a lock: channels by their descriptors, cores by what they did, and who no longer will."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.switch_waits import Need, Party
from memtile.explain.lock_waits import owner
from memtile.jit.tables import plain
from memtile.model.dma.channel_registers import QUEUE_START_BD_MASK
from memtile.model.state.causes import CorePhase, Phase
from memtile.sim.kernels.kernel_core import RELEASES
from memtile.sim.loop.engine import Engine


class Givers:
    """The parties that release the locks of a stopped engine.

    Args:
        engine: the model.
        chains: of its channels.
    """

    def __init__(self, engine: Engine, chains: BdChains) -> None:
        self._engine, self._chains = engine, chains

    def all_of(self, lock: int) -> list[Need]:
        """All who would release a lock if they went on, sure or not; else those that have ended."""
        going_on = [*self._sure(lock), *self._cores_that_may(lock)]
        return list(dict.fromkeys(going_on or [*self._over(lock)] or self._idle_cores(lock)))

    def of(self, lock: int, waiting: Party) -> list[Need]:
        """The parties that could end the wait of ``waiting`` for a lock; empty if none is left.

        First those who will if they go on; without any the cores that reach the lock; then those that have
        released it and have no more work, and cores that nobody gave a program.
        """
        ways = (self._sure, self._cores_that_may, self._before, self._over, self._idle_cores)
        for way in ways:
            found = [need for need in way(lock) if need.of != waiting]
            if found:
                return list(dict.fromkeys(found))
        return []

    def reaching(self, lock: int) -> Iterator[int]:
        """Cores that reach a lock, whether or not they have a kernel; model indices."""
        tile, _ = owner(self._engine, lock)
        yield from self._reaching.get(tile, ())

    def ended(self, core: int) -> bool:
        """Whether a core's kernel has come to its end."""
        return bool(self._engine.state.cores.phase[core] == CorePhase.DONE)

    @cached_property
    def _reaching(self) -> dict[int, list[int]]:
        """Cores by the tiles whose locks they see."""
        tiles, found = plain(self._engine.spec.tiles), dict[int, list[int]]()
        for core, tile in enumerate(plain(self._engine.state.cores).tile.tolist()):
            for seen in tiles.core_reach[tile].tolist():
                if seen >= 0:
                    found.setdefault(seen, []).append(core)
        return found

    @cached_property
    def _lost(self) -> dict[int, list[int]]:
        """Channels by the locks that the task of a dropped push would have released."""
        c, found = self._engine.channels, dict[int, list[int]]()
        known = (c.pushes_lost > 0) & (c.lost_push >= 0)
        for ch in np.flatnonzero(known).tolist():
            for lock in self._chains.released_from(ch, int(c.lost_push[ch]) & QUEUE_START_BD_MASK):
                found.setdefault(lock, []).append(ch)
        return found

    @cached_property
    def _spent(self) -> dict[int, list[int]]:
        """Idle channels by the lock that their last descriptor released."""
        c, found = self._engine.channels, dict[int, list[int]]()
        idle = (c.phase == Phase.IDLE) & (c.bds_done > 0) & (c.release_value > 0)
        for ch in np.flatnonzero(idle).tolist():
            lock = lock_seen(self._engine, int(c.tile[ch]), int(c.release_lock[ch]))
            if lock is not None:
                found.setdefault(lock, []).append(ch)
        return found

    @cached_property
    def _released(self) -> dict[int, list[int]]:
        """Cores by the locks that their kernels have released."""
        found = dict[int, list[int]]()
        for core, running in sorted(self._engine.cores.running.items()):
            for lock in running.released:
                found.setdefault(lock, []).append(core)
        return found

    def _sure(self, lock: int) -> Iterator[Need]:
        for release in self._chains.releases.get(lock, ()):
            yield Need(Party(PartyKind.CHANNEL, release.ch), Via.RELEASE)
        for core in self._released.get(lock, ()):
            if not self.ended(core):
                yield Need(Party(PartyKind.CORE, core), Via.RELEASE)
        for ch in self._lost.get(lock, ()):
            yield Need(Party(PartyKind.CHANNEL, ch), Via.RELEASE)

    def _cores_that_may(self, lock: int) -> Iterator[Need]:
        for core in self.reaching(lock):
            if self._works(core) and self._has_in_its_text(core, lock):
                yield Need(Party(PartyKind.CORE, core), Via.MAY_RELEASE)

    def _works(self, core: int) -> bool:
        return core in self._engine.cores.running and not self.ended(core)

    def _has_in_its_text(self, core: int, lock: int) -> bool:
        """Whether a core may release a lock, as far as its text says it."""
        function = self._engine.cores.running[core].function
        known: frozenset[int] | None = getattr(function, RELEASES, None)
        return known is None or lock in known

    def _before(self, lock: int) -> Iterator[Need]:
        """Where those who gave a lock have ended, all cores beside it: their work may be done."""
        if any(True for _ in self._over(lock)):
            for core in self.reaching(lock):
                if self._works(core):
                    yield Need(Party(PartyKind.CORE, core), Via.MAY_RELEASE)

    def _over(self, lock: int) -> Iterator[Need]:
        for core in self._released.get(lock, ()):
            yield Need(Party(PartyKind.CORE, core), Via.RELEASE)
        for ch in self._spent.get(lock, ()):
            yield Need(Party(PartyKind.CHANNEL, ch), Via.RELEASE)

    def _idle_cores(self, lock: int) -> Iterator[Need]:
        """The core of the lock's own tile, if it never had a program."""
        tile, _ = owner(self._engine, lock)
        core = int(plain(self._engine.spec.tiles).core[tile])
        if core >= 0 and core not in self._engine.cores.running:
            yield Need(Party(PartyKind.CORE, core), Via.MAY_RELEASE)
