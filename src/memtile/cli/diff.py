"""``memtile diff``: what changed between two designs, records or files of registers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli import run_options as options
from memtile.cli.exit_codes import ExitCode
from memtile.cli.failure import UsageError
from memtile.plain_text import json_text
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.explain.compare.compare import Compared

EXAMPLES = """\b
Examples:
  memtile diff old.py new.py
  memtile diff design.mlir design.mlir --second-set input_offset=8
  memtile diff before.json after.json
  memtile diff old/insts.bin new/insts.bin --device npu1
  memtile diff design.mlir build/ --device npu1
  memtile diff core.bin later.bin --device npu2
"""


@options.running("max_cycles")
def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A design, record, program, build or dump.")],
    second: Annotated[str, typer.Argument(metavar="B", help="What it is compared with.")],
    device: Annotated[
        str, typer.Option(metavar="NAME", help="Device of files that leave it open, such as npu1.")
    ] = "",
    settings: options.Settings = None,
    second_settings: Annotated[
        list[str] | None,
        typer.Option("--second-set", metavar="NAME=VALUE", help="Parameter of B alone, after --set; repeat."),
    ] = None,
    given: options.In = None,
    kernels: options.Kernels = None,
    of_run: RunOptions = USUAL,
    as_json: Annotated[bool, typer.Option("--json", help="Data instead of text.")] = False,
) -> None:
    """Say what changed from A to B: cycles by cause and channel, words that came out, registers by field.

    Designs in Python and MLIR are run; records are those of memtile run --record; files of register writes,
    builds, containers and dumps are compared as the registers that they leave, descriptors in words. Of two
    different kinds what both have is compared.

    Ends with exit code 0 if nothing differs, with 1 if something does.
    """
    from memtile.cli.compared_files import compared_file
    from memtile.explain.compare.compare import compared

    names = [name for name in (first, second) if not Path(name).exists()]
    if names:
        raise UsageError(f"{names[0]}: there is no such file or folder.")

    def side(name: str, its: Sequence[str]) -> Compared:
        return compared_file(
            name, device=device, settings=its, given=given or (), kernels=kernels, options=of_run
        )

    mine = list(settings or ())
    found = compared(side(first, mine), side(second, [*mine, *(second_settings or ())]))
    typer.echo(json_text(found.as_json(), indent=2) if as_json else "\n".join(found.lines()))
    if not found.same:
        raise typer.Exit(ExitCode.BAD_RESULT)
