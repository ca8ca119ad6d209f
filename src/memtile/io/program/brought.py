"""Arrays that containers bring for kernel arguments, such as the control packets of a full ELF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtile.io.program.program_formats import StoredProgram
from memtile.runs.array_names import Given


def brought(programs: Sequence[StoredProgram], given: Sequence[Given]) -> tuple[list[Given], list[str]]:
    """Arrays that containers bring for arguments which the user gave none for, and a line about each.

    Args:
        programs: read from files.
        given: the user's arrays, which come first.
    """
    own = {each.name for each in given}
    found: list[Given] = []
    notes: list[str] = []
    for program in programs:
        for buffer in program.buffers:
            if str(buffer.argument) not in own:
                found.append(Given(str(buffer.argument), np.frombuffer(buffer.data, dtype=np.uint32)))
                notes.append(f"argument {buffer.argument} of {program.name} has {buffer.what}")
    return found, notes
