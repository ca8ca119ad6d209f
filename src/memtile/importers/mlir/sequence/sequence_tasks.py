"""Tasks: chains of BDs that a sequence configures, starts, awaits and frees (mlir-aie, AIEDMATasksToNPU)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod

from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.design.tile import Tile
from memtile.errors import InputFileError, raise_if
from memtile.importers.mlir.configure import memory_of, seen_lock
from memtile.importers.mlir.description import BdDescription
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.memory_forms import bd as bd_form
from memtile.importers.mlir.forms.operand_faults import operation_error
from memtile.importers.mlir.forms.operands import OperationForm, packet_of
from memtile.importers.mlir.references import bd_problems
from memtile.importers.mlir.sequence.bd_lowering import (
    INNER,
    Pattern,
    bd_words,
    checked,
    hardware,
    header_fields,
    is_linear,
    length_fields,
)
from memtile.importers.mlir.sequence.bd_numbers import START
from memtile.importers.mlir.sequence.runtime_values import hidden_numbers
from memtile.importers.mlir.sequence.scratchpad_forms import offset_of
from memtile.importers.mlir.sequence.sequence_moves import note_task
from memtile.importers.mlir.sequence.sequence_reader import (
    ArgumentView,
    Call,
    Reader,
    SequenceTask,
    place_of,
)
from memtile.importers.mlir.sequence.steps import patch, push, set_address, wait, whole_words, write_bd
from memtile.importers.mlir.sequence.task_blocks import canonical, task_bds, task_pattern
from memtile.importers.mlir.types import Shaped

_BITS = 8
_REASON = "mlir_pattern"
_CONFIGURE = "aiex.dma_configure_task"
_OPERANDS = ("tile", "repeat", "bd_id")
_MOST_PUSHES = 256
"""Of a task; mlir-aie has a limit of its own."""
_Port = tuple[Tile, int, int]
_Packet = tuple[int, int] | None


def configure_task(reader: Reader, form: Call) -> None:
    """``%t = aiex.dma_configure_task(%tile, MM2S, 0) { .. }``, or ``_for @allocation``."""
    if form.operation.name.endswith("_for"):
        name = str(form.attributes.get("alloc") or form.symbol)
        port, packet = form.allocated(name), reader.made.device.allocations[name].packet
    else:
        port, packet = form.channel(), packet_of(form.attributes.get("packet"))
        for item in [] if form.generic else form.items()[3:]:
            packet = packet_of(form.value(item))
    bds, first = task_bds(form, form.regions[0], reader.values)
    _configured(reader, form, (port, packet), bds, first)


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
    if form.operation.name.endswith("_for"):
        symbols = [word[1:].strip('"') for word in form.operation.words if word[:1] == "@"]
        port = form.allocated(str(form.attributes.get("alloc") or symbols[-1]))
    else:
        port = form.channel(-1, 2)  # behind the arguments and their types
        given = given[:-1]
    parameters = [parameter for parameter, _ in region.blocks[0].arguments]
    if len(parameters) != len(given):
        says = f"{len(given)} arguments for {len(parameters)}"
        raise form.error(says, f"as many as chain {name} has", reason="mlir_chain")
    bds, first = task_bds(form, region, reader.values)
    _bind(bds, dict(zip(parameters, given, strict=True)))
    task = _configured(reader, form, (port, None), bds, first)
    _start(reader, form, task, task.runs, token=task.token)


def _bind(bds: Iterable[BdDescription], arguments: Mapping[str, str]) -> None:
    """Give buffers and locks the names that they have where the chain is started."""
    for bd in bds:
        bd.buffer = arguments.get(bd.buffer, bd.buffer)
        bd.acquire, bd.release = (
            use and use._replace(lock=arguments.get(use.lock, use.lock)) for use in (bd.acquire, bd.release)
        )


def _configured(
    reader: Reader, form: Call, target: tuple[_Port, _Packet], bds: list[BdDescription], first: int
) -> SequenceTask:
    """Write the BDs of a task."""
    (tile, direction, channel), packet = target
    if tile.kind.role != "interface":
        raise_if(bd_problems(reader.made.device, bds), InputFileError)
    size = element_bytes(form, _shape(reader, bds[0]))
    if not any(_is_open(reader, bd) for bd in bds):
        bds = canonical(tile.kind, size * _BITS, bds)
    repeat = _operand(form, "repeat")
    repeat = form.integer("repeat_count", 0) if repeat is None else repeat
    task = SequenceTask(reader.made, tile, (direction, channel), (), 0, repeat + 1)
    task.line, task.where = form.operation.line, place_of(form)
    task.name, task.operation = f"{form.result} (line {task.line})", form.operation
    reader.tasks.append(task)
    task.token = bool(form.attributes.get("issue_token", False))
    task.lines = {bd.number: bd.operation.line for bd in bds if bd.number is not None}
    numbers = _numbers(reader, form, task, bds)
    task.numbers, task.first = numbers, numbers[first]
    reader.values[form.result] = task
    for bd, number in zip(bds, numbers, strict=True):
        following = None if bd.next is None else numbers[bd.next]
        _lower(reader, task, replace(bd, packet=bd.packet or packet), number, following)
    return task


def _numbers(reader: Reader, form: Call, task: SequenceTask, bds: list[BdDescription]) -> list[int]:
    """The numbers of a task's BDs, in the order of the text."""
    drawn, tile, channel = _operand(form, "bd_id"), task.tile, task.port[1]
    task.drawn, task.pooled = drawn is not None, drawn is None and reader.rolled
    if (task.drawn or task.pooled) and (len(bds) > 1 or bds[0].number is not None):
        says = "its BD is one of a pool, as a loop or a branch depends on a number of the host"
        raise form.error(says, "one aie.dma_bd without bd_id", reason="mlir_bds")
    if drawn is not None or task.pooled:
        numbers = [drawn if drawn is not None else _draw(reader, form, tile)]
    else:
        wanted = [bd.number for bd in bds]
        numbers = reader.bds.take(form, tile, channel, wanted, reader.static_bds(tile), task)
    bank = tile.kind.bd_bank(channel)
    for number in numbers:
        if number not in bank:
            allowed = f"{bank.start}..{bank.stop - 1}"
            says = f"channel {channel} of the {tile.title} reaches BDs {allowed}, not BD {number}"
            raise form.error(says, allowed, reason="mlir_bds", given=str(number))
    return numbers


