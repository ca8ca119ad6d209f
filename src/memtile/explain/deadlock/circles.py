"""Knots of waits: what kind of knot, how much can go round in a circle, and the sentence that names it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from memtile.explain.bd_chains import lock_seen
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.context import CIRCLE_BEFORE_A_RUN
from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.deadlock.runs_left import runs_for
from memtile.explain.deadlock.sentences import Sentences, receives
from memtile.explain.deadlock.switch_waits import Need, Party
from memtile.explain.deadlock.wrong_locks import wrong_release
from memtile.explain.evidence import Evidence
from memtile.explain.findings import Finding, Severity
from memtile.explain.lock_waits import owner


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
    "MT0301": "Deadlock",
    "MT0303": "Deadlock before the first transfer",
    "MT0307": "Packets that share an arbiter block each other",
    "MT0310": "Cores take the same locks in different orders",
    "MT0321": "Deadlock, with every alternative blocked",
}
_SEPARATE = (
    "Give the two packets different arbiters or circuits of their own, or let the receiver of the one that "
    "holds the arbiter take all of it without waiting for the other."
)
_SAME_ORDER = "Let all cores take these locks in the same order."


class Knot:
    """A root of several parties.

    Args:
        parties: in the order of a sentence.
        waits: of the run.

    Attributes:
        parties: they.
        after: by party its needs among them.
        is_circle: whether each waits for the next one alone.
    """

    def __init__(self, parties: Sequence[Party], waits: EngineWaits) -> None:
        inside = set(parties)
        self.parties = parties
        self.after = {party: [n for n in waits.needs[party] if n.of in inside] for party in parties}
        self.is_circle = all(len(needs) == 1 for needs in self.after.values())

    @property
    def actors(self) -> list[Party]:
        """Those that are no locks."""
        return [party for party in self.parties if party.kind is not PartyKind.LOCK]

    @property
    def locks(self) -> list[Party]:
        """The locks among them."""
        return [party for party in self.parties if party.kind is PartyKind.LOCK]

    def needs(self) -> Iterator[tuple[Party, Need]]:
        """All waits between them."""
        for party, needs in self.after.items():
            yield from ((party, need) for need in needs)

    def givers(self, lock: Party) -> list[Party]:
        """Those of them that would release a lock."""
        return [need.of for need in self.after[lock]]

    def waiting(self, lock: Party) -> list[Party]:
        """Those of them that wait for a lock."""
        return [party for party, need in self.needs() if need.of == lock]


def knot_finding(knot: Knot, waits: EngineWaits, words: Sentences) -> Finding:
    """The finding about a root of several parties.

    Args:
        knot: it.
        waits: of the run.
        words: for its sentences.
    """
    if any(need.via is Via.MAY_RELEASE for _, need in knot.needs()):
        return _guess(knot, waits, words)
    made = _of_its_kind(knot, waits, words)
    return made if waits.abstraction is None else replace(made, code=CIRCLE_BEFORE_A_RUN)


def _of_its_kind(knot: Knot, waits: EngineWaits, words: Sentences) -> Finding:
    code, fix = _kind(knot, waits, words)
    if code == "MT0302":
        if (short := _short(knot, waits)) is None:
            return _held(knot, waits, words)
        lock = Party(PartyKind.LOCK, waits.lock_wanted(short[0]))
        return wrong_release(lock, short[0], waits, words) or _never(knot, waits, words)
    actors = knot.actors
    first = _first(knot, waits) if code == "MT0303" else _short_of_tasks(knot, waits)
    if first is not None:
        actors = [*actors[actors.index(first) :], *actors[: actors.index(first)]]
    says = "; ".join(_step(party, knot, words) for party in actors)
    sides = [words.side(party) for party in actors]
    evidence = Evidence(runs=_runs(knot, waits))
    return Finding(code, Severity.ERROR, f"{_SENTENCE[code]}: {says}.", sides, fix=fix, evidence=evidence)


def _short_of_tasks(knot: Knot, waits: EngineWaits) -> Party | None:
    """The channel that has ended all its tasks, where a host waits before it starts the next one.

    These were too short or too few. Of one that never had a task the host comes first: it waits too early.
    """
    for party, need in knot.needs():
        if need.via is Via.TASK and need.of.kind is PartyKind.HOST and party.kind is PartyKind.CHANNEL:
            return party if waits.engine.channels.bds_done[party.number] else None
    return None


def _kind(knot: Knot, waits: EngineWaits, words: Sentences) -> tuple[str, str]:
    """Code and repair."""
    if any(need.via is Via.ARBITER for _, need in knot.needs()):
        return "MT0307", _SEPARATE
    if all(need.of.kind is PartyKind.LOCK for party in knot.actors for need in knot.after[party]):
        if knot.is_circle and all(_holds(knot, lock, waits) for lock in knot.locks):
            return "MT0310", _SAME_ORDER
        empty = all(words.value(lock.number) == 0 for lock in knot.locks)
        if empty and all(_fresh(party, waits) for party in knot.actors):
            return "MT0303", _begin(knot, waits, words)
        if _short(knot, waits) is not None:
            return "MT0302", ""
        if _holder(knot, waits) is not None:
            return "MT0302", ""
    fix = _not_exactly(knot, waits, words) or _of_host(knot, waits, words) or _of_packets(knot, waits, words)
    fix = fix or _behind(knot, waits, words) or _deeper(knot, waits, words) or more_room(knot, waits, words)
    fix = fix or _of_links(knot, words) or _first_step(knot, waits, words)
    return "MT0301" if knot.is_circle else "MT0321", fix


def _holds(knot: Knot, lock: Party, waits: EngineWaits) -> bool:
    """Whether all that would release a lock of a knot are cores that have taken it."""
    return all(
        giver.kind is PartyKind.CORE and lock.number in waits.engine.cores.running[giver.number].taken
        for giver in knot.givers(lock)
    )


def _fresh(party: Party, waits: EngineWaits) -> bool:
    """Whether a channel has done no descriptor, or a core has never had the lock that it waits for."""
    if waits.of_registers:
        return False  # nobody knows
    if party.kind is PartyKind.CORE:
        return waits.lock_wanted(party) not in waits.engine.cores.running[party.number].taken
    return party.kind is PartyKind.CHANNEL and not waits.engine.channels.bds_done[party.number]


def _short(knot: Knot, waits: EngineWaits) -> tuple[Party, int] | None:
    """The party of a circle of locks that waits for more than all its locks hold, and how much that is."""
    if waits.of_registers and any(party.kind is PartyKind.CORE for party in knot.parties):
        return None  # what a core has taken, no register shows
    most = most_possible(knot.parties, waits)
    if most is None:
        return None
    for party in knot.actors:
        if waits.operand(party) < 0 and -waits.operand(party) > most:
            return party, most
    return None


def _never(knot: Knot, waits: EngineWaits, words: Sentences) -> Finding:
    found = _short(knot, waits)
    assert found is not None
    party, most = found
    says = (
        f"{words.name(party)} {words.wanted(party)} and can never get more than {most}: the locks of this "
        "circle hold no more"
    )
    first = knot.actors.index(party)
    sides = [words.side(other) for other in (*knot.actors[first:], *knot.actors[:first])]
    fifo, need = waits.engine.fifo_locks.get(waits.lock_wanted(party)), -waits.operand(party)
    fix = "Acquire less at once, or initialise the locks to higher values."
    if fifo is not None:
        depth = f"Give @{fifo.fifo} a depth of {need // fifo.units} or more at its {fifo.end} end"
        fix = f"{depth}, or take less at once."
    return Finding("MT0302", Severity.ERROR, f"{says}.", sides, fix=fix)


def _holder(knot: Knot, waits: EngineWaits) -> Party | None:
    """The core that holds all of a ring which it has with one channel; None = no such ring.

    What a ring counts is in its locks or with one of the two. Both locks are 0, and a channel that gives as
    much as it takes has nothing while it waits.
    """
    cores = [party for party in knot.actors if party.kind is PartyKind.CORE]
    others = [party for party in knot.actors if party.kind is not PartyKind.CORE]
    if len(cores) != 1 or [party.kind for party in others] != [PartyKind.CHANNEL] or len(knot.locks) != 2:
        return None
    running, wanted = waits.engine.cores.running[cores[0].number], waits.lock_wanted(cores[0])
    locks = {lock.number for lock in knot.locks}
    if any(int(waits.engine.state.locks.value[lock]) for lock in locks) or wanted not in running.taken:
        return None
    is_even = knot.is_circle and _is_even(others[0].number, waits)
    return cores[0] if is_even and _used_by(locks, waits) <= set(knot.actors) else None


def _is_even(ch: int, waits: EngineWaits) -> bool:
    """Whether each descriptor of a channel gives as much as it takes."""
    pairs = [(waits.chains.acquired(ch, bd), waits.chains.release(ch, bd)) for bd in waits.chains.of(ch)]
    return all(taken and given and -taken[1] == given[1] for taken, given in pairs)


def _used_by(locks: Collection[int], waits: EngineWaits) -> set[Party]:
    """The channels and cores that acquire or release one of these locks, or have done so."""
    chains, found = waits.chains, set[Party]()
    for lock in locks:
        channels = [*chains.acquirers.get(lock, ()), *chains.ever_released.get(lock, ())]
        found |= {Party(PartyKind.CHANNEL, ch) for ch in channels}
    for core, running in waits.engine.cores.running.items():
        if not running.taken.isdisjoint(locks) or not running.released.isdisjoint(locks):
            found.add(Party(PartyKind.CORE, core))
    return found


def _held(knot: Knot, waits: EngineWaits, words: Sentences) -> Finding:
    """A core that has taken more from a ring than it has given back."""
    core = _holder(knot, waits)
    assert core is not None
    (given,) = (lock.number for lock in knot.locks if lock.number != waits.lock_wanted(core))
    says = (
        f"{words.name(core)} {words.wanted(core)}; it has acquired it before, still holds everything, and "
        f"has released {words.lock(given)} less often"
    )
    once = f"release {words.lock(given)} as often as it acquires {words.lock(waits.lock_wanted(core))}"
    fix = f"Let it {once}, after each use, or give it as many buffers as it needs at once."
    sides = [words.side(party) for party in (core, *(each for each in knot.actors if each != core))]
    return Finding("MT0302", Severity.ERROR, f"{says}.", sides, fix=fix)


def _first(knot: Knot, waits: EngineWaits) -> Party | None:
    """Who writes, in a ring of two in one tile: the first that should go on; None of another knot."""
    tiles = {owner(waits.engine, lock.number)[0] for lock in knot.locks}
    cores = [party for party in knot.actors if party.kind is PartyKind.CORE]
    writers = [party for party in knot.actors if receives(waits, party)] or cores
    is_ring = len(tiles) <= 1 and (len(knot.actors), len(knot.locks)) == (2, 2)
    return writers[0] if is_ring and len(writers) == 1 else None


def _begin(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """The lock that should begin with a value: that of who is to be the first."""
    first = _first(knot, waits)
    if first is None and (step := _first_step(knot, waits, words)):
        return step
    if first is None:
        locks = _either([*knot.locks], words)
        return f"Initialise one of them to a value above 0: {locks}; what waits for it then starts first."
    lock = words.lock(waits.lock_wanted(first))
    return f"Initialise {lock} to the number of free buffers, so that {words.name(first)} starts first."


def more_room(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """Whose buffers are full in a knot in which somebody else waits for data; empty where nobody's are.

    A circle of blocked writers and starved readers ends if one of the full streams holds more (Parks 1995).
    Where all wait for data, more room helps nobody.
    """
    full = [words.name(party) for party in knot.actors if _waits_for_room(party, knot, waits)]
    if not full or len(full) == len(knot.actors):
        return ""
    whose = full[0] if len(full) == 1 else f"one of these: {', '.join(full)}"
    return f"More buffers may help where all are full: {whose}."


def _deeper(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """The object FIFO that is full because the core which takes from it waits for another one first."""
    fifos = waits.engine.fifo_locks
    for core in (party for party in knot.actors if party.kind is PartyKind.CORE):
        data = fifos.get(waits.lock_wanted(core))
        given = (
            fifos[lock.number] for lock in knot.locks if core in knot.givers(lock) and lock.number in fifos
        )
        full = next((each for each in given if not each.full), None)
        if data is not None and data.full and full is not None and full.fifo != data.fifo:
            early = f"let {words.name(core)} take from @{full.fifo} before it waits for @{data.fifo}"
            return f"Give @{full.fifo} a larger depth at its {full.end} end in {full.at}, or {early}."
    return ""


def _not_exactly(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """Who waits for exactly a value that is passed already; empty where nobody does."""
    for party in knot.actors:
        lock, wanted = waits.lock_wanted(party), waits.operand(party)
        if lock >= 0 and 0 <= wanted < words.value(lock):
            said = f" (acquire(lock, -{wanted}))" if party.kind is PartyKind.CORE else ""
            least = f"at least {wanted}{said}"
            return f"Let {words.name(party)} wait for {least}: the lock has more already."
    return ""


def _of_host(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """The task that a host starts too late, behind a wait that needs it; empty where no host takes part.

    Where a repeated task is what it has started before, that may run too seldom.
    """
    for party, need in knot.needs():
        if need.via is Via.TASK and need.of.kind is PartyKind.HOST:
            name, host = words.name(party), words.name(need.of)
            if (runs := _runs(knot, waits)) and party.kind is PartyKind.CHANNEL:
                more = f"Let {name} run its task {runs} times (repeat_count = {runs - 1})"
                return f"{more}, or let {host} start a task on it before this wait."
            return f"Let {host} start a task on {name} before this wait."
    return ""


def _runs(knot: Knot, waits: EngineWaits) -> int:
    """How often a repeated task should run for the words that a host waits for; 0 = not known."""
    for party, need in knot.needs():
        if need.via is Via.TASK and need.of.kind is PartyKind.HOST and party.kind is PartyKind.CHANNEL:
            awaited = [each.of.number for each in knot.after[need.of] if each.of.kind is PartyKind.CHANNEL]
            return runs_for(party.number, awaited[0], waits) if len(awaited) == 1 else 0
    return 0


def _of_packets(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """The control packet that comes too late, behind a wait that needs it; empty where none takes part."""
    for lock in knot.locks:
        for giver in knot.givers(lock):
            wanted = waits.lock_wanted(giver) if giver.kind is PartyKind.CHANNEL else -1
            if wanted >= 0 and waits.control.sets(giver.number, lock.number, waits.chains):
                packet = f"send the control packet that sets {words.name(lock)}"
                return f"Let {words.name(giver)} {packet} before it waits for {words.lock(wanted)}."
    return ""


def _of_links(knot: Knot, words: Sentences) -> str:
    """The lock that a core gives only after values which the other core moves after its wait for it."""
    for party, need in knot.needs():
        if {party.kind, need.of.kind} != {PartyKind.CORE} or need.via not in (Via.ROOM, Via.WORDS):
            continue
        does, other = ("puts", "get") if need.via is Via.ROOM else ("gets", "put")
        for lock in (each.of for each in knot.after[need.of] if each.of.kind is PartyKind.LOCK):
            if party in knot.givers(lock):
                early = f"Let {words.name(party)} release {words.name(lock)} before it {does} these values"
                return f"{early}, or let {words.name(need.of)} {other} them before it waits for it."
    return ""


def _behind(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """The order in which one core should take what one stream brings, or in which it is to be sent."""
    cores = [party for party in knot.actors if party.kind is PartyKind.CORE]
    behind = [
        (party, need.of) for party, need in knot.needs() if need.via is Via.ROOM and receives(waits, party)
    ]
    if not cores or len(behind) != 1:
        return ""
    late, first = behind[0]
    if first.kind is not PartyKind.CHANNEL or not _waits_for_room(first, knot, waits):
        return ""
    if len(cores) > 1:
        return _sent_later(late, first, waits, words)
    name = words.name(cores[0])
    order = f"Let {name} take what {words.name(first)} receives before it waits for {words.name(late)}"
    return f"{order}, or send that first."


def _sent_later(late: Party, first: Party, waits: EngineWaits, words: Sentences) -> str:
    """The order in which one sender should send to two receivers; empty where others send, or it to both."""
    senders = waits.streams.senders_to(first.number) & waits.streams.senders_to(late.number)
    if len(senders) != 1:
        return ""
    planned, ch = PlannedWords.of(waits.engine, waits.chains), senders.pop()
    both = {first.number, late.number}
    ends = [both & {*planned.receivers(bd)} for bd in planned.bds.get(ch, ())]
    if both in ends or {first.number} not in ends or {late.number} not in ends:
        return ""
    sender = words.name(Party(PartyKind.CHANNEL, ch))
    order = f"Let {sender} send to {words.name(late)} before it sends to {words.name(first)} again"
    return f"{order}, or give {words.name(first)} more buffers."


def _first_step(knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """Which cores could put an object first in a circle in which all wait for data.

    Empty where a core has had what it waits for: then the circle lost an object on its way round.
    """
    cores = [party for party in knot.actors if party.kind is PartyKind.CORE]
    steps = [step for core in cores if (step := _put_first(core, knot, waits, words))]
    if not steps or len(steps) < len(cores) or not all(_fresh(core, waits) for core in cores):
        return ""
    fifos = waits.engine.fifo_locks
    names = dict.fromkeys(fifos[waits.lock_wanted(core)].fifo for core in cores)
    early = f"Let one core of the circle put an object before its first take: {', or '.join(steps)}"
    return f"{early}; or give {' or '.join(f'@{name}' for name in names)} a first object."


def _put_first(core: Party, knot: Knot, waits: EngineWaits, words: Sentences) -> str:
    """``core (0, 2) one into @b before it takes from @a``; empty if it does not go from FIFO to FIFO."""
    fifos = waits.engine.fifo_locks
    takes = fifos.get(waits.lock_wanted(core))
    gives = [fifos[lock.number] for lock in knot.locks if core in knot.givers(lock) and lock.number in fifos]
    if takes is None or not takes.full or not gives or not gives[0].full:
        return ""
    return f"{words.name(core)} one into @{gives[0].fifo} before it takes from @{takes.fifo}"


def _waits_for_room(party: Party, knot: Knot, waits: EngineWaits) -> bool:
    """Whether a channel that receives waits for a lock: its buffers are full."""
    return receives(waits, party) and any(need.of.kind is PartyKind.LOCK for need in knot.after[party])


def _guess(knot: Knot, waits: EngineWaits, words: Sentences) -> Finding:
    """Waits of which it is not known who could end them; a warning about the waits, and about nobody else."""
    unsure = [lock for lock in knot.locks if any(need.via is Via.MAY_RELEASE for need in knot.after[lock])]
    pairs = [(lock, party) for lock in unsure for party in knot.waiting(lock)]
    wrong = (wrong_release(lock, party, waits, words) for lock, party in pairs)
    if (found := next(filter(None, wrong), None)) is not None:
        return found
    says = "; ".join(
        f"{words.name(party)} {words.wanted(party)}; no known code releases it, and whether "
        f"{_either(knot.givers(lock), words)} does is not known"
        for lock, party in pairs
    )
    sides = [words.side(party) for party in dict.fromkeys(party for _, party in pairs)]
    return Finding("MT0322", Severity.WARNING, f"{says}.", sides)


def _either(parties: Sequence[Party], words: Sentences) -> str:
    names = list(map(words.name, parties))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _step(party: Party, knot: Knot, words: Sentences) -> str:
    """What one that acts waits for: one way with another by ``or``, what all have to give by ``and``."""
    ways: dict[int, list[str]] = {}
    for need in knot.after[party]:
        text = words.need(party, need)
        if need.of.kind is PartyKind.LOCK:
            text += f", released only by {_either(knot.givers(need.of), words)}"
        ways.setdefault(need.way, []).append(text)
    return f"{words.name(party)} {', or '.join(' and '.join(way) for way in ways.values())}"
