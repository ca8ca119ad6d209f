"""Runs without words: cycles, accounts of causes and findings are those of a run with them.

Jumps over time that repeats then leave all words where they are, sources are counted down and sinks only
counted: a run takes the same memory, however many words it moves. What is in memory and buffers afterwards
means nothing. Where time may depend on words, they are moved all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from memtile.errors import DesignError

_wanted: ContextVar[bool] = ContextVar("words", default=True)


class MovesWords(Protocol):
    """An engine, as far as words are concerned."""

    @property
    def wordless(self) -> bool:
        """Whether its runs leave the words where they are."""


@contextmanager
def moving_words(on: bool) -> Iterator[None]:
    """Context whose runs move words or, if an outer one or this one says so, do not."""
    before = _wanted.set(on and _wanted.get())
    try:
        yield
    finally:
        _wanted.reset(before)


def words_wanted() -> bool:
    """Whether runs move words."""
    return _wanted.get()


def no_time() -> DesignError:
    """The error of an untimed run without words."""
    return DesignError.of(
        "data",
        "False of an untimed run",
        "data=False of a run with a clock",
        "an untimed run without words has nothing to do",
        "Leave one of untimed=True and data=False out.",
        reason="no_words",
        where="run",
        source="an untimed run has words and no cycles",
    )


def look_for_words(engine: MovesWords, where: str, what: str) -> None:
    """Refuse to look at words after a run without them.

    Args:
        engine: that ran.
        where: they are looked for.
        what: is wanted of them.

    Raises:
        DesignError: it ran without words.
    """
    if engine.wordless:
        raise gone(where, what)


def words_are_gone(cycle: int) -> DesignError:
    """The error of a run with words after one without them."""
    return gone(f"engine at cycle {cycle}", "a run with words")


def gone(where: str, what: str) -> DesignError:
    """The error of a look at ``what`` there after a run without words."""
    return DesignError.of(
        "data",
        f"{what} after a run with data=False",
        "further runs with data=False, and their cycles",
        f"a run without words was before this, and no words are left for {what}",
        f"Make the design anew, and run it with words, for {what}.",
        reason="no_words",
        where=where,
        source="a run without words leaves none in memory and at ports",
    )
