"""The findings about users of locks that do not fit all others, and about values at the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.explain.evidence import NO_EVIDENCE, AdvisedUnits, Evidence
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import UNFIT, Imbalance
from memtile.importers.kernels.core_places import core_places
from memtile.importers.kernels.foreign_pairs import foreign_pairs
from memtile.importers.kernels.lock_discipline import Change, Discipline, Fault, pairs_of
from memtile.importers.kernels.lock_names import core_text, line_of, lock_name, number_of, place_of
from memtile.importers.kernels.lock_users import Act, LockUser, Texts, lock_users, units_of
from memtile.importers.kernels.shared_rooms import shared_rooms
from memtile.importers.kernels.turn_orders import turn_orders
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation


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
    yield from _turned_round(made, discipline)
    yield from _values(made, discipline)
    yield from shared_rooms(made, users, unknown)
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
        severity = Severity.ERROR if sure else Severity.WARNING
        found = Finding(UNFIT, severity, message, (side, *others), fix=fix, evidence=self._evidence())
        lock = self.act.lock if not self.act.acquires else self.fault.partner
        once = self.fault.change.what == "lock" or (self.fault.change.what == "new") == self.act.acquires
        return Imbalance(found, number_of(self.made, lock), certain=self.turn.again or once)

    def _evidence(self) -> Evidence:
        """The units that the act should have, if nothing else about it is wrong."""
        was = self.fault.was
        is_number = self.fault.change.what == "units" and was is not None and was.many
        return units_of(self.act) if is_number and not self.fault.others else NO_EVIDENCE

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
        exact = self._exact() if self.act.acquires else None
        if exact is not None:
            self.act, at = self.act._replace(operation=exact), line_of(exact)
            self.where = f"{self.user.name}, {at}"
            says = f"Acquire waits until {lock} is exactly a value and takes none of it"
            return says, f"Write AcquireGreaterEqual in {at}."
        if self.act.acquires:
            says = f"{lock} is not acquired before the use that ends with the release of {partner}"
            return says, f"Let {self.user.name} acquire {lock} before it uses the buffer."
        says = f"{lock} is not released after the use that begins with the acquire of {partner}"
        return says, f"Let {self.user.name} release {lock} after its last use of the buffer."

    def _exact(self) -> Operation | None:
        """A wait of the core for exactly a value of the lock that it should acquire."""
        core = next(
            (each for each in self.made.device.cores if core_text(self.made, each) == self.user.name), None
        )
        for each in core.operation.walk() if core is not None else ():
            said = lock_form(OperationForm(each)) if each.name == "aie.use_lock" else None
            if said is not None and said.action == "acquire" and said.lock == self.act.lock:
                return each
        return None

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


def _turned_round(made: Configured, discipline: Discipline) -> Iterator[Imbalance]:
    """A chain that reads and takes and gives the locks of a pair as who writes does."""
    for one, other in discipline.pairs.items():
        if discipline.initial[one] <= discipline.initial[other] or _takers(discipline, other):
            continue
        chains = {user.name: (user, act) for user, act in _takers(discipline, one) if user.direction}
        users = {user.name for user, _ in _takers(discipline, one)}
        odd = [(user, act) for user, act in chains.values() if user.direction == "MM2S"]
        if len(odd) != 1 or len(users) == 1:
            continue
        (user, act), (rest, *_) = odd[0], sorted(users - {odd[0][0].name})
        free, full = lock_name(made, one), lock_name(made, other)
        where = f"{user.name}, {line_of(act.operation)}"
        does = f"acquires {free} and releases {full}, as {rest} does"
        message = f"{where}: it {does}, and nothing acquires {full}: it would send before there is data."
        fix = f"Let {user.name} acquire {full} and release {free}."
        sides = (Side(user.name, does, place_of(act.operation)), Side(rest, "uses the locks the same way"))
        found = Finding(UNFIT, Severity.ERROR, message, sides, fix=fix)
        yield Imbalance(found, number_of(made, one))


def _values(made: Configured, discipline: Discipline) -> Iterator[Imbalance]:
    """Pairs that begin with fewer units than a user takes at once, or with more than there are buffers."""
    wrong = discipline.unfit()
    for free, full in discipline.pairs.items():
        writers, readers = _takers(discipline, free), _takers(discipline, full)
        if readers and discipline.is_of_sent_data(free):
            yield from _sent_before(made, discipline, full, readers)
        if free in wrong or full in wrong:
            continue
        if not writers or not readers:
            continue
        if not any(user.direction for user, _ in writers + readers):
            is_free = discipline.initial[free] > discipline.initial[full]
            if is_free and (shared := core_places(made, free, full)) is not None:
                yield from _value(made, discipline, (free, full), writers + readers, shared)
            continue
        if any(user.direction == "MM2S" for user, _ in writers) or any(
            user.direction == "S2MM" for user, _ in readers
        ):
            continue  # the other way round
        most = max(_places(discipline, {free, full}).values())
        yield from _value(made, discipline, (free, full), writers + readers, most)


def _sent_before(
    made: Configured, discipline: Discipline, full: str, readers: Sequence[tuple[LockUser, Act]]
) -> Iterator[Imbalance]:
    """A lock that lets a channel send at the start what somebody has still to write."""
    begins, device = discipline.initial[full], made.device
    writers = [
        user
        for user in discipline.users
        for turn in user.turns
        for act in turn.acts
        if act.lock == full and not act.acquires
    ]
    buffers = [device.buffers.get(act.buffer) for _, act in readers]
    empty = all(buffer is not None and buffer.initial is None for buffer in buffers)
    if not begins or not writers or not empty or any(user.direction != "MM2S" for user, _ in readers):
        return
    name, operation = lock_name(made, full), device.locks[full].operation
    (reader, act), writer = readers[0], writers[0].name
    says = f"starts at {begins}: {reader.name} sends {act.buffer.lstrip('%')} before {writer} has written it"
    message = f"{name}, {line_of(operation)}, {says}."
    sides = (Side(name, f"starts at {begins}", place_of(operation)), Side(reader.name, "acquires it"))
    found = Finding(UNFIT, Severity.ERROR, message, sides, fix=f"Initialise {name} to 0.")
    yield Imbalance(found, number_of(made, full))


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
    pair: tuple[str, str],
    takers: Sequence[tuple[LockUser, Act]],
    most: int,
) -> Iterator[Imbalance]:
    """A pair that begins with too few units or too many, if ``most`` places take one each."""
    begin, (free, full) = discipline.initial, pair
    need = max(act.many for _, act in takers)
    whole = begin[free] + begin[full]
    if whole < need:
        lock, wanted = free, most
        says = f"starts at {begin[free]}, less than the {need} that one of its users acquires at once"
    elif whole > most:
        lock = full if begin[full] else free
        wanted = (
            0 if begin[full] and begin[free] >= most else max(most - begin[free if lock == full else full], 0)
        )
        says = f"starts at {begin[lock]}, {whole - most} more than it has buffers"
    else:
        return
    operation = made.device.locks[lock].operation
    users = list(dict.fromkeys(user.name for user, _ in takers))
    name = lock_name(made, lock)
    sides = (
        Side(name, f"starts at {begin[lock]}", place_of(operation)),
        *(Side(each, "") for each in users),
    )
    message = f"{name}, {line_of(operation)}, {says} ({', '.join(users)})."
    found = Finding(
        *(UNFIT, Severity.ERROR, message, sides),
        fix=f"Initialise {name} to {wanted}.",
        evidence=Evidence(units=AdvisedUnits(operation.line, lock, False, wanted)),
    )
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
