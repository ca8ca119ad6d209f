"""Why a request has no legal descriptors: every reason at once, with the field that is too small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtile.access.lowering.fit import Fields
from memtile.access.lowering.nest import Item, Nest, Repeat
from memtile.access.request import BYTE_BITS, WORD_BITS, Request
from memtile.arch.tiles import TILE_KINDS, TileKind
from memtile.errors import Problem

_FORWARD = "The hardware only steps forward: walk the other way round."


@dataclass(frozen=True, slots=True)
class DmaSide:
    """Where a request is lowered: the tile kind, the direction, and what to call it in messages."""

    kind: TileKind
    writes: bool

    @property
    def where(self) -> str:
        """Place for messages."""
        return f"{self.kind.title}, {'write (S2MM)' if self.writes else 'read (MM2S)'}"


def padding_problems(request: Request, site: DmaSide) -> Iterator[Problem]:
    """Accesses outside the data where the hardware cannot fill in zeros."""
    if site.kind.has_padding and not site.writes:
        return
    for d, (low, high) in enumerate(request.reach()):
        size = request.extents[d].size
        if low < 0 or high >= size:
            yield Problem(
                f"dimension {d}",
                f"elements {low}..{high}",
                f"elements 0..{size - 1}",
                f"the tiles cover elements {low}..{high} of dimension {d}, allowed are 0..{size - 1}",
                "Keep the tiles inside the buffer, or pad on a memory tile MM2S channel.",
                reason="padding",
                where=site.where,
                source="UG1603: zero padding only for memory tile reads",
            )


def step_problems(items: Sequence[Item], request: Request, site: DmaSide) -> Iterator[Problem]:
    """Loops whose step the step field cannot hold, each named once."""
    fields = Fields(site.kind)
    limit = max(fields.step)
    field = site.kind.bd_fields["D0_Stepsize"]
    for step in sorted({step for step in _steps(items) if not 0 <= step <= limit}):
        yield Problem(
            "stepsize",
            f"{step} words",
            f"1..{limit} words",
            f"a loop has a step of {step} words, allowed are 1..{limit}",
            _way_out(step, request, site) if step > limit else _FORWARD,
            reason="step",
            where=site.where,
            source=f"AM025: Dn_Stepsize has {field.bits} bits",
        )


def size_problems(request: Request, site: DmaSide) -> Iterator[Problem]:
    """A buffer that the addresses of the DMA do not span."""
    needed, available = request.capacity * request.element_bits, site.kind.dma_address_words * WORD_BITS
    if needed > available:
        yield Problem(
            "buffer size",
            f"{needed // BYTE_BITS} bytes",
            f"at most {available // BYTE_BITS} bytes",
            f"the buffer has {needed // BYTE_BITS} bytes, the DMA can address {available // BYTE_BITS}",
            "Use a smaller buffer or element type, or keep it behind the interface tile.",
            reason="buffer",
            where=site.where,
            source="AM020 ch. 5: memory that the DMA can address",
        )


def count_problem(needed: int | None, available: int, site: DmaSide, *, one_run: bool = False) -> Problem:
    """More descriptors than one channel has; ``one_run`` = several runs or tasks were not allowed."""
    given = "too many to count" if needed is None else str(needed)
    where = " in one run" * one_run
    step = "Split the transfer over channels, or use fewer tiles per transfer."
    if one_run:
        step = f"Start it as a task of its own, where it can run several times. {step}"
    return Problem(
        "descriptors",
        given,
        f"at most {available}",
        f"the transfer needs {'too many' if needed is None else given} descriptors"
        f"{' to count' * (needed is None)}{where}, a channel reaches {available}",
        step,
        reason="bds",
        where=site.where,
        source=f"AM020: BDs that one channel of the {site.kind.title} reaches",
    )


def _steps(items: Sequence[Item]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Nest):
            yield from (loop.step for loop in item.loops if loop.wrap > 1)
        elif isinstance(item, Repeat):
            yield item.step
            yield from _steps(item.items)


def _way_out(step: int, request: Request, site: DmaSide) -> str:
    ways = ["Split the loop into separate tilings"]
    limit = max(Fields(site.kind).step)
    bits = request.element_bits
    while bits > 1 and step * bits > limit * request.element_bits:
        bits //= 2
    if bits > 1:
        ways.append(f"use elements of {bits} bits")
    for kind in TILE_KINDS.values():
        same_array = kind.generation == site.kind.generation
        if same_array and kind is not site.kind and max(Fields(kind).step) >= step:
            ways.append(f"move it from the {kind.title} (1..{max(Fields(kind).step)} words)")
    return f"{', or '.join(ways)}."
