"""Stream switches, multiplexers and cascades as operations, as mlir-aie's router leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.arch.ports import (
    DEMUX_BITS,
    DMA_MASTERS,
    DMA_SLAVES,
    MERGE_ARBITERS,
    MUX_BITS,
    SOUTH_ATTACHMENT,
    port_kind,
)
from memtile.arch.register_map import tile_register
from memtile.design.other_tiles import CASCADE_CONTROL, ComputeTile
from memtile.design.tile import Tile
from memtile.iron.ops.operation_classes import OperationOf, operation_class
from memtile.iron.ops.operations import Block, InsertionPoint
from memtile.mlir_writer.machine import SwitchSettings, has_dma, switch_settings
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Scene

_BUNDLES = {
    "CORE": "Core",
    "DMA": "DMA",
    "CTRL": "TileControl",
    "FIFO": "FIFO",
    "SOUTH": "South",
    "WEST": "West",
    "NORTH": "North",
    "EAST": "East",
    "TRACE": "Trace",
}


def _port(name: str) -> tuple[str, int]:
    """Bundle and channel of a port, by mlir-aie's names."""
    kind = port_kind(name)
    return _BUNDLES[kind], int(name.removeprefix(kind))


def block_of(operation: OperationOf, *, ended: bool = True) -> Block:
    """A new block in the first region of an operation, with ``aie.end``."""
    block = operation.regions[0].blocks.append()
    if ended:
        operation_class("aie.end")(ip=InsertionPoint(block))
    return block


def write_switch(scene: Scene, tile: Tile) -> None:
    """Write the switch of a tile, and its multiplexer where it has one."""
    assert tile.place is not None
    settings = switch_settings(tile)
    _check_merges(tile)
    if tile.kind.role == "interface":
        _mux(scene, tile)
    if settings.is_empty:
        return
    switch = scene.add("aie.switchbox", scene.tiles[tile.place])
    point = InsertionPoint(block_of(switch).operations[0])
    for slave, target in settings.circuits:
        operation_class("aie.connect")(*_port(slave), *_port(target), ip=point)
    selects = {}
    for pair in _selects(settings):
        selects[pair] = operation_class("aie.amsel")(*pair, ip=point).result
    for master in settings.masters:
        values = [selects[master.arbiter, msel] for msel in master.msels]
        operation_class("aie.masterset")(
            *_port(master.port), values, keep_pkt_header=not master.drops, ip=point
        )
    for slave, slots in settings.rules:
        rules = operation_class("aie.packet_rules")(*_port(slave), ip=point)
        inside = InsertionPoint(block_of(rules).operations[0])
        for mask, number, arbiter, msel in slots:
            operation_class("aie.rule")(mask, number, selects[arbiter, msel], ip=inside)


def _check_merges(tile: Tile) -> None:
    """Refuse packets that an arbiter takes in a programmed order."""
    for arbiter in range(MERGE_ARBITERS):
        register = tile_register(tile.kind.name, f"Stream_Switch_Deterministic_Merge_arb{arbiter}_ctrl")
        if register.unpack(tile.own_door.read32(register.offset))["Enable"]:
            raise refused(
                tile.title,
                f"arbiter {arbiter} in the switch of the {tile.title} merges packets in an order, for which "
                "mlir-aie has no operation",
                "packets that merge as they come",
                "Leave the order out.",
            )


def _selects(settings: SwitchSettings) -> Iterable[tuple[int, int]]:
    """Pairs of arbiter and msel in use, in order."""
    pairs = {(each.arbiter, msel) for each in settings.masters for msel in each.msels}
    pairs |= {(arbiter, msel) for _, slots in settings.rules for _, _, arbiter, msel in slots}
    return sorted(pairs)


def _mux(scene: Scene, tile: Tile) -> None:
    """The ports of an interface tile's switch that lead to its DMA."""
    assert tile.place is not None
    pairs = list(_attached(tile)) if has_dma(tile) else []
    if not pairs:
        return
    mux = scene.add("aie.shim_mux", scene.tiles[tile.place])
    point = InsertionPoint(block_of(mux).operations[0])
    for source, target in pairs:
        operation_class("aie.connect")(*source, *target, ip=point)


def _attached(tile: Tile) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    dma = SOUTH_ATTACHMENT["DMA"]
    for name, bits, side in (("Mux_Config", MUX_BITS, 0), ("Demux_Config", DEMUX_BITS, 1)):
        register = tile_register(tile.kind.name, name)
        fields = register.unpack(tile.own_door.read32(register.offset))
        ports = DMA_MASTERS if side else DMA_SLAVES
        for port in bits:
            if fields[port.capitalize()] != dma or port not in ports:
                continue
            inner, outer = ("North", int(port.removeprefix("SOUTH"))), ("DMA", ports.index(port))
            yield (inner, outer) if side else (outer, inner)


def write_cascade(scene: Scene, tile: Tile) -> None:
    """Write the sides of a tile's cascade where they are not those after a reset."""
    if not isinstance(tile, ComputeTile):
        return
    word = tile.own_door.read32(CASCADE_CONTROL.offset)
    if word == CASCADE_CONTROL.reset:
        return
    fields = CASCADE_CONTROL.unpack(word)
    assert tile.place is not None
    scene.add(
        "aie.configure_cascade",
        scene.tiles[tile.place],
        ("North", "West")[fields["Input"]],
        ("South", "East")[fields["Output"]],
    )
