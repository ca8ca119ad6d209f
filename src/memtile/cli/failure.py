"""One rule for all commands that end without a result: a sentence on stderr, and JSON on stdout for scripts.

JSON is asked for by ``--json``; some commands write nothing else. An error is then ``{"error": {"reason",
"field", "message"}}``, schema ``error-output``, and the exit code is the same as without. Nothing that a user
can do ends with a traceback; an exception that nobody expected is ours, and its traceback goes into a file.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import SIGINT
from typing import Any

import typer

from memtile.bd.descriptor_cases import refusal
from memtile.cli.exit_codes import INTERRUPTED, ExitCode, exit_code_of
from memtile.cli.signals import SIGNALLED, Terminated, was_interrupted
from memtile.cli.terminal_streams import PipeClosedError
from memtile.errors import NO_MEMORY, MemtileError, is_out_of_memory
from memtile.output_files import write_output
from memtile.plain_text import json_text, printable
from memtile.sandbox.policy import CONFINED

UsageError: type[Any] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
"""What the parser of the command line raises; Typer has it under a name of its own since version 0.29."""

_ALWAYS = (("bd", "encode"), ("bd", "decode"), ("schema",))
_TRACEBACK = "MEMTILE_TRACEBACK"  # set to 1 it has tracebacks printed

Ending = tuple[str, str, int]  # sentence, reason for scripts, exit code


def wants_json(args: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; what follows ``--`` are no options."""
    options = args[: args.index("--")] if "--" in args else args
    return "--json" in options or any(tuple(args[: len(command)]) == command for command in _ALWAYS)


def tell_end(error: BaseException, args: Sequence[str]) -> int:
    """Say why a command ended without a result; its exit code."""
    as_json = wants_json(args)
    try:
        if isinstance(error, MemtileError):
            tell(error, as_json=as_json)
            return exit_code_of(error)
        if isinstance(error, UsageError):
            _tell_usage(error, as_json=as_json)
            return ExitCode.BAD_INPUT
        if isinstance(error, PipeClosedError):
            return ExitCode.CLOSED_PIPE
        text, reason, code = _ending(error, args)
        typer.echo(text, err=True)
        if as_json:
            typer.echo(_as_json(reason, text))
    except PipeClosedError:
        return ExitCode.CLOSED_PIPE
    return code


def tell_forced_end(number: int, args: Sequence[str]) -> None:
    """Say the same past all streams, which whoever does not end may hold."""
    error = KeyboardInterrupt() if number == SIGINT else Terminated(number)
    text, reason, _ = _ending(error, args)
    os.write(2, f"{text}\n".encode())
    if wants_json(args):
        os.write(1, f"{_as_json(reason, text)}\n".encode())


_SHOWN = 10  # errors of one input


def tell(error: MemtileError, *, as_json: bool) -> None:
    """Say what is wrong with an input."""
    from rich.text import Text

    from memtile.sheet import stderr_console

    lines = error.messages
    head = "error: " if len(lines) == 1 else f"{len(lines)} errors:\n  "
    if len(lines) > _SHOWN:
        lines = [*lines[:_SHOWN], f"and {len(lines) - _SHOWN:,} more, which --json has"]
    text = Text.assemble((head, "bold red"), "\n  ".join(lines))
    stderr_console().print(text, soft_wrap=True)
    if as_json:
        typer.echo(json_text({"error": refusal(error)}, indent=2))


def _tell_usage(error: Any, *, as_json: bool) -> None:
    """Say what is wrong with a command line, which the parser has found."""
    error.show()
    if as_json:
        typer.echo(_as_json("usage", error.format_message()))


def _ending(error: BaseException, args: Sequence[str]) -> Ending:
    """The end of a command by what is no error of ours."""
    if isinstance(error, KeyboardInterrupt):
        return str(error) or INTERRUPTED, "interrupted", ExitCode.INTERRUPTED
    if isinstance(error, Terminated):
        return f"ended by {error}", "terminated", SIGNALLED + error.number
    if was_interrupted():  # a library has made another exception of it
        return INTERRUPTED, "interrupted", ExitCode.INTERRUPTED
    if (end := expected_end(error, args)) is not None:
        _show_traceback(error)
        return f"error: {end[0]}", end[1], ExitCode.BAD_INPUT
    return internal_error(error), "internal", ExitCode.INTERNAL


def expected_end(error: BaseException, args: Sequence[str]) -> tuple[str, str] | None:
    """Return a sentence and the reason for scripts of an error that an input causes; None = it is ours."""
    expected: list[tuple[bool, str, Callable[[], str]]] = [
        (is_out_of_memory(error), "memory", lambda: f"{_inputs(args)}: {NO_MEMORY}."),
        (isinstance(error, RecursionError), "nesting", lambda: _too_deep(args)),
        (isinstance(error, OSError), "system", lambda: _refused_by_system(error)),
    ]
    for fits, reason, text in expected:
        if fits:
            return text(), reason
    return None


def _too_deep(args: Sequence[str]) -> str:
    return f"{_inputs(args)}: the input is nested too deeply for memtile. Write it with fewer levels."


def _refused_by_system(error: BaseException) -> str:
    assert isinstance(error, OSError)
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}the system refuses an access: {error.strerror or error}."


def _inputs(args: Sequence[str]) -> str:
    """The files that a command line names, for a sentence about one of them."""
    named = [each for each in args if os.path.isfile(each)]
    return ", ".join(named) or f"memtile {args[0] if args else ''}".strip()


def internal_error(error: BaseException) -> str:
    """Return the message about an error of memtile itself, whose traceback goes into a file."""
    what = printable("".join(traceback.format_exception_only(error)).strip())
    return (
        f"memtile failed: {what}\nThis is a mistake in memtile. Please report it with the command, its input "
        f"and the traceback, which {_show_traceback(error) or _traceback_file(error)}."
    )


def _show_traceback(error: BaseException) -> str:
    """Print the traceback where the environment asks for it; what was done, empty if nothing."""
    if os.environ.get(_TRACEBACK, "0") in ("", "0"):
        return ""
    typer.echo("".join(traceback.format_exception(error)), err=True)
    return "is above"


def _traceback_file(error: BaseException) -> str:
    """Write the traceback to a file of its own; where it is, as the end of a sentence."""
    if CONFINED in os.environ:
        return f"{_TRACEBACK}=1 shows"
    path = Path(tempfile.gettempdir(), f"memtile-traceback-{secrets.token_hex(4)}.txt")
    text = "".join(traceback.format_exception(error))
    try:
        write_output(path, f"{sys.argv}\n{text}".encode(errors="backslashreplace"), durable=False)
    except MemtileError:
        return f"{_TRACEBACK}=1 shows"
    return f"is in {path} ({_TRACEBACK}=1 prints it)"


def _as_json(reason: str, message: str) -> str:
    return json_text({"error": {"reason": reason, "field": "", "message": message}}, indent=2)
