"""A design of IRON on the twin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.errors import MemtileError
from memtile.explain.results import Status
from memtile.importers.design import load
from memtile.iron.kernel import ExternalFunction
from memtile.iron.ops.operations import Module
from memtile.iron.utils.tensors import Tensor


class HostRuntimeError(MemtileError):
    """A design that does not come to its end."""


def run_design(module: Module, arguments: Sequence[Any]) -> Any:
    """Run a module with tensors; what it writes is in them afterwards.

    Raises:
        HostRuntimeError: it does not come to its end.
        MemtileError: it is no design that the array can hold.
    """
    loaded = load(str(module), functions=kernel_functions())
    arrays = [each.data if isinstance(each, Tensor) else each for each in arguments]
    done = loaded.run(*[each.reshape(-1) if isinstance(each, np.ndarray) else each for each in arrays])
    for number, array in done.arrays.items():
        if isinstance(number, int) and number < len(arrays):
            arrays[number].reshape(-1).view(np.uint8)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if done.result.status is not Status.FINISHED or done.result.errors:
        raise HostRuntimeError(str(done.result))
    return done


def kernel_functions() -> dict[str, Any]:
    """The C++ functions of the program, compiled, by name."""
    from memtile.cpp.kernels import cpp  # noqa: PLC0415 - most designs have none

    found: dict[str, Any] = {}
    for function in ExternalFunction._instances:
        found[function.name] = _compiled(function, cpp)
    return found


def _compiled(function: ExternalFunction, cpp: Any) -> Any:
    raise NotImplementedError(function.name)


__all__ = ["HostRuntimeError", "kernel_functions", "run_design"]
