"""What a compiled kernel of mlir-aie runs as: the MLIR text beside its files, else the files themselves."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from memtile.arch.devices import device as find_device
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import InputFileError
from memtile.hosts.iron.kernel_arguments import Argument, Bytes, iron_problem, only_tensors, taken_by
from memtile.importers.bodies.container import container
from memtile.importers.bodies.texts import beside
from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.input_files import read_bytes
from memtile.io.program.program_formats import read_program
from memtile.runs.array_names import Given, Wanted
from memtile.runs.external_uses import external_uses
from memtile.runs.options import RunOptions
from memtile.runs.program import Run

_TEXTS = ("aie.mlir", "input_with_addresses.mlir", "input_physical.mlir")


@dataclass(frozen=True, slots=True)
class KernelFiles:
    """The files of a compiled kernel.

    Attributes:
        xclbin: configuration; None for a full ELF.
        insts: instructions; None for a full ELF.
        elf: full ELF, configuration and instructions in one; None if there are the other two.
        kernel: its name; of a full ELF ``device:sequence``.
        arguments: how many arguments the host sequence takes; None = not known.
        traced: the host adds a tensor for the trace.
    """

    xclbin: Path | None
    insts: Path | None
    elf: Path | None
    kernel: str
    arguments: int | None
    traced: bool = False

    @classmethod
    def of(cls, kernel: Any) -> KernelFiles:
        """Those of an ``NPUKernel``."""
        xclbin, insts, elf = (
            Path(path).resolve() if path is not None else None
            for path in (kernel.xclbin_path, kernel.insts_path, getattr(kernel, "elf_path", None))
        )
        arguments = getattr(kernel, "num_host_bos", None)
        traced = getattr(kernel, "trace_config", None) is not None
        return cls(xclbin, insts, elf, str(kernel.kernel_name), arguments, traced)

    @property
    def main(self) -> Path:
        """The file that names the others.

        Raises:
            InputFileError: there is none.
        """
        found = self.elf or self.xclbin
        if found is None:
            raise InputFileError(
                iron_problem("kernel", "no files", "an xclbin with instructions, or a full ELF")
            )
        return found

    def stamp(self) -> tuple[tuple[Path, int], ...]:
        """The existing files, with their modification times: a different time means a different program."""
        paths = [path for path in (self.xclbin, self.insts, self.elf) if path is not None and path.is_file()]
        return tuple((path, path.stat().st_mtime_ns) for path in (*paths, *self.texts()))

    def texts(self) -> list[Path]:
        """The existing MLIR texts of the design, the best one first.

        IRON's cache has them beside the other files. With paths of one's own they are in ``NAME.prj``, and
        the makefiles of mlir-aie's examples have ``aie_NAME.mlir`` for ``final_NAME.xclbin``.
        """
        return [path for path in dict.fromkeys(self._places()) if path.is_file()]

    def _places(self) -> Iterator[Path]:
        folder, stem = self.main.parent, self.main.stem
        tail = stem.partition("_")[2]
        for name in dict.fromkeys((stem, f"aie_{tail}" if tail else "aie")):
            yield folder / f"{name}.mlir"
            for project in (f"{name}.prj", f"{name}.mlir.prj"):
                yield from (folder / project / text for text in _TEXTS)
        yield from (folder / text for text in _TEXTS)


@dataclass(frozen=True, slots=True)
class Options(RunOptions):
    """Common settings of all kernels of a runtime, with the options of their runs.

    Attributes:
        device: the NPU, ``"npu1"`` or ``"npu2"``.
        functions: that cores call and texts only declare, by name.
    """

    device: str = "npu1"
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a run.

    Attributes:
        done: its result.
        arrays: bytes of the arguments that were written, by number.
        before: cycles that its array had run before; those of ``done`` count from its first run.
    """

    done: Run
    arrays: Mapping[int, Bytes]
    before: int = 0


KernelRun = Callable[[Sequence[Argument]], Ran]
"""Runs a kernel with its arguments; what it leaves in the array is there in the next run."""
Runner = Callable[[KernelFiles, Options], KernelRun | None]
"""Function that makes a run from the files of a kernel; it returns None for files it does not support."""


