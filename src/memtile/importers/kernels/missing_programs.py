"""Cores without a program at an end of what only cores use, where the core at the other end has one.

Nothing but its own core puts values into a cascade, or fills an object FIFO that it produces; nothing else
takes them. The text says so, whatever a host does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.explain.findings import Finding, Severity, Side
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import all_steps, steps_of
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.tree import Operation

NEVER_RELEASED = "MT0103"


class _Wait(NamedTuple):
    """What a core waits for in vain.

    Attributes:
        core: the one that waits.
        tile: value of the tile that has no program.
        what: it waits for.
        operation: that says it.
    """

    core: CoreDescription
    tile: str
    what: str
    operation: Operation


def program_findings(made: Sequence[Configured], *, played: bool) -> Iterator[Finding]:
    """One warning for each core without a program that another one needs.

    Args:
        made: the devices of a design, of which any may give a tile its program.
        played: an abstract run has looked at object FIFOs; it may know nothing of cascades.
    """
    known = {each.tiles[core.tile].place for each in made for core in each.device.cores}
    told = set[object]()
    for each in made:
        for wait in (*_at_cascades(each), *(() if played else _at_fifos(each))):
            tile = each.tiles.get(wait.tile)
            if tile is None or tile.kind.role != "compute" or tile.place in known or tile.place in told:
                continue
            told.add(tile.place)
            yield _finding(each, wait)


def _at_cascades(made: Configured) -> Iterator[_Wait]:
    """The tiles at the other ends of cascades of cores with a program."""
    aliases = made.device.aliases
    cores = {aliases.get(core.tile, core.tile): core for core in made.device.cores}
    for flow in made.device.cascades:
        source, target = (aliases.get(each, each) for each in (flow.source, flow.target))
        if target in cores:
            yield _Wait(cores[target], source, "gets its values by a cascade", flow.operation)
        if source in cores:
            yield _Wait(cores[source], target, "puts values to it by a cascade", flow.operation)


def _at_fifos(made: Configured) -> Iterator[_Wait]:
    """The tiles at the other ends of object FIFOs that cores acquire, but for those that are linked."""
    device = made.device
    linked = {name for link in device.links for name in (*link.sources, *link.targets)}
    for core in device.cores:
        for step in all_steps(steps_of(device, core)) if core.has_body else ():
            fifo = device.fifos.get(step.key.name)
            if fifo is None or not step.acquires or not step.key.port or fifo.name in linked:
                continue
            what = f"waits in {line_of(step.operation)} for objects of @{fifo.name}"
            for end in [fifo.producer] if step.key.port == "Consume" else fifo.consumers:
                yield _Wait(core, device.aliases.get(end, end), what, step.operation)


def _finding(made: Configured, wait: _Wait) -> Finding:
    place = made.tiles[wait.tile].place
    assert place is not None  # tiles of an array have one
    lacks, other = f"core ({place[0]}, {place[1]})", core_text(made, wait.core)
    sides = (Side(lacks, "has no program"), Side(other, wait.what, place_of(wait.operation)))
    message = f"{lacks} has no program, and {other} {wait.what}."
    fix = f"Give {lacks} a program (aie.core)."
    return Finding(NEVER_RELEASED, Severity.WARNING, message, sides, fix=fix)
