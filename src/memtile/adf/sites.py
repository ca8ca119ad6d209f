"""Where the user wants things: locations of a description, in columns and rows of the array.

``tile(c, 0)`` is the first row of cores, ``address(c, 0, o)`` of a shared buffer the first row of memory
tiles (UG1603). A place that is another object's is looked up at the end of the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from memtile.adf.description import Location, Place
from memtile.adf.objects import Objects
from memtile.adf.plan import Tile
from memtile.arch.devices import Device
from memtile.errors import Problem

_PLACES = "UG1603: Location Constraints"
_IN_MEMORY = ("address", "bank", "offset", "same")
_KINDS = {
    "kernel": ("tile", "same"),
    "buffer": _IN_MEMORY,
    "stack": _IN_MEMORY,
    "parameter": _IN_MEMORY,
    "dma": ("dma_channel",),
    "graph": ("area",),
    "PLIO": ("shim", "same"),
    "GMIO": ("shim", "same"),
    "fifo": ("dma_fifo", "ss_fifo"),
}
"""What may be placed -> kinds of places that it may be given."""


@dataclass(frozen=True, slots=True)
class Area:
    """Tiles that objects of a graph must lie in.

    Attributes:
        graph: its id.
        tiles: of the array.
        exclusive: nothing else may lie there.
        line: of the user.
    """

    graph: int
    tiles: frozenset[Tile]
    exclusive: bool
    line: str


@dataclass(frozen=True, slots=True)
class Apart:
    """A kernel that is so many columns and rows from another one; (0, 0) = in its core."""

    kernel: int
    other: int
    step: Tile
    line: str


class Sites:
    """The locations of a description.

    Attributes:
        cores: kernel -> the tile that the user gave.
        apart: kernels whose places depend on others'.
        areas: of kernels, by graph.
        lines: kernel -> line of its location.
        fifos: locations of FIFOs of connections, which have no effect.
    """

    def __init__(self, objects: Objects, device: Device, problems: list[Problem]) -> None:
        self._objects, self._device, self._problems = objects, device, problems
        self.cores: dict[int, Tile] = {}
        self.apart: list[Apart] = []
        self.areas: list[Area] = []
        self.lines: dict[int, str] = {}
        self.fifos: list[Location] = []
        self._places: dict[tuple[str, int], Location] = {}
        for location in objects.description.locations:
            self._read(location)

    def _read(self, location: Location) -> None:
        wrong = [place.kind for place in location.places if place.kind not in _KINDS.get(location.what, ())]
        if wrong:
            self._problems.append(self._wrong_kind(location, wrong[0]))
        elif location.what == "kernel":
            self._kernel(location)
        elif location.what == "graph":
            self._area(location)
        elif location.what == "fifo":
            self.fifos.append(location)
        else:
            self._places[location.what, location.object] = location

    def of(self, what: str, number: int) -> tuple[Place, ...]:
        """The places of a buffer, stack, parameter, DMA channel, PLIO or GMIO; empty = open."""
        found = self._places.get((what, number))
        return found.places if found else ()

    def line(self, what: str, number: int) -> str:
        """The line that gave them."""
        found = self._places.get((what, number))
        return found.line if found else ""

    def _kernel(self, location: Location) -> None:
        place, found = location.places[0], partial(self._problem, location)
        self.lines[location.object] = location.line
        if location.places[1:]:
            self._problems.append(
                found("places", str(len(location.places)), "one", "a kernel has one place", reason="places")
            )
        elif place.kind == "same":
            self.apart.append(Apart(location.object, place.other, (place.column, place.row), location.line))
        else:
            spot = place.column, self._device.compute_rows.start + place.row
            self.cores[location.object] = spot
            self._problems.extend(self._outside(location, spot, "compute"))

    def _wrong_kind(self, location: Location, kind: str) -> Problem:
        allowed = " or ".join(_KINDS.get(location.what, ())) or "another constraint"
        says = f"location<{location.what}> takes {allowed}, not {kind}"
        return self._problem(location, "place", kind, allowed, says, reason="place_kind")

    def _problem(self, location: Location, *given: str, reason: str) -> Problem:
        where = self._objects.where(location.object, location.line)
        return Problem(*given, reason=reason, where=where, source=_PLACES)

    def _outside(self, location: Location, spot: Tile, role: str) -> Iterator[Problem]:
        rows = self.rows(role)
        if 0 <= spot[0] < self._device.columns and spot[1] in rows:
            return
        first = rows.start
        what = {"compute": "core", "memory": "memory tile", "interface": "interface tile"}[role]
        yield self._problem(
            location,
            "place",
            f"({spot[0]}, {spot[1] - first})",
            f"columns 0 to {self._device.columns - 1} and rows 0 to {len(rows) - 1}",
            f"{self._device.name} has no {what} at ({spot[0]}, {spot[1] - first}); its {what}s have "
            f"columns 0 to {self._device.columns - 1} and rows 0 to {len(rows) - 1}",
            "Change the location, or choose a larger device.",
            reason="no_such_tile",
        )

    def rows(self, role: str) -> range:
        """The rows of the array that have tiles of a role."""
        device = self._device
        return {"compute": device.compute_rows, "memory": device.memory_rows}.get(role, range(1))

    def _area(self, location: Location) -> None:
        tiles: set[Tile] = set()
        for place in location.places:
            role = {"memory_tile": "memory", "shim_tile": "interface"}.get(place.tile_kind, "compute")
            first = self.rows(role).start
            for corner in ((place.column, place.row), (place.last_column, place.last_row)):
                self._problems.extend(self._outside(location, (corner[0], corner[1] + first), role))
            columns = range(place.column, place.last_column + 1)
            tiles.update((c, r + first) for c in columns for r in range(place.row, place.last_row + 1))
        self.areas.append(Area(location.object, frozenset(tiles), location.exclusive, location.line))

    def allowed(self, graph: int, tiles: Sequence[Tile]) -> list[Tile]:
        """Those of some tiles of one role where objects of a graph may lie."""
        inside = self._ancestors(graph)
        out = list(tiles)
        among = frozenset(tiles)
        for area in self.areas:
            same_role = area.tiles & among
            if area.graph in inside and same_role:
                out = [tile for tile in out if tile in same_role]
            elif area.exclusive and area.graph not in inside:
                out = [tile for tile in out if tile not in same_role]
        return out

    def _ancestors(self, graph: int) -> set[int]:
        parents = {one.id: one.parent for one in self._objects.description.graphs}
        found: set[int] = set()
        while graph in parents and graph not in found:
            found.add(graph)
            graph = parents[graph]
        return found
