"""Tasks: chains of BDs that a sequence configures, starts, awaits and frees."""

from __future__ import annotations

from math import prod

from memtile.arch.tiles import DIRECTIONS
from memtile.bd.codec import encode
from memtile.errors import InputFileError, raise_if
from memtile.importers.mlir.configure import dma_locks, memory_of
from memtile.importers.mlir.description import BdDescription, ChainDescription
from memtile.importers.mlir.descriptors import Memory, descriptor, element_bytes
from memtile.importers.mlir.forms.memory import blocks_of_bds
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.references import bd_problems
from memtile.importers.mlir.sequence.reader import Call, Reader, Task
from memtile.importers.mlir.sequence.scratchpad import offset_of
from memtile.importers.mlir.sequence.steps import patch, push, wait, write_bd
from memtile.importers.mlir.sequence.transfers import contiguous


def configure_task(reader: Reader, form: Call) -> None:
    """``%t = aiex.dma_configure_task(%tile, MM2S, 0) { .. }``, or ``_for @allocation``."""
    if form.operation.name.endswith("_for"):
        name = str(form.attributes.get("alloc") or form.symbol)
        tile, direction, channel = form.allocated(name)
    else:
        tile, direction, channel = form.channel()
    bds = blocks_of_bds(form.regions[0], "", reader.values)
    if not bds:
        raise form.error("the task has no BD", "aie.dma_bd in its region", reason="mlir_bds")
    if tile.kind.role != "interface":
        raise_if(bd_problems(reader.made.device, bds), InputFileError)
    repeat, token = form.integer("repeat_count", 0), bool(form.attributes.get("issue_token", False))
    chain = ChainDescription(
        form.result, form.direction(direction), channel, bds, form.operation, repeat, token
    )
    task = Task(chain, tile, runs=repeat + 1)
    task.numbers = [reader.free_bd(form, tile, channel, bd.number) for bd in bds]
    reader.values[form.result] = task
    for n, bd in enumerate(bds):
        following = None if bd.next is None else task.numbers[bd.next]
        _task_bd(reader, form, task, bd, (task.numbers[n], following))


def _task_bd(
    reader: Reader, form: Call, task: Task, bd: BdDescription, numbers: tuple[int, int | None]
) -> None:
    """Write a BD of a task; on an interface tile its outermost dimension may be runs of the task."""
    tile, number = task.tile, numbers[0]
    levels = list(bd.levels)
    if len(levels) > tile.kind.dimensions:
        runs, stride = levels.pop(0)
        if runs < 1:
            raise form.error(f"its outermost size is {runs}", "1 or more", reason="mlir_repeat")
        task.runs *= runs
        bd.levels = levels
        bd.length = None if bd.length is None else bd.length // runs
        bd.iteration = (runs, stride, 0) if stride else None
    if tile.kind.role != "interface":
        made = descriptor(
            bd, tile.kind, memory_of(reader.made, tile, bd), dma_locks(reader.made, tile), numbers[1]
        )
        write_bd(reader, form, tile, number, list(encode(made, number)))
        return
    source = form.argument(bd.buffer)
    start = source.offset + (bd.offset + offset_of(reader, Form(bd.operation))) * element_bytes(
        form, source.shape
    )
    linear, bd.offset = contiguous(levels), 0
    if linear:
        bd.levels = ()
        bd.length = bd.length if bd.length is not None else prod(n for n, _ in levels)
    made = descriptor(
        bd,
        tile.kind,
        Memory(0, source.shape),
        dma_locks(reader.made, tile),
        numbers[1],
        cache=reader.habits.cache,
    )
    write_bd(reader, form, tile, number, list(encode(made, number)))
    patch(reader, form, tile, number, source.argument, start)


def start_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_start_task(%t)``."""
    task = _task(reader, form)
    port = DIRECTIONS.index(task.chain.direction), task.chain.channel
    push(reader, form, task.tile, port, task.numbers[0], task.runs, token=task.chain.token)


def await_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_await_task(%t)``: its token; its BDs are free again."""
    task = _task(reader, form)
    assert task.tile.place is not None
    if not task.chain.token:
        raise form.error("the task reports no end", "a task with issue_token = true", reason="mlir_token")
    wait(reader, form, task.tile.place, DIRECTIONS.index(task.chain.direction), task.chain.channel)
    reader.give_back(task)


def free_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_free_task(%t)``: its BDs are free again."""
    reader.give_back(_task(reader, form))


def _task(reader: Reader, form: Call) -> Task:
    found = reader.values.get(form.values[0])
    if not isinstance(found, Task):
        raise form.error(f"{form.values[0]} is no task", "what aiex.dma_configure_task gives")
    return found
