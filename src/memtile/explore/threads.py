"""Many designs run in one process, in threads: engines share nothing but their code.

The compiled clock loop needs no lock of the interpreter, so the designs are on all cores of the machine;
kernels in Python and the making of designs take turns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from memtile.design.run_design import run
from memtile.errors import DesignError
from memtile.explain.results import Result
from memtile.runs.options import USUAL, RunOptions
from memtile.sim.loop.engine_warmup import ready


def run_many(
    designs: Sequence[Callable[..., Any]],
    *,
    threads: int | None = None,
    options: RunOptions = USUAL,
    **more: Any,
) -> list[Result]:
    """Run designs in parallel; the results equal those of running them one after another.

    Args:
        designs: functions that return a memory tile or an array, as :func:`memtile.run` takes them.
        threads: number of designs to run at a time; None = the number of cores available to this process.
        options: of each run.
        more: other arguments of :func:`memtile.run`, for all of them.

    Returns:
        A result for each design, in their order; without the models, but with ``history=True``.

    Raises:
        DesignError: fewer than one thread; and the error of a design: of several, that of the first in the
            order given. Designs that have not begun by then are not run.
    """
    if threads is not None and threads < 1:
        raise DesignError.of(
            "threads",
            str(threads),
            "1 or more, or None",
            reason="threads",
            where="run_many",
            source="the cores of the machine",
        )

    def one(design: Callable[..., Any]) -> Result:
        result = run(design, options=options, **more)
        return (
            result if more.get("history", options.history) else replace(result, kept=None)
        )  # many models fill a memory

    ready()  # compiled once, before anybody waits for the others
    with ThreadPoolExecutor(threads or cores()) as pool:
        futures: list[Future[Result]] = [pool.submit(copy_context().run, one, each) for each in designs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
