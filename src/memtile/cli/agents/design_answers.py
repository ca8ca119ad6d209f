"""Answers about designs in Python, IRON and MLIR: why a run is stuck, or what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any

from memtile.cli.agents.short_answers import run_answer
from memtile.runs.options import RunOptions

_RUNS = 16  # of the same length, that the questions about limits take with the first one
_LEFT_OUT = f"what the run would be without each limit is left out: it takes {_RUNS} runs; give more seconds"


def design_explained(
    file: str, device: str, kernels: str, settings: Sequence[str], of_run: RunOptions, seconds: float
) -> dict[str, Any]:
    """Run a design; return why it is stuck, or what limits it, as ``memtile explain`` says it.

    Args:
        file: of the design.
        device: that it is for, where it leaves that open; empty = as it says.
        kernels: file with functions that cores of MLIR call; empty = none.
        settings: ``NAME=VALUE`` of parameters.
        of_run: options of the run.
        seconds: for all runs; what the run would be without each limit is left out if it takes longer.

    Raises:
        MemtileError: as loading and running it raises.
    """
    from memtile.cli.report_files import Studies
    from memtile.cli.runnable import load_beside
    from memtile.explain.summary import Layout

    make = partial(load_beside, file, device=device, settings=settings, kernels=kernels or None)
    begin = monotonic()
    made = make()
    done = made.run(of_run)
    is_short = (monotonic() - begin) * _RUNS <= seconds
    result = Studies(bottleneck=is_short).answered(
        done.result,
        made.engine,
        lambda: make().run(of_run.run_again()).result,
        device=made.design.device,
    )
    lines = [*result.summary(Layout(wrapped=False)), *([] if is_short else [_LEFT_OUT])]
    lifted = result.as_json()["lifted"]
    return {**run_answer(result, made.words(done)), "lifted": lifted, "lines": lines}