def _operand(form: Call, name: str) -> int | None:
    """The number that a task has as an operand; None if it has none."""
    words, called = form.operation.words, form.operation.name
    if called == START and form.generic:
        return form.whole(form.values[1]) if len(form.values) > 1 else None
    if not called.startswith((_CONFIGURE, START)):
        return None
    if not form.generic:
        return form.whole(words[words.index(name) + 1]) if name in words[:-1] else None
    if called.endswith("_for"):
        return form.whole(form.values[0]) if name == "repeat" and form.values else None
    if "operandSegmentSizes" not in form.attributes:
        return None
    many, place = form.integers("operandSegmentSizes"), _OPERANDS.index(name)
    return form.whole(form.values[sum(many[:place])]) if many[place] else None


def _shape(reader: Reader, bd: BdDescription) -> Shaped:
    found = reader.values.get(bd.buffer)
    if isinstance(found, ArgumentView):
        return found.shape
    if bd.buffer in reader.made.device.buffers:
        return reader.made.device.buffers[bd.buffer].shape
    says = f"{bd.buffer} is neither a buffer nor an argument of the sequence, nor a part of one"
    raise OperationForm(bd.operation).error(says, "aie.buffer, or an argument", reason="mlir_buffer")


def _lower(reader: Reader, task: SequenceTask, bd: BdDescription, number: int, following: int | None) -> None:
    """Write a BD and its address."""
    form, kind = OperationForm(bd.operation, reader.values), task.tile.kind
    shape, open_ = _shape(reader, bd), _is_open(reader, bd) or task.drawn or task.pooled
    if open_ and (kind.role != "interface" or bd.padding or bd.length is None):
        says = "a BD with a number of the host is one of an interface tile, has a len and no padding"
        raise form.error(says, "constants", reason=_REASON)
    size = element_bytes(form, shape)
    length = shape.elements if bd.length is None else bd.length
    whole_words(form, bd.offset * size)
    fields = length_fields(form, kind, length * size)
    words = fields["buffer_length"]
    fields |= _cache(form, kind)
    fields |= {"buffer_offset": bd.offset * size, "burst_length": bd.burst or 0} | _padding(
        form, kind, task, bd
    )
    fields |= _locks(reader, form, task.tile, bd) | (header_fields(bd.packet) if bd.packet else {})
    fields |= _following(form, kind, following)
    if bd.levels:
        fields |= _pattern(reader, form, kind, bd, (size, words if not open_ else 0))
    write_bd(reader, form, task.tile, number, bd_words(form, kind, fields, reader.habits.cache))
    extra = (bd.offset + offset_of(reader, form)) * size
    source = reader.values.get(bd.buffer)
    note_task(reader, form, task.tile, task.port, bd, number)
    if isinstance(source, ArgumentView) and kind.role == "interface":
        patch(reader, form, task.tile, number, source.argument, source.offset + extra)
    elif isinstance(source, ArgumentView) or kind.role == "interface":
        says = f"the DMA of the {task.tile.title} does not reach {bd.buffer}"
        allowed = "arguments in tasks of interface tiles, buffers in those of other tiles"
        raise form.error(says, allowed, reason="mlir_reach")
    else:
        set_address(reader, form, task.tile, number, memory_of(reader.made, task.tile, bd).address + extra)


