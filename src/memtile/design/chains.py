"""Chains of descriptors: which tasks they become, and their register words once all are in reach.

A memory tile's channels 0 to 3 reach the memory and locks of the tiles beside it; what is not there, or not
for this channel, halts the chip (AM025 status bits 8 and 9) and is refused here before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain as flat
from typing import Protocol

from memtile.access.boxes import boxes, check_walk, last_address
from memtile.access.lowering.certificate import QueueEntry
from memtile.access.walk import Walk
from memtile.arch.tiles import TileKind
from memtile.bd.codec import encode
from memtile.bd.copies import with_changes
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.bd.windows import place_of_address, place_of_lock
from memtile.design.locks import Lock, LockAcquire, LockRelease, owner_text, same_kind
from memtile.design.transfers import Transfer
from memtile.errors import DescriptorError, Problem, raise_if

_KEPT = 4096  # descriptors that were looked at last: variants of a design have the same ones
_WINDOWS = "AM020 chapter 5: DMA windows"
Use = tuple[str, str, tuple[str, ...]]
"""A field of a descriptor, what it names, and the windows that this lies in."""


class Holder(Protocol):
    """A tile that holds descriptors."""

    kind: TileKind
    title: str

    @property
    def bench(self) -> object:
        """The design that it is part of."""

    def seen(self, lock: Lock) -> Lock:
        """A lock as its DMA sees it."""

    def behind(self, window: str) -> str | None:
        """The tile behind a window of its DMA, for messages."""


class Executor(Protocol):
    """A channel that executes descriptors."""

    @property
    def number(self) -> int:
        """Its number within its direction."""

    @property
    def port(self) -> str:
        """Its name, such as ``MM2S 0``."""


Walks = Mapping[tuple[int, int], Callable[[Descriptor], Descriptor]]
"""By model index of a tile and number of a BD what makes another descriptor of it."""
_OTHER: ContextVar[Walks] = ContextVar("descriptors that are tried")


@contextmanager
def other_descriptors(walks: Walks) -> Iterator[None]:
    """Have channels inside start other descriptors than their design says.

    Args:
        walks: of which BDs.
    """
    token = _OTHER.set(walks)
    try:
        yield
    finally:
        _OTHER.reset(token)


def descriptors_tried() -> bool:
    """Whether channels start other descriptors here than their design says."""
    return bool(_OTHER.get({}))


def as_tried(tile: int, numbers: Sequence[int], chain: Sequence[Descriptor]) -> list[Descriptor]:
    """The descriptors of a tile's BDs, or others for a context in which these are tried."""
    other = _OTHER.get({})
    return [
        other[tile, number](each) if (tile, number) in other else each
        for number, each in zip(numbers, chain, strict=True)
    ]


def chain_words(
    tile: Holder, numbers: Sequence[int], chain: Sequence[Descriptor], channel: Executor | None = None
) -> list[tuple[int, ...]]:
    """Register words of descriptors for these BDs of a tile.

    Args:
        tile: where they are.
        numbers: their BD numbers.
        chain: the descriptors.
        channel: who executes them; None = not known, so that its reach is not looked at.

    Raises:
        DescriptorError: every field of any of them that does not fit; where a walk leaves the address space;
            memory or a lock that is not there or that the channel does not reach; another tile's lock.
    """
    words: list[tuple[int, ...]] = []
    problems: list[Problem] = []
    for number, descriptor in zip(numbers, chain, strict=True):
        try:
            words.append(_checked_words(tile, number, descriptor, channel))
        except DescriptorError as error:
            problems += error.problems
    raise_if(problems, DescriptorError)
    return words


def _checked_words(
    tile: Holder, number: int, descriptor: Descriptor, channel: Executor | None
) -> tuple[int, ...]:
    where = f"{tile.title}, BD {number}"
    if not same_kind(descriptor.kind, tile.kind):
        raise DescriptorError.of(
            "tile",
            descriptor.tile,
            tile.kind.name,
            f"the descriptor is for kind {descriptor.tile}, the tile is of kind {tile.kind.name}",
            reason="tile",
            where=where,
            source="AM025: BDs differ by tile kind",
        )
    raise_if(_foreign_locks(tile, descriptor, where), DescriptorError)
    bare = _bare(descriptor)
    words, uses = _looked_at(bare, _types(bare), number, where)
    if channel is not None and len(tile.kind.memory_windows) > 1:
        raise_if([p for use in uses for p in _beyond(tile, channel, where, use)], DescriptorError)
    return words


