"""One rule for the errors of all commands: a sentence on stderr, and JSON on stdout where it was asked for.

JSON is asked for by ``--json``; some commands write nothing else. An error is then ``{"error": {"reason",
"field", "message"}}``, schema ``error-output``, and the exit code is the same as without.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer

from memtile.bd.cases import refusal
from memtile.cli.exit_codes import INTERRUPTED
from memtile.errors import MemtileError

UsageError: type[Any] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
"""What the parser of the command line raises; Typer has it under a name of its own since version 0.29."""

_ALWAYS = (("bd", "encode"), ("bd", "decode"), ("schema",))


def wants_json(args: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; what follows ``--`` are no options."""
    options = args[: args.index("--")] if "--" in args else args
    return "--json" in options or any(tuple(args[: len(command)]) == command for command in _ALWAYS)


def tell(error: MemtileError, *, as_json: bool) -> None:
    """Say what is wrong with an input."""
    from rich.console import Console
    from rich.text import Text

    lines = error.messages
    head = "error: " if len(lines) == 1 else f"{len(lines)} errors:\n  "
    text = Text.assemble((head, "bold red"), "\n  ".join(lines))
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)
    if as_json:
        _print(refusal(error))


def tell_usage(error: Any, *, as_json: bool) -> None:
    """Say what is wrong with a command line, which the parser has found."""
    error.show()
    if as_json:
        _print({"reason": "usage", "field": "", "message": error.format_message()})


def tell_interrupted(text: str, *, as_json: bool) -> None:
    """Say that Ctrl-C came too early for a result; ``text`` if the command says so in words of its own."""
    typer.echo(text or INTERRUPTED, err=True)
    if as_json:
        _print({"reason": "interrupted", "field": "", "message": text or INTERRUPTED})


def _print(error: dict[str, Any]) -> None:
    typer.echo(json.dumps({"error": error}, indent=2))
