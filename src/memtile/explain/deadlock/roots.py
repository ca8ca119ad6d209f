"""Where chains of waits end: in circles, which wait for themselves, and in those who wait for nobody."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from memtile.explain.deadlock.graph import PartyKind, Via
from memtile.explain.deadlock.switch_waits import Need, Party

Needs = Mapping[Party, Sequence[Need]]


def strong_components(parties: Collection[Party], needs: Needs) -> list[list[Party]]:
    """Parties that wait for each other, by Tarjan; each party in one component, those waited for first."""
    index: dict[Party, int] = {}
    low: dict[Party, int] = {}
    stack: list[Party] = []
    on_stack: set[Party] = set()
    found: list[list[Party]] = []
    for start in sorted(parties):  # the order of a set is another one in each process
        if start in index:
            continue
        work = [(start, iter(_ahead(start, parties, needs)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            party, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[party])
                if low[party] == index[party]:
                    found.append(_popped(stack, on_stack, party))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(_ahead(following, parties, needs))))
            elif following in on_stack:
                low[party] = min(low[party], index[following])
    return found


def _popped(stack: list[Party], on_stack: set[Party], party: Party) -> list[Party]:
    found = []
    while True:
        last = stack.pop()
        on_stack.discard(last)
        found.append(last)
        if last == party:
            return found


def _ahead(party: Party, parties: Collection[Party], needs: Needs) -> list[Party]:
    return [need.of for need in needs.get(party, ()) if need.of in parties]


def roots(dead: Collection[Party], needs: Needs, mild: Collection[Party]) -> list[list[Party]]:
    """Components from which no wait leads out.

    Args:
        dead: those that nobody helps.
        needs: what each waits for.
        mild: ends that are one only if somebody who waits has no other: channels that may have done all
            their work.

    Returns:
        Circles, and lists of one where a chain ends.
    """
    components = strong_components(dead, needs)
    ends = [each for each in components if _is_closed(each, dead, needs)]
    hard = [each for each in ends if each[0] not in mild or len(each) > 1]
    soft = {each[0] for each in ends} - {each[0] for each in hard}
    only: set[Party] = set()  # ends that are all that somebody waits for
    for party in dead:
        ahead = set(_ahead(party, dead, needs))
        if ahead and ahead <= soft:
            only |= ahead
    alone = [
        each for each in ends if each[0] in soft and (each[0] in only or not _is_wanted(each[0], dead, needs))
    ]
    return [*hard, *alone]


def _is_closed(component: Sequence[Party], dead: Collection[Party], needs: Needs) -> bool:
    inside = set(component)
    return all(set(_ahead(party, dead, needs)) <= inside for party in component)


def _is_wanted(party: Party, dead: Collection[Party], needs: Needs) -> bool:
    return any(party in _ahead(other, dead, needs) for other in dead)


def circle(component: Sequence[Party], needs: Needs) -> list[Party]:
    """The shortest circle of a component, from the channel, core or host with the lowest index on.

    Waits for what may only be given, or only be started, are used where there is no other way.
    """
    inside = set(component)
    best: list[Party] = []
    for weak in (False, True):
        for start in sorted(inside):
            best = _back_to(start, inside, needs, weak=weak, below=len(best)) or best
        if best:
            break
    return _turned(best)


def _back_to(start: Party, inside: Collection[Party], needs: Needs, *, weak: bool, below: int) -> list[Party]:
    """The shortest way from ``start`` back to it, of fewer than ``below`` parties; 0 = of any number."""
    before: dict[Party, Party] = {}
    queue = deque([(start, 1)])
    while queue:
        party, length = queue.popleft()
        if below and length >= below:
            return []
        for need in needs[party]:
            if need.of not in inside or (not weak and need.via in (Via.MAY_RELEASE, Via.TASK)):
                continue
            if need.of == start:
                return _way(before, start, party)
            if need.of not in before:
                before[need.of] = party
                queue.append((need.of, length + 1))
    return []


def _way(before: Mapping[Party, Party], start: Party, end: Party) -> list[Party]:
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def _turned(way: list[Party]) -> list[Party]:
    """The circle, beginning with a party that acts: a host, a core, a channel."""
    order = [
        PartyKind.HOST,
        PartyKind.CORE,
        PartyKind.CHANNEL,
        PartyKind.PACKET,
        PartyKind.LOCK,
        PartyKind.PORT,
    ]
    first = min(range(len(way)), key=lambda n: (order.index(way[n].kind), way[n].number), default=0)
    return way[first:] + way[:first]


def waiting_for(party: Party, needs: Needs, among: Iterable[Party]) -> list[Party]:
    """Those who wait for a party."""
    return sorted(other for other in among if any(need.of == party for need in needs.get(other, ())))
