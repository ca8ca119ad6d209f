"""A design beside something else: loaded as ``memtile run`` loads it, to be run when it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.mlir_file import SUFFIX
from memtile.errors import InputFileError

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.explain.results import Result


@dataclass(frozen=True, slots=True)
class DesignBeside:
    """A design that has not run.

    Attributes:
        name: as it was given.
        array: that it is in.
        run: runs it.
    """

    name: str
    array: Array
    run: Callable[[], Result]

    @property
    def moves(self) -> Mapping[int, Sequence[str]]:
        """Buffers that channels read or write, by model index of the channel."""
        channels = (channel for tile in self.array.tiles for channel in (*tile.s2mm, *tile.mm2s))
        return {channel.index: tuple(channel.moves) for channel in channels}


def load_beside(
    name: str,
    *,
    device: str = "",
    settings: Sequence[str] = (),
    kernels: str | None = None,
    given: Sequence[str] = (),
    max_cycles: int,
) -> DesignBeside:
    """A design in Python, in MLIR, or as files of a build.

    Args:
        name: its file or folder.
        device: that it is for, where it leaves that open.
        settings: ``NAME=VALUE`` of parameters of a design in Python.
        kernels: file of kernels, or of functions that cores call.
        given: arrays in, ``NAME=FILE.npy``; those that are missing are zeros.
        max_cycles: limit of its run.

    Raises:
        MemtileError: as loading it raises; a memory tile alone.
    """
    path = Path(name)
    if not path.exists():
        raise InputFileError(f"{name}: there is no such file or folder.")
    if path.suffix == ".py":
        return _python(name, settings, max_cycles)
    if path.suffix == SUFFIX:
        return _mlir(name, device, kernels, given, max_cycles)
    return _program(name, device, kernels, given, max_cycles)


def _python(name: str, settings: Sequence[str], max_cycles: int) -> DesignBeside:
    from memtile.cli.design_file import guarded, load_design
    from memtile.design.array import Array

    made = load_design(name, settings)
    if not isinstance(made, Array):
        raise InputFileError(f"{name}: the design is a memory tile alone; it must be an array.")
    return DesignBeside(name, made, lambda: guarded(name, lambda: made.run(max_cycles)))


def _mlir(name: str, device: str, kernels: str | None, given: Sequence[str], max_cycles: int) -> DesignBeside:
    from memtile.cli.array_file import read_given
    from memtile.cli.design_file import guarded
    from memtile.cli.kernels_file import load_functions
    from memtile.importers.design import load

    functions = load_functions(kernels) if kernels else {}
    design = load(name, device=device or None, functions=functions)
    arrays = [read_given(text) for text in given]

    def run() -> Result:
        done = guarded(
            kernels or "",
            lambda: design.run_with(arrays, [], pad_arguments=True, max_cycles=max_cycles),
        )
        return done.result

    return DesignBeside(name, design.array, run)


def _program(
    name: str, device: str, kernels: str | None, given: Sequence[str], max_cycles: int
) -> DesignBeside:
    from memtile.cli.array_file import read_given
    from memtile.cli.design_file import guarded
    from memtile.cli.program_files import read_programs
    from memtile.cli.run_program import ProgramOptions, container_of

    read = read_programs([name], None, 0)
    found = container_of(read, ProgramOptions(device=device or None, kernels=kernels))
    arrays = [read_given(text) for text in given]

    def run() -> Result:
        done = guarded(
            kernels or "", lambda: found.run(arrays, [], pad_arguments=True, max_cycles=max_cycles)
        )
        return done.result

    return DesignBeside(name, found.array, run)
