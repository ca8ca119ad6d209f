"""Which channel or lock of a model a register is of, by its address in the array: looked up, not searched.

Host sequences of large models have 10,000 to 100,000 writes, and several rules look at each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.runs.operations import address_of
from memtile.sim.loop.engine import Engine

NONE = -1


@dataclass(frozen=True, slots=True)
class ChannelAddresses:
    """The registers of the channels and locks of a model, by address.

    Attributes:
        tiles: by column and row of a tile: its first channel, -1 = it has none, and those of a direction.
        queues: task queue -> channel, -1 = one that the tile does not have.
        statuses: status register -> channel.
        controls: control register -> channel, and the bits of its reset.
        locks: value of a lock -> the lock.
    """

    tiles: Mapping[tuple[int, int], tuple[int, int]]
    queues: Mapping[int, int]
    statuses: Mapping[int, int]
    controls: Mapping[int, tuple[int, int]]
    locks: Mapping[int, int]

    def channel(self, column: int, row: int, direction: int, number: int) -> int:
        """Model index of a channel; -1 = the model has no such tile."""
        first, each = self.tiles.get((column, row), (NONE, 0))
        return NONE if first < 0 else first + direction * each + number


_known: WeakKeyDictionary[Engine, ChannelAddresses] = WeakKeyDictionary()


def channel_addresses(engine: Engine) -> ChannelAddresses:
    """The registers of the channels and locks of an engine's model, by address."""
    found = _known.get(engine)
    if found is None:
        _known[engine] = found = _found(engine)
    return found


def _found(engine: Engine) -> ChannelAddresses:
    table, masks = plain(engine.spec.tiles), plain(engine.spec.kinds).reset_mask.tolist()
    tiles, controls = dict[tuple[int, int], tuple[int, int]](), dict[int, tuple[int, int]]()
    queues, statuses, locks = dict[int, int](), dict[int, int](), dict[int, int]()
    columns = (table.column, table.row, table.kind, table.channels, table.channel_base, table.lock_base)
    for column, row, number, channels, base, lock_base in zip(
        *(each.tolist() for each in columns), strict=True
    ):
        kind, first = TILE_KINDS[KIND_NAMES[number]], base if channels else NONE
        tiles[column, row] = first, kind.channels
        at = address_of(column, row)
        for local in range(2 * kind.channels):
            channel = NONE if first < 0 else first + local
            direction, own = divmod(local, kind.channels)
            queues[at + kind.queue_base + local * kind.channel_stride] = channel
            statuses[at + kind.status_base[direction] + own * WORD_BYTES] = channel
            controls[at + kind.control_base + local * kind.channel_stride] = channel, masks[number]
        for lock in range(kind.locks):
            locks[at + kind.lock_value_base + lock * kind.lock_value_stride] = lock_base + lock
    return ChannelAddresses(tiles, queues, statuses, controls, locks)
