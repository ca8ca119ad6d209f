"""Whether a kernel without end that waits for a lock has come to a good end, or is stuck.

It has when more work could still come to it: among those who release the lock, and those who release what
these wait for, somebody waits for words from outside. It has too when those who gave it work have ended. A
wait for a lock that nobody ever gave, and a circle of those who wait for each other, are no good end. A wait
at a cascade is one for the core at its other end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from memtile.explain.bd_chains import BdChains, lock_seen
from memtile.explain.link_waits import awaited
from memtile.explain.lock_waits import owner
from memtile.model.state.causes import Cause, CorePhase, Phase
from memtile.sim.engine import Engine

Party = tuple[str, int]  # CORE or CHANNEL, and the model index
CORE, CHANNEL = "core", "channel"
_WORDS = -1  # instead of a lock: waits for no lock
_NOBODY = -2  # waits for what nobody can give
_CASCADE = -3  # and below: waits for core _CASCADE - lock, at the other end of its cascade


def good_waits(engine: Engine, chains: BdChains) -> Set[int]:
    """Cores whose kernels, if they are endless, may wait for a lock when a run ends.

    Args:
        engine: the model, in which nothing moves.
        chains: of its channels.
    """
    parties = [*_channels(engine), *_kernels(engine)]
    givers = _givers(engine, chains, parties)
    waits = {party: _wait(engine, party) for party in parties}
    hopeful = {party for party in parties if _may_end_there(*waits[party], givers)}
    grows = True
    while grows:
        more = {
            party
            for party, (lock, _) in waits.items()
            if party not in hopeful and not hopeful.isdisjoint(givers.get(lock, frozenset()))
        }
        hopeful |= more
        grows = bool(more)
    return {index for what, index in hopeful if what == CORE}


def _may_end_there(lock: int, had: bool, givers: Mapping[int, Set[Party]]) -> bool:
    """Whether the party waits for words, or for a lock that it had before and whose givers have all ended."""
    return lock == _WORDS or (had and not givers.get(lock))


def _channels(engine: Engine) -> Iterator[Party]:
    phase = engine.channels.phase
    return ((CHANNEL, ch) for ch in engine.channels_in_use() if phase[ch] not in (Phase.IDLE, Phase.HALTED))


def _kernels(engine: Engine) -> Iterator[Party]:
    phase = engine.state.cores.phase
    return ((CORE, core) for core in engine.cores.running if phase[core] != CorePhase.DONE)


def _givers(engine: Engine, chains: BdChains, parties: list[Party]) -> dict[int, set[Party]]:
    """The parties that will release each lock if they continue: by a BD chain, or as a kernel did before.

    A kernel that has released none yet may release any that it sees and that nobody else will release.
    """
    found: dict[int, set[Party]] = {}
    known = set(parties)
    for lock, releases in chains.releases.items():
        there = {(CHANNEL, release.ch) for release in releases} & known
        if there:
            found[lock] = there
    for what, index in parties:
        for lock in engine.cores.running[index].released if what == CORE else ():
            found.setdefault(lock, set()).add((what, index))
    for asking in parties:
        lock, _ = _wait(engine, asking)
        if lock <= _CASCADE and (CORE, _CASCADE - lock) in known:
            found[lock] = {(CORE, _CASCADE - lock)}
        if lock < 0 or lock in found:
            continue
        tile, _ = owner(engine, lock)
        new = {core for what, core in parties if what == CORE and not engine.cores.running[core].released}
        may = {(CORE, core) for core in new if (CORE, core) != asking and _reaches(engine, core, tile)}
        if may:
            found[lock] = may
    return found


def _reaches(engine: Engine, core: int, tile: int) -> bool:
    return tile in engine.spec.tiles.core_reach[engine.state.cores.tile[core]]


def _wait(engine: Engine, party: Party) -> tuple[int, bool]:
    """The lock that a party waits for, or what stands for one, and whether it had it before."""
    what, index = party
    if what == CORE:
        cores, running = engine.state.cores, engine.cores.running[index]
        lock, beside = int(cores.target[index]), awaited(engine, index)
        if beside is not None:
            had = CorePhase(int(cores.phase[index])) in running.links
            return (_CASCADE - beside if beside >= 0 else _NOBODY), had and beside >= 0
        if cores.phase[index] != CorePhase.ACQUIRE:
            return _WORDS, True  # it works
        return lock, lock in running.taken
    c = engine.channels
    if Cause(int(c.why[index])) is not Cause.LOCK_ACQUIRE:
        return _WORDS, True
    seen = lock_seen(engine, int(c.tile[index]), int(c.acquire_lock[index]))
    return (_WORDS, True) if seen is None else (seen, bool(c.bds_done[index] > 0))
