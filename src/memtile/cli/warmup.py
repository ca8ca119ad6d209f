"""``memtile warmup``: compile the engine now, not in the first run."""

from __future__ import annotations

from typing import Annotated

import typer

from memtile.plain_text import json_text

EXAMPLES = """\b
Examples:
  memtile warmup
  MEMTILE_CACHE=/opt/memtile memtile warmup
  MEMTILE_JIT=own memtile warmup
"""


def warmup(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a sentence.")] = False,
) -> None:
    """Compile the engine, so that the first run does not wait for it: in an image, or on a build server.

    It takes 3 to 10 seconds, once for each version of memtile and Numba; then it is found in the cache:
    .cache of a checkout, else memtile in the user's cache directory, else where MEMTILE_CACHE says. Where
    compiled functions were changed, it takes 20 to 60 seconds. Wheels for one platform carry an engine for
    all its processors, and nothing is compiled; with MEMTILE_JIT=own one is, for this processor, and all
    later runs take it. With MEMTILE_JIT=0 nothing is compiled: the engine then runs in the interpreter, far
    slower.
    """
    from memtile.sim.loop.engine_warmup import ready

    seconds, directory, carried = ready()
    if as_json:
        found = {
            "compiles": directory is not None,
            "seconds": seconds,
            "directory": directory and str(directory),
            "carried": carried,
        }
        typer.echo(json_text(found, indent=2))
    elif directory is None:
        typer.echo("MEMTILE_JIT=0: the engine runs in the interpreter, nothing to compile")
    elif carried:
        typer.echo(f"engine ready after {seconds:.1f} s, brought by the package")
    else:
        typer.echo(f"engine ready after {seconds:.1f} s, kept in {directory}")
