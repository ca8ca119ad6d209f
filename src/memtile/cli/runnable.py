"""Designs and programs named on a command line, loaded and ready to run, whatever they are written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from memtile.cli.array_file import read_given
from memtile.cli.iron_program import is_iron
from memtile.cli.kernel_sources import NO_KERNELS, CppMaker, KernelSources
from memtile.cli.mlir_file import SUFFIX, parameters_of
from memtile.cli.program_files import ProgramFiles, read_programs
from memtile.errors import InputFileError
from memtile.runs.options import USUAL, RunKeywords, RunOptions

if TYPE_CHECKING:
    import numpy.typing as npt

    from memtile.arch.core_costs import CoreCosts
    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile
    from memtile.explain.findings import Finding
    from memtile.explain.repairs import Candidate
    from memtile.explain.results import Result
    from memtile.importers.bodies.container import Container
    from memtile.importers.loaded import Loaded
    from memtile.importers.repairs import Repairs
    from memtile.importers.scalar_conditions import ScalarConditions
    from memtile.runs.array_names import Given, Wanted
    from memtile.runs.core_kernels import Kernels
    from memtile.runs.program import Run
    from memtile.sim.loop.engine import Engine

Format = Literal["auto", "txn", "cdo", "dump", "asm", "xclbin", "pdi", "elf"]


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options that are for programs, and for designs of MLIR."""

    given: Sequence[str] = ()
    wanted: Sequence[str] = ()
    device: str | None = None
    format: Format = "auto"
    base: int = 0
    kernels: KernelSources = NO_KERNELS
    keep_order: bool = False
    kernel: str | None = None
    expected: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Runnable:
    """A design or a program that is loaded.

    Attributes:
        name: as it was given.
        design: the machine that it is in.
        once: runs it.
        is_program: it has arrays in and out; False = a design in Python.
        files: that went in.
        notes: what was said when it was loaded.
        ignored: what was read and changes nothing.
        kernels: what its cores do, by column and row.
        repairs: what tries changes of its text; None = it has no text.
        conditions: what tries other numbers of its host; None = it is no text of MLIR.
    """

    name: str
    design: Array | MemoryTile
    once: Callable[[RunOptions], Run]
    is_program: bool
    files: Sequence[str]
    notes: Sequence[str] = ()
    ignored: Sequence[str] = ()
    kernels: Kernels = field(default_factory=dict)
    repairs: Repairs | None = None
    conditions: ScalarConditions | None = None

    def run(self, options: RunOptions = USUAL, **more: Unpack[RunKeywords]) -> Run:
        """Run it; ``more`` are fields of :class:`RunOptions`, which come before ``options``."""
        return self.once(RunOptions.of(options, more))

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

    def outcomes(self, done: Run) -> Mapping[str, npt.NDArray[Any]]:
        """What came out that is expected or wanted, by name: what schedules are compared by."""
        from memtile.design.run_design import result_arrays

        return done.arrays if self.is_program else result_arrays(self.design, done.result)

    def words(self, done: Run) -> Mapping[str, npt.NDArray[Any]]:
        """Words that a run left, by name: outputs of channels, and buffers outside that it writes."""
        if self.is_program:
            return {buffer.name: buffer.words for buffer in done.buffers if buffer.region.writes}
        buffers = self.engine.external.buffers.items()
        return {**done.result.outputs, **{name: each.array for name, each in buffers if each.writable}}


Maker = Callable[[], Runnable]
"""Loads what is to run, each time anew."""


