"""What a lock can reach at most: what is passed round a circle of locks does not grow."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memtile.explain.bd_chains import lock_seen
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.switch_waits import Party


def most_possible(way: Sequence[Party], waits: EngineWaits) -> int | None:
    """The most that any lock of a circle can come to; None where that is not known.

    Known where all that release one of the locks take as much from them before: then the sum of the locks
    never grows. Of a core that is taken for granted, if it holds nothing of them yet.

    Args:
        way: the parties of the circle.
        waits: of the run.
    """
    if any(party.kind not in (PartyKind.CHANNEL, PartyKind.LOCK, PartyKind.CORE) for party in way):
        return None
    engine, chains = waits.engine, waits.chains
    locks = {party.number for party in way if party.kind is PartyKind.LOCK}
    for running in engine.cores.running.values():
        if locks & (running.released | running.taken):
            return None
    givers = [release for lock in locks for release in chains.releases.get(lock, ())]
    if any(release.queued or _gives_more(release.ch, locks, waits) for release in givers):
        return None
    return sum(int(engine.state.locks.value[lock]) for lock in locks)


def _gives_more(ch: int, locks: Collection[int], waits: EngineWaits) -> bool:
    """Whether a channel, from its present descriptor on, ever releases more of the locks than it took."""
    engine, chains = waits.engine, waits.chains
    tile, present, chain = int(engine.channels.tile[ch]), int(engine.channels.bd[ch]), chains.of(ch)
    first = chain.index(present) if present in chain else 0
    held = 0
    for bd in (*chain[first:], *chain[:first]):
        taken, given = chains.acquired(ch, bd), chains.release(ch, bd)
        if taken is not None and lock_seen(engine, tile, taken[0]) in locks:
            held += -taken[1]
        if given is not None and lock_seen(engine, tile, given[0]) in locks:
            held -= given[1]
        if held < 0:
            return True
    return False
