"""Pictures of what a descriptor moves, drawn from the walk of the descriptor itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtile import MemoryTile, TilingParameters, TraversingParameters, view
from memtile.access.walk import PAD, Walk, addresses
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import OWN
from support.drawings.sheet import Sheet

FILLS = ("blue", "green", "gold", "violet")


def order_of(descriptor: Descriptor) -> list[int]:
    """The words of the tile's own memory that a descriptor visits, in order; padding is ``PAD``."""
    base = int(OWN.address(0))
    return [at if at == PAD else at - base for at in addresses(Walk.of(descriptor)).tolist()]


def grid(
    sheet: Sheet, x: float, y: float, order: Sequence[int], columns: int, fill: int, cell: int = 34
) -> None:
    """Memory in rows of ``columns`` words, each with its place in the stream."""
    place = {word: n for n, word in enumerate(order)}
    for word in range(fill):
        at_x, at_y = x + word % columns * cell, y + word // columns * cell
        seen = word in place
        shade = FILLS[place[word] // columns % 4] if seen else "plain"
        sheet.box(at_x, at_y, cell - 2, cell - 2, shade, str(place[word]) if seen else "")


def walk() -> Sheet:
    """A transposed read: two dimensions."""
    tile = MemoryTile("npu1")
    image = tile.buffer("image", (6, 6))
    (descriptor,) = tile.read(image, view((6, 6)).T).descriptors
    order = order_of(descriptor)
    sheet = Sheet(640, 270, "The walk of a descriptor that reads a 6 x 6 matrix column by column")
    grid(sheet, 20, 44, order, 6, 36)
    sheet.say(20, 28, "memory: when each word is read", style="bold")
    for n, dim in enumerate((*descriptor.dims, Dim(1))):
        wrap = f"{dim.wrap} times" if dim.wrap else "until the length is used up"
        sheet.box(270, 60 + 60 * n, 340, 44, FILLS[n], f"D{n}: step {dim.step} words, {wrap}")
    sheet.say(270, 200, f"length {descriptor.length} words", style="soft")
    return sheet


def four_dimensions() -> Sheet:
    """Four dimensions: blocks of 2 x 2 words, two beside and two above each other."""
    dims = (Dim(1, 2), Dim(8, 2), Dim(2, 2), Dim(16))
    descriptor = Descriptor("memory", 16, OWN.address(0), dims=dims)
    order = order_of(descriptor)
    sheet = Sheet(700, 220, "Four-dimensional addressing: blocks of 2 x 2 words, from a matrix of 4 x 8")
    place = {word: n for n, word in enumerate(order)}
    sheet.say(20, 28, "memory: when each word is read", style="bold")
    for word in range(32):
        seen = word in place
        fill = FILLS[place[word] // 4] if seen else "plain"
        sheet.box(20 + word % 8 * 36, 44 + word // 8 * 36, 34, 34, fill, str(place[word]) if seen else "")
    texts = ("2 words beside each other", "2 rows of a block", "2 blocks beside each other", "the next rows")
    for n, (dim, text) in enumerate(zip(dims, texts, strict=True)):
        sheet.say(
            330,
            60 + 30 * n,
            f"D{n}: step {dim.step:2}" + (f", wrap {dim.wrap}" if dim.wrap else ""),
            style="bold",
        )
        sheet.say(470, 60 + 30 * n, text)
    sheet.say(
        20,
        208,
        "D0 runs fastest; a counter that reaches its wrap starts again and advances the next.",
        style="soft",
    )
    return sheet


def padding() -> Sheet:
    """The first tile of the tutorial: a halo of zeros."""
    tile = MemoryTile("npu1")
    picture = tile.buffer("picture", (8, 8))
    halo = TilingParameters(
        buffer_dimension=(8, 8),
        tiling_dimension=(6, 6),
        offset=(-1, -1),
        tile_traversal=(TraversingParameters(0, 4, 2), TraversingParameters(1, 4, 2)),
    )
    descriptor = tile.read(picture, halo).descriptors[0]
    order = order_of(descriptor)
    sheet = Sheet(
        600, 300, "Padding: a tile of 6 x 6 at the corner of an image, zeros inserted by the channel"
    )
    sheet.say(20, 28, "image in memory, 8 x 8", style="bold")
    for word in range(64):
        fill = "blue" if word in order else "plain"
        sheet.box(20 + word % 8 * 30, 42 + word // 8 * 30, 28, 28, fill, str(word + 1))
    sheet.arrow([(268, 150), (330, 150)], "MM2S")
    sheet.say(340, 28, "what leaves, 6 x 6", style="bold")
    for n, word in enumerate(order):
        fill, text = ("gold", "0") if word == PAD else ("blue", str(word + 1))
        sheet.box(340 + n % 6 * 30, 72 + n // 6 * 30, 28, 28, fill, text)
    pads = ", ".join(f"D{n}: {pad.before} before" for n, pad in enumerate(descriptor.pad))
    sheet.say(340, 280, f"pad {pads}", style="soft")
    return sheet


def tiles_of_a_tiling() -> Sheet:
    """Four overlapping tiles of the halo tiling and the descriptor that each needs."""
    sheet = Sheet(620, 280, "A tiling with a halo: four tiles of 6 x 6 over an image of 8 x 8")
    for word in range(64):
        sheet.box(60 + word % 8 * 24, 50 + word // 8 * 24, 23, 23, "plain")
    for n, (x, y) in enumerate(((-1, -1), (3, -1), (-1, 3), (3, 3))):
        left, top, wide = 60 + 24 * x, 50 + 24 * y, 24 * 6
        corners = [
            (left, top),
            (left + wide, top),
            (left + wide, top + wide),
            (left, top + wide),
            (left, top),
        ]
        sheet.arrow(corners, tip=False)
        sheet.say(left + 12 + 120 * (n % 2), top + 18 + 118 * (n // 2), f"{n}", "middle", "bold")
        sides = "left" if x < 0 else "right", "top" if y < 0 else "bottom"
        sheet.box(
            330, 30 + 56 * n, 260, 44, FILLS[n], f"tile {n}: BD {n} of the chain\nzeros {' and '.join(sides)}"
        )
    return sheet


def numpy_view() -> Sheet:
    """Every second column of a matrix, as a view and as dimensions."""
    matrix = np.arange(28).reshape(4, 7)
    sheet = Sheet(620, 190, "A NumPy view is a descriptor: every second column of a matrix")
    tile = MemoryTile("npu1")
    buffer = tile.buffer("matrix", matrix.shape)
    (descriptor,) = tile.read(buffer, view(matrix.shape)[:, ::2]).descriptors
    order = order_of(descriptor)
    for word in range(matrix.size):
        fill = "blue" if word in order else "plain"
        sheet.box(20 + word % 7 * 36, 40 + word // 7 * 34, 34, 32, fill, str(word))
    sheet.say(20, 26, "view(matrix.shape)[:, ::2]", style="bold")
    sheet.arrow([(276, 108), (310, 108)])
    for n, dim in enumerate(descriptor.dims):
        sheet.box(316, 60 + 48 * n, 280, 40, FILLS[n], f"D{n}: step {dim.step}, wrap {dim.wrap or '-'}")
    return sheet
