"""Sentences about what a plan chose where the graph left it open, in the user's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.adf.nets import Wiring
from memtile.adf.objects import BUFFERS, Objects
from memtile.adf.plan import Plan
from memtile.adf.sites import Sites
from memtile.arch.devices import device


def notes_of(plan: Plan, objects: Objects, sites: Sites, wirings: Sequence[Wiring]) -> tuple[str, ...]:
    """One sentence for each choice."""
    return (
        *_counts(plan, objects),
        *_places(plan, objects, sites),
        *_types(objects, wirings),
        *_left_out(plan, objects, sites),
    )


def _counts(plan: Plan, objects: Objects) -> Iterator[str]:
    """Counts that the balance of volumes made, as AMD's message 77-5917 has them."""
    for planned in plan.kernels:
        kernel = objects.kernels[planned.kernel]
        if kernel.repetition is None and planned.repetition > 1:
            yield f"{kernel.name} runs {planned.repetition} times in an iteration of the graph."
    for buffer in plan.memories:
        memory = objects.memories[buffer.memory]
        if memory.repetition is None and buffer.turns > 1:
            yield f"{memory.name} has {buffer.turns} turns in an iteration of the graph."


def _places(plan: Plan, objects: Objects, sites: Sites) -> Iterator[str]:
    """Cores and memory tiles, in the user's rows."""
    chip = device(plan.device)
    for planned in plan.kernels:
        if planned.kernel not in sites.lines:
            column, row = planned.tile
            yield f"{objects.name(planned.kernel)} lies in tile({column}, {row - chip.compute_rows.start})."
    for buffer in plan.memories:
        if buffer.blocks and not sites.of("buffer", buffer.memory):
            column, row = buffer.blocks.tile
            starts = ", ".join(f"{start:#x}" for start in buffer.blocks.offsets)
            first = chip.memory_rows.start
            yield f"{objects.name(buffer.memory)} lies in memory tile ({column}, {row - first}) at {starts}."


def _types(objects: Objects, wirings: Sequence[Wiring]) -> Iterator[str]:
    """Ends whose elements have one size and two names."""
    for wiring in wirings:
        source = objects.ports[wiring.sources[0].port]
        for tap in wiring.targets:
            target = objects.ports[tap.port]
            if source.element and target.element and source.element != target.element:
                ends = f"{source.name} has {source.element}, {target.name} {target.element}"
                yield f"{ends}: bits pass unchanged."


def _left_out(plan: Plan, objects: Objects, sites: Sites) -> Iterator[str]:
    """Places that have no effect."""
    copies = {memory.memory: len(memory.blocks.offsets) for memory in plan.memories if memory.blocks}
    for net in plan.nets:
        carried = net.targets[0].blocks if net.transport == "memory" else None
        for end in (*net.sources, *net.targets):
            blocks = end.blocks or carried
            if blocks and objects.ports[end.port].kind in BUFFERS:
                copies[end.port] = len(blocks.offsets)
    for number, count in copies.items():
        given = len(sites.of("buffer", number))
        if given > count:
            yield f"{objects.name(number)} has {count} of the {given} buffers that its location names."
    for location in sites.fifos:
        yield f"The place of a FIFO ({location.line}) is left to the router."
