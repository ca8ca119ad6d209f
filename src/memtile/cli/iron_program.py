"""Programs of IRON on the command line: run as they are, or as designs with parameters."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import typer

if TYPE_CHECKING:
    from memtile.importers.hosted_array import HostedArray

_END_OF_OPTIONS = "--"
_DEV = {"npu1": "npu"}
"""What programs call a device."""


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
    from memtile.importers.design_file import is_program

    return is_program(file)


def run_as_it_is(file: str, arguments: Sequence[str], device: str | None) -> None:
    """Run a program with its own arguments, output and exit code; a note says how to run what it only builds.

    Raises:
        MemtileError: what is refused, with the program's line.
        SystemExit: as the program ends.
    """
    from memtile.iron.ops.operations import Module, noting_modules
    from memtile.iron.program_file import run
    from memtile.iron.running import has_run

    if device:
        os.environ["MEMTILE_DEVICE"] = device
    typer.echo(f"{file}: a program of IRON (it imports aie), run as it is with memtile as its NPU", err=True)
    modules: list[Module] = []
    try:
        with noting_modules(modules):
            run(file, arguments)
    except SystemExit as end:
        _say_what_was_found(failed=bool(end.code))
        raise
    _say_what_was_found(failed=False)
    sys.stdout.flush()
    if has_run():
        return
    says = (
        "builds no design and runs none. If another program imports it, run that one; else call its design "
        'below if __name__ == "__main__"'
    )
    if modules:
        says = (
            "builds a design and runs none. An option before its name runs it, on zeros or on what --in "
            f"gives: memtile run --bottleneck {file}"
        )
    typer.echo(f"note: {file} {says}", err=True)


def _say_what_was_found(*, failed: bool) -> None:
    """What the last run of a program has found; notes only of one that then says that something is wrong."""
    from memtile.explain.finding_places import placed
    from memtile.explain.findings import Severity
    from memtile.iron.running import last_findings

    for finding in last_findings():
        if failed or finding.severity is not Severity.NOTE:
            typer.echo(f"finding: {placed(finding)}", err=True)


def iron_array(
    file: str,
    arguments: Sequence[str],
    values: Mapping[str, object],
    device: str = "",
    loading: Mapping[str, object] = MappingProxyType({}),
) -> HostedArray:
    """The array of a program's design, with values for its parameters, for a device if it chooses none.

    A program that has the option ``--dev`` and no default for it gets the device.
    ``loading`` is what the command says of its kernels.

    Raises:
        MemtileError: as the program or its design raises it; names that are no parameters.
    """
    from memtile.design.run_design import make
    from memtile.importers.design_file import aside
    from memtile.iron.program_design import ProgramDesign

    def made() -> object:
        design = ProgramDesign(file, arguments, device, loading)
        asked = design.__signature__.parameters.get("dev")
        is_open = bool(device) and asked is not None and asked.default is None and "dev" not in values
        return make(design, {**values, "dev": _DEV.get(device, device)} if is_open else values, file)

    return cast("HostedArray", aside(made))
