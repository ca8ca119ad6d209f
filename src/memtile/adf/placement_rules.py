"""What a placement of kernels must keep: shares of cores, streams, cascades, places apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from memtile.adf.nets import Wiring
from memtile.adf.objects import Objects
from memtile.adf.placement import CASCADE_OUT, Board, Placer, moved, ratio
from memtile.adf.plan import Tile
from memtile.adf.sites import Sites
from memtile.arch.ports import PORTS, port_kind
from memtile.errors import Problem

_TOLERANCE = 1e-9  # of sums of ratios
_SHOWN = 3  # names of kernels in a message


def no_core(objects: Objects, placer: Placer) -> Iterator[Problem]:
    """Kernels that found no core: one problem for each chain of cascades, one for the others of an area."""
    groups: dict[tuple[tuple[int, ...], int], list[int]] = defaultdict(list)
    for kernel in placer.left:
        chain = next((c for c in placer.chains if kernel in c), ())
        groups[chain, len(placer.domain(kernel))].append(kernel)
    device = placer.device
    cores = device.columns * len(device.compute_rows)
    for (chain, count), kernels in groups.items():
        names = ", ".join(objects.name(k) for k in kernels[:_SHOWN])
        more = f" and {len(kernels) - _SHOWN} more" if kernels[_SHOWN:] else ""
        area = "" if count == cores else f", {count} of them in the area"
        path = f"; a chain of {len(chain)} cascades goes east or south at each step" if chain else ""
        yield Problem(
            "core",
            f"none for {len(kernels)} kernels",
            "a free core",
            f"no core is left for {names}{more}: {device.name} has {cores} cores for {len(objects.kernels)} "
            f"kernels{area}{path}",
            "Choose a larger device, smaller runtime ratios, or other locations.",
            reason="no_core",
            where=objects.where(kernels[0]),
            source=device.source.text,
        )


def placement_problems(
    objects: Objects, sites: Sites, wirings: Sequence[Wiring], board: Board
) -> Iterator[Problem]:
    """Everything that a placement breaks."""
    yield from _overloaded(objects, sites, board)
    yield from _crowded_ports(objects, wirings, board)
    yield from _cascades(objects, wirings, board)
    yield from _outside_areas(objects, sites, board)
    for rule in objects.description.not_equal:
        spots: dict[Tile, int] = {}
        for kernel in rule.objects:
            spot = board.spots.get(kernel)
            if spot is not None and spots.setdefault(spot, kernel) != kernel:
                yield Problem(
                    "place",
                    _shown(board, spot),
                    "different tiles",
                    f"it lies in the core of {objects.name(spots[spot])}, but not_equal keeps them apart",
                    "Change one of the locations.",
                    reason="not_equal",
                    where=objects.where(kernel, rule.line),
                    source="UG1603: Location Constraints",
                )


def _shown(board: Board, spot: Tile) -> str:
    return f"tile({spot[0]}, {spot[1] - board.device.compute_rows.start})"


def _overloaded(objects: Objects, sites: Sites, board: Board) -> Iterator[Problem]:
    """Cores whose kernels ask for more than one core (DEV-ADF-12)."""
    for spot, kernels in board.kernels.items():
        total = sum(ratio(objects, k) for k in kernels)
        if len(kernels) > 1 and total > 1 + _TOLERANCE:
            shares = ", ".join(f"{objects.name(k)} {ratio(objects, k):g}" for k in kernels)
            yield Problem(
                "runtime<ratio>",
                f"{total:g}",
                "at most 1",
                f"the runtime ratios of the kernels in {_shown(board, spot)} add up to {total:g}, "
                f"at most 1 is allowed: {shares}",
                "Lower the ratios, or place a kernel elsewhere.",
                reason="runtime_ratio",
                where=objects.where(kernels[-1], sites.lines.get(kernels[-1], "")),
                source="UG1603: Runtime Ratio",
            )


_LIMITS = {
    "stream input": "UG1603: Stream-Based Access; aiecompiler 77-4280",
    "stream output": "UG1603: Stream-Based Access; aiecompiler 77-4281",
}
"""Sources of limits of a core, with the number of AMD's message (DEV-ADF-62)."""


