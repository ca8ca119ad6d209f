"""The verdict of a run by the name of its design, in the form that a check has: for SARIF and JUnit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtile.explain.finding_places import in_order
from memtile.explain.findings import Finding
from memtile.explain.results import Result


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run that was judged.

    Attributes:
        name: of the design, as the user gave it.
        result: of the run.
    """

    name: str
    result: Result

    @property
    def findings(self) -> Sequence[Finding]:
        """Errors first."""
        return in_order(self.result.findings)

    @property
    def good(self) -> bool:
        """Whether the run finished, with the words that were expected, and nothing is an error."""
        return self.result.good

    @property
    def summary(self) -> str:
        """One line: how it ended, and what is wrong beside the findings."""
        result = self.result
        time = f"{result.cycles:,} cycles" if result.timed else "untimed"
        wrong = [check.text for check in result.checks if not check.exact]
        return "; ".join([f"{self.name}: {result.status}, {time}", *result.errors, *wrong])
