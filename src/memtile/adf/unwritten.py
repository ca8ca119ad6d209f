"""Elements of shared buffers that are read in a turn and that no turn writes.

The two sides of a ``shared_buffer`` may pass different volumes: UG1603 itself reads 84 elements of 72 that
are written, as tiles overlap. What is read and never written is what the memory had, and hardly meant; a
tiling that writes elements again is then the likely reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from memtile.access.tiling import tiling_elements
from memtile.access.walk import Addresses
from memtile.adf.description import MemoryObject, Tiling
from memtile.adf.objects import Objects
from memtile.adf.port_transfers import descriptor_tiling, tiling_of
from memtile.adf.rates import access_of
from memtile.arch.tiles import WORD_BYTES
from memtile.explain.findings import CODES, Finding, Side

UNWRITTEN = "MT0136"


def unwritten_reads(objects: Objects) -> Iterator[Finding]:
    """A finding for each port that reads what no port of its buffer writes.

    Args:
        objects: of a description whose tilings can be lowered.

    Yields:
        Findings with the user's names and lines: first the port that writes elements twice, if one does.

    Raises:
        TransferError: a tiling that contradicts itself.
    """
    for memory in objects.description.memories:
        if memory.external or memory.initial or not memory.inputs:
            continue
        size = prod(memory.dimensions)
        by_port = {each: inside(of_port(objects, each, memory), size) for each in memory.inputs}
        written = np.bincount(np.concatenate([*by_port.values()]), minlength=size)
        if written.all():
            continue
        for number in memory.outputs:
            found = inside(of_port(objects, number, memory), size)
            unwritten = np.unique(found[~written[found].astype(bool)])
            if len(unwritten):
                yield _finding(objects, memory, number, unwritten, by_port, written)


def unread_writes(objects: Objects) -> Iterator[tuple[int, str]]:
    """Each shared buffer with elements that are written in a turn and that no port reads: its id, a sentence.

    Args:
        objects: of a description whose tilings can be lowered.

    Raises:
        TransferError: a tiling that contradicts itself.
    """
    for memory in objects.description.memories:
        if memory.external or not memory.inputs or not memory.outputs:
            continue
        size = prod(memory.dimensions)
        sides = (memory.inputs, memory.outputs)
        written, read = (
            np.unique(np.concatenate([inside(of_port(objects, each, memory), size) for each in ports]))
            for ports in sides
        )
        if left := np.setdiff1d(written, read).size:
            ports = " and ".join(map(objects.name, memory.outputs))
            verb = "reads" if len(memory.outputs) == 1 else "read"
            whole = (
                f"{written.size - left:,} of the {written.size:,} elements that are written to {memory.name}"
            )
            yield memory.id, f"{ports} {verb} {whole} in a turn"


def _finding(
    objects: Objects,
    memory: MemoryObject,
    reader: int,
    unwritten: Addresses,
    by_port: Mapping[int, Addresses],
    written: Addresses,
) -> Finding:
    does = f"reads {len(unwritten):,} elements of {memory.name} that no port writes"
    filled = f"{np.count_nonzero(written):,} of its {written.size:,} elements are written"
    says = f"{objects.name(reader)} {does}, from number {unwritten[0]:,} on: in a turn {filled}"
    read = Side(objects.name(reader), does, objects.ports[reader].line)
    who, what = next(_twice(by_port, written.size), ([*by_port], ""))
    names = " and ".join(objects.name(each) for each in who)
    writers = [
        Side(objects.name(each), what or "does not write them", objects.ports[each].line) for each in who
    ]
    if what:
        tilings = "tiling" if len(who) == 1 else "tilings"
        fix = (
            f"Check offset, stride and size in the {tilings} of {names}: what is left out may be meant there."
        )
        message, sides = f"{says}; {names} {what}.", (*writers, read)
    else:
        fix = f"Let the tiling of {names} write them, or do not read them."
        message, sides = f"{says}.", (read, *writers)
    return Finding(UNWRITTEN, CODES[UNWRITTEN].severity, message, sides, fix=fix)


def _twice(by_port: Mapping[int, Addresses], size: int) -> Iterator[tuple[list[int], str]]:
    """A port that writes elements more often than once, or two that write the same."""
    for number, places in by_port.items():
        own = np.bincount(places, minlength=size)
        if many := int(np.count_nonzero(own > 1)):
            yield [number], f"writes {many:,} elements more than once"
    for one, other in combinations(by_port, 2):
        if many := np.intersect1d(by_port[one], by_port[other]).size:
            yield [one, other], f"write the same {many:,} elements"


def of_port(objects: Objects, number: int, memory: MemoryObject) -> Addresses:
    """Elements that a port of a shared buffer passes in a turn, in their order, -1 for padding.

    Args:
        objects: of a description.
        number: id of the port.
        memory: the buffer.

    Raises:
        TransferError: a tiling that contradicts itself.
    """
    tilings: Sequence[Tiling] = access_of(objects.ports[number])
    if not tilings:
        return np.arange(prod(memory.dimensions), dtype=np.int64)
    nbytes = objects.element_bytes(objects.ports[number]) or WORD_BYTES
    return np.concatenate([_of_tiling(each, memory, nbytes) for each in tilings])


def _of_tiling(tiling: Tiling, memory: MemoryObject, nbytes: int) -> Addresses:
    shape = tuple(reversed(memory.dimensions))
    if not tiling.is_older:
        return tiling_elements(tiling_of(tiling).over(shape))
    words = prod(shape) * nbytes // WORD_BYTES
    places = tiling_elements(descriptor_tiling(tiling, words).over((words,))) * WORD_BYTES
    within = np.arange(0, max(WORD_BYTES, nbytes), nbytes)
    return np.unique((places[:, None] + within) // nbytes)


def inside(found: Addresses, size: int) -> Addresses:
    """The elements of a port that lie in its buffer, of so many elements, without padding."""
    return found[(found >= 0) & (found < size)]
