"""A channel whose packets all go elsewhere than to one that waits for them."""

from __future__ import annotations

from functools import partial

from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.planned_words import PlannedWords
from memtile.explain.switch_ways import packet_ways, reached

_ID = field_of(SLOT, "id")
_FEW_IDS = 4  # that lead to a channel; where all do, the stream is a circuit


def other_ids(sender: int, receiver: int, waits: EngineWaits) -> tuple[str, str] | None:
    """That no packet sent had an id that leads to a receiver, and the repair; None if it is not so.

    Args:
        sender: model index of the channel that has sent all.
        receiver: of the one that waits.
        waits: of the run.
    """
    engine = waits.engine
    port = int(engine.channels.switch_port[sender])
    if waits.of_registers or engine.channels.bds_done[receiver] or port < 0:
        return None
    bds = PlannedWords.of(engine, waits.chains).bds.get(sender, ())
    sent = {bd.descriptor.packet.id for bd in bds if bd.descriptor.packet is not None}
    ids = [each for each in range(_ID.maximum + 1) if _leads(waits, port, each, receiver)]
    if not sent or not ids or len(ids) > _FEW_IDS or not sent.isdisjoint(ids):
        return None
    wanted, given = (" and ".join(f"id {each}" for each in some) for some in (ids, sorted(sent)))
    does = f"has sent packets of {given}, and those of {wanted} lead there"
    return does, f"Give a descriptor packet {wanted}, or the packet flow {given}."


def _leads(waits: EngineWaits, port: int, packet: int, receiver: int) -> bool:
    """Whether packets of an id go from a port to a channel."""
    ahead = waits.streams.ahead_of.get(receiver, -1)
    return ahead in reached([port], partial(packet_ways, waits.engine, packet))
