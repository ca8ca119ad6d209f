"""The server of the Model Context Protocol: the tools over standard input and output, one call at a time."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from memtile.cli.agents.brief_answers import BYTES, StoredAnswers
from memtile.cli.agents.lookup_tools import Answer
from memtile.cli.agents.tool_arguments import refused, with_marks
from memtile.cli.agents.tool_worker import ToolWorker
from memtile.cli.agents.tools import MODELS, TOOLS
from memtile.errors import InputFileError, MemtileError
from memtile.plain_text import json_text

NAME = "memtile"
_SIZE = (
    "`most_bytes` bounds the answer: what is left out has its place in `more`, which the tool `more` reads."
)
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
    server = _server_class(sdk)(NAME, instructions=skill_text(), version=version, log_level="ERROR")
    turns, stored = asyncio.Lock(), StoredAnswers()
    for tool in TOOLS:
        answering = _answering(tool, turns, worker, stored, warning if tool.__name__ in MODELS else "")
        server.tool(description=f"{inspect.getdoc(tool)}\n\n{_SIZE}", structured_output=False)(answering)
    server.tool(structured_output=False)(_more(stored))
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
    tool: Callable[..., Answer],
    turns: asyncio.Lock,
    worker: ToolWorker,
    stored: StoredAnswers,
    warning: str,
) -> Callable[..., Any]:
    """The tool as the SDK calls it: an input that is refused is an answer that says so, not a failure.

    The calls take turns, in a process of their own: a design is code of its user, and may never end.
    """

    async def call(most_bytes: int = BYTES, **arguments: Any) -> Any:
        async with turns:
            answer, is_refused = await worker.answer(tool.__name__, arguments)
        answer |= {"warning": warning} if warning and not is_refused else {}
        return _result(stored.brief(answer, most_bytes), is_refused=is_refused)

    own = inspect.signature(tool, eval_str=True)
    size = inspect.signature(call, eval_str=True).parameters["most_bytes"]
    every = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own.parameters.values(), size)]
    functools.update_wrapper(call, tool, assigned=("__name__", "__doc__", "__module__"), updated=())
    del call.__wrapped__  # type: ignore[attr-defined]
    call.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in every}
    return call


def _more(stored: StoredAnswers) -> Callable[..., Any]:
    """The tool that reads what an answer has left out."""

    async def more(answer: str, path: str = "", begin: int = 0, most_bytes: int = BYTES) -> Any:
        """Read what a long answer has left out.

        `answer` is its name in `more`, `path` a place that it names, such as "channels" or
        "designs[0].findings"; `begin` is the first element of a list, or the first character of a text:
        `next` of the page before. `most_bytes` bounds the page.
        """
        try:
            return _result(stored.page(answer, path, begin, most_bytes), is_refused=False)
        except MemtileError as error:
            return _result({"error": refused(error)}, is_refused=True)

    return more


def _result(answer: Answer, *, is_refused: bool) -> Any:
    """An answer as the protocol has it."""
    from mcp.types import CallToolResult, TextContent

    text = TextContent(type="text", text=json_text(answer))
    return CallToolResult(content=[text], structured_content=answer, is_error=is_refused)


def _server_class(sdk: Any) -> Any:
    """The server of the SDK, which says in our form which arguments are of a wrong type."""
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import ValidationError

    class Server(sdk.MCPServer):  # type: ignore[misc]
        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            for tool in await self.list_tools():
                known = tool.input_schema["properties"]
                if tool.name == name and (wrong := [each for each in arguments if each not in known]):
                    return _result({"error": _unknown(name, wrong[0], known)}, is_refused=True)
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                return _result({"error": _misfit(error.__cause__.errors())}, is_refused=True)

    return Server


def _unknown(tool: str, name: str, known: Iterable[str]) -> Answer:
    """An argument that a tool does not have; the SDK would leave it aside."""
    close = get_close_matches(name, known, 1)
    there = f"did you mean {close[0]}" if close else f"there are {', '.join(known)}"
    says = f"arguments of the tool: {tool} has no argument {name!a}; {there} (schema of the tool)."
    return {"reason": "argument", "field": name, "message": says}


_TYPES = {
    "string_type": "a text", "int_type": "a whole number", "int_parsing": "a whole number",
    "int_from_float": "a whole number", "float_type": "a number", "float_parsing": "a number",
    "bool_parsing": "true or false", "bool_type": "true or false", "list_type": "a list",
    "dict_type": "an object", "missing": "given",
}  # fmt: skip
_GIVEN = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def _misfit(errors: list[Any]) -> Answer:
    """What is wrong with the types of arguments, as the errors of commands say it."""
    first = errors[0]
    field = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("function-", "dict[")))
    allowed = _TYPES.get(first["type"]) or first["msg"].removeprefix("Input should be ")
    given = "missing" if first["type"] == "missing" else _GIVEN.get(type(first["input"]), "a number")
    says = f"arguments of the tool: {field} is {given}; it must be {allowed} (schema of the tool)."
    return {"reason": "argument", "field": field, "message": says}
