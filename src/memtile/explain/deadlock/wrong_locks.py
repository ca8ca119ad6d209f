"""Releases that go to a lock nobody waits for, while another one gets none, and packets that write locks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.sentences import UNRELEASED, Sentences
from memtile.explain.deadlock.switch_waits import Party
from memtile.explain.evidence import Evidence
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.lock_waits import Swap, owner, swaps
from memtile.explain.lock_windows import WaitingBd, other_window
from memtile.explain.switch_ways import answered_without_task
from memtile.sim.kernels.kernel_core import place

_BOTH = 2  # channels that release one lock, of which one was to release another


def wrong_release(lock: Party, waiting: Party, waits: EngineWaits, words: Sentences) -> Finding | None:
    """The finding that somebody gives to another lock what ``waiting`` waits for; None if nobody does.

    Args:
        lock: that gets no release.
        waiting: who waits for it.
        waits: of the run.
        words: for its sentences.
    """
    if waits.of_registers:  # who has taken a lock before, or will, no register shows
        return _of_neighbour(waiting, waits, words)
    for other, giver in _useless(lock.number, waits):
        if giver == waiting:
            continue
        name = words.name(giver)
        says = (
            f"{words.name(waiting)} {words.wanted(waiting)}; {name} releases {words.lock(other)} instead, "
            f"which {_unused(other, waits)}"
        )
        sides = (words.side(giver, f"releases {words.lock(other)}"), words.side(waiting))
        fix = f"Let {name} release {words.lock(lock.number)}."
        return Finding("MT0305", Severity.ERROR, f"{says}.", sides, fix=fix)
    for swap in swaps(waits.engine, waits.chains):
        if swap.meant == lock.number and waiting == Party(PartyKind.CHANNEL, swap.waiting):
            return _swapped(swap, waiting, waits, words)
    found = _given_twice(lock, waiting, waits, words) or _kept(lock, waiting, waits, words)
    found = found or _own_wait(lock, waits, words)
    return found or _of_neighbour(waiting, waits, words)


def _of_neighbour(waiting: Party, waits: EngineWaits, words: Sentences) -> Finding | None:
    """A channel that waits for the lock of a neighbour, where others release its own one of that number."""
    if waiting.kind is not PartyKind.CHANNEL:
        return None
    c, ch, chains = waits.engine.channels, waiting.number, waits.chains
    bd = int(c.bd[ch])
    acquired, released = chains.acquired(ch, bd), chains.release(ch, bd)
    if acquired is None:
        return None
    users = {
        (int(c.tile[other]), lock)
        for other, *locks in chains.lock_steps()
        for lock in locks
        if lock is not None
    }
    gives = None if released is None else released[0]
    own = WaitingBd(int(c.tile[ch]), acquired[0], gives, chains.address(ch, bd))
    window = other_window(waits.engine, own, chains.ever_released, users)
    if window is None:
        return None
    name = words.name(waiting)
    says = f"{name} {words.wanted(waiting)}, {UNRELEASED}: {window.text(bd)}"
    return Finding("MT0302", Severity.ERROR, f"{says}.", (words.side(waiting),), fix=window.fix(bd))


def _kept(lock: Party, waiting: Party, waits: EngineWaits, words: Sentences) -> Finding | None:
    """Who takes what a channel or core gives, and does not give back what that waits for."""
    steps = waits.chains.lock_steps()
    mine = (gives for ch, takes, gives in steps if takes == lock.number and ch == waiting.number)
    data = {gives for gives in mine if gives is not None}
    found = None
    if waiting.kind is PartyKind.CORE:
        found = _kept_by_channel(steps, waits.engine.cores.running[waiting.number].released, words)
    elif waiting.kind is PartyKind.CHANNEL:
        found = _kept_by_channel(steps, data, words) or _kept_by_core(lock.number, data, waits, words)
    missed = words.lock(lock.number)
    if found is None:
        return None
    party, does = found
    name = words.name(party)
    says = f"{words.name(waiting)} {words.wanted(waiting)}; {name} {does} {missed}"
    each = " in each turn" if party.kind is PartyKind.CORE else ""
    fix = f"Let {name} release {missed}{each}."
    sides = (words.side(party), words.side(waiting))
    return Finding("MT0302", Severity.ERROR, f"{says}.", sides, fix=fix)


def _kept_by_channel(
    steps: Iterable[tuple[int, int | None, int | None]], data: Collection[int], words: Sentences
) -> tuple[Party, str] | None:
    """A channel that takes one of the locks and releases none."""
    for ch, takes, gives in steps:
        if takes is not None and takes in data and gives is None:
            return Party(PartyKind.CHANNEL, ch), f"takes {words.lock(takes)} and does not release"
    return None


def _kept_by_core(
    lock: int, data: set[int], waits: EngineWaits, words: Sentences
) -> tuple[Party, str] | None:
    """A core that has taken one of the locks and has not released ``lock``, or never does by its text."""
    for core in waits.givers.reaching(lock):
        running = waits.engine.cores.running.get(core)
        taken = data & running.taken if running is not None else set()
        if running is None or not taken or lock in running.released or waits.givers.ended(core):
            continue
        party, known = Party(PartyKind.CORE, core), waits.givers.text_of(core)
        again = waits.lock_wanted(party) in taken
        if not again and (known is None or lock in known.locks | known.maybe):
            continue  # it may still release it
        does = "before, waits for it again and has never released" if again else "and never releases"
        return party, f"has taken {words.lock(min(taken))} {does}"
    return None


def _swapped(swap: Swap, waiting: Party, waits: EngineWaits, words: Sentences) -> Finding:
    """A channel that acquires what the waiting one releases, and releases a lock that others release."""
    giver = Party(PartyKind.CHANNEL, swap.giver)
    name, given = words.name(giver), words.lock(swap.gives)
    others = (ch for ch, _, lock in waits.chains.lock_steps() if lock == swap.gives and ch != swap.giver)
    other = next(others, None)
    too = (
        "a core releases too"
        if other is None
        else f"{words.name(Party(PartyKind.CHANNEL, other))} releases too"
    )
    says = (
        f"{words.name(waiting)} {words.wanted(waiting)}, {UNRELEASED}; {name}, the consumer of its data, "
        f"releases {given} instead, which {too}"
    )
    sides = (words.side(giver, f"releases {given}"), words.side(waiting))
    fix = f"Let {name} release {words.lock(swap.meant)}."
    return Finding("MT0305", Severity.ERROR, f"{says}.", sides, fix=fix)


def _given_twice(lock: Party, waiting: Party, waits: EngineWaits, words: Sentences) -> Finding | None:
    """A channel that releases the lock of another one, where a core waits for its own.

    The core has taken one unit of the lock that both release: of one that counts what they give together it
    would take more before it waits for anything else. Which of the two is wrong, the numbers of the locks
    say: those of a pair stand together, or in the same order.
    """
    if waiting.kind is not PartyKind.CORE or waiting.number not in waits.engine.cores.running:
        return None
    tile, taken = owner(waits.engine, lock.number)[0], waits.engine.cores.running[waiting.number].taken
    for gives in sorted(taken) if lock.number not in taken else ():
        rooms = {ch: takes for ch, takes, given in waits.chains.lock_steps() if given == gives}
        own = {room for room in rooms.values() if room is not None}
        both = len(rooms) == len(own) == _BOTH and not own & {gives, lock.number}
        here = all(owner(waits.engine, each)[0] == tile for each in (gives, *own))
        if not both or not here or not _has_taken_one(gives, rooms, waits):
            continue
        apart = {ch: _apart(lock.number, gives, ch, rooms) for ch in rooms}
        first, other = sorted(rooms, key=lambda ch: apart[ch])
        if apart[first] == apart[other]:
            continue
        name, room = words.name(Party(PartyKind.CHANNEL, first)), words.lock(rooms[first] or 0)
        says = (
            f"{words.name(waiting)} {words.wanted(waiting)}, {UNRELEASED}; {name}, which acquires {room}, "
            f"releases {words.lock(gives)} instead, which {words.name(Party(PartyKind.CHANNEL, other))} "
            "releases too"
        )
        giver = words.side(Party(PartyKind.CHANNEL, first), f"releases {words.lock(gives)}")
        fix = f"Let {name} release {words.lock(lock.number)}."
        sides, evidence = (giver, words.side(waiting)), Evidence(gives=True)
        return Finding("MT0305", Severity.ERROR, f"{says}.", sides, fix=fix, evidence=evidence)
    return None


def _has_taken_one(lock: int, givers: Iterable[int], waits: EngineWaits) -> bool:
    """Whether one unit is gone of all that channels have released to a lock."""
    times = [waits.chains.times_released(ch, lock) for ch in givers]
    given = sum(each for each in times if each is not None)
    return None not in times and given - int(waits.engine.state.locks.value[lock]) == 1


def _apart(meant: int, gives: int, giver: int, rooms: Mapping[int, int | None]) -> int:
    """Squared distances of the numbers of the locks of pairs, if a giver is to release ``meant``."""
    return sum(((meant if ch == giver else gives) - (room or 0)) ** 2 for ch, room in rooms.items())


def _unused(lock: int, waits: EngineWaits) -> str:
    return "nothing else acquires" if _takers(lock, waits) else "nothing acquires"


def _useless(lock: int, waits: EngineWaits) -> Iterator[tuple[int, Party]]:
    """Locks of the same tile that nobody acquires but who releases them, and who that is."""
    engine, chains = waits.engine, waits.chains
    tile, _ = owner(engine, lock)
    for other, releases in chains.ever_released.items():
        if other == lock or owner(engine, other)[0] != tile or _may_be_taken(other, waits):
            continue
        if not _takers(other, waits):
            yield from ((other, Party(PartyKind.CHANNEL, ch)) for ch in releases)
    for core, running in sorted(engine.cores.running.items()):
        for other in sorted(running.released):
            if other != lock and owner(engine, other)[0] == tile:
                takers = _takers(other, waits)
                if takers <= {Party(PartyKind.CORE, core)} and lock not in running.released:
                    yield other, Party(PartyKind.CORE, core)


def _may_be_taken(lock: int, waits: EngineWaits) -> bool:
    """Whether a kernel could acquire a lock, or should have before it ended."""
    return any(core in waits.engine.cores.running for core in waits.givers.reaching(lock))


def _takers(lock: int, waits: EngineWaits) -> set[Party]:
    """The parties that acquire a lock, or have acquired it."""
    found = {Party(PartyKind.CHANNEL, ch) for ch in waits.chains.acquirers.get(lock, ())}
    for core, running in waits.engine.cores.running.items():
        if lock in running.taken or lock == running.asked:
            found.add(Party(PartyKind.CORE, core))
    return found


def _own_wait(lock: Party, waits: EngineWaits, words: Sentences) -> Finding | None:
    """The finding about a core that waits for a lock which it releases itself, and only afterwards.

    Args:
        lock: that nobody else releases, but for control packets, of which nobody knows what they write.
        waits: of the run.
        words: for its sentences.
    """
    for core in sorted(waits.engine.cores.running):
        party, text = Party(PartyKind.CORE, core), waits.givers.text_of(core)
        if waits.lock_wanted(party) != lock.number or text is None or lock.number not in text.locks:
            continue
        name = words.name(party)
        says = f"{name} {words.wanted(party)}; only {name} itself could release it, after this wait"
        fix = f"Let {name} release it before, or wait there for another one."
        severity = Severity.WARNING if control_senders(lock, waits) else Severity.ERROR
        return Finding("MT0302", severity, f"{says}.", (words.side(party),), fix=fix)
    return None


START_THERE = "Start the task for them there, or let their flow end elsewhere."


def control_senders(lock: Party, waits: EngineWaits) -> list[int]:
    """The channels that have sent control packets to the tile of a lock; model indices."""
    tile, done = owner(waits.engine, lock.number)[0], waits.engine.channels.bds_done
    return [ch for ch in waits.control.senders(tile) if done[ch]]


def unanswered(lock: Party, waits: EngineWaits, words: Sentences) -> Side | None:
    """The channel without a task to which the answers to control packets for the tile of a lock go."""
    tile = owner(waits.engine, lock.number)[0]
    idle = answered_without_task(waits.engine, tile)
    if idle < 0:
        return None
    does = (
        f"gets the answers of the control port of tile {place(waits.engine.spec, tile)} and never had a task"
    )
    return words.side(Party(PartyKind.CHANNEL, idle), does)
