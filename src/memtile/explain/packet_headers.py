"""Packets that come with a header to a channel that takes data alone, or without one where it is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine

HEADERS = "MT0340"
_OF_LENGTHS = ("MT0304", "MT0108", "MT0323", "MT0324")
"""Codes of waits for words that are not sent, and of lengths that differ."""


def header_findings(engine: Engine, find: Callable[[], PlannedWords]) -> Iterator[Finding]:
    """One finding for each channel whose descriptors are a word off by the headers of its packets.

    Args:
        engine: the model.
        find: finds what its channels run.
    """
    packets = np.flatnonzero(engine.state.switch.mode == PACKET).tolist()
    if not packets:
        return
    switch, planned = plain(engine.state.switch), None
    for port in packets:
        ch = int(switch.channel[port])
        if not switch.is_master[port] or ch < 0 or engine.channels.direction[ch] != S2MM:
            continue
        planned = find() if planned is None else planned
        takes = {bd.length for bd in planned.bds.get(ch, ())}
        senders = planned.senders.get(ch, [])
        sent = {bd.length for bd in senders}
        if len(takes) != 1 or len(sent) != 1 or any(bd.descriptor.packet is None for bd in senders):
            continue
        (taken,), (data,) = takes, sent
        kept = not switch.drop_header[port]
        if data and _is_off(taken, data, kept=kept):
            yield _finding(engine, planned.bds[ch], senders, kept=kept)


def without_waits_of(found: Sequence[Finding], waits: Sequence[Finding]) -> Sequence[Finding]:
    """Findings about waits, without those for words that headers make too few or too many."""
    who = {side.who for each in found for side in each.sides}
    return [
        each
        for each in waits
        if each.code not in _OF_LENGTHS or who.isdisjoint(side.who.partition(" ('")[0] for side in each.sides)
    ]


def _is_off(taken: int, data: int, *, kept: bool) -> bool:
    """Whether a descriptor is as long as whole packets would be the other way."""
    meant, other = (data, data + 1) if kept else (data + 1, data)
    return taken % meant == 0 and taken % other != 0


def _finding(engine: Engine, bds: list[PlannedBd], senders: Sequence[PlannedBd], *, kept: bool) -> Finding:
    own, data = bds[0], senders[0].length
    from_each = {called(engine, each.ch): each for each in senders}
    name, packets = called(engine, own.ch), f"packets of {' and '.join(from_each)}"
    many = own.length // (data if kept else data + 1)
    right = many * (data + 1 if kept else data)
    comes = f"{right:,} words come, {'with' if kept else 'without'} the header of each packet"
    does = f"takes {own.length:,} words with BD {own.number}"
    message = (
        f"{name} {does}, and {comes}: the {packets} {'keep' if kept else 'lose'} their headers on the way."
    )
    other = "false" if kept else "true"
    fix = f"Let BD {own.number} take {right:,} words, or write keep_pkt_header = {other} in the packet flow."
    sends = (Side(who, f"sends {data:,} words", each.said) for who, each in from_each.items())
    sides = (Side(name, does, own.said), *sends)
    return Finding(HEADERS, CODES[HEADERS].severity, message, sides, fix=fix)
