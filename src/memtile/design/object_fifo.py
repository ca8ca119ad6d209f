"""Object FIFOs: n-deep buffers with locks between tiles, split and gathered in memory tiles.

An object FIFO carries objects (arrays of one shape and type) from a producer to one or more consumers, in
order. It is nothing but what a design could write itself: buffers, two counting locks per end, a ring of
descriptors per channel, and a circuit. The name and the idea are mlir-aie's; descriptors and registers are
there to be read as soon as a method returns, circuits after ``Array.route``.

A compute tile's end has the locks ``free`` (buffers to fill) and ``full`` (buffers to read): its core takes
one and gives the other, its DMA the other way round. A memory tile has no core: there an object is passed on,
whole or in parts, under the protocols of ``design.protocols``. An interface tile has no buffers: it moves
external buffers, started as tasks of the channel.

It also says why an object FIFO is too deep: which channel lacks descriptors, and who has them.

It also says where the buffers of object FIFOs go, and who may move parts of objects alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from memtile.access.tiling import TilingParameters
from memtile.design.arguments import Wrong, are_whole, as_row, as_whole, by_tile, refuse, shown, text, whole
from memtile.design.buffers import Buffer, shape_of
from memtile.design.channels import Channel
from memtile.design.locks import Lock
from memtile.design.protocols import Guarded, Turns, one_reader, one_writer, read_again
from memtile.design.tile import Tile
from memtile.design.transfers import Pattern
from memtile.errors import DesignError, Problem, raise_if
from memtile.plain_text import printable
from memtile.sim.loop.fifo_names import FifoLock, where

if TYPE_CHECKING:
    from memtile.design.array import Array


@dataclass(frozen=True, slots=True)
class Places:
    """Where the buffers of the ends go; the first free place where nothing is said.

    Attributes:
        bank: by tile the first bank to look in.
        at: for each tile, the first byte of each of its buffers.
    """

    bank: Mapping[Tile, int] = field(default_factory=dict)
    at: Mapping[Tile, Sequence[int]] = field(default_factory=dict)

    def of(self, tile: Tile, number: int) -> dict[str, int]:
        """What ``Tile.buffer`` is told for buffer ``number`` of an end."""
        if tile in self.at:
            return {"at": self.at[tile][number]}
        return {"bank": self.bank[tile]} if tile in self.bank else {}


def wrong_of_fifo(
    name: object, depth: object, repeat: object, bank: object, at: object
) -> Iterator[Wrong | None]:
    """What has the wrong type among the arguments that methods for object FIFOs have in common."""
    yield text("name", name)
    if depth is not None and as_whole(depth) is None and not are_whole(depth):
        yield Wrong("depth", shown(depth), "a whole number, or one for each end")
    yield whole("repeat", repeat)
    yield by_tile("bank", bank, Tile, lambda each: as_whole(each) is not None, "whole numbers")
    yield by_tile("at", at, Tile, are_whole, "the first bytes of its buffers")


def part_of_buffers(name: str, field: str, beyond: int, part: object) -> list[Problem]:
    """What is wrong with a part of objects that moves alone: the other end has buffers, of whole objects.

    Args:
        name: of the FIFO.
        field: that says the part.
        beyond: buffers of the ends at the other side of the memory tile.
        part: that is said; None = all of it.
    """
    if part is None or not beyond:
        return []
    problem = Problem(
        field,
        f"a part, and {beyond} buffers of whole objects at its other end",
        "parts of objects that come from or go to interface tiles",
        f"{field} is a part of each object, but the other end of FIFO {name} has buffers of whole ones",
        f"Leave {field} out, and give the parts to split or gather.",
        reason="object_fifo",
        where=f"object FIFO {name}",
        source="object FIFO: both ends move the same words",
    )
    return [problem]


def too_deep(name: str, depth: int, channel: Channel, bds: int, others: int) -> Problem:
    """The problem of a ring that has no place.

    Args:
        name: of the FIFO.
        depth: of its end.
        channel: that the ring is for.
        bds: that it needs.
        others: BDs of the same half that other rings of the same step need.
    """
    tile, number = channel.tile, channel.number
    half = tile.kind.bd_bank(number)
    free = max(tile.bd_pool.free(number) - others, 0)
    taken = tile.bd_pool.holders(number) | ({"other rings of this step": others} if others else {})
    has = ", ".join(f"{who} has {count}" for who, count in taken.items())
    whose = "for channels of its parity" if len(tile.kind.bd_banks) > 1 else "for all channels"
    return Problem(
        "depth",
        f"depth {depth}, which needs {bds} BDs",
        f"{free} BDs",
        f"depth {depth} needs {bds} BDs for {channel.port} of the {tile.title}, "
        f"of which {free} {'is' if free == 1 else 'are'} free",
        f"{has[:1].upper()}{has[1:]}. Give less depth, or fewer parts." if has else "Give less depth.",
        reason="object_fifo",
        where=f"object FIFO {name}",
        source=f"AM020: {len(half)} BDs {whose}",
    )


Consumers = Sequence[Tile | Sequence[Tile]]
Depth = int | Sequence[int]
"""Buffers at every end, or at each: the producer's, then those of the consumers."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of an object FIFO.

    Attributes:
        tile: where it is.
        channel: the DMA channel that serves it.
        buffers: one per object in flight; none on interface tiles, nor if a gathered FIFO owns them.
        locks: ``free`` and ``full``; None where no core uses the buffers.
    """

    tile: Tile
    channel: Channel
    buffers: tuple[Buffer, ...] = ()
    locks: tuple[Lock, Lock] | None = None

    @property
    def free(self) -> Lock:
        """The lock that counts empty buffers.

        Raises:
            DesignError: no core uses the buffers, so there are no locks.
        """
        return self._locks()[0]

    @property
    def full(self) -> Lock:
        """The lock that counts full buffers.

        Raises:
            DesignError: no core uses the buffers, so there are no locks.
        """
        return self._locks()[1]

    def buffer(self, number: int) -> Buffer:
        """The buffer of object ``number``, counted from 0."""
        return self.buffers[number % len(self.buffers)]

    def _locks(self) -> tuple[Lock, Lock]:
        if self.locks is None:
            problem = Problem(
                "locks",
                "an end that no core uses",
                "an end in a compute tile",
                "the end has no locks: no core uses it, only an end in a compute tile has some",
                reason="object_fifo",
                where=f"{self.tile.kind.title}, {self.channel.name}",
                source="object FIFO: a core takes and gives two counting locks",
            )
            raise DesignError(problem)
        return self.locks


Ends = tuple[Tile | End, Sequence[Tile | End]]
"""A producer and its consumers: tiles, or ends that are there already."""


class ObjectFifo:
    """A FIFO of objects of one shape and type; made by ``Array.object_fifo``.

    Attributes:
        name: for messages, buffers and locks.
        depths: buffers of each end, the producer's first.
        repeat: how often each object is sent.
        producer: the end that fills objects.
        consumers: the ends that read them; each sees every object, as often as it is sent.
    """

    def __init__(
        self,
        array: Array,
        name: str,
        ends: Ends,
        depth: Depth,
        shape: tuple[int, ...],
        dtype: np.dtype[np.generic],
        repeat: int = 1,
        places: Places | None = None,
    ) -> None:
        self.name, self.shape, self.dtype, self.repeat = name, shape, dtype, repeat
        self._array, self._places = array, places or Places()
        producer, consumers = ends
        self.depths = tuple(depth) if isinstance(depth, Iterable) else (depth,) * (1 + len(consumers))
        _check(self, array, ends, self._places)
        array.fifo_names |= {name}
        deep, *deeps = self.depths
        self.producer = producer if isinstance(producer, End) else self._end(producer, deep, receives=False)
        self.consumers = tuple(
            end if isinstance(end, End) else self._end(end, deep, receives=True)
            for end, deep in zip(consumers, deeps, strict=True)
        )
        for end in (self.producer, *self.consumers):
            end.channel.named(name)
        self.flow = array.connect(self.producer.channel, *(end.channel for end in self.consumers))

    @classmethod
    def restored(
        cls, array: Array, name: str, depths: tuple[int, ...], shape: tuple[int, ...], **rest: Any
    ) -> ObjectFifo:
        """A FIFO whose ends already exist, in the array that this one continues from.

        Args:
            array: the array.
            name: as before, like all that follows.
            depths: buffers of each end.
            shape: of an object.
            rest: ``dtype``, ``repeat``, ``producer``, ``consumers`` and ``flow``.
        """
        fifo = cls.__new__(cls)
        fifo._array, fifo.name, fifo.depths, fifo.shape = array, name, depths, shape
        fifo._places, fifo.dtype, fifo.repeat = Places(), rest["dtype"], rest["repeat"]
        fifo.producer, fifo.consumers, fifo.flow = rest["producer"], rest["consumers"], rest["flow"]
        return fifo

    def __repr__(self) -> str:
        size, deep = " x ".join(map(str, self.shape)), "/".join(map(str, dict.fromkeys(self.depths)))
        often = f" sent {self.repeat} times" if self.repeat > 1 else ""
        return f"ObjectFifo({printable(self.name)}: {deep} x ({size}) {self.dtype}{often}, {self.flow})"

    @property
    def depth(self) -> int:
        """Buffers of the producer, or of the memory tile that it writes to."""
        return self.depths[0]

    @property
    def open_ends(self) -> tuple[End, ...]:
        """Ends in memory tiles without a connected FIFO."""
        ends = (self.producer, *self.consumers)
        return tuple(e for e in ends if e.tile.kind.role == "memory" and e.buffers and not e.channel.started)

    def forward(
        self,
        name: str,
        consumers: Tile | Sequence[Tile],
        *,
        part: Pattern | None = None,
        depth: Depth | None = None,
        repeat: int = 1,
        bank: Mapping[Tile, int] | None = None,
        at: Mapping[Tile, Sequence[int]] | None = None,
    ) -> ObjectFifo:
        """Forward each object from its memory tile, complete or as a view of it; see :meth:`split`.

        Args:
            name: of the new FIFO.
            consumers: the tiles that get it.
            part: a tiling or a view of the object, to change its order or shape; the entire object if
                omitted.
            depth: buffers per consumer, or a number for each consumer; as deep as this FIFO if omitted.
            repeat: how often each object is sent.
            bank: by tile the first bank for its buffers.
            at: for each tile, the first byte of each of its buffers.

        Raises:
            DesignError: as :meth:`split`.
            TransferError: as :meth:`split`.
        """
        parts = None if part is None else [part]
        tiles = [consumers] if isinstance(consumers, Tile) else list(consumers)
        (made,) = self.split(name, [tiles], parts=parts, depth=depth, repeat=repeat, bank=bank, at=at)
        return made

    def split(
        self,
        name: str,
        consumers: Consumers,
        *,
        parts: Sequence[Pattern] | None = None,
        depth: Depth | None = None,
        filled: Pattern | None = None,
        repeat: int = 1,
        bank: Mapping[Tile, int] | None = None,
        at: Mapping[Tile, Sequence[int]] | None = None,
    ) -> tuple[ObjectFifo, ...]:
        """Distribute each object from its memory tile: part n, along the first axis, to ``consumers[n]``.

        With one entry the entire object is forwarded (:meth:`forward`); an entry may be several tiles
        (broadcast). With ``parts`` they may overlap and reach beyond the object, into zeros (halo). A part is
        a tiling, with one object of the new FIFO per tile, or a view, whose last axes, as many as the object
        has, form one.

        Args:
            name: prefix of the new FIFOs' names.
            consumers: per part a tile or the tiles that get it.
            parts: per part a tiling or a view of the object; equal parts of the first axis if omitted.
            depth: buffers per consumer, or a number for each consumer of a part; as deep as this FIFO if
                omitted.
            filled: the part of an object that arrives, as a tiling or a view; the rest keeps the values that
                the design stores there, such as zeros. The entire object if omitted.
            repeat: how often each object is sent before its buffer is free again: loaded once, used often.
            bank: by tile the first bank for its buffers.
            at: for each tile, the first byte of each of its buffers.

        Raises:
            DesignError: the FIFO does not end in one memory tile, the first axis is not a multiple of the
                parts, a part is of another object, or there is no room; then nothing is claimed.
            TransferError: a tiling that no descriptors can express.
        """
        depth = as_row(depth)
        refuse(f"object FIFO {self.name}, split", *wrong_of_fifo(name, depth, repeat, bank, at))
        (end,) = self.consumers[:1]
        chosen = self._parts(end, "split", len(consumers), parts, alone=len(self.consumers) == 1)
        raise_if(part_of_buffers(name, "filled", len(self.producer.buffers), filled), DesignError)
        tile = end.tile
        counted = len(end.buffers) == len(chosen) == 1
        _check_repeat(name, repeat, tile.kind.lock_value_max if counted else None)
        with self._array.all_or_nothing():
            reads = [[tile.read(buffer, part) for buffer in end.buffers] for part in chosen]
            writes = [tile.write(buffer, filled) for buffer in end.buffers]
            guarded = self._sent(tile, writes, reads, repeat)
            senders = self._channels(end, guarded.writers, guarded.readers)
            guarded.start([end.channel], senders)
            ends = [
                (End(tile, sender), [entry] if isinstance(entry, Tile) else entry)
                for sender, entry in zip(senders, consumers, strict=True)
            ]
            own, places = len(end.buffers), Places(bank or {}, at or {})
            deep = own if depth is None else depth
            depths = [
                (own, *(deep if isinstance(deep, Iterable) else [deep] * len(taken))) for _, taken in ends
            ]
            return self._made(name, ends, chosen, depths, repeat=repeat, places=places)

    def gather(
        self,
        name: str,
        producers: Sequence[Tile],
        *,
        parts: Sequence[Pattern] | None = None,
        taken: Pattern | None = None,
        depth: int | None = None,
        bank: Mapping[Tile, int] | None = None,
        at: Mapping[Tile, Sequence[int]] | None = None,
    ) -> tuple[ObjectFifo, ...]:
        """Fill each object in its memory tile: part n, along the first axis or as ``parts`` says, from
        ``producers[n]``.

        Args:
            name: prefix of the new FIFOs' names.
            producers: a tile per part.
            parts: per part a tiling or a view of the object; equal parts of the first axis if omitted.
            taken: the part of an object to send, as a tiling or a view; the entire object if omitted.
            depth: buffers per producer; as deep as this FIFO if omitted.
            bank: by tile the first bank for its buffers.
            at: for each tile, the first byte of each of its buffers.

        Raises:
            DesignError: the FIFO does not begin in a memory tile, the first axis is not a multiple of the
                parts, a part is of another object, or there is no room; then nothing is claimed.
            TransferError: a tiling that no descriptors can express.
        """
        depth = as_row(depth)
        refuse(f"object FIFO {self.name}, gather", *wrong_of_fifo(name, depth, 1, bank, at))
        end = self.producer
        chosen = self._parts(end, "gather", len(producers), parts, alone=True)
        beyond = sum(len(each.buffers) for each in self.consumers)
        raise_if(part_of_buffers(name, "taken", beyond, taken), DesignError)
        tile = end.tile
        with self._array.all_or_nothing():
            writes = [[tile.write(buffer, part) for buffer in end.buffers] for part in chosen]
            reads = [tile.read(buffer, taken).repeated(self.repeat) for buffer in end.buffers]
            guarded = one_reader(tile, self.name, writes, reads)
            receivers = self._channels(end, guarded.readers, guarded.writers)
            guarded.start(receivers, [end.channel])
            ends = [
                (producer, [End(tile, receiver)])
                for producer, receiver in zip(producers, receivers, strict=True)
            ]
            places = Places(bank or {}, at or {})
            own = len(end.buffers)
            deep = own if depth is None else depth
            return self._made(name, ends, chosen, [(deep, own)] * len(ends), places=places)

    def _sent(self, tile: Tile, writes: Turns, reads: Sequence[Turns], repeat: int) -> Guarded:
        """The lock protocol of objects that are written once and sent ``repeat`` times to each reader."""
        if repeat > 1 and len(writes) == len(reads) == 1:
            return read_again(tile, self.name, writes[0], reads[0][0], repeat)
        return one_writer(tile, self.name, writes, [[t.repeated(repeat) for t in turns] for turns in reads])

    def _channels(self, end: End, own: Sequence[Turns], others: Sequence[Turns]) -> list[Channel]:
        """A channel for each of the other rings, of a parity with BDs for it beside the end's own ring."""
        tile, planned = end.tile, Counter[range]()

        def has_room(channel: Channel, bds: int) -> bool:
            return tile.bd_pool.free(channel.number) - planned[tile.kind.bd_bank(channel.number)] >= bds

        found = [end.channel]
        for number, ring in enumerate([*own, *others]):
            bds = sum(len(transfer.descriptors) for transfer in ring)
            if number:
                suits = partial(has_room, bds=bds)
                found.append(tile.free_channel(receives=not end.channel.receives, suits=suits))
            if not has_room(found[-1], bds):
                planned_too = planned[tile.kind.bd_bank(found[-1].number)]
                raise DesignError(too_deep(self.name, self.depth, found[-1], bds, planned_too))
            planned[tile.kind.bd_bank(found[-1].number)] += bds
        return found[1:]

    def _made(
        self,
        name: str,
        ends: Sequence[Ends],
        parts: Sequence[Pattern],
        depths: Sequence[Depth],
        *,
        repeat: int = 1,
        places: Places,
    ) -> tuple[ObjectFifo, ...]:
        """The FIFOs of the parts."""
        names = [f"{name}[{n}]" for n in range(len(ends))] if len(ends) > 1 else [name]
        return tuple(
            ObjectFifo(self._array, each, pair, depth, self._shape(part), self.dtype, repeat, places)
            for each, pair, part, depth in zip(names, ends, parts, depths, strict=True)
        )

    def _shape(self, part: Pattern) -> tuple[int, ...]:
        """Shape of an object that is one part of this FIFO's objects."""
        if isinstance(part, TilingParameters):
            return tuple(reversed(part.over(self.shape).tile))
        return part.shape[-len(self.shape) :]

    def _end(self, tile: Tile, depth: int, *, receives: bool) -> End:
        """Buffers, locks and the ring of one end."""
        channel = tile.free_channel(receives=receives)
        if not tile.kind.memory_bytes:
            return End(tile, channel)
        buffers = tuple(
            tile.buffer(f"{self.name}.{n}", self.shape, self.dtype, **self._places.of(tile, n))
            for n in range(depth)
        )
        if tile.kind.role != "compute":
            return End(tile, channel, buffers)
        free, full = tile.lock(depth, f"{self.name}.free"), tile.lock(0, f"{self.name}.full")
        self._name_locks(tile, (free, full), receives=receives)
        if receives:
            moves = [tile.write(b).guarded(free.acquire(), full.release()) for b in buffers]
        else:
            often = self.repeat
            moves = [tile.read(b).repeated(often).guarded(full.acquire(), free.release()) for b in buffers]
        channel.start(*moves, loop=True)
        return End(tile, channel, buffers, (free, full))

    def _name_locks(self, tile: Tile, locks: tuple[Lock, Lock], *, receives: bool) -> None:
        """Have messages say which end the locks of a tile belong to."""
        base, engine = tile.first_lock, tile.engine
        end, at = "consumer" if receives else "producer", where(tile.kind.role, tile.place)
        named = {base + lock.id: FifoLock(self.name, end, at, bool(full)) for full, lock in enumerate(locks)}
        tile.bench.post(lambda: engine.fifo_locks.update(named))

    def _parts(
        self, end: End, verb: str, count: int, parts: Sequence[Pattern] | None, *, alone: bool
    ) -> Sequence[Pattern]:
        """The parts of an object as patterns over its buffer."""
        whole = tuple(reversed(self.shape))
        problems = []
        if end not in self.open_ends or not alone:
            allowed = "one end in a memory tile, joined once"
            says = f"{verb} cannot take {end.channel.name}: it needs {allowed}"
            problems.append(_problem(self.name, verb, repr(end.channel.name), allowed, says))
        if parts is not None and len(parts) != count:
            says = f"the number of parts to {verb} is {len(parts)}; it must be {count}, one for each tile"
            given, allowed = f"{len(parts)} parts", f"{count}, one for each tile"
            problems.append(_problem(self.name, verb, given, allowed, says))
        for part in parts or ():
            if isinstance(part, TilingParameters) and part.over(self.shape).buffer_dimension != whole:
                given = f"a tiling of {part.buffer_dimension}"
                says = f"{verb} has {given}; the objects are {whole}, innermost dimension first"
                problems.append(_problem(self.name, verb, given, f"tilings of {whole}", says))
        if parts is None and (count < 1 or self.shape[0] % count):
            allowed = f"a divisor of the first axis, {self.shape[0]}"
            says = f"the number of parts to {verb} is {count}; it must be {allowed}"
            problems.append(_problem(self.name, verb, f"{count} parts", allowed, says))
        raise_if(problems, DesignError)
        if parts is not None:
            return parts
        size, still = self.shape[0] // count, (0,) * (len(whole) - 1)
        return [TilingParameters(whole, (*whole[:-1], size), (*still, n * size)) for n in range(count)]


