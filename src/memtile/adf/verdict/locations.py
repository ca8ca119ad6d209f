"""Rules on places that the graph gives: outside of the device, contradictory, or two things in one place.

Numbers AIE-PRE-MAPPER and 47-772 are those that UG1076 lists; AMD's compiler checks them before it maps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from memtile.adf.description import Location, Place, Port
from memtile.adf.nets import Wiring
from memtile.adf.objects import BUFFERS
from memtile.adf.sizes import PING_PONG, block_bytes, may_share
from memtile.adf.verdict.subject import Rule, Subject, Tile
from memtile.adf.verdict.verdicts import Verdict
from memtile.arch.pl_interface import PAIRED_BITS

CHECKS = "UG1076: Mapper/Router Design Rule Checks"
_CONFLICT = "UG1076: Mapping Solution Not Found"
_ROUTER = "message published by a user of aiecompiler (CHARM, issue 23)"
_REFUSED = "refuses it too"
_ROLES = {"memory_tile": "memory", "shim_tile": "interface"}
_NAMES = {"memory": "memory tile", "interface": "interface tile", "compute": "core"}


def areas_out_of_device(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-1: a corner of an area that the device does not have."""
    for location in subject.objects.description.locations:
        for place in location.places if location.what == "graph" else ():
            role = _ROLES.get(place.tile_kind, "compute")
            corners = ((place.column, place.row), (place.last_column, place.last_row))
            missing = [corner for corner in corners if not subject.has_tile(role, *corner)]
            if missing:
                yield _out_of_device(subject, location, "AIE-PRE-MAPPER-1", role, missing[0])


