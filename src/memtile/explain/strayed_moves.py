"""Find the one descriptor of a channel that has the wrong buffer.

The other descriptors of the channel move parts of one buffer. They leave out exactly the elements that this
one moves in another buffer of the same size, and nothing else moves the elements that are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

import numpy as np

from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.moves import Move

LEFT_OUT = "MT0126"
_MOST = 1 << 18  # elements of a buffer
_LEAST_OTHERS = 2  # descriptors with the right buffer
_BUFFERS = 2  # of the channel: the right one and the wrong one


def strayed_findings(moves: Sequence[Move]) -> Iterator[Finding]:
    """Return a finding for each descriptor that moves another buffer than the others of its channel.

    Args:
        moves: of a design.
    """
    by_channel: dict[tuple[str, bool], list[Move]] = {}
    for move in moves:
        if not move.loose and move.number is not None:
            by_channel.setdefault((move.who, move.writes), []).append(move)
    for own in by_channel.values():
        strayed = _strayed({move.place: move for move in own}.values())
        if strayed is None:
            continue
        odd, others = strayed
        elsewhere = (each for each in moves if each.writes == odd.writes and each not in others)
        if not any(_touches(each, others[0].key, odd) for each in elsewhere):
            yield _finding(odd, others)


def _strayed(own: Collection[Move]) -> tuple[Move, Sequence[Move]] | None:
    """The move that has another buffer than the one it would complete, and the other moves."""
    by_memory: dict[Hashable, list[Move]] = {}
    for move in own:
        by_memory.setdefault(move.key, []).append(move)
    if len(by_memory) != _BUFFERS or min(map(len, by_memory.values())) != 1:
        return None
    (odd,), others = sorted(by_memory.values(), key=len)
    known = others[0].elements
    if len(others) < _LEAST_OTHERS or odd.elements != known or not 0 < known <= _MOST:
        return None
    if sum(move.count for move in own) != known or any(move.reach > known for move in own):
        return None
    filled = np.sort(np.concatenate([move.touched for move in own]))
    return (odd, others) if np.array_equal(filled, np.arange(known)) else None


def _touches(move: Move, key: Hashable, odd: Move) -> bool:
    """Whether a move uses, in the memory ``key``, elements that ``odd`` would move there."""
    near = move.key == key and move.reach <= odd.elements
    return move.key == key and (not near or bool(np.isin(move.touched, odd.touched).any()))


def _finding(odd: Move, others: Sequence[Move]) -> Finding:
    verb = "writes" if odd.writes else "reads"
    first, last = int(odd.touched.min()), int(odd.touched.max())
    meant = others[0].memory
    does = f"{verb} {odd.memory}"
    message = (
        f"{odd.title} {does}, and the other {len(others)} BDs of the channel {verb[:-1]} {meant} but for "
        f"elements {first} to {last}, which no other one {verb}."
    )
    sides = (
        Side(odd.who, does, odd.place),
        *(Side(each.who, f"{verb} {meant}", each.place) for each in others),
    )
    fix = f"Let BD {odd.number} use {meant}."
    return Finding(LEFT_OUT, CODES[LEFT_OUT].severity, message, sides, fix=fix)
