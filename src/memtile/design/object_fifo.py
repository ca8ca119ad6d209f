"""Object FIFOs: n-deep buffers with locks between tiles, split and gathered in memory tiles.

An object FIFO carries objects (arrays of one shape and type) from a producer to one or more consumers, in
order. It is nothing but what a design could write itself: buffers, two counting locks per end, a ring of
descriptors per channel, and a circuit. The name and the idea are mlir-aie's; descriptors and registers are
there to be read as soon as a method returns, circuits after ``Array.route``.

A compute tile's end has the locks ``free`` (buffers to fill) and ``full`` (buffers to read): its core takes
one and gives the other, its DMA the other way round. A memory tile has no core: there an object is passed on,
whole or in parts, under the protocols of ``design.protocols``. An interface tile has no buffers: it moves
external buffers, started as tasks of the channel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from memtile.access.tiling import TilingParameters
from memtile.access.views import View
from memtile.design.buffers import Buffer
from memtile.design.channels import Channel
from memtile.design.locks import Lock
from memtile.design.protocols import Turns, one_reader, one_writer
from memtile.design.tile import Tile
from memtile.design.transfers import Pattern
from memtile.design.values import shape_of
from memtile.errors import DesignError, Problem, raise_if

if TYPE_CHECKING:
    from memtile.design.array import Array

Consumers = Sequence[Tile | Sequence[Tile]]


@dataclass(frozen=True, slots=True)
class End:
    """One end of an object FIFO.

    Attributes:
        tile: where it is.
        channel: the DMA channel that serves it.
        buffers: one per object in flight; none on interface tiles and where a gathered FIFO has them.
        locks: ``free`` and ``full``; None where no core uses the buffers.
    """

    tile: Tile
    channel: Channel
    buffers: tuple[Buffer, ...] = ()
    locks: tuple[Lock, Lock] | None = None

    @property
    def free(self) -> Lock:
        """Counts buffers to fill.

        Raises:
            DesignError: no core uses the buffers, so there are no locks.
        """
        return self._locks()[0]

    @property
    def full(self) -> Lock:
        """Counts buffers to read.

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
                reason="object_fifo",
                where=f"{self.tile.kind.title}, {self.channel.name}",
                field="locks",
                given="an end that no core uses",
                allowed="an end in a compute tile",
                source="object FIFO: a core takes and gives two counting locks",
                says="the end has no locks: no core uses it, only an end in a compute tile has some",
            )
            raise DesignError(problem)
        return self.locks


Ends = tuple[Tile | End, Sequence[Tile | End]]
"""A producer and its consumers: tiles, or ends that are there already."""


