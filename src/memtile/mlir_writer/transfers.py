"""The work of DMA channels as operations: chains of blocks, each with a descriptor and its locks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtile.arch.tiles import DIRECTIONS, MM2S, WORD_BYTES
from memtile.bd.descriptor import DEFAULT_AXI, Descriptor
from memtile.design.tile import Tile
from memtile.iron.ops.attributes import IntegerAttr
from memtile.iron.ops.operation_classes import OperationOf, operation_class
from memtile.iron.ops.operations import Block, InsertionPoint, Region, Value
from memtile.iron.ops.scalars import constant
from memtile.iron.ops.types import IntegerType
from memtile.mlir_writer.machine import ChannelWork
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Scene

_DMA = {"compute": "aie.mem", "memory": "aie.memtile_dma", "interface": "aie.shim_dma"}


def write_dma(scene: Scene, tile: Tile, work: Sequence[ChannelWork]) -> None:
    """Write the channels of a tile that start with the device, each with one task."""
    if not work:
        return
    assert tile.place is not None
    region = scene.add(_DMA[tile.kind.role], scene.tiles[tile.place]).regions[0]
    start = region.blocks.append()
    for each in work:
        start = _channel(scene, region, start, each)
    operation_class("aie.end")(ip=InsertionPoint(start))


def _channel(scene: Scene, region: Region, start: Block, work: ChannelWork) -> Block:
    """Write a channel; returns the block that comes behind."""
    (task,) = work.tasks
    chain = work.chain(task)
    blocks = [region.blocks.append() for _ in chain]
    behind = region.blocks.append()
    operation_class("aie.dma_start")(
        DIRECTIONS[work.direction],
        work.channel,
        blocks[0],
        behind,
        repeat_count=task.runs - 1,
        pad_value=work.pad_value,
        ip=InsertionPoint(start),
    )
    fill_chain(scene, work.tile, chain, blocks)
    for block, (_, bd) in zip(blocks, chain, strict=True):
        numbers = [number for number, _ in chain]
        following = behind if bd.next is None else blocks[numbers.index(bd.next)]
        operation_class("aie.next_bd")(following, ip=InsertionPoint(block))
    _check_ends(work, chain)
    return behind


def _check_ends(work: ChannelWork, chain: Sequence[tuple[int, Descriptor]]) -> None:
    """A direction in which only one side pads."""
    if work.direction != MM2S and any(any(pad) for _, bd in chain for pad in bd.pad):
        raise refused(work.tile.title, "an S2MM channel pads", "padding on MM2S channels")


def fill_chain(
    scene: Scene,
    tile: Tile,
    chain: Sequence[tuple[int, Descriptor]],
    blocks: Sequence[Block],
    *,
    in_task: bool = False,
) -> None:
    """Write the descriptors of a chain, one into each block, with their locks.

    Args:
        scene: that is written.
        tile: that has the descriptors.
        chain: each with its number.
        blocks: one for each.
        in_task: they are those of a task of a host: the outermost of four sizes is the iteration.
    """
    for block, (number, bd) in zip(blocks, chain, strict=True):
        point = InsertionPoint(block)
        if bd.acquire.enable:
            value = bd.acquire.value
            action = "Acquire" if value >= 0 else "AcquireGreaterEqual"
            use_lock(scene.lock_at(tile, bd.acquire.id), action, abs(value), point)
        write_bd(scene, tile, bd, number, point, in_task=in_task)
        if bd.release.value:
            use_lock(scene.lock_at(tile, bd.release.id), "Release", bd.release.value, point)


def use_lock(lock: Any, action: str, value: int, point: InsertionPoint) -> None:
    """``aie.use_lock`` with its number."""
    with point:
        number = _number(point.block, value)
        if number is None:
            number = constant(value, IntegerType(32))
        operation_class("aie.use_lock")(lock, action, number)


def _number(block: Block, value: int) -> Value | None:
    """A constant that a block has already."""
    for each in block.operations:
        found = each.attributes.get("value") if each.name == "arith.constant" else None
        if isinstance(found, IntegerAttr) and found.value == value and found.type == IntegerType(32):
            return each.result
    return None


def write_bd(
    scene: Scene, tile: Tile, bd: Descriptor, number: int, point: InsertionPoint, *, in_task: bool = False
) -> OperationOf:
    """``aie.dma_bd`` of a descriptor; see :func:`fill_chain`.

    Raises:
        DesignError: it has what no operation says.
    """
    _check(scene, tile, bd, number)
    memory, first = scene.memory_at(tile, int(bd.address) * WORD_BYTES)
    size = memory.itemsize
    named: dict[str, Any] = {"bd_id": number}
    if first:
        named["static_offset"] = _elements(tile, number, first, size)
    named["static_len"] = _elements(tile, number, bd.length * WORD_BYTES, size)
    sizes, strides = pattern(tile, bd, number, size)
    if in_task and bd.iteration.wrap > 1:
        missing = 3 - len(sizes)
        if not sizes:
            sizes, strides = [named["static_len"]], [1]
            missing -= 1
        outer = bd.iteration.wrap, _elements(tile, number, bd.iteration.step * WORD_BYTES, size)
        sizes = [outer[0], *[1] * missing, *sizes]
        strides = [outer[1], *[0] * missing, *strides]
    if sizes:
        named |= {"static_sizes": sizes, "static_strides": strides}
    if bd.pad:
        named["pad_dimensions"] = padding(bd, size, len(sizes))
    if bd.packet is not None:
        named["packet"] = (bd.packet.type, bd.packet.id)
    if bd.iteration.wrap > 1 and not in_task:
        stride = _elements(tile, number, bd.iteration.step * WORD_BYTES, size)
        named["iteration"] = (bd.iteration.wrap, stride, bd.iteration.current)
    if tile.kind.role == "interface":
        named["burst_length"] = bd.axi.burst
    return operation_class("aie.dma_bd")(memory.value, ip=point, **named)


def _elements(tile: Tile, number: int, nbytes: int, size: int) -> int:
    count, rest = divmod(nbytes, size)
    if rest:
        raise _refused_bd(tile, number, f"{nbytes} bytes are not whole elements of {size} bytes")
    return count


def pattern(tile: Tile, bd: Descriptor, number: int, size: int) -> tuple[list[int], list[int]]:
    """Sizes and strides of a descriptor in elements, outermost first."""
    sizes: list[int] = []
    strides: list[int] = []
    run = 1
    for inner, (step, wrap) in enumerate(bd.dims):
        words = sum(bd.pad[inner]) if inner < len(bd.pad) else 0
        count = wrap
        if not wrap:  # it goes on to the end
            count, rest = divmod(bd.length, run)
            if rest:
                raise _refused_bd(tile, number, f"its length {bd.length} ends within dimension {inner}")
            count -= words
            words = 0
            most = (
                (1 << tile.kind.bd_fields[f"D{inner}_Wrap"].bits) - 1
                if inner < tile.kind.dimensions - 1
                else count
            )
            if count > most:
                raise _refused_bd(
                    tile, number, f"dimension {inner} runs for {count} steps; mlir-aie writes up to {most}"
                )
        run *= count + words
        if inner:
            sizes.append(count)
            strides.append(_elements(tile, number, step * WORD_BYTES, size))
        else:
            sizes.append(count * WORD_BYTES // size)
            strides.append(step if size < WORD_BYTES else step * WORD_BYTES // size)
    return sizes[::-1], strides[::-1]


def padding(bd: Descriptor, size: int, dimensions: int) -> list[tuple[int, int]]:
    """Elements before and after each dimension, outermost first."""
    found = [
        (before * WORD_BYTES // size, after * WORD_BYTES // size) if inner == 0 else (before, after)
        for inner, (before, after) in enumerate(bd.pad)
    ]
    found += [(0, 0)] * (dimensions - len(found))
    return found[::-1]


def _check(scene: Scene, tile: Tile, bd: Descriptor, number: int) -> None:
    """Refuse what no operation says.

    Every BD of mlir-aie ends with TLAST. DMAs that receive from a circuit count words and do not look at it.
    """
    if bd.compression:
        raise _refused_bd(tile, number, "its words go through the compressor")
    if bd.ooo_id:
        raise _refused_bd(tile, number, f"its packets carry the out-of-order id {bd.ooo_id}")
    if bd.tlast_suppress and (bd.packet is not None or scene.has_core_streams):
        raise _refused_bd(tile, number, "it ends without TLAST, which packets and cores see")
    if bd.axi._replace(burst=DEFAULT_AXI.burst, cache=0) != DEFAULT_AXI:
        raise _refused_bd(tile, number, "it has AXI properties of its own")
    if not bd.valid:
        raise _refused_bd(tile, number, "it is not valid")


def _refused_bd(tile: Tile, number: int, says: str) -> Exception:
    where = f"{tile.title}, BD {number}"
    return refused(where, f"{where}: {says}", "what aie.dma_bd says", "Leave that out of the design.")
