"""Places for logical tiles, as mlir-aie's sequential placer chooses them (DEV-MLIR-9).

Cores come first, those with a column or row of their own before the others. Each gets the first free compute
tile, column by column from the bottom, that keeps within reach what it must be beside: a cascade needs the
tile south or east of its source, a buffer of another tile one that reaches its memory, and a core with more
object FIFOs than DMA channels neighbours that share their memory with it. Memory and interface tiles follow,
those with most channels first. Several logical ones may be one tile.

Sources: mlir-aie's page of passes (aie-place-tiles), section 1 of its programming guide, the placements that
test/place-tiles states (2026-08-14), and the descriptions of its pull requests 3041, 3042, 3046, 3064, 3078
and 3139.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Protocol

from memtile.arch.devices import Device
from memtile.arch.tiles import Role
from memtile.importers.mlir.description import (
    DeviceDescription,
    Direction,
    EndDescription,
    Place,
    TileDescription,
)
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.overlay import run_lines
from memtile.importers.mlir.tile_connections import BESIDE, Bond, bonds, channels, neighbours, partners

_CORES_PER_COLUMN = re.compile(r"--cores-per-col[= ]([1-9][0-9]{0,2})(?![0-9])")
_OTHER_PLACER = re.compile(r"placer[= ]'?\"?(?!sequential_placer)(\w+)")
_FREE = "a free tile of the device"
_DIRECTIONS: tuple[Direction, ...] = ("S2MM", "MM2S")


def place_tiles(device: DeviceDescription, chip: Device, columns: int) -> None:
    """Give every logical tile a place; those that share one become one tile.

    Args:
        device: whose tiles get places.
        chip: the device that it is for.
        columns: of the array.

    Raises:
        InputFileError: no tile is left that a logical one may be, or the text asks for another placer.
    """
    places = [tile.place for tile in device.tiles.values()]
    if None in places:
        board = _Board(device, chip, columns)
        for name in _in_order(device, chip, board.channels):
            board.put(name)
    elif len(set(places)) == len(places):
        return
    _merge(device)


def _in_order(
    device: DeviceDescription, chip: Device, needs: Mapping[str, Counter[Direction]]
) -> Iterator[str]:
    """The logical tiles without a place, in the order in which they get one."""
    asked = run_lines(device)
    for line in asked:
        if other := _OTHER_PLACER.search(line):
            says = f"its RUN line places tiles with {other[1]}, whose places memtile does not know"
            raise OperationForm(device.operation).error(says, "sequential_placer", reason="mlir_place")
    waiting = [name for name, tile in device.tiles.items() if tile.place is None]
    waiting.sort(key=lambda name: device.tiles[name].wanted == (None, None))
    cores = [name for name in waiting if _role(device.tiles[name], chip) == "compute"]
    others = [name for name in waiting if name not in cores]
    yield from cores
    yield from sorted(others, key=lambda name: -needs[name].total())


class _Board:
    """Which tiles are where, and where one more may be."""

    def __init__(self, device: DeviceDescription, chip: Device, columns: int) -> None:
        self.device, self.chip, self.columns = device, chip, columns
        self.channels = channels(device)
        self.partners = partners(device)
        self.bonds = bonds(device)
        self.at: dict[str, Place] = {}
        self.roles: dict[str, Role] = {name: _role(tile, chip) for name, tile in device.tiles.items()}
        self.neighbours = neighbours(device, self.roles, self.channels, chip.kind("compute").channels)
        self.used: Counter[tuple[Place, Direction]] = Counter()
        for name, tile in device.tiles.items():
            if tile.place is not None:
                self._settle(name, tile.place)

    def put(self, name: str) -> None:
        """Give a logical tile its place.

        Raises:
            InputFileError: no tile is left that it may be.
        """
        place = self._core(name) if self.roles[name] == "compute" else self._beside(name)
        self.device.tiles[name].place = place
        self._settle(name, place)

    def _settle(self, name: str, place: Place) -> None:
        self.at[name] = place
        self.used.update({(place, direction): many for direction, many in self.channels[name].items()})

    def _places(self, name: str) -> Iterator[Place]:
        """Those of its kind that its declaration allows, column by column from the bottom."""
        role, (column, row) = self.roles[name], self.device.tiles[name].wanted
        rows: Sequence[int] = range(1)
        if role != "interface":
            rows = self.chip.memory_rows if role == "memory" else self._core_rows()
        for place in ((x, y) for x in range(self.columns) for y in rows):
            served = role != "interface" or self.chip.has_interface_dma(place[0])
            if served and column in (None, place[0]) and row in (None, place[1]):
                yield place

    def _core_rows(self) -> range:
        """Rows of compute tiles that cores without a place may be in: fewer if a RUN line says so."""
        rows = self.chip.compute_rows
        found = _CORES_PER_COLUMN.search("\n".join(run_lines(self.device)))
        if found and int(found[1]) > len(rows):
            says = f"its RUN line asks for {found[1]} cores in a column"
            raise OperationForm(self.device.operation).error(
                says, f"at most {len(rows)}", reason="mlir_place"
            )
        return rows[: int(found[1])] if found else rows

    def _core(self, name: str) -> Place:
        taken = {*self.at.values()}
        free = [place for place in self._places(name) if place not in taken]
        near = [place for place in free if not any(self._parted(bond, place) for bond in self.bonds[name])]
        found = next((place for place in near if self._lets_fifos_be(name, place)), None)
        if found is not None:
            return found
        form = OperationForm(self.device.tiles[name].operation)
        if not free:
            many = len(list(self._places(name)))
            raise form.error(f"all {many} compute tiles that it may be are taken", _FREE, reason="mlir_place")
        if not near:
            raise form.error(*self._torn(name), reason="mlir_place")
        kind = self.chip.kind("compute")
        raise form.error(
            f"no free compute tile leaves the cores enough neighbours: a {kind.title} has {kind.channels} "
            "channels in a direction, and more object FIFOs need memory that both of its cores reach",
            "at most so many object FIFOs from elsewhere",
            reason="mlir_place",
        )

    def _parted(self, bond: Bond, place: Place) -> bool:
        """Whether a place is too far from what it is bound to, as far as that has a place."""
        other = self.at.get(bond.other)
        return other is not None and _step(place, other) not in bond.steps

    def _torn(self, name: str) -> tuple[str, str]:
        """What is wrong and allowed where no free tile is beside all that it must be beside."""
        placed = [bond for bond in self.bonds[name] if bond.other in self.at]
        ends = ", ".join(
            f"{bond.what} of {bond.other} at {self.at[bond.other]}".replace("of %", "of ") for bond in placed
        )
        return f"no free compute tile that it may be is beside the {ends}", (
            "south or east of a cascade's source; a tile that reaches the memory of a buffer's tile"
        )

    def _lets_fifos_be(self, name: str, place: Place) -> bool:
        """Whether every core still finds neighbours for the object FIFOs that exceed its channels.

        Args:
            name: the core that is to be placed.
            place: where it would be.
        """
        if not self.neighbours:
            return True
        at = {**self.at, name: place}
        taken = {*at.values()}
        for core, direction in self.neighbours:
            seats = [at[core]] if core in at else [each for each in self._places(core) if each not in taken]
            if not any(self._has_neighbours(core, direction, seat, at) for seat in seats):
                return False
        return True

    def _has_neighbours(self, core: str, direction: Direction, seat: Place, at: Mapping[str, Place]) -> bool:
        excess = self.channels[core][direction] - self.chip.kind("compute").channels
        by_core = Counter(self.neighbours[core, direction])
        near = sum(many for other, many in by_core.items() if other in at and _shares(seat, at[other]))
        later = sorted((many for other, many in by_core.items() if other not in at), reverse=True)
        taken = {*at.values(), seat}
        room = sum(
            place not in taken and _shares(seat, place)
            for place in ((x, y) for x in range(self.columns) for y in self.chip.compute_rows)
        )
        return near + sum(later[:room]) >= excess

    def _beside(self, name: str) -> Place:
        """Of the tiles with enough channels the nearest to what it serves, of those the least used."""
        role, needs = self.roles[name], self.channels[name]
        kind = self.chip.kind(role)
        column = self._column(name)
        fitting = [
            place
            for place in self._places(name)
            if all(self.used[place, way] + needs[way] <= kind.channels for way in needs)
        ]
        if not fitting:
            wants = " and ".join(f"{many} {way} channels" for way, many in needs.items()) or "no channels"
            says = f"no {kind.title} has {wants} left"
            raise OperationForm(self.device.tiles[name].operation).error(says, _FREE, reason="mlir_place")

        def burden(place: Place) -> tuple[int, int, Place]:
            load = sum(self.used[place, way] for way in _DIRECTIONS)
            return abs(place[0] - column), load, place

        return min(fitting, key=burden)

    def _column(self, name: str) -> int:
        """The column with the shortest ways to the cores that a memory or interface tile serves.

        A connection costs the columns to the nearest of its cores, nothing between the first and the last. Of
        several cheapest columns it is the nearest to the mean of all cores; 0 if there are no cores.
        """
        spans = [
            columns
            for ends in self.partners[name]
            if (columns := [x for end in ends if (x := self._served(end, {name})) is not None])
        ]
        if not spans:
            return 0
        middle = fmean(chain.from_iterable(spans))

        def cost(column: int) -> tuple[float, float]:
            outside = (max(min(span) - column, column - max(span), 0) for span in spans)
            return sum(outside), abs(column - middle)

        return min(range(self.columns), key=cost)

    def _served(self, name: str, seen: set[str]) -> float | None:
        """Column of a core; of another tile the mean of the cores that it leads to, None if to none."""
        if name in seen:
            return None
        if self.roles.get(name) == "compute":
            return self.at[name][0] if name in self.at else None
        behind = [self._served(end, {*seen, name}) for end in chain(*self.partners[name])]
        columns = [column for column in behind if column is not None]
        return fmean(columns) if columns else None


def _role(tile: TileDescription, chip: Device) -> Role:
    for role in ("compute", "memory", "interface"):
        if tile.role == role:
            return role
    row = tile.place[1] if tile.place else 0
    return "compute" if row in chip.compute_rows else "memory" if row in chip.memory_rows else "interface"


def _step(one: Place, other: Place) -> Place:
    return other[0] - one[0], other[1] - one[1]


def _shares(one: Place, other: Place) -> bool:
    """Whether one of two cores reaches the other one's memory."""
    return _step(one, other) in BESIDE or _step(other, one) in BESIDE


