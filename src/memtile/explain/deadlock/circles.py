"""Circles of waits: what kind of circle, how much can go round in it, and the sentence that names it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from memtile.explain.bd_chains import lock_seen
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.context import CIRCLE_BEFORE_A_RUN
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.sentences import Sentences, receives
from memtile.explain.deadlock.switch_waits import Need, Party
from memtile.explain.deadlock.wrong_locks import wrong_release
from memtile.explain.findings import Finding, Severity


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


_SENTENCE = {
    "MT0301": "A circle of waits",
    "MT0303": "Nobody can begin",
    "MT0307": "Packets that share an arbiter hold each other up",
    "MT0310": "Cores take the same locks in different orders",
}
_BREAK = "Break it in one place: one more buffer, another order of the waits, or another initial value."
_SEPARATE = (
    "Give the two packets different arbiters or circuits of their own, or let the receiver of the one that "
    "holds the arbiter take all of it without waiting for the other."
)
_SAME_ORDER = "Let all cores take these locks in the same order."


def circle_finding(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> Finding:
    """The finding about a circle.

    Args:
        way: the parties in order; each waits for the next one, the last for the first.
        waits: of the run.
        words: for its sentences.
    """
    made = _wrong_lock(way, waits, words) or _forgotten(way, waits, words) or _of_its_kind(way, waits, words)
    return made if waits.abstraction is None else replace(made, code=CIRCLE_BEFORE_A_RUN)


def _of_its_kind(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> Finding:
    code, fix = _kind(way, waits, words)
    if code == "MT0302":
        return _never(way, waits, words)
    says = "; ".join(_steps(way, waits, words))
    sides = [words.side(party) for party in way if party.kind is not PartyKind.LOCK]
    return Finding(code, Severity.ERROR, f"{_SENTENCE[code]}: {says}.", sides, fix=fix)


def need_between(party: Party, following: Party, waits: EngineWaits) -> Need:
    """Why a party of a circle waits for the next one."""
    return next(need for need in waits.needs[party] if need.of == following)


def _kind(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> tuple[str, str]:
    """Code and repair."""
    needs = [need_between(party, way[(n + 1) % len(way)], waits) for n, party in enumerate(way)]
    if any(need.via is Via.ARBITER for need in needs):
        return "MT0307", _SEPARATE
    locks = [party for party in way if party.kind is PartyKind.LOCK]
    if not _of_locks(way):
        return "MT0301", _BREAK
    if all(_holds(way, n, waits) for n, party in enumerate(way) if party.kind is PartyKind.LOCK):
        return "MT0310", _SAME_ORDER
    actors = [party for party in way if party.kind is not PartyKind.LOCK]
    empty = all(words.value(lock.number) == 0 for lock in locks)
    if empty and all(_fresh(party, waits) for party in actors):
        return "MT0303", _begin(way, waits, words)
    return ("MT0301", _BREAK) if _short(way, waits) is None else ("MT0302", "")


def _of_locks(way: Sequence[Party]) -> bool:
    """Whether all of a circle wait for locks."""
    return 2 * sum(party.kind is PartyKind.LOCK for party in way) == len(way)


def _holds(way: Sequence[Party], at: int, waits: EngineWaits) -> bool:
    """Whether the lock at a place of a circle was taken by the core after it."""
    after = way[(at + 1) % len(way)]
    return after.kind is PartyKind.CORE and way[at].number in waits.engine.cores.running[after.number].taken


def _fresh(party: Party, waits: EngineWaits) -> bool:
    """Whether a channel has done no descriptor, or a core has never had the lock that it waits for."""
    if waits.of_registers:
        return False  # nobody knows
    if party.kind is PartyKind.CORE:
        return waits.lock_wanted(party) not in waits.engine.cores.running[party.number].taken
    return party.kind is PartyKind.CHANNEL and not waits.engine.channels.bds_done[party.number]


def _short(way: Sequence[Party], waits: EngineWaits) -> tuple[Party, int] | None:
    """The party of a circle of locks that waits for more than all its locks hold, and how much that is."""
    if waits.of_registers and any(party.kind is PartyKind.CORE for party in way):
        return None  # what a core has taken, no register shows
    most = most_possible(way, waits)
    if most is None:
        return None
    for party in way:
        if party.kind is not PartyKind.LOCK and waits.operand(party) < 0 and -waits.operand(party) > most:
            return party, most
    return None


def _never(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> Finding:
    found = _short(way, waits)
    assert found is not None
    party, most = found
    says = (
        f"{words.name(party)} {words.wanted(party)}, and never more than {most}, for that is all that the "
        "locks which are passed round hold"
    )
    first = way.index(party)
    order = [*way[first:], *way[:first]]
    sides = [words.side(other) for other in order if other.kind is not PartyKind.LOCK]
    fix = "Wait for less, or begin with higher values."
    return Finding("MT0302", Severity.ERROR, f"{says}.", sides, fix=fix)


def _begin(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> str:
    """Which lock should begin with a value: that of who writes first."""
    writers = [party for party in way if _writes(party, waits)]
    first = (writers or [party for party in way if party.kind is not PartyKind.LOCK])[0]
    lock = words.lock(waits.lock_wanted(first))
    return f"Begin with {lock} at the number of free buffers: {words.name(first)} is to be the first."


def _writes(party: Party, waits: EngineWaits) -> bool:
    return receives(waits, party)


def _wrong_lock(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> Finding | None:
    """A core of the circle may release the lock that is waited for, but has released another one instead."""
    for n, party in enumerate(way):
        after = way[(n + 1) % len(way)]
        if party.kind is PartyKind.LOCK and need_between(party, after, waits).via is Via.MAY_RELEASE:
            found = wrong_release(party, way[n - 1], waits, words)
            if found is not None:
                return found
    return None


def _forgotten(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> Finding | None:
    """A core of the circle takes the same lock again and has never released the one that is waited for."""
    if not _of_locks(way):
        return None
    for n, party in enumerate(way):
        after, waiting = way[(n + 1) % len(way)], way[n - 1]
        if party.kind is not PartyKind.LOCK or need_between(party, after, waits).via is not Via.MAY_RELEASE:
            continue
        wanted = waits.lock_wanted(after)
        if wanted in waits.engine.cores.running[after.number].taken:
            core, lock = words.name(after), words.lock(party.number)
            says = (
                f"{words.name(waiting)} {words.wanted(waiting)}; {core} has taken {words.lock(wanted)} "
                f"before, waits for it again and has never released {lock}"
            )
            sides = (words.side(after), words.side(waiting))
            fix = f"Let {core} release {lock} in each turn."
            return Finding("MT0302", Severity.ERROR, f"{says}.", sides, fix=fix)
    return None


def _steps(way: Sequence[Party], waits: EngineWaits, words: Sentences) -> Iterator[str]:
    """One part of the sentence for each one that acts."""
    for n, party in enumerate(way):
        after = way[(n + 1) % len(way)]
        if party.kind is PartyKind.LOCK:
            continue
        text = f"{words.name(party)} {words.need(party, need_between(party, after, waits))}"
        if after.kind is PartyKind.LOCK:
            giver = way[(n + 2) % len(way)]
            may = need_between(after, giver, waits).via is Via.MAY_RELEASE
            text += f", which {words.name(giver)} {'may' if may else 'would'} release"
        yield text
