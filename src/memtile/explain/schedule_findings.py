"""What several schedules of a run have found, and what came out of them: one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.explain.findings import Finding, Severity, Side, WordRange
from memtile.explain.results import Result


class ScheduleRun(NamedTuple):
    """A run and what it gave.

    Attributes:
        seed: of its schedule; 0 = the usual one.
        result: of the run.
        arrays: what came out, by name.
    """

    seed: int
    result: Result
    arrays: Mapping[str, npt.NDArray[Any]]


def together(usual: ScheduleRun, others: Sequence[ScheduleRun]) -> Result:
    """The usual result with the findings of all schedules, and what differs between them."""
    findings = {_key(finding): finding for finding in usual.result.findings}
    for other in others:
        for finding in other.result.findings:
            findings.setdefault(_key(finding), finding)
    return replace(usual.result, findings=(*findings.values(), *_differences(usual, others)))


def _key(finding: Finding) -> tuple[str, frozenset[str]]:
    return finding.code, frozenset(side.who for side in finding.sides)


def _differences(usual: ScheduleRun, others: Sequence[ScheduleRun]) -> Iterator[Finding]:
    for name, array in usual.arrays.items():
        for other in others:
            words = _differing(array, other.arrays.get(name))
            if words is not None:
                yield _finding(name, words, other.seed)
                break


def _differing(one: npt.NDArray[Any], other: npt.NDArray[Any] | None) -> tuple[int, int] | None:
    """First and last place in which two arrays differ, or None."""
    if other is None or len(one.ravel()) != len(other.ravel()):
        return 0, max(one.size - 1, 0)
    places = np.flatnonzero(one.ravel().view(np.uint8) != other.ravel().view(np.uint8)) // one.itemsize
    return (int(places[0]), int(places[-1])) if len(places) else None


def _finding(name: str, words: tuple[int, int], seed: int) -> Finding:
    first, last = words
    return Finding(
        "MT0206",
        Severity.ERROR,
        f"{name} comes out otherwise with another timing: elements {first} to {last}, in schedule {seed}.",
        sides=(Side(name, f"has other elements in schedule {seed}"),),
        words=(WordRange(name, first, last - first + 1),),
        fix="Put an order where another finding says that there is none.",
    )
