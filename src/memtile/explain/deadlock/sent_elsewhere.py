"""Packets of one sender of which one receiver got more than is used, while another one waits for its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from memtile.arch.packets import STREAM_HEADER
from memtile.arch.registers import field_of
from memtile.arch.tiles import S2MM
from memtile.explain.deadlock.build import EngineWaits
from memtile.explain.deadlock.runs_left import runs_left
from memtile.explain.lock_waits import lock_text
from memtile.explain.names import called, core_name
from memtile.explain.switch_ways import packet_ways, reached
from memtile.jit.tables import plain
from memtile.model.streams.switch_config import PACKET

_IDS = field_of(STREAM_HEADER, "Stream_ID").maximum + 1


class Elsewhere(NamedTuple):
    """What a receiver got too much of.

    Attributes:
        receiver: model index of its channel.
        packet: id of the packets that go there.
        meant: id of those that go to the one that waits.
        text: what is left there, as a part of a sentence.
    """

    receiver: int
    packet: int
    meant: int
    text: str


class Counted(NamedTuple):
    """What locks count of what a channel sent.

    Attributes:
        does: what it did, as a part of a sentence.
        fix: the repair.
        runs: of its task that it should make; 0 = it is not about these.
    """

    does: str
    fix: str
    runs: int = 0


def sent_elsewhere(sender: int, receiver: int, waits: EngineWaits) -> Elsewhere | None:
    """Return the one other receiver of a sender that has more than its core, which has ended, has taken.

    Args:
        sender: model index of the channel.
        receiver: model index of one that waits for its words.
        waits: of a run or a check.
    """
    ids = _receivers(sender, waits)
    others = {ch for each in _at_work(waits) if each != sender for ch in _receivers(each, waits)}
    meant = next((packet for ch, packet in ids.items() if ch == receiver), None)
    found = [
        Elsewhere(ch, packet, meant, text)
        for ch, packet in ids.items()
        if ch != receiver and meant is not None and ch not in others
        for text in _left(ch, receiver, waits)
    ]
    return found[0] if len(found) == 1 else None


def _at_work(waits: EngineWaits) -> list[int]:
    """Channels that have sent something."""
    c = waits.engine.channels
    found: list[int] = np.flatnonzero((c.direction != S2MM) & (c.bds_done > 0)).tolist()
    return found


def _receivers(sender: int, waits: EngineWaits) -> Mapping[int, int]:
    """Channels that packets of a sender may go to, with the first id that leads there."""
    engine = waits.engine
    port, switch = int(engine.channels.switch_port[sender]), plain(engine.state.switch)
    found = dict[int, int]()
    if port < 0 or switch.mode[port] != PACKET:
        return found
    for packet in range(_IDS):
        for at in reached([port], partial(packet_ways, engine, packet)):
            if switch.is_master[at] and switch.channel[at] >= 0:
                found.setdefault(int(switch.channel[at]), packet)
    return found


def _left(ch: int, receiver: int, waits: EngineWaits) -> Iterator[str]:
    """Locks that a channel has released more often than the core acquires that has taken them and ended.

    With these the one that waits has as many as this one without: a lock may have begun above zero.
    """
    engine, done = waits.engine, waits.engine.channels.bds_done
    for lock, givers in waits.chains.steps_by_lock()[1].items():
        many = int(engine.state.locks.value[lock])
        if ch not in givers or many <= 0 or done[ch] - many != done[receiver] + many:
            continue
        for core, running in sorted(engine.cores.running.items()):
            if lock in running.taken and waits.givers.ended(core):
                yield f"{core_name(engine, core)} has ended and leaves {many} of {lock_text(engine, lock)}"


def counted(sender: int, receiver: int, name: str, waits: EngineWaits) -> Counted | None:
    """Return what locks count of what a channel sent, as a part of a sentence, and the repair.

    It is a task that ran too seldom, or packets that went to another receiver.

    Args:
        sender: model index of the channel.
        receiver: model index of one that waits for its words.
        name: of the sender.
        waits: of a run or a check.
    """
    told = runs_left(sender, receiver, waits)
    if told is not None:
        return Counted(told.does, f"Let {name} {told.fix}.", told.runs)
    elsewhere = sent_elsewhere(sender, receiver, waits)
    if elsewhere is None:
        return None
    who = called(waits.engine, elsewhere.receiver)
    does = f"has sent {who} packets of id {elsewhere.packet} that nothing takes: {elsewhere.text}"
    many = f"id {elsewhere.packet}, which are too many"
    return Counted(does, f"Send packets of id {elsewhere.meant} instead of these of {many}.")
