"""Address generation of a DMA channel, one word at a time (AM020, memory tile DMA; AM025 DMA_BDn registers).

The same walk as ``access.walk``, which produces it whole; a property test holds the two together. Counter 0
runs fastest; a counter that reaches its extent (zeros before + wrap + zeros after) returns to 0 and the next
one advances; a wrap of 0 never ends its dimension; dimension 3 runs until the length is used up. Padding is a
box (DEV-PAD-1, its limits DEV-PAD-3) and counts in the length (DEV-PAD-2).

It also has the 128-bit memory port of a channel: where a formed access goes, a bank or an AXI master.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.memory.banks import bank_of
from memtile.model.memory.neighbours import memory_owner
from memtile.model.state.dma import Granules, Walks
from memtile.model.state.state import State

_PADDED_DIMENSIONS = 3


@jit
def locate(walks: Walks, ch: int) -> None:
    """Set address and padding flag of the word at the channel's position."""
    address = walks.origin[ch]
    padding = 0
    for d in range(_PADDED_DIMENSIONS):
        inside = walks.position[ch, d] - walks.before[ch, d]
        wrap = walks.wrap[ch, d]
        if inside < 0 or (wrap > 0 and inside >= wrap):
            padding = 1
        address += inside * walks.step[ch, d]
    last = _PADDED_DIMENSIONS
    walks.address[ch] = address + walks.position[ch, last] * walks.step[ch, last]
    walks.padding[ch] = padding


@jit
def restart(walks: Walks, ch: int, length: int) -> None:
    """Put the channel at the first word of its walk."""
    walks.padded[ch] = 0
    for d in range(_PADDED_DIMENSIONS):
        if walks.before[ch, d] + walks.after[ch, d] > 0:
            walks.padded[ch] = 1
    for d in range(_PADDED_DIMENSIONS + 1):
        walks.position[ch, d] = 0
    walks.left[ch] = length
    locate(walks, ch)


@inlined
def advance(walks: Walks, ch: int) -> None:
    """Step to the next word; most often it is the next one of dimension 0."""
    walks.left[ch] -= 1
    following, wrap = walks.position[ch, 0] + 1, walks.wrap[ch, 0]
    if walks.padded[ch] == 0 and (wrap == 0 or following < wrap):
        walks.position[ch, 0] = following
        walks.address[ch] += walks.step[ch, 0]
    else:
        turn(walks, ch)


@jit
def turn(walks: Walks, ch: int) -> None:
    """Step to the next word through counters, carries and padding."""
    carry = True
    for d in range(_PADDED_DIMENSIONS):
        walks.position[ch, d] += 1
        wrap = walks.wrap[ch, d]
        if wrap == 0 or walks.position[ch, d] < walks.before[ch, d] + wrap + walks.after[ch, d]:
            carry = False
            break
        walks.position[ch, d] = 0
    if carry:
        walks.position[ch, _PADDED_DIMENSIONS] += 1
    locate(walks, ch)


@inlined
def joins(walks: Walks, ch: int, address: int) -> bool:
    """Whether the next word continues, in the same memory access, a run that ends at ``address``."""
    if walks.left[ch] == 0 or walks.padding[ch] == 1 or walks.address[ch] != address + 1:
        return False
    return bool((address + 1) & (walks.granule_words[ch] - 1) != 0)


@inlined
def in_a_row(walks: Walks, ch: int) -> int:
    """How many words that the access of the next word can carry follow it in dimension 0."""
    if walks.padded[ch] == 1 or walks.step[ch, 0] != 1:
        return 0
    words = walks.granule_words[ch]
    more = min(words - 1 - (walks.address[ch] & (words - 1)), walks.left[ch] - 1)
    wrap = walks.wrap[ch, 0]
    return int(more if wrap == 0 else min(more, wrap - 1 - walks.position[ch, 0]))


@inlined
def form_access(walks: Walks, granules: Granules, ch: int) -> int:
    """Take the next words that one access, or the padding that one beat, can carry; the first DMA address."""
    first = walks.address[ch]
    more = in_a_row(walks, ch)
    granules.is_pad[ch] = walks.padding[ch]
    granules.formed[ch] = more + 1
    granules.closed[ch] = 1
    walks.left[ch] -= more
    walks.position[ch, 0] += more
    walks.address[ch] += more
    advance(walks, ch)
    if granules.is_pad[ch] == 0:
        while joins(walks, ch, first + granules.formed[ch] - 1):
            granules.formed[ch] += 1
            advance(walks, ch)
    else:
        while granules.formed[ch] < walks.stream_words[ch] and walks.left[ch] > 0 and walks.padding[ch] == 1:
            granules.formed[ch] += 1
            advance(walks, ch)
    return int(first)


@inlined
def aim(st: State, ch: int, address: int) -> bool:
    """Point the channel's access at DMA word address ``address``; False when out of reach."""
    c = st.channels
    if c.external[ch] >= 0:  # the AXI master finds out whether anybody answers there
        st.granules.target[ch] = address
        st.granules.bank[ch] = st.spec.tiles.bank_base[c.tile[ch]] + c.direction[ch]
        return True
    owner = memory_owner(st, c.tile[ch], c.number[ch], address)
    if owner < 0:
        return False
    word = address & (st.spec.tiles.memory_words[owner] - 1)
    st.granules.target[ch] = st.spec.tiles.memory_base[owner] + word
    st.granules.owner[ch] = owner
    st.granules.bank[ch] = bank_of(st, owner, word)
    return True
