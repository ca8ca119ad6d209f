"""Builds of MLIR designs for tests: what a compiler leaves, made of what the text configures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memtile import Array
from memtile.importers.design import load
from memtile.importers.mlir.configure import configure
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.programs import Operation, record
from memtile.runs.operations import locate, words_written
from support.formats.container_files import Image, pdi_of, xclbin_of


def nothing(*_: object) -> None:
    """A function for texts whose cores call one; builds do not look at it."""


def configuration(text: str, name: str = "", chip: str = "npu1") -> list[Operation]:
    """The writes that configure a device of a text, cores enabled; data of cores come with their programs."""
    (found,) = [each for each in devices(read(Text("d.mlir", text))) if each.name == name]
    array = Array(chip)
    recording = record(array)
    configure(found, array)
    return [each for each in recording.operations if not _is_core_data(each)]


def _is_core_data(operation: Operation) -> bool:
    word = next(words_written(operation), None)
    if word is None:
        return False
    _, row, offset = locate(word.address)
    return row >= 2 and offset < 0x10000


def instructions(text: str, functions: Mapping[str, Callable[..., Any]] | None = None) -> bytes:
    """The host sequence of a text as a file."""
    return load(Text("d.mlir", text), functions=functions or {"work": nothing}).instructions()


def write_build(folder: Path, text: str, *, named: str = "aie.mlir") -> Path:
    """An xclbin, the instructions and the text in a folder; without the text if ``named`` is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "final.xclbin").write_bytes(xclbin_of([Image(pdi_of(configuration(text)))]))
    (folder / "insts.bin").write_bytes(instructions(text))
    if named:
        (folder / named).parent.mkdir(parents=True, exist_ok=True)
        (folder / named).write_text(text)
    return folder
