"""Arrays of the user as buffers in external memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.design.bench import Bench
from memtile.design.buffers import Buffer
from memtile.errors import DesignError, Problem, raise_if
from memtile.sim.external import ExternalMemory


def external_buffer(
    bench: Bench, memory: ExternalMemory, name: str, array: npt.NDArray[Any], address: int | None
) -> Buffer:
    """The buffer of a design that an array in external memory is; see ``Array.external``.

    Raises:
        DesignError: as ``Array.external``.
    """
    if not isinstance(array, np.ndarray):
        problem = Problem(
            "array",
            repr(array),
            "a NumPy array",
            next_step="Give one such as np.zeros(64, np.int32).",
            reason="external",
            where=f"external buffer {name}",
            source="NumPy",
        )
        raise DesignError(problem)
    shared = [other.name for other in memory.buffers.values() if np.may_share_memory(other.array, array)]
    raise_if([_twice(name, other) for other in shared], DesignError)
    added = memory.add(name, array, address)
    kind = bench.device.kind("interface")
    return Buffer(name, kind, added.address, array.shape, array.dtype, design=bench)


def _twice(name: str, other: str) -> Problem:
    return Problem(
        "array",
        f"memory of {other}",
        "memory of its own",
        f"the array shares its memory with the external buffer {other}",
        f"Use the buffer {other}.",
        reason="external_twice",
        where=f"external buffer {name}",
        source="NumPy",
    )
