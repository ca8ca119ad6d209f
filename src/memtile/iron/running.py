"""A design of IRON on the twin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memtile.arch.devices import device as find_device
from memtile.corelib.library import library
from memtile.cpp.build import cache_folder
from memtile.cpp.kernels import cpp
from memtile.errors import MemtileError
from memtile.explain.results import Status
from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.iron.kernel import ExternalFunction
from memtile.iron.ops.operations import Module
from memtile.iron.taking import take
from memtile.iron.utils.tensors import Tensor
from memtile.output_files import write_output


class HostRuntimeError(MemtileError):
    """A design that does not come to its end."""


def run_design(module: Module, arguments: Sequence[Any]) -> Any:
    """Run a module with tensors; what it writes is in them afterwards.

    Raises:
        HostRuntimeError: it does not come to its end.
        MemtileError: it is no design that the array can hold.
    """
    loaded = load_module(module)
    given = [array_of(each) for each in arguments]
    answered = take(loaded, given)
    arrays = [each.data if isinstance(each, Tensor) else each for each in arguments]
    done = loaded.run(*given) if answered is None else answered
    for name, array in done.arrays.items():
        if name.isdigit():
            np.copyto(arrays[int(name)].reshape(-1).view(np.uint8), np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    if done.result.status is not Status.FINISHED or done.result.errors:
        raise HostRuntimeError(str(done.result))
    return done


def array_of(argument: Any) -> Any:
    """What a host sequence is run with for a tensor, flat; numbers are themselves."""
    found = argument.data if isinstance(argument, Tensor) else argument
    return found.reshape(-1) if isinstance(found, np.ndarray) else found


def load_module(module: Module) -> Loaded:
    """Load a module, with the program's kernels.

    Raises:
        MemtileError: it is no design that the array can hold.
    """
    return load(module, functions=kernel_functions(device_of(module)))


def device_of(module: Module) -> str:
    """mlir-aie's name of the device that a module is for."""
    for operation in module.body.operations:
        if operation.name == "aie.device":
            return operation.attributes["device"].short()
    raise HostRuntimeError("the module has no aie.device")


def kernel_functions(device: str) -> dict[str, Any]:
    """The functions of the program's kernels, by name: in C++ if the source is there, else of the library.

    Args:
        device: that the design is for.
    """
    found: dict[str, Any] = {}
    for function in sorted(ExternalFunction._instances, key=lambda each: each.name):
        text = _source(function)
        if text is not None:
            found[function.name] = _compiled(function, text, find_device(device).generation)
        elif function._compile_flags:
            found.update(_of_library(function, device))
    return found


def _source(function: ExternalFunction) -> Path | None:
    """The file of a kernel; that of a text is written to the cache."""
    if function._source_string is None:
        path = Path(str(function._source_file))
        return path.resolve() if path.exists() else None
    folder = cache_folder("iron-sources")
    path = folder / f"{function._original_name}_{function._content_digest()}.cc"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_output(path, function._source_string)
    return path


def _compiled(function: ExternalFunction, path: Path, generation: str) -> Any:
    sources = cpp(path, include=function._include_dirs, flags=function._compile_flags)
    return sources.compiled(generation)[function._original_name]


def _of_library(function: ExternalFunction, device: str) -> dict[str, Any]:
    """A kernel of the library that was compiled with macros which change what it does."""
    flags = function._compile_flags
    options = {"b_columns": "-DB_COL_MAJ" in flags, "c_columns": "-DC_COL_MAJ" in flags}
    known = library(device, **options) if any(options.values()) else {}
    return {function.name: known[function.name]} if function.name in known else {}


__all__ = ["HostRuntimeError", "kernel_functions", "run_design"]
