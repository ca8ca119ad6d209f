"""Buffers, stacks, parameters and tables of kernels in data memory that their cores reach.

What a DMA fills or empties lies in the tile whose channel does it: a buffer in a neighbour's memory has a
channel of that neighbour. First everything that the user placed, then what fits in the own tile, then the
rest in neighbours (DEV-ADF-15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from memtile.adf.channels import Channels
from memtile.adf.description import Place
from memtile.adf.plan import Blocks, Tile
from memtile.adf.spaces import Space, Taken
from memtile.arch.devices import Device
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem

Key = tuple[str, int, int]
"""What a request is for: ``buffer``, ``stack``, ``parameter`` or ``table``, the id, and the core's kernel."""

_BUFFERS = "UG1603: Buffer Location Constraints"


@dataclass(frozen=True)
class Request:
    """Something that needs data memory.

    Attributes:
        key: of the outcome.
        name: the user's.
        where: line and name, for messages.
        tiles: where it may lie, best first.
        copies: one buffer, or two.
        nbytes: of each.
        places: that the user gave, of each copy.
        channel: direction of the DMA channel that it needs; empty = none.
        dma: the channel that the user gave.
        home: tile of the core, from which offsets count.
        late: placed after everything else of its size.
    """

    key: Key
    name: str
    where: str
    tiles: tuple[Tile, ...]
    copies: int
    nbytes: int
    places: tuple[Place, ...] = ()
    channel: str = ""
    dma: Place | None = None
    home: Tile = (0, 0)
    late: bool = False


