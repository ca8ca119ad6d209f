"""Which files of a build folder are its program: one configuration and one file of instructions.

A build of mlir-aie leaves more than one needs: the xclbin, the PDI in it, the CDO files in that, the
instructions, and in a folder ``*.prj`` beside them what was made on the way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memtile.errors import InputFileError, Problem
from memtile.input_files import read_bytes
from memtile.io.program.cdo import IDENTIFICATION
from memtile.io.program.containers.control_elf import is_control_code, is_core_program
from memtile.io.program.containers.elf import MAGIC as ELF
from memtile.io.program.containers.pdi import MAGIC as PDI
from memtile.io.program.containers.xclbin import MAGIC as XCLBIN
from memtile.io.program.first_instructions import is_first_instructions
from memtile.io.program.program_formats import read_program
from memtile.io.program.transaction_format import HEADER, LAYOUTS

_SOURCE = "files of a build"
_PROJECT = ".prj"
_SUFFIXES = {".bin", ".seq", ".txt", ".xclbin", ".pdi", ".elf", ".cdo", ".mlir", ""}
_CDO_MARK = "aie_cdo_"
_PDI_SECTION = b".pdi."
_TEXT = re.compile(rb"\s*(?:[0-9a-fA-F]{8}\s+){4,}")
_WORDS = 512  # bytes of a file that say what it is: headers, in words of text too
_SHOWN = 4  # files of one kind that a line names
_KINDS = ("xclbin", "elf", "pdi", "cdo", "instructions")


@dataclass(frozen=True, slots=True)
class Folder:
    """What is taken of a folder.

    Attributes:
        files: in the order of a build.
        note: what was taken and what was left out.
        devices: whose CDO files were taken, where their names say so.
        whole: there are a configuration and instructions, or a full ELF, which has both.
    """

    files: tuple[Path, ...]
    note: str
    devices: tuple[str, ...] = ()
    whole: bool = False


def build_files(folder: Path, kernel: str | None = None) -> Folder:
    """The files of a build folder that are its program.

    An xclbin is taken before a full ELF, that before a PDI, that before CDO files; instructions beside all
    but a full ELF. Files in folders ``*.prj`` count where the folder itself has none of their kind.

    Args:
        folder: of a build, or a ``*.prj`` of one.
        kernel: chooses the CDO files of one device where there are those of several.

    Raises:
        InputFileError: the folder cannot be read, has no program, or several of a kind; names them.
    """
    found = _by_kind(folder)
    taken: list[Path] = []
    kinds = [kind for kind in ("xclbin", "elf", "pdi", "cdo") if found[kind]]
    instructions = found["instructions"]
    if not kinds and not instructions:
        raise InputFileError(_nothing(folder, found["mlir"]))
    if kinds and kinds[0] == "cdo":
        taken += _device(folder, found["cdo"], kernel)
    elif kinds:
        taken.append(_only(folder, found[kinds[0]], kinds[0], instructions))
    if instructions and kinds[:1] != ["elf"]:
        taken.append(_only(folder, instructions, "instructions"))
    devices = {path.name.partition(_CDO_MARK)[0].rstrip("_") for path in taken if _CDO_MARK in path.name}
    whole = bool(kinds) and (bool(instructions) or kinds[0] == "elf")
    return Folder(tuple(taken), _note(folder, taken, found), tuple(sorted(devices - {""})), whole)


def _by_kind(folder: Path) -> dict[str, list[Path]]:
    """The files of each kind, those of the folder itself if it has any, else those of its projects."""
    found: dict[str, list[Path]] = {kind: [] for kind in (*_KINDS, "core", "mlir")}
    try:
        entries = sorted(folder.iterdir())
        projects = [entry for entry in entries if entry.suffix == _PROJECT and entry.is_dir()]
        levels = [entries, [entry for project in projects for entry in sorted(project.iterdir())]]
        for entries in levels:
            here: dict[str, list[Path]] = {}
            for entry in entries:
                if entry.suffix in _SUFFIXES and entry.is_file() and (kind := _kind(entry)):
                    here.setdefault(kind, []).append(entry)
            for kind, paths in here.items():
                if not found[kind] or kind in ("core", "mlir"):
                    found[kind] += paths
    except OSError as error:
        raise InputFileError(f"{folder}: the folder cannot be read: {error.strerror}.") from None
    return found


def _kind(path: Path) -> str | None:
    """What a file is, by its beginning."""
    if path.suffix == ".mlir":
        return "mlir"
    with path.open("rb") as stream:
        data = stream.read(_WORDS)
    if data.startswith(XCLBIN):
        return "xclbin"
    if data.startswith(PDI):
        return "pdi"
    if data.startswith(ELF):
        if is_control_code(data):
            return "elf" if _PDI_SECTION in read_bytes(path) else "instructions"
        return "core" if is_core_program(data) else None
    if data[4:8] == IDENTIFICATION.to_bytes(4, "little"):
        return "cdo"
    return "instructions" if _is_transaction(data) else None


def _is_transaction(data: bytes) -> bool:
    """Whether a file begins as a transaction, or as one in words of text."""
    if words := _TEXT.match(data):
        data = b"".join(bytes.fromhex(word.decode("ascii"))[::-1] for word in words[0].split())
    return len(data) >= HEADER.size and (tuple(data[:2]) in LAYOUTS or is_first_instructions(data))


def _only(folder: Path, paths: Sequence[Path], kind: str, beside: Sequence[Path] = ()) -> Path:
    """The file of a kind, or the first of several that do the same; ``beside`` are files that go with it."""
    if len(paths) > 1 and len({_done(path) for path in paths}) > 1:
        names = _names(folder, paths, len(paths))
        own = [path for path in beside if path.stem == paths[0].stem][:1]
        article = "files of instructions" if kind == "instructions" else f"files of kind {kind}"
        raise InputFileError.of(
            kind,
            names,
            "one",
            f"the folder has {len(paths)} {article}: {names}",
            f"Give the files themselves, {' '.join(map(str, (paths[0], *own)))} for one, not the folder.",
            reason="build_folder",
            where=str(folder),
            source=_SOURCE,
        )
    return paths[0]


def _done(path: Path) -> tuple[object, ...]:
    """What tells whether two files do the same: the operations of instructions, the bytes of a container."""
    data = read_bytes(path)
    return tuple(read_program(data, str(path)).operations) if _kind(path) == "instructions" else (data,)


def _device(folder: Path, paths: Sequence[Path], kernel: str | None) -> list[Path]:
    """The CDO files of one device: those whose names begin alike, before ``aie_cdo_``."""
    devices: dict[str, list[Path]] = {}
    for path in paths:
        devices.setdefault(str(path.parent / path.name.partition(_CDO_MARK)[0]), []).append(path)
    named = {Path(start).name.rstrip("_"): files for start, files in devices.items()}
    if kernel in named:
        return named[kernel]
    if len(devices) > 1:
        names = ", ".join(name or "without a name" for name in named)
        raise InputFileError.of(
            "CDO files",
            names,
            "those of one device",
            f"the folder has the CDO files of {len(devices)} devices: {names}",
            f"Name one, such as --kernel {next(name for name in named if name)}.",
            reason="build_folder",
            where=str(folder),
            source=_SOURCE,
        )
    return list(paths)


def _note(folder: Path, taken: Sequence[Path], found: dict[str, list[Path]]) -> str:
    left = [path for kind in (*_KINDS, "core") for path in found[kind] if path not in taken]
    said = f"{folder}: runs {_names(folder, taken, len(taken))}"
    parts = []
    for what, kinds in (("", _KINDS), ("programs of cores ", ("core",))):
        paths = [path for kind in kinds for path in found[kind] if path in left]
        if paths:
            parts.append(what + _names(folder, paths, _SHOWN))
    return said + (f"; not {', '.join(parts)}" if parts else "")


def _names(folder: Path, paths: Sequence[Path], shown: int) -> str:
    names = [str(path.relative_to(folder)) for path in paths]
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _nothing(folder: Path, texts: Sequence[Path]) -> Problem:
    step = "Give the folder in which aiecc put them, or the files themselves."
    if texts:
        step = f"There is MLIR text in it: give {texts[0]} itself."
    return Problem(
        "files",
        "no program",
        "an xclbin, a full ELF, a PDI or CDO files, and instructions",
        "the folder has no xclbin, full ELF, PDI, CDO file or instructions",
        step,
        reason="build_folder",
        where=str(folder),
        source=_SOURCE,
    )