class ObjectFifo:
    """Objects of one shape and type on their way; made by ``Array.object_fifo``.

    Attributes:
        name: for messages, buffers and locks.
        producer: the end that fills objects.
        consumers: the ends that read them; each sees every object.
    """

    def __init__(
        self,
        array: Array,
        name: str,
        ends: Ends,
        depth: int,
        shape: tuple[int, ...],
        dtype: np.dtype[np.generic],
    ) -> None:
        self.name, self.depth, self.shape, self.dtype = name, depth, shape, dtype
        self._array = array
        _check(self, array, ends)
        array.fifo_names.add(name)
        producer, consumers = ends
        self.producer = producer if isinstance(producer, End) else self._end(producer, receives=False)
        self.consumers = tuple(
            end if isinstance(end, End) else self._end(end, receives=True) for end in consumers
        )
        self.flow = array.connect(self.producer.channel, *(end.channel for end in self.consumers))

    @classmethod
    def restored(cls, array: Array, name: str, depth: int, shape: tuple[int, ...], **rest: Any) -> ObjectFifo:
        """A FIFO whose ends are there already, in the array that this one goes on from.

        Args:
            array: the array.
            name: as before, like all that follows.
            depth: objects in flight.
            shape: of an object.
            rest: ``dtype``, ``producer``, ``consumers`` and ``flow``.
        """
        fifo = cls.__new__(cls)
        fifo._array, fifo.name, fifo.depth, fifo.shape = array, name, depth, shape
        fifo.dtype, fifo.producer = rest["dtype"], rest["producer"]
        fifo.consumers, fifo.flow = rest["consumers"], rest["flow"]
        return fifo

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return f"ObjectFifo({self.name}: {self.depth} x ({size}) {self.dtype}, {self.flow})"

    @property
    def open_ends(self) -> tuple[End, ...]:
        """Ends in memory tiles that nothing has been joined to yet."""
        ends = (self.producer, *self.consumers)
        return tuple(e for e in ends if e.tile.kind.role == "memory" and e.buffers and not e.channel.started)

    def split(
        self,
        name: str,
        consumers: Consumers,
        *,
        parts: Sequence[Pattern] | None = None,
        depth: int | None = None,
    ) -> tuple[ObjectFifo, ...]:
        """Pass each object on from its memory tile: part n, along the first axis, to ``consumers[n]``.

        With one entry the whole object goes on (forward); an entry may be several tiles (broadcast). With
        ``parts`` they may overlap and reach beyond the object, where zeros are (halo): tilings, each tile of
        which is an object of the new FIFO, or views, whose last axes, as many as the object has, are.

        Args:
            name: prefix of the new FIFOs' names.
            consumers: per part a tile or the tiles that get it.
            parts: per part a tiling or a view of the object; equal parts of the first axis if omitted.
            depth: buffers per consumer; as deep as this FIFO if omitted.

        Raises:
            DesignError: it does not end in one memory tile, the first axis is no multiple of the parts, a
                part is of something else, or there is no room; then nothing is taken.
            TransferError: a tiling that no descriptors can express.
        """
        (end,) = self.consumers[:1]
        chosen = self._parts(end, "split", len(consumers), parts, alone=len(self.consumers) == 1)
        tile = end.tile
        with self._array.all_or_nothing():
            reads = [[tile.read(buffer, part) for buffer in end.buffers] for part in chosen]
            writes = [tile.write(buffer) for buffer in end.buffers]
            guarded = one_writer(tile, self.name, writes, reads)
            senders = self._channels(end, guarded.writers, guarded.readers)
            guarded.start([end.channel], senders)
            ends = [
                (End(tile, sender), [entry] if isinstance(entry, Tile) else entry)
                for sender, entry in zip(senders, consumers, strict=True)
            ]
            return self._made(name, ends, chosen, depth)

    def gather(
        self,
        name: str,
        producers: Sequence[Tile],
        *,
        parts: Sequence[Pattern] | None = None,
        depth: int | None = None,
    ) -> tuple[ObjectFifo, ...]:
        """Fill each object in its memory tile: part n, along the first axis or as ``parts`` says, from
        ``producers[n]``.

        Args:
            name: prefix of the new FIFOs' names.
            producers: a tile per part.
            parts: per part a tiling or a view of the object; equal parts of the first axis if omitted.
            depth: buffers per producer; as deep as this FIFO if omitted.

        Raises:
            DesignError: it does not begin in a memory tile, the first axis is no multiple of the parts, a
                part is of something else, or there is no room; then nothing is taken.
            TransferError: a tiling that no descriptors can express.
        """
        end = self.producer
        chosen = self._parts(end, "gather", len(producers), parts, alone=True)
        tile = end.tile
        with self._array.all_or_nothing():
            writes = [[tile.write(buffer, part) for buffer in end.buffers] for part in chosen]
            reads = [tile.read(buffer) for buffer in end.buffers]
            guarded = one_reader(tile, self.name, writes, reads)
            receivers = self._channels(end, guarded.readers, guarded.writers)
            guarded.start(receivers, [end.channel])
            ends = [
                (producer, [End(tile, receiver)])
                for producer, receiver in zip(producers, receivers, strict=True)
            ]
            return self._made(name, ends, chosen, depth)

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
                given = f"depth {self.depth}, for which a channel of the {tile.title} needs {bds} more BDs"
                allowed = "rings for which its channels have BDs, by their parity"
                says = f"with depth {self.depth} a channel of the {tile.title} needs {bds} more BDs than "
                says += "channels of its parity have"
                raise DesignError(_problem(self.name, "depth", given, allowed, says))
            planned[tile.kind.bd_bank(found[-1].number)] += bds
        return found[1:]

    def _made(
        self, name: str, ends: Sequence[Ends], parts: Sequence[Pattern], depth: int | None
    ) -> tuple[ObjectFifo, ...]:
        """The FIFOs of the parts."""
        names = [f"{name}[{n}]" for n in range(len(ends))] if len(ends) > 1 else [name]
        return tuple(
            ObjectFifo(self._array, each, pair, depth or self.depth, self._shape(part), self.dtype)
            for each, pair, part in zip(names, ends, parts, strict=True)
        )

    def _shape(self, part: Pattern) -> tuple[int, ...]:
        """Shape of an object that is one part of this FIFO's objects."""
        return part.shape[-len(self.shape) :] if isinstance(part, View) else tuple(reversed(part.tile))

    def _end(self, tile: Tile, *, receives: bool) -> End:
        """Buffers, locks and the ring of one end."""
        channel = tile.free_channel(receives=receives)
        if not tile.kind.memory_bytes:
            return End(tile, channel)
        buffers = tuple(tile.buffer(f"{self.name}.{n}", self.shape, self.dtype) for n in range(self.depth))
        if tile.kind.role != "compute":
            return End(tile, channel, buffers)
        free, full = tile.lock(self.depth, f"{self.name}.free"), tile.lock(0, f"{self.name}.full")
        take, give = (free, full) if receives else (full, free)
        move = tile.write if receives else tile.read
        channel.start(*(move(b).guarded(take.acquire(), give.release()) for b in buffers), loop=True)
        return End(tile, channel, buffers, (free, full))

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
            if isinstance(part, TilingParameters) and part.buffer_dimension != whole:
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
        reason="object_fifo",
        where=f"object FIFO {name}",
        field=field,
        given=given,
        allowed=allowed,
        source="object FIFO: buffers and two counting locks per end",
        says=says,
    )


def _check(fifo: ObjectFifo, array: Array, ends: Ends) -> None:
    problems = []
    if fifo.name in array.fifo_names:
        says = f"another object FIFO has the name {fifo.name!r} already"
        problems.append(_problem(fifo.name, "name", repr(fifo.name), "a name of its own", says))
    if fifo.depth < 1:
        problems.append(_problem(fifo.name, "depth", str(fifo.depth), "1 or more"))
    try:
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
    raise_if(problems, DesignError)


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
