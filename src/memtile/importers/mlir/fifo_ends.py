"""Ends of object FIFOs, and the buffers and locks that hold their objects.

The first half of what mlir-aie's pass aie-objectFifo-stateful-transform does (2026-08-14), in its order: that
decides which memory tile an object is in. A FIFO that needs DMAs is split into the producer's end and one for
each consumer. Each end in memory gets buffers and two counting locks. FIFOs that are linked share those of
one end, with locks for each part where one is cut into several or several make one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from memtile.arch.core import SIDE_STEPS
from memtile.arch.tiles import TileKind
from memtile.importers.mlir.description import (
    BufferDescription,
    DeviceDescription,
    FifoDescription,
    LinkDescription,
    LockDescription,
    TileDescription,
)
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.fifo_rules import sizes_asked
from memtile.importers.mlir.forms.operand_faults import reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.types import Shaped

_MEMORY_STEPS = ((-1, 0), (0, 0), (1, 0))
_NONE, _FIRST, _SECOND, _BOTH = 0, -1, 1, 2
"""Whose memory two tiles share (mlir-aie, ``share_direction``): none, the first one's, the second's, both."""


class LockPair(NamedTuple):
    """The locks of a part of an object."""

    free: str
    full: str


@dataclass(slots=True)
class Pool:
    """What holds the objects of an end.

    Attributes:
        buffers: names of their values, in turn.
        locks: of each part; none if nothing guards the objects.
        shape: type of an object.
    """

    buffers: list[str]
    locks: list[LockPair]
    shape: Shaped


@dataclass(slots=True)
class FifoLink:
    """A link by the names of its ends: of a FIFO that was split, the end in the tile where FIFOs meet."""

    text: LinkDescription
    sources: list[str]
    targets: list[str]
    owner: str = ""

    @property
    def several(self) -> list[str]:
        """The ends that have parts of an object; none if all have all of it."""
        return max(self.sources, self.targets, key=len) if self.is_cut else []

    @property
    def is_cut(self) -> bool:
        """Whether objects are cut or joined."""
        return len(self.sources) > 1 or len(self.targets) > 1


class FifoEnds:
    """The ends of the object FIFOs of a device, each a FIFO of its own, with what holds their objects.

    Args:
        device: to which buffers and locks are added, and memory tiles beside its own.
        kinds: kind of each tile, by the name of its value; those of tiles that are added come to it.
        columns: of the array.

    Attributes:
        by_name: all ends, in the order of mlir-aie's module.
        split: producers' ends that DMAs serve, with those of their consumers.
        pools: what holds the objects, by name of the end.
        spilled: names of ends that have objects in another tile's memory.
        origin: by the name of a consumer's end that of its FIFO.

    Raises:
        InputFileError: objects that no memory holds, or ends that mlir-aie refuses.
    """

    def __init__(self, device: DeviceDescription, kinds: MutableMapping[str, TileKind], columns: int) -> None:
        self.device, self.kinds, self.columns = device, kinds, columns
        self.by_name = {name: replace(fifo) for name, fifo in device.fifos.items()}
        self.links = [FifoLink(link, list(link.sources), list(link.targets)) for link in device.links]
        self.own_memory: set[str] = set()  # splitBecauseLink
        self.split: list[tuple[FifoDescription, list[FifoDescription]]] = []
        self.pools: dict[str, Pool] = {}
        self.used: defaultdict[str, int] = defaultdict(int)  # bytes of objects in a memory tile
        self.spilled: set[str] = set()
        self.origin: dict[str, str] = {}
        for fifo in device.fifos.values():
            with reading(fifo.operation):
                self._split(fifo)
        for end in self._largest_first():
            with reading(end.operation):
                self._elements(end)

    def _split(self, fifo: FifoDescription) -> None:
        end = self.by_name[fifo.name]
        needs, shared = self._needs_dma(end)
        unshared = needs or (fifo.shared_side == 1 and shared == _FIRST)
        if fifo.shared_side is not None and unshared:
            says = f"it has via_shared_mem = {fifo.shared_side}, and its ends do not share that memory"
            allowed = "cores that both reach it, and no link, pattern or DMA"
            raise OperationForm(fifo.operation).error(says, allowed, reason="mlir_object_fifo")
        if not needs:
            return
        if fifo.producer in fifo.consumers:
            says = f"DMAs move its objects, and {fifo.producer} has both ends"
            raise OperationForm(fifo.operation).error(says, "ends in two tiles", reason="mlir_object_fifo")
        consumers = [self._consumer(fifo, number) for number in range(len(fifo.consumers))]
        for link in self.links:
            meets = self.by_name[link.targets[0]].producer
            for number, source in enumerate(link.sources):
                for half in consumers:
                    if source == fifo.name and half.producer == meets:
                        link.sources[number] = half.name
        if end.stream == 1:
            end.stream = None
        self.split.append((end, consumers))
        self.origin |= {half.name: fifo.name for half in consumers}
        after = list(self.by_name).index(fifo.name) + 1
        halves = [(half.name, half) for half in reversed(consumers)]
        self.by_name = dict(
            [*list(self.by_name.items())[:after], *halves, *list(self.by_name.items())[after:]]
        )

    def _consumer(self, fifo: FifoDescription, number: int) -> FifoDescription:
        """The end of a consumer, a FIFO within its tile."""
        tile = fifo.consumers[number]
        name = f"{fifo.name}_{number}_cons" if len(fifo.consumers) > 1 else f"{fifo.name}_cons"
        pin = fifo.consumer_pins[number] if number < len(fifo.consumer_pins) else -1
        pattern = fifo.from_stream.get(number, ())
        return FifoDescription(
            name,
            tile,
            [tile],
            [fifo.depths[number + 1] if len(fifo.depths) > 1 else self._size(tile, fifo)],
            fifo.consumer_element or fifo.element,
            fifo.operation,
            from_stream={0: pattern} if pattern else {},
            iterations=fifo.iterations,
            stream=fifo.stream or None,
            stream_port=fifo.stream_port,
            synchronised=fifo.synchronised,
            pinned=pin if pin >= 0 else None,
            registered=fifo.registered,
        )

    def _needs_dma(self, end: FifoDescription) -> tuple[bool, int]:
        """Whether DMAs move the objects of an end (``requiresDMAs``), and whose memory is shared."""
        said = end.via_dma or end.repeat is not None or end.stream is not None
        if said or end.consumer_element is not None:
            return True, _NONE
        shared = _NONE
        if len(end.consumers) == 1 and not end.to_stream:
            other = end.producer if end.name in self.own_memory else end.consumers[0]
            shared = self._shared(end.producer, other)
        link = self.link(end)
        linked = bool(shared) and link is not None and self._is_linked_by_dma(end, link)
        if shared == _BOTH and end.shared_side is not None and link is None:
            shared = _SECOND if end.shared_side else _FIRST
        return not shared or bool(end.from_stream) or linked, shared

    def _is_linked_by_dma(self, end: FifoDescription, link: FifoLink) -> bool:
        """Whether DMAs move linked objects though the tiles of the end share memory."""
        if link.is_cut:
            self.own_memory.add(end.name)
            return True
        if self.by_name[link.sources[0]].element != self.by_name[link.targets[0]].element:
            self.own_memory.add(end.name)
        if not end.delegates:
            return True
        if self._delegate(end):
            return False
        self.own_memory.add(end.name)
        return True

    def _delegate(self, end: FifoDescription) -> str:
        """The tile that is to hold the objects; empty if it does not share its memory with both ends."""
        tile = end.delegates[0][0]
        sides = [self._shared(tile, other) for other in (end.producer, end.consumers[0])]
        return tile if all(side in (_FIRST, _BOTH) for side in sides) else ""

    def _shared(self, one: str, other: str) -> int:
        """Whose memory two tiles share."""
        roles = self.kinds[one].role, self.kinds[other].role
        if roles[0] != roles[1]:
            return _NONE
        forth, back = self._reaches(one, other), self._reaches(other, one)
        return _BOTH if forth and back else _FIRST if back else _SECOND if forth else _NONE

    def _reaches(self, tile: str, memory: str) -> bool:
        """Whether a tile reaches another one's memory."""
        one, other = self.device.tiles[tile].place, self.device.tiles[memory].place
        assert one is not None
        assert other is not None
        away = other[0] - one[0], other[1] - one[1]
        steps = _MEMORY_STEPS if self.kinds[tile].role == "memory" else tuple(SIDE_STEPS.values())
        return away in steps

    def link(self, end: FifoDescription) -> FifoLink | None:
        """The link that an end is in, if any."""
        return next((link for link in self.links if end.name in (*link.sources, *link.targets)), None)

    def _size(self, tile: str, fifo: FifoDescription) -> int:
        """Buffers of an end (``findObjectFifoSize``): one more than its core ever asks for at once.

        The second is there so that one can be filled while the core has the other.
        """
        kind = self.kinds[tile].role
        if kind == "interface":
            registered = (
                each.registered[tile] for each in self.device.fifos.values() if tile in each.registered
            )
            return len(next(registered, [])) or fifo.depths[0]
        most = max(sizes_asked(self.device, tile, fifo.name), default=0) if kind == "compute" else 0
        if most == 1 and fifo.depths[0] == 1:
            return 1
        return most + 1 if most else fifo.depths[0]

    # Buffers and locks

    def _largest_first(self) -> list[FifoDescription]:
        """The ends in the order in which they get memory: among memory tiles the largest objects first."""
        ends = list(self.by_name.values())
        at = [n for n, end in enumerate(ends) if self.kinds[end.producer].role == "memory"]
        ordered = sorted((ends[n] for n in at), key=lambda end: -_bytes(end.element, end))
        for n, end in zip(at, ordered, strict=True):
            ends[n] = end
        return ends

    def _elements(self, end: FifoDescription) -> None:
        """The buffers and locks of an end, unless a link has those of another one."""
        needs, shared = self._needs_dma(end)
        if needs and not end.initial and len(end.depths) == 1:
            named = replace(end, name=self.origin.get(end.name, end.name))
            end.depths = [self._size(end.producer, named)]
        if end.stream is not None:
            return
        link = self.link(end)
        if link is not None:
            if link.owner or end.name != self._owner(link):
                return
            link.owner = end.name
        tile = end.consumers[0] if shared == _SECOND else end.producer
        if end.delegates:
            tile = self._delegate(end)
            if not tile:
                form, allowed = OperationForm(end.delegates[0][1]), "a tile whose memory both reach"
                says = f"an end of {end.name} does not reach its memory"
                raise form.error(says, allowed, reason="mlir_object_fifo")
        self.pools[end.name] = Pool(self._buffers(end, tile), self._locks(end, link, tile), end.element)

    def _owner(self, link: FifoLink) -> str:
        """The end of a link whose objects all of it have."""
        one, other = self.by_name[link.sources[0]], self.by_name[link.targets[0]]
        if link.is_cut:
            return (other if len(link.sources) > 1 else one).name
        if other.initial:
            return other.name
        larger = one.element.elements >= other.element.elements or bool(other.padding)
        return (one if larger else other).name

    def _buffers(self, end: FifoDescription, tile: str) -> list[str]:
        if self.kinds[tile].role == "interface":
            return []
        size, many = _bytes(end.element, end), end.depths[0]
        self._check_memory(end, tile, size, many)
        names = [f"{end.name}_buff_{n}" for n in range(many)]
        for number, name in enumerate(names):
            home = self._home(tile, size) if self.kinds[tile].role == "memory" else tile
            if home != end.producer:
                self.spilled.add(end.name)
            self.used[home] += size
            initial = end.initial[number] if number < len(end.initial) else None
            made = BufferDescription(name, home, end.element, end.operation, initial=initial)
            self.device.buffers[f"%{name}"] = made
        return [f"%{name}" for name in names]

    def _check_memory(self, end: FifoDescription, tile: str, size: int, many: int) -> None:
        kind = self.kinds[tile]
        beside = len(_MEMORY_STEPS) if kind.role == "memory" else 1
        if size <= 0 or many * size > beside * kind.memory_bytes:
            shape = "x".join(map(str, end.element.shape))
            says = f"{many} objects of {shape} elements have {many * size} bytes"
            if size > 0:
                says += f", where {kind.title}s have {kind.memory_bytes}"
            allowed = f"1..{kind.memory_bytes} bytes in a {kind.title}" + " and each beside it" * (beside > 1)
            fits = beside * kind.memory_bytes // size if size > 0 else 0
            step = f"Give @{end.name} a depth of at most {fits}, or smaller objects." if fits else ""
            raise OperationForm(end.operation).error(says, allowed, reason="mlir_depth", step=step)

    def _home(self, tile: str, size: int) -> str:
        """The memory tile that gets an object: the end's own while it has room, else a neighbour."""
        most = self.kinds[tile].memory_bytes
        if self.used[tile] + size <= most:
            return tile
        place = self.device.tiles[tile].place
        assert place is not None
        beside = [self._tile_at(tile, (place[0] + step, place[1])) for step in (-1, 1)]
        found = sorted((name for name in beside if name), key=lambda name: self.used[name])
        return next((name for name in found if self.used[name] + size <= most), tile)

    def _tile_at(self, beside: str, place: tuple[int, int]) -> str:
        """The tile at a place, a new one if the text has none there; empty outside the array."""
        if not 0 <= place[0] < self.columns:
            return ""
        known = next((name for name, tile in self.device.tiles.items() if tile.place == place), "")
        if known:
            return known
        name, one = f"%mem_tile_{place[0]}_{place[1]}", self.device.tiles[beside]
        self.device.tiles[name] = TileDescription(name, place, one.operation)
        self.kinds[name] = self.kinds[beside]
        return name

    def _locks(self, end: FifoDescription, link: FifoLink | None, tile: str) -> list[LockPair]:
        """A pair for each part of an object: how many are free, and how many full."""
        many = end.depths[0]
        if not end.synchronised or cycles_own_values(end, link, many):
            return []
        if self.kinds[tile].role == "interface":
            many = len(end.registered.get(tile, ()))
        repeat = self.link_repeat(link) or end.repeat or 1
        full = len(end.initial) * repeat
        found = []
        for part in range(max(len(link.several), 1) if link is not None else 1):
            pair = LockPair(f"%{end.name}_prod_lock_{part}", f"%{end.name}_cons_lock_{part}")
            for name, value in zip(pair, (many * repeat - full, full), strict=True):
                self.device.locks[name] = LockDescription(name[1:], tile, end.operation, None, value)
            found.append(pair)
        return found

    def link_repeat(self, link: FifoLink | None) -> int | None:
        """How often the objects of a link are sent, if its targets say it."""
        said = (self.by_name[name].repeat for name in link.targets) if link is not None else iter(())
        return next((repeat for repeat in said if repeat is not None), None)

    # What the objects of an end are in

    def target(self, end: FifoDescription) -> FifoDescription:
        """The end that holds the objects of an end."""
        link = self.link(end)
        return self.by_name[link.owner] if link is not None and link.owner else end

    def blocks(self, end: FifoDescription) -> int:
        """Objects that a chain goes through."""
        target = self.target(end)
        return (target if self.kinds[end.producer].role == "memory" else end).depths[0]

    def parts(self, end: FifoDescription) -> list[tuple[int, int, int]]:
        """Number, offset and length of the parts of an object that an end moves; none if it moves all."""
        link = self.link(end)
        if link is None or not link.several or not link.owner:
            return []
        parts = [
            (number, *part)
            for number, part in enumerate(_parts_of(link, self.by_name, self.by_name[link.owner].element))
        ]
        return parts if link.owner == end.name else [parts[link.several.index(end.name)]]


