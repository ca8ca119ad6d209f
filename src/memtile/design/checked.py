"""A run that is checked for races: what was found, with the names of the design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from memtile.errors import DesignError, Problem
from memtile.explain.finding_codes import WRONG_LOCK
from memtile.explain.findings import Finding
from memtile.explain.race_findings import Area, race_findings
from memtile.explain.results import Result
from memtile.sim.history import History

if TYPE_CHECKING:
    from memtile.design.bench import Bench


@contextmanager
def checked(bench: Bench, check: bool = True, *, untimed: bool = False) -> Iterator[list[Finding]]:
    """Context of a run; the list that it gives has what was found, once the context is left.

    Without ``check``, and within another one, it does nothing: the outer one has all.

    Raises:
        DesignError: the run has no time.
    """
    findings: list[Finding] = []
    if check:
        refuse_untimed(untimed)
    if not check or bench.engine.checks.watch is not None:
        yield findings
        return
    with bench.engine.checks.on() as found:
        watch = bench.engine.checks.watch
        yield findings
    assert watch is not None
    findings += race_findings(bench.engine, found, watch, list(buffer_areas(bench)))


def buffer_areas(bench: Bench) -> Iterator[Area]:
    """The buffers of a design, where they lie."""
    for tile in bench.members:
        for buffer in tile.buffers:
            yield Area(buffer.name, tile.index, buffer.offset, buffer.nbytes)


def buffers_moved(bench: Bench) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Model index of each channel of a design, and the names of the buffers that it reads or writes."""
    for tile in bench.members:
        for channel in (*tile.s2mm, *tile.mm2s):
            yield channel.index, tuple(channel.moves)


@contextmanager
def noted(bench: Bench, history: bool = True, *, untimed: bool = False) -> Iterator[list[History]]:
    """Context of a run; the list that it gives has its history, once the context is left.

    Without ``history``, and where somebody notes it already, it does nothing.

    Raises:
        DesignError: the run has no time.
    """
    if history and untimed:
        raise DesignError("run: an untimed run has no history. Leave untimed out.")
    if not history or bench.engine.checks.recorder is not None:
        yield []
        return
    with bench.engine.checks.recorded() as found:
        yield found


def with_history(result: Result, found: Sequence[History]) -> Result:
    """The result of a run that keeps its history, if there is one."""
    if not found or result.kept is None:
        return result
    return replace(result, kept=result.kept.with_history(found[0]))


def refuse_untimed(untimed: bool) -> None:
    """Refuse to check a run that has no time.

    Raises:
        DesignError: it has none.
    """
    if untimed:
        raise DesignError(_UNTIMED)


_UNTIMED = Problem(
    reason="check",
    where="run",
    field="check",
    given="an untimed run",
    allowed="a run with a clock",
    source="an order is what happens in time",
    next_step="Leave untimed out.",
    says="an untimed run has no time, in which two could be too early or too late",
)


def joined(result: Result, races: Sequence[Finding]) -> Result:
    """The result with what the check for races found, but what a hang has the name of already."""
    named = {finding.code for finding in result.findings if finding.code == WRONG_LOCK}
    return replace(result, findings=(*result.findings, *(each for each in races if each.code not in named)))
