"""Files and build folders on the command line, read as programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtile.cli.input_file import name_of, read_bytes

if TYPE_CHECKING:
    from memtile.io.program.array_names import Given
    from memtile.io.program.formats import Format, Program


class ProgramFiles(NamedTuple):
    """Programs in the order of the command line, and what is to be said about them, a line each."""

    programs: list[Program]
    notes: list[str]


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
    from memtile.io.program.formats import read_program

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
    return ProgramFiles(programs, notes)


def brought(programs: Sequence[Program], given: Sequence[Given]) -> tuple[list[Given], list[str]]:
    """Arrays that containers bring for arguments which the user gave none for, and a line about each."""
    import numpy as np

    from memtile.io.program.array_names import Given

    own = {each.name for each in given}
    found: list[Given] = []
    notes: list[str] = []
    for program in programs:
        for buffer in program.buffers:
            if str(buffer.argument) not in own:
                found.append(Given(str(buffer.argument), np.frombuffer(buffer.data, dtype=np.uint32)))
                notes.append(f"argument {buffer.argument} of {program.name} has {buffer.what}")
    return found, notes
