"""What the descriptors of each channel move: how many words, of which memory, from and to which channels.

Of a run it is read from registers: of the task that runs, of those in the queue, and of the last one that
ended. Before a run all tasks are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from memtile.access.distinct import distinct
from memtile.access.walk import PAD, Walk, addresses
from memtile.arch.tiles import S2MM, TILE_KINDS, WORD_BYTES
from memtile.bd.codec import decode
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import place_of_address
from memtile.explain.bd_chains import BdChains
from memtile.explain.race_findings import NamedArea
from memtile.explain.switch_ways import configured_ways, packet_ways, reached
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES, bd_register
from memtile.model.dma.channel_registers import COMPRESSION_LSB, FOT_MASK, OUT_OF_ORDER_MASK
from memtile.model.streams.switch_config import OFF, PACKET
from memtile.sim.loop.engine import Engine

Words = npt.NDArray[np.int64]
_WINDOWS = ("west", "own", "east")  # columns of ``Tiles.neighbour``
_MOST = 1 << 17  # words of a descriptor whose places are looked at


@dataclass(frozen=True, slots=True)
class PlannedBd:
    """A descriptor that a channel runs.

    Attributes:
        ch: model index of the channel.
        number: of the BD.
        descriptor: what it says.
        tile: whose memory it touches, by its model index; -1 = external memory, or none.
        places: the words of that memory, sorted, each once; empty where they are not known.
        said: where the design says it; empty if it says it nowhere.
    """

    ch: int
    number: int
    descriptor: Descriptor
    tile: int
    places: Words
    said: str = ""

    @property
    def length(self) -> int:
        """Stream words of one execution."""
        return self.descriptor.length


Present = Iterable[tuple[int, int, Descriptor, str]]
"""Channels, numbers and contents of the BDs that they run, and where a design says these."""


class PlannedWords:
    """The descriptors that channels run, and the streams between these channels.

    Args:
        engine: the model.
        present: of each channel all that it runs, in order.
        lost: channels that ran other tasks before, of which nothing is known.

    Attributes:
        engine: the model.
        bds: by channel its descriptors; without channels that do not move what their descriptors say.
    """

    def __init__(self, engine: Engine, present: Present, lost: Collection[int] = ()) -> None:
        self.engine, self._lost = engine, frozenset(lost)
        self._tiles = plain(engine.spec.tiles)
        found: dict[int, dict[tuple[int, Descriptor], PlannedBd]] = {}
        odd = set()
        for ch, number, descriptor, place in present:
            if not self._counts(ch) or not descriptor.valid or descriptor.compression:
                odd.add(ch)
            elif (number, descriptor) not in found.setdefault(ch, {}):
                found[ch][number, descriptor] = self._bd(ch, number, descriptor, place)
        self.bds = {ch: [*bds.values()] for ch, bds in found.items() if ch not in odd}

    @classmethod
    def of(cls, engine: Engine, chains: BdChains) -> PlannedWords:
        """Those of the tasks that run or wait in queues, and of the last ones that have ended."""
        present = [
            (
                ch,
                bd,
                descriptor_of(engine, ch, bd),
                engine.bd_places.get((int(engine.channels.tile[ch]), bd), ""),
            )
            for ch, bd in chains.present()
        ]
        c, many = engine.channels, Counter(ch for ch, *_ in present)
        before = c.tasks_done - ((c.task_bd < 0) & (c.bds_done == [many[ch] for ch in range(len(c.phase))]))
        return cls(engine, present, np.flatnonzero(before > 0).tolist())

    def with_length(self, bd: PlannedBd, length: int) -> PlannedWords:
        """Return the descriptors with another length of one of them.

        Args:
            bd: one of them.
            length: in words.
        """
        other = PlannedWords(self.engine, (), self._lost)
        new = self._bd(bd.ch, bd.number, replace(bd.descriptor, length=length), bd.said)
        other.bds = {ch: [new if each is bd else each for each in bds] for ch, bds in self.bds.items()}
        return other

    def is_complete(self, ch: int) -> bool:
        """Whether all descriptors that a channel ever ran are known."""
        return ch not in self._lost

    def receivers(self, bd: PlannedBd) -> list[int]:
        """The channels that get the words of a BD; none where a core or the edge takes them too."""
        packet = -1 if bd.descriptor.packet is None else bd.descriptor.packet.id
        return self._receivers.get((bd.ch, packet), [])

    @cached_property
    def _receivers(self) -> dict[tuple[int, int], list[int]]:
        """By channel and packet id the channels at the other end."""
        found: dict[tuple[int, int], list[int]] = {}
        for ch, bds in self.bds.items():
            for bd in bds if not self.receives(ch) else ():
                packet = -1 if bd.descriptor.packet is None else bd.descriptor.packet.id
                if (ch, packet) not in found:
                    found[ch, packet] = self._ends(ch, packet)
        return found

    @cached_property
    def senders(self) -> dict[int, list[PlannedBd]]:
        """By receiving channel the descriptors that send to it."""
        found: dict[int, list[PlannedBd]] = {}
        for ch, bds in self.bds.items():
            for bd in bds if not self.receives(ch) else ():
                for receiver in self.receivers(bd):
                    found.setdefault(receiver, []).append(bd)
        return found

    @property
    def circuits(self) -> dict[int, int]:
        """By sending channel the only one that it sends to, in streams without packets from no other one."""
        found = dict[int, int]()
        for receiver, bds in self.senders.items():
            channels = {bd.ch for bd in bds}
            alone = all(bd.descriptor.packet is None and self.receivers(bd) == [receiver] for bd in bds)
            if len(channels) == 1 and alone and receiver in self.bds:
                found[channels.pop()] = receiver
        return found

    def header_words(self, sender: PlannedBd, receiver: int) -> int:
        """Words that a channel gets with each packet of a BD beside its data: the header, if that is kept."""
        switch = plain(self.engine.state.switch)
        ports = np.flatnonzero(switch.is_master & (switch.channel == receiver) & (switch.mode == PACKET))
        kept = any(not switch.drop_header[port] for port in ports)
        return int(kept and sender.descriptor.packet is not None)

    def part_of_external(self, ch: int) -> tuple[int, int, str] | None:
        """Words of external memory that a channel moves, of how many, and what these are called.

        None where that is not known: it ran other tasks before, or is at several buffers.
        """
        bds = self.bds.get(ch, [])
        known = bds and self.is_complete(ch) and all(bd.length <= _MOST for bd in bds)
        if not known or any(bd.descriptor.iteration.wrap > 1 for bd in bds):
            return None
        touched = distinct(np.concatenate([addresses(Walk.of(bd.descriptor)) for bd in bds])) * WORD_BYTES
        for buffer in self.engine.external.buffers.values():
            if buffer.address <= touched[0] and touched[-1] < buffer.end:
                name = f"argument {buffer.name}" if buffer.name.isdigit() else repr(buffer.name)
                return len(touched), buffer.words, name
        return None

    def receives(self, ch: int) -> bool:
        """Whether a channel writes memory."""
        return bool(self.engine.channels.direction[ch] == S2MM)

    def is_external(self, ch: int) -> bool:
        """Whether a channel is at external memory."""
        return bool(self.engine.channels.external[ch] >= 0)

    def _counts(self, ch: int) -> bool:
        """Whether a channel moves as many stream words as its BDs say, in their order."""
        control = int(self.engine.channels.control[ch])
        odd = OUT_OF_ORDER_MASK | FOT_MASK if self.receives(ch) else 0
        return not control & (odd | 1 << COMPRESSION_LSB)

    def _bd(self, ch: int, number: int, descriptor: Descriptor, said: str) -> PlannedBd:
        tile = int(self.engine.channels.tile[ch])
        kind = TILE_KINDS[KIND_NAMES[int(self._tiles.kind[tile])]]
        there = None if self.is_external(ch) else place_of_address(kind, descriptor.address)
        if there is None or descriptor.length > _MOST:
            return PlannedBd(ch, number, descriptor, -1, np.zeros(0, np.int64), said)
        walk = Walk.of(descriptor)
        touched = distinct(addresses(walk.unpadded() if self.receives(ch) else walk))
        touched = touched[touched != PAD] - (descriptor.address - there.local)
        owner = int(self._tiles.neighbour[tile, _WINDOWS.index(there.window)])
        return PlannedBd(ch, number, descriptor, owner, touched, said)

    def _ends(self, ch: int, packet: int) -> list[int]:
        engine, switch = self.engine, plain(self.engine.state.switch)
        port = int(engine.channels.switch_port[ch])
        if port < 0 or switch.mode[port] == OFF:
            return []
        follow = partial(configured_ways, engine) if packet < 0 else partial(packet_ways, engine, packet)
        ways = reached([port], follow)
        if packet < 0 and any(switch.mode[at] == PACKET for at in ways):
            return []  # headers are among the data
        ends = [at for at in ways if not follow(at)]
        found = [int(switch.channel[at]) if switch.is_master[at] else -1 for at in ends]
        return [] if -1 in found else found


def descriptor_of(engine: Engine, ch: int, number: int) -> Descriptor:
    """What the registers of a BD of a channel's tile hold."""
    tile = int(engine.channels.tile[ch])
    kind = TILE_KINDS[KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]]
    first = bd_register(engine.spec, tile, number)
    return decode(kind.name, engine.state.registers[first : first + kind.bd_words].tolist(), number)


def areas_on(tile: int, areas: Sequence[NamedArea]) -> Iterator[tuple[str, int, int]]:
    """The buffers of a tile: name, first word, and the word behind the last one."""
    for area in areas:
        if area.tile == tile:
            yield area.name, area.first // WORD_BYTES, -(-(area.first + area.nbytes) // WORD_BYTES)
