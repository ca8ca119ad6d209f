"""A design of IRON on the twin: load a compiled design, run it with tensors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memtile.arch.devices import device as find_device
from memtile.cpp.build import cache_folder
from memtile.cpp.kernels import cpp
from memtile.errors import InputFileError, MemtileError
from memtile.explain.results import Status
from memtile.hosts.iron.runtime import CONTEXTS
from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.token_packets import Text
from memtile.iron.compiled_design import CompiledDesign, KernelSource
from memtile.iron.taking import take
from memtile.iron.utils.tensors import Tensor
from memtile.output_files import write_output

_INLINE = "-fno-semantic-interposition"
"""Lets g++ inline functions that mlir-aie's headers mark ``always_inline`` and define without ``inline``."""


class HostRuntimeError(MemtileError):
    """A design does not finish, or its arguments do not fit."""


def load_design(design: CompiledDesign) -> Loaded:
    """Load a compiled design, with its kernels compiled for the host.

    Raises:
        MemtileError: the array cannot hold the design, or a kernel does not compile.
    """
    text = Text(design.name, design.text, build=design.build_line, places=design.places)
    functions = kernel_functions(design.kernels, _device_of(design.text))
    return load(text, functions=functions, sources_beside=True)


_held: dict[tuple[str, CompiledDesign], Loaded] = {}
"""Designs whose arrays keep their state, by file and design; the one that ran last is the last."""


def held_design(design: CompiledDesign, file: str = "") -> Loaded:
    """Load a compiled design, or give the one that ran: its array is as the last run left it (DEV-HOST-4).

    Args:
        design: that is to run.
        file: that it was read from; each has an array of its own.

    Raises:
        MemtileError: the array cannot hold the design, a kernel does not compile, or its source has changed.
    """
    for kernel in design.kernels:
        _source(kernel)  # a source that has changed is refused
    key = file, design
    loaded = _held.pop(key, None)
    if loaded is None:
        loaded = load_design(design)
    _held[key] = loaded
    npu = "npu1" if loaded.array.device.generation is find_device("npu1").generation else "npu2"
    while len(_held) > CONTEXTS[npu]:
        _held.pop(next(iter(_held)))
    return loaded


def forget_designs(loaded: Loaded | None = None) -> None:
    """Let a design begin anew when it runs next; without one, all of them."""
    for key in [key for key, held in _held.items() if loaded in (None, held)]:
        del _held[key]


def run_held(design: Loaded, arguments: Sequence[Any], *, must_finish: bool = True) -> tuple[Any, int]:
    """Run a design that :func:`held_design` gives; one that fails begins anew when it runs next.

    Returns:
        memtile's result, and the cycles that the array had run before.

    Raises:
        HostRuntimeError: the design does not finish, or its arguments do not fit.
    """
    before, finished = design.array.engine.now, False
    try:
        done = run_design(design, arguments, must_finish=must_finish)
        finished = done.result.status is Status.FINISHED and not done.result.errors
    finally:
        if not finished:
            forget_designs(design)
    return done, before


def run_design(design: Loaded, arguments: Sequence[Any], *, must_finish: bool = True) -> Any:
    """Run a loaded design with tensors; what it writes is in them afterwards.

    Args:
        design: that :func:`load_design` gives.
        arguments: tensors and numbers, as many as the host sequence takes.
        must_finish: raise if the design does not finish.

    Returns:
        memtile's result.

    Raises:
        HostRuntimeError: the design does not finish, or the arguments are too few or too many.
    """
    arrays = [each.data if isinstance(each, Tensor) else each for each in arguments]
    _check_arguments(design, arrays)
    given = [
        np.ascontiguousarray(each).reshape(-1) if isinstance(each, np.ndarray) else each for each in arrays
    ]
    done = take(design, given) or design.run(*given)
    for name, array in done.arrays.items():
        if name.isdigit() and int(name) < len(arrays) and isinstance(arrays[int(name)], np.ndarray):
            _put(arrays[int(name)], array)
    if must_finish and (done.result.status is not Status.FINISHED or done.result.errors):
        raise HostRuntimeError(str(done.result))
    return done


def _put(target: np.ndarray[Any, Any], array: Any) -> None:
    """Copy the bytes of a result into the array of a tensor; one with gaps is read only."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    flat = np.ascontiguousarray(target).reshape(-1).view(np.uint8)[: data.size]
    if np.shares_memory(flat, target):
        flat[:] = data
    elif not np.array_equal(flat, data):
        raise HostRuntimeError(
            f"a tensor of shape {target.shape} is not contiguous: the design cannot write it"
        )


def _check_arguments(design: Loaded, arrays: Sequence[Any]) -> None:
    """Refuse too many arguments, and too few unless the array uses none of the others."""
    count = len(design.arguments)
    missing = range(len(arrays), count)
    if len(arrays) <= count and not (missing and design.used_arguments.intersection(missing)):
        return
    raise HostRuntimeError(
        f"the host sequence of this design takes {count} arguments, {len(arrays)} were passed. Pass one "
        f"tensor for each argument of Runtime.sequence."
    )


def _device_of(text: str) -> str:
    """mlir-aie's name of the first device of a text."""
    _, found, rest = text.partition("aie.device(")
    if not found:
        raise HostRuntimeError("the module has no aie.device")
    return rest.partition(")")[0]


def kernel_functions(kernels: Sequence[KernelSource], device: str) -> dict[str, Any]:
    """The functions of a design's kernels, by name: in C++ where the source is there, else of the library.

    Args:
        kernels: sources of the design.
        device: that the design is for.

    Raises:
        InputFileError: a source has changed since the design was compiled, or does not compile.
    """
    found: dict[str, Any] = {}
    for kernel in kernels:
        path = _source(kernel)
        if path is not None:
            found[kernel.name] = _compiled(kernel, path, find_device(device).generation)
        else:
            found.update(_of_library(kernel, device))
    return found


def _source(kernel: KernelSource) -> Path | None:
    """The file of a kernel; a source that is a text is written to the cache."""
    if kernel.text is None:
        path = Path(str(kernel.file))
        if not kernel.digest and not path.exists():
            return None
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != kernel.digest:
            raise InputFileError(
                f"{path}: this source of kernel {kernel.name} has changed since its design was compiled. "
                f"Compile the design again."
            )
        return path
    folder = cache_folder("iron-sources")
    path = folder / f"{kernel.function}_{kernel.digest[:16]}.cc"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_output(path, kernel.text)
    return path


def _compiled(kernel: KernelSource, path: Path, generation: str) -> Any:
    functions = cpp(path, include=kernel.include, flags=(*kernel.flags, _INLINE)).compiled(generation)
    if kernel.function not in functions:
        names = ", ".join(sorted(functions)) or "none"
        raise InputFileError(f"{path}: there is no function {kernel.function}; functions are {names}.")
    return functions[kernel.function]


def _of_library(kernel: KernelSource, device: str) -> dict[str, Any]:
    """A kernel of the library, with the macros that change what it does."""
    from memtile.corelib.library import library

    columns = ["-DB_COL_MAJ" in kernel.flags, "-DC_COL_MAJ" in kernel.flags]
    known = library(device, b_columns=columns[0], c_columns=columns[1])
    return {kernel.name: known[kernel.function]} if kernel.function in known else {}


__all__ = [
    "HostRuntimeError",
    "forget_designs",
    "held_design",
    "kernel_functions",
    "load_design",
    "run_design",
    "run_held",
]