def python_design(file: str, settings: Sequence[str], expected: Sequence[Given] = ()) -> Maker:
    """What loads a design in Python.

    Args:
        file: of the design.
        settings: ``NAME=VALUE`` of its parameters.
        expected: what arrays in external memory must hold after a run, by their names, whatever the design
            expects of them itself.
    """
    from memtile.cli.design_file import load_design
    from memtile.importers.design_file import guarded
    from memtile.importers.hosted_array import HostedArray
    from memtile.runs.core_kernels import attached
    from memtile.runs.program import Run

    def make() -> Runnable:
        made = load_design(file, settings)
        _expect(file, made, expected)
        if isinstance(made, HostedArray):
            hosted = made
            return Runnable(
                file,
                hosted,
                lambda how: guarded(file, lambda: hosted.run_once(how)),
                True,
                [file],
                kernels=hosted.loaded.kernels,
            )

        def once(how: RunOptions) -> Run:
            return Run(guarded(file, lambda: made.run(how)))

        repairs = python_repairs(file, settings, expected)
        return Runnable(file, made, once, False, [file], kernels=attached(made.engine), repairs=repairs)

    return make


def design_of(file: str, source: str, settings: Sequence[str]) -> MemoryTile | Array:
    """The design of a source that a Python file may have.

    Raises:
        MemtileError: as loading a design raises it.
    """
    from memtile.cli.design_file import settings_of
    from memtile.design.run_design import make
    from memtile.importers.design_file import design_function, user_code

    function, given = design_function(file, source), settings_of(settings)
    made: MemoryTile | Array = user_code(Path(file), lambda: make(function, given, file))
    return made


def _expect(file: str, design: Array | MemoryTile, expected: Sequence[Given]) -> None:
    """Have a design compare arrays in external memory with what must be there.

    Raises:
        InputFileError: there is no such array, or it has another size.
        DesignError: values that its type does not hold.
    """
    from memtile.design.bench import Bench

    bench = design if isinstance(design, Bench) else design.bench
    arrays = {name: each.array for name, each in bench.engine.external.buffers.items() if each.writable}
    for each in expected:
        array = arrays.get(each.name)
        if array is None:
            known = ", ".join(arrays) or "none"
            raise InputFileError(
                f"{file}: the design writes no array {each.name}. Its arrays in external memory: {known}."
            )
        if array.size != each.array.size:
            counts = f"{each.array.size:,} elements are expected of {each.name}, which has {array.size:,}"
            raise InputFileError(f"{file}: {counts}.")
        bench.compared[:] = [one for one in bench.compared if one[1] is not array]
        bench.expect_array(each.name, array, each.array.reshape(array.shape))


def python_repairs(file: str, settings: Sequence[str], expected: Sequence[Given] = ()) -> Repairs:
    """What tries changes of the source of a design in Python."""
    from memtile.importers.design_file import guarded
    from memtile.importers.mlir.token_packets import Text
    from memtile.importers.python.candidates import python_candidates
    from memtile.importers.repairs import Ended, Repairs
    from memtile.input_files import read_bytes

    def once(source: Text, how: RunOptions) -> Ended:
        made = design_of(file, source.content, settings)
        _expect(file, made, expected)
        return Ended(guarded(file, lambda: made.run(how)))

    def candidates(source: Text, findings: Sequence[Finding]) -> Sequence[Candidate]:
        return python_candidates(source.content, source.name, findings)

    source = read_bytes(file, "text_bytes").decode("utf-8-sig", "replace").replace("\r\n", "\n")

    def walks(before: Result) -> Iterable[Candidate]:
        from memtile.design.memory_tile import MemoryTile
        from memtile.explain.walk_trials import walk_candidates
        from memtile.runs.observing import areas_of

        if before.kept is None:
            return ()
        made = design_of(file, source, settings)
        areas = [*areas_of(made.bench if isinstance(made, MemoryTile) else made)]
        return walk_candidates(before.kept.engine(), areas)

    return Repairs(Text(file, source), candidates, once, more=walks)


