"""What two arrays have in their registers and memories, to be compared tile by tile."""

from __future__ import annotations

from math import prod
from typing import Any

from memtile.arch.ports import PORTS
from memtile.arch.switch_registers import SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.tile import Tile
from memtile.mlir_writer.machine import channel_work, switch_settings


def machine(array: Array, *, addresses: bool = True) -> dict[tuple[int, int], dict[str, Any]]:
    """Per tile its switch, locks, buffers with contents, and the work of its channels.

    Args:
        array: configured, not run.
        addresses: whether places of buffers in memories count.
    """
    array.route()
    found = {}
    for tile in array.tiles:
        said = _tile(tile, addresses)
        if any(said.values()):
            assert tile.place is not None
            found[tile.place] = said
    return found


def _tile(tile: Tile, addresses: bool) -> dict[str, Any]:
    settings = switch_settings(tile)
    layout = PORTS[tile.kind.name]
    words = [tile.own_door.block_read32(layout.base, len(layout.masters)).tolist()]
    words += [tile.own_door.block_read32(layout.base + SLAVE_CONFIG_OFFSET, len(layout.slaves)).tolist()]
    words += [tile.own_door.block_read32(layout.base + SLOT_OFFSET, 4 * len(layout.slaves)).tolist()]
    return {
        "switch": [] if settings.is_empty else words,
        "locks": {lock.id: tile.lock_value(lock) for lock in tile.locks},
        "memory": [
            (each.offset if addresses else each.nbytes, tile.load(each).tobytes()) for each in tile.buffers
        ],
        "work": [
            (
                each.direction,
                each.channel,
                each.tasks,
                [_bd(bd, addresses) for t in each.tasks for bd in each.chain(t)],
            )
            for each in channel_work(tile, without_bench=True)
        ],
    }


def _bd(bd: tuple[int, Any], addresses: bool) -> Any:
    number, descriptor = bd
    return number, _ended(descriptor if addresses else descriptor.but(address=0))


def _ended(bd: Descriptor) -> Descriptor:
    """A descriptor whose outermost dimension goes on to the end, however that is said."""
    if not bd.dims:
        return bd
    *inner, last = bd.dims
    pads = [*bd.pad, *[(0, 0)] * len(bd.dims)]
    run = prod(wrap + sum(pad) for (_, wrap), pad in zip(inner, pads, strict=False))
    step, wrap = last
    return bd.but(dims=(*inner, (step, 0))) if wrap + sum(pads[len(inner)]) == bd.length // run else bd
