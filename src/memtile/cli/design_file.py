"""Design files and their parameters on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from memtile.errors import InputFileError, Problem
from memtile.importers.design_file import design_function, is_program, user_code
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.design.memory_tile import MemoryTile


def load_design(file: str, settings: Sequence[str] = (), device: str = "") -> MemoryTile | Array:
    """The design of a file: what its ``design()`` returns, or what a program of IRON runs.

    Args:
        file: Python file.
        settings: ``NAME=VALUE`` of parameters.
        device: for a program of IRON that chooses none; empty = as the environment says.

    Raises:
        InputFileError: the file cannot be read, is not Python, fails, or has no ``design()``; settings of
            another form.
        MemtileError: parameters that it does not have, values of another type; as the design itself raises.
    """
    from memtile.design.run_design import make

    function = _function_of(file, device)
    given = settings_of(settings)
    return cast("MemoryTile | Array", user_code(Path(file), lambda: make(function, given, file)))


def _function_of(file: str, device: str = "") -> Callable[..., Any]:
    """Return the function that makes a design; IRON, slow to import, is imported for its programs alone."""
    if file.endswith(".py") and not is_program(file):
        return design_function(file)
    from memtile.iron.program_design import function_of

    return function_of(file, device)


def show_parameters(file: str, *, as_json: bool) -> None:
    """Print what ``--set`` can set of a design file."""
    from memtile.design.parameters import parameter_lines, parameters_of

    found = parameters_of(_function_of(file))
    if as_json:
        listed = [parameter.as_json() for parameter in found]
        typer.echo(json_text({"design": file, "parameters": listed}, indent=2))
        return
    lines = parameter_lines(found) if found else ("design() has no parameters",)
    typer.echo("\n".join([f"{file}: --set NAME=VALUE", *(f"  {line}" for line in lines)]))


def settings_of(texts: Sequence[str]) -> dict[str, str]:
    """Values by name, of texts ``NAME=VALUE``.

    Raises:
        InputFileError: a text of another form, a name given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputFileError(_wrong_setting(repr(text), f"--set is {text!r}; it must be NAME=VALUE"))
        if name in found:
            given = f"{found[name]!r} and {value!r}"
            raise InputFileError(_wrong_setting(given, f"{name} is set twice, to {given}"))
        found[name] = value
    return found


def _wrong_setting(given: str, says: str) -> Problem:
    return Problem(
        "--set",
        given,
        "NAME=VALUE, once for each parameter",
        says,
        reason="parameter",
        where="command line",
        source="form of the option",
    )
