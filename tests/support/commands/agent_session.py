"""Conversations of an agent with ``memtile mcp``, over a real pipe."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from support.commands import warm

Talk = Callable[[Client], Awaitable[Any]]
Answers = list[dict[str, Any]]


def talk(what: Talk, *options: str, **variables: str) -> Any:
    """What a conversation with a server of its own comes to: a process, its standard input and output."""
    server = StdioServerParameters(
        command=str(warm.folder() / "python"),
        args=["-m", "memtile", "mcp", *options],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **variables},
    )

    async def both() -> Any:
        with anyio.fail_after(120):
            async with Client(stdio_client(server)) as client:
                return await what(client)

    return anyio.run(both)


def data(result: CallToolResult) -> dict[str, Any]:
    """The answer; its text says the same."""
    (content,) = result.content
    found = result.structured_content
    assert found is not None
    assert json.loads(content.text) == found  # type: ignore[union-attr]
    assert result.is_error == ("error" in found)
    return found


def whole(tool: str) -> dict[str, int]:
    """Arguments for an answer that nothing is left out of."""
    return {} if tool == "more" else {"most_bytes": 1_000_000}


def ask(*calls: tuple[str, dict[str, Any]], root: Path | None = None, options: Sequence[str] = ()) -> Answers:
    """The answers to some calls, in one conversation.

    Args:
        calls: tool and arguments.
        root: of the server; None = the working folder.
        options: more of ``memtile mcp``.
    """

    async def each(client: Client) -> Answers:
        return [data(await client.call_tool(name, {**whole(name), **arguments})) for name, arguments in calls]

    found: Answers = talk(each, *(("--root", str(root)) if root else ()), *options)
    return found
