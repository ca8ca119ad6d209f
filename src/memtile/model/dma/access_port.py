"""The 128-bit memory port of a channel: where a formed access goes, a bank or an AXI master."""

from __future__ import annotations

from memtile.jit.decorators import inlined
from memtile.model.memory.banks import bank_of
from memtile.model.memory.windows import memory_owner
from memtile.model.state.state import State


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
