"""``memtile host-source``: the C source with which a linked host program meets ``memtile serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  memtile host-source twin
  cc -o host host.c twin/memtile_ess.c -Itwin
"""


def host_source(
    folder: Annotated[Path, typer.Argument(help="Folder for memtile_ess.c and main_rts.h.")] = Path("."),
) -> None:
    """Write the C source for host programs that are linked against AMD's simulators.

    It has the seven ess_* functions that such programs call, and main_rts.h, which AMD's open driver
    includes when it is built with -D__AIESIM__. They speak to memtile serve.
    """
    from memtile.hosts.linked import write_sources

    for path in write_sources(folder):
        typer.echo(path)