def _crowded_ports(objects: Objects, wirings: Sequence[Wiring], board: Board) -> Iterator[Problem]:
    """Cores that have more streams or cascades than ports for them."""
    layout = PORTS[board.device.kind("compute").name]
    for word, kinds in (("stream", {"stream", "packet_stream"}), ("cascade", {"cascade"})):
        for incoming in (True, False):
            names = layout.masters if incoming else layout.slaves
            count = sum(port_kind(n) == "CORE" for n in names) if word == "stream" else 1
            for spot, ports in _ports_of(objects, wirings, board, kinds, incoming=incoming).items():
                if len(ports) > count:
                    yield _too_many(
                        objects, board, spot, ports, count, f"{word} {'input' if incoming else 'output'}"
                    )


def _ports_of(
    objects: Objects, wirings: Sequence[Wiring], board: Board, kinds: set[str], *, incoming: bool
) -> dict[Tile, list[int]]:
    found: dict[Tile, list[int]] = defaultdict(list)
    for wiring in wirings:
        for tap in wiring.targets if incoming else wiring.sources:
            port = objects.ports[tap.port]
            if port.kind in kinds and port.owner in board.spots:
                found[board.spots[port.owner]].append(port.id)
    return found


def _too_many(
    objects: Objects, board: Board, spot: Tile, ports: Sequence[int], count: int, what: str
) -> Problem:
    names = ", ".join(objects.name(p) for p in ports)
    return Problem(
        what,
        str(len(ports)),
        str(count),
        f"the core in {_shown(board, spot)} has {count} {what}, and {len(ports)} are asked for: {names}",
        "Use buffers or packets, or place a kernel elsewhere.",
        reason="core_ports",
        where=objects.where(ports[-1]),
        source=_LIMITS.get(what, "AM020 chapter 4"),
    )


def _cascades(objects: Objects, wirings: Sequence[Wiring], board: Board) -> Iterator[Problem]:
    for wiring in wirings:
        source = objects.ports[wiring.sources[0].port]
        if source.kind != "cascade":
            continue
        found = partial(Problem, reason="cascade", source="AM020 chapter 4: cascade")
        target = objects.ports[wiring.targets[0].port]
        spots = [board.spots.get(source.owner), board.spots.get(target.owner)]
        line = wiring.connections[-1].line
        if len(wiring.targets) > 1:
            yield found(
                *("targets", str(len(wiring.targets)), "one", "a cascade has one target"),
                "Use a stream where several kernels listen.",
                where=objects.where(source.id, line),
            )
        elif spots[0] and spots[1] and spots[1] not in [moved(spots[0], step) for step in CASCADE_OUT]:
            east, south = (_shown(board, moved(spots[0], step)) for step in CASCADE_OUT)
            yield found(
                "place",
                _shown(board, spots[1]),
                f"{east} or {south}",
                f"the cascade of {objects.name(source.owner)} in {_shown(board, spots[0])} goes to {east} "
                f"or {south}, but {objects.name(target.owner)} lies in {_shown(board, spots[1])}",
                "Change one of the locations.",
                where=objects.where(target.id, line),
            )


def _outside_areas(objects: Objects, sites: Sites, board: Board) -> Iterator[Problem]:
    cores = [(c, r) for c in range(board.device.columns) for r in board.device.compute_rows]
    for kernel, spot in board.spots.items():
        if spot not in sites.allowed(objects.kernels[kernel].graph, cores):
            yield Problem(
                "place",
                _shown(board, spot),
                "a tile of its area",
                f"it lies in {_shown(board, spot)}, outside the area of its graph or inside that of another",
                "Change its location or the area.",
                reason="area",
                where=objects.where(kernel, sites.lines.get(kernel, "")),
                source="UG1603: Area Group Constraint",
            )
