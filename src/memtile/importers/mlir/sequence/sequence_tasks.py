"""Tasks: chains of BDs that a sequence configures, starts, awaits and frees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from memtile.arch.tiles import DIRECTIONS
from memtile.bd.codec import encode
from memtile.design.tile import Tile
from memtile.errors import InputFileError, raise_if
from memtile.importers.mlir.configure import dma_locks, memory_of
from memtile.importers.mlir.description import BdDescription, ChainDescription
from memtile.importers.mlir.descriptors import BufferPlace, descriptor, element_bytes
from memtile.importers.mlir.forms.memory_forms import blocks_of_bds
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.references import bd_problems
from memtile.importers.mlir.sequence.scratchpad_forms import offset_of
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader, SequenceTask
from memtile.importers.mlir.sequence.steps import patch, push, wait, write_bd
from memtile.importers.mlir.sequence.transfer_forms import contiguous


def configure_task(reader: Reader, form: Call) -> None:
    """``%t = aiex.dma_configure_task(%tile, MM2S, 0) { .. }``, or ``_for @allocation``."""
    bds = blocks_of_bds(form.regions[0], "", reader.values)
    if form.operation.name.endswith("_for"):
        tile, direction, channel = _allocated(form, str(form.attributes.get("alloc") or form.symbol), bds)
    else:
        tile, direction, channel = form.channel()
    _configured(reader, form, (tile, direction, channel), bds)


def _allocated(form: Call, name: str, bds: Iterable[BdDescription]) -> tuple[Tile, int, int]:
    """The channel that a symbol names; BDs without a packet of their own get that of the symbol."""
    channel = form.allocated(name)
    for bd in bds:
        bd.packet = bd.packet or form.allocated_packet(name)
    return channel


def start_chain(reader: Reader, form: Call) -> None:
    """``aiex.dma_start_bd_chain @chain(%a) : (memref<8xi32>) on (%tile, MM2S, 0)``, or ``for @allocation``.

    Raises:
        InputFileError: no chain has that name, or other arguments than it has.
    """
    name = str(form.attributes.get("symbol") or form.symbol)
    chains, given = reader.made.device.chain_symbols, list(form.values)
    if name not in chains:
        known = ", ".join(chains) or "none"
        raise form.error(f"no chain has the name {name}", f"one of {known}", reason="mlir_chain")
    region = OperationForm(chains[name]).regions[0]
    bds = blocks_of_bds(region, region.blocks[0].label, reader.values)
    if form.operation.name.endswith("_for"):
        symbols = [word[1:].strip('"') for word in form.operation.words if word[:1] == "@"]
        tile, direction, channel = _allocated(form, str(form.attributes.get("alloc") or symbols[-1]), bds)
    else:
        tile, direction, channel = form.channel(-1, 2)  # behind the arguments and their types
        given = given[:-1]
    parameters = [parameter for parameter, _ in region.blocks[0].arguments]
    if len(parameters) != len(given):
        says = f"{len(given)} arguments for {len(parameters)}"
        raise form.error(says, f"as many as chain {name} has", reason="mlir_chain")
    _bind(bds, dict(zip(parameters, given, strict=True)))
    task = _configured(reader, form, (tile, direction, channel), bds)
    _start(reader, form, task)


def _bind(bds: Iterable[BdDescription], arguments: Mapping[str, str]) -> None:
    """Give buffers and locks the names that they have where the chain is started."""
    for bd in bds:
        bd.buffer = arguments.get(bd.buffer, bd.buffer)
        bd.acquire, bd.release = (
            use and use._replace(lock=arguments.get(use.lock, use.lock)) for use in (bd.acquire, bd.release)
        )


def _configured(
    reader: Reader, form: Call, port: tuple[Tile, int, int], bds: list[BdDescription]
) -> SequenceTask:
    """Write the BDs of a task."""
    tile, direction, channel = port
    if not bds:
        raise form.error("the task has no BD", "aie.dma_bd in its region", reason="mlir_bds")
    if tile.kind.role != "interface":
        raise_if(bd_problems(reader.made.device, bds), InputFileError)
    repeat, token = form.integer("repeat_count", 0), bool(form.attributes.get("issue_token", False))
    chain = ChainDescription(
        form.result, form.direction(direction), channel, bds, form.operation, repeat, token
    )
    task = SequenceTask(chain, tile, runs=repeat + 1)
    task.numbers = [reader.free_bd(form, tile, channel, bd.number) for bd in bds]
    reader.values[form.result] = task
    for n, bd in enumerate(bds):
        following = None if bd.next is None else task.numbers[bd.next]
        _task_bd(reader, form, task, bd, (task.numbers[n], following))
    return task


def _task_bd(
    reader: Reader, form: Call, task: SequenceTask, bd: BdDescription, numbers: tuple[int, int | None]
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
    start = source.offset + (bd.offset + offset_of(reader, OperationForm(bd.operation))) * element_bytes(
        form, source.shape
    )
    linear, bd.offset = contiguous(levels), 0
    if linear:
        bd.levels = ()
        bd.length = bd.length if bd.length is not None else prod(n for n, _ in levels)
    made = descriptor(
        bd,
        tile.kind,
        BufferPlace(0, source.shape),
        dma_locks(reader.made, tile),
        numbers[1],
        cache=reader.habits.cache,
    )
    write_bd(reader, form, tile, number, list(encode(made, number)))
    patch(reader, form, tile, number, source.argument, start)


def start_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_start_task(%t)``."""
    _start(reader, form, _task(reader, form))


def _start(reader: Reader, form: Call, task: SequenceTask) -> None:
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


def _task(reader: Reader, form: Call) -> SequenceTask:
    found = reader.values.get(form.values[0])
    if not isinstance(found, SequenceTask):
        raise form.error(f"{form.values[0]} is no task", "what aiex.dma_configure_task gives")
    return found
