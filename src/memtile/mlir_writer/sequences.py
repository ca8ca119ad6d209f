"""The host's steps as ``aie.runtime_sequence``, whose arguments are the buffers in external memory."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.arch.tiles import DIRECTIONS, MM2S, S2MM, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import Block, InsertionPoint, Value
from memtile.iron.ops.types import IndexType, IntegerType, MemRefType
from memtile.mlir_writer.host_steps import Await, Configure, Free, HostStep, QueuedTask, Start
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import WORDS, MemoryPlace, Scene, element_type
from memtile.mlir_writer.transfers import fill_chain

_STEPS = {Start: "aiex.dma_start_task", Await: "aiex.dma_await_task", Free: "aiex.dma_free_task"}
_TASK_SIZES = 4
"""Sizes of a BD of a task: three, and the iteration."""


def write_sequence(scene: Scene, steps: Sequence[HostStep]) -> None:
    """Write the sequence at the end of the device.

    Args:
        scene: whose external memory becomes the arguments.
        steps: of the host.

    Raises:
        DesignError: a task that no operation says.
    """
    sequence = scene.add("aie.runtime_sequence")
    block = sequence.regions[0].blocks.append()
    _arguments(scene, block)
    point = InsertionPoint(block)
    values: dict[QueuedTask, Value] = {}
    for each in steps:
        if isinstance(each, Configure):
            values[each.task] = _configure(scene, each.task, point)
        else:
            operation_class(_STEPS[type(each)])(values[each.task], ip=point)


def _arguments(scene: Scene, block: Block) -> None:
    """One argument for each buffer in external memory."""
    for name, each in scene.array.engine.external.buffers.items():
        own = element_type(each.array.dtype)
        dtype = WORDS if own is None else each.array.dtype
        shape = [each.array.nbytes // WORD_BYTES] if own is None else [each.array.size]
        value = block.arguments.add(MemRefType(shape, own or IntegerType(32)))
        place = MemoryPlace(value, each.address, each.array.nbytes, dtype.itemsize, name)
        scene.external.append(place)


def _configure(scene: Scene, task: QueuedTask, point: InsertionPoint) -> Value:
    """The BDs of a task."""
    tile = task.channel.tile
    assert tile.place is not None
    made = operation_class("aiex.dma_configure_task")(
        IndexType(),
        scene.tiles[tile.place],
        DIRECTIONS[S2MM if task.channel.receives else MM2S],
        task.channel.number,
        issue_token=task.token,
        repeat_count=task.runs - 1,
        ip=point,
    )
    region = made.regions[0]
    blocks = [region.blocks.append() for _ in task.chain]
    for number, bd in task.chain:
        _check(task.channel.name, number, bd)
    fill_chain(scene, tile, task.chain, blocks, in_task=True)
    numbers = [number for number, _ in task.chain]
    for (_, bd), block in zip(task.chain, blocks, strict=True):
        inside = InsertionPoint(block)
        if bd.next is None:
            operation_class("aie.end")(ip=inside)
        else:
            operation_class("aie.next_bd")(blocks[numbers.index(bd.next)], ip=inside)
    return made.result


def _check(channel: str, number: int, bd: Descriptor) -> None:
    """Refuse what no BD of a task has.

    Raises:
        DesignError: an iteration that has begun, four dimensions, or one lock.
    """
    where = f"BD {number} of {channel}"
    if bd.iteration.current:
        says = f"{where} begins with iteration {bd.iteration.current}"
        raise refused(channel, says, "iterations that begin with the first one")
    if len(bd.dims) >= _TASK_SIZES:
        raise refused(channel, f"{where} has {len(bd.dims)} dimensions", "three dimensions and an iteration")
    if bd.acquire.enable != bool(bd.release.value):
        says = f"{where} has {'an acquire' if bd.acquire.enable else 'a release'} alone"
        allowed = "BDs of tasks with both locks or none"
        raise refused(channel, says, allowed, "Guard it with both, or give the channel one task.")