def from_text(files: KernelFiles, options: Options) -> KernelRun | None:
    """The MLIR text beside the files; None if there is none.

    Raises:
        MemtileError: a text that cannot run, or is for another NPU.
    """
    texts = files.texts()
    if not texts:
        return None
    device, _, sequence = files.kernel.partition(":")
    chosen = {"name": device, "sequence": sequence or None} if files.elf is not None and sequence else {}
    text = next((each for each in texts if _takes(each, files.arguments, chosen, options)), texts[0])
    design = _loaded(text, chosen, options)  # what is wrong with it is said when it is loaded
    ended = _Ended()

    def run(arguments: Sequence[Argument]) -> Ran:
        taken, notes = taken_by(design.arguments, arguments, str(text), traced=files.traced)
        numbers = {n: each for n, each in enumerate(taken) if isinstance(each, int)}
        given, wanted = _arrays(taken, design.arguments_used(numbers))
        done = design.run_with(given, wanted, scalars=numbers, options=options)
        return ended(replace(done, notes=(*done.notes, *notes)), taken)

    return run


def from_containers(files: KernelFiles, options: Options) -> KernelRun | None:
    """The files themselves, as far as their formats are known, with bodies of cores from text beside them.

    Raises:
        MemtileError: a file of another format, or for another NPU.
    """
    paths = [path for path in (files.xclbin, files.insts, files.elf) if path is not None]
    programs = [read_program(read_bytes(path), str(path)) for path in paths]
    found = container(programs, beside(paths), functions=options.functions)
    used = {use.argument for use in external_uses(found.bodies.operations, found.shape)}
    ended = _Ended()

    def run(arguments: Sequence[Argument]) -> Ran:
        taken = only_tensors(arguments, str(files.main))
        given, wanted = _arrays(taken, used)
        done = found.run(given, wanted, options=options, again=ended.runs > 0)
        return ended(done, taken)

    return run


RUNNERS: list[Runner] = [from_text, from_containers]
"""Runners, tried in order: the first that supports the files of a kernel runs it. Add yours in front."""


def runner(files: KernelFiles, options: Options) -> KernelRun:
    """The run of the files of a kernel.

    Raises:
        MemtileError: files that are not there, that nobody can run, or that are for another NPU.
    """
    for path in (files.main, files.insts):
        if path is not None and not path.is_file():
            raise InputFileError(
                iron_problem("kernel", str(path), "files that exist", f"there is no file {path}")
            )
    for make in RUNNERS:
        run = make(files, options)
        if run is not None:
            return run
    step = "KernelRun it from IRON's cache, where the MLIR text lies beside it."
    raise InputFileError(iron_problem("kernel", str(files.main), "MLIR text beside it", step=step))


def _takes(text: Path, arguments: int | None, chosen: Mapping[str, Any], options: Options) -> bool:
    """Whether the host sequence of a text has as many arguments as the kernel."""
    return arguments is None or len(_loaded(text, chosen, options).arguments) == arguments


def _loaded(text: Path, chosen: Mapping[str, Any], options: Options) -> Loaded:
    design = load(text, functions=options.functions, **chosen)
    own, ours = design.array.device, find_device(options.device)
    if own.generation is not ours.generation:
        says = f"the design is for {own.name}, and the NPU is {ours.name}"
        step = "Choose it with install(device=...) or MEMTILE_DEVICE=npu1, npu2."
        raise InputFileError(iron_problem("device", own.name, ours.name, says, where=str(text), step=step))
    return design


def _arrays(
    arguments: Sequence[Bytes | int], used: Container[int | None]
) -> tuple[list[Given], list[Wanted]]:
    """Tensors among the arguments of a run; their length is filled up to whole words."""
    tensors = [(n, each) for n, each in enumerate(arguments) if not isinstance(each, int)]
    words = [(n, np.pad(each, (0, -each.size % WORD_BYTES))) for n, each in tensors if n in used]
    named = [(str(n), each) for n, each in words if each.size]
    given = [Given(name, each) for name, each in named]
    return given, [Wanted(name, each.dtype, each.shape) for name, each in named]


class _Ended:
    """What runs leave, one after another on one array.

    Attributes:
        runs: how many there were.
        cycles: that they took.
    """

    def __init__(self) -> None:
        self.runs, self.cycles = 0, 0

    def __call__(self, done: Run, arguments: Sequence[Bytes | int]) -> Ran:
        written = {buffer.region.argument for buffer in done.buffers if buffer.region.writes}
        sizes = {n: np.size(each) for n, each in enumerate(arguments) if n in written}
        before, self.cycles, self.runs = self.cycles, done.result.cycles, self.runs + 1
        return Ran(done, {n: done.arrays[str(n)][:size] for n, size in sizes.items()}, before)
