"""The findings about users of locks that do not fit all others, and about values at the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import UNFIT, Imbalance
from memtile.importers.kernels.foreign_pairs import foreign_pairs
from memtile.importers.kernels.lock_discipline import Change, Discipline, Fault, pairs_of
from memtile.importers.kernels.lock_names import line_of, lock_name, number_of, place_of
from memtile.importers.kernels.lock_users import Act, LockUser, Texts, lock_users
from memtile.importers.kernels.turn_orders import turn_orders
from memtile.importers.mlir.configure import Configured


def lock_faults(made: Configured, texts: Texts) -> Iterator[Imbalance]:
    """What the texts of cores and chains have wrong about locks that guard buffers in pairs.

    Args:
        made: the device in its array.
        texts: steps of all cores, by tile.
    """
    users, unknown = lock_users(made, texts)
    device = made.device
    tiles = {name: lock.tile for name, lock in device.locks.items()}
    initial = {name: lock.initial for name, lock in device.locks.items()}
    pairs = pairs_of(users, tiles, initial, unknown)
    discipline = Discipline(users, pairs, initial)
    for fault in discipline.faults():
        yield _Fault(made, fault, users).imbalance()
    yield from _values(made, discipline)
    yield from foreign_pairs(made, users, unknown)
    yield from turn_orders(made, users, unknown)


class _Fault:
    """A fault in words."""

    def __init__(self, made: Configured, fault: Fault, users: Sequence[LockUser]) -> None:
        self.made, self.fault, self.users = made, fault, users
        self.user, self.act = fault.change.user, fault.change.act
        self.turn = self.user.turns[fault.change.turn]
        self.where = f"{self.user.name}, {line_of(self.act.operation)}"

    def imbalance(self) -> Imbalance:
        """The fact that it is."""
        says, fix = getattr(self, f"_{self.fault.change.what}")()
        does = "acquires" if self.act.acquires else "releases"
        side = Side(self.user.name, f"{does} {self._name(self._first)}", place_of(self.act.operation))
        others = [Side(name, "uses the other lock of the pair") for name in self._others()]
        sure = not self.fault.others
        message = f"{self.where}: {says}."
        if not sure:
            fix = f"{fix} Or {' or '.join(map(self._other_fix, self.fault.others))}."
        found = Finding(
            UNFIT, Severity.ERROR if sure else Severity.WARNING, message, (side, *others), fix=fix
        )
        lock = self.act.lock if not self.act.acquires else self.fault.partner
        once = self.fault.change.what == "lock" or (self.fault.change.what == "new") == self.act.acquires
        return Imbalance(found, number_of(self.made, lock), certain=self.turn.again or once)

    @property
    def _first(self) -> str:
        return self.fault.was.lock if self.fault.was is not None else self.act.lock

    def _others(self) -> list[str]:
        """Other users of the pair."""
        locks = {self.act.lock, self.fault.partner}
        users = (each for each in self.users if each.name != self.user.name)
        return list(
            dict.fromkeys(
                each.name
                for each in users
                if any(act.lock in locks for turn in each.turns for act in turn.acts)
            )
        )

    def _name(self, lock: str) -> str:
        return lock_name(self.made, lock)

    def _new(self) -> tuple[str, str]:
        lock, partner = self._name(self.act.lock), self._name(self.fault.partner)
        if self.act.acquires:
            says = f"{lock} is not acquired before the use that ends with the release of {partner}"
            return says, f"Let {self.user.name} acquire {lock} before it uses the buffer."
        says = f"{lock} is not released after the use that begins with the acquire of {partner}"
        return says, f"Let {self.user.name} release {lock} after its last use of the buffer."

    def _lock(self) -> tuple[str, str]:
        was, lock, partner = (
            self._name(self._first),
            self._name(self.act.lock),
            self._name(self.fault.partner),
        )
        verb, other = ("acquire", "released") if self.act.acquires else ("release", "acquired")
        says = f"{was} is {verb}d instead of {lock}; {partner}, which belongs to that, is {other}"
        return says, f"Let {self.user.name} {verb} {lock} there."

    def _units(self) -> tuple[str, str]:
        assert self.fault.was is not None
        lock, partner = self._name(self.act.lock), self._name(self.fault.partner)
        verb, other = ("acquire", "released") if self.act.acquires else ("release", "acquired")
        idle = [act for act in self.turn.acts if not act.many and act.lock == self.act.lock and act.acquires]
        if len(idle) > 1 and self.act.many % len(idle) == 0:
            lines = " and ".join(dict.fromkeys(line_of(act.operation) for act in idle))
            says = (
                f"{lock} is acquired by 0 in {lines}, which waits for nothing; {partner} is released for it"
            )
            return says, f"Let {self.user.name} acquire {self.act.many // len(idle)} in each of these lines."
        more = "more" if self.fault.was.many > self.act.many else "less"
        says = f"{lock} is {verb}d by {self.fault.was.many}, {more} than {partner} is {other} for it"
        return says, f"Let {self.user.name} {verb} {self.act.many} there."

    def _gone(self) -> tuple[str, str]:
        lock, partner = self._name(self.act.lock), self._name(self.fault.partner)
        says = f"{lock} is acquired, and {partner} is not released for it"
        return says, f"Let {self.user.name} acquire the lock there that it means, or none."

    def _other_fix(self, change: Change) -> str:
        verb = "acquire" if change.act.acquires else "release"
        if change.what == "gone":
            return f"leave out that {verb}"
        return f"{verb} {change.act.many} of {self._name(change.act.lock)} in {line_of(change.act.operation)}"


def _values(made: Configured, discipline: Discipline) -> Iterator[Imbalance]:
    """Pairs that begin with fewer units than a user takes at once, or with more than there are buffers."""
    wrong = discipline.unfit()
    for free, full in discipline.pairs.items():
        if free in wrong or full in wrong:
            continue
        writers = _takers(discipline, free)
        readers = _takers(discipline, full)
        if not writers or not readers or not any(user.direction for user, _ in writers + readers):
            continue
        if any(user.direction == "MM2S" for user, _ in writers) or any(
            user.direction == "S2MM" for user, _ in readers
        ):
            continue  # the other way round
        yield from _value(made, discipline, free, full, writers + readers)


def _takers(discipline: Discipline, lock: str) -> list[tuple[LockUser, Act]]:
    return [
        (user, act)
        for user in discipline.users
        for turn in user.turns
        for act in turn.acts
        if act.acquires and act.lock == lock
    ]


def _value(
    made: Configured,
    discipline: Discipline,
    free: str,
    full: str,
    takers: Sequence[tuple[LockUser, Act]],
) -> Iterator[Imbalance]:
    begin, locks = discipline.initial, {free, full}
    places = _places(discipline, locks)
    need = max(act.many for _, act in takers)
    whole, most = begin[free] + begin[full], max(places.values())
    if whole < need:
        lock, wanted = free, most
        says = f"begins with {begin[free]}, less than the {need} that one of its users takes at once"
    elif whole > most:
        lock = full if begin[full] else free
        wanted = (
            0 if begin[full] and begin[free] >= most else max(most - begin[free if lock == full else full], 0)
        )
        says = f"begins with {begin[lock]}, {whole - most} more than there are buffers for it"
    else:
        return
    operation = made.device.locks[lock].operation
    users = list(dict.fromkeys(user.name for user, _ in takers))
    name = lock_name(made, lock)
    sides = (
        Side(name, f"begins with {begin[lock]}", place_of(operation)),
        *(Side(each, "") for each in users),
    )
    message = f"{name}, {line_of(operation)}, {says} ({', '.join(users)})."
    found = Finding(UNFIT, Severity.ERROR, message, sides, fix=f"Begin {name} with {wanted}.")
    yield Imbalance(found, number_of(made, lock))


def _places(discipline: Discipline, locks: set[str]) -> dict[str, int]:
    """How many units the buffers of a pair hold, by each chain that uses it: turns of a BD each."""
    found: dict[str, int] = {}
    for user in discipline.users:
        many: dict[tuple[str, int], int] = {}
        for turn in user.turns:
            for bd in turn.bds:
                uses = [use for use in (bd.acquire, bd.release) if use is not None and use.lock in locks]
                if uses:
                    many[bd.buffer, bd.offset] = max(use.value for use in uses)
        if many:
            found[user.name] = sum(many.values())
    return found