def iron_design(
    file: str,
    arguments: Sequence[str],
    settings: Sequence[str],
    given: Sequence[str] = (),
    wanted: Sequence[Wanted] = (),
    device: str = "",
    kernels: KernelSources = NO_KERNELS,
    costs: CoreCosts | None = None,
) -> Maker:
    """What loads the design of a program of IRON: the first that it runs, else the last that it builds.

    Args:
        file: of the program.
        arguments: its own.
        settings: ``NAME=VALUE`` of parameters: options of the program, and ``CompileTime`` values.
        given: arrays in, ``NUMBER=FILE.npy``, instead of the program's tensors.
        wanted: arrays to take.
        device: for a program that chooses none; empty = as the environment says.
        kernels: functions that come before those of the program, and how its C++ sources are compiled.
        costs: of operations and calls of its cores.
    """
    from memtile.cli.conditions import hosted_conditions
    from memtile.cli.design_file import settings_of
    from memtile.cli.iron_program import iron_array
    from memtile.importers.design_file import guarded
    from memtile.importers.hosted_array import of_changed
    from memtile.importers.text_repairs import repairs_of

    values = settings_of(settings)
    arrays = [read_given(text) for text in given]
    files = [file, *kernels.files, *(text.partition("=")[2] for text in given)]
    make_cpp = kernels.maker()
    loading = {**iron_loading(kernels, make_cpp), "costs": costs}

    def make() -> Runnable:
        design = iron_array(file, arguments, values, device, loading)
        kernels.check_used(beside=bool(make_cpp.found))
        for each in arrays:
            design.give(each)
        expected: dict[str, npt.NDArray[Any]] = {}

        def once(how: RunOptions) -> Run:
            done = guarded(kernels.file or "", lambda: design.run_once(how, wanted))
            expected.update(done.expected)
            return done

        def run_once(other: Loaded, how: RunOptions) -> Run:
            hosted = other.hosted(*design.arguments)
            hosted.verdict = of_changed(design.verdict, expected)
            return hosted.run_once(how)

        repairs = repairs_of(design.loaded, run_once)
        said = f"{file} is a program of IRON: the design that it runs first is run, with its tensors"
        return Runnable(
            file, design, once, True, files, [said],
            kernels=design.loaded.kernels, repairs=repairs, conditions=hosted_conditions(design),
        )  # fmt: skip

    return make


def iron_loading(kernels: KernelSources, make_cpp: CppMaker) -> dict[str, Any]:
    """What the kernels of a command say to the design of a program, see ``Taking.loading``."""
    return {
        "functions": kernels.with_functions(_python_functions(kernels), make_cpp),
        "compiles": make_cpp.named,
        "sources_beside": make_cpp.beside,
    }


def mlir_design(
    file: str,
    options: ProgramOptions,
    settings: Sequence[str],
    wanted: Sequence[Wanted] | None = None,
    *,
    costs: CoreCosts | None = None,
    against: Path | None = None,
    numbers: Sequence[Given] = (),
    sources_beside: bool = False,
) -> Maker:
    """What loads a design in MLIR.

    Args:
        file: of its text.
        options: its arrays, device and functions.
        settings: ``NAME=NUMBER`` of parameters of the scratchpad.
        wanted: arrays to take; None = none, and arguments that nobody gave are zeros.
        costs: of operations and calls of its cores.
        against: folder of a build that it is compared with when it is loaded first.
        numbers: arguments that are numbers, beside its arrays.
        sources_beside: C++ sources beside it are compiled for functions that nothing else has.

    Raises:
        InputFileError: functions, parameters or costs that cannot be read.
    """
    from memtile.importers.build_comparison import compare
    from memtile.importers.design import load
    from memtile.importers.scalar_conditions import ScalarConditions
    from memtile.importers.text_repairs import repairs_of

    kernels = options.kernels
    loading, make_cpp = _loading(options, settings, costs, sources_beside=sources_beside)
    files = [file, *kernels.files, *_array_files(options)]

    def make() -> Runnable:
        made = load(file, **loading)
        kernels.check_used(beside=bool(make_cpp.found))
        notes = [compare(made, against).text] if against is not None else []
        given = [*map(read_given, options.given), *numbers]
        run_once = _once(options, given, wanted)
        return Runnable(
            file, made.array, partial(run_once, made), True, files, notes, made.notes, made.kernels,
            repairs_of(made, run_once), ScalarConditions(made, run_once, made.numbers_of(given)),
        )  # fmt: skip

    return make