def _cache(form: OperationForm, kind: TileKind) -> dict[str, int]:
    """AxCache, if an interface tile's BD says one."""
    said = kind.role == "interface" and "axcache" in form.attributes
    return {"axcache": form.integer("axcache")} if said else {}


def _is_open(reader: Reader, bd: BdDescription) -> bool:
    """Whether a BD has a number that the compiler leaves to the host."""
    return not reader.runtime.isdisjoint(OperationForm(bd.operation).values)


def _pattern(
    reader: Reader, form: OperationForm, kind: TileKind, bd: BdDescription, moved: tuple[int, int]
) -> dict[str, int]:
    """The fields of sizes and strides, whose inner dimensions are one run, of any length for 0 words."""
    size, words = moved
    pattern, known = task_pattern(bd), bd
    if not words:
        hidden = reader.values | dict(hidden_numbers(reader.runtime))
        known = bd_form(bd.operation, hidden)
    linear = is_linear(kind, task_pattern(known))
    found = checked(form, kind, size * _BITS, pattern, linear=linear)
    run = prod(hardware(size * _BITS, pattern)[0][:INNER])
    if words and run != words:
        raise _length_error(reader, bd, pattern, words * WORD_BYTES, run * WORD_BYTES, size)
    return found


def _length_error(
    reader: Reader, bd: BdDescription, pattern: Pattern, given: int, run: int, element: int
) -> InputFileError:
    """A len that is not one run, of the sizes in the text or of those that fit a BD (in bytes)."""
    form = OperationForm(bd.operation, reader.values)
    if bd.levels == bd_form(bd.operation, reader.values).levels:
        says = f"its length is {given} bytes, its inner three sizes make {run}"
        step = (
            "Leave the outermost of four sizes out of len: it is the iteration; repeat_count alone repeats."
        )
        return form.error(says, "a len of one run", reason=_REASON, step=step)
    sizes = [*reversed(pattern.sizes)]
    says = (
        f"its sizes are too large for a BD, which takes them as {sizes}; the outermost is the iteration, "
        f"so a run is {run} bytes, and its length is {given}"
    )
    step = (
        f"Write sizes = {sizes}, strides = {[*reversed(pattern.strides)]}, len = {run // element} and "
        f"repeat_count = {sizes[0] - 1}, or smaller sizes."
    )
    return form.error(says, "a len of one run", reason=_REASON, step=step)


