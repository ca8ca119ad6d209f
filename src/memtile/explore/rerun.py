"""Runs with other constants: how far cycles depend on them, and what a lifted limit would save.

It also has questions to a run that is made anew: how far it hangs on assumed constants, and what limits it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from memtile.arch.timing import chosen_timing, default_timing, likely, of_run
from memtile.explain.depths import needed_depths
from memtile.explain.estimate import Band, RangeEnds
from memtile.explain.results import Result
from memtile.explore.relaxed import with_limit
from memtile.explore.trial import Again, Watch
from memtile.runs.program import Run


def band(result: Result, again: Again, watch: Watch = iter) -> Band:
    """The cycles of a run as a band: at both ends of each constant with a range, and of all together.

    Args:
        result: of the run itself.
        again: does it anew.
        watch: goes through the names of the constants, for progress.
    """
    values = (each.split(" = ") for each in (*result.measured, *result.assumed))
    ranges = {name: likely(name, result.board, int(value)) for name, value in values}
    found = [_ends(result, name, *ranges[name], again) for name in watch(list(ranges))]
    both = [_cycles(result, again, {name: ends[at] for name, ends in ranges.items()}) for at in (0, 1)]
    cycles = [result.cycles, *both, *(n for ends in found for n in (ends.cycles_low, ends.cycles_high))]
    known = [count for count in cycles if count is not None]
    widest = sorted(found, key=lambda ends: -ends.width)
    return Band(result.cycles, min(known), max(known), tuple(widest), result.cost_unknown)


def _ends(result: Result, name: str, low: int, high: int, again: Again) -> RangeEnds:
    value = result.timing.get(name, getattr(default_timing(result.board), name))
    ends = (_cycles(result, again, {name: at}) for at in (low, high))
    return RangeEnds(name, value, low, high, *ends)


def _cycles(result: Result, again: Again, constants: Mapping[str, int]) -> int | None:
    with chosen_timing({**of_run(result.board, result.timing), **constants}):
        other = again()
    return other.cycles if other.status is result.status else None


Runs = Callable[[], Result | Run]
"""Makes a design anew and runs it: ``lambda: memtile.load("design.mlir").run(a)``."""


def sensitivity(run: Runs) -> Result:
    """Run a design and measure how much its cycles depend on unmeasured timing constants.

    The design runs once unchanged, then at both ends of the range of each such constant, and of all together.

    Args:
        run: function that builds the design and runs it, in Python, from MLIR or as a program.

    Returns:
        The result of the run, with ``band``, and a finding if the design ends only because of the buffers of
        ports.
    """
    result = _result(run)
    findings = (*result.findings, *needed_depths(result, lambda: _result(run)))
    return replace(result, band=band(result, lambda: _result(run)), findings=findings)


def bottleneck(run: Runs) -> Result:
    """Run a design, and again without each of the limits that cost it cycles.

    Args:
        run: function that builds the design and runs it, in Python, from MLIR or as a program.

    Returns:
        The result of the run, with ``limit``, ``lifted`` and further ``findings``.
    """
    return with_limit(_result(run), lambda: _result(run))


def _result(run: Runs) -> Result:
    done = run()
    return done.result if isinstance(done, Run) else done
