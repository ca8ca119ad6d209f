"""How much the body of a core may have; all of it is refused by name beyond.

``MEMTILE_BODY_LIMITS`` raises them, ``MEMTILE_BODY_LIMITS="operations=500000 depth=200"``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cache

from memtile.arch.tiles import COMPUTE
from memtile.errors import InputFileError, Problem

VARIABLE = "MEMTILE_BODY_LIMITS"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a body may have.

    Attributes:
        operations: that are written, those of functions once for each call.
        calls: that are written in their places.
        call_depth: calls within each other.
        loops: within each other, in a piece between two synchronisations; CPython has 20.
        nesting: loops and conditions within each other.
        depth: of an expression, as of an affine map.
        results: of an affine map.
        vector_bytes: of a vector, as much as all memory of the tile.
        listed: numbers of a vector constant that are written one by one.
    """

    operations: int = 100_000
    calls: int = 10_000
    call_depth: int = 8
    loops: int = 20
    nesting: int = 60
    depth: int = 60
    results: int = 64
    vector_bytes: int = COMPUTE.memory_bytes
    listed: int = 16_384


def limits() -> Limits:
    """The limits, with those that the user has raised.

    Raises:
        InputFileError: the variable names no limit, or no number for it.
    """
    return _limits(os.environ.get(VARIABLE, ""))


@cache
def _limits(text: str) -> Limits:
    known = {each.name for each in fields(Limits)}
    given: dict[str, int] = {}
    for item in text.split():
        name, _, number = item.partition("=")
        if name not in known or not number.isdecimal() or len(number) > 9:
            problem = Problem(
                reason="mlir_limit",
                where=f"environment variable {VARIABLE}",
                field="limit",
                given=item,
                allowed=f"NAME=NUMBER with {', '.join(sorted(known))}",
                source="docs/mlir.md: limits of bodies",
            )
            raise InputFileError([problem])
        given[name] = int(number)
    return Limits(**given)
