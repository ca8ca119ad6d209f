"""What the compile stage leaves for the simulators: the work folder, and the archive that is make's target.

``Work/options.json`` has the command, ``Work/description.json`` the graph as ``memtile.adf.description`` has
it, for other tools too. Programs and libraries are in memtile's cache and come from there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.output_files import make_folder, write_output
from memtile.plain_text import json_text

OPTIONS, DESCRIPTION = "options.json", "description.json"
_MAGIC = b"!<arch>\n"
_X86, _HARDWARE = "x86sim", "hw"


@dataclass(frozen=True, slots=True)
class Compilation:
    """What a compiler was asked for.

    Attributes:
        target: ``hw`` or ``x86sim``.
        device: name of the device.
        files: C++ sources, absolute.
        include: folders of headers, absolute.
        defines: macros as ``NAME`` or ``NAME=VALUE``.
        stack_bytes: of cores whose kernels say nothing; 0 = not said.
        heap_bytes: the same of heaps.
        pl_mhz: of PLIOs that say nothing; 0 = a quarter of the array's.
        folder: where the command ran; files of the graph are found from there.
    """

    target: str
    device: str
    files: tuple[str, ...]
    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    stack_bytes: int = 0
    heap_bytes: int = 0
    pl_mhz: float = 0.0
    folder: str = ""

    @property
    def is_functional(self) -> bool:
        """Whether the x86 simulator runs it: results alone, without time."""
        return self.target == _X86

    def macros(self) -> dict[str, str | int | None]:
        """Its macros; None = without a value."""
        parts = (each.partition("=") for each in self.defines)
        return {name: value if equals else None for name, equals, value in parts}


def write_work(folder: Path, compilation: Compilation, description: str) -> None:
    """Write a work folder.

    Args:
        folder: is made where it is missing.
        compilation: what was asked for.
        description: of the graph, as JSON.

    Raises:
        InputFileError: the system refuses it.
    """
    make_folder(folder)
    write_output(folder / DESCRIPTION, description, durable=False)
    text = json_text(asdict(compilation), indent=2)
    write_output(folder / OPTIONS, f"{text}\n", durable=False)


def read_work(folder: Path, tool: str) -> Compilation:
    """The compilation of a work folder, for a simulator.

    Args:
        folder: of ``--pkg-dir``.
        tool: ``x86simulator`` or ``aiesimulator``.

    Raises:
        InputFileError: the folder was not compiled by memtile, or for the other simulator.
    """
    path = folder / OPTIONS
    if not path.is_file():
        raise InputFileError(
            f"{tool}: {folder} has no {OPTIONS}: it was not compiled by memtile. "
            f"Compile the graph with the v++ or aiecompiler of memtile, or name its folder with --pkg-dir."
        )
    try:
        found = msgspec.json.decode(read_text(path), type=Compilation)
    except msgspec.DecodeError as error:
        raise InputFileError(f"{path}: this is no work folder: {error}. Compile the graph again.") from error
    wanted = _X86 if tool == "x86simulator" else _HARDWARE
    if found.target != wanted:
        raise InputFileError(
            f"{tool}: {folder} was compiled with --target={found.target}. "
            f"Compile the graph with --target={wanted}, or run the other simulator."
        )
    return found


def write_archive(path: Path, members: dict[str, bytes]) -> None:
    """Write an archive as ``ar`` does, so that make finds its target; it has no machine code.

    Args:
        path: of the archive.
        members: content by name, of at most 15 characters.

    Raises:
        InputFileError: the system refuses it.
    """
    pieces = [_MAGIC]
    for name, content in members.items():
        head = f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(content):<10}`\n"
        pieces += [head.encode(), content, b"\n" * (len(content) % 2)]
    write_output(path, b"".join(pieces), durable=False)
