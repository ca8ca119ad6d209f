"""How far apart repeats of a measurement are on silicon: what a model can be held to, and what not.

A quantity *varies* if it is known to differ from run to run by more than 5 %: by the runs of its source, by
those of the same quantity elsewhere (``again``), or since the first access to external memory is in it, whose
range the calibration shows. It *repeats* if more than one run is known and they do not, and was *not
repeated* otherwise. Its error does not count for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from support.silicon.silicon_rig import OUTLIER, Case

REPEATS = ("repeats", "varies", "not repeated")


@dataclass(frozen=True)
class Spread:
    """Where repeats of one case lie.

    Attributes:
        low: of them.
        high: of them.
        of: "runs": what was measured, in which the simulated value is to lie; "first": what the model gives
            with first accesses as long as in the cases that calibrate, in which the measured value is to lie.
    """

    low: float
    high: float
    of: str

    def has(self, case: Case, simulated: float) -> bool:
        """Whether the simulated value, or the measured one, lies in it."""
        return self.low <= (simulated if self.of == "runs" else case.measured) <= self.high


def groups(found: Sequence[Case]) -> list[list[Case]]:
    """Cases that measured the same quantity, the first one of each group in front."""
    by_id = {case.id: case for case in found}
    made: dict[str, list[Case]] = {}
    for case in found:
        if "again" in case.data:
            first = case
            while "again" in first.data:
                first = by_id[first.data["again"]]
            made.setdefault(first.id, [first]).append(case)
    return list(made.values())


def ends(cases: Sequence[Case]) -> tuple[float, float]:
    """The lowest and the highest of what they measured."""
    low = min(case.data["measured"].get("low", case.measured) for case in cases)
    high = max(case.data["measured"].get("high", case.measured) for case in cases)
    return float(low), float(high)


def spreads(found: Sequence[Case], bands: Mapping[str, tuple[float, float]]) -> dict[str, Spread]:
    """What is known of the repeats of each case, by id.

    Args:
        found: all cases.
        bands: what the model gives at both ends of its constants' ranges, by id.
    """
    same = {case.id: group for group in groups(found) for case in group}
    told: dict[str, Spread] = {}
    for case in found:
        low, high = ends(same.get(case.id, [case]))
        if case.under_first and case.runs <= 1 and wide(case, *bands.get(case.id, (0.0, 0.0))):
            told[case.id] = Spread(*bands[case.id], "first")
        elif low < high:
            told[case.id] = Spread(low, high, "runs")
    return told


def wide(case: Case, low: float, high: float) -> bool:
    """Whether what lies between is more than a model can be held to."""
    return high - low > OUTLIER * abs(case.measured)


def repeats(case: Case, known: Mapping[str, Spread]) -> str:
    """One of ``REPEATS``: what is known of other runs of it."""
    spread = known.get(case.id)
    if spread is not None and wide(case, spread.low, spread.high):
        return "varies"
    measured = case.data["measured"]
    again = "again" in case.data or case.runs > 1 or measured.get("low", 0) < measured.get("high", 0)
    return "repeats" if again or spread is not None else "not repeated"
