"""A design and what its text is read as: registers, memories, host, and the steps of cores, compared.

What mlir-aie says in another way is no difference: a BD that goes through memory in order without dimensions,
TLAST on circuits (each of its BDs ends with one), tokens of tasks that the sequence awaits and their way
through the switch, events of cores (read as nothing), and places of buffers in memories whose beginning the
stack takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import memtile
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.bd.codec import decode
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.tile import Tile
from memtile.importers.design import load_still
from memtile.importers.kernels.user_functions import called_by
from memtile.importers.loaded import Loaded
from memtile.mlir_writer.machine import SwitchSettings, channel_work, switch_settings
from memtile.mlir_writer.python_kernels import LockAction, Work, record, recorded_actions
from memtile.runs.core_kernels import attached
from memtile.runs.operations import BlockWrite, MaskWrite, Other, Write, locate
from memtile.sim.kernels.actions import LockOperation
from memtile.sim.kernels.kernel_core import Core
from support.mlir.machines import machine

Pushes = dict[tuple[Any, int], list[Any]]
"""A chain and its runs for each push, by place of the tile and number of the channel, S2MM first."""


def differences(made: Array, text: str, path: Path, *, hosts: bool = False) -> list[str]:
    """What is not the same.

    Args:
        made: a design that has not run.
        text: that it was written as.
        path: where the text may be written.
        hosts: the design has host sequences; it is run to see what they do.
    """
    path.write_text(text, encoding="utf-8")
    read = load_still(path)
    found = [f"{place} {part}" for place, part in _parts(made, read.array)]
    wanted = _queued(made)
    cores = _cores(made)
    most = max((len(steps) for steps in cores.values()), default=0) + 1
    ours = _read_cores(path, most)
    if {*cores} != {*ours}:
        found.append("other cores")
    for place, steps in cores.items():
        is_endless = record(made, place, attached(made.engine)[place]).endless
        its = ours.get(place, [])
        if its[: len(steps)] != steps or (len(its) > len(steps)) != is_endless:
            found.append(f"core {place}")
    if hosts:
        _append(wanted, _of_hosts(made))
    got = _sequence(read)
    found += [f"tasks of {port}" for port in {*wanted, *got} if wanted.get(port) != got.get(port)]
    return found


def _is_queued(work: Any) -> bool:
    tokens = any(task.token for task in work.tasks)
    return work.tile.kind.role == "interface" or len(work.tasks) > 1 or tokens


def _parts(made: Array, read: Array) -> Iterator[tuple[Any, str]]:
    one, other = machine(made, addresses=False), machine(read, addresses=False)
    for place in {*one, *other}:
        for part in ("locks", "memory"):
            mine, its = (each.get(place, {}).get(part) for each in (one, other))
            if (mine or None) != (its or None):
                yield place, part
    for place in {*one, *other}:
        if _switch(made.tile(*place)) != _switch(read.tile(*place)):
            yield place, "switch"
    first, second = (_static(each) for each in (made, read))
    yield from ((port, "work") for port in {*first, *second} if first.get(port) != second.get(port))


def _switch(tile: Tile) -> SwitchSettings:
    """Settings without the way of an interface tile's tokens, which mlir-aie adds."""
    found = switch_settings(tile)
    tokens = ("CTRL0", "SOUTH0")
    return replace(found, circuits=tuple(each for each in found.circuits if each != tokens))


def _static(array: Array) -> Pushes:
    return {
        port: tasks
        for port, (work, tasks) in ((_port(w), (w, _tasks(w, array))) for w in _works(array))
        if not _is_queued(work)
    }


def _works(array: Array) -> Iterator[Any]:
    for tile in array.tiles:
        yield from channel_work(tile, without_bench=True)


def _port(work: Any) -> tuple[Any, int]:
    return work.tile.place, work.direction * work.tile.kind.channels + work.channel


def _tasks(work: Any, array: Array) -> list[Any]:
    return [(_chain(work.chain(task), work.tile, array), task.runs) for task in work.tasks]


def _queued(array: Array) -> Pushes:
    return {_port(work): _tasks(work, array) for work in _works(array) if _is_queued(work)}


def _chain(chain: Sequence[tuple[int, Descriptor]], tile: Tile, array: Array) -> list[Any]:
    """Descriptors in order, each with the place of the next one, without their numbers."""
    order = [number for number, _ in chain]
    return [
        (None if bd.next is None else order.index(bd.next), *said(bd, where(bd, tile, array)))
        for _, bd in chain
    ]


