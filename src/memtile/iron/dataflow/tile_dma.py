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
        length: in elements; default = all of the buffer, or of ``tap``.
        acquires: before it runs.
        releases: when it is done.
        next: None = the next one of its channel, and behind the last what ``DmaChannel.loop`` says;
            ``"self"``, or the number of another of its channel.
        packet: type and id of the packets that it sends.
        sizes: of its dimensions, the outermost first.
        strides: in elements.
        pad_dimensions: pairs of padding before and behind.
        iteration: an offset that grows.
        bd_id: its number in the hardware; default = any.
        out_of_order_id: number of the descriptor that receives its packet on an out-of-order channel.
        tap: offset, sizes, strides and padding in one.
        iteration_size: of ``iteration``, as mlir-aie called it in September 2026.
        iteration_stride: of ``iteration``.
        iteration_current: of ``iteration``.

    Raises:
        ValueError: a tap beside offset, sizes, strides or padding; ``iteration`` and its older keywords.
    """

    buffer: Buffer
    offset: int = 0
    length: int | None = None
    acquires: list[Acquire] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    next: int | str | None = None
    packet: tuple[int, int] | None = None
    sizes: Sequence[Any] = field(default_factory=list)
    strides: Sequence[Any] = field(default_factory=list)
    pad_dimensions: list[Sequence[int]] | None = None
    iteration: BdIteration | None = None
    bd_id: int | None = None
    out_of_order_id: int | None = None
    tap: Any = None
    iteration_size: int | None = None
    iteration_stride: int | None = None
    iteration_current: int = 0

    def __post_init__(self) -> None:
        if self.iteration_size is not None:
            if self.iteration is not None:
                raise ValueError("a Bd takes iteration=, or iteration_size= and iteration_stride=, not both")
            self.iteration = BdIteration(
                self.iteration_size, self.iteration_stride or 0, self.iteration_current
            )
        if self.tap is not None:
            if self.offset or self.sizes or self.strides or self.pad_dimensions is not None:
                raise ValueError("a Bd takes a tap, or offset, sizes, strides and pad_dimensions, not both")
            self.offset, self.sizes, self.strides = self.tap.offset, self.tap.sizes, self.tap.strides
            self.pad_dimensions = self.tap.padding and [list(pair) for pair in self.tap.padding]
            self.length = self.tap.numel if self.length is None else self.length

    def emit(self, *, header: bool = True, bd_id: int | None = None, says_offset: bool = False) -> None:
        """Build it, its locks around it.

        Args:
            header: its packet is an operation of its own; else an attribute.
            bd_id: its number where it says none.
            says_offset: an offset of 0 is written too.
        """
        for each in self.acquires:
            each.emit()
        more: dict[str, Any] = {
            "pad_dimensions": self.pad_dimensions,
            "bd_id": bd_id if self.bd_id is None else self.bd_id,
            "out_of_order_id": self.out_of_order_id,
        }
        if self.iteration is not None:
            more["iteration"] = (self.iteration.size, self.iteration.stride, self.iteration.current)
        if self.packet is not None and header:
            _OPS["DMABDPACKETOp"](*self.packet)
        elif self.packet is not None:
            more["packet"] = self.packet
        given = {name: value for name, value in more.items() if value is not None}
        dma_bd(
            self.buffer.op,
            list(self.sizes),
            list(self.strides),
            offset=self.offset if says_offset or type(self.offset) is not int else self.offset or None,
            transfer_len=self.length,
            **given,
        )
        for release in self.releases:
            release.emit()


@dataclass
class DmaChannel:
    """A channel and its chain of descriptors.

    Attributes:
        direction: of the channel.
        channel: its number, or ``flow.endpoint(tile)``.
        bds: its descriptors, in order.
        pad_value: what padding is filled with.
        repeat_count: how often the chain runs again; it needs ``loop=False``.
        out_of_order: each packet that arrives says which descriptor it is for.
        loop: behind the last descriptor comes the first; else the chain ends there.
    """

    direction: DMAChannelDir
    channel: Any
    bds: list[Bd]
    pad_value: int = 0
    repeat_count: int = 0
    out_of_order: bool = False
    loop: bool = True

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

    def number(self) -> int:
        """Its number in the hardware."""
        return int(self.channel if isinstance(self.channel, (int, np.integer)) else self.channel.channel)

    def repeats(self) -> int:
        """How often the hardware begins again.

        On an out-of-order channel it counts packets: those of a round, as often as the program says.
        """
        if not self.out_of_order:
            return self.repeat_count
        packets = sum(bd.iteration.size if bd.iteration is not None else 1 for bd in self.bds)
        return packets * (self.repeat_count + 1) - 1

    def numbers(self) -> list[int | None]:
        """Numbers of its descriptors; those of an out-of-order channel are their places in it.

        Raises:
            ValueError: an out-of-order channel sends, or one of its descriptors receives no packets.
        """
        if not self.out_of_order:
            return [bd.bd_id for bd in self.bds]
        if self.direction != DMAChannelDir.S2MM:
            raise ValueError(f"out_of_order is only valid for an S2MM DmaChannel, not {self.direction}")
        for at, bd in enumerate(self.bds):
            if bd.packet is None:
                raise ValueError(
                    f"out_of_order channel {self.number()} BD at slot {at} must be packet-enabled: "
                    f"give it packet=(0, 0)"
                )
        return [at if bd.bd_id is None else bd.bd_id for at, bd in enumerate(self.bds)]

    def next_of(self, at: int) -> int | None:
        """The descriptor behind one; None = the chain ends.

        Raises:
            ValueError: it says no descriptor of the channel.
        """
        following = self.bds[at].next
        if following is None:
            return at + 1 if at + 1 < len(self.bds) else 0 if self.loop else None
        if following == "self":
            return at
        if isinstance(following, int) and 0 <= following < len(self.bds):
            return following
        raise ValueError(f"next of a Bd is 'self', None or 0 to {len(self.bds) - 1}, not {following!r}")


class TileDma(Resolvable):
    """The DMA of a tile.

    Args:
        tile: whose.
        channels: in order.
    """

    def __init__(self, tile: Tile, channels: Iterable[DmaChannel]) -> None:
        self._tile, self._channels = tile, list(channels)
        self._resolved = False

        for channel in self._channels:
            if not isinstance(channel.channel, (int, np.integer)):
                channel.channel.check(tile, channel.direction)

    @property
    def tile(self) -> Tile:
        """Whose it is."""
        return self._tile

    @property
    def channels(self) -> list[DmaChannel]:
        """In order."""
        return list(self._channels)

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
        self._check_numbers()
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
                    channel.number(),
                    dest=block[own[0]],
                    chain=block[after],
                    repeat_count=channel.repeats(),
                    pad_value=channel.pad_word(),
                    out_of_order=channel.out_of_order,
                )
        for channel, _, own, _ in places:
            self._descriptors(block, channel, own, start)
        with block[start]:
            EndOp()

    def _check_numbers(self) -> None:
        """Refuse two descriptors with one number, where packets say the numbers.

        Raises:
            ValueError: there are such.
        """
        taken = set()
        for channel in self._channels:
            for number in channel.numbers() if channel.out_of_order else ():
                if number in taken:
                    raise ValueError(
                        f"out_of_order bd_id {number} is used by more than one BD of {self._tile}: "
                        f"give them bd_id="
                    )
                taken.add(number)

    def _descriptors(self, block: Any, channel: DmaChannel, own: list[int], end: int) -> None:
        for at, (bd, number) in enumerate(zip(channel.bds, channel.numbers(), strict=True)):
            following = channel.next_of(at)
            with block[own[at]]:
                bd.emit(header=not channel.out_of_order, bd_id=number)
                next_bd(block[end if following is None else own[following]])


def _is_interface(kind: AIETileType | None) -> bool:
    return kind in (AIETileType.ShimNOCTile, AIETileType.ShimPLTile)


__all__ = ["Acquire", "Bd", "BdIteration", "DmaChannel", "Release", "TileDma"]
