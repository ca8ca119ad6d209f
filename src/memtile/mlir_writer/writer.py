"""A configured array as a module of mlir-aie: device, tiles, memory, locks, streams, DMA work, cores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memtile.arch.tiles import WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.tile import Tile
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import InsertionPoint, Module
from memtile.mlir_writer.cores import CoreProgram, write_core
from memtile.mlir_writer.machine import ChannelWork, channel_work, check_not_run, switch_settings
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import MemoryPlace, Place, Scene, contents, memref, text_dtype
from memtile.mlir_writer.switches import write_cascade, write_switch
from memtile.mlir_writer.transfers import write_dma


def module_of(array: Array, cores: Mapping[Place, CoreProgram]) -> Module:
    """The module of an array that is configured and has not run.

    Args:
        array: the array, routed.
        cores: what its cores do, by place.

    Raises:
        DesignError: what no operation of mlir-aie says, with its place.
    """
    check_not_run(array)
    array.route()
    module = Module.create()
    device = operation_class("aie.device")(_device_name(array), ip=InsertionPoint(module.body))
    scene = Scene(array, module, device.regions[0].blocks.append())
    tiles = _tiles(array, cores)
    work = {tile: list(channel_work(tile)) for tile in tiles}
    for tile in tiles:
        assert tile.place is not None
        scene.tiles[tile.place] = scene.add("aie.tile", *tile.place).result
    _locks(scene, tiles)
    _memories(scene, tiles, [each for found in work.values() for each in found])
    for tile in tiles:
        write_switch(scene, tile)
        write_cascade(scene, tile)
    for tile in tiles:
        _check_single(work[tile])
        write_dma(scene, tile, work[tile])
    for place, core in cores.items():
        write_core(scene, place, core)
    operation_class("aie.end")(ip=InsertionPoint(scene.body))
    return module


def _device_name(array: Array) -> str:
    name = array.device.name
    if array.columns < len(array.device.noc_columns) and name in ("npu1", "npu2"):
        return f"{name}_{array.columns}col"
    return name


def _tiles(array: Array, cores: Mapping[Place, CoreProgram]) -> list[Tile]:
    """The tiles that the design uses, and those that streams only pass."""
    places = {tile.place for tile in array.tiles if tile.place is not None} | {*cores}
    every = ((column, row) for column in range(array.columns) for row in range(array.rows))
    passed = {place for place in every if place not in places and not _is_empty(array, place)}
    return [array.tile(*place) for place in sorted(places | passed)]


def _is_empty(array: Array, place: Place) -> bool:
    tile = _tile(array, place)
    return tile is None or switch_settings(tile).is_empty


def _tile(array: Array, place: Place) -> Tile | None:
    known = {port.place for tree in array.circuits.trees.values() for port in tree}
    del known
    return array.tile(*place)


def _locks(scene: Scene, tiles: Iterable[Tile]) -> None:
    for tile in tiles:
        assert tile.place is not None
        for lock in sorted(tile.locks, key=lambda each: each.id):
            made = scene.add(
                "aie.lock",
                scene.tiles[tile.place],
                lockID=lock.id,
                init=tile.lock_value(lock),
                sym_name=scene.names.of(lock.name),
            )
            scene.locks[tile.place, lock.id] = made.result


def _memories(scene: Scene, tiles: Iterable[Tile], work: Iterable[ChannelWork]) -> None:
    descriptors = [(each.tile, bd) for each in work for task in each.tasks for _, bd in each.chain(task)]
    for tile in tiles:
        assert tile.place is not None
        for buffer in tile.buffers:
            dtype = text_dtype(buffer, [bd for user, bd in descriptors if _may_touch(user, tile, bd)])
            type = memref(buffer, dtype)
            value = scene.add(
                "aie.buffer",
                type,
                scene.tiles[tile.place],
                sym_name=scene.names.of(buffer.name),
                address=buffer.offset,
                initial_value=contents(tile, buffer, type, dtype),
            ).result
            place = MemoryPlace(value, buffer.offset, buffer.words * WORD_BYTES, dtype.itemsize, buffer.name)
            scene.memories.setdefault(tile.place, []).append(place)


def _may_touch(user: Tile, tile: Tile, bd: Descriptor) -> bool:
    """Whether a descriptor may address the memory of a tile: one of it, or of one beside."""
    del bd
    assert user.place is not None
    assert tile.place is not None
    return user.kind == tile.kind and user.place[1] == tile.place[1] and abs(user.place[0] - tile.place[0]) <= 1


def _check_single(work: Iterable[ChannelWork]) -> None:
    for each in work:
        if len(each.tasks) > 1:
            raise refused(
                each.tile.title,
                f"a channel of the {each.tile.title} starts {len(each.tasks)} tasks",
                "one task for each channel",
            )
