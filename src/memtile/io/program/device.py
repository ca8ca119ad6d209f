"""The device that a program is for: the one named, or the one that its header fits."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.arch.devices import DEVICES, Device
from memtile.arch.devices import device as find_device
from memtile.errors import InputFileError, Problem
from memtile.io.program.formats import Program
from memtile.io.program.operations import TABLES, ArrayShape
from memtile.io.program.transaction_format import GENERATIONS

DEFAULT = "npu1"
_READ = {name: device for name, device in DEVICES.items() if device.generation == TABLES}
_SOURCE = "transaction headers"


def device_of(programs: Sequence[Program], name: str | None = None) -> tuple[Device, ArrayShape]:
    """The device on which programs run together, and the part of it that they see.

    Args:
        programs: read from files.
        name: device to take whatever the headers say; they still say how many columns, where they fit.

    Raises:
        InputFileError: headers that contradict each other, or that fit no device.
        DesignError: no device is called ``name``.
    """
    shapes = list(dict.fromkeys(program.shape for program in programs if program.shape))
    if name is not None:
        found = find_device(name)
        columns = shapes[0].columns if len(shapes) == 1 and _fits(found, shapes[0]) else None
        return found, ArrayShape.of(found, columns)
    if not shapes:
        return find_device(DEFAULT), ArrayShape.of(find_device(DEFAULT))
    if len(shapes) > 1:
        given = " and ".join(map(_text, shapes))
        where = ", ".join(program.name for program in programs if program.shape)
        says = f"the files are for different arrays: {given}"
        raise _error(where, "array", given, "one array for all files", "Name a --device.", says)
    (program, *_) = (program for program in programs if program.shape)
    named = [device for device in _READ.values() if program.generation in device.transaction_generations]
    fitting = [device for device in named if _fits(device, shapes[0])]
    if not fitting:
        generation = GENERATIONS.get(program.generation, "unknown")
        given = f"{_text(shapes[0])}, generation {program.generation} ({generation})"
        known = ", ".join(f"{d.name} with {_text(ArrayShape.of(d))}" for d in _READ.values())
        says = f"the array has {given}, which fits no known device: {known}"
        step = "Name a --device to run it on."
        raise _error(program.name, "array", given, f"parts of {known}", step, says)
    return fitting[0], ArrayShape.of(fitting[0], shapes[0].columns)


def _fits(device: Device, shape: ArrayShape) -> bool:
    whole = ArrayShape.of(device)
    rows = (shape.rows, shape.memory_tile_rows) == (whole.rows, whole.memory_tile_rows)
    return rows and 1 <= shape.columns <= whole.columns


def _text(shape: ArrayShape) -> str:
    rows = f"{shape.memory_tile_rows} memory tile row{'s' * (shape.memory_tile_rows != 1)}"
    return f"{shape.columns} x {shape.rows} tiles with {rows}"


def _error(where: str, what: str, given: str, allowed: str, step: str, says: str) -> InputFileError:
    return InputFileError(
        Problem(
            reason="device",
            where=where,
            field=what,
            given=given,
            allowed=allowed,
            source=_SOURCE,
            next_step=step,
            says=says,
        )
    )