def _problem(name: str, field: str, given: str, allowed: str, says: str = "") -> Problem:
    return Problem(
        field,
        given,
        allowed,
        says,
        reason="object_fifo",
        where=f"object FIFO {name}",
        source="object FIFO: buffers and two counting locks per end",
    )


def _check_repeat(name: str, repeat: int, most: int | None = None) -> None:
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise DesignError(_problem(name, "repeat", repr(repeat), "1 or more"))
    if most is not None and repeat > most:
        raise DesignError(_problem(name, "repeat", repr(repeat), f"1..{most}, what a lock counts"))


def _check(fifo: ObjectFifo, array: Array, ends: Ends, places: Places) -> None:
    problems = []
    if fifo.name in array.fifo_names:
        says = f"another object FIFO has the name {fifo.name!r} already"
        problems.append(_problem(fifo.name, "name", repr(fifo.name), "a name of its own", says))
    if len(fifo.depths) != 1 + len(ends[1]):
        allowed = f"one number, or {1 + len(ends[1])}: the producer's and one for each consumer"
        problems.append(_problem(fifo.name, "depth", f"{len(fifo.depths)} numbers", allowed))
    for depth in dict.fromkeys(fifo.depths):
        if depth < 1:
            problems.append(_problem(fifo.name, "depth", str(depth), "1 or more"))
    try:
        _check_repeat(fifo.name, fifo.repeat)
        shape_of(fifo.shape, f"object FIFO {fifo.name}")
    except DesignError as error:
        problems += error.problems
    if not ends[1]:
        says = "there are no consumers; there must be at least one tile"
        problems.append(_problem(fifo.name, "consumers", "none", "at least one tile", says))
    for end in (ends[0], *ends[1]):
        if not isinstance(end, End) and not (isinstance(end, Tile) and end.bench is array):
            says = f"an end is {end!r}; it must be a tile of the same array"
            problems.append(_problem(fifo.name, "end", repr(end), "tiles of the same array", says))
    known = all(isinstance(end, Tile | End) for end in (ends[0], *ends[1]))
    raise_if([*problems, *(_misplaced(fifo, ends, places) if known else ())], DesignError)


