"""Packets whose headers choose the descriptor that stores them: one is named twice, and another one never."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from memtile.arch.tiles import S2MM, TILE_KINDS
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.dma.channel_registers import OUT_OF_ORDER_MASK
from memtile.sim.loop.engine import Engine

_CODE = "MT0134"


def place_findings(engine: Engine, find: Callable[[], PlannedWords]) -> Iterator[Finding]:
    """One finding for each channel that stores two packets in one place, and none in another one.

    Args:
        engine: the model.
        find: finds what its channels run.
    """
    c, planned = engine.channels, None
    for ch in np.flatnonzero((c.direction == S2MM) & (c.control & OUT_OF_ORDER_MASK > 0)).tolist():
        planned = find() if planned is None else planned
        senders = [
            bd
            for own in planned.bds.values()
            for bd in own
            if bd.ch != ch and bd.descriptor.packet is not None and ch in planned.receivers(bd)
        ]
        named: dict[int, PlannedBd] = {}
        twice: list[tuple[PlannedBd, PlannedBd]] = []
        for bd in senders:
            first = named.setdefault(bd.descriptor.ooo_id, bd)
            twice += [(first, bd)] if first is not bd else []
        left = _unnamed(engine, planned, ch, named)
        known = all(planned.is_complete(bd.ch) for bd in senders)
        if known and len(twice) == len(left) > 0:
            yield _finding(engine, ch, *twice[0], left)


def _unnamed(engine: Engine, planned: PlannedWords, ch: int, named: dict[int, PlannedBd]) -> list[int]:
    """The valid descriptors that a channel may use, no task begins or goes on with, and no packet names."""
    tile = int(engine.channels.tile[ch])
    kind = TILE_KINDS[bd_fields.KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]]
    bank = kind.bd_bank(int(engine.channels.number[ch]))
    here = {bd.number for own in planned.bds.values() for bd in own if engine.channels.tile[bd.ch] == tile}
    valid = (bd for bd in bank if bd_fields.read_field(engine.state, tile, bd, bd_fields.VALID_BD))
    return [bd for bd in valid if bd not in named and bd not in here]


def _finding(engine: Engine, ch: int, first: PlannedBd, second: PlannedBd, left: list[int]) -> Finding:
    senders = [f"{called(engine, bd.ch)} (BD {bd.number})" for bd in (second, first)]
    place, free = second.descriptor.ooo_id, " or ".join(map(str, left))
    does = f"sends its packet to BD {place} of {called(engine, ch)}"
    message = f"{senders[0]} {does}, as {senders[1]} does, and no packet names BD {free}."
    sides = [Side(who, does, bd.said) for who, bd in zip(senders, (second, first), strict=True)]
    fix = f"Let one of the two packets name BD {free} (out_of_order_id)."
    return Finding(_CODE, CODES[_CODE].severity, message, tuple(sides), fix=fix)
