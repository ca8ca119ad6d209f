"""Tiles, arrays and transfers as tables, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.sheet import Column, Sheet

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.design.tile import Tile
    from memtile.design.transfers import Transfer

_BUFFERS = ("buffer", "shape", "type", "first byte", "bytes", "banks, if linear")
_TILES = ("tile", "kind", "buffers", "bytes", "locks", "channels")
_DESCRIPTORS = ("BD", "words", "first word", "(step, wrap)", "zeros", "acquire", "release")


def tile_sheet(tile: Tile) -> Sheet:
    """The buffers of a tile; its locks and the channels with work below."""
    rows = [
        (
            buffer.name,
            _size(buffer.shape),
            str(buffer.dtype),
            f"{buffer.offset:#x}",
            str(buffer.nbytes),
            _span(buffer.banks),
        )
        for buffer in tile.buffers
    ]
    first = int(tile.engine.spec.tiles.lock_base[tile.index])
    values = tile.engine.state.locks.value[first : first + tile.kind.locks]  # no access, which takes time
    locks = ", ".join(f"{lock.id} {lock.name!r} = {values[lock.id]}" for lock in tile.locks)
    used = [
        channel for channel in (*tile.s2mm, *tile.mm2s) if channel.started or channel.fed or channel.taken
    ]
    channels = ", ".join(f"{channel.port} {channel.label}".strip() for channel in used)
    below = [f"{name}: {found}" for name, found in (("locks", locks), ("channels", channels)) if found]
    return Sheet(_columns(_BUFFERS, 3), tuple(rows), title=repr(tile), below=tuple(below))


def array_sheet(array: Array) -> Sheet:
    """The tiles of an array that the design uses."""
    rows = [
        (
            str(tile.place),
            tile.kind.title,
            ", ".join(buffer.name for buffer in tile.buffers),
            str(sum(buffer.nbytes for buffer in tile.buffers)),
            ", ".join(lock.name for lock in tile.locks),
            ", ".join(channel.port for channel in (*tile.s2mm, *tile.mm2s) if channel.started),
        )
        for tile in array.tiles
    ]
    return Sheet(_columns(_TILES, 3), tuple(rows), title=repr(array))


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
    return Sheet(_columns(_DESCRIPTORS, 0), tuple(rows), title=repr(transfer), below=tuple(runs))


def _columns(heads: tuple[str, ...], right_from: int) -> tuple[Column, ...]:
    return tuple(
        Column(head, right=bool(right_from and n >= right_from and n < 5)) for n, head in enumerate(heads)
    )


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _span(numbers: range) -> str:
    return str(numbers.start) if len(numbers) == 1 else f"{numbers.start}..{numbers.stop - 1}"
