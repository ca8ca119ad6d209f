"""What transfers and tasks of a host sequence touch: elements of an argument, or of a buffer of a tile."""

from __future__ import annotations

from memtile.design.tile import Tile
from memtile.importers.mlir.description import BdDescription
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.moves import MovedMemory, memory_of_buffer, move_of_bd, move_of_transfer
from memtile.importers.mlir.sequence.bd_lowering import Pattern
from memtile.importers.mlir.sequence.sequence_reader import ArgumentView, Call, Reader, place_of


def note_transfer(
    reader: Reader, form: Call, tile: Tile, port: tuple[int, int], view: ArgumentView, pattern: Pattern
) -> None:
    """Keep what an ``aiex.npu.dma_memcpy_nd`` touches.

    Args:
        reader: that reads it.
        form: of it.
        tile: of its channel.
        port: direction and number of that.
        view: what it moves.
        pattern: in elements of the view.
    """
    lists, memory = (pattern.sizes[::-1], pattern.strides[::-1]), _argument(reader, form, view)
    reader.note(move_of_transfer(tile, port, *lists, pattern.offset, memory, place_of(form)))


def note_task(
    reader: Reader, form: OperationForm, tile: Tile, port: tuple[int, int], bd: BdDescription, number: int
) -> None:
    """Keep what a BD of a task touches."""
    view = reader.values.get(bd.buffer)
    memory = (
        _argument(reader, form, view)
        if isinstance(view, ArgumentView)
        else memory_of_buffer(reader.made.device.buffers[bd.buffer])
    )
    if bd.iteration is None:
        reader.note(move_of_bd(tile, port, bd, number, memory, place_of(form)))


def _argument(reader: Reader, form: OperationForm, view: ArgumentView) -> MovedMemory:
    """The argument that a view is a part of, up to the end of a part without gaps, in its elements."""
    size, whole = element_bytes(form, view.shape), reader.shapes[view.argument]
    first, elements = view.offset // size, whole.elements
    if elements >= 0:
        elements = elements * element_bytes(form, whole) // size
    part = 0 <= view.shape.elements < elements and not view.shape.layout
    end = first + view.shape.elements if part else elements
    return MovedMemory(f"argument {view.argument}", view.argument, end, view.shape, first, loose=not part)
