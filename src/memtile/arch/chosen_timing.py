"""Timing constants that whoever runs a design chooses for it, over those that the design gives itself.

They are in force where they are asked for and nowhere else: ``memtile run --timing`` and
``memtile.run(design, timing=...)`` have each model that is made inside take them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import lru_cache

from memtile.arch.timing import Timing
from memtile.errors import DesignError, Problem, raise_if

_NONE: Mapping[str, int] = {}
_DEFAULTS = Timing()
_LOOKS: ContextVar[list[None] | None] = ContextVar("looks at the constants of models", default=None)
_CHOSEN: ContextVar[Mapping[str, int]] = ContextVar("timing constants chosen for all models", default=_NONE)


@contextmanager
def chosen_timing(constants: Mapping[str, int]) -> Iterator[None]:
    """Have all models that are made inside take these constants.

    Args:
        constants: values by the names of :class:`Timing`.

    Raises:
        DesignError: names that are no constants, values outside their ranges; all at once.
    """
    names = [f.name for f in fields(Timing)]
    raise_if([_unknown(name, names) for name in constants if name not in names], DesignError)
    _with(_DEFAULTS, constants)
    token = _CHOSEN.set({**_CHOSEN.get(), **constants})
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def timing_in_force(timing: Timing | None = None) -> Timing:
    """The constants of a model that is made here: those given or the defaults, but for the chosen ones."""
    return _with(timing or _DEFAULTS, _CHOSEN.get())


def _with(timing: Timing, chosen: Mapping[str, int]) -> Timing:
    """The constants with others in their places; to check them takes longer than to find what is known."""
    if all(type(value) is int for value in chosen.values()):
        return _known_with(timing, tuple(chosen.items()))
    return replace(timing, **chosen)


@lru_cache
def _known_with(timing: Timing, chosen: tuple[tuple[str, int], ...]) -> Timing:
    return replace(timing, **dict(chosen))


@contextmanager
def noting_looks() -> Iterator[list[None]]:
    """Context with a list that has an entry for each look at the constants of a model made in it."""
    looks: list[None] = []
    token = _LOOKS.set(looks)
    try:
        yield looks
    finally:
        _LOOKS.reset(token)


def looked() -> None:
    """Somebody looks at the constants of a model: what it does then may hang on them."""
    looks = _LOOKS.get()
    if looks is not None:
        looks.append(None)


def changed(timing: Timing) -> dict[str, int]:
    """The constants that differ from their defaults, by name."""
    return {f.name: getattr(timing, f.name) for f in fields(timing) if getattr(timing, f.name) != f.default}


def as_text(values: Mapping[str, int]) -> str:
    """Constants with their values and defaults, in one line."""
    return ", ".join(f"{name} = {at} (default {getattr(_DEFAULTS, name)})" for name, at in values.items())


def as_json(values: Mapping[str, int]) -> list[dict[str, int | str]]:
    """Constants with their values and defaults, as plain data."""
    return [{"name": n, "value": value, "default": getattr(_DEFAULTS, n)} for n, value in values.items()]


def _unknown(name: str, names: list[str]) -> Problem:
    near = get_close_matches(name, names, 1)
    return Problem(
        name,
        repr(name),
        ", ".join(names),
        f"there is no constant {name!r}; there are {', '.join(names)}",
        f"Did you mean {near[0]}?" if near else "",
        reason="timing",
        where="timing constants",
        source="docs/timing.md",
    )