def buffers_out_of_device(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-13: a buffer, a stack or a parameter in a tile that the device does not have."""
    for location in subject.objects.description.locations:
        if location.what not in ("buffer", "stack", "parameter"):
            continue
        role = "memory" if location.object in subject.objects.memories else "compute"
        for place in location.places:
            spot = place.column, place.row
            if place.kind in ("address", "bank") and not subject.has_tile(role, *spot):
                yield _out_of_device(subject, location, "AIE-PRE-MAPPER-13", role, spot)


def interfaces_out_of_device(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-14: a PLIO or GMIO in a column that the device does not have."""
    for location, place in _interface_places(subject):
        if not subject.has_tile("interface", place.column, 0):
            yield _out_of_device(subject, location, "AIE-PRE-MAPPER-14", "interface", (place.column, 0))


def gmio_without_dma(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-16: a GMIO in a column whose interface tile has no DMA."""
    device = subject.device
    for location, place in _interface_places(subject):
        inside = subject.has_tile("interface", place.column, 0)
        if location.what == "GMIO" and inside and not device.has_interface_dma(place.column):
            columns = ", ".join(map(str, device.noc_columns))
            yield Verdict(
                "AIE-PRE-MAPPER-16",
                subject.objects.where(location.object, location.line),
                f"column {place.column} of {device.name} has no GMIO; columns {columns} have",
                _REFUSED,
                "Choose one of these columns.",
                CHECKS,
                "manual",
                {"column": place.column},
            )


def kernels_out_of_areas(subject: Subject) -> Iterator[Verdict]:
    """47-772 and AIE-PRE-MAPPER-3: areas of a kernel without a common core; a kernel placed outside."""
    for kernel in subject.objects.description.kernels:
        areas = _areas_of(subject, kernel.graph)
        apart = next(((a, b) for a, b in combinations(areas, 2) if not a[1] & b[1]), None)
        spot = subject.core(kernel.id)
        outside = next((name for name, tiles in areas if spot and spot not in tiles), None)
        where = subject.objects.where(kernel.id)
        if apart:
            (one, _), (other, _) = apart
            says = f"the areas of {one} and {other} have no core in common"
            yield Verdict("47-772", where, says, _REFUSED, "Change one of the areas.", _CONFLICT, "manual")
        elif outside is not None and spot:
            says = f"the kernel is in core {spot}, outside the area of {outside}"
            step = "Change its location or the area."
            yield Verdict("AIE-PRE-MAPPER-3", where, says, _REFUSED, step, CHECKS, "manual")


def _areas_of(subject: Subject, graph: int) -> list[tuple[str, frozenset[Tile]]]:
    """Cores that the areas of a graph and of those around it allow, with the graph's name."""
    parents = {one.id: one.parent for one in subject.objects.description.graphs}
    found = []
    for _ in parents:
        places = [p for p in subject.places("graph", graph) if p.tile_kind not in _ROLES]
        if places:
            tiles = frozenset(
                (column, row)
                for p in places
                for column in range(p.column, p.last_column + 1)
                for row in range(p.row, p.last_row + 1)
            )
            found.append((subject.objects.name(graph), tiles))
        graph = parents.get(graph, -1)
    return found


def streams_of_one_port(subject: Subject) -> Iterator[Verdict]:
    """AIE-ROUTER-3: two PLIO on one port of an interface tile."""
    taken: dict[tuple[int, int, str], str] = {}
    plios = {plio.id: plio for plio in subject.objects.description.plios}
    for location, place in _interface_places(subject):
        if location.what != "PLIO" or place.number < 0:
            continue
        plio = plios[location.object]
        ports = range(place.number, place.number + (2 if plio.width >= PAIRED_BITS else 1))
        users = {taken.setdefault((place.column, port, plio.direction), plio.name) for port in ports}
        other = next((user for user in users if user != plio.name), None)
        if other:
            yield Verdict(
                "AIE-ROUTER-3",
                subject.objects.where(plio.id, location.line),
                f"{other} and {plio.name} are on port {place.number} of column {place.column}",
                _REFUSED,
                "Choose another channel, or leave it out.",
                _ROUTER,
                "report",
                {"needed": 2, "available": 1},
            )


def buffers_of_one_bank(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-4: buffers of a kernel that the graph puts into one bank, and that it cannot hold."""
    kind = subject.device.kind("compute")
    most = kind.bank_bytes * max(kind.bank_group, 1)
    used: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
    for port, place in buffer_places(subject):
        if place.kind == "bank":
            inside = used[place.column, place.row, place.number]
            inside[port.name] = inside.get(port.name, 0) + block_bytes(port, subject.rates)
            if len(inside) > 1 and sum(inside.values()) > most:
                yield Verdict(
                    "AIE-PRE-MAPPER-4",
                    subject.objects.where(port.id),
                    f"{', '.join(inside)} need {sum(inside.values()):,} bytes of bank {place.number} of core "
                    f"({place.column}, {place.row}), which has {most:,}",
                    _REFUSED,
                    "Put one of them into another bank.",
                    CHECKS,
                    "manual",
                    {"needed": sum(inside.values()), "available": most},
                )


def buffer_places(subject: Subject) -> Iterator[tuple[Port, Place]]:
    """Buffers of kernels with the places that the graph gives, ping and pong each.

    A buffer between two kernels in one memory comes once. The place of a kernel stands for its core.
    """
    ends = {net.targets[0].port: net.sources[0].port for net in subject.nets if _in_memory(subject, net)}
    for port in subject.objects.description.ports:
        copies = 1 if port.single else PING_PONG
        if port.kind in BUFFERS and not subject.places("buffer", ends.get(port.id, -1)):
            places = subject.places("buffer", port.id)[:copies]
            yield from ((port, at) for at in (_absolute(subject, place) for place in places) if at)


def _absolute(subject: Subject, place: Place) -> Place | None:
    """A place with its tile; None = the graph leaves the tile open."""
    spot = subject.core(place.other) if place.kind == "same" and place.what == "kernel" else None
    if spot:
        return replace(place, column=spot[0] + place.column, row=spot[1] + place.row)
    return place if place.kind in ("address", "bank") else None


def _in_memory(subject: Subject, net: Wiring) -> bool:
    return may_share(subject.objects, net, subject.rates)


def _interface_places(subject: Subject) -> Iterator[tuple[Location, Place]]:
    for location in subject.objects.description.locations:
        if location.what in ("PLIO", "GMIO"):
            yield from ((location, place) for place in location.places if place.kind == "shim")


def _out_of_device(subject: Subject, location: Location, number: str, role: str, spot: Tile) -> Verdict:
    device, rows = subject.device, subject.rows(role)
    return Verdict(
        number,
        subject.objects.where(location.object, location.line),
        f"{device.name} has no {_NAMES[role]} {spot}: columns go from 0 to {device.columns - 1}, "
        f"rows of such tiles from 0 to {rows - 1}",
        _REFUSED,
        "Change the location, or choose a larger device.",
        CHECKS,
        "manual",
        {"column": spot[0], "columns": device.columns, "row": spot[1], "rows": rows},
    )


RULES: tuple[Rule, ...] = (
    areas_out_of_device,
    kernels_out_of_areas,
    buffers_of_one_bank,
    buffers_out_of_device,
    interfaces_out_of_device,
    gmio_without_dma,
    streams_of_one_port,
)
