"""``memtile mcp``: the commands as tools of agents, by the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from memtile import __version__

EXAMPLES = """\b
Examples:
  memtile mcp
  memtile mcp --skill
"""


def mcp(
    skill: Annotated[
        bool, typer.Option("--skill", help="Print the text that agents get, as a skill file.")
    ] = False,
) -> None:
    """Serve check, run, explain, lower, descriptor and limits as tools, over standard input and output.

    An agent's program starts it: {"command": "memtile", "args": ["mcp"]}. The tools call what the commands
    call and answer with data. Designs in Python are run with the rights of who started the server. Needs
    the package mcp (pip install mcp).
    """
    from memtile.cli.agents.server import FRONT, serve, skill_text

    if skill:
        typer.echo(FRONT + skill_text(), nl=False)
        return
    serve(__version__)
