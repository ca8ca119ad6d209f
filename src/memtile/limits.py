"""Limits of inputs: how large, how many and how deep they may be before memory or time is spent on them.

Each limit has a name, by which a user raises it: ``MEMTILE_LIMITS="words=50000000,regions=200"``.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import NamedTuple

from memtile.errors import InputFileError

VARIABLE = "MEMTILE_LIMITS"
_NUMBER = re.compile("[0-9]{1,18}")


class Limit(NamedTuple):
    """A limit that is not of the hardware but of this program.

    Attributes:
        most: largest permitted value unless the user raises it.
        what: unit, and of what.
    """

    most: int
    what: str


LIMITS = {
    "file_bytes": Limit(1 << 29, "bytes of a file, or of an array in one"),
    "text_bytes": Limit(1 << 28, "bytes of a text file"),
    "words": Limit(10_000_000, "words and signs"),  # of an MLIR text; they take about a gigabyte
    "regions": Limit(100, "regions within each other"),
    "lists": Limit(50, "lists within each other"),
    "plio_values": Limit(1 << 25, "values of a PLIO's file"),
    "saved_bytes": Limit(1 << 31, "bytes of all arrays in a saved array"),
    "external_bytes": Limit(1 << 30, "bytes of a buffer in external memory"),
    "body_operations": Limit(100_000, "operations of a core's body, those of functions once for each call"),
    "body_calls": Limit(10_000, "calls of functions in a core's body"),
    "body_call_depth": Limit(8, "calls within each other"),
    "body_nesting": Limit(60, "loops and conditions within each other"),
    "body_depth": Limit(60, "operations within each other in an index or an affine map"),
    "map_results": Limit(64, "results of an affine map"),
    "vector_bytes": Limit(1 << 16, "bytes of a vector in a core's body"),  # of a tile's memory
    "vector_numbers": Limit(16_384, "different numbers in a constant vector"),
}


def limit(name: str) -> int:
    """Return the largest permitted value of a limit.

    Args:
        name: of :data:`LIMITS`.

    Raises:
        InputFileError: ``MEMTILE_LIMITS`` of the environment has another form, or names no limit.
    """
    return _raised(os.environ.get(VARIABLE, "")).get(name, LIMITS[name].most)


def how_to_raise(name: str) -> str:
    """Return the sentence that says how to raise a limit."""
    return f"Set {VARIABLE}={name}=NUMBER to allow more."


@cache
def _raised(text: str) -> dict[str, int]:
    """The limits that the environment sets."""
    found = {}
    for item in filter(None, text.split(",")):
        name, _, number = item.strip().partition("=")
        if name not in LIMITS or not _NUMBER.fullmatch(number):
            raise InputFileError.of(
                VARIABLE,
                repr(item),
                f"NAME=NUMBER, separated by commas; names are {', '.join(LIMITS)}",
                reason="limits",
                where="environment",
                source="limits of inputs",
            )
        found[name] = int(number)
    return found
