"""Files and build folders on the command line, read as programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtile.input_files import name_of, read_bytes

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.io.program.program_formats import Format, StoredProgram
    from memtile.runs.operations import Operation


class ProgramFiles(NamedTuple):
    """Files read as programs.

    Attributes:
        programs: in the order of the command line.
        notes: what is to be said about them, a line each.
        paths: of their files, without standard input.
        names: that folders have for their devices.
    """

    programs: list[StoredProgram]
    notes: list[str]
    paths: list[Path]
    names: list[str]


def read_programs(
    files: Sequence[str], form: Format | None, base: int, kernel: str | None = None
) -> ProgramFiles:
    """Read files; of a folder those that are its program.

    Args:
        files: paths; ``-`` is standard input.
        form: format of all of them; None = find out.
        base: address of the array in CDO files and PDIs.
        kernel: which program of a container, or which device of a build folder.

    Raises:
        InputFileError: a file or folder that is no program, or a kernel that none has.
    """
    from memtile.io.program.containers.build_folder import build_files
    from memtile.io.program.containers.contents import check_kernel
    from memtile.io.program.program_formats import read_program

    notes: list[str] = []
    names: list[tuple[str, Sequence[str]]] = []
    paths: list[str] = []
    for file in files:
        if Path(file).is_dir():
            folder = build_files(Path(file), kernel)
            notes.append(folder.note)
            names.append((file, folder.devices))
            paths += map(str, folder.files)
        else:
            paths.append(file)
    programs = [read_program(read_bytes(path), name_of(path), form, base, kernel) for path in paths]
    if kernel is not None:
        check_kernel(kernel, [*names, *((program.name, program.kernels) for program in programs)])
    notes += (note for program in programs for note in program.notes)
    called = [name for _, devices in names for name in devices]
    return ProgramFiles(programs, notes, [Path(path) for path in paths if path != "-"], called)


def read_alone(name: str, device: str) -> tuple[list[Operation], Array, list[str]]:
    """Return the operations of a file or folder, an array of ``device`` or of the one it says, and notes.

    Raises:
        InputFileError: it is no program, or does not say which device it is for.
    """
    from memtile.design.array import Array
    from memtile.io.program.device_detection import device_of
    from memtile.io.program.file_order import ordered

    read = read_programs([name], None, 0)
    found, shape = device_of(read.programs, device or None)
    programs, _ = ordered(read.programs, shape)
    operations = [operation for program in programs for operation in program.operations]
    return operations, Array(found.name, shape.columns), read.notes
