"""Locks that count the free places of several readers: does the writer take as many as all of them give back?

A writer that fills a buffer for two readers releases a lock for each of them, and both release the one that
it waits for. Such locks are no pairs; what one turn of the writer takes is what the readers of what it gives
give back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memtile.explain.evidence import NO_EVIDENCE
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import UNFIT, Imbalance
from memtile.importers.kernels.lock_discipline import sums
from memtile.importers.kernels.lock_names import line_of, lock_name, number_of, place_of
from memtile.importers.kernels.lock_users import Act, LockUser, units_of
from memtile.importers.mlir.configure import Configured

_SEVERAL = 2


def shared_rooms(made: Configured, users: Sequence[LockUser], unknown: set[str]) -> Iterator[Imbalance]:
    """A writer that takes other units of a lock than the readers of its data give back, for each such lock.

    Args:
        made: the device in its array.
        users: of all locks.
        unknown: locks of which not all users are known.
    """
    for lock in dict.fromkeys(act.lock for user in users for act in _acts(user) if act.acquires):
        taking = [user for user in users if any(act.acquires and act.lock == lock for act in _acts(user))]
        if lock in unknown or len(taking) != 1:
            continue
        writer, readers = taking[0], _readers(users, lock)
        if writer in readers or not all(map(_goes_round, (writer, *readers))):
            continue
        taken, given = sums(writer.turns[0].acts)
        if len(given) < _SEVERAL or given.keys() & unknown:
            continue
        back = _given_back(lock, given, users, readers)
        if back is not None and back != taken[lock] and len(taken) == 1:
            yield _imbalance(made, writer, lock, (taken[lock], back), readers)


def _goes_round(user: LockUser) -> bool:
    """Whether all that a user does to locks comes again, turn by turn."""
    return len(user.turns) == 1 and user.turns[0].again


def _acts(user: LockUser) -> list[Act]:
    return [act for turn in user.turns for act in turn.acts]


def _readers(users: Sequence[LockUser], lock: str) -> list[LockUser]:
    """Who gives a lock back."""
    return [user for user in users if any(not act.acquires and act.lock == lock for act in _acts(user))]


def _given_back(
    lock: str, given: Mapping[str, int], users: Sequence[LockUser], readers: Sequence[LockUser]
) -> int | None:
    """Units of a lock that readers give back for what a turn of its writer gives; None = no one can say.

    Each lock that the writer gives is taken by one reader, which takes no other one; a reader has one turn.
    """
    back = 0
    for other, many in given.items():
        takers = [user for user in users if any(act.acquires and act.lock == other for act in _acts(user))]
        if len(takers) != 1 or takers[0] not in readers:
            return None
        takes, gives = sums(takers[0].turns[0].acts)
        if len(takes) != 1 or set(gives) != {lock} or many * gives[lock] % takes[other]:
            return None
        back += many * gives[lock] // takes[other]
    return back if len(readers) == len(given) else None


def _imbalance(
    made: Configured, writer: LockUser, lock: str, units: tuple[int, int], readers: Sequence[LockUser]
) -> Imbalance:
    act = next(act for act in _acts(writer) if act.acquires and act.lock == lock)
    name, (taken, back) = lock_name(made, lock), units
    where = f"{writer.name}, {line_of(act.operation)}"
    more, names = "more" if taken > back else "less", [each.name for each in readers]
    message = (
        f"{where}: {name} is acquired by {taken}, {more} than the {back} that {' and '.join(names)} "
        "release for the data of that turn."
    )
    sides = (
        Side(writer.name, f"acquires {taken} of {name}", place_of(act.operation)),
        *(Side(each, f"releases {name}") for each in names),
    )
    initial = {name: each.initial for name, each in made.device.locks.items()}
    finds = initial[lock] >= back or all(_begins(each, initial) for each in readers)  # else it waits for ever
    fix = f"Let {writer.name} acquire {back} there." if finds else ""
    evidence = units_of(act._replace(many=back)) if finds else NO_EVIDENCE
    found = Finding(UNFIT, Severity.ERROR, message, sides, fix=fix, evidence=evidence)
    return Imbalance(found, number_of(made, lock))


def _begins(user: LockUser, initial: Mapping[str, int]) -> bool:
    """Whether locks begin with all that the first turn of a user takes."""
    taken, _ = sums(_acts(user))
    return all(initial.get(lock, 0) >= many for lock, many in taken.items())