def _padding(form: OperationForm, kind: TileKind, task: SequenceTask, bd: BdDescription) -> dict[str, int]:
    """The fields of padding, innermost dimension first."""
    if not bd.padding:
        return {}
    if kind.role != "memory" or task.port[0] == 0:
        says = f"it has padding on a channel of the {task.tile.title}"
        raise form.error(says, "MM2S channels of memory tiles", reason="mlir_padding")
    if len(bd.padding) > len(bd.levels):
        says = f"it has {len(bd.padding)} paddings for {len(bd.levels)} sizes"
        raise form.error(says, "one for each size at most", reason="mlir_padding")
    found = dict[str, int]()
    for inner, (before, after) in enumerate(list(reversed(bd.padding))[:INNER]):
        found |= {f"d{inner}_zero_before": before, f"d{inner}_zero_after": after}
    for name, value in found.items():
        most = kind.bd_fields[f"D{name[1]}_Zero_{name.rpartition('_')[2].title()}"].maximum
        if not 0 <= value <= most:
            says = f"its padding is {value}; dimension {name[1]} from inside has 0..{most}"
            raise form.error(says, f"0..{most}", reason="mlir_padding", given=str(value))
    return found


def _locks(reader: Reader, form: OperationForm, tile: Tile, bd: BdDescription) -> dict[str, int]:
    """The fields of an acquire and a release."""
    if bd.acquire is None or bd.release is None:
        return {}
    acquired, released = (seen_lock(reader.made, tile, form, use) for use in (bd.acquire, bd.release))
    value = bd.acquire.value if bd.acquire.action == "acquire" else -bd.acquire.value
    for name, given in (("Lock_Acq_Value", value), ("Lock_Rel_Value", bd.release.value)):
        field = tile.kind.bd_fields[name]
        if not field.minimum <= given <= field.maximum:
            says = f"its lock value is {given}; a BD has {field.minimum}..{field.maximum} ({name})"
            raise form.error(says, f"{field.minimum}..{field.maximum}", reason="mlir_lock", given=str(given))
    return {
        "lock_acq_enable": 1,
        "lock_acq_id": acquired,
        "lock_acq_val": value,
        "lock_rel_id": released,
        "lock_rel_val": bd.release.value,
    }


def _following(form: OperationForm, kind: TileKind, number: int | None) -> dict[str, int]:
    """The fields of the BD that comes next: that of the next block, or the one that the BD names."""
    if "next_bd_id" in form.attributes:
        if number is not None:
            says = "it has a next_bd_id, and its block an aie.next_bd"
            raise form.error(says, "one of them", reason="mlir_bds")
        number = form.integer("next_bd_id")
        if not 0 <= number < kind.bds:
            says = f"its next_bd_id is {number}; a {kind.title} has BDs 0..{kind.bds - 1}"
            raise form.error(says, f"0..{kind.bds - 1}", reason="mlir_bds", given=str(number))
    return {} if number is None else {"next_bd": number, "use_next_bd": 1}


