"""The server of the Model Context Protocol: the tools over standard input and output, one call at a time."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from memtile.cli.agents.tool_arguments import with_marks
from memtile.cli.agents.tool_worker import ToolWorker
from memtile.cli.agents.tools import MODELS, TOOLS, Answer
from memtile.errors import InputFileError
from memtile.plain_text import json_text

NAME = "memtile"
SKILL = "memtile://skill"


FRONT = """---
name: memtile
description: Write, check, run and repair designs for AMD's AIE-ML arrays (Ryzen AI NPU) without a board.
---

"""
"""What agents that take skills as files want above the text."""


def skill_text() -> str:
    """How an agent works with the tools: the text that it gets when it connects."""
    return (files("memtile.cli.agents") / "skill.md").read_text(encoding="utf-8")


def serve(version: str, worker: ToolWorker, warning: str = "") -> None:
    """Answer calls until standard input ends.

    Args:
        version: of the server.
        worker: where tools run.
        warning: goes with answers about designs; empty = none.

    Raises:
        InputFileError: the package ``mcp`` is not installed.
    """
    server = made_server(version, worker, warning)
    reading, writing = os.pipe()
    threading.Thread(target=_pass_on, args=(os.dup(0), writing), daemon=True).start()
    os.dup2(reading, 0)
    server.run("stdio")


def _pass_on(asked: int, server: int) -> None:
    """Pass messages on until there are no more; the server has to understand them."""
    with open(asked, "rb") as lines, open(server, "wb", buffering=0) as out:
        for line in lines:
            out.write(with_marks(line))


def made_server(version: str, worker: ToolWorker, warning: str = "") -> Any:
    """The server with its tools and the skill as a resource; the arguments are those of :func:`serve`.

    Raises:
        InputFileError: the package ``mcp`` is not installed.
    """
    sdk = _sdk()
    server = sdk.MCPServer(NAME, instructions=skill_text(), version=version, log_level="ERROR")
    turns = asyncio.Lock()
    for tool in TOOLS:
        answering = _answering(tool, turns, worker, warning if tool.__name__ in MODELS else "")
        server.tool(description=inspect.getdoc(tool), structured_output=False)(answering)
    server.resource(SKILL, name="skill", mime_type="text/markdown")(skill_text)
    return server


def _sdk() -> Any:
    try:
        from mcp.server import mcpserver
    except ImportError as error:
        raise InputFileError.of(
            "mcp",
            "not installed",
            "the package, version 2 or newer",
            f"the package mcp cannot be imported ({error}), version 2 or newer",
            "Install it: pip install mcp, or memtile with its extra mcp.",
            reason="missing_package",
            where="memtile mcp",
            source="the Model Context Protocol has its SDK in it",
        ) from None
    return mcpserver


def _answering(
    tool: Callable[..., Answer], turns: asyncio.Lock, worker: ToolWorker, warning: str
) -> Callable[..., Any]:
    """The tool as the SDK calls it: an input that is refused is an answer that says so, not a failure.

    The calls take turns, in a process of their own: a design is code of its user, and may never end.
    """
    from mcp.types import CallToolResult, TextContent

    @functools.wraps(tool)
    async def call(**arguments: Any) -> CallToolResult:
        async with turns:
            answer, refused = await worker.answer(tool.__name__, arguments)
        answer |= {"warning": warning} if warning and not refused else {}
        text = json_text(answer)
        return CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content=answer, is_error=refused
        )

    return call
