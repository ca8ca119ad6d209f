"""``--sandbox`` and what belongs to it, as options of commands; ``sandboxed`` acts on them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memtile.cli.sandboxed import LEAST_MEMORY, LIMIT, ROOT, SWITCH, enter

Sandbox = Annotated[
    bool,
    typer.Option(
        f"{SWITCH}/--no-sandbox", help="Confine the command: files below --root, no network, limits; Linux."
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(ROOT, metavar="DIR", help="Folder that a sandbox may write; else the working folder."),
]
Memory = Annotated[
    float | None,
    typer.Option(LIMIT, min=LEAST_MEMORY, metavar="GB", help="Memory of each process of a sandbox; else 4."),
]
ARGUMENTS = "memtile.arguments"
"""Where the context has the arguments of the command line."""


def confine(context: typer.Context, wanted: bool, root: Path | None, memory: float | None) -> None:
    """Run the command in a sandbox if that is wanted, and end as it does.

    A command line that begins a process has been seen to before (``memtile.__main__``).

    Raises:
        InputFileError: this system has no sandbox, or an output is not below its root.
    """
    if wanted:
        enter(context.meta[ARGUMENTS])
    if root is not None or memory is not None:
        raise typer.BadParameter(f"{ROOT} and {LIMIT} are for {SWITCH}. Give it too.")