def _bytes(shape: Shaped, end: FifoDescription) -> int:
    return element_bytes(OperationForm(end.operation), shape) * shape.elements


def cycles_own_values(end: FifoDescription, link: FifoLink | None, many: int | None) -> bool:
    """Whether an end sends its initial values again and again: nothing else writes them, so no locks."""
    again = bool(end.initial) and (end.iterations or 1) > 1 and link is None
    return again and many in (None, len(end.initial))


def _parts_of(
    link: FifoLink, ends: Mapping[str, FifoDescription], whole: Shaped
) -> Iterator[tuple[int, int]]:
    """Offset and length of each part of an object: as far as the next one begins."""
    text = link.text
    if text.packed:
        sizes = [ends[name].element.elements for name in link.several]
        yield from ((sum(sizes[:n]), size) for n, size in enumerate(sizes))
        return
    starts = text.source_offsets if len(link.sources) > 1 else text.target_offsets
    names = text.sources if len(text.sources) > 1 else text.targets
    for number, (one, other) in enumerate(pairwise([*starts, whole.elements])):
        if not 0 <= one < other:
            says = f"a part of its objects has {other - one} elements, from {one} to {other}"
            if one == other and number + 1 < len(starts):
                two = " and ".join(f"@{name}" for name in names[number : number + 2])
                says = f"its parts {two} begin at the same element, {one}"
            if len({*starts}) == len(starts) and min(starts) >= 0 and max(starts) < whole.elements:
                says += f"; offsets have to rise: [{', '.join(map(str, sorted(starts)))}]"
            allowed = f"offsets that rise, of 0..{whole.elements - 1}"
            raise OperationForm(text.operation).error(says, allowed, reason="mlir_link")
        yield one, other - one
