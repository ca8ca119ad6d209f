"""A lock that a host sets instead of another one: a core waits for that one, which nothing gives.

Decided by the texts of all users of locks and by the steps of the host: it gives more of one lock than is
taken in all, and nothing gives the other one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.importers.host_writes import HostWrite
from memtile.importers.kernels.core_locks import released_by_cores
from memtile.importers.kernels.lock_names import line_of as line_said
from memtile.importers.kernels.lock_names import lock_name, number_of, place_of
from memtile.importers.kernels.lock_steps import steps_of
from memtile.importers.kernels.lock_users import Act, lock_users
from memtile.importers.mlir.configure import Configured
from memtile.runs.channel_addresses import channel_addresses
from memtile.runs.operations import Operation, Write

INSTEAD = "MT0338"


def set_instead(made: Configured, steps: Sequence[Operation]) -> Iterator[HostWrite]:
    """One finding, if one lock lacks what another one has too much of.

    Args:
        made: the device in its array.
        steps: of the host sequence.
    """
    sets, at = dict[int, list[Write]](), channel_addresses(made.array.engine).locks
    for step in steps:
        if isinstance(step, Write) and step.value and (lock := at.get(step.address, -1)) >= 0:
            sets.setdefault(lock, []).append(step)
    released = released_by_cores(made) if sets else None
    if released is None:
        return
    uses, locks = _Uses.of(made), made.device.locks
    numbers = {name: number_of(made, name) for name in locks if name not in uses.given}
    lacking, spare = [], []
    for name, number in numbers.items():
        own, writes = locks[name].initial, sets.get(number, [])
        if number in released:
            continue
        if not writes and name in uses.waits and own < uses.waits[name][1].many:
            lacking.append(name)
        if writes and name not in uses.open and own + sum(each.value for each in writes) > uses.taken[name]:
            spare.append(name)
    if len(lacking) == len(spare) == 1 and _is_for_hosts(made, lacking[0]):
        yield _finding(made, lacking[0], uses.waits[lacking[0]], spare[0], sets[numbers[spare[0]]][-1])


def _is_for_hosts(made: Configured, lock: str) -> bool:
    """Whether a host may be meant to set a lock: not one of an object FIFO, or of a core that is missing."""
    tile = made.device.locks[lock].tile
    cores = {core.tile for core in made.device.cores if core.has_body}
    missing = made.tiles[tile].kind.role == "compute" and tile not in cores
    return not missing and number_of(made, lock) not in made.array.engine.fifo_locks


@dataclass(frozen=True, slots=True)
class _Uses:
    """What the texts of cores and chains do to locks.

    Attributes:
        taken: units that are acquired in all, by lock.
        given: locks that are released.
        waits: by lock its first user that acquires it.
        open: locks of which it is not known how much is acquired.
    """

    taken: Counter[str] = field(default_factory=Counter)
    given: set[str] = field(default_factory=set)
    waits: dict[str, tuple[str, Act]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, made: Configured) -> Self:
        """The uses of a device."""
        texts = {core.tile: steps_of(made.device, core) for core in made.device.cores if core.has_body}
        found = cls()
        for user in lock_users(made, texts)[0]:
            for turn in user.turns:
                for act in turn.acts:
                    found._add(user.name, act, turn.often)
        return found

    def _add(self, who: str, act: Act, often: int | None) -> None:
        if not act.acquires:
            self.given.add(act.lock)
            return
        self.waits.setdefault(act.lock, (who, act))
        self.taken[act.lock] += act.many * (often or 0)
        if often is None:
            self.open.add(act.lock)


def _finding(made: Configured, lacks: str, waits: tuple[str, Act], spare: str, step: Write) -> HostWrite:
    who, act = waits
    wanted, other, line = lock_name(made, lacks), lock_name(made, spare), line_of(step.place)
    does = f"sets {other} in {line}, which is taken less often"
    at = line_said(act.operation)
    message = f"Nothing releases or sets {wanted}, for which {who} waits ({at}); the host {does}."
    sides = (Side("the host", does, step.place), Side(who, f"waits for {wanted}", place_of(act.operation)))
    fix = f"Let {line} set {wanted}."
    return HostWrite(Finding(INSTEAD, CODES[INSTEAD].severity, message, sides, fix=fix), wanted)
