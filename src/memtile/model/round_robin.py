"""Round robin: who comes first among requesters with numbers, when the turn has moved on to one of them."""

from __future__ import annotations

from memtile.jit.decorators import inlined

_LATER = 1 << 40  # above every number of requesters


@inlined
def rank(requester: int, turn: int) -> int:
    """The place of a requester: 0 when it is its turn, the ones before it come last; the lowest wins."""
    ahead = requester - turn
    return ahead + _LATER if ahead < 0 else ahead
