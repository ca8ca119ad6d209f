"""The MLIR texts that lie beside the files of a build, those first that say most of it.

Bodies for cores of a text that aiecc has emptied: those of the text that it was made of.

``input_physical_with_elfs.mlir`` names an ELF file for each core instead of what the core does, which
``input_with_addresses.mlir`` beside it still has. Values keep their names from the one to the other. A text
that only lies beside it is never taken: two designs of a folder may differ in a constant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memtile.errors import InputFileError
from memtile.importers.mlir.description import BufferDescription, CoreDescription, DeviceDescription
from memtile.importers.mlir.description import LockDescription as Lock
from memtile.importers.mlir.forms.device_forms import described, devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.input_files import read_bytes, read_text

PROJECT = ".prj"
"""Ending of the folders in which aiecc keeps what it made on the way, beside the files of the build."""
_RANKS = ("input_with_addresses.mlir", "input_physical.mlir")
_DEVICE = re.compile(rb"\b(?:aie|AIE)\.device\b")
_EMPTIED = re.compile(r"(.*?)(?:(?:input_)?physical_with_elfs|with_elfs|npu_insts)")  # as aiecc calls them
MOST_TEXTS = 500
"""Texts of a folder that are looked at; of a larger one those that aiecc's names tell."""


@dataclass(frozen=True, slots=True)
class DeviceCandidate:
    """A device of a text that may be the one of a build.

    Attributes:
        file: that has it.
        text: the file, read.
        name: symbol of the device; empty without one.
        device: as the text has it.
        rank: what the name of the file says: place among aiecc's names, and whether it is unlike the build's.
    """

    file: Path
    text: Text
    name: str
    device: DeviceDescription
    rank: tuple[int, bool] = (len(_RANKS), True)

    @property
    def is_named(self) -> bool:
        """Whether the name of the file says that it belongs to the build."""
        return _says_build(*self.rank)

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
    if len(found) > MOST_TEXTS:
        found = {file: None for file in found if _is_named(file, stems)}
    return sorted(filter(_has_device, found), key=lambda file: _rank(file, stems))


def candidates(files: Sequence[Path], stems: Collection[str] = ()) -> tuple[list[DeviceCandidate], list[str]]:
    """The devices of texts, and a line about each text that cannot be read.

    Args:
        files: MLIR text.
        stems: of the names of the files of the build.
    """
    found, notes = list[DeviceCandidate](), list[str]()
    for file in files:
        rank = _rank(file, stems)[:2]
        try:
            text = Text.of(str(file), read_text(file))
            found += [DeviceCandidate(file, text, each.name, each, rank) for each in devices(read(text))]
        except InputFileError as error:
            notes.append(f"{str(error).splitlines()[0]} It gives no core its program.")
    return found, notes


def check_text(file: Path) -> None:
    """Check that a file that the user named is text with a device.

    Raises:
        InputFileError: the file cannot be read, is no MLIR, or has no device.
    """
    found = devices(read(Text.of(str(file), read_text(file))))
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


def _rank(file: Path, stems: Collection[str]) -> tuple[int, bool, str]:
    """Lowered text first, whatever stands before its name; then names that belong together."""
    lowered = next((n for n, name in enumerate(_RANKS) if file.name.endswith(name)), len(_RANKS))
    akin = any(_akin(file.stem, stem) for stem in stems)
    return lowered, not akin, str(file)


def _is_named(file: Path, stems: Collection[str]) -> bool:
    """Whether a text has a name of aiecc's, or one like the files of the build."""
    return _says_build(*_rank(file, stems)[:2])


def _says_build(lowered: int, unlike: bool) -> bool:
    return lowered < len(_RANKS) or not unlike


def _akin(text: str, stem: str) -> bool:
    """Whether names are alike, or differ in their first word: ``aie_x`` and ``final_x``."""
    return text == stem or (text.partition("_")[2] or "-") == stem.partition("_")[2]


_FIFO = "aie.objectfifo"


def _take(device: DeviceDescription, of: DeviceDescription, bodies: Mapping[str, CoreDescription]) -> None:
    """Give a device the bodies of another one, and what they name."""
    device.cores[:] = [bodies.get(core.tile, core) for core in device.cores]
    device.functions.update(of.functions)
    device.constants.update(of.constants)
    device.numbers.update(of.numbers)


def fill(device: DeviceDescription, file: Path, named: Path | None = None) -> list[str]:
    """Give the emptied cores of a device the bodies of the text that they are from.

    Args:
        device: whose cores are given bodies.
        file: that has it.
        named: text that the user says; None = that of the same build, by aiecc's names.

    Returns:
        A line about what was taken, or about the cores that have no program.

    Raises:
        InputFileError: the text that was named does not fit, or only others beside the file do.
    """
    empty = [core for core in device.cores if core.elf and not core.has_body]
    if not empty:
        return []
    own = [named.resolve()] if named is not None else _of_the_same_build(file.resolve())
    for each in candidates(own)[0]:
        bodies = _bodies(device, each.device, empty)
        if bodies is not None:
            _take(device, each.device, bodies)
            return [f"bodies of cores that have ELF files are those of {each.title}"]
    cores = f"cores {', '.join(str(_place(device, core)) for core in empty)}"
    if named is not None:
        step = "Give the text that this one was made of."
        raise InputFileError(f"{named}: the buffers and locks of {cores} are not those of {file}. {step}")
    others = [each for each in beside([file]) if each not in (file.resolve(), *own)]
    fitting = [
        each
        for each in candidates(_alike(device, empty, others))[0]
        if _bodies(device, each.device, empty) is not None
    ]
    if fitting:
        raise InputFileError(_open_choice(file, cores, fitting))
    return [f"no text beside {file} has what {cores} do; their ELF files are machine code"]


def _open_choice(file: Path, cores: str, fitting: Sequence[DeviceCandidate]) -> str:
    titles, verb = ", ".join(each.title for each in fitting), "have" if len(fitting) > 1 else "has"
    return (
        f"{file}: {cores} have ELF files, which are machine code. {titles} {verb} the same buffers and "
        "locks, and no name says that the text was made of it. Name the text with the bodies, such as "
        f"--kernels {fitting[0].file}."
    )


def _of_the_same_build(file: Path) -> list[Path]:
    """The texts that aiecc made a text of, by its names for them."""
    found, folder = _EMPTIED.fullmatch(file.stem), file.parent
    prefixes = dict.fromkeys((found[1], "")) if found else ("",) if folder.suffix == PROJECT else ()
    texts = [folder / f"{prefix}{name}" for prefix in prefixes for name in _RANKS]
    if folder.suffix == PROJECT:
        texts.append(folder.with_suffix("") if folder.stem.endswith(".mlir") else folder.with_suffix(".mlir"))
    return [text for text in texts if text != file and text.is_file()]


def _alike(device: DeviceDescription, empty: Sequence[CoreDescription], texts: Sequence[Path]) -> list[Path]:
    """The texts that have the names of the buffers of the emptied cores: a quick look."""
    tiles = {core.tile for core in empty}
    names = [value.encode() for value, buffer in device.buffers.items() if buffer.tile in tiles]
    return [text for text in texts if (data := _bytes_of(text)) and all(name in data for name in names)]


def _bytes_of(text: Path) -> bytes:
    try:
        return read_bytes(text)
    except InputFileError:
        return b""


def body_words(device: DeviceDescription) -> list[tuple[str, ...]]:
    """What the cores of a device do, word by word: two texts of one design have the same."""
    return [
        (inner.name, *inner.words)
        for core in device.cores
        for inner in core.operation.walk()
        if inner is not core.operation
    ]


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
