"""DMA windows: which tile an address or lock id names, and whether the channel may go there (AM020 table 12).

Own memory and locks are reachable by all channels; a neighbour's only by channels 0-3, and only if there is
one (DEV-NBR-1). Isolation (DEV-ISO-1) and the shared interface to a neighbour (DEV-ARB-3) are not modelled.
"""

from __future__ import annotations

from memtile.model.jit import inlined
from memtile.model.state import Spec

NOWHERE = -1
_SIDES = 3  # west, own, east


@inlined
def reach(spec: Spec, tile: int, number: int, window: int) -> int:
    """Tile behind DMA window ``window`` for channel ``number``, or -1."""
    kind = spec.tiles.kind[tile]
    side = window + spec.kinds.first_window[kind]
    if side >= _SIDES:
        return NOWHERE
    owner = spec.tiles.neighbour[tile, side]
    if owner != tile and number >= spec.kinds.neighbour_channels[kind]:
        return NOWHERE
    return int(owner)


@inlined
def memory_owner(spec: Spec, tile: int, number: int, address: int) -> int:
    """Tile whose memory holds DMA word address ``address``, or -1 when the channel cannot reach it."""
    if address < 0:
        return NOWHERE
    return reach(spec, tile, number, address >> spec.kinds.memory_shift[spec.tiles.kind[tile]])