def refused_repairs(file: str, options: ProgramOptions, settings: Sequence[str]) -> Repairs:
    """What tries changes of a text of MLIR that is refused; C++ sources beside it are compiled.

    Args:
        file: of the text.
        options: its arrays, device and functions.
        settings: ``NAME=NUMBER`` of parameters of the scratchpad.

    Raises:
        InputFileError: the file, functions or parameters cannot be read.
    """
    from memtile.importers.design import load, text_of
    from memtile.importers.text_repairs import text_repairs

    loading, _ = _loading(options, settings, None, sources_beside=True)
    given = [read_given(text) for text in options.given]
    return text_repairs(text_of(file), partial(load, **loading), _once(options, given, None))


def _loading(
    options: ProgramOptions, settings: Sequence[str], costs: CoreCosts | None, *, sources_beside: bool
) -> tuple[dict[str, Any], CppMaker]:
    """How a text of MLIR is loaded, and what compiles C++ sources for it."""
    kernels = options.kernels
    make_cpp = kernels.maker()
    name, sequence = _chosen(options.kernel)
    loading = {
        "bodies": _bodies(kernels),
        "device": options.device or None,
        "name": name,
        "sequence": sequence,
        "functions": kernels.with_functions(_python_functions(kernels), make_cpp),
        "parameters": parameters_of(settings),
        "costs": costs,
        "sources_beside": sources_beside and make_cpp.beside,
    }
    return loading, make_cpp


def _once(
    options: ProgramOptions, given: Sequence[Given], wanted: Sequence[Wanted] | None
) -> Callable[[Loaded, RunOptions], Run]:
    """What runs a design in MLIR with the arrays that are given."""
    from memtile.importers.design_file import guarded

    def run_once(design: Loaded, how: RunOptions) -> Run:
        return guarded(options.kernels.file or "", lambda: _run_once(design, given, wanted, how))

    return run_once


def _array_files(options: ProgramOptions) -> list[str]:
    """Files of the arrays that go in and that are expected."""
    return [text.partition("=")[2] for text in (*options.given, *options.expected)]


def _bodies(kernels: KernelSources) -> str | None:
    """The file of MLIR text among kernels; None = there is none."""
    return kernels.file if kernels.file and Path(kernels.file).suffix == SUFFIX else None


def _python_functions(kernels: KernelSources) -> dict[str, Any]:
    """Functions of the file of Python among kernels, by name."""
    from memtile.cli.kernels_file import load_functions

    return load_functions(kernels.file) if kernels.file and not _bodies(kernels) else {}


def _chosen(kernel: str | None) -> tuple[str | None, str | None]:
    """Device and host sequence of ``DEVICE:SEQUENCE``, either of which may be left out."""
    name, colon, sequence = (kernel or "").rpartition(":")
    return (name or None, sequence or None) if colon else (None, kernel)


def _run_once(
    design: Loaded, given: Sequence[Given], wanted: Sequence[Wanted] | None, options: RunOptions
) -> Run:
    """Run the host sequence and take the wanted arrays."""
    if wanted is None:
        return _with_zeros(design, given, options)
    return design.run_with(given, wanted, options=options)


def _with_zeros(design: Loaded, given: Sequence[Given], options: RunOptions) -> Run:
    """Run the host sequence; its arguments that nobody gave are zeros."""
    options = replace(options, pad_arguments=True)
    if design.sequence is None or not all(each.name.isdecimal() for each in given):
        return design.run_with(given, [], options=options)
    arrays = {int(each.name): each.array for each in given}
    positions = range(1 + max(arrays, default=-1))
    return design.run(*map(arrays.get, positions), options=options)


