"""A configured array as a module of mlir-aie: device, tiles, memory, locks, streams, DMA work, cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from memtile.arch.devices import DEVICES
from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.design.tile import Tile
from memtile.iron.ops.enums import AIEDevice
from memtile.iron.ops.operation_classes import operation_class
from memtile.iron.ops.operations import InsertionPoint, Module
from memtile.iron.ops.types import IntegerType, MemRefType
from memtile.mlir_writer.cores import DEFAULT_STACK, CallLoop, CoreProgram
from memtile.mlir_writer.machine import ChannelWork, channel_work, check_not_run
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import (
    WORDS,
    MemoryPlace,
    Place,
    Scene,
    contents,
    element_type,
    memref,
    text_dtype,
)
from memtile.mlir_writer.switches import write_cascade, write_switch
from memtile.mlir_writer.transfers import write_dma


class Front(Protocol):
    """What a front end adds to the array: programs of cores, and operations around them."""

    @property
    def cores(self) -> Mapping[Place, CoreProgram]:
        """Programs by place."""

    @property
    def controllers(self) -> Mapping[Place, int]:
        """Ids that tokens of tiles carry."""

    def begin(self, scene: Scene) -> None:
        """Write what stands before the cores; tiles, memories and locks are there."""

    def end(self, scene: Scene) -> None:
        """Write what stands at the end of the device."""


def module_of(
    array: Array,
    front: Front,
    *,
    is_queued: Callable[[ChannelWork], bool] | None = None,
    without_bench: bool = False,
    name: str = "",
) -> Module:
    """The module of an array that is configured and has not run.

    Args:
        array: the array, routed.
        front: what its front end adds.
        is_queued: which work a host sequence starts, which the front end writes at the end; external memory
            is then its arguments. None = no work, and external memory has addresses.
        without_bench: leave out what a test bench feeds and collects.
        name: symbol of the device; empty = mlir-aie's default.

    Raises:
        DesignError: what no operation of mlir-aie says, with its place.
    """
    check_not_run(array)
    array.route()
    module = Module.create()
    named = {"sym_name": name} if name else {}
    device = operation_class("aie.device")(_device_name(array), ip=InsertionPoint(module.body), **named)
    scene = Scene(array, module, device.regions[0].blocks.append())
    cores = front.cores
    for name in {
        name: None for core in cores.values() if isinstance(core, CallLoop) for name in core.functions
    }:
        scene.names.of(name)  # no lock or buffer has the name of a function
    tiles = _tiles(array, cores)
    work = {tile: list(channel_work(tile, without_bench=without_bench)) for tile in tiles}
    every = [each for found in work.values() for each in found]
    for tile in tiles:
        assert tile.place is not None
        number = front.controllers.get(tile.place)
        ids = {} if number is None else {"controller_id": (0, number)}
        scene.tiles[tile.place] = scene.add("aie.tile", *tile.place, **ids).result
    _locks(scene, tiles)
    _memories(scene, tiles, cores, every)
    if is_queued is None:
        write_external(scene)
    else:
        scene.queued += [each for each in every if is_queued(each)]
    front.begin(scene)
    for tile in tiles:
        write_switch(scene, tile)
        write_cascade(scene, tile)
    for tile in tiles:
        started = [each for each in work[tile] if each not in scene.queued]
        _check_single(started)
        write_dma(scene, tile, started)
    for place, core in cores.items():
        core.write(scene, place)
    front.end(scene)
    operation_class("aie.end")(ip=InsertionPoint(scene.body))
    return module


def _device_name(array: Array) -> str:
    name = array.device.name
    if name not in AIEDevice.__members__:
        known = ", ".join(each for each in DEVICES if each in AIEDevice.__members__)
        raise refused(f"device {name}", f"mlir-aie has no device {name}", known, "Use a device that it has.")
    if array.columns < len(array.device.noc_columns) and name in ("npu1", "npu2"):
        return f"{name}_{array.columns}col"
    return name


def _tiles(array: Array, cores: Mapping[Place, CoreProgram]) -> list[Tile]:
    """The tiles that the design uses, and those that streams only pass, column by column."""
    places = {tile.place for tile in array.tiles if tile.place is not None} | {*cores}
    places |= {(port.column, port.row) for port, _ in array.circuits.saved()["taken"]}
    return [array.tile(*place) for place in sorted(places)]


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


def _stack(tile: Tile, core: CoreProgram | None) -> int:
    """Bytes at the beginning of a tile's memory that mlir-aie keeps for the stack of its core."""
    return core.stack or DEFAULT_STACK if core is not None and tile.kind.role == "compute" else 0


