"""Shared buffers in memory tiles: where the user says, else nearest to what they exchange data with.

Two buffers that one tile cannot hold lie in two tiles beside each other, and so does one buffer above 512 KB;
only channels 0 to 3 reach both (UG1603, Shared Buffer Location; AM020 chapter 5; DEV-ADF-21).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from statistics import fmean

from memtile.adf.channels import INTO, OUT
from memtile.adf.description import MemoryObject, Place, Port
from memtile.adf.memory import Rooms
from memtile.adf.objects import Objects
from memtile.adf.plan import Blocks, Tile
from memtile.adf.rates import access_of
from memtile.adf.sites import Sites
from memtile.errors import Problem

_SHARED = "UG1603: Shared Buffers Constraint"
_DMA = "AM020 chapter 5: DMA of the memory tile"


@dataclass(frozen=True, slots=True)
class _Layout:
    """A layout of a shared buffer: tile of its DMA, pieces, and whether its channels must reach others."""

    tile: Tile
    pieces: tuple[tuple[Tile, int], ...]
    near: bool


class SharedBuffers:
    """The shared buffers of a description, as they find their places.

    Attributes:
        blocks: memory -> where it lies.
        ports: port -> tile and number of its channel.
    """

    def __init__(
        self, objects: Objects, rooms: Rooms, sites: Sites, columns: Mapping[int, Sequence[int]]
    ) -> None:
        """``columns``: of what each memory exchanges data with."""
        self._objects, self._rooms, self._sites, self._columns = objects, rooms, sites, columns
        self.blocks: dict[int, Blocks] = {}
        self.ports: dict[int, tuple[Tile, int]] = {}

    def place(self, memories: Sequence[MemoryObject]) -> Iterator[Problem]:
        """Place all; yields what found no place. What the user placed comes first, then the largest."""
        waiting = sorted(memories, key=lambda m: (not self._is_given(m), -self._nbytes(m) * self._copies(m)))
        ids = {memory.id for memory in memories}
        while waiting:
            ready = next((m for m in waiting if not self._heads(m) & ids), waiting[0])
            waiting.remove(ready)
            ids.discard(ready.id)
            yield from self._place(ready)

    def _heads(self, memory: MemoryObject) -> set[int]:
        """Memories from whose places this one's is counted."""
        return {place.other for place in self._sites.of("buffer", memory.id) if place.kind == "same"}

    def _is_given(self, memory: MemoryObject) -> bool:
        return bool(self._sites.of("buffer", memory.id) or any(self._dma(p) for p in self._port_ids(memory)))

    def _port_ids(self, memory: MemoryObject) -> tuple[int, ...]:
        return (*memory.inputs, *memory.outputs)

    def _dma(self, port: int) -> Place | None:
        return next(iter(self._sites.of("dma", port)), None)

    def _nbytes(self, memory: MemoryObject) -> int:
        raw = prod(memory.dimensions) * memory.element_bytes
        align = self._rooms.device.kind("memory").granule_bytes
        return -(-raw // align) * align

    def _place(self, memory: MemoryObject) -> Iterator[Problem]:
        problems: list[Problem] = []
        layouts = self._layouts(memory, problems)
        if problems:
            yield from problems
            return
        for layout in layouts:
            numbers = self._numbers(memory, layout)
            if numbers is not None:
                self._keep(memory, layout, numbers)
                return
        yield self._nowhere(memory, layouts)

    def _layouts(self, memory: MemoryObject, problems: list[Problem]) -> list[_Layout]:
        """Ways to lay a memory out, best first."""
        if self._sites.of("buffer", memory.id):
            return self._given_layouts(memory, problems)
        device = self._rooms.device
        tiles = [(c, r) for c in range(device.columns) for r in device.memory_rows]
        allowed = self._sites.allowed(memory.graph, tiles)
        wanted = {(p.column, device.memory_rows.start + p.row) for p in self._dma_places(memory)}
        columns = self._columns.get(memory.id) or [0]
        middle = fmean(columns)
        order = sorted(allowed, key=lambda t: (t not in wanted, abs(t[0] - middle), t[1], t[0]))
        one = [layout for t in order for layout in self._in_one(memory, t)]
        return one or [layout for t in order for layout in self._in_two(memory, t, allowed)]

    def _dma_places(self, memory: MemoryObject) -> list[Place]:
        return [place for p in self._port_ids(memory) if (place := self._dma(p))]

    def _copies(self, memory: MemoryObject) -> int:
        return memory.num_buffers or 1

    def _in_one(self, memory: MemoryObject, tile: Tile) -> Iterator[_Layout]:
        """All buffers in one tile."""
        space, nbytes = self._rooms.space(tile), self._nbytes(memory)
        align = self._rooms.device.kind("memory").granule_bytes
        before, pieces = list(space.taken), []
        for _ in range(self._copies(memory)):
            start = space.find(nbytes, align, spread=False)
            if start is None:
                break
            space.take(start, nbytes, memory.name)
            pieces.append((tile, start))
        space.taken = before
        if len(pieces) == self._copies(memory):
            yield _Layout(tile, tuple(pieces), near=False)

    def _in_two(self, memory: MemoryObject, tile: Tile, allowed: Sequence[Tile]) -> Iterator[_Layout]:
        """Two buffers in two tiles beside each other, or one buffer over both."""
        east = tile[0] + 1, tile[1]
        nbytes, size = self._nbytes(memory), self._rooms.space(tile).nbytes
        if east not in allowed:
            return
        if self._copies(memory) == 2 and nbytes <= size:
            starts = [self._rooms.space(t).find(nbytes, 1, spread=False) for t in (tile, east)]
            if None not in starts:
                yield _Layout(tile, ((tile, starts[0] or 0), (east, starts[1] or 0)), near=True)
        elif self._copies(memory) == 1 and size < nbytes <= 2 * size:
            taken = self._rooms.space(tile).taken or self._rooms.space(east).overlap(0, nbytes - size)
            if not taken:
                yield _Layout(tile, ((tile, 0),), near=True)

    def _given_layouts(self, memory: MemoryObject, problems: list[Problem]) -> list[_Layout]:
        """The layout that the user gave; further buffers follow in the tile of the last place."""
        places = self._sites.of("buffer", memory.id)
        nbytes, pieces = self._nbytes(memory), list[tuple[Tile, int]]()
        before = {t: list(space.taken) for t, space in self._rooms.spaces.items()}
        for number in range(self._copies(memory)):
            place = places[min(number, len(places) - 1)]
            piece = self._piece(memory, place, problems, again=number >= len(places))
            if piece is None:
                break
            self._take(*piece, nbytes, memory.name)
            pieces.append(piece)
        for tile, space in self._rooms.spaces.items():
            space.taken = before.get(tile, [])
        tiles = list(dict.fromkeys(tile for tile, _ in pieces))
        if problems or not pieces:
            return []
        over = pieces[0][1] + nbytes > self._rooms.space(tiles[0]).nbytes
        if len(tiles) > 1 and (
            len(tiles) > 2 or abs(tiles[0][0] - tiles[1][0]) != 1 or tiles[0][1] != tiles[1][1]
        ):
            problems.append(self._not_beside(memory, tiles))
        return [_Layout(tiles[0], tuple(pieces), near=len(tiles) > 1 or over)]

    def _piece(
        self, memory: MemoryObject, place: Place, problems: list[Problem], *, again: bool
    ) -> tuple[Tile, int] | None:
        """Tile and first byte of a place."""
        tile = self._tile(place)
        if not self._exists(memory, tile, problems):
            return None
        space, nbytes = self._rooms.space(tile), self._nbytes(memory)
        granule = self._rooms.device.kind("memory").granule_bytes
        start: int | None = place.number
        if place.kind == "bank" and not again:
            start = space.find_in(space.bank(place.number), min(nbytes, space.bank_bytes), 1)
        elif again or place.number < 0:
            start = space.find(nbytes, granule, spread=False)
        found = partial(Problem, where=self._where(memory), source=_SHARED)
        if start is None:
            problems.append(self._full(memory, tile))
            return None
        room = space.nbytes * (2 if self._copies(memory) == 1 else 1)
        other = space.overlap(start, nbytes)
        if start % granule or start + nbytes > room:
            problems.append(
                found(
                    "address",
                    f"{start:#x}",
                    f"0x0..{max(room - nbytes, 0):#x}",
                    f"the buffer of {nbytes:,} bytes at {start:#x} of {self._rooms.shown(tile)} must begin "
                    f"at a multiple of {granule:#x} and end below {room:#x}",
                    "Change the address.",
                    reason="address",
                )
            )
        elif other:
            problems.append(
                found(
                    "address",
                    f"{start:#x}..{start + nbytes - 1:#x}",
                    f"bytes that {other.name} does not have",
                    f"bytes {start:#x}..{start + nbytes - 1:#x} of {self._rooms.shown(tile)} overlap "
                    f"{other.name}, which has {other.start:#x}..{other.stop - 1:#x}",
                    "Change one of the two addresses.",
                    reason="buffer_overlap",
                )
            )
        return tile, start

    def _tile(self, place: Place) -> Tile:
        first = self._rooms.device.memory_rows.start
        if place.kind == "same":
            base = self.blocks[place.other].tile if place.other in self.blocks else (0, first)
            return base[0] + place.column, base[1] + place.row
        return place.column, first + max(place.row, 0)

    def _exists(self, memory: MemoryObject, tile: Tile, problems: list[Problem]) -> bool:
        device = self._rooms.device
        if 0 <= tile[0] < device.columns and tile[1] in device.memory_rows:
            return True
        rows = len(device.memory_rows)
        allowed = f"columns 0 to {device.columns - 1} and rows 0 to {rows - 1}"
        given = f"({tile[0]}, {tile[1] - device.memory_rows.start})"
        problems.append(
            Problem(
                "place",
                given,
                allowed,
                f"{device.name} has no memory tile at {given}; its memory tiles have {allowed}",
                "Change the location, or choose a larger device.",
                reason="no_such_tile",
                where=self._where(memory),
                source=_SHARED,
            )
        )
        return False

    def _where(self, memory: MemoryObject) -> str:
        return self._objects.where(memory.id, self._sites.line("buffer", memory.id))

    def _not_beside(self, memory: MemoryObject, tiles: Sequence[Tile]) -> Problem:
        shown = ", ".join(self._rooms.shown(t) for t in tiles)
        return Problem(
            "places",
            shown,
            "one tile, or two beside each other in a row",
            f"its buffers lie in {shown}; one DMA reaches two tiles beside each other in a row",
            "Put both in one tile, or in two neighbours of the same row.",
            reason="buffers_apart",
            where=self._where(memory),
            source="UG1603: Shared Buffer Location",
        )

    def _take(self, tile: Tile, start: int, nbytes: int, name: str) -> None:
        space = self._rooms.space(tile)
        inside = min(nbytes, space.nbytes - start)
        space.take(start, inside, name)
        if inside < nbytes:
            self._rooms.space((tile[0] + 1, tile[1])).take(0, nbytes - inside, name)

    def _numbers(self, memory: MemoryObject, layout: _Layout) -> dict[int, int] | None:
        """Channels of all ports in the tile of a layout; None = there are not enough."""
        channels = self._rooms.channels
        found: dict[int, int] = {}
        taken: list[tuple[Tile, str, int]] = []
        ports = [self._objects.ports[p] for p in self._port_ids(memory)]
        for port in sorted(ports, key=lambda port: self._dma(port.id) is None):
            way = INTO if port.direction == "in" else OUT
            number = self._number(memory, port, way, layout)
            if number is None:
                break
            channels.take(layout.tile, way, number, port.name, self._descriptors(memory, port))
            taken.append((layout.tile, way, number))
            found[port.id] = number
        if len(found) == len(ports):
            return found
        for key in taken:
            del channels.users[key]
        return None

    def _descriptors(self, memory: MemoryObject, port: Port) -> int:
        """Descriptors that a port needs at least."""
        return self._copies(memory) * max(len(access_of(port)), 1)

    def _number(self, memory: MemoryObject, port: Port, way: str, layout: _Layout) -> int | None:
        channels, given = self._rooms.channels, self._dma(port.id)
        if given is None:
            return channels.best(layout.tile, way, self._descriptors(memory, port), near=layout.near)
        tile = given.column, self._rooms.device.memory_rows.start + given.row
        free = channels.free(layout.tile, way, near=layout.near)
        return given.number if tile == layout.tile and given.number in free else None

    def _keep(self, memory: MemoryObject, layout: _Layout, numbers: Mapping[int, int]) -> None:
        nbytes = self._nbytes(memory)
        for tile, start in layout.pieces:
            self._take(tile, start, nbytes, memory.name)
        tiles = tuple(tile for tile, _ in layout.pieces)
        apart = tiles if len(set(tiles)) > 1 else ()
        self.blocks[memory.id] = Blocks(layout.tile, tuple(s for _, s in layout.pieces), nbytes, apart)
        self.ports.update({port: (layout.tile, number) for port, number in numbers.items()})

    def _full(self, memory: MemoryObject, tile: Tile) -> Problem:
        gap = self._rooms.space(tile).largest_gap
        return Problem(
            "size",
            f"{self._nbytes(memory):,} bytes",
            f"{gap:,} bytes",
            f"a buffer of {self._nbytes(memory):,} bytes finds no room in {self._rooms.shown(tile)}, "
            f"whose largest free piece has {gap:,}",
            "Choose another tile, or fewer buffers (num_buffers).",
            reason="no_room",
            where=self._where(memory),
            source=_DMA,
        )

    def _nowhere(self, memory: MemoryObject, layouts: Sequence[_Layout]) -> Problem:
        device, copies = self._rooms.device, self._copies(memory)
        found = partial(Problem, where=self._where(memory), source=_DMA)
        if layouts:
            ways = f"{len(memory.inputs)} S2MM and {len(memory.outputs)} MM2S channels"
            near = " that reach a neighbour" if layouts[0].near else ""
            asked = self._asked(memory)
            return found(
                "channels",
                ways,
                f"{device.kind('memory').channels} of each in a memory tile",
                f"it needs {ways}{near}{asked}, and no memory tile with room for it has them free",
                "Use fewer ports, other channels, or several shared buffers.",
                reason="no_channel",
            )
        largest = max(self._rooms.space(t).largest_gap for t in self._tiles())
        return found(
            "size",
            f"{copies} x {self._nbytes(memory):,} bytes",
            f"{largest:,} bytes in one tile, or two tiles beside each other",
            f"{copies} x {self._nbytes(memory):,} bytes find no room in one memory tile or in two beside "
            f"each other; the largest free piece has {largest:,} bytes",
            "Use fewer buffers (num_buffers), or several shared buffers.",
            reason="no_room",
        )

    def _asked(self, memory: MemoryObject) -> str:
        asked = [
            f"{self._objects.name(p)} channel {place.number} of column {place.column}"
            for p in self._port_ids(memory)
            if (place := self._dma(p))
        ]
        return f" ({', '.join(asked)})" if asked else ""

    def _tiles(self) -> list[Tile]:
        device = self._rooms.device
        return [(c, r) for c in range(device.columns) for r in device.memory_rows]
