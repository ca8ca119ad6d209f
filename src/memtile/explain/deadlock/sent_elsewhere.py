"""Packets with the wrong id: one receiver has packets that nothing takes, and another one waits."""

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
    """Packets that went to the wrong receiver.

    Attributes:
        receiver: model index of the channel that got them.
        packet: id of the packets that go there.
        meant: id of the packets that go to the waiting receiver.
        text: the objects that nothing takes, as a clause.
    """

    receiver: int
    packet: int
    meant: int
    text: str


class Counted(NamedTuple):
    """The mistake of a sender, as locks show it.

    Attributes:
        does: what the sender did, as a clause without subject.
        fix: the repair.
        runs: runs that its task should make; 0 = the number of runs is not the mistake.
    """

    does: str
    fix: str
    runs: int = 0


def sent_elsewhere(sender: int, receiver: int, waits: EngineWaits) -> Elsewhere | None:
    """Return the only other receiver of a sender whose core has ended and left packets; None if not unique.

    Args:
        sender: model index of the channel.
        receiver: model index of the channel that waits for its words.
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
    """Channels that have sent a BD."""
    c = waits.engine.channels
    found: list[int] = np.flatnonzero((c.direction != S2MM) & (c.bds_done > 0)).tolist()
    return found


def _receivers(sender: int, waits: EngineWaits) -> Mapping[int, int]:
    """Channels that packets of a sender can reach, each with the lowest id that leads there."""
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
    """The units that an ended core leaves in the locks that a channel releases, as clauses.

    They count only if both channels would have ended the same number of BDs with these packets sent to the
    right one. Otherwise the units may be there because the lock started above 0.
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
    """Return the mistake of a sender and its repair: too few runs of a task, or packets with the wrong id.

    Args:
        sender: model index of the channel.
        receiver: model index of the channel that waits for its words.
        name: of the sender.
        waits: of a run or a check.
    """
    too_few = runs_left(sender, receiver, waits)
    if too_few is not None:
        return Counted(too_few.does, f"Let {name} {too_few.fix}.", too_few.runs)
    elsewhere = sent_elsewhere(sender, receiver, waits)
    if elsewhere is None:
        return None
    other = called(waits.engine, elsewhere.receiver)
    does = f"has sent {other} packets of id {elsewhere.packet} that nothing takes: {elsewhere.text}"
    return Counted(does, f"Send the surplus packets of id {elsewhere.packet} with id {elsewhere.meant}.")
