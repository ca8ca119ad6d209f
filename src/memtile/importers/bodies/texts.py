"""The MLIR texts that lie beside the files of a build, those first that say most of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtile.errors import InputFileError
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.device import described, devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.text import Text
from memtile.input_files import read_bytes, read_text

PROJECT = ".prj"
"""Ending of the folders in which aiecc keeps what it made on the way, beside the files of the build."""
_RANKS = ("input_with_addresses.mlir", "input_physical.mlir")
_DEVICE = re.compile(rb"\b(?:aie|AIE)\.device\b")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A device of a text that may be the one of a build.

    Attributes:
        file: that has it.
        text: the file, read.
        name: symbol of the device; empty without one.
        device: as the text has it.
    """

    file: Path
    text: Text
    name: str
    device: DeviceDescription

    @property
    def title(self) -> str:
        """The file, and the device where it has a symbol."""
        return f"{self.file}, device {self.name}" if self.name else str(self.file)

    def fresh(self) -> DeviceDescription:
        """The device once more: an array that takes it gives numbers to what has none."""
        return described(self.device.operation)


def beside(files: Iterable[Path]) -> list[Path]:
    """The MLIR files that may have made other files, best first.

    They lie in the same folder, in a folder ``*.prj`` there, or in the folder that has this ``*.prj``.
    Lowered text with addresses comes first; then what is called like the files; others by their names.

    Args:
        files: of a build.
    """
    given = [file.resolve() for file in files]
    stems = {file.stem for file in given}
    found: dict[Path, None] = {}
    for folder in dict.fromkeys(file.parent for file in given):
        for place in _folders(folder):
            found |= dict.fromkeys(sorted(place.glob("*.mlir")))
    return sorted(filter(_has_device, found), key=lambda file: _rank(file, stems))


def candidates(files: Sequence[Path]) -> tuple[list[Candidate], list[str]]:
    """The devices of texts, and a line about each text that cannot be read.

    Args:
        files: MLIR text.
    """
    found, notes = list[Candidate](), list[str]()
    for file in files:
        try:
            text = Text(str(file), read_text(file))
            found += [Candidate(file, text, each.name, each) for each in devices(read(text))]
        except InputFileError as error:
            notes.append(f"{str(error).splitlines()[0]} It gives no core its program.")
    return found, notes


def check_text(file: Path) -> None:
    """Check that a file that the user named is text with a device.

    Raises:
        InputFileError: the file cannot be read, is no MLIR, or has no device.
    """
    found = devices(read(Text(str(file), read_text(file))))
    if not found:
        raise InputFileError(f"{file}: there is no aie.device in the text. Give the text of the design.")


def _folders(folder: Path) -> Iterator[Path]:
    try:
        yield folder
        yield from sorted(entry for entry in folder.iterdir() if entry.suffix == PROJECT and entry.is_dir())
        if folder.suffix == PROJECT:
            yield folder.parent
    except OSError:
        return  # a folder that nobody may list has nothing for us


def _has_device(file: Path) -> bool:
    try:
        return bool(_DEVICE.search(read_bytes(file)))
    except InputFileError:
        return True  # it is told when it is read


def _rank(file: Path, stems: set[str]) -> tuple[int, bool, str]:
    """Lowered text first, whatever stands before its name; then names that belong together."""
    lowered = next((n for n, name in enumerate(_RANKS) if file.name.endswith(name)), len(_RANKS))
    akin = any(_akin(file.stem, stem) for stem in stems)
    return lowered, not akin, str(file)


def _akin(text: str, stem: str) -> bool:
    """Whether names are alike, or differ in their first word: ``aie_x`` and ``final_x``."""
    return text == stem or (text.partition("_")[2] or "-") == stem.partition("_")[2]
