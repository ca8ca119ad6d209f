"""Questions to a run that is made anew: how far it hangs on assumed constants, and what limits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memtile.explain.results import Result
from memtile.explain.slow import slow_findings
from memtile.explore.rerun import band, lifted
from memtile.runs.program import Run

Runs = Callable[[], Result | Run]
"""Makes a design anew and runs it: ``lambda: memtile.load("design.mlir").run(a)``."""


def sensitivity(run: Runs) -> Result:
    """A run, and how far its cycles hang on timing constants that nobody has measured.

    It is done once as it is, and at both ends of the range of every such constant, and of all together.

    Args:
        run: makes the design anew and runs it, in Python, from MLIR or as a program.

    Returns:
        Its result, with ``band``.
    """
    result = _result(run)
    return replace(result, band=band(result, lambda: _result(run)))


def bottleneck(run: Runs) -> Result:
    """A run, and what it would be without each of the limits that cost it cycles.

    Args:
        run: makes the design anew and runs it, in Python, from MLIR or as a program.

    Returns:
        Its result, with ``lifted`` and further ``findings``; ``bound`` has what limits it.
    """
    result = _result(run)
    findings = (*result.findings, *slow_findings(result))
    return replace(result, lifted=lifted(result, lambda: _result(run)), findings=findings)


def _result(run: Runs) -> Result:
    done = run()
    return done.result if isinstance(done, Run) else done