def _bare(descriptor: Descriptor) -> Descriptor:
    """The descriptor with lock numbers instead of locks: a cache of it does not keep their design alive."""
    acquire, release = descriptor.acquire, descriptor.release
    if not isinstance(acquire, LockAcquire) and not isinstance(release, LockRelease):
        return descriptor
    return with_changes(descriptor, acquire=Acquire(*acquire), release=Release(*release))


def _types(descriptor: Descriptor) -> tuple[type, ...]:
    """Types of all that a descriptor says: 1 equals True and 1.0, and a register takes not all of them."""
    d = descriptor
    pairs = (*d.dims, *d.pad, d.iteration, d.acquire, d.release, d.axi, d.packet or ())
    single = (d.length, d.address, d.next, d.ooo_id, d.compression, d.tlast_suppress, d.valid)
    return tuple(map(type, (*single, *flat.from_iterable(pairs))))


@lru_cache(maxsize=_KEPT)
def _looked_at(
    descriptor: Descriptor, _: tuple[type, ...], number: int, where: str
) -> tuple[tuple[int, ...], tuple[Use, ...]]:
    """Register words of a descriptor that stays within memory, and the windows that it reaches."""
    words = encode(descriptor, number)
    kind = descriptor.kind
    walks = [Walk.of(descriptor, run) for run in range(descriptor.iteration.different)]
    raise_if([p for walk in walks for p in check_walk(walk, kind, where)][:1], DescriptorError)
    if len(kind.memory_windows) == 1:
        return words, ()
    return words, tuple(dict.fromkeys([*_memory(kind, walks), *_locks(kind, descriptor)]))


def _memory(kind: TileKind, walks: Sequence[Walk]) -> Iterator[Use]:
    """The windows at both ends of each walk; between them lies only the own one."""
    for walk in walks:
        highest = last_address(walk)
        if highest is not None:
            lowest = min(box.address for box in boxes(walk))
            places = (place_of_address(kind, address) for address in (lowest, highest))
            windows = dict.fromkeys(place.window for place in places if place)
            yield "address walk", f"words {lowest:#x}..{highest:#x}", tuple(windows)


def _locks(kind: TileKind, descriptor: Descriptor) -> Iterator[Use]:
    acquire, release = descriptor.acquire, descriptor.release
    used = [("acquire", acquire.id)] * acquire.enable + [("release", release.id)] * bool(release.value)
    for field, lock in used:
        place = place_of_lock(kind, lock)
        if place is not None:
            yield field, f"lock id {lock}", (place.window,)


def _foreign_locks(tile: Holder, descriptor: Descriptor, where: str) -> list[Problem]:
    """Locks of another tile, by whose number this tile's DMA would find one of its own."""
    used = {"acquire": descriptor.acquire, "release": descriptor.release}
    return [
        Problem(
            field,
            f"lock {action.lock.name} of {owner_text(action.lock, tile.bench)}",
            "own locks, and a neighbour's as this tile sees them",
            f"{field} names lock {action.lock.name} of {owner_text(action.lock, tile.bench)}; "
            "it must be a lock of this tile, or a neighbour's as this tile sees it",
            "Take tile.seen(lock).",
            reason="owner",
            where=where,
            source=_WINDOWS,
        )
        for field, action in used.items()
        if isinstance(action, LockAcquire | LockRelease) and tile.seen(action.lock) != action.lock
    ]


