"""The option ``--timing NAME=VALUE`` of all commands that run something."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated

import typer

from memtile.errors import InputFileError, Problem

TimingConstants = Annotated[
    list[str] | None,
    typer.Option(
        "--timing", metavar="NAME=VALUE", help="Timing constant of docs/timing.md, over the design's; repeat."
    ),
]


def with_timing(texts: Sequence[str] | None) -> AbstractContextManager[None]:
    """Have what is made inside take the constants of ``--timing``.

    Raises:
        InputFileError: a text of another form, a value that is no whole number, a name given twice.
        DesignError: names that are no constants, values outside their ranges.
    """
    from memtile.arch.chosen_timing import chosen_timing

    return chosen_timing(parse_timing(texts or ()))


def parse_timing(texts: Sequence[str]) -> dict[str, int]:
    """Values by name, decimal or hexadecimal.

    Raises:
        InputFileError: a text of another form, a value that is no whole number, a name given twice.
    """
    found: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            number = int(value, 0)
        except ValueError:
            raise InputFileError(
                _wrong(repr(text), f"--timing is {text!r}; it must be NAME=NUMBER")
            ) from None
        if name in found:
            given = f"{found[name]} and {number}"
            raise InputFileError(_wrong(given, f"--timing gives {name} twice, as {given}"))
        found[name] = number
    return found


def _wrong(given: str, says: str) -> Problem:
    return Problem(
        reason="timing",
        where="command line",
        field="--timing",
        given=given,
        allowed="NAME=NUMBER, once for each constant",
        source="form of the option",
        says=says,
    )
