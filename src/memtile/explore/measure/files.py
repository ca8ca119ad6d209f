"""The files of measurements: MLIR text, a transaction that does the same alone, and what they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memtile import __version__
from memtile.arch.devices import device as find_device
from memtile.design.array import Array
from memtile.errors import DesignError, InputFileError
from memtile.explore.measure.experiment import Experiment
from memtile.explore.measure.text import mlir_text
from memtile.importers.instructions import instructions_of
from memtile.importers.mlir.configure import configure
from memtile.importers.mlir.forms.device import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.text import Text
from memtile.input_files import read_text
from memtile.io.formats.json_text import parse_json
from memtile.io.program.recorder import record
from memtile.output_files import make_folder, write_output

MANIFEST = "measure.json"
DEVICES = ("npu1", "npu2")


def text_of(experiment: Experiment, device: str) -> str:
    """The design as MLIR text."""
    steps = experiment.operations(find_device(device))
    title = f"memtile measure: {experiment.setup}"
    flows = experiment.all_flows
    return mlir_text(device, experiment.columns, title, flows, steps, experiment.arguments)


def transaction_of(experiment: Experiment, device: str) -> bytes:
    """The design as one transaction: first the streams, then what the host does."""
    (described,) = devices(read(Text(experiment.name, text_of(experiment, device))))
    chosen = find_device(device)
    array = Array(device, experiment.columns)
    recording = record(array)
    configure(described, array)
    steps = (*recording.operations, *experiment.operations(chosen))
    return instructions_of(steps, chosen, experiment.columns)


def manifest_of(chosen: Sequence[Experiment], device: str) -> dict[str, Any]:
    """What a folder of measurements has, as data."""
    return {
        "memtile": __version__,
        "device": device,
        "designs": [
            {
                "name": each.name,
                "setup": each.setup,
                "columns": each.columns,
                "arguments": each.arguments,
                "constants": [{"name": one.name, "quantity": one.quantity} for one in each.constants],
                "needed": list(each.needed),
                "events": [
                    {"tile": list(unit.place), "module": unit.module, "events": list(unit.events)}
                    for unit in each.traced
                ],
            }
            for each in chosen
        ],
    }


def write_folder(folder: Path, chosen: Sequence[Experiment], device: str) -> dict[str, Any]:
    """Write text and transaction of each design, and what they are to ``measure.json``.

    Args:
        folder: for them; it is made if it is not there.
        chosen: the designs.
        device: that they are for.

    Returns:
        The manifest.

    Raises:
        InputFileError: a file cannot be written.
        DesignError: no such device, or one for which there are no designs.
    """
    name = _checked(device)
    made = manifest_of(chosen, name)
    files = {MANIFEST: (json.dumps(made, indent=2) + "\n").encode()}
    for each in chosen:
        files[f"{each.name}.mlir"] = text_of(each, name).encode()
        files[f"{each.name}.bin"] = transaction_of(each, name)
    make_folder(folder)
    for file, data in files.items():
        write_output(folder / file, data)
    return made


def _checked(device: str) -> str:
    """The device's name, if designs can be for it."""
    name = find_device(device).name
    if name in DEVICES:
        return name
    raise DesignError.of(
        "device",
        name,
        " or ".join(DEVICES),
        reason="measure_device",
        where="measurement",
        source="devices whose instructions and MLIR text are public",
    )


def device_of(folder: Path) -> str:
    """The device that a folder of measurements is for.

    Raises:
        InputFileError: it has no manifest, or one that is none.
    """
    path = folder / MANIFEST
    try:
        read = parse_json(read_text(path), str(path))
        return str(read["device"])
    except (KeyError, TypeError):
        raise InputFileError(
            f"{path}: this is not what memtile measure write makes. Write the folder again."
        ) from None
