"""Parts of random array designs that use what packets can do: orders, questions, new switches, early ends."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from adversary.array_parts import WORDS, Builder, Rows
from memtile.arch.dma_registers import FotMode
from memtile.arch.packets import PacketOperation, control_header
from memtile.arch.ports import ARBITERS, PORTS
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import PACKET_CONFIGURATION, SLAVE_CONFIG_OFFSET
from memtile.arch.tiles import WORD_BYTES
from memtile.design.channels import Channel
from memtile.design.events import SwitchEnd
from memtile.design.other_tiles import ComputeTile
from memtile.design.packet_bus import PacketBus
from memtile.design.tile import Tile

_MASTER = register_named("memory_tile", "Stream_Switch_Master_Config_DMA0")
_SLAVE = register_named("memory_tile", "Stream_Switch_Slave_Config_DMA_0")
_S2MM_CONTROL = register_named("memory_tile", "DMA_S2MM_0_Ctrl")
_ARBITER, _MSELS = (field_of(PACKET_CONFIGURATION, name) for name in ("Arbiter", "Msel_Enable"))
_CIRCUIT, _PACKETS = 1, 2  # what a port becomes; 0 = it is switched off


def _numbers(words: int, n: int = 0) -> npt.NDArray[np.int32]:
    return np.arange(words, dtype=np.int32) + 1000 * n


class Merged(NamedTuple):
    """Packets of compute tiles that a memory tile gets in a programmed order."""

    column: int
    turns: tuple[int, ...]
    words: int
    rounds: int

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Merged:
        """Return a random one."""
        turns = tuple(rng.randint(1, 2) for _ in range(rng.randint(2, 3)))
        return cls(rng.randrange(space.columns), turns, rng.choice(WORDS[:6]), rng.randint(1, 4))

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        turns, words = [max(each, 1) for each in self.turns] or [1], max(self.words, 4)
        rounds, memory = max(self.rounds, 1), builder.memory(self.column)
        senders = [builder.compute(self.column, n) for n in range(len(turns))]
        sends, into = (
            [each.free_channel(receives=False) for each in senders],
            memory.free_channel(receives=True),
        )
        bus = builder.array.packet_bus(
            builder.name("merged"), *((each, [into]) for each in sends), order=[*enumerate(turns)]
        )
        place = memory.buffer(builder.name("in_order"), words * sum(turns), np.int32)
        into.start(memory.write(place), repeat=rounds)
        for n, (sender, channel, stream) in enumerate(zip(senders, sends, bus.streams, strict=True)):
            source = sender.buffer(builder.name("packet"), words, np.int32, data=_numbers(words, n))
            channel.start(stream.packets(sender.read(source)), repeat=turns[n] * rounds)

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"packets", "packets in a fixed order"}


def _orders(builder: Builder, memory: Tile, tile: ComputeTile) -> tuple[Channel, PacketBus]:
    """A channel of a memory tile to a tile's control port, and its bus."""
    out, end = memory.free_channel(receives=False), SwitchEnd(tile, "CTRL0", receives=True)
    return out, builder.array.packet_bus(builder.name("control"), (out, [end]), keep_headers=True)


def _send(builder: Builder, memory: Tile, out: Channel, bus: PacketBus, orders: list[list[int]]) -> None:
    """Send control packets, each a task of its own."""
    work = []
    for order in orders:
        data = np.array(order, np.uint32).view(np.int32)
        source = memory.buffer(builder.name("order"), len(order), np.int32, data=data)
        work.append(bus.streams[0].packets(memory.read(source)))
    out.start(*work)


