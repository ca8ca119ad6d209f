"""What a program of IRON passes to a kernel, held against what the host sequence takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError, Problem
from memtile.importers.host_numbers import host_number
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.importers.mlir.types import Shaped

Bytes = npt.NDArray[np.uint8]
Argument = Bytes | int | float
"""What a program passes: the bytes of a tensor, or a number."""
_SOURCE = "mlir-aie: what its compiler leaves in the cache of IRON"
_NOT_TRACED = "the text has no argument for the trace: its buffer stays as it is"


def taken_by(
    kinds: Sequence[Shaped], arguments: Sequence[Argument], text: str, *, traced: bool
) -> tuple[list[Bytes | int], list[str]]:
    """The arguments by position, as a host sequence takes them.

    Args:
        kinds: of its arguments.
        arguments: what the program passes.
        text: file of the sequence.
        traced: the host adds tensors for the trace, for which the text may have no argument.

    Returns:
        Bytes where the sequence takes memory, numbers where it takes numbers; notes.

    Raises:
        InputFileError: more arguments than the sequence takes, numbers for memory or memory for numbers.
    """
    notes = list[str]()
    if traced and len(arguments) > len(kinds):
        arguments, notes = arguments[: len(kinds)], [_NOT_TRACED]
    if len(arguments) > len(kinds):
        given = f"{len(arguments)} tensors" if all(map(_is_tensor, arguments)) else str(len(arguments))
        raise InputFileError(iron_problem("arguments", given, f"up to {len(kinds)}", where=text))
    pairs = enumerate(zip(kinds, arguments, strict=False))
    return [_taken(n, kind, each, text) for n, (kind, each) in pairs], notes


def only_tensors(arguments: Sequence[Argument], where: str) -> list[Bytes]:
    """The arguments of compiled instructions, in which numbers have no place.

    Raises:
        InputFileError: a number.
    """
    for n, each in enumerate(arguments):
        if not isinstance(each, np.ndarray):
            step = "Run it from the MLIR text of the design, which may take numbers."
            says = f"argument {n} is the number {each}, and compiled instructions take tensors only"
            raise InputFileError(
                iron_problem("arguments", str(each), "tensors", says, where=where, step=step)
            )
    return [each for each in arguments if isinstance(each, np.ndarray)]


def _taken(n: int, kind: Shaped, value: Argument, text: str) -> Bytes | int:
    if is_scalar(kind):
        if isinstance(value, np.ndarray):
            says = f"argument {n} is a number of type {kind.element}, and a tensor was given"
            raise InputFileError(iron_problem("arguments", "a tensor", "a number", says, where=text))
        return host_number(n, kind, value)
    if not isinstance(value, np.ndarray):
        says = f"argument {n} is memory, and the number {value} was given"
        raise InputFileError(iron_problem("arguments", str(value), "a tensor", says, where=text))
    return value


def _is_tensor(value: Argument) -> bool:
    return isinstance(value, np.ndarray)


def iron_problem(
    field_name: str, given: str, allowed: str, says: str = "", *, where: str = "IRON kernel", step: str = ""
) -> Problem:
    """A problem with a kernel of IRON, or with what it is given."""
    return Problem(
        field_name, given, allowed, says, step, reason=f"iron_{field_name}", where=where, source=_SOURCE
    )
