"""A bench of tiles with wired stream switches: routes and tasks, all written through the registers.

For tests of streams. Ports are named as in ``arch.ports``; every method acts on tile ``at`` of the bench.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memtile.arch.ports import PORTS, SLOTS_PER_SLAVE
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import PACKET_CONFIGURATION, SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS, WORD_BYTES, TileName
from memtile.arch.timing import Timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Descriptor
from memtile.design.merge_order import merge_words
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.tile_door import Door
from memtile.sim.loop.engine import Engine

_SLAVE = register_named("memory_tile", "Stream_Switch_Slave_Config_DMA_0")
_SLOT = register_named("memory_tile", "Stream_Switch_Slave_DMA_0_Slot0")
_MASTER = register_named("memory_tile", "Stream_Switch_Master_Config_DMA0")
_MSELS, _ARBITER = (field_of(PACKET_CONFIGURATION, name) for name in ("Msel_Enable", "Arbiter"))
_QUEUE = register_named("memory_tile", "DMA_S2MM_0_Start_Queue")
_CONTROL = register_named("memory_tile", "DMA_S2MM_0_Ctrl")

Words = npt.NDArray[np.uint32]


class Bench:
    """Tiles one above the other, wired.

    Args:
        names: tile kinds from the bottom up.
        timing: timing constants; the defaults if omitted.
        switched: False leaves the switches without channels, as in a model of one tile alone.
    """

    def __init__(self, *names: TileName, timing: Timing | None = None, switched: bool = True) -> None:
        self.names = names
        placed = [Placed(name, column=1, row=row + 1) for row, name in enumerate(names)]
        self.engine = Engine(placed, timing, switched=switched)

    def door(self, at: int = 0) -> Door:
        """The memory-mapped port of a tile."""
        return self.engine.door(at)

    def channel(self, direction: int, number: int, at: int = 0) -> int:
        """Model index of a channel.

        Args:
            direction: 0 = S2MM, 1 = MM2S.
            number: of the channel, from 0.
            at: which of the tiles.
        """
        before = sum(2 * TILE_KINDS[name].channels for name in self.names[:at])
        return before + direction * TILE_KINDS[self.names[at]].channels + number

    def s2mm(self, number: int = 0, at: int = 0) -> int:
        """Model index of an S2MM channel."""
        return self.channel(S2MM, number, at)

    def mm2s(self, number: int = 0, at: int = 0) -> int:
        """Model index of an MM2S channel."""
        return self.channel(MM2S, number, at)

    # routes ----------------------------------------------------------------------------------------------

    def circuit(self, slave: str, *masters: str, at: int = 0) -> None:
        """Connect a slave port to masters in circuit mode.

        Args:
            slave: port that words come from.
            masters: ports that they go to.
            at: which of the tiles.
        """
        index = PORTS[self.names[at]].slave(slave)
        self._slave(at, index, _SLAVE.pack(Slave_Enable=1))
        for master in masters:
            self._master(at, master, _MASTER.pack(Master_Enable=1, Configuration=index))

    def packets(self, slave: str, *slots: tuple[int, int, int, int], at: int = 0) -> None:
        """Put a slave port into packet mode with slots of (id, mask, msel, arbiter).

        Args:
            slave: port that packets come from.
            slots: one for each rule, the first that matches is taken.
            at: which of the tiles.
        """
        ports = PORTS[self.names[at]]
        index = ports.slave(slave)
        self._slave(at, index, _SLAVE.pack(Slave_Enable=1, Packet_Enable=1))
        first = ports.base + SLOT_OFFSET + index * SLOTS_PER_SLAVE * WORD_BYTES
        for n, (stream, mask, msel, arbiter) in enumerate(slots):
            word = _SLOT.pack(id=stream, mask=mask, enable=1, msel=msel, arbit=arbiter)
            self.door(at).write32(first + n * WORD_BYTES, word)

    def collects(self, master: str, arbiter: int, *msels: int, drop: bool = False, at: int = 0) -> None:
        """Let a master port take the packets of an arbiter with these msels.

        Args:
            master: port that packets go to.
            arbiter: its number.
            msels: those that it takes.
            drop: leave the packet headers away.
            at: which of the tiles.
        """
        chosen = sum(1 << msel for msel in msels) << _MSELS.lsb | arbiter << _ARBITER.lsb
        word = _MASTER.pack(Master_Enable=1, Packet_Enable=1, Drop_Header=int(drop), Configuration=chosen)
        self._master(at, master, word)

    def merge(self, arbiter: int, *positions: tuple[str, int], at: int = 0) -> None:
        """Deterministic merge of up to four (slave, packets).

        Args:
            arbiter: its number.
            positions: slave port and packets of each, in order.
            at: which of the tiles.
        """
        tile = self.names[at]
        for offset, word in merge_words(tile, arbiter, positions):
            self.door(at).write32(PORTS[tile].base + offset, word)

    # work ------------------------------------------------------------------------------------------------

    def write_bd(self, bd: int, descriptor: Descriptor, at: int = 0) -> None:
        """Write the register words of a descriptor.

        Args:
            bd: number of the BD.
            descriptor: what it says.
            at: which of the tiles.

        Raises:
            DescriptorError: the descriptor is not legal.
        """
        kind = TILE_KINDS[self.names[at]]
        self.door(at).block_write32(kind.bd_base + bd * kind.bd_stride, encode(descriptor, bd))

    def issue(self, ch: int, bd: int, runs: int = 1, *, token: bool = False, at: int = 0) -> None:
        """Push a task: the chain that starts at ``bd``, ``runs`` times.

        Args:
            ch: model index of the channel.
            bd: first BD of the chain.
            runs: how often the chain runs, 1 or more.
            token: ask for a task token at the end.
            at: which of the tiles.
        """
        kind = TILE_KINDS[self.names[at]]
        word = _QUEUE.pack(Start_BD_ID=bd, Repeat_Count=runs - 1, Enable_Token_Issue=int(token))
        offset = kind.queue_base + (ch - self.s2mm(0, at)) * kind.channel_stride
        self.door(at).write32(offset, word)

    def control(self, ch: int, at: int = 0, **fields: int) -> None:
        """Write a channel's control register.

        Args:
            ch: model index of the channel.
            at: which of the tiles.
            fields: of its control register, by AM025's names.
        """
        kind = TILE_KINDS[self.names[at]]
        offset = kind.control_base + (ch - self.s2mm(0, at)) * kind.channel_stride
        self.door(at).write32(offset, _CONTROL.pack(**fields))

    def status(self, ch: int, at: int = 0) -> int:
        """A channel's status register."""
        kind = TILE_KINDS[self.names[at]]
        direction, number = divmod(ch - self.s2mm(0, at), kind.channels)
        return self.door(at).read32(kind.status_base[direction] + number * WORD_BYTES)

    def fill(self, word: int, words: Sequence[int] | Words, at: int = 0) -> None:
        """Write data memory from tile-local word ``word`` on.

        Args:
            word: first word address, tile-local.
            words: uint32 values.
            at: which of the tiles.
        """
        self.door(at).block_write32(word * WORD_BYTES, words)

    def memory(self, word: int, words: int, at: int = 0) -> list[int]:
        """Data memory from tile-local word ``word`` on.

        Args:
            word: first word address, tile-local.
            words: how many.
            at: which of the tiles.
        """
        return [int(value) for value in self.door(at).block_read32(word * WORD_BYTES, words)]

    def run(self, cycles: int = 2000) -> None:
        """Run for a number of cycles, or until nothing can move."""
        self.engine.run(self.engine.now + cycles)

    def _slave(self, at: int, index: int, word: int) -> None:
        base = PORTS[self.names[at]].base + SLAVE_CONFIG_OFFSET
        self.door(at).write32(base + index * WORD_BYTES, word)

    def _master(self, at: int, master: str, word: int) -> None:
        ports = PORTS[self.names[at]]
        self.door(at).write32(ports.base + ports.master(master) * WORD_BYTES, word)
