"""Elements of shared buffers that are read in a turn and that no turn writes.

The two sides of a ``shared_buffer`` may pass different volumes: UG1603 itself reads 84 elements of 72 that
are written, as tiles overlap. What is read and never written is what the memory had, and hardly meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from memtile.access.tiling import tiling_elements
from memtile.access.walk import Addresses
from memtile.adf.description import MemoryObject, Tiling
from memtile.adf.objects import Objects
from memtile.adf.port_transfers import descriptor_tiling, tiling_of
from memtile.adf.rates import access_of
from memtile.arch.tiles import WORD_BYTES


def unwritten_reads(objects: Objects) -> Iterator[str]:
    """A sentence for each port that reads what no port of its buffer writes.

    Args:
        objects: of a description whose tilings can be lowered.

    Yields:
        Sentences with the user's names and lines, without full stop.

    Raises:
        TransferError: a tiling that contradicts itself.
    """
    for memory in objects.description.memories:
        if memory.external or memory.initial or not memory.inputs:
            continue
        size = prod(memory.dimensions)
        written = np.zeros(size, bool)
        for number in memory.inputs:
            written[_inside(_of_port(objects, number, memory), size)] = True
        if written.all():
            continue
        for number in memory.outputs:
            found = _inside(_of_port(objects, number, memory), size)
            unwritten = np.unique(found[~written[found]])
            if len(unwritten):
                reads = f"{objects.where(number)} reads {len(unwritten):,} elements of {memory.name}"
                filled = f"{np.count_nonzero(written):,} of its {size:,} elements are written"
                yield f"{reads} that no port writes, from number {unwritten[0]:,} on: in a turn {filled}"


def _of_port(objects: Objects, number: int, memory: MemoryObject) -> Addresses:
    """Elements that a port passes in a turn, -1 for padding."""
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
    inside = np.arange(0, max(WORD_BYTES, nbytes), nbytes)
    return np.unique((places[:, None] + inside) // nbytes)


def _inside(found: Addresses, size: int) -> Addresses:
    return found[(found >= 0) & (found < size)]
