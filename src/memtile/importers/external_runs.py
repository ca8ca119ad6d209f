"""Designs without a host sequence: a processor fills external buffers, and waits for others to be filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError
from memtile.explain.deadlock.sentences import UNRELEASED
from memtile.explain.findings import Finding, Severity
from memtile.importers.mlir.configure import Configured
from memtile.runs.array_names import Given, Wanted
from memtile.runs.core_kernels import Kernels
from memtile.runs.operation_table import table_of
from memtile.runs.operations import MaskPoll, address_of
from memtile.runs.options import RunOptions
from memtile.runs.program import Program, Run
from memtile.runs.session import Session

_WORD = (1 << 32) - 1
_OF_ONE_LOCK = ("MT0302", "MT0305", "MT0322")
"""Codes of waits for a lock that does not come; in a circle it is the others that wait for each other."""


def run_alone(
    made: Configured,
    arrays: Sequence[npt.ArrayLike | None],
    running: Kernels,
    options: RunOptions,
) -> Run:
    """Fill external buffers, wait until those that object FIFOs fill are full, and take all of them.

    Args:
        made: the device in its array.
        arrays: contents of the external buffers in the order of the text; None = as they are.
        running: kernels of its cores.
        options: of the run.

    Returns:
        The result; ``arrays`` has the external buffers by name.

    Raises:
        InputFileError: more arrays than buffers, or one of another size.
    """
    if len(arrays) > len(made.external):
        raise _error("arrays", f"{len(arrays)} arrays", f"up to {len(made.external)}")
    for (name, own), array in zip(made.external.items(), arrays, strict=False):
        if array is not None:
            _fill(name, own, np.asarray(array))
    waits = table_of([_full(made, lock, many) for lock, many in made.fifos.outside.items()])
    done = Session(made.array).run(Program(waits, running=running, launched=True), options)
    return replace(done, arrays=dict(made.external))


def without_host(finding: Finding) -> Finding:
    """A finding of a text without host sequence: a lock that it releases nowhere may be one for its host."""
    if finding.code not in _OF_ONE_LOCK or (finding.code == "MT0302" and UNRELEASED not in finding.message):
        return finding
    fix = f"Give the text the host sequence that sets the lock (aiex.set_lock), if one does. {finding.fix}"
    return replace(finding, severity=Severity.WARNING, fix=fix.rstrip())


@dataclass(frozen=True, slots=True)
class NamedArrays:
    """What the command line says of external buffers and of other arrays, told apart.

    Attributes:
        given: arrays of others.
        wanted: of others.
        own: of the external buffers, to take at the end.
    """

    given: list[Given]
    wanted: list[Wanted]
    own: list[Wanted]


def filled(made: Configured, given: Sequence[Given], wanted: Sequence[Wanted], *, alone: bool) -> NamedArrays:
    """Fill the external buffers that arrays are given for, by name; by number too if there are no arguments.

    Raises:
        InputFileError: an array of another size; without a host sequence, a name that no buffer has.
    """
    names = {name: name for name in made.external}
    if alone:
        names |= {str(n): name for n, name in enumerate(made.external)}
    said = [*(each.name for each in given), *(each.name for each in wanted)]
    for name in said:
        if alone and name not in names:
            raise _error("array", name, ", ".join(made.external))
    for each in given:
        if each.name in names:
            _fill(names[each.name], made.external[names[each.name]], each.array)
    return NamedArrays(
        [each for each in given if each.name not in names],
        [each for each in wanted if each.name not in names],
        [each for each in wanted if each.name in names],
    )


def taken(made: Configured, wanted: Sequence[Wanted]) -> dict[str, np.ndarray]:
    """External buffers at the end, of the types and shapes that are wanted.

    Raises:
        InputFileError: a type or shape of more bytes than the buffer has, or that it is not a multiple of.
    """
    found = {}
    for each in wanted:
        own = made.external.get(each.name)
        own = list(made.external.values())[int(each.name)] if own is None else own
        data, kind = own.reshape(-1).view(np.uint8), each.dtype or own.dtype
        shape = each.shape or (own.shape if each.dtype is None else (own.nbytes // kind.itemsize,))
        size = prod(shape) * kind.itemsize
        if size > own.nbytes or (each.shape is None and size != own.nbytes):
            raise _error(f"external buffer {each.name}", f"{size} bytes wanted", f"{own.nbytes} bytes")
        found[each.name] = data[:size].view(kind).reshape(shape).copy()
    return found


def _fill(name: str, own: np.ndarray, array: np.ndarray) -> None:
    """Copy the bytes of an array, whatever its type is called."""
    if array.nbytes != own.nbytes:
        raise _error(f"external buffer {name}", f"{array.nbytes} bytes", f"{own.nbytes} bytes")
    own.reshape(-1).view(np.uint8)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _full(made: Configured, lock: str, many: int) -> MaskPoll:
    """The wait for a lock to count as many full buffers."""
    found = made.locks[lock]
    assert found.place is not None
    at = address_of(*found.place, found.kind.lock_value_base + found.id * found.kind.lock_value_stride)
    return MaskPoll(at, _WORD, many, place=f"external buffers behind lock {found.name}")


def _error(what: str, given: str, allowed: str) -> InputFileError:
    return InputFileError.of(
        what,
        given,
        allowed,
        reason="external_buffer",
        where="MLIR design",
        source="mlir-aie: aie.external_buffer",
    )
