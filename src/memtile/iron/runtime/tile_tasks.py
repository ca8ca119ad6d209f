"""Tasks of a tile's DMA that the runtime sequence starts: ``tile_dma_task``, ``tile_dma_chain``.

Source: mlir-aie's programming guide, section 2g (main of November 2026), and its FileCheck lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.iron.dataflow.tile_dma import Acquire, Bd, Release
from memtile.iron.device import Tile
from memtile.iron.dialects._dma import bds as blocks_of
from memtile.iron.dialects._dma import next_bd
from memtile.iron.dialects.aie import EndOp
from memtile.iron.dialects.aiex import _OPS, dma_configure_task
from memtile.iron.helpers.taplib.symbolic import known_value
from memtile.iron.ops.enums import DMAChannelDir
from memtile.iron.ops.operations import Value
from memtile.iron.ops.types import IntegerType
from memtile.iron.runtime._context import active_sequence
from memtile.iron.runtime.dmataskhandle import Task
from memtile.iron.runtime.walk_values import narrow, product, wide

_I64 = IntegerType(64)


class TileDmaTask(Task):
    """A task of a tile's DMA: configured, and started as often as the program says."""

    def start(self, repeat_count: Any = None) -> TileDmaTask:
        """Push it onto its channel's queue; ``repeat_count`` counts for this start alone."""
        _OPS["DMAStartTaskOp"](self.handle, **_repeats(repeat_count))
        return self


def tile_dma_task(
    tile: Tile,
    direction: DMAChannelDir,
    channel: Any,
    buffer: Any,
    sizes: Any = None,
    strides: Any = None,
    offset: Any = None,
    transfer_len: Any = None,
    wait: bool = False,
    packet: tuple[int, int] | None = None,
    bd_id: int | None = None,
    acquire: Acquire | None = None,
    release: Release | None = None,
    start: bool = True,
) -> TileDmaTask:
    """Configure one descriptor of a tile's DMA from the runtime sequence, and start it.

    Args:
        tile: whose DMA.
        direction: of the channel.
        channel: its number, or ``flow.endpoint(tile)``.
        buffer: of the tile.
        sizes: of up to four dimensions, the outermost first; numbers, or values of the sequence.
        strides: in elements.
        offset: in elements.
        transfer_len: in elements; default = the product of the sizes.
        wait: with a token, for which ``await_()`` waits.
        packet: type and id of its packets.
        bd_id: number of the descriptor.
        acquire: before it runs; together with ``release``.
        release: when it is done.
        start: push it at once.

    Raises:
        ValueError: the buffer is on another tile; an acquire without a release; four sizes that repeat.
        TypeError: a size that is no whole number.
    """
    _check("tile_dma_task", tile, direction, channel, [(buffer, "")])
    if (acquire is None) != (release is None):
        raise ValueError(
            f"tile_dma_task has acquire={acquire} and release={release}: give both of them, or leave both "
            f"out. A task's descriptor has one lock action before it and one behind it."
        )
    walk = _sizes(sizes or ())
    length = product(walk) if transfer_len is None and walk else transfer_len
    bd = Bd(
        buffer,
        offset=narrow(offset) if offset is not None else 0,
        length=narrow(length),
        sizes=walk,
        strides=[wide("strides", at, each) for at, each in enumerate(strides or ())],
        acquires=[] if acquire is None else [acquire],
        releases=[] if release is None else [release],
        packet=packet,
        bd_id=bd_id,
    )
    task = _configure(tile, direction, channel, [bd], wait=wait, says_offset=True)
    return task.start() if start else task


def tile_dma_chain(
    tile: Tile,
    direction: DMAChannelDir,
    channel: Any,
    bds: list[Bd],
    repeat_count: Any = 0,
    wait: bool = False,
    start: bool = True,
    out_of_order: bool = False,
) -> TileDmaTask:
    """Configure a chain of descriptors of a tile's DMA from the runtime sequence as one task, and start it.

    Args:
        tile: whose DMA.
        direction: of the channel.
        channel: its number, or ``flow.endpoint(tile)``.
        bds: in order; the last one ends the task.
        repeat_count: how often the chain runs again; on an out-of-order channel packets less one.
        wait: with a token.
        start: push it at once.
        out_of_order: each packet says which descriptor it is for.

    Raises:
        ValueError: no descriptor; one with what a task's chain cannot have; a buffer of another tile.
        TypeError: a size that is no value of 64 bits.
    """
    if not bds:
        raise ValueError("tile_dma_chain needs at least one Bd")
    _check(
        "tile_dma_chain", tile, direction, channel, [(bd.buffer, f" (Bd {at})") for at, bd in enumerate(bds)]
    )
    for at, bd in enumerate(bds):
        _check_chained(at, bd, out_of_order=out_of_order)
    if out_of_order and direction != DMAChannelDir.S2MM:
        raise ValueError(f"out_of_order is for channels that receive (S2MM), and this one is {direction}")
    task = _configure(
        tile, direction, channel, bds, wait=wait, repeat_count=repeat_count, out_of_order=out_of_order
    )
    return task.start() if start else task


