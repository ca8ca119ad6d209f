"""Engines of a few tiles with circuits for tests, all written through the doors of the tiles."""

from __future__ import annotations

import numpy as np

from memtile.arch.ports import PORTS
from memtile.arch.switch_registers import SLAVE_CONFIG_OFFSET
from memtile.arch.tiles import MEMORY, WORD_BYTES, TileName
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.model.build.model import Placed
from memtile.sim.loop.engine import Engine

ENABLE = 1 << 31


def circuit(engine: Engine, tile: int, kind: TileName, slave: str, *masters: str) -> None:
    """Connect a slave port of a tile to masters."""
    ports, door = PORTS[kind], engine.door(tile)
    index = ports.slave(slave)
    door.write32(ports.base + SLAVE_CONFIG_OFFSET + index * WORD_BYTES, ENABLE)
    for master in masters:
        door.write32(ports.base + ports.master(master) * WORD_BYTES, ENABLE | index)


def push(engine: Engine, tile: int, channel: int, bd: int, descriptor: Descriptor) -> None:
    """Write a descriptor and run it once; ``channel`` counts S2MM channels first."""
    door = engine.door(tile)
    kind = descriptor.kind
    door.block_write32(kind.bd_base + bd * kind.bd_stride, encode(descriptor, bd))
    door.write32(kind.queue_base + channel * kind.channel_stride, bd)


def copy_within(words: int) -> Engine:
    """One memory tile: MM2S 0 through the switch to S2MM 0."""
    engine = Engine([Placed("memory")], switched=True)
    engine.door(0).block_write32(0, np.arange(1, words + 1, dtype=np.uint32))
    circuit(engine, 0, "memory", "DMA0", "DMA0")
    push(engine, 0, MEMORY.channels, 0, Descriptor("memory", words, OWN.address(0)))
    push(engine, 0, 0, 1, Descriptor("memory", words, OWN.address(0x4000)))
    return engine
