"""Bodies for cores of a text that aiecc has emptied: those of the text beside it that it was made of.

``input_physical_with_elfs.mlir`` names an ELF file for each core instead of what the core does, which
``input_with_addresses.mlir`` beside it still has. Values keep their names from the one to the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memtile.importers.bodies.texts import beside, candidates
from memtile.importers.mlir.description import BufferDescription, CoreDescription, DeviceDescription
from memtile.importers.mlir.description import LockDescription as Lock

_FIFO = "aie.objectfifo"


def _take(device: DeviceDescription, of: DeviceDescription, bodies: Mapping[str, CoreDescription]) -> None:
    """Give a device the bodies of another one, and what they name."""
    device.cores[:] = [bodies.get(core.tile, core) for core in device.cores]
    device.functions.update(of.functions)
    device.constants.update(of.constants)
    device.numbers.update(of.numbers)


def fill(device: DeviceDescription, file: Path) -> list[str]:
    """Give the emptied cores of a device the bodies of a text beside its file, where one fits.

    Args:
        device: whose cores are given bodies.
        file: that has it.

    Returns:
        A line about what was taken, or about the cores that have no program.
    """
    empty = [core for core in device.cores if core.elf and not core.has_body]
    if not empty:
        return []
    others = [each for each in beside([file]) if each != file.resolve()]
    found, _ = candidates(others)
    for each in found:
        bodies = _bodies(device, each.device, empty)
        if bodies is not None:
            _take(device, each.device, bodies)
            return [f"bodies of cores that have ELF files are those of {each.title}"]
    named = ", ".join(str(_place(device, core)) for core in empty)
    return [f"no text beside {file} has what cores {named} do; their ELF files are machine code"]


def _bodies(
    device: DeviceDescription, other: DeviceDescription, empty: Sequence[CoreDescription]
) -> dict[str, CoreDescription] | None:
    """The cores of another text for the emptied ones, by tile; None if it is not the same design."""
    known = {_place(other, core): core for core in other.cores if core.has_body}
    found = {}
    for core in empty:
        body = known.get(_place(device, core))
        if body is None or _has_fifos(body) or not all(_same(device, other, name) for name in _used(body)):
            return None
        found[core.tile] = replace(body, tile=core.tile, stack=core.stack, elf="")
    return found


def _has_fifos(core: CoreDescription) -> bool:
    """Whether a body is that of a text whose object FIFOs are not lowered."""
    return any(inner.name.startswith(_FIFO) for inner in core.operation.walk())


def _used(core: CoreDescription) -> set[str]:
    return {word for inner in core.operation.walk() for word in inner.words if word[:1] == "%"}


def _same(device: DeviceDescription, other: DeviceDescription, name: str) -> bool:
    """Whether a value is the same buffer or lock in both, or neither in the other one."""
    for ours, theirs in ((device.buffers, other.buffers), (device.locks, other.locks)):
        if name in theirs and (name not in ours or _what(device, ours[name]) != _what(other, theirs[name])):
            return False
    return True


def _what(device: DeviceDescription, found: BufferDescription | Lock) -> tuple[object, ...]:
    tile = device.tiles.get(found.tile)
    where = tile.place if tile else None
    if isinstance(found, Lock):
        return where, found.number
    return where, found.address, found.shape


def _place(device: DeviceDescription, core: CoreDescription) -> tuple[int, int] | None:
    tile = device.tiles.get(core.tile)
    return tile.place if tile else None
