"""Runs of loaded designs without data: cores do what they do to locks and time, and compute nothing.

Words move all the same, as packets and tokens need them, but they mean nothing. Where they would decide
cycles or actions, the run is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from memtile.errors import DesignError, MemtileError
from memtile.runs.core_kernels import WITHOUT_WORDS, Kernels
from memtile.runs.options import RunOptions
from memtile.sim.loop.engine import OF_CORES, OF_HOST, OF_PACKETS, Engine
from memtile.sim.loop.timing_only import moving_words

NO_WORDS = "no_words"


@contextmanager
def timed_alone(options: RunOptions, engine: Engine, *kernels: Kernels) -> Iterator[RunOptions]:
    """Context of a run with or without data; gives the options for what runs there.

    Args:
        options: of the run.
        engine: that runs.
        kernels: of its cores.

    Raises:
        InputFileError: words decide what a core does.
        DesignError: words decide what the array does.
    """
    if options.data:
        yield options
        return
    for each in kernels:
        for place, kernel in each.items():
            check = getattr(kernel, WITHOUT_WORDS, None)
            if check is None:
                raise _refused(f"core {place}", "a kernel in Python, which may look at words")
            check()
    _refuse(engine, engine.needs_words())
    with moving_words(False):
        yield replace(options, data=True, pad_arguments=True)
    _refuse(engine, engine.needs_words())  # by what the host has done


def is_of_words(error: MemtileError) -> bool:
    """Whether a run without data was refused because words decide something."""
    return any(problem.reason == NO_WORDS for problem in error.problems)


def _refuse(engine: Engine, reasons: Iterable[str]) -> None:
    known = (OF_HOST, OF_CORES) if engine.data_in_packets() else (OF_HOST, OF_CORES, OF_PACKETS)
    if needed := [each for each in reasons if each not in known]:
        raise _refused("run", ", ".join(needed))


def _refused(where: str, why: str) -> DesignError:
    return DesignError.of(
        "data",
        why,
        "a run with data",
        f"words decide when things happen: {why}",
        "Run it with data.",
        reason=NO_WORDS,
        where=where,
        source="docs/speed.md: without words",
    )
