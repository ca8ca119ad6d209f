"""Streams that the lengths of descriptors do not decide: those of cores, and of headers among the data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.check.checked_program import Subject
from memtile.check.task_list import StaticBd, each_bd
from memtile.explain.switch_ways import configured_ways, packet_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.channel_registers import COMPRESSION_LSB, FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.loop.engine import Engine


class OpenStreams:
    """What is not known of the streams between the channels of a design.

    Args:
        subject: the design.

    Attributes:
        reason: why nothing is known of all that happens; empty = it is not so.
        fed: S2MM channels that others send to than channels: cores, trace units; or nobody knows how much.
        senders: by S2MM channel the MM2S channels whose words may come to it.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject, self._engine = subject, subject.engine
        self.reason = ""
        self.fed: set[int] = set()
        self.senders: dict[int, set[int]] = {}
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        self._switch = plain(subject.engine.state.switch)
        self._odd = {ch for ch in range(len(subject.engine.channels.phase)) if not _counts(self._engine, ch)}
        self._look_at_ports()
        for task, bd in each_bd(subject.log.tasks):
            if not self._receives(task.ch):
                self._look_at_sender(task.ch, bd)

    def is_unknown(self, ch: int, bd: StaticBd) -> bool:
        """Whether a BD may move its words although nothing in the array gives them, or takes them."""
        if ch in self._odd:
            return True
        if self._receives(ch):
            return ch in self.fed
        elsewhere = self._subject.array and int(self._engine.channels.switch_port[ch]) >= 0
        receivers = self.receivers(ch, bd)
        if not receivers:
            return elsewhere or ch in self._subject.fed
        return not self._odd.isdisjoint(receivers)

    def is_shared(self, ch: int, bd: StaticBd) -> bool:
        """Whether others send to a receiver of a BD too: who comes first hangs on time."""
        return any(len(self.senders.get(receiver, ())) > 1 for receiver in self.receivers(ch, bd))

    def let_flow(self, ch: int) -> None:
        """Nobody knows from now on how much an MM2S channel sends."""
        self.fed |= {receiver for receiver, senders in self.senders.items() if ch in senders}

    def receivers(self, ch: int, bd: StaticBd) -> frozenset[int]:
        """Channels that get the words of a BD of an MM2S channel; none where somebody else takes them."""
        packet = -1 if bd.descriptor.packet is None else bd.descriptor.packet.id
        if (ch, packet) not in self._known:
            self._known[ch, packet] = self._receivers(ch, packet)
        return self._known[ch, packet]

    def _receives(self, ch: int) -> bool:
        return bool(self._engine.channels.direction[ch] == S2MM)

    def _look_at_ports(self) -> None:
        """Who may send to each channel: those behind slave ports that no other switch feeds."""
        channels = {int(port): ch for ch, port in enumerate(self._engine.channels.switch_port) if port >= 0}
        inner = set(self._switch.link.tolist())
        for port in np.flatnonzero((self._switch.is_master == 0) & (self._switch.mode != OFF)).tolist():
            if port in inner and port not in channels:
                continue
            for receiver in self._ends(self._all_ways(port)):
                if port in channels:
                    self.senders.setdefault(receiver, set()).add(channels[port])
                else:
                    self.fed.add(receiver)

    def _look_at_sender(self, ch: int, bd: StaticBd) -> None:
        receivers = self.receivers(ch, bd)
        if ch in self._odd:
            self.fed |= receivers

    def _receivers(self, ch: int, packet: int) -> frozenset[int]:
        port = int(self._engine.channels.switch_port[ch])
        if ch in self._subject.fed or port < 0 or not self._subject.array:
            return frozenset()
        ways = self._all_ways(port)
        if packet >= 0:
            ways = reached([port], partial(packet_ways, self._engine, packet))
        elif any(self._switch.mode[at] == PACKET for at in ways):
            self.reason = "headers of packets are among the data"
        if (self._switch.control[ways] >= 0).any():
            self.reason = "control packets may write whatever they like"
        found = frozenset(self._ends(ways))
        if not self._ends_elsewhere(ways, packet):
            return found
        self.fed |= found
        return frozenset()

    def _all_ways(self, port: int) -> list[int]:
        return reached([port], lambda at: configured_ways(self._engine, at))

    def _ends(self, ways: list[int]) -> Iterator[int]:
        """S2MM channels at the ends of ways."""
        for at in ways:
            if self._switch.is_master[at] and self._switch.channel[at] >= 0:
                yield int(self._switch.channel[at])

    def _ends_elsewhere(self, ways: list[int], packet: int) -> bool:
        """Whether words also come to an end that is no DMA channel: a core, the edge, a missing slot."""
        for at in ways:
            after = configured_ways(self._engine, at) if packet < 0 else packet_ways(self._engine, packet, at)
            if not after and not (self._switch.is_master[at] and self._switch.channel[at] >= 0):
                return True
        return False


def _counts(engine: Engine, ch: int) -> bool:
    """Whether a channel moves as many stream words as its BDs say, in their order."""
    control = int(engine.channels.control[ch])
    odd = OUT_OF_ORDER_MASK | FOT_MASK if engine.channels.direction[ch] == S2MM else 0
    return not control & (odd | 1 << COMPRESSION_LSB)
