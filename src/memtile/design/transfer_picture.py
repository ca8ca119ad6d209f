"""A transfer as notebooks show it: drawn on its buffer, and its descriptors as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memtile.access.drawing import NOTHING, Drawing, Numbers, order_drawing, plane_last
from memtile.access.expected import stream_elements
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import Problem, TransferError
from memtile.sheet import Column, Sheet

if TYPE_CHECKING:
    from memtile.design.buffers import Buffer
    from memtile.design.transfers import Transfer


def picture_of(transfer: Transfer, plane: tuple[int, int]) -> Drawing:
    """See :meth:`Transfer.picture`.

    Raises:
        TransferError: a transfer that was not made from a buffer, or no such axes.
    """
    buffer = transfer.buffer
    if buffer is None:
        raise TransferError(_no_buffer(transfer))
    numbers = plane_last(_first_visits(transfer, buffer), plane, f"buffer {buffer.name}")
    verb = "writes" if transfer.access == "write" else "reads"
    title = f"{transfer!r} {verb} {buffer.name}: element of the stream that each element is"
    return order_drawing(numbers, title, _axes(numbers.ndim, plane))


def _first_visits(transfer: Transfer, buffer: Buffer) -> Numbers:
    """The first element of the stream that each element of the buffer is; -1 = none."""
    bits = buffer.dtype.itemsize * 8
    found = stream_elements(transfer.tasks, bits)
    inside = found != NOTHING
    found[inside] -= transfer.first * WORD_BYTES // buffer.dtype.itemsize
    numbers = np.full(int(np.prod(buffer.shape)), NOTHING, np.int64)
    positions = np.flatnonzero(inside & (found >= 0) & (found < len(numbers)))[::-1]
    numbers[found[positions]] = positions  # NumPy keeps the last of equal indices
    return numbers.reshape(buffer.shape)


def _axes(ndim: int, plane: tuple[int, int]) -> tuple[str, str]:
    if ndim < len(plane):
        return "", f"axis {0}"
    rows, columns = (axis % ndim for axis in plane)
    return f"axis {rows}", f"axis {columns}"


def _no_buffer(transfer: Transfer) -> Problem:
    return Problem(
        "buffer",
        "none",
        "a transfer of tile.read or tile.write",
        "the transfer was not made from a buffer, so there is nothing to draw it on",
        "Draw the descriptors with memtile bd explain.",
        reason="picture",
        where=repr(transfer),
        source="a picture is drawn on the buffer",
    )


_DESCRIPTORS = tuple(
    map(Column, ("BD", "words", "first word", "(step, wrap)", "zeros", "acquire", "release"))
)


def transfer_sheet(transfer: Transfer) -> Sheet:
    """The descriptors of a transfer; tasks that run several times are named below."""
    rows = []
    for number, d in enumerate(transfer.descriptors):
        take = f"lock {d.acquire.id}, {d.acquire.value}" if d.acquire.enable else ""
        give = f"lock {d.release.id}, {d.release.value:+}" if d.release.value else ""
        dims, pads = (" ".join(f"({a}, {b})" for a, b in pairs) for pairs in (d.dims, d.pad))
        rows.append((str(number), str(d.length), f"{d.address:#x}", dims or "in a row", pads, take, give))
    runs = [
        f"task {n}: {len(task.descriptors)} BDs, {task.runs} runs"
        for n, task in enumerate(transfer.tasks)
        if len(transfer.tasks) > 1 or task.runs > 1
    ]
    return Sheet(_DESCRIPTORS, tuple(rows), title=repr(transfer), below=tuple(runs))
