"""The port of an S2MM pauses after the last word of a BD, where ``port_pause`` says so (DEV-SILICON-2).

It counts the words that came, not those that were written: it pauses also while the BD waits for its lock,
and counts words that came ahead as if the next BDs were as long as the one at hand.
"""

from __future__ import annotations

from memtile.jit.decorators import inlined, jit
from memtile.model.state.causes import Phase
from memtile.model.state.state import State


@inlined
def pauses(st: State, ch: int) -> bool:
    """Whether the port of an S2MM takes no word in this cycle, though there may be room."""
    return st.spec.timing.port_pause[0] > 0 and _ended(st, ch)


@inlined
def entered(st: State, ch: int) -> None:
    """A word comes to the ingress buffer in this cycle."""
    if st.spec.timing.port_pause[0] > 0:
        st.fifos.entered[ch] = st.clock.now[0]


@jit
def _ended(st: State, ch: int) -> bool:
    """Whether the word that came in the cycle before was the last of a BD."""
    c = st.channels
    if st.fifos.entered[ch] != st.clock.now[0] - 1 or c.packed[ch] == 1 or c.length[ch] <= 0:
        return False
    if c.phase[ch] != Phase.RUN and c.phase[ch] != Phase.ACQUIRE:
        return False
    return bool((c.moved[ch] + st.fifos.held[ch]) % c.length[ch] == 0)