def where(bd: Descriptor, tile: Tile, array: Array) -> Any:
    """The buffer in which a descriptor begins, by its number in its tile, and the first byte in it."""
    address = int(bd.address) * WORD_BYTES
    if tile.kind.role == "interface":
        every = [
            (n, each.address, each.array.nbytes)
            for n, each in enumerate(array.engine.external.buffers.values())
        ]
        return next((n, address - at) for n, at, size in every if at <= address < at + size)
    assert tile.place is not None
    for window, first in tile.kind.memory_windows.items():
        if first <= address < first + tile.kind.memory_bytes:
            column, row = tile.place
            owner = array.tile(column + {"west": -1, "own": 0, "east": 1}[window], row)
            local = address - first
            for number, each in enumerate(owner.buffers):
                if each.offset <= local < each.offset + each.words * WORD_BYTES:
                    return owner.place, number, local - each.offset
    return address


def said(bd: Descriptor, start: Any) -> tuple[Any, ...]:
    """What a descriptor says, without its number and in one form of several that are the same."""
    dims = _dims(bd)
    packet = bd.packet if bd.packet is not None else None
    iteration = bd.iteration if bd.iteration.wrap > 1 else None
    locks = (
        tuple(bd.acquire) if bd.acquire.enable else None,
        tuple(bd.release) if bd.release.value else None,
    )
    axi = bd.axi._replace(cache=0) if bd.tile in TILE_KINDS and bd.kind.role == "interface" else None
    return (
        start,
        bd.length,
        dims,
        tuple(bd.pad) if any(map(any, bd.pad)) else (),
        packet,
        iteration,
        locks,
        axi,
        bd.compression,
    )


