"""The usual lock protocols: who waits for which lock, who releases it, and what it holds at the start.

Every protocol turns plain transfers into guarded ones, to be started as rings (``loop=True``). ``hand_over``
is the single buffer (one transfer per side), the ping-pong (two) and the n-deep queue. ``one_writer`` and
``one_reader`` join several channels over the same buffers. Semantics of the locks: AM020, locks, and AM025,
DMA_BDn_7: a BD takes one lock before its first access and gives one after its last.

AMD's runtime counts readers in one consumer lock per buffer (XRT, graph buffer update: the host releases it
by the number of outputs). That is safe while each reader passes once; in rings a reader that comes early
takes the token of a slower one, which then misses a frame. So a token here passes from reader to reader: the
writer gives it to the first, each gives it on to the next as soon as it has started, and each tells the
writer when it is done. Many writers are the mirror image (not published by AMD; inferred).

It also says how a descriptor is cut in two, so that a lock can be given after its first few words already.

A BD does one acquire before its first word and one release after its last (AM020: BDs hold one lock of each
kind), so a channel that has to tell two locks needs two BDs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memtile.access.tiling import NO_PORT
from memtile.arch.tiles import GRANULE_WORDS
from memtile.bd.descriptor import NO_ITERATION, Descriptor, Dim
from memtile.bd.windows import DmaAddress
from memtile.design.channels import Channel
from memtile.design.locks import Lock
from memtile.design.transfers import Transfer
from memtile.errors import DesignError, Problem, raise_if


def first_piece(transfer: Transfer) -> tuple[Transfer, Transfer] | None:
    """The first descriptor of ``transfer``, or a piece of it, and the rest; together the same stream.

    A contiguous transfer is cut after one 128-bit granule, any other after the first turn of its outermost
    loop. None when it is one descriptor that cannot be cut: padded, iterated, compressed, with a packet
    header (both pieces would send one), or too short.
    """
    first, *others = transfer.descriptors
    if others:
        return replace(transfer, descriptors=(first,)), replace(transfer, descriptors=tuple(others))
    packet = first.packet or transfer.port != NO_PORT
    special = first.pad or packet or first.compression or first.iteration != NO_ITERATION
    words, step = _piece_turn(first)
    if special or first.length <= words:
        return None
    head = first.but(length=words, tlast_suppress=True)
    rest = first.but(length=first.length - words, address=DmaAddress(first.address + step))
    return replace(transfer, descriptors=(head,)), replace(transfer, descriptors=(rest,))


def _piece_turn(descriptor: Descriptor) -> tuple[int, int]:
    """Words of one turn below the outermost loop that moves, and how far that loop advances in memory."""
    words, outer = 1, Dim(1)  # registers of 0 beyond the given dimensions mean step 1
    for dim in descriptor.dims:
        if not dim.wrap or words * dim.wrap >= descriptor.length:
            outer = dim
            break
        words *= dim.wrap
    if words > 1:
        return words, outer.step
    return GRANULE_WORDS, GRANULE_WORDS * outer.step


Turns = Sequence[Transfer]
"""What one channel does in one round: one transfer per buffer."""

_SOURCE = "AM025 DMA_BDn_7: one acquire and one release per BD"


class LockMaker(Protocol):
    """Anything that hands out locks, such as a ``MemoryTile``."""

    def lock(self, initial: int = 0, name: str | None = None) -> Lock:
        """A new lock that holds ``initial``."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Transfers with their lock operations.

    Attributes:
        writers: per writing channel the work of one round, in order.
        readers: the same for the reading channels.
        locks: the locks made, with their initial values.
    """

    writers: tuple[tuple[Transfer, ...], ...]
    readers: tuple[tuple[Transfer, ...], ...]
    locks: tuple[tuple[Lock, int], ...]

    def start(self, writers: Sequence[Channel], readers: Sequence[Channel]) -> None:
        """Start every channel on its ring, in transfer order.

        Raises:
            DesignError: not one channel per ring, or a channel has no room for it.
        """
        sides = ("writers", writers, self.writers), ("readers", readers, self.readers)
        problems = [
            Problem(
                side,
                f"{len(channels)} channels",
                f"{len(rings)}",
                f"there are {len(channels)} {side}; there must be {len(rings)}",
                reason="channels",
                where="protocol",
                source="one for each ring",
            )
            for side, channels, rings in sides
            if len(channels) != len(rings)
        ]
        raise_if(problems, DesignError)
        with (writers or readers)[0].tile.bench.all_or_nothing():
            for _, channels, rings in sides:
                for channel, ring in zip(channels, rings, strict=True):
                    channel.start(*ring, loop=True)


def hand_over(locks: LockMaker, name: str, write: Turns, read: Turns) -> Guarded:
    """One writer and one reader over n buffers: single buffer, ping-pong, n-deep.

    Two counting locks serve all buffers, since both sides visit them in the same order: ``free`` starts at n,
    ``full`` at 0.

    Args:
        locks: where the locks come from.
        name: prefix of the lock names.
        write: the writer's transfers, one per buffer.
        read: the reader's, in the same order of buffers.

    Raises:
        DesignError: different numbers of transfers, a transfer of several runs for which there is no other
            way, or with guards of its own.
    """
    return one_writer(locks, name, write, [read])


def read_again(locks: LockMaker, name: str, write: Transfer, read: Transfer, times: int) -> Guarded:
    """One writer and one reader over one buffer, each frame of which is read several times.

    The writer takes and gives as many as there are reads, so one transfer each way does for any number.

    Args:
        locks: where the locks come from.
        name: prefix of the lock names.
        write: the writer's transfer.
        read: the reader's.
        times: reads of each frame, as many as a lock can count.

    Raises:
        DesignError: as :func:`hand_over`, or more reads than a lock counts.
    """
    write, read = write.in_one_run(), read.in_one_run()
    _check(name, [write], [[read]])
    free, full = locks.lock(times, f"{name}.free"), locks.lock(0, f"{name}.full")
    writer = write.guarded(free.acquire(times), full.release(times))
    reader = read.guarded(full.acquire(), free.release())
    return Guarded(((writer,),), ((reader,),), ((free, times), (full, 0)))


def one_writer(locks: LockMaker, name: str, write: Turns, reads: Sequence[Turns]) -> Guarded:
    """One writer and several readers; each reader sees every frame exactly once.

    Each reader has its own ``full`` lock; the writer waits for all of them in the buffer's ``free`` lock. A
    reader starts a frame only after the one before it in ``reads``: name first the one that drains first.

    Args:
        locks: where the locks come from.
        name: prefix of the lock names.
        write: the writer's transfers, one per buffer.
        reads: per reader its transfers, in the same order of buffers.

    Raises:
        DesignError: as :func:`hand_over`.
    """
    write, reads = _in_one_run(write), [_in_one_run(read) for read in reads]
    _check(name, write, reads)
    one, many, made = _relay(locks, (f"{name}.free", f"{name}.full"), write, reads, free_at_start=True)
    return Guarded((one,), many, made)


def one_reader(locks: LockMaker, name: str, writes: Sequence[Turns], read: Turns) -> Guarded:
    """Several writers, each filling its part of every buffer, and one reader of complete buffers.

    The mirror image of :func:`one_writer`: each writer has its own ``free`` lock, and the reader waits for
    all of them in the buffer's ``full`` lock. A writer starts a frame only after the one before it has.

    Args:
        locks: where the locks come from.
        name: prefix of the lock names.
        writes: per writer its transfers, one per buffer.
        read: the reader's transfers, in the same order of buffers.

    Raises:
        DesignError: as :func:`hand_over`.
    """
    read, writes = _in_one_run(read), [_in_one_run(write) for write in writes]
    _check(name, read, writes)
    one, many, made = _relay(locks, (f"{name}.full", f"{name}.free"), read, writes, free_at_start=False)
    return Guarded(many, (one,), made)


def _relay(
    locks: LockMaker, names: tuple[str, str], one: Turns, many: Sequence[Turns], *, free_at_start: bool
) -> tuple[tuple[Transfer, ...], tuple[tuple[Transfer, ...], ...], tuple[tuple[Lock, int], ...]]:
    """Guards for one channel against a row of channels that pass a token along.

    ``batons[k]`` lets the k-th of the row begin; ``backs[b]`` counts those that are done with buffer b. One
    that cannot be cut gives its token on when it is done, so the next one that counts answers for it too.
    """
    depth = len(one)
    rows = [[_pieces(turn, cut=turns is not many[-1]) for turn in turns] for turns in many]
    done = [1 + sum(len(row[b]) - 1 for row in rows) for b in range(depth)]
    made: list[tuple[Lock, int]] = []

    def take(prefix: str, initials: Sequence[int]) -> list[Lock]:
        tags = [f"[{n}]" for n in range(len(initials))] if len(many) > 1 else [""]
        new = [(locks.lock(n, prefix + tag), n) for n, tag in zip(initials, tags, strict=True)]
        made.extend(new)
        return [lock for lock, _ in new]

    batons = take(names[1], [0 if free_at_start else depth] + [0] * (len(many) - 1))
    starts = [count if free_at_start else 0 for count in done]
    # one channel visits the buffers in the writer's order, so that a single lock can count them all
    backs = take(names[0], starts) if len(many) > 1 else take(names[0], [sum(starts)]) * depth
    single = tuple(
        turn.guarded(back.acquire(count), batons[0].release())
        for turn, back, count in zip(one, backs, done, strict=True)
    )
    handed = zip(rows, batons, [*batons[1:], None], strict=True)
    row = tuple(
        tuple(t for pieces, back in zip(row, backs, strict=True) for t in _turn(pieces, baton, onward, back))
        for row, baton, onward in handed
    )
    return single, row, tuple(made)


def _pieces(turn: Transfer, *, cut: bool) -> tuple[Transfer, ...]:
    """One transfer, or two where the token can go on early."""
    return (cut and first_piece(turn)) or (turn,)


def _turn(pieces: tuple[Transfer, ...], baton: Lock, onward: Lock | None, back: Lock) -> tuple[Transfer, ...]:
    """One channel of the row on one buffer: take the token, give it on, say when done."""
    begin, *rest = pieces
    if onward is None:
        return (begin.guarded(baton.acquire(), back.release()),)
    return (
        begin.guarded(baton.acquire(), onward.release()),
        *(piece.guarded(None, back.release()) for piece in rest),
    )


def _in_one_run(turns: Turns) -> Turns:
    """A ring goes round in runs of its own, so that each transfer in it is one run of one chain."""
    return [turn.in_one_run() for turn in turns]


def _check(name: str, one: Turns, many: Sequence[Turns]) -> None:
    """All reasons why the transfers cannot be guarded this way."""
    where = f"protocol {name}"
    counts = [len(one), *map(len, many)]
    problems = []
    if not many or not one or len(set(counts)) > 1:
        problems.append(
            Problem(
                "transfers",
                " and ".join(map(str, counts)),
                "at least one channel per side, and one transfer per buffer and channel",
                f"the channels have {' and '.join(map(str, counts))} transfers; "
                "each side needs at least one channel, and each channel one transfer for each buffer",
                reason="transfers",
                where=where,
                source="every ring goes over all buffers",
            )
        )
    for number, transfer in enumerate(t for turns in (one, *many) for t in turns):
        field = f"transfer {number}"
        if not transfer.is_one_run:
            problems.append(
                Problem(
                    field,
                    f"{transfer.runs} runs",
                    "one run",
                    f"{field} has {transfer.runs} runs; it must have one",
                    "Lower it without iteration.",
                    reason="runs",
                    where=where,
                    source=_SOURCE,
                )
            )
        if any(d.acquire.enable or d.release.value for d in transfer.descriptors):
            problems.append(
                Problem(
                    field,
                    "guards of its own",
                    "none",
                    f"{field} has guards of its own; it must have none",
                    reason="guards",
                    where=where,
                    source=_SOURCE,
                )
            )
    raise_if(problems, DesignError)
