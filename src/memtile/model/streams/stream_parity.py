"""Parity of the words in the stream switches: injected where they enter, checked where they leave (AM025).

Each word carries its parity through all switches. Stream_Switch_Parity_Injection makes it wrong for what
enters by the chosen slave ports; Stream_Switch_Parity_Status and an event say at which master port of a DMA,
of tile control or to the south such a word left. The word itself is right, and taken (DEV-PAR-1).
"""

from __future__ import annotations

from memtile.jit.decorators import jit
from memtile.model.events.reports import signal
from memtile.model.state.events import Signal
from memtile.model.state.state import State
from memtile.model.state.streams import WRONG_PARITY


@jit
def inject(st: State, tile: int, chosen: int) -> None:
    """Let words that enter by the slave ports in ``chosen``, bits of the register, have wrong parity."""
    first = st.spec.tiles.slave_base[tile]
    for port in range(first, first + st.spec.tiles.slaves[tile]):
        st.switch.parity[port] = WRONG_PARITY if st.switch.parity_mask[port] & chosen else 0


@jit
def report(st: State, port: int, flags: int) -> int:
    """A word with wrong parity, or a label of a note, leaves by a master port; its other flags."""
    mask = st.switch.parity_mask[port]
    if mask > 0 and flags & WRONG_PARITY:
        st.registers[st.switch.parity_status[port]] |= mask
        signal(st, st.switch.tile[port], Signal.STREAM_PARITY)
    return flags & (WRONG_PARITY - 1)
