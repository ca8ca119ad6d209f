"""A design beside something else: loaded as ``memtile run`` loads it, to be run when it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from memtile.cli.mlir_file import SUFFIX, parameters_of
from memtile.errors import InputFileError
from memtile.runs.options import USUAL, RunKeywords, RunOptions

if TYPE_CHECKING:
    import numpy.typing as npt

    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile
    from memtile.explain.results import Result
    from memtile.importers.loaded import Loaded
    from memtile.io.program.array_names import Given
    from memtile.io.program.run import ProgramResult
    from memtile.sim.engine import Engine


class Ran(NamedTuple):
    """A run of a design.

    Attributes:
        result: of it.
        arrays: words that it left, by name: outputs of channels, and buffers outside that it writes.
        notes: what is to be said about it.
    """

    result: Result
    arrays: Mapping[str, npt.NDArray[Any]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DesignBeside:
    """A design that has not run.

    Attributes:
        name: as it was given.
        design: what it is in.
        run: runs it; takes fields of ``RunOptions``.
    """

    name: str
    design: Array | MemoryTile
    run: Callable[..., Ran]

    @property
    def engine(self) -> Engine:
        """The model that it is in."""
        return self.design.engine

    @property
    def array(self) -> Array:
        """The array that it is in.

        Raises:
            InputFileError: it is a memory tile alone.
        """
        from memtile.design.array import Array

        if not isinstance(self.design, Array):
            raise InputFileError(f"{self.name}: the design is a memory tile alone; it must be an array.")
        return self.design

    @property
    def moves(self) -> Mapping[int, Sequence[str]]:
        """Buffers that channels read or write, by model index of the channel."""
        from memtile.runs.session import moves_of

        return moves_of(self.array)


def load_beside(
    name: str,
    *,
    device: str = "",
    settings: Sequence[str] = (),
    kernels: str | None = None,
    given: Sequence[str] = (),
    options: RunOptions = USUAL,
) -> DesignBeside:
    """A design in Python, in MLIR, or as files of a build.

    Args:
        name: its file or folder.
        device: that it is for, where it leaves that open.
        settings: ``NAME=VALUE`` of parameters of a design in Python, or of the scratchpad of one in MLIR.
        kernels: file of kernels, or of functions that cores call.
        given: arrays in, ``NAME=FILE.npy``; those that are missing are zeros.
        options: of its run.

    Raises:
        MemtileError: as loading it raises.
    """
    path = Path(name)
    if not path.exists():
        raise InputFileError(f"{name}: there is no such file or folder.")
    if path.suffix == ".py":
        return _python(name, settings, options)
    if path.suffix == SUFFIX:
        return _mlir(name, device, settings, kernels, given, options)
    return _program(name, device, kernels, given, options)


def _python(name: str, settings: Sequence[str], options: RunOptions) -> DesignBeside:
    from memtile.cli.design_file import load_design
    from memtile.importers.design_file import guarded

    made = load_design(name, settings)

    def run(**how: Unpack[RunKeywords]) -> Ran:
        result = guarded(name, lambda: made.run(options, **how))
        buffers = made.engine.external.buffers.items()
        return Ran(result, {**result.outputs, **{each: b.array for each, b in buffers if b.writable}})

    return DesignBeside(name, made, run)


def _mlir(
    name: str,
    device: str,
    settings: Sequence[str],
    kernels: str | None,
    given: Sequence[str],
    options: RunOptions,
) -> DesignBeside:
    from memtile.cli.array_file import read_given
    from memtile.cli.kernels_file import load_functions
    from memtile.importers.design import load
    from memtile.importers.design_file import guarded

    functions = load_functions(kernels) if kernels else {}
    parameters = parameters_of(settings)
    design = load(name, device=device or None, functions=functions, parameters=parameters)
    arrays = [read_given(text) for text in given]

    def run(**how: Unpack[RunKeywords]) -> Ran:
        asked = replace(RunOptions.of(options, how), pad_arguments=True)
        return _ran(guarded(kernels or "", lambda: _run_mlir(design, arrays, asked)))

    return DesignBeside(name, design.array, run)


def _run_mlir(design: Loaded, given: Sequence[Given], options: RunOptions) -> ProgramResult:
    """Run the host sequence; its arguments that nobody gave are zeros."""
    if design.sequence is None or not all(each.name.isdecimal() for each in given):
        return design.run_with(given, [], options=options)
    arrays = {int(each.name): each.array for each in given}
    positions = range(1 + max(arrays, default=-1))
    return design.run(*map(arrays.get, positions), options=options)


def _program(
    name: str, device: str, kernels: str | None, given: Sequence[str], options: RunOptions
) -> DesignBeside:
    from memtile.cli.array_file import read_given
    from memtile.cli.program_files import read_programs
    from memtile.cli.run_program import ProgramOptions, container_of
    from memtile.importers.design_file import guarded

    read = read_programs([name], None, 0)
    found = container_of(read, ProgramOptions(device=device or None, kernels=kernels))
    arrays = [read_given(text) for text in given]

    def run(**how: Unpack[RunKeywords]) -> Ran:
        asked = replace(RunOptions.of(options, how), pad_arguments=True)
        return _ran(guarded(kernels or "", lambda: found.run(arrays, [], options=asked)))

    return DesignBeside(name, found.array, run)


def _ran(done: ProgramResult) -> Ran:
    written = {buffer.name: buffer.words for buffer in done.buffers if buffer.region.writes}
    return Ran(done.result, written)
