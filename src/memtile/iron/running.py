"""A design of IRON on the twin: load a compiled design, run it with tensors."""

from __future__ import annotations

import hashlib
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from memtile.arch.devices import device as find_device
from memtile.cpp.compilers import cache_folder
from memtile.cpp.kernels import CppKernels, cpp
from memtile.errors import InputFileError, MemtileError, Problem
from memtile.explain.findings import Finding
from memtile.explain.results import Status
from memtile.explain.summary import Layout
from memtile.hosts.iron.runtime import CONTEXTS
from memtile.importers.design import load, load_still
from memtile.importers.kernels.user_functions import REASON
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.token_packets import Text
from memtile.iron.compiled_design import CompiledDesign, KernelSource
from memtile.iron.library_kernels import library_kernel
from memtile.iron.taking import answer, is_wanted, loading, stands_still, take
from memtile.iron.utils.tensors import Tensor
from memtile.output_files import write_output
from memtile.system import system


class HostRuntimeError(MemtileError):
    """A design does not finish, or its arguments do not fit."""


def load_design(design: CompiledDesign, asked: Mapping[str, Any] | None = None) -> Loaded:
    """Load a compiled design, with its kernels compiled for the host; without, to look at it only.

    Args:
        design: that is compiled.
        asked: what is said of its kernels, see ``Taking.loading``; None = that of the one to be taken.

    Raises:
        MemtileError: the array cannot hold the design, or a kernel does not compile.
    """
    text = Text(design.name, design.text, build=design.build_line, places=design.places)
    if stands_still():
        return load_still(text)
    asked = {"sources_beside": True, **(loading() if asked is None else asked)}
    own, compiles = asked.pop("functions", None), asked.pop("compiles", cpp)
    is_looked_at = asked.pop("is_looked_at", False)
    functions = kernel_functions(design.kernels, _device_of(design.text), compiles)
    known: Any = ChainMap(own, functions) if own else functions
    try:
        return load(text, functions=known, **asked)
    except MemtileError as error:
        if is_looked_at and error.problems and all(each.reason == REASON for each in error.problems):
            return load_still(text, functions=known, compiles=True)
        absent = {each.name: each for each in design.kernels if each.name not in functions}
        raise type(error)([_of_source(each, absent) for each in error.problems] or str(error)) from None


def _of_source(problem: Problem, absent: Mapping[str, KernelSource]) -> Problem:
    """A problem with a function whose C++ source is not there, in the words of the program."""
    kernel = absent.get(problem.given) if problem.reason == REASON else None
    if kernel is None:
        return problem
    says = f"the C++ source {kernel.file} of kernel {kernel.function} is not there, nor has the library one"
    step = (
        "Give source_file= the path of the source; relative paths begin in the working folder. Sources of "
        "aie_kernels are found in the clone of mlir-aie that MEMTILE_MLIR_AIE names."
    )
    return replace(problem, where=kernel.name, says=says, next_step=step, source="ExternalFunction")


_held: dict[tuple[str, CompiledDesign], Loaded] = {}
"""Designs whose arrays keep their state, by file and design; the one that ran last is the last."""


_found: list[Finding] = []
"""What the run that came last has found."""


def run_design(
    design: CompiledDesign, arguments: Sequence[Any], *, file: str = "", must_finish: bool = True
) -> tuple[Any, int]:
    """Run a design with tensors, in its array as the last run left it (DEV-HOST-4); it writes into them.

    A run that fails is the last in that array.

    Args:
        design: that is compiled.
        arguments: tensors and numbers, as many as the host sequence takes.
        file: that the design was read from; each has an array of its own.
        must_finish: raise if the design does not finish.

    Returns:
        memtile's result, and the cycles that the array had run before.

    Raises:
        HostRuntimeError: the design does not finish, or the arguments are too few or too many.
        MemtileError: the array cannot hold the design, a kernel does not compile, or its source has changed.
    """
    arrays = [each.data if isinstance(each, Tensor) else each for each in arguments]
    given = [
        np.ascontiguousarray(each).reshape(-1) if isinstance(each, np.ndarray) else each for each in arrays
    ]
    done, before = answer(design, given), 0
    if done is None:
        done, before = _run_held(design, file, given)
    for name, array in done.arrays.items():
        if name.isdigit() and int(name) < len(arrays) and isinstance(arrays[int(name)], np.ndarray):
            _put(arrays[int(name)], array)
    if must_finish and not _finished(done):
        raise HostRuntimeError("\n".join(done.result.summary(Layout(wrapped=False))))
    return done, before


def has_run() -> bool:
    """Whether a design has run, and well, since :func:`forget_designs`."""
    return bool(_held)


def last_findings() -> list[Finding]:
    """What the run that came last has found, since :func:`forget_designs`."""
    return list(_found)


def forget_designs() -> None:
    """Let every design begin anew when it runs next."""
    _held.clear()
    _found.clear()


def _run_held(design: CompiledDesign, file: str, given: Sequence[Any]) -> tuple[Any, int]:
    loaded = load_design(design) if is_wanted() else _held_design(design, file)
    _check_arguments(loaded, given)
    take(design, loaded, given)
    before, finished = loaded.array.engine.now, False
    try:
        done = loaded.run(*given)
        finished, _found[:] = _finished(done), done.result.findings
    finally:
        if not finished:
            _held.pop((file, design))
    return done, before


def _held_design(design: CompiledDesign, file: str) -> Loaded:
    """A design that ran before, or one that is loaded now."""
    for kernel in design.kernels:
        _source(kernel)  # a source that has changed is refused
    key = file, design
    loaded = _held.pop(key, None) or load_design(design)
    _held[key] = loaded
    npu = "npu1" if loaded.array.device.generation is find_device("npu1").generation else "npu2"
    while len(_held) > CONTEXTS[npu]:
        _held.pop(next(iter(_held)))
    return loaded


def _finished(done: Any) -> bool:
    return done.result.status is Status.FINISHED and not done.result.errors


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


def kernel_functions(
    kernels: Sequence[KernelSource], device: str, compiles: Callable[..., CppKernels] = cpp
) -> dict[str, Any]:
    """The functions of a design's kernels, by name: in C++ where the source is there, else of the library.

    Args:
        kernels: sources of the design.
        device: that the design is for.
        compiles: makes kernels of a source, as ``memtile.kernels.cpp``.

    Raises:
        InputFileError: a source has changed since the design was compiled, or does not compile; or there is
            none, and the kernel is built with a macro that the library's function does not follow.
    """
    found: dict[str, Any] = {}
    for kernel in kernels:
        path = _source(kernel)
        if path is not None:
            found[kernel.name] = _compiled(
                kernel, compiles(path, include=kernel.include, flags=kernel.flags), device
            )
        else:
            found.update(library_kernel(kernel, device))
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
        system().make_folder(folder)
        write_output(path, kernel.text)
    return path


def _compiled(kernel: KernelSource, made: CppKernels, device: str) -> Any:
    functions = made.compiled(find_device(device).generation)
    if kernel.function not in functions:
        names = ", ".join(sorted(functions)) or "none"
        raise InputFileError(
            f"{kernel.file or kernel.name}: there is no function {kernel.function}; functions are {names}."
        )
    return functions[kernel.function]


__all__ = ["HostRuntimeError", "forget_designs", "has_run", "kernel_functions", "load_design", "run_design"]