class _Owned(Protocol):
    """What belongs to a tile."""

    tile: str


def _merge(device: DeviceDescription) -> None:
    """Let all that names one of several tiles at a place name the first of them."""
    first: dict[Place | None, str] = {}
    same = {name: first.setdefault(tile.place, name) for name, tile in device.tiles.items()}
    for name, kept in same.items():
        if name != kept:
            del device.tiles[name]
    for fifo in device.fifos.values():
        fifo.producer, fifo.consumers = same[fifo.producer], [same[name] for name in fifo.consumers]
        fifo.registered = {same[name]: buffers for name, buffers in fifo.registered.items()}
        fifo.delegates = [(same[name], operation) for name, operation in fifo.delegates]
    for flow in device.flows:
        flow.sources, flow.targets = (_ends(ends, same) for ends in (flow.sources, flow.targets))
    owned: list[_Owned] = [*device.locks.values(), *device.chains, *device.cores, *device.switches]
    owned += [buffer for buffer in device.buffers.values() if buffer.tile]
    owned += [allocation for allocation in device.allocations.values() if allocation.tile]
    for each in owned:
        each.tile = same[each.tile]
    device.cascades = [
        each._replace(source=same[each.source], target=same[each.target]) for each in device.cascades
    ]
    device.cascade_sides = [each._replace(tile=same[each.tile]) for each in device.cascade_sides]
    device.aliases = same


def _ends(ends: Iterable[EndDescription], same: Mapping[str, str]) -> list[EndDescription]:
    return [end._replace(tile=same[end.tile]) for end in ends]
