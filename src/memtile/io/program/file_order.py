"""The order of the files of one build: ELF files, initialisation, enabling of the cores, instructions.

Compilers write them apart, and loading the ELF files resets what the initialisation sets up. What a file is
its operations tell; files of which one tells nothing stay in the order in which they were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.program.program_formats import StoredProgram
from memtile.io.program.register_image import is_program_memory
from memtile.runs.core_kernels import enabled_by
from memtile.runs.firmware import LOAD, PATCH, is_loaded
from memtile.runs.operations import ArrayShape, Other, locate, words_written
from memtile.runs.waits import WAIT

_CONFIGURATIONS = ("cdo", "xclbin", "pdi")


class Role(IntEnum):
    """What a file of a build does, in the order in which it is done."""

    ELFS = 0  # loads program memory
    INIT = 1  # sets up switches, descriptors and locks
    ENABLE = 2  # enables cores, and does nothing else
    INSTRUCTIONS = 3  # patches pointers, waits for tokens


def ordered(programs: Sequence[StoredProgram], shape: ArrayShape) -> tuple[list[StoredProgram], str]:
    """The files in the order of a build, and a line that says so where it is not the order given.

    Raises:
        InputFileError: two files configure the array, of which one is a container and has all that it needs.
    """
    raise_if(list(_twice(programs)), InputFileError)
    roles = [_role(program, shape) for program in programs]
    found = [role for role in roles if role is not None]
    if len(found) < len(roles) or found == sorted(found):
        return list(programs), ""
    by_role = sorted(zip(found, programs, strict=True), key=lambda pair: pair[0])
    names = ", ".join(f"{program.name} ({role.name.lower()})" for role, program in by_role)
    line = f"the files are done in the order of a build: {names}; --keep-order does them as they were given"
    return [program for _, program in by_role], line


def _twice(programs: Sequence[StoredProgram]) -> Iterator[Problem]:
    """Files beside a container that would configure the array a second time."""
    whole = [program for program in programs if program.format in ("xclbin", "pdi") or _loads(program)]
    if not whole:
        return
    first = whole[0]
    more = [p for p in programs if p is not first and (p in whole or p.format in _CONFIGURATIONS)]
    if more:
        names = ", ".join(program.name for program in more)
        yield Problem(
            "configuration",
            f"{names} beside {first.name}",
            "one configuration",
            f"{first.name} has a whole configuration already",
            f"Leave out {names}, or {first.name}; --keep-order does them all.",
            reason="configured_twice",
            where=names,
            source="files of a build",
        )


def _loads(program: StoredProgram) -> bool:
    """Whether a program has PDIs that it loads."""
    return any(isinstance(operation, Other) and is_loaded(operation) for operation in program.operations)


def _role(program: StoredProgram, shape: ArrayShape) -> Role | None:
    """What a file is; None where its operations do not tell."""
    names = {operation.name for operation in program.operations if isinstance(operation, Other)}
    if names & {PATCH, WAIT, LOAD} or program.format == "elf":
        return Role.INSTRUCTIONS
    if program.format not in _CONFIGURATIONS:
        return None
    words = [word for operation in program.operations for word in words_written(operation)]
    if any(_loads_program(word.address, shape) for word in words):
        return Role.ELFS
    enabled = enabled_by(program.operations, shape)
    if enabled and len(enabled) == len(words):
        return Role.ENABLE
    return Role.INIT if words else None


def _loads_program(address: int, shape: ArrayShape) -> bool:
    """Whether a word is in the program memory of a compute tile."""
    column, row, offset = locate(address)
    kind = shape.tile(column, row)
    return kind is not None and is_program_memory(kind, offset)