@dataclass
class Rooms:
    """The memories and channels of all tiles, and what got its place in them.

    Attributes:
        device: whose tiles these are.
        align: bytes to whose multiples buffers of kernels are aligned.
        spots: kernel -> its core, for places that are a kernel's.
        channels: of all tiles.
        spaces: tile -> its memory.
        blocks: what has a place.
        numbers: what has a channel -> its number.
        rivals: what may not share a bank (not_equal).
        carried: port that writes a net in memory -> the port that reads it, whose buffers it has.
    """

    device: Device
    align: int
    spots: dict[int, Tile]
    channels: Channels
    spaces: dict[Tile, Space] = field(default_factory=dict)
    blocks: dict[Key, Blocks] = field(default_factory=dict)
    numbers: dict[Key, int] = field(default_factory=dict)
    rivals: dict[Key, set[Key]] = field(default_factory=dict)
    carried: dict[int, int] = field(default_factory=dict)

    def banks(self, key: Key, tile: Tile) -> set[int]:
        """Banks of a tile that something has a byte of."""
        blocks = self.blocks.get(key)
        if blocks is None:
            return set()
        size = self.space(tile).bank_bytes
        tiles = blocks.tiles or (blocks.tile,) * len(blocks.offsets)
        return {
            bank
            for where, start in zip(tiles, blocks.offsets, strict=True)
            if where == tile
            for bank in range(start // size, (start + blocks.nbytes - 1) // size + 1)
        }

    def space(self, tile: Tile) -> Space:
        """The memory of a tile."""
        if tile not in self.spaces:
            role = "memory" if tile[1] in self.device.memory_rows else "compute"
            self.spaces[tile] = Space.of(self.device.kind(role))  # type: ignore[arg-type]
        return self.spaces[tile]

    def shown(self, tile: Tile) -> str:
        """A tile as the user counts them."""
        memory = tile[1] in self.device.memory_rows
        first = self.device.memory_rows.start if memory else self.device.compute_rows.start
        return f"{'memory tile' if memory else 'tile'} ({tile[0]}, {tile[1] - first})"


def place_all(rooms: Rooms, requests: Sequence[Request]) -> tuple[Rooms, list[Problem]]:
    """Places for all requests: in few banks at once if they fit so, else as tight as they go.

    Returns:
        Memory and channels with all that found its place, and what found none.
    """
    outcomes = []
    for spread in (True, False):
        tried = deepcopy(rooms)
        problems = list(_Placement(tried, spread=spread).run(requests))
        outcomes.append((tried, problems))
        if not problems:
            return tried, problems
    return outcomes[-1]


class _Placement:
    """One attempt."""

    def __init__(self, rooms: Rooms, *, spread: bool) -> None:
        self.rooms, self._spread = rooms, spread

    def run(self, requests: Sequence[Request]) -> Iterator[Problem]:
        """Place all; yields what found no place."""
        given = [one for one in requests if one.places or one.dma]
        behind = [one for one in given if any(p.kind == "same" and p.what != "kernel" for p in one.places)]
        for one in sorted(given, key=lambda one: not any(p.kind == "address" for p in one.places)):
            if one not in behind:
                yield from self._given(one)
        waiting = sorted(
            (one for one in requests if not one.places and not one.dma),
            key=lambda one: (one.late, not one.channel, -one.copies * one.nbytes),
        )
        left = [one for one in waiting if not self._put(one, one.tiles[:1])]
        for one in left:
            if not self._put(one, one.tiles):
                yield self._no_room(one)
        for one in behind:
            yield from self._given(one)
        yield from self._meetings(requests)

    def _meetings(self, requests: Sequence[Request]) -> Iterator[Problem]:
        """What shares a bank with something that it may not share one with."""
        rooms, named = self.rooms, {one.key: one for one in requests}
        for key, rivals in rooms.rivals.items():
            for rival in sorted(rivals):
                tile = rooms.blocks[key].tile if key in rooms.blocks else None
                both = rooms.banks(key, tile) & rooms.banks(rival, tile) if tile else set()
                if both and tile and key < rival:
                    yield Problem(
                        "place",
                        f"bank {min(both)}",
                        "different banks",
                        f"it shares bank {min(both)} of {rooms.shown(tile)} with {named[rival].name}, "
                        "but not_equal keeps them apart",
                        "Change one of the locations, or make the buffers smaller.",
                        reason="not_equal",
                        where=named[key].where,
                        source=_BUFFERS,
                    )

    def _put(self, one: Request, tiles: Sequence[Tile]) -> bool:
        """Place what the user left open in the first tile that has room and a channel."""
        for tile in tiles:
            number = self.rooms.channels.best(tile, one.channel) if one.channel else -1
            if number is None:
                continue
            starts = self._starts(one, tile, [None] * one.copies)
            if starts:
                self._keep(one, [tile] * one.copies, starts, number)
                return True
        return False

    def _starts(self, one: Request, tile: Tile, within: Sequence[range | None]) -> list[int]:
        """First bytes of all copies in a tile; empty = they do not fit."""
        space = self.rooms.space(tile)
        before, starts = list(space.taken), list[int]()
        for area in within:
            if area is None and self.rooms.rivals.get(one.key):
                start = self._apart(one, tile)
            elif area is None:
                start = space.find(one.nbytes, self.rooms.align, spread=self._spread)
            else:
                start = space.find_in(area, one.nbytes, self.rooms.align)
            if start is None:
                starts = []
                break
            space.take(start, one.nbytes, one.name)
            starts.append(start)
        space.taken = before
        return starts

    def _apart(self, one: Request, tile: Tile) -> int | None:
        """The first byte of a free piece in banks that no rival has; None = there is none."""
        space, rooms = self.rooms.space(tile), self.rooms
        closed = {bank for rival in rooms.rivals[one.key] for bank in rooms.banks(rival, tile)}
        edges = [-1, *sorted(closed), space.banks]
        for before, after in pairwise(edges):
            area = range((before + 1) * space.bank_bytes, after * space.bank_bytes)
            start = space.find_in(area, one.nbytes, rooms.align)
            if start is not None:
                return start
        return None

    def _keep(self, one: Request, tiles: Sequence[Tile], starts: Sequence[int], number: int) -> None:
        for tile, start in zip(tiles, starts, strict=True):
            self.rooms.space(tile).take(start, one.nbytes, one.name)
        apart = tuple(tiles) if len(set(tiles)) > 1 else ()
        self.rooms.blocks[one.key] = Blocks(tiles[0], tuple(starts), one.nbytes, apart)
        if one.channel:
            self.rooms.channels.take(tiles[0], one.channel, number, one.name)
            self.rooms.numbers[one.key] = number

    def _given(self, one: Request) -> Iterator[Problem]:
        """Place what the user gave a place or a channel."""
        problems: list[Problem] = []
        spots = self._spots(one, problems)
        number, dma_tile = self._channel(one, spots, problems)
        if problems:
            yield from dict.fromkeys(problems)
            return
        fallback = (dma_tile,) if dma_tile else (spots[-1][0],) if spots else one.tiles
        for tile in fallback:
            found = self._spots_filled(one, spots, tile)
            free = self.rooms.channels.best(found[0][0], one.channel) if found and one.channel else -1
            number_now = number if number >= 0 else free
            if found and number_now is not None:
                self._keep(one, [t for t, _ in found], [s for _, s in found], number_now)
                return
        yield self._no_room(one)

    def _spots(self, one: Request, problems: list[Problem]) -> list[tuple[Tile, range]]:
        """Tiles and bytes of the places that the user gave, each checked beside those before it."""
        spots: list[tuple[Tile, range]] = []
        kept: list[tuple[Space, list[Taken]]] = []
        for place in one.places:
            tile, area = self._spot(one, place, problems)
            spots.append((tile, area))
            if len(area) == one.nbytes:
                space = self.rooms.space(tile)
                kept.append((space, list(space.taken)))
                space.take(area.start, one.nbytes, one.name)
        for space, taken in reversed(kept):
            space.taken = taken
        return spots

    def _spots_filled(
        self, one: Request, spots: Sequence[tuple[Tile, range]], tile: Tile
    ) -> list[tuple[Tile, int]]:
        """Tiles and first bytes of all copies, those that the user gave first; empty = no room."""
        found: list[tuple[Tile, int]] = []
        kept: list[tuple[Space, list[Taken]]] = []
        whole = range(self.rooms.space(tile).nbytes)
        for where, area in (*spots, *[(tile, whole)] * one.copies)[: one.copies]:
            space = self.rooms.space(where)
            kept.append((space, list(space.taken)))
            align = 1 if len(area) == one.nbytes else self.rooms.align
            start = space.find_in(area, one.nbytes, align)
            if start is None:
                found = []
                break
            space.take(start, one.nbytes, one.name)
            found.append((where, start))
        for space, taken in reversed(kept):
            space.taken = taken
        return found

    def _spot(self, one: Request, place: Place, problems: list[Problem]) -> tuple[Tile, range]:
        """Tile and bytes of a place; a piece as long as the buffer is a fixed one."""
        tile = self._tile(one, place)
        found = partial(Problem, where=one.where, source=_BUFFERS)
        if tile not in one.tiles:
            reached = ", ".join(self.rooms.shown(t) for t in one.tiles)
            problems.append(
                found(
                    "place",
                    self.rooms.shown(tile),
                    reached,
                    f"{self.rooms.shown(tile)} is out of reach; the buffer may lie in {reached}",
                    "Move the kernel or the buffer.",
                    reason="buffer_reach",
                )
            )
            return one.home, range(0)
        space = self.rooms.space(tile)
        if place.kind == "bank":
            problems.extend(self._bank_problems(place, space, found))
            return tile, space.bank(place.number)
        if place.kind in ("same", "tile") or place.number < 0:
            return tile, range(space.nbytes)
        problems.extend(self._address_problems(one, place, tile, found))
        return tile, range(place.number, place.number + one.nbytes)

    def _tile(self, one: Request, place: Place) -> Tile:
        if place.kind == "same":
            spot = self.rooms.spots.get(place.other)
            other = self.rooms.carried.get(place.other, place.other)
            block = self.rooms.blocks.get((place.what, other, -1))
            base = spot or (block.tile if block else one.home)
            return base[0] + place.column, base[1] + place.row
        if place.column < 0:
            return one.home
        return place.column, self.rooms.device.compute_rows.start + place.row

    def _bank_problems(self, place: Place, space: Space, found: partial[Problem]) -> Iterator[Problem]:
        if not 0 <= place.number < space.banks:
            yield found(
                "bank", str(place.number), f"0..{space.banks - 1}", "", "Change the bank.", reason="bank"
            )

    def _address_problems(
        self, one: Request, place: Place, tile: Tile, found: partial[Problem]
    ) -> Iterator[Problem]:
        space, last = self.rooms.space(tile), place.number + one.nbytes - 1
        if place.number % WORD_BYTES or last >= space.nbytes:
            yield found(
                "address",
                f"{place.number:#x}",
                f"0x0..{space.nbytes - one.nbytes:#x}",
                f"the buffer of {one.nbytes:,} bytes at {place.number:#x} must begin at a word and end below "
                f"{space.nbytes:#x}",
                "Change the address.",
                reason="address",
            )
        elif other := space.overlap(place.number, one.nbytes):
            yield found(
                "address",
                f"{place.number:#x}..{last:#x}",
                f"bytes that {other.name} does not have",
                f"bytes {place.number:#x}..{last:#x} of {self.rooms.shown(tile)} overlap {other.name}, "
                f"which has {other.start:#x}..{other.stop - 1:#x}",
                "Change one of the two addresses.",
                reason="buffer_overlap",
            )

    def _channel(
        self, one: Request, spots: Sequence[tuple[Tile, range]], problems: list[Problem]
    ) -> tuple[int, Tile | None]:
        """Number and tile of the channel that the user gave; -1 and none if he gave none."""
        if one.dma is None or not one.channel:
            return -1, None
        tile = (one.dma.column, self.rooms.device.compute_rows.start + one.dma.row)
        wrong = self._dma_problem(one, one.dma.number, tile, [t for t, _ in spots])
        if wrong:
            problems.append(wrong)
        return one.dma.number, tile

    def _dma_problem(self, one: Request, number: int, tile: Tile, spots: Sequence[Tile]) -> Problem | None:
        found = partial(
            Problem, where=one.where, source="UG1603: DMA Channel Constraint", reason="dma_channel"
        )
        count = self.rooms.channels.count(tile) if tile in one.tiles else 0
        shown = f"{one.channel} {number} of {self.rooms.shown(tile)}"
        allowed = f"channels 0 to {self.rooms.channels.count(one.home) - 1} of " + ", ".join(
            self.rooms.shown(t) for t in (spots or one.tiles)
        )
        if not 0 <= number < count or any(spot != tile for spot in spots):
            says = f"{shown} cannot move the buffer; {allowed} can"
            return found("dma_channel", shown, allowed, says, "Change the channel or its tile.")
        user = self.rooms.channels.user(tile, one.channel, number)
        if user:
            says = f"{shown} belongs to {user} already"
            return found("dma_channel", shown, "a free channel", says, "Choose another channel.")
        return None

    def _no_room(self, one: Request) -> Problem:
        """What lacked: channels where there are none, else memory."""
        rooms = self.rooms
        free = [t for t in one.tiles if not one.channel or rooms.channels.free(t, one.channel)]
        found = partial(
            Problem, where=one.where, source="AM020 chapter 4: data memory and DMA of a compute tile"
        )
        if not free:
            tiles = ", ".join(rooms.shown(t) for t in one.tiles)
            users = sorted({rooms.channels.user(t, one.channel, 0) for t in one.tiles[:1]})
            return found(
                "channel",
                one.channel,
                "a free channel",
                f"no {one.channel} channel is free in {tiles}, the tiles whose memory the core reaches; "
                f"those of the first belong to {', '.join(users)} and others",
                "Use fewer buffers that cross the array here, or place the kernels apart.",
                reason="no_channel",
            )
        gaps = ", ".join(f"{rooms.shown(t)} {rooms.space(t).largest_gap:,} bytes" for t in free)
        copies = f"{one.copies} x {one.nbytes:,}" if one.copies > 1 else f"{one.nbytes:,}"
        step = "Use single_buffer, smaller blocks, or a place with free neighbours."
        return found(
            "size",
            f"{copies} bytes",
            gaps,
            f"{copies} bytes find no room; the largest free pieces in reach are: {gaps}",
            step,
            reason="no_room",
        )
