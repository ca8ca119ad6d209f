"""Cut a descriptor in two, so that a lock can be given after its first few words already.

A BD does one acquire before its first word and one release after its last (AM020: BDs hold one lock of each
kind), so a channel that has to tell two locks needs two BDs.
"""

from __future__ import annotations

from dataclasses import replace

from memtile.access.tiling import NO_PORT
from memtile.arch.tiles import GRANULE_WORDS
from memtile.bd.descriptor import NO_ITERATION, Descriptor, Dim
from memtile.bd.windows import DmaAddress
from memtile.design.transfers import Transfer


def first_piece(transfer: Transfer) -> tuple[Transfer, Transfer] | None:
    """The first descriptor of ``transfer``, or a piece of it, and the rest; together the same stream.

    A contiguous transfer is cut after one 128-bit granule, any other after the first turn of its outermost
    loop. None when it is one descriptor that cannot be cut: padded, iterated, compressed, with a packet
    header (both pieces would send one), or too short.
    """
    first, *others = transfer.descriptors
    if others:
        return replace(transfer, descriptors=(first,)), replace(transfer, descriptors=tuple(others))
    packet = first.packet or transfer.port != NO_PORT
    special = first.pad or packet or first.compression or first.iteration != NO_ITERATION
    words, step = _turn(first)
    if special or first.length <= words:
        return None
    head = first.but(length=words, tlast_suppress=True)
    rest = first.but(length=first.length - words, address=DmaAddress(first.address + step))
    return replace(transfer, descriptors=(head,)), replace(transfer, descriptors=(rest,))


def _turn(descriptor: Descriptor) -> tuple[int, int]:
    """Words of one turn below the outermost loop that moves, and how far that loop advances in memory."""
    words, outer = 1, Dim(1)  # registers of 0 beyond the given dimensions mean step 1
    for dim in descriptor.dims:
        if not dim.wrap or words * dim.wrap >= descriptor.length:
            outer = dim
            break
        words *= dim.wrap
    if words > 1:
        return words, outer.step
    return GRANULE_WORDS, GRANULE_WORDS * outer.step
