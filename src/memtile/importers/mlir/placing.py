"""Numbers for what a text leaves open: locks, BDs.

What has a number keeps it. The rest gets the lowest free ones in the order of the text, as mlir-aie's passes
do (aie-assign-lock-ids, aie-assign-bd-ids): BDs of a memory tile from the half that the channel can use.

It also has places for logical tiles: cores in order, other tiles near those they serve.

The way of mlir-aie's sequential placer (aie-place-tiles): a core gets the first compute tile that is free,
column by column from the bottom. Memory and interface tiles follow, those that need most channels first: each
gets the column with the shortest ways to its cores, or the nearest one with enough channels, there the least
used tile. Several logical ones may be one tile.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from memtile.arch.devices import Device
from memtile.arch.tiles import TileKind
from memtile.importers.mlir.description import (
    BdDescription,
    DeviceDescription,
    Direction,
    EndDescription,
    Place,
    TileDescription,
)
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.overlay import run_lines

_CORES_PER_COLUMN = re.compile(r"--cores-per-col[= ]([1-9][0-9]{0,2})(?![0-9])")


def number_locks(device: DeviceDescription, kinds: dict[str, TileKind]) -> None:
    """Give each lock its number within its tile.

    Args:
        device: whose locks get numbers.
        kinds: kind of each tile, by the name of its value.

    Raises:
        InputFileError: a tile has no lock left, or two have one number.
    """
    taken: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for name, lock in device.locks.items():
        if lock.number is not None:
            other = taken[lock.tile].setdefault(lock.number, name)
            if other != name:
                says = f"lock {lock.number} of this tile is {device.locks[other].name!r} already"
                raise OperationForm(lock.operation).error(says, "a number of its own", reason="mlir_lock")
    for name, lock in device.locks.items():
        if lock.number is None:
            many = kinds[lock.tile].locks
            free = next((n for n in range(many) if n not in taken[lock.tile]), None)
            if free is None:
                says = f"the {kinds[lock.tile].title} has {many} locks, and all are taken"
                raise OperationForm(lock.operation).error(says, f"at most {many} locks", reason="mlir_lock")
            lock.number = free
            taken[lock.tile][free] = name


def number_bds(device: DeviceDescription, kinds: dict[str, TileKind]) -> None:
    """Give each BD of the DMA work its number within its tile.

    Args:
        device: whose BDs get numbers.
        kinds: kind of each tile, by the name of its value.

    Raises:
        InputFileError: a channel has no BD left.
    """
    taken: defaultdict[str, set[int]] = defaultdict(set)
    for tile, _, bd in _bds(device):
        if bd.number is not None:
            taken[tile].add(bd.number)
    for tile, channel, bd in _bds(device):
        if bd.number is None:
            bank = kinds[tile].bd_bank(channel)
            free = next((n for n in bank if n not in taken[tile]), None)
            if free is None:
                says = f"BDs {bank.start}..{bank.stop - 1} of the {kinds[tile].title} are all taken"
                raise OperationForm(bd.operation).error(
                    says, "a BD that the channel can use", reason="mlir_bds"
                )
            bd.number = free
            taken[tile].add(free)


def _bds(device: DeviceDescription) -> Iterator[tuple[str, int, BdDescription]]:
    for chain in device.chains:
        for bd in chain.bds:
            yield chain.tile, chain.channel, bd


_FREE = "a tile of the device that nobody has"


def place_tiles(device: DeviceDescription, chip: Device, columns: int) -> None:
    """Give every logical tile a place; those that share one become one tile.

    Args:
        device: whose tiles get places.
        chip: the device that it is for.
        columns: of the array.

    Raises:
        InputFileError: no compute tile is left, or no tile that has the channels.
    """
    places = [tile.place for tile in device.tiles.values()]
    if None not in places and len(set(places)) == len(places):
        return
    _Placer(device, chip, columns).place()
    _merge(device)


class _Owned(Protocol):
    """What belongs to a tile."""

    tile: str


class _Placer:
    def __init__(self, device: DeviceDescription, chip: Device, columns: int) -> None:
        self.device, self.chip, self.columns = device, chip, columns
        self.peers = _peers(device)
        self.cores_per_column = _cores_per_column(device)
        self.used: Counter[tuple[Place, Direction]] = Counter()
        self.needs = _channels(device)
        for name, tile in device.tiles.items():
            self._occupy(name, tile)

    def place(self) -> None:
        """Place cores in order, then the other tiles: those that need most channels first."""
        open_ = [(name, tile) for name, tile in self.device.tiles.items() if tile.place is None]
        for name, tile in open_:
            if tile.role == "compute":
                tile.place = self._core(tile)
                self._occupy(name, tile)
        others = [(name, tile) for name, tile in open_ if tile.role != "compute"]
        for name, tile in sorted(others, key=lambda each: -self.needs[each[0]].total()):
            tile.place = self._near(name, tile)
            self._occupy(name, tile)

    def _occupy(self, name: str, tile: TileDescription) -> None:
        if tile.place is not None:
            for direction, many in self.needs[name].items():
                self.used[tile.place, direction] += many

    def _core(self, tile: TileDescription) -> Place:
        taken = {each.place for each in self.device.tiles.values()}
        rows = self.chip.compute_rows[: self.cores_per_column]
        free = ((column, row) for column in range(self.columns) for row in rows)
        found = next((place for place in free if place not in taken and _allowed(tile, place)), None)
        if found is None:
            says = f"all {self.columns * len(rows)} compute tiles that it may be are taken"
            raise OperationForm(tile.operation).error(says, _FREE, reason="mlir_place")
        return found

    def _places_for(self, tile: TileDescription) -> Iterator[Place]:
        """Where a tile may be, however many channels are free there."""
        of_memory = tile.role == "memory"
        rows: Iterable[int] = self.chip.memory_rows if of_memory else range(1)
        for place in ((column, row) for column in range(self.columns) for row in rows):
            if _allowed(tile, place) and (of_memory or self.chip.has_interface_dma(place[0])):
                yield place

    def _near(self, name: str, tile: TileDescription) -> Place:
        """The place with the channels it needs that is nearest to its cores; of several the least used."""
        kind = self.chip.kind("memory" if tile.role == "memory" else "interface")
        column = self._column(name)
        fitting = [place for place in self._places_for(tile) if self._fits(name, place, kind)]
        if not fitting:
            says = f"no {kind.title} has {_needs_text(self.needs[name])} left"
            raise OperationForm(tile.operation).error(says, _FREE, reason="mlir_place")
        return min(fitting, key=lambda place: (abs(place[0] - column), self._load(place), place))

    def _load(self, place: Place) -> int:
        return self.used[place, "S2MM"] + self.used[place, "MM2S"]

    def _column(self, name: str) -> int:
        """The column with the shortest ways to its cores: of a broadcast any between the first and the last.

        Of several columns it is the nearest to the mean of all cores.
        """
        reached = [found for peers in self.peers[name] if (found := self._core_columns(name, peers))]
        if not reached:
            return 0
        every = [column for columns in reached for column in columns]
        mean = sum(every) / len(every)

        def ways(column: int) -> int:
            return sum(max(min(found) - column, column - max(found), 0) for found in reached)

        return min(range(self.columns), key=lambda column: (ways(column), abs(column - mean)))

    def _core_columns(self, name: str, peers: Sequence[str]) -> list[int]:
        """Columns of the cores at the other ends of a connection, or one tile behind them."""
        found = list[int]()
        for peer in peers:
            column = self._core_column(peer)
            if column is not None:
                found.append(column)
            elif peer != name:
                behind = (self._core_column(each) for ends in self.peers[peer] for each in ends)
                found += [each for each in behind if each is not None]
        return found

    def _core_column(self, name: str) -> int | None:
        tile = self.device.tiles.get(name)
        if tile is None or tile.role != "compute" or tile.place is None:
            return None
        return tile.place[0]

    def _fits(self, name: str, place: Place, kind: TileKind) -> bool:
        needs = self.needs[name]
        return all(self.used[place, direction] + many <= kind.channels for direction, many in needs.items())


def _allowed(tile: TileDescription, place: Place) -> bool:
    column, row = tile.wanted
    return column in (None, place[0]) and row in (None, place[1])


def _needs_text(needs: Counter[Direction]) -> str:
    return " and ".join(f"{many} {direction} channels" for direction, many in needs.items()) or "no channels"


def _cores_per_column(device: DeviceDescription) -> int | None:
    """How many rows of compute tiles the lines that compile a text leave; None = all."""
    found = _CORES_PER_COLUMN.search("\n".join(run_lines(device)))
    return int(found[1]) if found else None


def _peers(device: DeviceDescription) -> defaultdict[str, list[list[str]]]:
    """The tiles that a tile exchanges data with, by connection."""
    found: defaultdict[str, list[list[str]]] = defaultdict(list)
    pairs = [([fifo.producer], fifo.consumers) for fifo in device.fifos.values()]
    for flow in device.flows:
        pairs.append(([end.tile for end in flow.sources], [end.tile for end in flow.targets]))
    for sources, targets in pairs:
        for source in sources:
            found[source].append(list(targets))
        for target in targets:
            found[target].append(list(sources))
    return found


def _channels(device: DeviceDescription) -> defaultdict[str, Counter[Direction]]:
    """Channels that each tile needs."""
    found: defaultdict[str, Counter[Direction]] = defaultdict(Counter)
    for fifo in device.fifos.values():
        found[fifo.producer]["MM2S"] += 1
        for consumer in fifo.consumers:
            found[consumer]["S2MM"] += 1
    for flow in device.flows:
        for end in flow.sources:
            found[end.tile]["MM2S"] += end.bundle == "DMA"
        for end in flow.targets:
            found[end.tile]["S2MM"] += end.bundle == "DMA"
    return found


def _merge(device: DeviceDescription) -> None:
    """Let all that names one of several tiles at a place name the first of them."""
    first: dict[Place | None, str] = {}
    same = {name: first.setdefault(tile.place, name) for name, tile in device.tiles.items()}
    for name, kept in same.items():
        if name != kept:
            del device.tiles[name]
    for fifo in device.fifos.values():
        fifo.producer, fifo.consumers = same[fifo.producer], [same[name] for name in fifo.consumers]
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


def _ends(ends: list[EndDescription], same: dict[str, str]) -> list[EndDescription]:
    return [end._replace(tile=same[end.tile]) for end in ends]
