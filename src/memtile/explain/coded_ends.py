"""Streams that one end compresses, or expands, and the other does not, although it has as many words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memtile.arch.tiles import S2MM
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine

ONE_CODED = "MT0415"


class Moved(NamedTuple):
    """What a channel moves in a round.

    Attributes:
        words: of memory.
        coded: whether all of its descriptors go through the coder, or none; None = some do.
        place: where the design says the first descriptor.
    """

    words: int
    coded: bool | None
    place: str


class CodedPart(NamedTuple):
    """A descriptor: model index of its channel, words of memory, whether it is coded, its place."""

    ch: int
    words: int
    coded: bool
    place: str


def coded_findings(engine: Engine, parts: Iterable[CodedPart]) -> Iterator[Finding]:
    """The circuits of which one end compresses or expands as many words as the other one moves as they are.

    Who keeps compressed words as they come has another number of them.

    Args:
        engine: the model, with its circuits.
        parts: the descriptors of all channels.
    """
    moved = dict[int, Moved]()
    for part in parts:
        before = moved.get(part.ch, Moved(0, part.coded, part.place))
        coded = part.coded if before.coded is part.coded else None
        moved[part.ch] = Moved(before.words + part.words, coded, before.place)
    for sender, sent in moved.items():
        if engine.channels.direction[sender] == S2MM:
            continue
        for receiver in _receivers(engine, sender):
            taken = moved.get(receiver)
            if taken is not None and {sent.coded, taken.coded} == {True, False} and sent.words == taken.words:
                yield _finding(engine, (sender, sent), (receiver, taken))


def _receivers(engine: Engine, sender: int) -> list[int]:
    switch, port = plain(engine.state.switch), int(engine.channels.switch_port[sender])
    ways = reached([port], lambda at: configured_ways(engine, at)) if port >= 0 else ()
    if any(switch.mode[at] == PACKET for at in ways):
        return []
    return [int(switch.channel[at]) for at in ways if switch.is_master[at] and switch.channel[at] >= 0]


def _finding(engine: Engine, sender: tuple[int, Moved], receiver: tuple[int, Moved]) -> Finding:
    first, second = called(engine, sender[0]), called(engine, receiver[0])
    words = sender[1].words
    if sender[1].coded:
        does = f"compresses {words} words", f"stores {words} words as they come, and expands none"
    else:
        does = f"sends {words} words as they are", f"expands what comes to {words} words"
    sides = [Side(first, does[0], sender[1].place), Side(second, does[1], receiver[1].place)]
    odd = second if sender[1].coded else first
    fix = f"Let {odd} {'expand' if sender[1].coded else 'compress'} them too, or neither."
    message = f"{first} {does[0]}, and {second} {does[1]}."
    return Finding(
        ONE_CODED, Severity.ERROR, message, tuple(sorted(sides, key=lambda s: s.who != odd)), fix=fix
    )
