"""The one change that brings the locks of a buffer back into balance, by the text of all who use them.

Two locks guard a buffer: one counts its free places, one its filled ones. Who takes one gives the other, as
often; together they begin with the number of places. Which locks are a pair, most of their users say. Where
one user alone does not fit, each change of one acquire, release or count of its text is tried; what makes all
fit is what the text lacks. Of several the one that leaves the most regular text is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from memtile.importers.kernels.lock_users import Act, LockUser, Turn

Pairs = Mapping[str, str]
"""By lock the other one of its pair."""
Sums = tuple[Counter[str], Counter[str]]
_CHAIN_SAYS = 4  # weight of a BD that takes one lock and gives another
_MEANT = 9  # parts of a score that say what was meant; the rest chooses between the same at two places
_MOST = 64  # acts of a turn in which changes are tried


class Change(NamedTuple):
    """A change of a text.

    Attributes:
        what: ``lock``, ``units``, ``new`` or ``gone``.
        user: whose text.
        turn: which of its turns.
        at: place of the act; of a new one the place before which it comes.
        act: that the text has after it; what it loses of one that is gone.
    """

    what: str
    user: LockUser
    turn: int
    at: int
    act: Act


class Fault(NamedTuple):
    """What is wrong with one user of a pair.

    Attributes:
        change: that repairs it.
        was: the act of the text, None of one that is missing.
        partner: the other lock of the pair of the act that is meant.
        others: other changes that would do as well.
    """

    change: Change
    was: Act | None
    partner: str
    others: Sequence[Change] = ()


def pairs_of(
    users: Sequence[LockUser], tiles: Mapping[str, str], initial: Mapping[str, int], unknown: set[str]
) -> Pairs:
    """The locks that are pairs, one of which usually begins with 0.

    Args:
        users: of all locks.
        tiles: by lock the tile that it is in.
        initial: value of each lock at the start.
        unknown: locks of which not all users are known.
    """
    votes: Counter[tuple[str, str]] = Counter()
    for user in users:
        for turn in user.turns:
            for (taken, given), weight in _said(user, turn).items():
                if taken != given and tiles.get(taken) == tiles.get(given):
                    votes[min(taken, given), max(taken, given)] += weight
    for one, other in votes:
        votes[one, other] += (initial[one] > 0) != (initial[other] > 0)
    found: dict[str, str] = {}
    for (one, other), count in votes.most_common():
        if one in found or other in found or {one, other} & unknown:
            continue
        rivals = [pair for pair, n in votes.items() if n == count and len({*pair, one, other}) == 3]
        if any(not ({*pair} - {one, other}) & found.keys() for pair in rivals):
            continue  # as much speaks for another partner
        found |= {one: other, other: one}
    return {one: other for one, other in found.items() if not {one, other} & _shared(users, votes, found)}


def _shared(users: Sequence[LockUser], votes: Counter[tuple[str, str]], pairs: Pairs) -> set[str]:
    """Locks of pairs that descriptors use with another lock too, which others take and give: it is no pair.

    A writer that fills a buffer for two readers has a lock for each, and both give back the same one.
    """
    acts = [act for user in users for turn in user.turns for act in turn.acts]
    taken, given = ({act.lock for act in acts if act.acquires is which} for which in (True, False))
    loose = (taken & given) - pairs.keys()
    both = [pair for pair, count in votes.items() if count >= _CHAIN_SAYS and len({*pair} & loose) == 1]
    return {lock for pair in both for lock in pair if lock in pairs}


def _said(user: LockUser, turn: Turn) -> Counter[tuple[str, str]]:
    """How much a turn speaks for pairs: a BD that takes and gives, or as many acquires as releases."""
    found: Counter[tuple[str, str]] = Counter()
    if user.direction:
        for bd in turn.bds:
            if bd.acquire is not None and bd.release is not None:
                found[bd.acquire.lock, bd.release.lock] += _CHAIN_SAYS
        return found
    taken, given = sums(turn.acts)
    for one, other in product(taken, given):
        if taken[one] == given[other]:
            found[one, other] += 1
    return found


def sums(acts: Sequence[Act]) -> Sums:
    """Units that acts take and give, by lock."""
    taken, given = Counter[str](), Counter[str]()
    for act in acts:
        (taken if act.acquires else given)[act.lock] += act.many
    return taken, given


def _lacks(acts: Sequence[Act], pairs: Pairs) -> Counter[str]:
    """By lock how many more units of it are taken than of its partner given, where that is not 0."""
    taken, given = sums(acts)
    locks = [lock for lock in {*taken, *given} if lock in pairs]
    both = {*locks, *(pairs[lock] for lock in locks)}
    return Counter({lock: n for lock in both if (n := taken[lock] - given[pairs[lock]])})


@dataclass(frozen=True, slots=True)
class Discipline:
    """All users of the pairs of a device.

    Attributes:
        users: of all locks.
        pairs: of locks.
        initial: value of each lock at the start.
    """

    users: Sequence[LockUser]
    pairs: Pairs
    initial: Mapping[str, int]

    def unfit(self) -> set[str]:
        """Locks that some user takes otherwise than it gives their partners."""
        return set[str]().union(*(self._unbalanced(user) for user in self.users))

    def faults(self) -> Iterator[Fault]:
        """What one change repairs; nothing of pairs of which several users do not fit."""
        wrong = [(user, lacks) for user in self.users if (lacks := self._unbalanced(user))]
        often = Counter(
            frozenset((lock, self.pairs[lock])) for _, lacks in wrong for lock in _once(lacks, self)
        )
        for user, lacks in wrong:
            if all(often[frozenset((lock, self.pairs[lock]))] == 1 for lock in lacks):
                fault = self._fault(user, lacks)
                if fault is not None:
                    yield fault

    def _unbalanced(self, user: LockUser) -> set[str]:
        """Locks that a user takes otherwise than it gives their partners."""
        found: set[str] = set()
        total: Counter[str] = Counter()
        for turn in user.turns:
            lacks = _lacks(turn.acts, self.pairs)
            found |= lacks.keys()
            if turn.often is None and lacks:
                return found
            for lock, n in lacks.items():
                total[lock] += n * (turn.often or 0)
        return {lock for lock in found if total[lock]}

    def _fault(self, user: LockUser, lacks: set[str]) -> Fault | None:
        numbers = [n for n, turn in enumerate(user.turns) if _lacks(turn.acts, self.pairs).keys() & lacks]
        if len(numbers) != 1 or len(user.turns[numbers[0]].acts) > _MOST:
            return None
        turn = user.turns[numbers[0]]
        tried = [
            (self._score(user, numbers[0], acts, change), change)
            for change, acts in self._changes(user, numbers[0])
            if not _lacks(acts, self.pairs) and self._can_begin(change)
        ]
        if not tried:
            return None
        best = min(score for score, _ in tried)
        first = next(change for score, change in tried if score == best)
        others = [change for score, change in tried if score[:_MEANT] == best[:_MEANT]]
        was = None if first.what == "new" else turn.acts[first.at]
        lock = first.act.lock
        meant = {(each.what, each.act.lock): each for each in others if each.act.lock != lock}
        return Fault(first, was, self.pairs[lock], tuple(meant.values()))

    def _can_begin(self, change: Change) -> bool:
        """Whether a new acquire finds what it waits for: what nobody needs may be counted from 0."""
        lock, many = change.act.lock, change.act.many
        if change.what != "new" or not change.act.acquires:
            return True
        if self.initial[lock] < many and self.is_of_sent_data(lock):
            return False
        return self.initial[lock] + self.initial[self.pairs[lock]] >= many

    def is_of_sent_data(self, lock: str) -> bool:
        """Whether a channel that sends releases a lock which nobody acquires: its data is sent once."""
        acts = [(user, act) for user in self.users for turn in user.turns for act in turn.acts]
        users = [(user, act) for user, act in acts if act.lock == lock]
        return bool(users) and all(user.direction == "MM2S" and not act.acquires for user, act in users)

    def _changes(self, user: LockUser, number: int) -> Iterator[tuple[Change, list[Act]]]:
        """All single changes of a turn, with its acts after each."""
        acts = list(user.turns[number].acts)
        lacks = _lacks(acts, self.pairs)
        near = [*lacks, *(self.pairs[lock] for lock in lacks)]
        for at, act in enumerate(acts):
            rest = acts[:at], acts[at + 1 :]
            if act.acquires:
                yield Change("gone", user, number, at, act), [*rest[0], *rest[1]]
            for lock in dict.fromkeys(near):
                if lock != act.lock:
                    other = act._replace(lock=lock)
                    yield Change("lock", user, number, at, other), [*rest[0], other, *rest[1]]
            for many in {act.many + n for lack in lacks.values() for n in (lack, -lack)}:
                if many > 0:
                    other = act._replace(many=many)
                    yield Change("units", user, number, at, other), [*rest[0], other, *rest[1]]
        for at, made in self._new(user.turns[number], lacks):
            yield Change("new", user, number, at, made), [*acts[:at], made, *acts[at:]]

    def _new(self, turn: Turn, lacks: Counter[str]) -> Iterator[tuple[int, Act]]:
        """Acts that the turn may lack, and where: a BD has room for one acquire and one release."""
        for lock, n in lacks.items():
            acquires, many = n < 0, abs(n)
            missed = lock if acquires else self.pairs[lock]
            at = 0
            for bd in turn.bds:
                if acquires and bd.acquire is None:
                    yield at, Act(missed, True, many, bd.operation, bd.buffer)
                at += bd.acquire is not None
                if not acquires and bd.release is None:
                    yield at, Act(missed, False, many, bd.operation, bd.buffer)
                at += bd.release is not None
            if not turn.bds:
                for at in range(len(turn.acts) + 1):
                    beside = turn.acts[min(at, len(turn.acts) - 1) if acquires else max(at - 1, 0)]
                    yield at, Act(missed, acquires, many, beside.operation)

    def _score(self, user: LockUser, number: int, acts: Sequence[Act], change: Change) -> tuple[int, ...]:
        """How little sense a text makes after a change: the least is what was meant."""
        after = replace(
            user,
            turns=tuple(
                replace(turn, acts=tuple(acts)) if n == number else turn for n, turn in enumerate(user.turns)
            ),
        )
        users = [after if each is user else each for each in self.users]
        return (
            self._one_sided(users),
            change.what == "gone" and _is_bare(user.turns[number], change.at),
            self._buffers_shared(users),
            self._both_ways(acts),
            self._too_much(acts),
            change.what == "gone",
            change.what == "lock" and self._is_meant_elsewhere(user.turns[number].acts[change.at]),
            self._kinds_of_counts(users, acts),
            self._parts(acts),
            _period(acts),
            ("lock", "units", "new", "gone").index(change.what),
            change.at if change.act.acquires else -change.at,
        )

    def _is_meant_elsewhere(self, act: Act) -> bool:
        """Whether the lock of an act is of no pair, and others use it as the act does."""
        acts = (each for user in self.users for turn in user.turns for each in turn.acts)
        same = [each for each in acts if each.lock == act.lock]
        return act.lock not in self.pairs and len(same) > 1

    def _one_sided(self, users: Sequence[LockUser]) -> int:
        """How many locks of pairs are taken and never given, or given and never taken."""
        taken, given = set[str](), set[str]()
        for user in users:
            for turn in user.turns:
                for act in turn.acts:
                    (taken if act.acquires else given).add(act.lock)
        return len((taken ^ given) & self.pairs.keys())

    def _buffers_shared(self, users: Sequence[LockUser]) -> int:
        """How many pairs BDs use, each counted for each of its buffers: one should do for a buffer."""
        return len(
            {
                (act.buffer, min(act.lock, self.pairs[act.lock]))
                for user in users
                for turn in user.turns
                for act in turn.acts
                if act.buffer and act.lock in self.pairs
            }
        )

    def _both_ways(self, acts: Sequence[Act]) -> int:
        """How many locks are taken by one who takes the other one of the pair too."""
        taken = {act.lock for act in acts if act.acquires}
        return sum(self.pairs.get(lock) in taken for lock in taken)

    def _too_much(self, acts: Sequence[Act]) -> int:
        """How many acts are about more units than the locks of their pair begin with."""
        whole = {lock: self.initial[lock] + self.initial[other] for lock, other in self.pairs.items()}
        return sum(act.many > whole[act.lock] > 0 for act in acts if act.lock in whole)

    def _parts(self, acts: Sequence[Act]) -> int:
        """How many acts are about several units of a pair and not about all of them."""
        whole = {lock: self.initial[lock] + self.initial[other] for lock, other in self.pairs.items()}
        return sum(1 < act.many < whole[act.lock] for act in acts if act.lock in whole)

    def _kinds_of_counts(self, users: Sequence[LockUser], acts: Sequence[Act]) -> int:
        """How many different counts the users of the pairs have that a turn is about."""
        locks = {act.lock for act in acts if act.lock in self.pairs}
        locks |= {self.pairs[lock] for lock in locks}
        counts = {
            (min(act.lock, self.pairs[act.lock]), act.many)
            for user in users
            for turn in user.turns
            for act in turn.acts
            if act.lock in locks
        }
        return len(counts)


def _once(lacks: set[str], discipline: Discipline) -> set[str]:
    """One lock of each pair of which some are in ``lacks``."""
    return {min(lock, discipline.pairs[lock]) for lock in lacks}


def _is_bare(turn: Turn, at: int) -> bool:
    """Whether a BD has no lock left without one of its acts."""
    operation = turn.acts[at].operation
    return bool(turn.bds) and sum(act.operation is operation for act in turn.acts) == 1


def _period(acts: Sequence[Act]) -> int:
    """After how many acts they begin anew: the shorter, the more regular is the text."""
    said = [act[:3] for act in acts]
    lengths = (n for n in range(1, len(said) + 1) if len(said) % n == 0)
    return next((n for n in lengths if said == said[:n] * (len(said) // n)), 0)
