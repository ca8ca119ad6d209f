"""``memtile disasm``: transactions, CDO files and register dumps as annotated register writes."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from memtile.cli.input_file import name_of, read_bytes
from memtile.cli.numbers import number

EXAMPLES = """\b
Examples:
  memtile disasm transpose.bin
  memtile disasm --json aie_cdo_init.bin
  memtile disasm --device xcve2302 --format dump registers.txt
"""


def disasm(
    files: Annotated[list[str], typer.Argument(metavar="FILE...|-", help="Files; - is standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Data instead of text.")] = False,
    format: Annotated[
        Literal["auto", "txn", "cdo", "dump"], typer.Option(help="Format of the files; auto looks at them.")
    ] = "auto",
    device: Annotated[
        str | None, typer.Option(help="Device, where the file does not say the shape of the array.")
    ] = None,
    base: Annotated[str, typer.Option(help="Address of the array in CDO files.")] = "0",
) -> None:
    """Show what files of register writes do.

    Reads transactions (versions 0.1 and 1.0, binary or a hexadecimal word a line), CDO files (version 2) and
    register dumps (address and value as text or JSON). Shows the tile, register and fields of each operation,
    started tasks and lock values, and explains each descriptor once it is complete. Without --device, tiles
    are those of the header, or of npu1.
    """
    from memtile.arch.devices import device as find_device
    from memtile.io.program.formats import read_program
    from memtile.io.program.operations import ArrayShape
    from memtile.report.disassembly import disassembly_json, disassembly_lines

    shape = ArrayShape.of(find_device(device or "npu1"))
    wanted = None if format == "auto" else format
    origin = number(base, "--base")
    programs = [read_program(read_bytes(file), name_of(file), wanted, origin) for file in files]
    shapes = [shape if device else program.shape or shape for program in programs]
    if as_json:
        results = [disassembly_json(*pair) for pair in zip(programs, shapes, strict=True)]
        typer.echo(json.dumps(results[0] if len(results) == 1 else results, indent=2))
        return
    for program, its_shape in zip(programs, shapes, strict=True):
        typer.echo("\n".join(disassembly_lines(program, its_shape)))
