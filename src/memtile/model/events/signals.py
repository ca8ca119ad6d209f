"""What a tile reports as a whole, for its event unit (AM020 events)."""

from __future__ import annotations

from memtile.jit.decorators import inlined
from memtile.model.state.state import State


@inlined
def signal(st: State, tile: int, what: int) -> None:
    """The tile reports ``what``, a ``Signal``, in this cycle."""
    st.signals[tile, what] = st.clock.now[0]
