"""Designs without a host sequence: a processor fills external buffers, and waits for others to be filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from memtile.arch.timing import LAUNCH_CYCLES
from memtile.errors import InputFileError, Problem
from memtile.importers.mlir.configure import Configured
from memtile.io.program.core_kernels import Kernels
from memtile.io.program.operations import MaskPoll, address_of
from memtile.io.program.run import ProgramResult, run_program
from memtile.sim.settling import settle

_WORD = (1 << 32) - 1


def run_alone(
    made: Configured,
    arrays: Sequence[npt.ArrayLike | None],
    running: Kernels,
    max_cycles: int,
    *,
    untimed: bool,
) -> ProgramResult:
    """Fill external buffers, wait until those that object FIFOs fill are full, and take all of them.

    Args:
        made: the device in its array.
        arrays: contents of the external buffers in the order of the text; None = as they are.
        running: kernels of its cores.
        max_cycles: limit in cycles.
        untimed: move data without a clock.

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
    if not untimed:
        settle(made.array.engine, LAUNCH_CYCLES)
    waits = [_full(made, lock, many) for lock, many in made.fifos.outside.items()]
    done = run_program(waits, made.array, running=running, max_cycles=max_cycles, untimed=untimed)
    return replace(done, arrays=dict(made.external))


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
    return InputFileError(
        Problem(
            reason="external_buffer",
            where="MLIR design",
            field=what,
            given=given,
            allowed=allowed,
            source="mlir-aie: aie.external_buffer",
        )
    )
