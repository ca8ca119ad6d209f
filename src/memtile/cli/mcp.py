"""``memtile mcp``: the commands as tools of agents, by the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from memtile import __version__
from memtile.cli.sandbox_option import Memory, Root, Sandbox
from memtile.cli.sandboxed import root_of
from memtile.sandbox.policy import MEMORY

EXAMPLES = """\b
Examples:
  memtile mcp
  memtile mcp --root project/
  memtile mcp --skill
"""


def mcp(
    skill: Annotated[
        bool, typer.Option("--skill", help="Print the text that agents get, as a skill file.")
    ] = False,
    root: Root = None,
    sandbox: Sandbox = True,
    sandbox_memory: Memory = None,
) -> None:
    """Serve check, run, explain, sweep, lower, descriptor and limits as tools over standard input and output.

    An agent's program starts it: {"command": "memtile", "args": ["mcp"]}. The tools call what the commands
    call and answer with data. They read files below the root alone. Designs in Python are programs; on Linux
    they run in a sandbox (docs/agents.md), and where there is none, which answers then say, with the rights
    of whoever started the server. Needs the package mcp (pip install mcp).
    """
    from memtile.cli.agents.server import FRONT, serve, skill_text
    from memtile.cli.agents.tool_worker import ToolWorker
    from memtile.sandbox.start import missing

    if skill:
        typer.echo(FRONT + skill_text(), nl=False)
        return
    why = missing() if sandbox else "the server was started with --no-sandbox"
    warning = f"designs run without a sandbox, with the rights of the server: {why}" if why else ""
    if warning:
        typer.echo(f"memtile mcp: {warning}", err=True)
    worker = ToolWorker(
        root_of(None if root is None else str(root)), sandbox_memory or MEMORY, sandbox=not why
    )
    serve(__version__, worker, warning)
