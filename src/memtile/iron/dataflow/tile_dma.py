"""``aie.iron.dataflow.tile_dma``: what the DMA of a tile does, said by the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memtile.iron.buffer import Buffer
from memtile.iron.device import Tile
from memtile.iron.dialects.aie import (
    _OPS,
    EndOp,
    dma_bd,
    dma_start,
    mem,
    memtile_dma,
    next_bd,
    shim_mem,
    use_lock,
)
from memtile.iron.helpers.util import pack_pad_value
from memtile.iron.lock import Lock
from memtile.iron.ops.enums import AIETileType, DMAChannelDir, LockAction
from memtile.iron.resolvable import Resolvable


@dataclass
class Acquire:
    """What a descriptor takes before it runs."""

    lock: Lock
    value: int = 1
    greater_equal: bool = True

    def emit(self) -> None:
        """Build it."""
        action = LockAction.AcquireGreaterEqual if self.greater_equal else LockAction.Acquire
        use_lock(self.lock.op, action, self.value)


@dataclass
class Release:
    """What a descriptor gives when it is done."""

    lock: Lock
    value: int = 1

    def emit(self) -> None:
        """Build it."""
        use_lock(self.lock.op, LockAction.Release, self.value)


@dataclass
class BdIteration:
    """An offset that grows by ``stride`` elements per execution, ``size`` times, then from the start."""

    size: int
    stride: int
    current: int = 0


@dataclass
class Bd:
    """A buffer descriptor.

    Attributes:
        buffer: that it reads or writes.
        offset: in elements.
        length: in elements; default = all of it.
        acquires: before it runs.
        releases: when it is done.
        next: ``"self"``, the number of another of its channel, or None.
        packet: type and id of the packets that it sends.
        sizes: of its dimensions, the outermost first.
        strides: in elements.
        pad_dimensions: pairs of padding before and behind.
        iteration: an offset that grows.
    """

    buffer: Buffer
    offset: int = 0
    length: int | None = None
    acquires: list[Acquire] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    next: int | str | None = "self"
    packet: tuple[int, int] | None = None
    sizes: list[Any] = field(default_factory=list)
    strides: list[Any] = field(default_factory=list)
    pad_dimensions: list[Sequence[int]] | None = None
    iteration: BdIteration | None = None

    def emit(self) -> None:
        """Build it, its locks around it."""
        for each in self.acquires:
            each.emit()
        more: dict[str, Any] = {}
        if self.pad_dimensions is not None:
            more["pad_dimensions"] = self.pad_dimensions
        if self.iteration is not None:
            more["iteration"] = (self.iteration.size, self.iteration.stride, self.iteration.current)
        if self.packet is not None:
            _OPS["DMABDPACKETOp"](*self.packet)
        offset = self.offset or None
        dma_bd(self.buffer.op, self.sizes, self.strides, offset=offset, transfer_len=self.length, **more)
        for release in self.releases:
            release.emit()


@dataclass
class DmaChannel:
    """A channel and its chain of descriptors."""

    direction: DMAChannelDir
    channel: int
    bds: list[Bd]
    pad_value: int = 0

    def pad_word(self) -> int:
        """The channel's pad value of 32 bits.

        Raises:
            ValueError: no descriptor is padded, or their elements differ in size.
        """
        if not self.pad_value:
            return 0
        sizes = {np.dtype(bd.buffer.dtype).itemsize for bd in self.bds if bd.pad_dimensions is not None}
        if len(sizes) != 1:
            says = (
                "no descriptor of it is padded" if not sizes else f"its elements have {sorted(sizes)} bytes"
            )
            raise ValueError(
                f"pad_value of {self.direction} {self.channel}: {says}; one value of one size is needed"
            )
        return pack_pad_value(self.pad_value, sizes.pop())


class TileDma(Resolvable):
    """The DMA of a tile.

    Args:
        tile: whose.
        channels: in order.
    """

    def __init__(self, tile: Tile, channels: Iterable[DmaChannel]) -> None:
        self._tile, self._channels = tile, list(channels)
        self._resolved = False

    @property
    def tile(self) -> Tile:
        """Whose it is."""
        return self._tile

    def all_tiles(self) -> list[Tile]:
        """Its tile."""
        return [self._tile]

    def all_buffers_and_locks(self) -> tuple[list[Buffer], list[Lock]]:
        """What its descriptors use, each once."""
        buffers: dict[int, Buffer] = {}
        locks: dict[int, Lock] = {}
        for bd in (bd for channel in self._channels for bd in channel.bds):
            buffers[id(bd.buffer)] = bd.buffer
            locks |= {id(use.lock): use.lock for use in bd.acquires}
            locks |= {id(use.lock): use.lock for use in bd.releases}
        return list(buffers.values()), list(locks.values())

    def resolve(self, loc: object = None, ip: Any = None) -> None:
        """Build it, once."""
        if self._resolved:
            return
        self._resolved = True
        kind = self._tile.tile_type
        make = memtile_dma if kind == AIETileType.MemTile else shim_mem if _is_interface(kind) else mem
        make(self._tile.op)(self._body)

    def _body(self, block: Any) -> None:
        """Starts in one block after the other; the descriptors of a channel behind its start."""
        numbers = iter(range(1, 1 + sum(len(channel.bds) + 1 for channel in self._channels)))
        start = 0
        places = []
        for channel in self._channels:
            own = [next(numbers) for _ in channel.bds]
            after = next(numbers)
            places.append((channel, start, own, after))
            start = after
        for channel, at, own, after in places:
            with block[at]:
                dma_start(
                    channel.direction,
                    channel.channel,
                    dest=block[own[0]],
                    chain=block[after],
                    pad_value=channel.pad_word(),
                )
        for channel, _, own, _ in places:
            self._descriptors(block, channel, own)
        with block[start]:
            EndOp()

    def _descriptors(self, block: Any, channel: DmaChannel, own: list[int]) -> None:
        for at, bd in zip(own, channel.bds, strict=True):
            with block[at]:
                bd.emit()
                if bd.next == "self":
                    next_bd(block[at])
                elif isinstance(bd.next, int) and 0 <= bd.next < len(own):
                    next_bd(block[own[bd.next]])
                elif bd.next is not None:
                    raise ValueError(f"next of a Bd is 'self', None or 0 to {len(own) - 1}, not {bd.next!r}")


def _is_interface(kind: AIETileType | None) -> bool:
    return kind in (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)


__all__ = ["Acquire", "Bd", "BdIteration", "DmaChannel", "Release", "TileDma"]