def _misplaced(fifo: ObjectFifo, ends: Ends, places: Places) -> Iterator[Problem]:
    """Places for buffers that no end has, and repeats of an end without buffers."""
    source, tiles = ends[0], [end for end in (ends[0], *ends[1]) if isinstance(end, Tile)]
    if fifo.repeat > 1 and isinstance(source, Tile) and not source.kind.memory_bytes:
        says = f"the {source.title} has no buffer that could be sent {fifo.repeat} times; repeat the task: "
        says += "start(..., repeat=)"
        yield _problem(fifo.name, "repeat", str(fifo.repeat), "1", says)
    deep = dict(zip((ends[0], *ends[1]), fifo.depths, strict=False))
    for tile, firsts in places.at.items():
        if tile in tiles and len(firsts) != deep[tile]:
            says = f"at has {len(firsts)} places in the {tile.title}; its end has {deep[tile]} buffers"
            yield _problem(fifo.name, "at", f"{len(firsts)} places", f"{deep[tile]}", says)


def check_closed(fifos: Sequence[ObjectFifo]) -> None:
    """Refuse ends in memory tiles that nothing moves.

    Raises:
        DesignError: all of them.
    """
    problems = [
        _problem(
            fifo.name,
            end.channel.name,
            "nothing on the other side",
            "split or gather",
            f"{end.channel.name} has nothing on the other side; split or gather must join it",
        )
        for fifo in fifos
        for end in fifo.open_ends
    ]
    raise_if(problems, DesignError)