def start_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_start_task(%t) repeat %n : i32 {no_token}``: its own count counts for this start alone."""
    task = _task(reader, form)
    repeat = _operand(form, "repeat")
    repeat = form.integer("repeat_count", task.runs - 1) if repeat is None else repeat
    _start(reader, form, task, repeat + 1, token=task.token and "no_token" not in form.attributes)


def _start(reader: Reader, form: Call, task: SequenceTask, runs: int, *, token: bool) -> None:
    """Push the first BD of a task, in several pushes if it runs more often than one can say."""
    if task.freed or task.made is not reader.made:
        says = (
            "its BDs were freed before"
            if task.freed
            else "it was configured before another device was loaded"
        )
        raise form.error(says, "a task that is configured", reason="mlir_bds", step="Configure it again.")
    most = task.tile.kind.max_repeat
    task.started += 1
    if not 1 <= runs <= most * _MOST_PUSHES:
        says = f"the task runs {runs} times; {_MOST_PUSHES} pushes of {most} are possible"
        raise form.error(says, f"1..{most * _MOST_PUSHES}", reason="mlir_repeat", given=str(runs))
    while runs > most:
        push(reader, form, task.tile, task.port, task.first, most, token=False)
        runs -= most
    push(reader, form, task.tile, task.port, task.first, runs, token=token)
    if token:
        task.pending += 1
        reader.tokens.setdefault(task.channel, deque()).append(task)


def await_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_await_task(%t)``: the next token of its channel; when it has ended its BDs are free again.

    Raises:
        InputFileError: no task was started on its channel whose token is still to come.
    """
    task = _task(reader, form)
    assert task.tile.place is not None
    if not task.token:
        says = f"task {task.name} reports no end, and line {form.operation.line} awaits it"
        step = f"Add issue_token = true to {task.name}, or await another task."
        at = task.operation or form.operation  # what lacks the token
        raise operation_error(at, says, "a task with issue_token = true", reason="mlir_token", step=step)
    started = reader.tokens.get(task.channel)
    if not task.started:
        says = f"task {task.name} is never started"
        step = "Start it with aiex.dma_start_task."
        raise form.error(says, "a task that is started", reason="mlir_token", step=step)
    if not started:
        says = "the sequence waits forever: no task was started on this channel that a wait has not seen"
        before = reader.awaits.get(task.channel)
        says += f"; line {before} waits for the last one" if before else ""
        step = "Start the task with aiex.dma_start_task before."
        raise form.error(says, "one wait for each start", reason="mlir_token", step=step)
    started.popleft().pending -= 1
    reader.awaits[task.channel] = form.operation.line
    wait(reader, form, task.tile.place, *task.port)
    if not task.pending and not reader.bds.starts_again(form.operation, form.values[0]):
        _give_back(reader, form, task, again=True)
        task.awaited = True


def free_task(reader: Reader, form: Call) -> None:
    """``aiex.dma_free_task(%t)``: its BDs are free again."""
    task = _task(reader, form)
    _give_back(reader, form, task, again=task.awaited)
    task.freed = True


def _give_back(reader: Reader, form: Call, task: SequenceTask, *, again: bool) -> None:
    if task.pooled and not task.awaited and not task.freed:
        reader.bds.pool(task.tile).extend(task.numbers)
    elif not task.drawn and not task.pooled:
        reader.bds.give_back(form, task.tile, task.numbers, task, again=again)


def draw_bd(reader: Reader, form: Call) -> None:
    """``%b = aiex.dma_bd_pool_pop(0, 0) : i32``: a BD that nothing has."""
    tile = reader.tile(form.number("column", 0), form.number("row", 1))
    reader.values[form.result] = _draw(reader, form, tile)


def _draw(reader: Reader, form: Call, tile: Tile) -> int:
    pool = reader.bds.pool(tile)
    if not pool:
        says = f"the pool of the {tile.title} is empty"
        raise form.error(says, "a BD that was given back", reason="mlir_bds")
    return pool.pop()


def return_bd(reader: Reader, form: Call) -> None:
    """``aiex.dma_bd_pool_push(0, 0) bd_id %b : i32``."""
    tile = reader.tile(form.number("column", 0), form.number("row", 1))
    reader.bds.pool(tile).append(form.whole(form.values[0]))


def _task(reader: Reader, form: Call) -> SequenceTask:
    found = reader.values.get(form.values[0])
    if not isinstance(found, SequenceTask):
        raise form.error(f"{form.values[0]} is no task", "what aiex.dma_configure_task gives")
    return found