class Asked(NamedTuple):
    """Control packets that read words of a compute tile; answers go into a memory tile."""

    column: int
    row: int
    beats: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Asked:
        """Return a random one."""
        beats = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 4)))
        return cls(rng.randrange(space.columns), rng.randrange(len(space.compute_rows)), beats)

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        beats = [max(each, 1) for each in self.beats] or [1]
        memory, tile = builder.memory(self.column), builder.compute(self.column, self.row)
        known = tile.buffer(builder.name("known"), 16, np.int32, data=_numbers(16))
        into, (out, bus) = memory.free_channel(receives=True), _orders(builder, memory, tile)
        answer = 9
        builder.array.packet_bus(builder.name("answers"), (SwitchEnd(tile, "CTRL0"), [into]), ids=[answer])
        places = [memory.buffer(builder.name("answer"), each, np.int32) for each in beats]
        into.start(*map(memory.write, places))
        words = [
            [control_header(PacketOperation.READ, known.offset + WORD_BYTES * n, each, answer)]
            for n, each in enumerate(beats)
        ]
        _send(builder, memory, out, bus, words)

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"control packets", "control packets that ask", "packets"}


class Rewired(NamedTuple):
    """Control packets that write ports of their tile's switch, while it moves words of others."""

    column: int
    row: int
    changes: tuple[tuple[int, int, int, int], ...]  # masters, port, what it becomes, its slave or arbiter

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Rewired:
        """Return a random one."""
        changes = tuple(
            (rng.randrange(2), rng.randrange(12), rng.randrange(3), rng.randrange(24))
            for _ in range(rng.randint(1, 4))
        )
        return cls(rng.randrange(space.columns), rng.randrange(len(space.compute_rows)), changes)

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        memory, tile = builder.memory(self.column), builder.compute(self.column, self.row)
        out, bus = _orders(builder, memory, tile)
        orders = [self._order(tile, *change) for change in self.changes if len(change) == 4]
        if orders:
            _send(builder, memory, out, bus, orders)

    def _order(self, tile: Tile, masters: int, port: int, becomes: int, which: int) -> list[int]:
        ports, on, packets = PORTS[tile.kind.name], int(becomes > 0), int(becomes == _PACKETS)
        there = ports.masters if masters else ports.slaves
        address = ports.base + (0 if masters else SLAVE_CONFIG_OFFSET) + port % len(there) * WORD_BYTES
        if not masters:
            word = _SLAVE.pack(Slave_Enable=on, Packet_Enable=packets)
        else:
            of_packets = which % ARBITERS << _ARBITER.lsb | 1 << _MSELS.lsb
            config = which % len(ports.slaves) if becomes == _CIRCUIT else of_packets
            word = _MASTER.pack(Master_Enable=on, Packet_Enable=packets, Configuration=config)
        return [control_header(PacketOperation.WRITE, address), word]

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"control packets", "switches that change", "packets"}


class Early(NamedTuple):
    """Packets into BDs that have room for more: TLAST ends each of them."""

    column: int
    sizes: tuple[int, ...]
    room: int
    counted: bool

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Early:
        """Return a random one."""
        sizes = tuple(rng.choice(WORDS[:6]) for _ in range(rng.randint(1, 4)))
        return cls(rng.randrange(space.columns), sizes, rng.choice((24, 32, 40)), rng.random() < 0.4)

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        sizes = [max(each, 1) for each in self.sizes] or [1]
        memory, tile = builder.memory(self.column), builder.compute(self.column, 0)
        out, into = tile.free_channel(receives=False), memory.free_channel(receives=True)
        builder.array.connect(out, into)
        mode = FotMode.BY_REGISTER if self.counted else FotMode.NO_COUNTS
        field = _S2MM_CONTROL.field("FoT_Mode")
        offset = memory.kind.control_base + into.number * memory.kind.channel_stride
        memory.post_mask(offset, field.mask, int(mode) << field.lsb)
        room = max(self.room, max(sizes))
        into.start(*(memory.write(memory.buffer(builder.name("early"), room, np.int32)) for _ in sizes))
        sources = [tile.buffer(builder.name("short"), n, np.int32, data=_numbers(n)) for n in sizes]
        out.start(*map(tile.read, sources))

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"finish on TLAST"} | ({"counts of words"} if self.counted else set())