def _sizes(sizes: Sequence[Any]) -> list[Any]:
    """Sizes as numbers or values of 64 bits; the outermost of four does not repeat."""
    walk = [wide("sizes", at, each) for at, each in enumerate(sizes)]
    if len(walk) > 3 and known_value(walk[0]) != 1:
        raise ValueError(
            f"tile_dma_task sizes[0] is {walk[0]}: the outermost of four sizes says how often a descriptor "
            f"runs. Give three sizes to tile_dma_chain([Bd(...)], repeat_count=...)."
        )
    return walk


def _check(who: str, tile: Tile, direction: Any, channel: Any, buffers: list[tuple[Any, str]]) -> None:
    for buffer, which in buffers:
        if buffer.tile is not tile:
            raise ValueError(
                f"{who} is for {tile}, and its buffer{which} is in {buffer.tile}. The DMA of a tile moves "
                f"data of its own memory; host memory is for interface tiles."
            )
    if not isinstance(channel, (int, np.integer)):
        channel.check(tile, direction)


def _check_chained(at: int, bd: Bd, *, out_of_order: bool) -> None:
    who = f"tile_dma_chain Bd {at}"
    counts = (len(bd.acquires), len(bd.releases))
    if bd.next is not None:
        raise ValueError(
            f"{who} has next={bd.next!r}. The chain of a task follows the order of its list, and the last Bd "
            f"ends it: leave next out."
        )
    if bd.iteration is not None:
        raise ValueError(
            f"{who} has an iteration, which a task's chain cannot: give repeat_count= of the chain, or a Bd "
            f"for each part."
        )
    if out_of_order:
        if bd.bd_id is None or bd.packet is None:
            raise ValueError(f"{who} takes packets in any order: give it bd_id= and packet=")
    elif counts not in ((0, 0), (1, 1)):
        raise ValueError(
            f"{who} has {counts[0]} acquires and {counts[1]} releases: give one of each, or none. A task's "
            f"descriptor has one lock action before it and one behind it."
        )
    for where, each in enumerate(bd.sizes):
        if isinstance(each, Value) and each.type != _I64:
            raise TypeError(
                f"{who}: sizes[{where}] is {each.type}. Give i64: a descriptor cannot convert it."
            )


def _configure(
    tile: Tile,
    direction: DMAChannelDir,
    channel: Any,
    bds: list[Bd],
    *,
    wait: bool,
    repeat_count: Any = 0,
    out_of_order: bool = False,
    says_offset: bool = False,
) -> TileDmaTask:
    sequence = active_sequence()
    for bd in bds:
        locks = [*(use.lock for use in bd.acquires), *(use.lock for use in bd.releases)]
        sequence.build_before(bd.buffer, *locks)
    number = channel if isinstance(channel, (int, np.integer)) else channel.channel
    often = _repeats(repeat_count)
    task = dma_configure_task(
        tile.op, direction, number, issue_token=wait, out_of_order=out_of_order or None, **often
    )
    with blocks_of(task) as block:
        for at, bd in enumerate(bds):
            with block[at]:
                bd.emit(header=False, says_offset=says_offset)
                if at + 1 < len(bds):
                    next_bd(block[at + 1])
                else:
                    EndOp()
    return TileDmaTask(task.result)


def _repeats(repeat_count: Any) -> dict[str, Any]:
    """A repeat count as an attribute, or as a value of 32 bits."""
    if repeat_count is None:
        return {}
    if isinstance(repeat_count, (int, np.integer)):
        return {"repeat_count": int(repeat_count)}
    return {"repeat_count_val": narrow(repeat_count)}


__all__ = ["TileDmaTask", "tile_dma_chain", "tile_dma_task"]
