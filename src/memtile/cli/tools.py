"""``memtile tools``: a folder with commands of AMD's names, for Makefiles of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  memtile tools vitis
  export PATH=$PWD/vitis/bin:$PATH
  . vitis/settings64.sh
"""


def tools(
    folder: Annotated[Path, typer.Argument(help="Folder for the commands; created if missing.")],
) -> None:
    """Write v++, aiecompiler, x86simulator and aiesimulator for PATH, which call memtile.

    Makefiles of graphs (UG1076) run with them as they are: v++ --mode aie and aiecompiler compile a graph for
    this machine, the simulators run it and write its files. settings64.sh sets what AMD's sets. The links to
    this Python are absolute: write the folder again when memtile moves.
    """
    from memtile.cli.amd_tools.launchers import write_tools

    typer.echo(write_tools(folder))
