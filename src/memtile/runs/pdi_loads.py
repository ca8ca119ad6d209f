"""Loads of PDIs within a program: firmware resets the array, then does what the PDI says (DEV-PDI-1).

A reader that has the PDI puts its operations behind the load, and says how many they are. A load whose PDI is
not there cannot be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memtile.errors import Problem
from memtile.runs.operations import ArrayShape, Other

LOAD = "LOADPDI"
PROGRAM = "program"
"""A detail of a load: the number of the kernels that its cores run then."""
_FOLLOWING = "operations"
_SOURCE = "mlir-aie's npu.load_pdi"


def loaded(operation: Other, operations: int) -> Other:
    """A load whose PDI is known: so many operations behind it are the PDI's; 0 = firmware skips it."""
    details = (*operation.details, (_FOLLOWING, operations))
    return replace(operation, details=details, acts=operations > 0)


def is_loaded(operation: Other) -> bool:
    """Whether the operations of the PDI follow."""
    return operation.name == LOAD and _FOLLOWING in dict(operation.details)


def following(operation: Other) -> int:
    """How many operations behind a load are those of its PDI."""
    return dict(operation.details).get(_FOLLOWING, 0)


def with_program(operation: Other, number: int, more: int = 0) -> Other:
    """A load whose cores run the kernels of that number, with so many operations more behind it."""
    known = {name: value for name, value in operation.details if name not in (_FOLLOWING, PROGRAM)}
    details = (*known.items(), (PROGRAM, number), (_FOLLOWING, following(operation) + more))
    return replace(operation, details=details)


def load_problems(operation: Other, _shape: ArrayShape) -> Iterator[Problem]:
    """What keeps a load from being done: nobody gave the PDI."""
    if is_loaded(operation):
        return
    number = dict(operation.details).get("id", 0)
    yield Problem(
        reason="pdi",
        where=operation.place or "program",
        field=LOAD,
        given=f"PDI {number}, which is not in the files",
        allowed="a PDI that the file has",
        source=_SOURCE,
        next_step="Give the ELF file that has the instructions and the PDIs (aiecc --get-full-elf).",
        says=f"the program loads PDI {number}, which is not in the files",
    )
