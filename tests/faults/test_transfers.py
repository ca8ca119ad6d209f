"""Is a transfer refused that is not what the channel, the buffer or the lock is for?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memtile import (
    Array,
    MemoryTile,
    MemtileError,
    TilingParameters,
    Transfer,
    TraversingParameters,
)
from memtile.bd.descriptor import Descriptor, Dim, Pad
from memtile.bd.windows import OWN


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def test_a_guard_of_several_runs_would_be_taken_in_each() -> None:
    tile = MemoryTile()
    lock = tile.lock()
    several = Transfer(tile.write(tile.buffer("frame", 64)).descriptors, runs=2)
    assert refused(lambda: several.guarded(release=lock.release())) == (
        "Transfer(128 words, 1 descriptors, 2 runs): the transfer has 2 runs; a guarded one must have "
        "one (AM025 DMA_BDn_7: a BD takes and gives its locks in every run). Lower it without "
        "iteration=True, or guard transfers of one run."
    )
    assert several.guarded() == several


def test_a_second_guard_of_a_kind_is_not_dropped() -> None:
    tile = MemoryTile()
    first, second = tile.lock(), tile.lock()
    whole = tile.write(tile.buffer("frame", 64)).guarded(first.acquire())
    assert refused(lambda: whole.guarded(second.acquire())) == (
        "Transfer(64 words, 1 descriptors): the transfer has an acquire already (AM025 DMA_BDn_7: one "
        "acquire and one release per BD). Take the other lock with a transfer before or after this one."
    )
    both = whole.guarded(release=second.release())
    assert "the transfer has a release already" in refused(lambda: both.guarded(release=first.release()))


def test_guards_are_lock_operations_of_their_kind() -> None:
    tile = MemoryTile()
    lock, whole = tile.lock(), tile.write(tile.buffer("frame", 64))
    swapped = refused(lambda: whole.guarded(lock.release(), lock.acquire()))  # type: ignore[arg-type]
    assert len(swapped.splitlines()) == 2
    assert refused(lambda: whole.guarded(lock)) == (  # type: ignore[arg-type]
        "Transfer(64 words, 1 descriptors): acquire is Lock(lock0: id 0); it must be what "
        "lock.acquire() returns (AM025 DMA_BDn_7: one acquire and one release per BD). Make one with "
        "lock.acquire()."
    )


@pytest.mark.parametrize("verb", ["read", "write"])
def test_a_tiling_of_more_than_the_buffer_is_refused(verb: str) -> None:
    tile = MemoryTile()
    small = tile.buffer("small", (4, 4))
    assert refused(lambda: getattr(tile, verb)(small, TilingParameters((8, 4)))) == (
        "buffer small: buffer_dimension of the tiling has 32 elements, the buffer has 16 (UG1603: "
        "tiling parameters)."
    )


def test_a_tiling_of_a_part_of_the_buffer_stays_in_it() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("large", (4, 4))
    assert tile.read(buffer, TilingParameters((4, 2))).words == 8
    loops = (TraversingParameters(0, 2, 8),)  # tiles beyond the buffer are padding
    assert tile.read(buffer, TilingParameters((4, 4), (2, 4), (), loops)).words == 64


def test_a_read_is_for_mm2s_and_a_write_for_s2mm() -> None:
    tile = MemoryTile()
    frame = tile.buffer("frame", 64)
    assert refused(lambda: tile.s2mm[0].start(tile.read(frame))) == (
        "memory tile, S2MM 0: the work is a read of a buffer; this channel writes (AM020: S2MM writes "
        "memory, MM2S reads it). Make one with tile.write(buffer)."
    )
    assert "Make one with tile.read(buffer)." in refused(lambda: tile.mm2s[0].start(tile.write(frame)))
    tile.mm2s[0].start(*tile.write(frame).descriptors)  # of which nobody says what they are for


def test_an_s2mm_pads_nothing_so_a_descriptor_with_padding_is_refused() -> None:
    """AM020, zero padding: MM2S ports of memory tiles insert it. Padding of 0 words is none."""
    tile = MemoryTile()
    padded = Descriptor("memory", 8, OWN.address(0), dims=(Dim(1, 2), Dim(2)), pad=(Pad(1, 1),))
    assert refused(lambda: tile.s2mm[0].start(padded)) == (
        "memory tile, S2MM 0: a descriptor has padding, which only an MM2S inserts; an S2MM would leave it "
        "out (AM020: memory tile MM2S only). Pad where the words are read, or write them into a larger "
        "buffer."
    )
    assert "has padding" in refused(lambda: tile.s2mm[1].start(Transfer((padded.but(pad=((0, 1),)),))))
    tile.s2mm[0].start(padded.but(pad=((0, 0),), length=4))
    tile.mm2s[0].start(padded)


def test_two_tiles_alone_are_two_designs() -> None:
    mine, other = MemoryTile(), MemoryTile()
    theirs, lock = other.buffer("theirs", 64), other.lock(0, "gate")
    buffer = mine.buffer("mine", 64)
    assert refused(lambda: mine.mm2s[0].start(other.read(theirs))) == (
        "memory tile, MM2S 0: the transfer was made for another tile of another design (AM020 chapter "
        "5: DMA windows). Make one with read(buffer) of this tile."
    )
    assert "buffer theirs belongs to another tile of another design" in refused(lambda: mine.read(theirs))
    assert "another tile of another design" in refused(lambda: mine.store(theirs, [0] * 64))
    assert "lock gate" in refused(lambda: mine.mm2s[0].start(mine.read(buffer).guarded(lock.acquire())))
    assert "lock gate" in refused(lambda: mine.lock_value(lock))
    assert (mine.read(buffer), buffer) == (other.read(theirs), mine.buffers[0])


def test_tiles_at_the_same_place_of_two_arrays_are_two() -> None:
    mine, other = Array(columns=1), Array(columns=1)
    theirs = other.memory_tile(0).buffer("theirs", 64)
    assert refused(lambda: mine.memory_tile(0).read(theirs)) == (
        "memory tile (0,1): buffer theirs belongs to memory tile (0,1) of another design, which this "
        "tile does not see; its windows are west, own, east (AM020 chapter 5: DMA windows)."
    )
