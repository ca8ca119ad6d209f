"""Of several streams that a core needs in each turn, the one that ends before the others.

A core that waits between turns lacks what one channel sends. Where all else that a turn takes is there, and
a channel waits for what the turn would make, that one channel sends too little.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.sentences import Sentences, receives
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.findings import Finding, Severity
from memtile.model.state.causes import Cause, Phase


def short_sender(sender: Party, core: Party, waits: EngineWaits, words: Sentences) -> Finding | None:
    """The finding that a channel sends too little for a core; None where others end as early.

    Args:
        sender: that has sent all.
        core: that waits for what it would send.
        waits: of the run.
        words: for sentences.
    """
    ready = _ready(core, waits)
    wanting = next(_wanting(core, waits), None)
    if not ready or wanting is None:
        return None
    name, who = words.name(sender), words.name(core)
    locks = " and ".join(map(words.lock, ready))
    has = "has" if len(ready) == 1 else "have"
    says = (
        f"{name} has sent all that it was asked for, and {who} {words.wanted(core)}; {locks} {has} what its "
        f"next turn takes, and {words.name(wanting)} waits for what that makes, at "
        f"{words.moved(wanting.number)}"
    )
    sides = (words.side(sender), words.side(core), words.side(wanting))
    fix = f"Let {name} send more, as often as the others of {who} do."
    return Finding("MT0304", Severity.ERROR, f"{says}.", sides, fix=fix)


def _ready(core: Party, waits: EngineWaits) -> list[int]:
    """The other locks of data that a core takes, if each was given more often and has a unit; else none."""
    running = waits.engine.cores.running.get(core.number)
    if running is None:
        return []
    value, own = waits.engine.state.locks.value, waits.lock_wanted(core)
    if _came(own, waits) <= 1:
        return []  # what is sent once may be meant to be taken once, before the turns
    others = [lock for lock in sorted(running.taken) if lock != own and _came(lock, waits)]
    if all(int(value[lock]) > 0 and _came(lock, waits) > _came(own, waits) for lock in others):
        return others
    return []


def _came(lock: int, waits: EngineWaits) -> int:
    """How often channels that receive have released a lock, as far as is known: data came with each."""
    channels = waits.chains.ever_released.get(lock, ())
    receivers = [ch for ch in channels if receives(waits, Party(PartyKind.CHANNEL, ch))]
    return sum(waits.chains.times_released(ch, lock) or 0 for ch in receivers)


def _wanting(core: Party, waits: EngineWaits) -> Iterator[Party]:
    """Channels with an end that are in the middle of their work and wait for words of a core, by others."""
    c = waits.engine.channels
    behind, rest = set[Party](), [core]
    while rest:
        last = rest.pop()
        for party, needs in waits.needs.items():
            if party not in behind and any(need.of == last for need in needs):
                behind.add(party)
                rest.append(party)
    for party in sorted(behind):
        ch = party.number
        if party.kind is not PartyKind.CHANNEL or c.phase[ch] == Phase.IDLE or waits.chains.loops(ch):
            continue
        if receives(waits, party) and c.why[ch] == Cause.STREAM_STARVED and c.moved[ch] > 0:
            yield party