def program_files(
    files: Sequence[str], options: ProgramOptions, wanted: Sequence[Wanted] | None = None
) -> Maker:
    """What loads files of register writes, one after another, as one program.

    Args:
        files: paths of files and of build folders.
        options: how they are read, their arrays and kernels.
        wanted: arrays to take; None = none, and arrays that are too short are filled up.

    Raises:
        InputFileError: a file that cannot be read.
    """
    from memtile.importers.design_file import guarded
    from memtile.io.program.brought import brought

    options.kernels.check_used(beside=False)
    form = None if options.format == "auto" else options.format
    read = read_programs(files, form, options.base, options.kernel)
    inputs = [*map(str, read.paths), *_array_files(options)]

    def make() -> Runnable:
        found = _container(read, options)
        given = [read_given(text) for text in options.given]
        notes = (*read.notes, *found.notes, *brought(read.programs, given)[1])

        def once(how: RunOptions) -> Run:
            how = how if wanted is not None else replace(how, pad_arguments=True)
            return guarded(options.kernels.file or "", lambda: found.run(given, wanted or (), options=how))

        return Runnable(files[0], found.array, once, True, inputs, notes, kernels=found.bodies.kernels)

    return make


def _container(read: ProgramFiles, options: ProgramOptions) -> Container:
    """The files in order, with the kernels that the user gave, else with bodies of MLIR text."""
    from memtile.cli.kernels_file import KernelsFile, load_kernels
    from memtile.importers.bodies.container import container
    from memtile.importers.bodies.texts import beside, check_text

    kernels = options.kernels
    text = kernels.file if kernels.file and Path(kernels.file).suffix == ".mlir" else None
    if text:
        check_text(Path(text))
    texts = [Path(text)] if text else beside(read.paths)
    given = KernelsFile({}, {})
    if kernels.file and not text:
        given = load_kernels(kernels.file, with_text=bool(texts))
    return container(
        read.programs,
        texts,
        device=options.device,
        functions=kernels.with_functions(given.functions),
        kernels=given.kernels,
        names=[*filter(None, [options.kernel]), *read.names],
        keep_order=options.keep_order,
    )


_OWN_KERNELS = (
    "a design in Python has its kernels itself. --kernels is for MLIR text and for files of programs."
)


def load_beside(
    name: str,
    *,
    device: str = "",
    settings: Sequence[str] = (),
    kernels: str | None = None,
    given: Sequence[str] = (),
    expected: Mapping[str, npt.NDArray[Any]] | None = None,
) -> Runnable:
    """A design in Python, in MLIR, or as files of a build, to be run beside something else.

    Args:
        name: its file or folder.
        device: that it is for, where it leaves that open.
        settings: ``NAME=VALUE`` of parameters of a design in Python, or of the scratchpad of one in MLIR.
        kernels: file of kernels, or of functions that cores call.
        given: arrays in, ``NAME=FILE.npy``; those that are missing are zeros.
        expected: arrays that files of a build are to leave, by name; None = all that they write.

    Raises:
        MemtileError: as loading it raises.
    """
    from memtile.runs.array_names import Wanted

    path = Path(name)
    if not path.exists():
        raise InputFileError(f"{name}: there is no such file or folder.")
    if path.suffix == ".py":
        if kernels is not None:
            raise InputFileError(f"{name}: {_OWN_KERNELS}")
        if is_iron(name):
            return iron_design(name, (), settings, given, device=device)()
        return python_design(name, settings)()
    files = KernelSources.of([kernels] if kernels else [])
    options = ProgramOptions(given, device=device or None, kernels=files)
    wanted = [Wanted(each, array.dtype, array.shape) for each, array in (expected or {}).items()]
    return (
        mlir_design(name, options, settings, sources_beside=True)
        if path.suffix == SUFFIX
        else program_files([name], options, wanted or None)
    )()
