"""What two arrays have in their registers and memories, to be compared tile by tile."""

from __future__ import annotations

from math import prod
from typing import Any

from memtile.arch.ports import PORTS
from memtile.arch.register_map import tile_register
from memtile.arch.switch_registers import SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.other_tiles import CASCADE_CONTROL
from memtile.design.tile import Tile
from memtile.mlir_writer.machine import SwitchSettings, channel_work, has_dma, switch_settings

TOKENS = "CTRL0", "SOUTH0"
"""The circuit for tokens of interface tiles that reading a text adds (DEV-MLIR-2)."""


def machine(
    array: Array, *, addresses: bool = True, tokens: bool = True
) -> dict[tuple[int, int], dict[str, Any]]:
    """Per tile its switch, cascade, locks, buffers with contents, and the work of its channels.

    Args:
        array: configured, not run.
        addresses: whether places of buffers in memories count.
        tokens: whether circuits for tokens of interface tiles count.
    """
    array.route()
    found = {}
    for tile in array.tiles:
        said = _tile(tile, addresses, tokens)
        if any(said.values()):
            assert tile.place is not None
            found[tile.place] = said
    return found


def _tile(tile: Tile, addresses: bool, tokens: bool) -> dict[str, Any]:
    return {
        "switch": _switch(tile, tokens),
        "beside": _beside(tile),
        "locks": {lock.id: tile.lock_value(lock) for lock in tile.locks},
        "memory": _memory(tile, addresses),
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


def _memory(tile: Tile, addresses: bool) -> list[Any]:
    """Buffers with contents; without their places in an order of their own."""
    found = [(each.offset if addresses else each.nbytes, tile.load(each).tobytes()) for each in tile.buffers]
    return found if addresses else sorted(found)


def _switch(tile: Tile, tokens: bool) -> list[Any]:
    """What is in the registers of a switch through which something passes."""
    settings, layout = switch_settings(tile), PORTS[tile.kind.name]
    left_out = not tokens and TOKENS in settings.circuits and tile.kind.role == "interface"
    if settings.is_empty or (left_out and settings == SwitchSettings((TOKENS,), (), ())):
        return []
    masters = tile.own_door.block_read32(layout.base, len(layout.masters)).tolist()
    slaves = tile.own_door.block_read32(layout.base + SLAVE_CONFIG_OFFSET, len(layout.slaves)).tolist()
    if left_out:
        slaves[layout.slave(TOKENS[0])] = masters[layout.master(TOKENS[1])] = 0
    return [
        masters,
        slaves,
        tile.own_door.block_read32(layout.base + SLOT_OFFSET, 4 * len(layout.slaves)).tolist(),
    ]


def _beside(tile: Tile) -> list[int]:
    """Its cascade, or the multiplexers between its switch and what is below; empty = as after a reset."""
    if tile.kind.role == "compute":
        registers = [CASCADE_CONTROL]
    elif tile.kind.role == "interface" and has_dma(tile):
        registers = [tile_register(tile.kind.name, name) for name in ("Mux_Config", "Demux_Config")]
    else:
        return []
    words = [int(tile.own_door.read32(each.offset)) for each in registers]
    return [] if words == [each.reset for each in registers] else words


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