def _beyond(tile: Holder, channel: Executor, where: str, use: Use) -> Iterator[Problem]:
    """What is wrong with the windows of one use: nobody is behind them, or they are not for the channel."""
    field, given, windows = use
    beside = [name for name in windows if name != "own"]
    if not beside:
        return
    there = [name for name in tile.kind.memory_windows if tile.behind(name) is not None]
    place = f"{given}, {' and '.join(windows)} window{'s' * (len(windows) > 1)}"
    verb = "covers" if given.startswith("words") else "names"
    says = f"{field} {verb} {given}, in the {' and '.join(windows)} window{'s' * (len(windows) > 1)}"
    for name in beside:
        if name not in there:
            yield Problem(
                field,
                place,
                f"windows with a tile behind them: {', '.join(there)}",
                f"{says}, but no memory tile is {name} of {tile.title}",
                f"Stay in the windows that have a tile: {', '.join(there)}.",
                reason="missing_neighbour",
                where=where,
                source=_WINDOWS,
            )
    reach = tile.kind.neighbour_channels
    if channel.number not in reach:
        owners = ", ".join(owner for name in beside if (owner := tile.behind(name)))
        yield Problem(
            field,
            place,
            f"the own window for {channel.port}",
            f"{says}, but {channel.port} reaches the own window only",
            f"Use channels {reach[0]}..{reach[-1]}, which reach {owners or 'neighbours'}.",
            reason="neighbour_channel",
            where=where,
            source=_WINDOWS,
        )


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """Tasks of one ``start``.

    Attributes:
        tasks: in the order in which they are pushed.
        times: how often the whole row of them is pushed, with the same BDs.
        loop: the one task is a ring.
        chained: each descriptor names the next; False where packets name theirs.
    """

    tasks: tuple[QueueEntry, ...]
    times: int = 1
    loop: bool = False
    chained: bool = True

    @property
    def descriptors(self) -> list[Descriptor]:
        """The descriptors of all tasks."""
        return [descriptor for task in self.tasks for descriptor in task.descriptors]

    @property
    def pushes(self) -> int:
        """Entries of the task queue."""
        return self.times * len(self.tasks)

    def linked(self, numbers: Sequence[int]) -> list[list[Descriptor]]:
        """The descriptors of each task under these BD numbers, in order."""
        out, rest = [], list(numbers)
        for task in self.tasks:
            mine, rest = rest[: len(task.descriptors)], rest[len(task.descriptors) :]
            following = [*mine[1:], mine[0] if self.loop else None]
            chain = zip(task.descriptors, following, strict=True)
            out.append([d.but(next=after) for d, after in chain] if self.chained else list(task.descriptors))
        return out


def plan_of(transfers: Sequence[Transfer], repeat: int, room: int, *, loop: bool = False) -> TaskPlan:
    """The tasks for ``transfers`` in order, ``repeat`` times.

    One chain where all of them are one run; else what runs several times is a task of its own, as long as the
    queue has ``room`` for all tasks. A ring is always one chain.

    Raises:
        TransferError: one chain is needed, and a transfer takes too many descriptors in one run.
    """
    if repeat > 1:  # the BDs are not written again, so that each pass must leave them as it found them
        transfers = [t if begins_again(t) else t.in_one_run() for t in transfers]
    simple = all(transfer.is_one_run for transfer in transfers)
    if len(transfers) == 1 and not loop and len(transfers[0].tasks) == 1:
        (task,) = transfers[0].tasks
        return TaskPlan((QueueEntry(task.descriptors, task.runs * repeat),))
    if not simple and not loop:
        plan = TaskPlan(tuple(_tasks(transfers)), repeat)
        if plan.pushes <= room or not _once(transfers):
            return plan
    whole = transfers if simple else [transfer.in_one_run() for transfer in transfers]
    runs = repeat * max((transfer.runs for transfer in whole), default=1)  # above 1 in a ring is refused
    return TaskPlan((QueueEntry(tuple(d for t in whole for d in t.descriptors), runs),), loop=loop)


def begins_again(transfer: Transfer) -> bool:
    """Whether the iterations of all descriptors are back where they began after one pass of several runs."""
    return transfer.is_one_run or all(
        task.runs % descriptor.iteration.wrap == 0
        for task in transfer.tasks
        for descriptor in task.descriptors
    )


def _once(transfers: Sequence[Transfer]) -> bool:
    return all(transfer.is_one_run or transfer.once is not None for transfer in transfers)


def _tasks(transfers: Sequence[Transfer]) -> list[QueueEntry]:
    """Neighbours that are one run in one chain, the others in tasks of their own."""
    tasks: list[QueueEntry] = []
    joins = False
    for transfer in transfers:
        if joins and transfer.is_one_run:
            tasks[-1] = QueueEntry((*tasks[-1].descriptors, *transfer.descriptors))
        else:
            tasks += transfer.tasks
        joins = transfer.is_one_run
    return tasks
