"""The device that a program is for: the one named, or the one that its header fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtile.arch.devices import DEVICES, Device
from memtile.arch.devices import device as find_device
from memtile.errors import InputFileError
from memtile.io.program.program_formats import StoredProgram
from memtile.io.program.transaction_format import GENERATIONS, counts_all, fitting, has_size
from memtile.runs.operations import ArrayShape, BlockWrite, MaskWrite, Write, locate

DEFAULT = "npu1"
_SOURCE = "transaction headers"
_Found = tuple[Device, ArrayShape]


def device_of(programs: Sequence[StoredProgram], name: str | None = None) -> _Found:
    """The device on which programs run together, and the part of it that they see.

    Args:
        programs: read from files.
        name: device to take whatever the headers say; they still say how many columns, where they fit.

    Raises:
        InputFileError: headers that contradict each other, that fit no device or several; without any
            header, accesses to columns that the default has not.
        DesignError: no device is called ``name``.
    """
    headed = [program for program in programs if program.shape]
    if name is not None:
        found = find_device(name)
        seen = {_columns(found, p.shape) for p in headed if p.shape and _fits(found, p.shape)}
        return found, ArrayShape.of(found, seen.pop() if len(seen) == 1 else None)
    if not headed:
        return _without_header(programs)
    chosen = [_chosen(program) for program in headed]
    exact = {(each.device.name, each.shape) for each in chosen if not each.vague}
    every = {(each.device.name, each.shape) for each in chosen}
    if len(exact or every) > 1 or len({name for name, _ in every}) > 1:
        shapes = list(dict.fromkeys(_text(program.shape) for program in headed if program.shape))
        given = " and ".join(
            shapes if len(shapes) > 1 else dict.fromkeys(each.device.name for each in chosen)
        )
        where = ", ".join(program.name for program in headed)
        says = f"the files are for different arrays: {given}"
        raise _error(where, "array", given, "one array for all files", "Name a --device.", says)
    ((only, shape),) = exact or every
    return find_device(only), shape


class _Choice(NamedTuple):
    """What a header means: a device, the part of it, and whether it leaves open which part."""

    device: Device
    shape: ArrayShape
    vague: bool


def _chosen(program: StoredProgram) -> _Choice:
    shape = program.shape
    assert shape is not None
    found = fitting(program.generation, shape.columns, shape.rows, shape.memory_tile_rows)
    if len(found) == 1:
        (device,) = found
        part = ArrayShape.of(device, _columns(device, shape))
        return _Choice(device, part, counts_all(device, shape.columns))
    generation = GENERATIONS.get(program.generation, "unknown")
    given = f"{_text(shape)}, generation {program.generation} ({generation})"
    if found:
        names = " and ".join(device.name for device in found)
        says = f"the array has {given}, which fits {names}"
        step = f"Name a --device, such as {found[0].name}."
        raise _error(program.name, "array", given, "one of them", step, says)
    known = ", ".join(f"{d.name} with {_text(ArrayShape.of(d))}" for d in DEVICES.values())
    says = f"the array has {given}, which fits no known device: {known}"
    step = "Name a --device to run it on."
    raise _error(program.name, "array", given, f"parts of {known}", step, says)


def _without_header(programs: Sequence[StoredProgram]) -> _Found:
    """The default, if it has all columns and rows that the programs write to."""
    found = find_device(DEFAULT)
    for program in programs:
        for operation in program.operations:
            if isinstance(operation, Write | MaskWrite | BlockWrite):
                column, row, _ = locate(operation.address)
                wider = [d.name for d in DEVICES.values() if column < d.columns and row < d.rows]
                if wider and DEFAULT not in wider:
                    given = f"tile ({column},{row})"
                    says = f"the file does not say its device and writes to {given}, which {DEFAULT} has not"
                    step = f"Name a --device; {', '.join(wider)} have that tile."
                    allowed = f"columns 0..{found.columns - 1}, rows 0..{found.rows - 1} without --device"
                    raise _error(operation.place or program.name, "device", given, allowed, step, says)
    return found, ArrayShape.of(found)


def _columns(device: Device, shape: ArrayShape) -> int:
    return min(shape.columns, device.columns)


def _fits(device: Device, shape: ArrayShape) -> bool:
    return has_size(device, shape.columns, shape.rows, shape.memory_tile_rows)


def _text(shape: ArrayShape) -> str:
    rows = f"{shape.memory_tile_rows} memory tile row{'s' * (shape.memory_tile_rows != 1)}"
    return f"{shape.columns} x {shape.rows} tiles with {rows}"


def _error(where: str, what: str, given: str, allowed: str, step: str, says: str) -> InputFileError:
    return InputFileError.of(what, given, allowed, says, step, reason="device", where=where, source=_SOURCE)
