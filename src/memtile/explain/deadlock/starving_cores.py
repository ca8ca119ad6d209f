"""Cores that wait for words: how many objects arrived, and which other objects a core does not take."""

from __future__ import annotations

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.sentences import Sentences
from memtile.explain.deadlock.switch_waits import Party


def came(waits: EngineWaits, core: Party) -> int:
    """Return how many BDs have ended on the channels that release the lock for which a core waits."""
    lock = Party(PartyKind.LOCK, waits.lock_wanted(core))
    givers = [need.of.number for need in waits.needs.get(lock, ()) if need.of.kind is PartyKind.CHANNEL]
    return sum(int(waits.engine.channels.bds_done[ch]) for ch in givers)


def left_by(waits: EngineWaits, core: Party) -> str:
    """Return the full objects that a core leaves in an object FIFO it has acquired from; empty if none."""
    engine = waits.engine
    taken = engine.cores.running[core.number].taken if core.number in engine.cores.running else ()
    for lock in sorted(taken):
        fifo, many = engine.fifo_locks.get(lock), int(engine.state.locks.value[lock])
        if fifo is not None and fifo.full and many >= fifo.units and lock != waits.lock_wanted(core):
            objects = "1 full object" if many == fifo.units else f"{many // fifo.units} full objects"
            return f"{objects} of @{fifo.fifo}"
    return ""


def starving_cores(waits: EngineWaits, words: Sentences, receiver: Party) -> list[Party]:
    """Return the cores that wait, directly or not, for a channel that has received no word of its BD.

    The channel itself is not at fault: the core acquires more than is sent, or too little is sent.
    """
    if receiver.kind is not PartyKind.CHANNEL or waits.engine.channels.moved[receiver.number] > 0:
        return []
    waiters: dict[Party, list[Party]] = {}
    for party, needs in waits.needs.items():
        for need in needs:
            waiters.setdefault(need.of, []).append(party)
    found, rest, seen = set[Party](), [receiver], {receiver}
    while rest:
        for party in waiters.get(rest.pop(), ()):
            if party.kind is PartyKind.CORE:
                found.add(party)
            elif party not in seen:
                seen.add(party)
                rest.append(party)
    return sorted((core for core in found if words.wanted(core)), key=lambda core: core.number)
