"""What a lock can reach at most: what is passed round a circle of locks does not grow."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.explain.bd_chains import lock_seen
from memtile.explain.deadlock.build import Waits
from memtile.explain.deadlock.graph import Kind
from memtile.explain.deadlock.streams import Party


def most_possible(way: Sequence[Party], waits: Waits) -> int | None:
    """The most that any lock of a circle can come to; None where that is not known.

    Known where all that release one of the locks take as much from another one of them: then the sum of the
    locks never grows. Of a core that is taken for granted, if it holds nothing of them yet.

    Args:
        way: the parties of the circle.
        waits: of the run.
    """
    if any(party.kind not in (Kind.CHANNEL, Kind.LOCK, Kind.CORE) for party in way):
        return None
    engine, chains = waits.engine, waits.chains
    locks = {party.number for party in way if party.kind is Kind.LOCK}
    for lock in locks:
        if any(
            lock in running.released or lock in running.taken for running in engine.cores.running.values()
        ):
            return None
        for release in chains.releases.get(lock, ()):
            taken = chains.acquired(release.ch, release.bd)
            lock_taken = (
                None if taken is None else lock_seen(engine, int(engine.channels.tile[release.ch]), taken[0])
            )
            if (
                taken is None
                or lock_taken not in locks
                or -taken[1] < chains.released(release.ch, release.bd)
            ):
                return None
    return sum(int(engine.state.locks.value[lock]) for lock in locks)
