"""Descriptors of a channel that fill a buffer part by part, and one of them that moves another buffer.

Where the parts in one buffer leave out exactly the elements that the last descriptor moves of another buffer
as large, and nothing else moves these, that one has the wrong buffer.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

import numpy as np

from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.moves import Move

LEFT_OUT = "MT0126"
_MOST = 1 << 18  # elements of a buffer that are looked at
_OTHERS = 2  # parts that show what is filled


def strayed_findings(moves: Sequence[Move]) -> Iterator[Finding]:
    """One finding for each descriptor that moves a part of another buffer than those around it.

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
    """The one of a channel's moves with which the others would fill their buffer, and those."""
    by_memory: dict[Hashable, list[Move]] = {}
    for move in own:
        by_memory.setdefault(move.key, []).append(move)
    if len(by_memory) != _OTHERS or min(map(len, by_memory.values())) != 1:
        return None
    (odd,), others = sorted(by_memory.values(), key=len)
    known = others[0].elements
    if len(others) < _OTHERS or odd.elements != known or not 0 < known <= _MOST:
        return None
    if sum(move.count for move in own) != known or any(move.reach > known for move in own):
        return None
    filled = np.sort(np.concatenate([move.touched for move in own]))
    return (odd, others) if np.array_equal(filled, np.arange(known)) else None


def _touches(move: Move, key: Hashable, odd: Move) -> bool:
    """Whether a move touches elements of a memory that another one is to move there."""
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
