"""Packet ids that a channel never sends while it sends another id twice: one of the two was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.registers import field_of
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.explain.switch_ways import packet_ways, reached
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import PACKET

UNSENT = "MT0143"
_IDS = field_of(STREAM_HEADER, "Stream_ID").maximum + 1


def unsent_findings(planned: PlannedWords) -> Iterator[Finding]:
    """One finding for each channel that gets no packet of a sender which sends another one of its ids twice.

    Args:
        planned: the descriptors of a design.
    """
    for ch, bds in planned.bds.items():
        if planned.receives(ch) or not planned.is_complete(ch):
            continue
        twice = _twice(planned, bds)
        for receiver, packets in _unsent(planned, ch, bds).items() if twice else ():
            yield _finding(planned, twice, receiver, packets)


def unsent_to(planned: PlannedWords, sender: int, receiver: int) -> Finding | None:
    """The finding that a sender has an id twice and none that leads to a receiver; None if it is not so.

    Args:
        planned: the descriptors of a design.
        sender: model index of the channel.
        receiver: model index of one that waits for its words.
    """
    bds = planned.bds.get(sender, [])
    twice = _twice(planned, bds) if planned.is_complete(sender) else []
    packets = _unsent(planned, sender, bds, waiting=receiver).get(receiver) if twice else None
    return _finding(planned, twice, receiver, packets) if packets else None


def _twice(planned: PlannedWords, bds: Sequence[PlannedBd]) -> list[PlannedBd]:
    """The descriptors whose packet id others of the channel have too; empty unless it is one id."""
    by_id = dict[int, list[PlannedBd]]()
    for bd in bds:
        if bd.descriptor.packet is not None and planned.receivers(bd):
            by_id.setdefault(bd.descriptor.packet.id, []).append(bd)
    doubled = [each for each in by_id.values() if len(each) > 1]
    return doubled[0] if len(doubled) == 1 else []


def _unsent(
    planned: PlannedWords, ch: int, bds: Sequence[PlannedBd], waiting: int = -1
) -> Mapping[int, list[int]]:
    """The receivers with tasks that nothing sends to, with the ids that lead from the channel to them.

    Of a receiver that is ``waiting`` it is known that its words are wanted.
    """
    engine, port = planned.engine, int(planned.engine.channels.switch_port[ch])
    if port < 0 or plain(engine.state.switch).mode[port] != PACKET:
        return {}
    sent = {bd.descriptor.packet.id for bd in bds if bd.descriptor.packet is not None}
    switch, found = plain(engine.state.switch), dict[int, list[int]]()
    for packet in (other for other in range(_IDS) if other not in sent):
        ways = reached([port], partial(packet_ways, engine, packet))
        for end in sorted({int(switch.channel[at]) for at in ways if switch.is_master[at]}):
            missing = end in planned.bds and planned.receives(end) and end not in planned.senders
            if missing and (end == waiting or _is_wanted(planned, end)):
                found.setdefault(end, []).append(packet)
    return found


def _is_wanted(planned: PlannedWords, receiver: int) -> bool:
    """Whether a receiver writes external memory, or its tile sends to a channel with a task."""
    tiles = planned.engine.channels.tile
    return planned.is_external(receiver) or any(
        other in planned.bds
        for ch, bds in planned.bds.items()
        if tiles[ch] == tiles[receiver] and not planned.receives(ch)
        for bd in bds
        for other in planned.receivers(bd)
    )


def _finding(
    planned: PlannedWords, twice: Sequence[PlannedBd], receiver: int, packets: Sequence[int]
) -> Finding:
    engine, own = planned.engine, twice[0].descriptor.packet
    assert own is not None
    who = called(engine, twice[0].ch)
    numbers = " and ".join(f"BD {bd.number}" for bd in twice)
    end, ids = called(engine, receiver), " or ".join(map(str, packets))
    message = (
        f"{who} sends packets of id {own.id} with {numbers}, and none of id {ids}, which goes to {end}: "
        f"no descriptor sends anything there."
    )
    fix = f"Give one of {numbers} packet id {ids}."
    sides = [Side(who, f"sends packet id {own.id} with BD {bd.number}", bd.said) for bd in twice]
    sides += [Side(end, "gets no packet", planned.bds[receiver][0].said)]
    return Finding(UNSENT, CODES[UNSENT].severity, message, sides, fix=fix)
