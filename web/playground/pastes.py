"""Orders of elements as people paste them: views of NumPy, and object FIFOs with dimensions."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

import numpy as np

import memtile
from memtile.access.lowering.lower import Lowering, lower
from memtile.access.memref import parse_memref
from memtile.access.views import View
from memtile.arch.tiles import TileName
from memtile.errors import InputFileError
from memtile.report.lowering import Answer
from memtile.report.lowering import answer as lowered

_FIFO = re.compile(
    r"aie\.objectfifo\s+@(\w+)\s*\((.*?)\)\s*:\s*!aie\.objectfifo<\s*(memref<[^<>]*>)", re.DOTALL
)
_DIMENSIONS = re.compile(r"(dimensions(?:To|From)Stream\w*)\s*\[((?:\s*,?\s*<[^<>]*>)+)")
_LOOP = re.compile(r"<\s*size\s*=\s*(\d+)\s*,\s*stride\s*=\s*(\d+)\s*>")
_VIEW = re.compile(r"\b(?:np|numpy|memtile|ml)\.\w|\bview\s*\(")


class Order(NamedTuple):
    """An order of elements.

    Attributes:
        lowering: its descriptors.
        bits: of an element.
        shape: of the buffer.
        text: of the answer; empty = as that of a tiling.
        found: the answer to a tiling; None for a view.
    """

    lowering: Lowering
    bits: int
    shape: tuple[int, ...]
    text: str = ""
    found: Answer | None = None


def is_view(text: str) -> bool:
    """Whether a text is an expression over an array of NumPy or a view."""
    return _VIEW.search(text) is not None and not re.search(r"^\s*(?:def|class)\b", text, re.MULTILINE)


def of_objectfifo(text: str, tile: TileName) -> Order:
    """The first dimensions of an object FIFO.

    Raises:
        InputFileError: the text has no type of elements, or no dimensions.
        TransferError: there are no descriptors for them.
    """
    fifo = _FIFO.search(text)
    if fifo is None:
        says = "the aie.objectfifo has no type; end it with : !aie.objectfifo<memref<16x16xi32>>."
        raise InputFileError(says)
    name, ends, kind = fifo.groups()
    found = _DIMENSIONS.search(ends)
    if found is None:
        raise InputFileError(f"the object FIFO @{name} has no dimensionsToStream: its elements go in order.")
    loops = [(int(size), int(stride)) for size, stride in _LOOP.findall(found[2])]
    buffer, bits = parse_memref(kind)
    access = "read" if "To" in found[1] else "write"
    return _of_loops(f"@{name} {found[1]}", loops, 0, (bits, tuple(buffer.sizes)), tile, access)


def of_view(text: str, tile: TileName) -> Order:
    """The order of a view: the text is run, its last line is the view.

    Raises:
        InputFileError: the text is no Python, or its last line is no array and no view.
        TransferError: there are no descriptors for it.
    """
    value, shapes = _value(text)
    if isinstance(value, np.ndarray):
        return _of_array(value, shapes, tile)
    if not isinstance(value, View):
        raise InputFileError(f"the last line is a {type(value).__name__}; it must be an array or a view.")
    shape = shapes[0] if shapes and int(np.prod(shapes[0])) == value.capacity else (value.capacity,)
    made = lower(value.request(), tile, "read")
    ways = f"{len(made.descriptors)} BD{'s' * (len(made.descriptors) > 1)}"
    says = f"{value.size} of {value.capacity} elements, as {' x '.join(map(str, value.shape))}: {ways}"
    return Order(made, value.element_bits, shape, says)


def _value(text: str) -> tuple[Any, list[tuple[int, ...]]]:
    """The last line of a text, and the shapes that its buffers may have.

    Raises:
        InputFileError: it is no Python, or fails.
    """
    shapes: list[tuple[int, ...]] = []

    def view(shape: Any, *more: Any, **named: Any) -> View:
        shapes.append((shape,) if isinstance(shape, int) else tuple(shape))
        return memtile.view(shape, *more, **named)

    names: dict[str, Any] = {"np": np, "numpy": np, "view": view}
    try:
        tree = ast.parse(re.sub(r"\b(?:memtile|ml)\.view\b", "view", text))
        lines = [line for line in tree.body if not isinstance(line, ast.Import | ast.ImportFrom)]
        for line in lines[:-1]:
            exec(compile(ast.Module([line], []), "view.py", "exec"), names)
        last = lines[-1].value if lines and isinstance(lines[-1], ast.Assign | ast.Expr) else None
        if last is None:
            raise InputFileError("the last line is no expression; end with the view.")
        value = eval(compile(ast.Expression(last), "view.py", "eval"), names)
    except (SyntaxError, NameError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputFileError(f"the view: {type(error).__name__}: {error}.") from None
    shapes += [each.shape for each in names.values() if isinstance(each, np.ndarray)]
    return value, shapes


def _of_array(array: Any, shapes: list[tuple[int, ...]], tile: TileName) -> Order:
    """An array of NumPy as loops over the array that holds its elements.

    Raises:
        InputFileError: it goes backwards.
        TransferError: there are no descriptors for it.
    """
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    fits = [shape for shape in shapes if int(np.prod(shape)) == whole.size]
    shape = max([whole.shape, *fits], key=len)
    size = array.itemsize
    first = (array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // size
    loops = [(n, stride // size) for n, stride in zip(array.shape, array.strides, strict=True)]
    if any(stride < 0 for _, stride in loops):
        raise InputFileError("the array goes backwards along an axis; write view(shape)[::-1] instead.")
    return _of_loops("view", loops, first, (size * 8, tuple(map(int, shape))), tile, "read")


def _of_loops(
    name: str,
    loops: list[tuple[int, int]],
    offset: int,
    buffer: tuple[int, tuple[int, ...]],
    tile: TileName,
    access: str,
) -> Order:
    """Loops, the outermost first, over a buffer of elements of so many bits, in a shape."""
    sizes, strides = [int(size) for size, _ in loops], [int(stride) for _, stride in loops]
    bits, shape = buffer
    memref = {"sizes": sizes, "strides": strides, "offset": int(offset)}
    made = lowered({"name": name, "element_bits": bits, "memref": memref}, 1, tile=tile, access=access)
    if made.error is not None:
        raise made.error
    assert made.lowering is not None
    return Order(made.lowering, bits, shape, found=made)
