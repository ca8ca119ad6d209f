"""Names of channels, cores and switch ports, as results, messages and designs have them."""

from __future__ import annotations

from pathlib import Path

from memtile.arch.ports import PORTS
from memtile.arch.tiles import DIRECTIONS, TILE_KINDS
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine


def channel_name(engine: Engine, ch: int) -> str:
    """``S2MM 0`` to ``MM2S 5``; in a model of several tiles after the tile, ``memory(0,1) MM2S 5``."""
    c = engine.channels
    port = f"{DIRECTIONS[c.direction[ch]]} {c.number[ch]}"
    return port if len(engine.tiles.kind) == 1 else f"{tile_name(engine, int(c.tile[ch]))} {port}"


def tile_name(engine: Engine, tile: int) -> str:
    """``memory(0,1)``: its kind, column and row."""
    tiles = engine.tiles
    kind = TILE_KINDS[KIND_NAMES[tiles.kind[tile]]]
    return f"{kind.name}({tiles.column[tile]},{tiles.row[tile]})"


def called(engine: Engine, ch: int) -> str:
    """The name, and after it what the design calls the channel: ``memory(0,1) MM2S 3 'a[2]'``."""
    label = engine.channel_names.get(ch)
    return f"{channel_name(engine, ch)} {label!r}" if label else channel_name(engine, ch)


def core_name(engine: Engine, core: int) -> str:
    """``core (0, 2)``: column and row of its tile."""
    return f"core {place(engine.spec, int(engine.state.cores.tile[core]))}"


def port_name(engine: Engine, port: int) -> str:
    """``slave port DMA0 of tile (0, 1)``; of the programmable logic ``PLIO 'in_0' at slave port ...``."""
    switch, spec = plain(engine.state.switch), engine.spec
    tile = int(switch.tile[port])
    ports = PORTS[KIND_NAMES[spec.tiles.kind[tile]]]
    side, names = ("master", ports.masters) if switch.is_master[port] else ("slave", ports.slaves)
    text = f"{side} port {names[switch.number[port]]} of tile {place(spec, tile)}"
    if not is_logic(engine, port):
        return text
    label = engine.logic.names.get(port)
    return f"PLIO {label!r} at {text}" if label else f"PLIO at {text}"


def is_logic(engine: Engine, port: int) -> bool:
    """Whether the programmable logic has a stream at a switch port."""
    return bool(plain(engine.state.logic).words[port])


def in_file(file: str, place: str) -> str:
    """A place of a kernel with the name of its file, where it has none: ``design.py:25`` of ``line 25``.

    Args:
        file: in which the kernel is at work; empty if unknown.
        place: ``line 25``, or a place in a file.
    """
    before, is_line, number = place.partition("line ")
    return place if before or not is_line or not file else f"{Path(file).name}:{number}"
