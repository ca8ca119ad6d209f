"""The descriptors and host transfers of a text, with the elements of their memory that they touch."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from math import prod
from typing import NamedTuple

from memtile.arch.tiles import DIRECTIONS, MAX_DIMENSIONS
from memtile.design.tile import Tile
from memtile.explain.moves import Move
from memtile.explain.names import called
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription, BufferDescription, Level
from memtile.importers.mlir.types import Shaped

_Port = tuple[int, int]  # direction and number


class MovedMemory(NamedTuple):
    """What a BD or a transfer moves.

    Attributes:
        name: for messages.
        key: of the memory, whose name need not be unique.
        elements: of it, of the type that moves; below 0 = nobody knows.
        shape: as the text has it.
        offset: elements before what the BD counts from.
        loose: what a host passes may be larger.
    """

    name: str
    key: Hashable
    elements: int
    shape: Shaped
    offset: int = 0
    loose: bool = False


def moves_of(made: Configured) -> Iterator[Move]:
    """The moves of the chains of a device."""
    for chain in made.device.chains:
        port = (DIRECTIONS.index(chain.direction), chain.channel)
        for bd in chain.bds:
            buffer = made.device.buffers.get(bd.buffer)
            if buffer is not None and bd.iteration is None:
                tokens = bd.operation.tokens
                place = tokens.text.where(tokens.offset(bd.operation.at))
                yield move_of_bd(made.tiles[chain.tile], port, bd, bd.number, memory_of_buffer(buffer), place)


def memory_of_buffer(buffer: BufferDescription) -> MovedMemory:
    """A buffer of a tile, or of external memory."""
    return MovedMemory(f"buffer {buffer.name!r}", id(buffer), buffer.shape.elements, buffer.shape)


def move_of_bd(
    tile: Tile, port: _Port, bd: BdDescription, number: int | None, memory: MovedMemory, place: str
) -> Move:
    """The move of a BD.

    Args:
        tile: of its channel.
        port: direction and number of that.
        bd: as the text has it.
        number: that it has got; None of a transfer.
        memory: its buffer or argument.
        place: where the text says it.
    """
    length = memory.shape.elements if bd.length is None else bd.length
    levels = bd.levels or [Level(max(length, 0), 1)]
    sizes = tuple(level.size for level in levels)
    strides = tuple(level.stride for level in levels)
    whole = len(levels) == MAX_DIMENSIONS or length >= prod(sizes)  # the outermost of a task is its repeats
    move = move_of_transfer(tile, port, sizes, strides, bd.offset, memory, place)
    return (
        move if number is None and whole else replace(move, number=number, length=None if whole else length)
    )


def move_of_transfer(
    tile: Tile,
    port: _Port,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    memory: MovedMemory,
    place: str,
) -> Move:
    """The move of a transfer of a host.

    Args:
        tile: of its channel.
        port: direction and number of that.
        sizes: outermost first.
        strides: in elements, as many.
        offset: first element.
        memory: that it is of.
        place: where the text says it.
    """
    direction, channel = port
    return Move(
        who=called(tile.engine, (tile.s2mm, tile.mm2s)[direction][channel].index),
        number=None,
        memory=memory.name,
        key=memory.key,
        elements=memory.elements,
        rows=_rows(memory.shape),
        offset=memory.offset + offset,
        sizes=sizes,
        strides=strides,
        writes=DIRECTIONS[direction] == "S2MM",
        place=place,
        loose=memory.loose,
    )


def _rows(shape: Shaped) -> tuple[int, ...]:
    """Elements inside each dimension of a type, outermost first."""
    return tuple(prod(shape.shape[at + 1 :]) for at in range(len(shape.shape)))
