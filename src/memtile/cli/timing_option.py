"""The option ``--timing`` of all commands that run something: NAME=VALUE, or the name of a board."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated

import typer

from memtile.errors import InputFileError, Problem

TimingConstants = Annotated[
    list[str] | None,
    typer.Option(
        "--timing",
        metavar="NAME=VALUE",
        help="Timing constant of docs/timing.md, over the design's; repeat. Or phoenix: as measured there.",
    ),
]


def with_timing(texts: Sequence[str] | None) -> AbstractContextManager[None]:
    """Have what is made inside take the constants of ``--timing``.

    Raises:
        InputFileError: a text of another form, a value that is no whole number, a name given twice.
        DesignError: names that are no constants, values outside their ranges.
    """
    from memtile.arch.timing import chosen_timing

    return chosen_timing(parse_timing(texts or ()))


def parse_timing(texts: Sequence[str]) -> dict[str, int]:
    """Values by name, decimal or hexadecimal; those given by name stand over those of a board.

    Raises:
        InputFileError: a text of another form, a value that is no whole number, a name given twice.
    """
    from memtile.arch.timing import BOARDS

    boards = [text for text in texts if text in BOARDS]
    if len(boards) > 1:
        given = " and ".join(boards)
        raise InputFileError(_wrong(given, f"--timing gives boards twice, {given}"))
    found: dict[str, int] = {}
    for text in texts:
        if text not in BOARDS:
            name, number = _parsed(text)
            if name in found:
                given = f"{found[name]} and {number}"
                raise InputFileError(_wrong(given, f"--timing gives {name} twice, as {given}"))
            found[name] = number
    return {**(BOARDS[boards[0]] if boards else {}), **found}


def _parsed(text: str) -> tuple[str, int]:
    """Name and value of a text."""
    name, _, value = text.partition("=")
    try:
        return name, int(value, 0)
    except ValueError:
        says = f"--timing is {text!r}; it must be NAME=NUMBER or the name of a board"
        raise InputFileError(_wrong(repr(text), says)) from None


def _wrong(given: str, says: str) -> Problem:
    return Problem(
        "--timing",
        given,
        "NAME=NUMBER, once for each constant, or the name of a board",
        says,
        reason="timing",
        where="command line",
        source="form of the option",
    )