def _dims(bd: Descriptor) -> tuple[tuple[int, int], ...]:
    """Dimensions as runs: neighbours that are one run are one, and the last one goes to the end."""
    pads = [*bd.pad, *[(0, 0)] * 4]
    if any(map(any, pads)):
        run, found = 1, []
        for (step, wrap), pad in zip(bd.dims, pads, strict=False):
            wrap = wrap or bd.length // run - sum(pad)
            run *= wrap + sum(pad)
            found.append((step, wrap))
        return tuple(found)
    found = []
    run = 1
    for step, wrap in bd.dims or ((1, 0),):
        if run >= bd.length:
            break
        wrap = min(wrap or bd.length // run, -(-bd.length // run))
        run *= wrap
        if wrap == 1:
            continue
        if found and step == found[-1][0] * found[-1][1]:
            found[-1] = (found[-1][0], found[-1][1] * wrap)
        else:
            found.append((step, wrap))
    return tuple(found)


# cores ---------------------------------------------------------------------------------------------------


def _cores(made: Array) -> dict[Any, list[Any]]:
    """Locks and buffers of calls of each core, in order; buffers by number in their tile."""
    found = {}
    for place, kernel in attached(made.engine).items():
        steps: list[Any] = []
        for each in recorded_actions(made, place, kernel):
            if isinstance(each, Work):
                parts = [_number(made.tile(*p.place), p.first) for p in each.parts]
                steps.append(list(dict.fromkeys(parts)))
            elif isinstance(each, LockAction):
                steps.append(tuple(each))
        found[place] = steps
    return found


def _number(tile: Tile, at: int) -> Any:
    return tile.place, next(
        n for n, each in enumerate(tile.buffers) if each.offset <= at < each.offset + each.words * WORD_BYTES
    )


def _read_cores(path: Path, most: int) -> dict[Any, list[Any]]:
    """The same of the cores of a text, whose functions are noted."""
    described = load_still(path).configured.device
    names = {name for core in described.cores for name in called_by(described, core.operation)}
    log: list[Any] = []
    loaded = memtile.load(path, functions={name: _noting(log) for name in names})
    array, found = loaded.array, {}
    for place, kernel in loaded.kernels.items():
        log.clear()
        found[place] = _walked(array, place, kernel, log, most)
    return found


def _noting(log: list[Any]) -> Callable[..., None]:
    def function(*given: np.ndarray[Any, Any]) -> None:
        log.append([each.__array_interface__["data"][0] for each in given])

    return function


def _walked(array: Array, place: Any, kernel: Any, log: list[Any], most: int) -> list[Any]:
    state, steps = array.engine.state, []
    core = Core(state, array.compute_tile(*place).index, "read")
    for action in kernel(core):
        steps += log
        log.clear()
        if isinstance(action, LockOperation):
            steps.append(_lock(array, core, action))
        if len(steps) > most:
            break
    steps += log
    log.clear()
    return [_buffers(array, each) if isinstance(each, list) else each for each in steps]


def _lock(array: Array, core: Core, action: LockOperation) -> Any:
    from memtile.arch.core import CORE, SIDES
    from memtile.arch.tiles import COMPUTE

    side, first = next(
        (s, at) for s, at in CORE.lock_windows.items() if at <= action.lock < at + COMPUTE.locks
    )
    tiles = array.engine.spec.tiles
    owner = int(tiles.core_reach[core.tile][SIDES.index(side)])
    place = int(tiles.column[owner]), int(tiles.row[owner])
    kind = ("Acquire" if action.value >= 0 else "AcquireGreaterEqual") if action.acquire else "Release"
    return tuple(LockAction(place, action.lock - first, kind, abs(action.value)))


def _buffers(array: Array, pointers: Sequence[int]) -> list[Any]:
    memory = array.engine.state.memory
    start = memory.__array_interface__["data"][0]
    bases = array.engine.spec.tiles.memory_base
    found = []
    for pointer in pointers:
        for tile in array.tiles:
            local = pointer - start - int(bases[tile.index]) * WORD_BYTES
            if tile.kind.role != "interface" and 0 <= local < tile.kind.memory_bytes:
                found.append(_number(tile, local))
    return found


# hosts ---------------------------------------------------------------------------------------------------


def _append(wanted: Pushes, more: Pushes) -> None:
    for port, tasks in more.items():
        wanted.setdefault(port, []).extend(tasks)


def _of_hosts(made: Array) -> Pushes:
    """What host sequences start while the design runs; it has run afterwards."""
    found: Pushes = {}
    kept = Channel._start

    def noted(channel: Channel, plan: Any, transfers: Any, **named: Any) -> Any:
        numbers = kept(channel, plan, transfers, **named)
        local = (0 if channel.receives else channel.tile.kind.channels) + channel.number
        for _ in range(plan.times):
            rest = numbers
            for entry, chain in zip(plan.tasks, plan.linked(numbers), strict=True):
                mine, rest = rest[: len(chain)], rest[len(chain) :]
                told = _chain(list(zip(mine, chain, strict=True)), channel.tile, made)
                found.setdefault((channel.tile.place, local), []).append((told, entry.runs))
        return numbers

    Channel._start = noted  # type: ignore[method-assign,assignment]
    try:
        made.run(data=False)
    finally:
        Channel._start = kept  # type: ignore[method-assign]
    return found


@dataclass
class _Words:
    """Registers that a sequence has written."""

    words: dict[int, int] = field(default_factory=dict)
    arguments: dict[int, tuple[int, int]] = field(default_factory=dict)


def _sequence(read: Loaded) -> Pushes:
    """What the host sequence of a text tells channels."""
    if read.sequence is None:
        return {}
    kept, found = _Words(), Pushes()
    for step in read.sequence.steps:
        if isinstance(step, BlockWrite):
            for n, word in enumerate(step.words):
                kept.words[step.address + WORD_BYTES * n] = word
        elif isinstance(step, MaskWrite):
            kept.words[step.address] = kept.words.get(step.address, 0) & ~step.mask | step.value & step.mask
        elif isinstance(step, Write):
            _pushed(read.array, kept, step, found)
        elif isinstance(step, Other) and step.name == "DDR_PATCH":
            details = dict(step.details)
            kept.arguments[details["address"]] = details["argument"], details["offset"]
    return found


def _pushed(array: Array, kept: _Words, step: Write, found: Pushes) -> None:
    column, row, offset = locate(step.address)
    tile = array.tile(column, row)
    local, rest = divmod(offset - tile.kind.queue_base, tile.kind.channel_stride)
    if rest or not 0 <= local < 2 * tile.kind.channels:
        kept.words[step.address] = step.value
        return
    from memtile.arch.register_map import register_at

    register = register_at(tile.kind.name, offset)
    assert register is not None
    fields = register.unpack(step.value)
    chain: dict[int, tuple[Descriptor, Any]] = {}
    number: int | None = fields["Start_BD_ID"]
    base = step.address - offset
    while number is not None and number not in chain:
        at = base + tile.kind.bd_base + number * tile.kind.bd_stride
        words = [kept.words[at + WORD_BYTES * n] for n in range(tile.kind.bd_words)]
        bd = decode(tile.kind.name, words, number)
        start = (
            kept.arguments.get(at + WORD_BYTES) if tile.kind.role == "interface" else where(bd, tile, array)
        )
        chain[number] = bd, start
        number = bd.next
    order = [*chain]
    told = [
        (None if bd.next is None else order.index(bd.next), *said(bd, start)) for bd, start in chain.values()
    ]
    found.setdefault((tile.place, local), []).append((told, fields["Repeat_Count"] + 1))
