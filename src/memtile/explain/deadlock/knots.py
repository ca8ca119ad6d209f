"""The roots of a wait graph whose waits end in one of several ways, each of which needs one party or several.

A way is blocked by any of its parties, and a wait is stuck if all its ways are blocked. A set of parties
each of whose ways has a party of the set is therefore stuck for ever, whatever the others do. The smallest of
these sets are the roots: a party without a way is one by itself, and a *knot* is one of several parties.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.switch_waits import Need, Party

Needs = Mapping[Party, Sequence[Need]]
Ways = Mapping[Party, Sequence[frozenset[Party]]]

_FIRST = (
    PartyKind.HOST,
    PartyKind.CORE,
    PartyKind.CHANNEL,
    PartyKind.PACKET,
    PartyKind.LOCK,
    PartyKind.PORT,
)
"""The kind of party with which a knot begins: one that acts."""


def is_helped(needs: Iterable[Need], alive: Collection[Party]) -> bool:
    """Whether all parties of one way are among ``alive``."""
    return any(all(need.of in alive for need in way) for way in _by_way(needs))


def roots(
    dead: Collection[Party], needs: Needs, mild: Collection[Party], wanted: Collection[Party]
) -> list[list[Party]]:
    """The smallest sets of parties that are stuck whatever the others do.

    Args:
        dead: those that nobody helps.
        needs: what each waits for.
        mild: parties that may have done all their work. Where they have no way they are roots only of those
            wanted whose ways they block all.
        wanted: those that have to come to their end.

    Returns:
        Knots in the order of a sentence, then lists of one where a chain ends; in an order that stays.
    """
    ways = _ways(dead, needs)
    unsure = {party for party in ways if any(need.via is Via.MAY_RELEASE for need in needs[party])}
    resting = _blocked_by({party for party in mild if party in ways and not ways[party]}, ways)
    rest = _free_of(resting, ways)
    ends = [party for party, each in rest.items() if not each]
    blocked, knots = _blocked_by(set(ends), rest), list[list[Party]]()
    while stuck := _stuck_among(rest.keys() - blocked, rest):
        within = {party: [way & stuck for way in rest[party]] for party in sorted(stuck)}
        knot = _smallest(_closed(within), within, unsure)
        knots.append(in_order(knot, needs))
        blocked = _blocked_by(blocked | knot, rest)
    idle = (party for party in _reached(resting & set(wanted), ways) if not ways[party])
    return [*knots, *([party] for party in sorted((*ends, *idle)))]


def in_order(knot: Collection[Party], needs: Needs) -> list[Party]:
    """The parties of a knot, each behind one that waits for it, beginning with one that acts."""
    found: dict[Party, None] = {}
    for start in sorted(knot, key=lambda party: (_FIRST.index(party.kind), party.number)):
        rest = [start]
        while rest:
            party = rest.pop()
            if party not in found:
                found[party] = None
                rest += reversed([need.of for need in needs[party] if need.of in knot])
    return list(found)


def waiting_for(party: Party, needs: Needs, among: Iterable[Party]) -> list[Party]:
    """Those who wait for a party."""
    return sorted(other for other in among if any(need.of == party for need in needs.get(other, ())))


def _by_way(needs: Iterable[Need]) -> list[list[Need]]:
    found: dict[int, list[Need]] = {}
    for need in needs:
        found.setdefault(need.way, []).append(need)
    return list(found.values())


def _ways(dead: Collection[Party], needs: Needs) -> dict[Party, list[frozenset[Party]]]:
    """The dead parties of each way of each dead party; ways without any are left out."""
    found = {}
    for party in sorted(dead):  # the order of a set is another one in each process
        ways = (frozenset(need.of for need in way if need.of in dead) for way in _by_way(needs[party]))
        found[party] = [way for way in ways if way]
    return found


def _free_of(blocked: Collection[Party], ways: Ways) -> dict[Party, list[frozenset[Party]]]:
    """The others, with the ways that none of these blocks."""
    return {
        party: [way for way in each if way.isdisjoint(blocked)]
        for party, each in ways.items()
        if party not in blocked
    }


def _blocked_by(these: set[Party], ways: Ways) -> set[Party]:
    """These, and all whose ways are all blocked by them, or by others that are so."""
    blocked, waiting = set(these), _waiting(ways)
    left = {party: set(range(len(each))) for party, each in ways.items()}
    rest = list(blocked)
    while rest:
        for party, way in waiting.get(rest.pop(), ()):
            left[party].discard(way)
            if not left[party] and party not in blocked:
                blocked.add(party)
                rest.append(party)
    return blocked


def _waiting(ways: Ways) -> dict[Party, list[tuple[Party, int]]]:
    """By party those that wait for it, and in which of their ways."""
    found: dict[Party, list[tuple[Party, int]]] = {}
    for party, each in ways.items():
        for number, way in enumerate(each):
            for other in way:
                found.setdefault(other, []).append((party, number))
    return found


def _reached(start: Iterable[Party], ways: Ways) -> set[Party]:
    found, rest = set[Party](), list(start)
    while rest:
        party = rest.pop()
        if party not in found:
            found.add(party)
            rest += [other for way in ways[party] for other in way]
    return found


def _closed(ways: Ways) -> set[Party]:
    """A strong component from which no way leads out: the first one by Tarjan."""
    low: dict[Party, int] = {}
    stack: list[Party] = []
    start = min(ways)
    work = [(start, iter(_ahead(start, ways)))]
    index = {start: 0}
    low[start] = 0
    stack.append(start)
    while True:
        party, ahead = work[-1]
        following = next(ahead, None)
        if following is None:
            if low[party] == index[party]:
                return set(stack[stack.index(party) :])
            work.pop()
            low[work[-1][0]] = min(low[work[-1][0]], low[party])
        elif following not in index:
            index[following] = low[following] = len(index)
            stack.append(following)
            work.append((following, iter(_ahead(following, ways))))
        else:  # on the stack, since nothing was taken from it
            low[party] = min(low[party], index[following])


def _ahead(party: Party, ways: Ways) -> list[Party]:
    return sorted({other for way in ways[party] for other in way})


def _smallest(component: set[Party], ways: Ways, unsure: Collection[Party]) -> set[Party]:
    """What is left of a component when no party can be spared, with as few guesses as possible."""
    ups, downs = sorted(component), sorted(component, reverse=True)
    found = []
    for order in (ups, downs):
        found.append(_spared(component, sorted(order, key=lambda party: party not in unsure), ways))
    return min(found, key=lambda knot: (len(knot.intersection(unsure)), len(knot)))


def _spared(component: set[Party], order: Iterable[Party], ways: Ways) -> set[Party]:
    """What is left when one after another is taken out without whom others are still stuck."""
    knot = set(component)
    for party in order:
        if party in knot and not _is_circle(knot, ways):
            knot = _stuck_among(knot - {party}, ways) or knot
    return knot


def _is_circle(knot: set[Party], ways: Ways) -> bool:
    """Whether each party waits for the next one alone, round all of them."""
    start = party = min(knot)
    for passed in range(len(knot)):
        if passed and party == start:
            return False
        after = [way & knot for way in ways[party]]
        if len(after) != 1 or len(after[0]) != 1:
            return False
        (party,) = after[0]
    return party == start


def _stuck_among(parties: set[Party], ways: Ways) -> set[Party]:
    """The largest part of these that is stuck whatever the others do."""
    within = {party: [way & parties for way in ways[party]] for party in parties}
    waiting = _waiting(within)
    free = [party for party in parties if not all(within[party])]
    left = {(party, n): len(way) for party, each in within.items() for n, way in enumerate(each)}
    stuck = set(parties)
    while free:
        party = free.pop()
        if party not in stuck:
            continue
        stuck.discard(party)
        for other, way in waiting.get(party, ()):
            left[other, way] -= 1
            if not left[other, way]:
                free.append(other)
    return stuck
