"""The descriptor that lacks a release: the only other one at the words of a BD that waits for a lock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.deadlock.switch_waits import Party


class SilentBd(NamedTuple):
    """A descriptor that releases no lock.

    Attributes:
        party: its channel.
        number: of the BD.
        place: where the design says it; empty if it says it nowhere.
    """

    party: Party
    number: int
    place: str


def silent_bd(waiting: Party, waits: EngineWaits) -> SilentBd | None:
    """Return the descriptor that uses the words of one that waits for a lock nothing releases.

    None if several do, if it releases a lock, or if the words of one of them are not known.

    Args:
        waiting: the channel that waits.
        waits: of a run, or of one that stands for all runs.
    """
    if waiting.kind is not PartyKind.CHANNEL or waits.of_registers:
        return None
    planned, ch = PlannedWords.of(waits.engine, waits.chains), waiting.number
    number, writes = int(waits.engine.channels.bd[ch]), planned.receives(ch)
    mine = [bd for bd in planned.bds.get(ch, ()) if bd.number == number and bd.tile >= 0]
    others = [
        bd
        for own in mine
        for bds in planned.bds.values()
        for bd in bds
        if bd.tile == own.tile and planned.receives(bd.ch) != writes
        if len(np.intersect1d(bd.places, own.places, assume_unique=True))
    ]
    if len(mine) != 1 or len(others) != 1 or waits.chains.release(others[0].ch, others[0].number) is not None:
        return None
    return SilentBd(Party(PartyKind.CHANNEL, others[0].ch), others[0].number, others[0].said)
