"""Object FIFO links whose offsets cut objects into parts that the linked object FIFOs do not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from memtile.explain.findings import CODES, LINK_PARTS, OF_WAITS, Finding, Side
from memtile.importers.kernels.lock_names import line_of, place_of
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import FifoDescription, LinkDescription


def link_findings(made: Configured) -> Iterator[Finding]:
    """One finding for each link of a device that gives an object FIFO parts of another size than its objects.

    mlir-aie moves as much of an object as lies between two offsets. An end that moves 31 words for objects
    of 32 shifts all that follows, and the last object never becomes full. A part of several objects, or an
    object of several parts, is in order; so is a part that is padded on its way.
    """
    for link in made.device.links:
        parts = list(_parts(made, link))
        off = [n for n, (fifo, length) in enumerate(parts) if _differs(fifo, length)]
        if off:
            yield _found(made, link, parts, off)


def with_links(linked: Sequence[Finding], findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings about links first, without those about waits that come of words which a link shifts."""
    return (*linked, *(each for each in findings if each.code not in OF_WAITS))


def _parts(made: Configured, link: LinkDescription) -> Iterator[tuple[FifoDescription, int]]:
    """The object FIFOs that a link has on the side with several, and the elements of their parts."""
    joins = len(link.sources) > 1
    names, whole = (link.sources, link.targets) if joins else (link.targets, link.sources)
    if link.packed or len(names) < 2:
        return
    starts = link.source_offsets if joins else link.target_offsets
    fifos = made.device.fifos
    for name, (first, end) in zip(names, pairwise([*starts, _size(fifos[whole[0]])]), strict=True):
        yield fifos[name], end - first


def _size(fifo: FifoDescription) -> int:
    return fifo.element.elements


def _differs(fifo: FifoDescription, length: int) -> bool:
    size = _size(fifo)
    return bool(not fifo.padding and size % length and length % size)


def _found(
    made: Configured, link: LinkDescription, parts: list[tuple[FifoDescription, int]], off: list[int]
) -> Finding:
    joins = len(link.sources) > 1
    starts = link.source_offsets if joins else link.target_offsets
    whole = (link.targets if joins else link.sources)[0]
    first, (fifo, length) = starts[off[0]], parts[off[0]]
    message = (
        f"The link in {line_of(link.operation)} gives @{fifo.name} {length} elements of each object of "
        f"@{whole}, from offset {first} to {first + length}; an object of @{fifo.name} has {_size(fifo)}."
    )
    *packed, end = accumulate((_size(each) for each, _ in parts), initial=0)
    fits = end == _size(made.device.fifos[whole])
    fix = f"Write the offsets {packed}." if fits else "Let each part be as large as the objects it is for."
    place = place_of(link.operation)
    sides = [Side(f"@{parts[n][0].name}", f"gets {parts[n][1]} elements", place) for n in off]
    return Finding(LINK_PARTS, CODES[LINK_PARTS].severity, message, sides, fix=fix)
