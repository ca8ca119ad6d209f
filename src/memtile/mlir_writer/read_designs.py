"""A text that was read as a module again: its configured array, bodies and host sequences as they were.

A design that is made of object FIFOs stays at that level: its device is written as it was read, as the bodies
of its cores speak of objects. So are all devices of a text whose host sequence loads others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.importers.loaded import Loaded
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.tree import Operation
from memtile.iron.ops.operations import InsertionPoint, Module, Value
from memtile.mlir_writer import texts
from memtile.mlir_writer.cores import ReadBody
from memtile.mlir_writer.refusals import refused
from memtile.mlir_writer.scene import Place, Scene
from memtile.mlir_writer.writer import module_of

_LOAD = "aiex.configure"
_KEPT = ("func.func", "memref.global", "arith.constant")  # of a device, beside what configures it


def module_of_text(loaded: Loaded) -> Module:
    """The module of a design that was read from MLIR.

    Args:
        loaded: the design, as it stands before it runs.

    Raises:
        DesignError: what cannot be written, with its place in the text.
    """
    made = loaded.configured
    if _loads_others(made):
        return _as_it_was(loaded.others.values())
    if made.device.fifos:
        return _as_it_was([made.device])
    if made.device.parameters:
        raise refused(
            "parameters of the scratchpad",
            "the design has parameters of the scratchpad, which stand outside of its device",
            "designs without them",
            "Keep the text that was read.",
        )
    return module_of(loaded.array, _Text(made), name=made.device.name)


class _Text:
    """What a text adds to its array: cores, functions, host sequences."""

    def __init__(self, made: Configured) -> None:
        self._made = made
        self._values: dict[str, Value] = {}

    @property
    def cores(self) -> dict[Place, ReadBody]:
        """Bodies of cores, which see the values of the module."""
        device, tiles = self._made.device, self._made.tiles
        found = {}
        for core in device.cores:
            place = tiles[core.tile].place
            assert place is not None
            found[place] = ReadBody(core, self._values)
        return found

    @property
    def controllers(self) -> dict[Place, int]:
        """Ids of tokens as the builds of the text give them."""
        tiles = self._made.device.tiles.values()
        return {each.place: each.controller for each in tiles if each.place and each.controller is not None}

    def begin(self, scene: Scene) -> None:
        """Bind names of the text to the values of the module, and write its functions and constants."""
        made = self._made
        for name, tile in made.tiles.items():
            assert tile.place is not None
            self._values[name] = scene.tiles[tile.place]
        for name, buffer in made.buffers.items():
            self._values[name] = scene.buffer(buffer)
        for name, lock in made.locks.items():
            assert lock.place is not None
            self._values[name] = scene.locks[lock.place, lock.id]
        point = InsertionPoint(scene.body)
        for each in self._operations():
            if each.name in _KEPT and each not in made.device.sequences.values():
                texts.whole(each, self._values, point)

    def end(self, scene: Scene) -> None:
        """Write the channels that host sequences name, and the sequences."""
        device = self._made.device
        for each in device.allocations.values():
            place = (each.column, 0) if each.column is not None else self._made.tiles[each.tile].place
            assert place is not None
            scene.add(
                "aie.shim_dma_allocation",
                each.name,
                scene.tiles[place],
                each.direction,
                each.channel,
                packet=each.packet,
            )
        point = InsertionPoint(scene.body)
        for operation in (*device.chain_symbols.values(), *device.sequences.values()):
            texts.whole(operation, self._values, point)

    def _operations(self) -> Iterator[Operation]:
        for block in self._made.device.operation.regions[0].blocks:
            yield from block.operations


def _loads_others(made: Configured) -> bool:
    """Whether a host sequence loads devices of the text."""
    sequences = made.device.sequences.values()
    return any(each.name == _LOAD for sequence in sequences for each in sequence.walk())


def _as_it_was(devices: Iterable[DeviceDescription]) -> Module:
    """Devices of a text in a module, as they were read."""
    module = Module.create()
    for each in devices:
        texts.whole(each.operation, {}, InsertionPoint(module.body))
    return module
