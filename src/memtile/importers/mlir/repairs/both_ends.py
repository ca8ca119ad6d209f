"""Candidates that copy the order of one end of an object FIFO to its other end, or to a linked FIFO."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText
from memtile.importers.mlir.repairs.patterns import part_of
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation

_FIFO, _LINK = "aie.objectfifo", "aie.objectfifo.link"
_FITS, _LINKED = 0.3, 0.5
"""How unlikely is the order of the other end of the same object FIFO, and that of a linked one."""
_MOST = 12  # object FIFOs, and ends of them with an order
_Walk = list[tuple[int, int]]
"""Tokens and values: a size, its stride, the next size, ..., the outermost first."""


def both_ends_candidates(design: DesignText) -> Iterator[Found]:
    """Return candidates that give an end of an object FIFO the order of its other end, or of a linked one."""
    ends = [(fifo, walk) for fifo in design.named(_FIFO)[:_MOST] for walk in _walks(design, fifo)]
    linked = [design.names(each) for each in design.named(_LINK)]
    for (fifo, walk), (other, as_there) in permutations(ends[:_MOST], 2):
        names = {design.symbol(fifo), design.symbol(other)}
        if len(walk) != len(as_there) or (fifo is not other and not any(names <= each for each in linked)):
            continue
        changes = [
            change
            for (at, value), (_, new) in zip(walk, as_there, strict=True)
            if value != new
            for change in design.with_number(fifo, at, new)
        ]
        if changes:
            sizes, strides = ([value for _, value in as_there[n::2]] for n in (0, 1))
            walk_text = f"sizes {_listed(sizes)} and strides {_listed(strides)}"
            end = "its other end" if fifo is other else f"@{design.symbol(other)}"
            says = f"line {fifo.line}, {design.symbol(fifo)}: {walk_text}"
            unlikely = _FITS if fifo is other else _LINKED
            yield fifo, Candidate("stride", f"{says}, as at {end}", changes, unlikely)


def _walks(design: DesignText, fifo: Operation) -> Iterator[_Walk]:
    """The orders of an object FIFO: that of its producer, and of each consumer with one."""
    walk: _Walk = []
    for role, at, value in design.numbers(fifo):
        part = part_of(fifo, role)
        first = part == "size" and role.rpartition("<")[0].endswith("[")  # of the dimensions of an end
        if (first or not part) and walk:
            yield walk
            walk = []
        if part:
            walk.append((at, value))
    if walk:
        yield walk


def _listed(values: list[int]) -> str:
    return ", ".join(map(str, values))