def _memories(
    scene: Scene, tiles: Iterable[Tile], cores: Mapping[Place, CoreProgram], work: Iterable[ChannelWork]
) -> None:
    """Write buffers at their places; those of a memory that begins with one are left to mlir-aie.

    mlir-aie has the stack of a core at the beginning of its memory.
    """
    descriptors = [(each.tile, bd) for each in work for task in each.tasks for _, bd in each.chain(task)]
    for tile in tiles:
        assert tile.place is not None
        stack = _stack(tile, cores.get(tile.place))
        is_free = all(buffer.offset >= stack for buffer in tile.buffers)
        _check_room(tile, stack)
        for buffer in tile.buffers:
            dtype = text_dtype(buffer, [bd for user, bd in descriptors if _reaches(user, tile)])
            type = memref(buffer, dtype)
            value = scene.add(
                "aie.buffer",
                type,
                scene.tiles[tile.place],
                sym_name=scene.names.of(buffer.name),
                address=buffer.offset if is_free else None,
                initial_value=contents(tile, buffer, type, dtype),
            ).result
            place = MemoryPlace(value, buffer.offset, buffer.words * WORD_BYTES, dtype.itemsize, buffer.name)
            scene.memories.setdefault(tile.place, []).append(place)


def _check_room(tile: Tile, stack: int) -> None:
    """Refuse a memory in which there is no room for the stack that mlir-aie has there.

    Raises:
        DesignError: its buffers leave too few bytes.
    """
    used, whole = sum(buffer.words for buffer in tile.buffers) * WORD_BYTES, tile.kind.memory_bytes
    if used + stack > whole:
        names = ", ".join(each.name for each in tile.buffers)
        raise refused(
            tile.title,
            f"the buffers of the {tile.title} ({names}) take {used:,} of its {whole:,} bytes, and mlir-aie "
            f"has the stack of its core there too, {stack:,} bytes",
            f"up to {whole - stack:,} bytes of buffers in a tile with this stack",
            "Make them smaller or fewer (single_buffer in a graph), or put some into tiles beside it.",
        )


def _reaches(user: Tile, tile: Tile) -> bool:
    """Whether the DMA of a tile may address the memory of another one: its own, or of one beside."""
    assert user.place is not None
    assert tile.place is not None
    (column, row), (other, its_row) = user.place, tile.place
    return user.kind == tile.kind and row == its_row and abs(column - other) <= 1


def write_external(scene: Scene) -> None:
    """Write the buffers in external memory."""
    for name, each in scene.array.engine.external.buffers.items():
        own = element_type(each.array.dtype)
        dtype = WORDS if own is None else each.array.dtype
        shape = [each.array.nbytes // WORD_BYTES] if own is None else list(each.array.shape)
        type = MemRefType(shape, own or IntegerType(32))
        made = scene.add("aie.external_buffer", type, sym_name=scene.names.of(name), address=each.address)
        place = MemoryPlace(made.result, each.address, each.array.nbytes, dtype.itemsize, name)
        scene.external.append(place)


def _check_single(work: Iterable[ChannelWork]) -> None:
    for each in work:
        if len(each.tasks) > 1:
            raise refused(
                each.tile.title,
                f"a channel of the {each.tile.title} starts {len(each.tasks)} tasks",
                "one task for each channel",
            )
