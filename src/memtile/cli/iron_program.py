"""Programs of IRON on the command line: run as they are, or as designs with parameters."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from memtile.cli.array_file import read_given

if TYPE_CHECKING:
    from memtile.cli.runnable import Maker
    from memtile.importers.hosted_array import HostedArray
    from memtile.runs.array_names import Wanted
    from memtile.runs.program import Run

_END_OF_OPTIONS = "--"


def with_its_arguments(words: Sequence[str]) -> list[str]:
    """The words of ``memtile run`` with a program of IRON and what is behind it set apart: they are its own.

    Args:
        words: of the command line, behind the name of the command.
    """
    for place, word in enumerate(words):
        if word == _END_OF_OPTIONS:
            break
        if word.endswith(".py") and is_iron(word):
            return [*words[:place], _END_OF_OPTIONS, *words[place:]]
    return list(words)


def is_iron(file: str) -> bool:
    """Whether a file is a program of IRON."""
    if not file.endswith(".py") or not Path(file).is_file():
        return False
    from memtile.iron.program_file import is_program

    return is_program(file)


def run_as_it_is(file: str, arguments: Sequence[str], device: str | None) -> None:
    """Run a program with its own arguments, output and exit code.

    Raises:
        MemtileError: what is refused, with the program's line.
        SystemExit: as the program ends.
    """
    from memtile.iron.program_file import run

    if device:
        os.environ["MEMTILE_DEVICE"] = device
    typer.echo(f"{file}: a program of IRON (it imports aie), run as it is with memtile as its NPU", err=True)
    run(file, arguments)
    sys.stdout.flush()


def iron_design(
    file: str,
    arguments: Sequence[str],
    settings: Sequence[str],
    given: Sequence[str] = (),
    wanted: Sequence[Wanted] = (),
) -> Maker:
    """What loads the design of a program: the first that it runs, else the last that it builds.

    Args:
        file: of the program.
        arguments: its own.
        settings: ``NAME=VALUE`` of parameters: options of the program, and ``CompileTime`` values.
        given: arrays in, ``NUMBER=FILE.npy``, instead of the program's tensors.
        wanted: arrays to take.
    """
    from memtile.cli.design_file import settings_of
    from memtile.cli.runnable import Runnable

    values = settings_of(settings)
    arrays = [read_given(text) for text in given]
    files = [file, *(text.partition("=")[2] for text in given)]

    def make() -> Runnable:
        design = iron_array(file, arguments, values)
        for each in arrays:
            design.give(each)

        def once(how: Any) -> Run:
            return design.run_once(how, wanted)

        said = f"{file} is a program of IRON: the design that it runs first is run, with its tensors"
        return Runnable(file, design, once, True, files, [said], kernels=design.loaded.kernels)

    return make


def iron_array(file: str, arguments: Sequence[str], values: Mapping[str, object]) -> HostedArray:
    """The array of a program's design, with values for its parameters.

    Raises:
        MemtileError: as the program or its design raises it; names that are no parameters.
    """
    from memtile.design.run_design import make
    from memtile.importers.design_file import aside
    from memtile.iron.program_design import ProgramDesign

    return cast("HostedArray", aside(lambda: make(ProgramDesign(file, arguments), values, file)))
