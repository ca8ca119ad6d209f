"""What leads out of the array: PLIO, GMIO and external buffers at interface tiles.

What the user placed comes first, then DMA channels, then streams of the programmable logic, each in the
column nearest to what it exchanges data with (DEV-ADF-17).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from memtile.adf.channels import INTO, OUT, WIDE
from memtile.adf.description import Gmio, Place, Plio
from memtile.adf.memory import Rooms
from memtile.adf.objects import Objects
from memtile.adf.plan import Tile
from memtile.adf.sites import Sites
from memtile.errors import Problem

_SHIM = "UG1603: Shim Constraint"
_TILE = "AM020 chapter 6: interface tile"
_RANKS = 3


@dataclass(frozen=True, slots=True)
class Door:
    """Where a port leaves the array.

    Attributes:
        tile: the interface tile.
        channel: of its DMA; -1 = none.
        shim_port: port of its switch; -1 = none.
    """

    tile: Tile
    channel: int = -1
    shim_port: int = -1


@dataclass(frozen=True, slots=True)
class _Wish:
    """A port that wants a door: line and name, the user's place, and the direction."""

    port: int
    owner: int
    name: str
    place: Place | None
    into: bool
    line: str


class Doors:
    """The doors of a description.

    Attributes:
        of: port -> its door.
    """

    def __init__(
        self, objects: Objects, rooms: Rooms, sites: Sites, columns: Mapping[int, Sequence[int]]
    ) -> None:
        """``columns``: of what each owner exchanges data with."""
        self._objects, self._rooms, self._sites, self._columns = objects, rooms, sites, columns
        self.of: dict[int, Door] = {}

    def place(self) -> Iterator[Problem]:
        """Place all; yields what found no place."""
        moved = [*self._gmios(), *self._external()]
        streams = [(plio, self._wish(plio, "PLIO")) for plio in self._objects.description.plios]
        for rank in range(_RANKS):
            for wish in moved:
                if self._rank(wish) == rank:
                    yield from self._dma(self._resolved(wish))
            for plio, wish in streams:
                if self._rank(wish) == rank:
                    yield from self._stream(plio, self._resolved(wish))

    def _rank(self, wish: _Wish) -> int:
        """What the user placed, what is open, what lies where something else does."""
        if wish.place is None:
            return 1
        return 2 if wish.place.kind == "same" else 0

    def _resolved(self, wish: _Wish) -> _Wish:
        """A wish for the place of something else, with its column; without one, an open wish."""
        if wish.place is None or wish.place.kind != "same":
            return wish
        other = self._objects.all.get(wish.place.other)
        door = self.of.get(getattr(other, "port", -1))
        place = Place("shim", door.tile[0] + wish.place.column) if door else None
        return replace(wish, place=place)

    def _wish(self, one: Plio | Gmio, what: str) -> _Wish:
        place = next(iter(self._sites.of(what, one.id)), None)
        line = self._sites.line(what, one.id) or one.line
        return _Wish(one.port, one.id, one.name, place, one.direction == "in", line)

    def _gmios(self) -> Iterator[_Wish]:
        return (self._wish(gmio, "GMIO") for gmio in self._objects.description.gmios)

    def _external(self) -> Iterator[_Wish]:
        for memory in self._objects.description.memories:
            for number in (*memory.inputs, *memory.outputs) if memory.external else ():
                port = self._objects.ports[number]
                place = next(iter(self._sites.of("dma", number)), None)
                line = self._sites.line("dma", number) or memory.line
                yield _Wish(number, memory.id, port.name, place, port.direction == "out", line)

    def _order(self, wish: _Wish) -> list[int]:
        """Columns, the nearest to what the owner exchanges data with first; crowded ones last."""
        channels = self._rooms.channels
        middle = fmean(self._columns.get(wish.owner) or [0])
        most = channels.way_through(into=wish.into)
        columns = [wish.place.column] if wish.place else list(self._allowed(wish.owner))
        full = {c: channels.streams(c, into=wish.into) >= most for c in columns}
        return sorted(columns, key=lambda c: (full[c], abs(c - middle), c))

    def _allowed(self, owner: int) -> list[int]:
        tiles = [(c, 0) for c in range(self._rooms.device.columns)]
        graph = getattr(self._objects.all[owner], "graph", -1)
        return [tile[0] for tile in self._sites.allowed(graph, tiles)]

    def _dma(self, wish: _Wish) -> Iterator[Problem]:
        channels, way = self._rooms.channels, OUT if wish.into else INTO
        problem = self._outside(wish)
        if problem:
            yield problem
            return
        wanted = wish.place.number if wish.place else -1
        for column in self._order(wish):
            free = channels.free((column, 0), way)
            if wanted in free or (wanted < 0 and free):
                number = wanted if wanted >= 0 else free[0]
                channels.take((column, 0), way, number, wish.name)
                self.of[wish.port] = Door((column, 0), channel=number)
                return
        yield self._no_channel(wish, way, wanted)

    def _where(self, wish: _Wish) -> str:
        return self._objects.where(
            wish.port if wish.owner in self._objects.memories else wish.owner, wish.line
        )

    def _outside(self, wish: _Wish) -> Problem | None:
        device = self._rooms.device
        if wish.place is None or 0 <= wish.place.column < device.columns:
            return None
        return Problem(
            "column",
            str(wish.place.column),
            f"0..{device.columns - 1}",
            f"{device.name} has no column {wish.place.column}; it has columns 0 to {device.columns - 1}",
            "Change the location, or choose a larger device.",
            reason="no_such_tile",
            where=self._where(wish),
            source=_SHIM,
        )

    def _no_channel(self, wish: _Wish, way: str, wanted: int) -> Problem:
        device = self._rooms.device
        found = partial(Problem, where=self._where(wish), reason="no_channel", source=_TILE)
        columns = ", ".join(map(str, device.noc_columns))
        if wish.place and not device.has_interface_dma(wish.place.column):
            says = f"column {wish.place.column} of {device.name} has no DMA to external memory"
            return found(
                *("column", str(wish.place.column), columns, says),
                f"Choose one of columns {columns}.",
            )
        if wish.place:
            numbers = range(device.kind("interface").channels) if wanted < 0 else [wanted]
            user = next((u for n in numbers if (u := self._user(wish.place.column, way, n))), "")
            taken = f", because {user} has it" if user else ""
            says = (
                f"{way} {wanted if wanted >= 0 else ''}".strip()
                + f" of column {wish.place.column} is not free"
            )
            return found(
                *("channel", f"{way} {wanted}", "a free channel", says + taken),
                "Choose another column or channel.",
            )
        count = len(device.noc_columns) * device.kind("interface").channels
        says = f"all {count} {way} channels of interface tiles of {device.name} are taken"
        return found(*("channels", "one more", str(count), says), "Use fewer GMIO ports or external buffers.")

    def _user(self, column: int, way: str, number: int) -> str:
        known = 0 <= number < self._rooms.device.kind("interface").channels
        return self._rooms.channels.user((column, 0), way, number) if known else ""

    def _stream(self, plio: Plio, wish: _Wish) -> Iterator[Problem]:
        channels = self._rooms.channels
        problem = self._outside(wish)
        if problem:
            yield problem
            return
        wanted = wish.place.number if wish.place else -1
        for column in self._order(wish):
            free = list(channels.free_ports(column, into=wish.into, width=plio.width))
            if wanted in free or (wanted < 0 and free):
                port = wanted if wanted >= 0 else free[0]
                channels.take_port(column, port, wish.name, into=wish.into, width=plio.width)
                self.of[wish.port] = Door((column, 0), shim_port=port)
                return
        yield self._no_port(plio, wish, wanted)

    def _no_port(self, plio: Plio, wish: _Wish, wanted: int) -> Problem:
        channels, device = self._rooms.channels, self._rooms.device
        found = partial(Problem, where=self._where(wish), reason="no_plio", source=_TILE)
        count = channels.logic_ports(into=wish.into)
        way = "into the array" if wish.into else "out of the array"
        wide = f"; one of {WIDE} bits takes two, from an even one on" if plio.width == WIDE else ""
        if wish.place is None:
            says = f"all {count * device.columns} streams {way} of {device.name} are taken{wide}"
            return found(*("streams", "one more", str(count * device.columns), says), "Use fewer PLIO ports.")
        column = wish.place.column
        if 0 <= wanted < count:
            users = channels.port_users(column, into=wish.into, port=wanted, width=plio.width)
            who = f", because {users[0]} has it" if users else ""
            says = f"stream {wanted} {way} of column {column} is not free{who}{wide}"
            return found(
                *("channel", str(wanted), "a free stream", says), "Choose another channel, or leave it out."
            )
        says = (
            f"column {column} has {count} streams {way}, 0 to {count - 1}, and no free one is as asked{wide}"
        )
        return found(*("column", str(column), "a column with free streams", says), "Choose another column.")
