"""``memtile disasm``: transactions, CDO files and register dumps as annotated register writes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli.exit_codes import ExitCode
from memtile.cli.program_files import read_programs
from memtile.cli.run_options import Kernel, number
from memtile.cli.runnable import Format
from memtile.cli.screen import first_lines, fits, terminal_width
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.io.program.program_formats import StoredProgram
    from memtile.runs.operations import ArrayShape

EXAMPLES = """\b
Examples:
  memtile disasm transpose.bin
  memtile disasm --json aie_cdo_init.bin
  memtile disasm --summary aie_cdo_init.bin insts.txt
  memtile disasm --summary build/
  memtile disasm final.xclbin --kernel MLIR_AIE
  memtile disasm --diff old/insts.txt new/insts.txt
  memtile disasm --device xcve2302 --format dump registers.txt
"""


def disasm(
    files: Annotated[list[str], typer.Argument(metavar="FILE...|-", help="Files; - is standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    format: Annotated[Format, typer.Option(help="Format of the files; auto looks at them.")] = "auto",
    device: Annotated[
        str | None, typer.Option(help="Device, where the file does not give the shape of the array.")
    ] = None,
    base: Annotated[str, typer.Option(help="Address of the array in CDO files.")] = "0",
    kernel: Kernel = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Routes, tasks, locks and waits instead of operations.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what two files do differently.")] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show each operation on a terminal too, where a screen is too small."),
    ] = False,
) -> None:
    """Show what files of register writes do.

    Reads transactions (versions 0.1 and 1.0, binary or a hexadecimal word a line), CDO files (version 2),
    xclbins, PDIs, ELF files of control code, build folders, and register dumps (address and value as text or
    JSON). Shows the tile, register and fields of each operation, started tasks and lock values, and explains
    each descriptor once it is complete. Without --device, tiles are those of the header, or of npu1.

    --diff compares two files and ends with exit code 1 if their effects differ.
    """
    from memtile.arch.devices import device as find_device
    from memtile.report.disassembly import disassembly_json, summary_json
    from memtile.runs.operations import ArrayShape

    if diff and (len(files) != 2 or as_json or summary):
        raise typer.BadParameter("--diff compares two files, without --json and --summary.")
    shape = ArrayShape.of(find_device(device or "npu1"))
    wanted = None if format == "auto" else format
    origin = number(base, "--base")
    programs, notes, *_ = read_programs(files, wanted, origin, kernel)
    shapes = [shape if device else program.shape or shape for program in programs]
    if diff:
        _show_difference(programs, shapes)
        return
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        results = [
            (summary_json if summary else disassembly_json)(*pair)
            for pair in zip(programs, shapes, strict=True)
        ]
        typer.echo(json_text(results[0] if len(results) == 1 else results, indent=2))
        return
    _show_programs(programs, shapes, summary=summary, everything=everything)


def _show_programs(
    programs: Sequence[StoredProgram], shapes: Sequence[ArrayShape], *, summary: bool, everything: bool
) -> None:
    """Print programs: each operation, or summaries; on a terminal summaries where operations do not fit."""
    from memtile.explain.summary import HEIGHT
    from memtile.report.disassembly import disassembly_lines, summary_lines

    width = None if everything else terminal_width()
    shown = summary_lines if summary else disassembly_lines
    height = max(HEIGHT // len(programs), 2)
    for program, shape in zip(programs, shapes, strict=True):
        lines = shown(program, shape)
        if width is None:
            typer.echo("\n".join(lines))
            continue
        first = [*lines] if summary else [*islice(lines, height + 1)]
        if summary or fits(first, width, height):
            typer.echo("\n".join(first_lines(first, width, height)))
            continue
        option = "--summary --all"
        typer.echo("\n".join(first_lines([*summary_lines(program, shape)], width, height - 1, option)))
        typer.echo(f"each of the {len(program.operations):,} operations: --all")


def _show_difference(programs: Sequence[StoredProgram], shapes: Sequence[ArrayShape]) -> None:
    """Print what two files do differently; exit code 1 if anything."""
    from memtile.report.disassembly import difference

    (first, second), (one, other) = programs, shapes
    lines = difference(first, second, (one, other))
    if lines:
        typer.echo("\n".join(lines))
        raise typer.Exit(ExitCode.BAD_RESULT)
    typer.echo(f"{first.name} and {second.name} do the same")
