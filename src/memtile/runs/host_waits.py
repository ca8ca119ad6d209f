"""What a program that stopped half way waits for: tasks, tokens or a register; and what it would start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.explain.deadlock.graph import Via
from memtile.explain.deadlock.hosts import HostWaiting
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.runs.operations import MaskPoll, Operation, locate, words_written
from memtile.sim.engine import Engine


def waiting_program(
    engine: Engine, operation: Operation | None, left: Iterable[Operation], text: str, missing: Iterable[int]
) -> HostWaiting:
    """A program that waits.

    Args:
        engine: of the array.
        operation: that it waits at; None = it is not known.
        left: what comes after it.
        text: what the error says.
        missing: channels whose tokens it waits for.
    """
    place = operation.place if operation is not None else ""
    name = f"the program at {place}" if place else "the program"
    says = text.removeprefix(f"{place}, ").removeprefix(f"{place}: ")
    starts = frozenset(_started(engine, left))
    tokens = tuple(missing)
    if tokens:
        return HostWaiting(name, f"{name}: {says}", tokens, Via.TOKEN, starts)
    polled = () if not isinstance(operation, MaskPoll) else tuple(polled_channel(engine, operation.address))
    return HostWaiting(name, f"{name}: {says}", polled, Via.END, starts)


def channel_at(engine: Engine, column: int, row: int, direction: int, number: int) -> int:
    """Model index of a channel; -1 = the model has no such tile."""
    tiles = plain(engine.spec.tiles)
    there = ((tiles.column == column) & (tiles.row == row)).nonzero()[0]
    if not len(there) or not tiles.channels[there[0]]:
        return -1
    tile = int(there[0])
    each = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]].channels
    return int(tiles.channel_base[tile]) + direction * each + number


def _started(engine: Engine, operations: Iterable[Operation]) -> Iterator[int]:
    """Channels to whose queues the operations push tasks."""
    for operation in operations:
        for address, _, _ in words_written(operation):
            yield from _channel_of(engine, address, queue=True)


def polled_channel(engine: Engine, address: int) -> Iterator[int]:
    """The channel whose status register is at a byte address of the array, if there is one."""
    return _channel_of(engine, address, queue=False)


def _channel_of(engine: Engine, address: int, *, queue: bool) -> Iterator[int]:
    column, row, offset = locate(address)
    tiles = plain(engine.spec.tiles)
    there = ((tiles.column == column) & (tiles.row == row)).nonzero()[0]
    if not len(there):
        return
    kind = TILE_KINDS[KIND_NAMES[tiles.kind[there[0]]]]
    for direction in (0, 1):
        for number in range(kind.channels):
            local = direction * kind.channels + number
            at = kind.queue_base + local * kind.channel_stride
            status = kind.status_base[direction] + number * WORD_BYTES
            if offset == (at if queue else status):
                yield channel_at(engine, column, row, direction, number)
