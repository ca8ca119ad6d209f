"""The keys of JSON objects in a strict schema: which are not known, and which are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from difflib import get_close_matches
from typing import NamedTuple

_MISSING = "missing_key"


class WrongKey(NamedTuple):
    """What is wrong with a key: the fields of a :class:`~memtile.errors.Problem`."""

    reason: str
    key: str
    given: str
    allowed: str
    next_step: str = ""

    def says(self, prefix: str) -> str:
        """The sentence about the key, whose object is below ``prefix``."""
        name = prefix + self.key
        return (
            f"{name} is missing"
            if self.reason == _MISSING
            else f"{name} is not a key; known keys are {self.allowed}"
        )


def wrong_keys(
    given: Collection[str], known: Set[str], required: Iterable[str], remarks: Set[str] = frozenset()
) -> Iterator[WrongKey]:
    """The keys of an object that are not known or missing; of the known ones ``remarks`` are not listed."""
    allowed = ", ".join(sorted(known - remarks))
    for key in given:
        if key not in known:
            near = get_close_matches(key, sorted(known), n=1)
            hint = f"Did you mean {near[0]}?" if near else ""
            yield WrongKey("unknown_key", key, "an unknown key", allowed, hint)
    for key in required:
        if key not in given:
            yield WrongKey(_MISSING, key, "nothing", "a value")
