"""Who gets the words of a channel, and how many of them can be on their way at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.check.subject import Subject
from memtile.check.tasks import StaticBd
from memtile.explain.switch_ways import configured_ways, packet_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.registers import COMPRESSION_LSB, FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.engine import Engine

_MARGIN = 4  # words that a channel has read ahead


@dataclass(frozen=True, slots=True)
class Lane:
    """The way of words from a channel to another one.

    Attributes:
        receiver: model index of the S2MM channel.
        room: words that the way holds at most.
        header: words of its header that come with a packet.
    """

    receiver: int
    room: int
    header: int = 0


@dataclass(slots=True)
class Lanes:
    """The streams between the channels of a design.

    Args:
        subject: the design.

    Attributes:
        controls: whether a channel sends to a tile-control port: nobody knows what its packets do.
        fed: S2MM channels that others send to too: cores, trace units, hosts.
        senders: by S2MM channel the MM2S channels whose words may come to it.
    """

    subject: Subject
    controls: bool = False
    fed: set[int] = field(default_factory=set)
    senders: dict[int, list[int]] = field(default_factory=dict)
    _known: dict[tuple[int, int], list[Lane] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        engine = self.subject.engine
        senders = {int(port): ch for ch, port in enumerate(engine.channels.switch_port) if port >= 0}
        switch = plain(engine.state.switch)
        inner = {*senders, *switch.link.tolist()}  # ports behind a channel or another switch
        for port in np.flatnonzero((switch.is_master == 0) & (switch.mode != OFF)).tolist():
            if port in inner and port not in senders:
                continue
            receivers = [ch for ch, _ in _receivers(engine, _all_ways(engine, port))]
            if port not in senders:
                self.fed.update(receivers)
                continue
            for receiver in receivers:
                self.senders.setdefault(receiver, []).append(senders[port])

    def of(self, ch: int, bd: StaticBd) -> list[Lane] | None:
        """The ways of the words of a BD of an MM2S channel; None where somebody else takes them."""
        packet = -1 if bd.descriptor.packet is None else bd.descriptor.packet.id
        if (ch, packet) not in self._known:
            self._known[ch, packet] = self._lanes(ch, packet)
        return self._known[ch, packet]

    def _lanes(self, ch: int, packet: int) -> list[Lane] | None:
        engine, switch = self.subject.engine, plain(self.subject.engine.state.switch)
        port = int(engine.channels.switch_port[ch])
        if ch in self.subject.fed or port < 0 or not self.subject.array:
            return None
        if packet < 0:
            ways = _all_ways(engine, port)
            if any(switch.mode[at] == PACKET for at in ways):
                self.controls |= bool((switch.control[ways] >= 0).any())
                self.fed.update(receiver for receiver, _ in _receivers(engine, ways))
                return None  # its words have headers of their own
        else:
            ways = reached([port], partial(packet_ways, engine, packet))
        self.controls |= bool((switch.control[ways] >= 0).any())
        found = dict(_receivers(engine, ways))
        if not found or _ends_elsewhere(engine, ways, packet):
            self.fed.update(found)
            return None
        room = int(switch.depth[ways].sum()) + int(engine.state.fifos.depth[ch]) + _MARGIN
        depths = engine.state.fifos.depth
        return [
            Lane(receiver, room + int(depths[receiver]), int(packet >= 0 and not switch.drop_header[at]))
            for receiver, at in found.items()
        ]


def counts_words(engine: Engine, ch: int) -> bool:
    """Whether a channel moves as many stream words as its BDs say, in their order."""
    control = int(engine.channels.control[ch])
    odd = OUT_OF_ORDER_MASK | FOT_MASK if engine.channels.direction[ch] == S2MM else 0
    return not control & (odd | 1 << COMPRESSION_LSB)


def _all_ways(engine: Engine, port: int) -> list[int]:
    return reached([port], lambda at: configured_ways(engine, at))


def _receivers(engine: Engine, ways: list[int]) -> Iterator[tuple[int, int]]:
    """S2MM channels at the ends of ways, and the master ports that feed them."""
    switch = plain(engine.state.switch)
    for at in ways:
        if switch.is_master[at] and switch.channel[at] >= 0:
            yield int(switch.channel[at]), at


def _ends_elsewhere(engine: Engine, ways: list[int], packet: int) -> bool:
    """Whether words also come to an end that is no DMA channel: a core, the edge, a slot that is missing."""
    switch = plain(engine.state.switch)
    for at in ways:
        following = configured_ways(engine, at) if packet < 0 else packet_ways(engine, packet, at)
        if not following and not (switch.is_master[at] and switch.channel[at] >= 0):
            return True
    return False
