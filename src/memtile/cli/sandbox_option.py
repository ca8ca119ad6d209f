"""``--sandbox`` and what belongs to it, as options of commands; ``sandboxed`` acts on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

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


def confinable(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with options of a sandbox: it runs there if that is wanted, and ends as it does.

    A command line that begins a process has been seen to before (``memtile.__main__``).
    """

    @wraps(command)
    def confined(
        context: typer.Context, sandbox: bool, root: Path | None, sandbox_memory: float | None, **given: Any
    ) -> None:
        if sandbox:
            enter(context.find_root().obj)
        if root is not None or sandbox_memory is not None:
            raise typer.BadParameter(f"{ROOT} and {LIMIT} are for {SWITCH}. Give it too.")
        command(**given)

    own = signature(command, eval_str=True)
    first = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    added = {"sandbox": (Sandbox, False), "root": (Root, None), "sandbox_memory": (Memory, None)}
    last = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in added.items()
    ]
    options = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own.parameters.values()]
    confined.__signature__ = own.replace(parameters=[first, *options, *last])  # type: ignore[attr-defined]
    confined.__annotations__ = {each.name: each.annotation for each in (first, *options, *last)}
    return confined
