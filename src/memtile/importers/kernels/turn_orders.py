"""Rings of descriptors and cores that take turns at buffers by a pair of locks, in different orders.

The n-th use of a core meets the n-th descriptor of the ring, or the one that follows where data is there from
the start. Only what a block of the core's text does between its acquires and releases is compared, and only
where it touches one buffer of the ring in each of its turns and all of them in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import OTHER_ORDER, Imbalance
from memtile.importers.kernels.lock_names import line_of, lock_name, number_of, place_of
from memtile.importers.kernels.lock_users import Act, LockUser
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription
from memtile.importers.mlir.tree import Operation

_ONE = ("acquire_ge", 1)


class _Ring(NamedTuple):
    """A chain that goes round through different buffers, each guarded by the same pair of locks."""

    user: LockUser
    bds: Sequence[BdDescription]
    takes: str
    gives: str

    @property
    def buffers(self) -> list[str]:
        return [bd.buffer for bd in self.bds]


class _Use(NamedTuple):
    """A buffer that a core uses between an acquire and the release that ends it, and where."""

    buffer: str
    operation: Operation


def turn_orders(made: Configured, users: Sequence[LockUser], unknown: set[str]) -> Iterator[Imbalance]:
    """The rings whose descriptors use their buffers in another order than the core at their other side.

    Args:
        made: the device in its array.
        users: all chains and cores.
        unknown: locks with other users than these.
    """
    for ring in (found for user in users if (found := _ring(user)) is not None):
        pair = {ring.takes, ring.gives}
        others = [each for each in users if each is not ring.user and _acts(each, pair)]
        if unknown & pair or len(others) != 1 or others[0].direction:
            continue
        uses = _uses(others[0], ring)
        meant = _meant(made, ring, [use.buffer for use in uses])
        if meant is not None and meant != ring.buffers:
            yield _imbalance(made, ring, others[0], uses)


def _ring(user: LockUser) -> _Ring | None:
    if not user.direction or len(user.turns) != 1 or user.turns[0].often is not None:
        return None
    bds = [*user.turns[0].bds]
    takes = {bd.acquire.lock for bd in bds if bd.acquire is not None and bd.acquire[1:] == _ONE}
    gives = {bd.release.lock for bd in bds if bd.release is not None and bd.release.value == 1}
    whole = len(user.turns[0].acts) == 2 * len(bds)
    follows = [bd.next for bd in bds] == [*range(1, len(bds)), 0]
    if not (whole and follows) or len(bds) < 2 or len({bd.buffer for bd in bds}) < len(bds):
        return None
    return _Ring(user, bds, takes.pop(), gives.pop()) if len(takes) == len(gives) == 1 else None


def _acts(user: LockUser, locks: set[str]) -> list[Act]:
    return [act for turn in user.turns for act in turn.acts if act.lock in locks]


def _uses(core: LockUser, ring: _Ring) -> list[_Use]:
    """The buffers of a ring that a core uses in a turn, in order; none where its text does not say it."""
    acts = _acts(core, {ring.takes, ring.gives})
    block = acts[0].operation.parent
    turns = [turn for turn in core.turns if any(act in acts for act in turn.acts)]
    if block is None or len(turns) != 1 or any(act.operation.parent is not block for act in acts):
        return []
    if any(act.many != 1 for act in acts):
        return []
    by_operation = {act.operation: act for act in acts}
    found, inside, used = list[_Use](), False, list[_Use]()
    for operation in block.operations:
        act = by_operation.get(operation)
        if act is None:
            used += [_Use(name, operation) for name in _buffers(operation) & {*ring.buffers}]
            continue
        if act.acquires == inside or act.lock != (ring.gives if act.acquires else ring.takes):
            return []
        inside = act.acquires
        names = {use.buffer for use in used}
        if len(names) != (not act.acquires):
            return []  # it uses several at once, none, or one that it has not acquired
        found += used[:1]
        used = []
    return found if not inside and not used else []


def _buffers(operation: Operation) -> set[str]:
    """The values that an operation and all within it name."""
    return {word for each in operation.walk() for word in each.words if word[:1] == "%"}


def _meant(made: Configured, ring: _Ring, used: Sequence[str]) -> list[str] | None:
    """The order of buffers that a ring should have, by the uses of a turn of the core; None = unknown."""
    count = len(ring.buffers)
    first = [*used[:count]]
    if {*first} != {*ring.buffers} or len(used) % count or [*used] != first * (len(used) // count):
        return None
    full = ring.gives if ring.user.direction == "S2MM" else ring.takes
    ahead = made.device.locks[full].initial * (1 if ring.user.direction == "MM2S" else -1)
    return [first[(number - ahead) % count] for number in range(count)]


def _imbalance(made: Configured, ring: _Ring, core: LockUser, uses: Sequence[_Use]) -> Imbalance:
    names = {each: made.device.buffers[each].name or each for each in ring.buffers}
    does, other = ("writes", "reads") if ring.user.direction == "S2MM" else ("reads", "writes")
    moved, used = (
        ", ".join(repr(names[each]) for each in order)
        for order in (ring.buffers, [use.buffer for use in uses[: len(names)]])
    )
    lock = lock_name(made, ring.takes)
    who, lines = ring.user.name, " and ".join(dict.fromkeys(line_of(bd.operation) for bd in ring.bds))
    says = (
        f"{who}, {lines}, {does} {moved} in turn, and {core.name}, from {line_of(uses[0].operation)} on, "
        f"{other} {used}: each has the buffer that the other one is not at."
    )
    fix = f"Exchange the buffers of these BDs, or of the turns of {core.name}; both take turns by {lock}."
    sides = (
        Side(who, f"{does} {moved}", place_of(ring.bds[0].operation)),
        Side(core.name, f"{other} {used}", place_of(uses[0].operation)),
    )
    return Imbalance(Finding(OTHER_ORDER, Severity.ERROR, says, sides, fix=fix), number_of(made, ring.takes))
