"""Containers and build folders ready to run: in the order of a build, with what their cores do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Unpack

from memtile.arch.devices import Device
from memtile.arch.dispatch import Dispatch, Launch
from memtile.cpp.comparison import Reference
from memtile.design.array import Array
from memtile.importers.bodies.device_finder import NO_FUNCTIONS, Functions
from memtile.importers.bodies.program_bodies import Bodies, bodies
from memtile.importers.bodies.texts import beside
from memtile.importers.kernels.call_accounts import CallAccounts
from memtile.importers.kernels.cpp_functions import references_in
from memtile.input_files import read_bytes
from memtile.io.program import program_formats
from memtile.io.program.brought import brought
from memtile.io.program.containers.build_folder import build_files
from memtile.io.program.device_detection import device_of
from memtile.io.program.file_order import ordered
from memtile.runs.array_names import Given, Wanted
from memtile.runs.core_kernels import NO_KERNELS, Kernels, NamedKernels
from memtile.runs.external_uses import external_uses
from memtile.runs.operation_table import table_of
from memtile.runs.operations import ArrayShape, Operation
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.runs.program import Program, Run
from memtile.runs.session import Session

_CONTAINERS = ("xclbin", "pdi")
_CALLED = {Dispatch.XCLBIN: "xclbin", Dispatch.ELF: "ELF"}
_CONFIGURATIONS = ("cdo", *_CONTAINERS)


@dataclass(frozen=True)
class Container:
    """Compiled files that are one program.

    Attributes:
        device: that they run on.
        shape: of the part of it that they see.
        bodies: their operations, and what their cores do.
        launch: how many of the operations configure the array before the host begins.
        programs: as they were read, in the order in which they are done.
        notes: on the order, and on where bodies come from.
        references: reference functions for calls of C++ functions, by name.
    """

    device: Device
    shape: ArrayShape
    bodies: Bodies
    launch: int
    programs: Sequence[program_formats.Program]
    notes: tuple[str, ...]
    references: Mapping[str, Reference] = field(default_factory=dict)

    @cached_property
    def array(self) -> Array:
        """The array that the program runs on; a second run begins where the first one ended."""
        array = Array(self.device.name, self.shape.columns)
        known = self.bodies.engine
        if known is not None and len(known.spec.tiles.kind) == len(array.engine.spec.tiles.kind):
            NamedKernels({}, known).name(array.engine)
        return array

    def run(
        self,
        given: Sequence[Given],
        wanted: Sequence[Wanted],
        *,
        again: bool = False,
        options: RunOptions = USUAL,
        **more: Unpack[RunKeywords],
    ) -> Run:
        """Run the program with arrays by name; see ``runs.session.run_program``.

        Args:
            given: arrays in; those that the files bring for their arguments are added.
            wanted: arrays to return at the end.
            again: the array is as a run left it: the configuration before the instructions is not done
                again, and cores go on; a program without such a configuration is done from its beginning.
            options: of the run.
            more: fields of :class:`RunOptions`; they override ``options``.
        """
        again = again and self.launch > 0
        added, _ = brought(self.programs, given)
        first = self.launch if again else 0
        program = Program(
            table_of(self.bodies.operations[first:]),
            [*given, *added],
            wanted,
            kernels=NO_KERNELS if again else self.bodies.kernels,
            running=self.bodies.kernels if again else NO_KERNELS,
            programs=self.bodies.programs,
            launch=self.launch - first,
            said=_said(self.programs),
        )
        accounts = CallAccounts(self.references)
        done = Session(self.array).run(program, RunOptions.of(options, more))
        return accounts.settled(done, self.bodies.kernels, *self.bodies.programs)


def container(
    programs: Sequence[program_formats.Program],
    texts: Sequence[Path],
    *,
    device: str | None = None,
    functions: Functions = NO_FUNCTIONS,
    kernels: Kernels = NO_KERNELS,
    names: Sequence[str] = (),
    keep_order: bool = False,
) -> Container:
    """Programs that were read from the files of a build, ready to run.

    Args:
        programs: as they were given.
        texts: MLIR files that may have made them, best first.
        device: to be, whatever the files say.
        functions: that bodies of cores call and texts only declare, by name.
        kernels: the user's, by column and row; they come before bodies of texts.
        names: of the device or kernel that is meant.
        keep_order: do the programs as they were given, not as a build does.

    Raises:
        InputFileError: files that contradict each other, or fit no device.
        DesignError: no device is called ``device``.
    """
    found, shape = device_of(programs, device)
    done, order = (list(programs), "") if keep_order else ordered(programs, shape)
    operations = [operation for program in done for operation in program.operations]
    called = [*names, *(name for program in done for name in program.kernels)]
    stems = {Path(program.name).stem for program in done}
    known = bodies(
        operations, shape, found.name, texts, functions=functions, own=kernels, names=called, stems=stems
    )
    notes = (*filter(None, [order]), *_without_instructions(programs, operations, shape), *known.notes)
    launch, compared = _launch(done, known), references_in(functions)
    return Container(found, shape, known, launch, tuple(done), notes, compared)


def _without_instructions(
    programs: Sequence[program_formats.Program], operations: Sequence[Operation], shape: ArrayShape
) -> Iterator[str]:
    """A line about containers that configure the array, where nothing lets a host's arrays move."""
    if any(program.format in _CONTAINERS for program in programs) and not external_uses(operations, shape):
        names = ", ".join(program.name for program in programs)
        step = "Give the file of instructions too, such as insts.bin, insts.txt or NAME.seq."
        yield f"warning: {names} has no instructions: no task of an interface tile begins. {step}"


def build(folder: Path, *, device: str | None = None, functions: Functions = NO_FUNCTIONS) -> Container:
    """The program of a build folder, ready to run, with the MLIR text in it.

    Args:
        folder: of a build.
        device: to be, whatever the files say.
        functions: that bodies of cores call and texts only declare, by name.

    Raises:
        InputFileError: the folder is no build, or its files cannot be read.
    """
    found = build_files(folder)
    programs = [program_formats.read_program(read_bytes(file), str(file)) for file in found.files]
    texts = beside(found.files)
    return container(programs, texts, device=device, functions=functions, names=found.devices)


def _said(programs: Sequence[program_formats.Program]) -> Launch | None:
    """How the files are launched, where they say it: an xclbin or an ELF, not both."""
    found = [each for each in Dispatch if any(program.format == each for program in programs)]
    return Launch(found[0], f"as the files have an {_CALLED[found[0]]}") if len(found) == 1 else None


def _launch(programs: Sequence[program_formats.Program], known: Bodies) -> int:
    """How many operations configure the array, if firmware is the host of those that follow."""
    first = list(takewhile(lambda program: program.format in _CONFIGURATIONS, programs))
    rest = programs[len(first) :]
    if not first or not rest or not all(each.firmware for each in rest[0].operations):
        return 0
    return len(known.operations) - sum(len(program.operations) for program in rest)
