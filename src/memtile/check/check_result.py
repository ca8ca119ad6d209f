"""What a check found: for people and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtile.explain.finding_places import alike_findings, finding_lines
from memtile.explain.findings import Finding, Severity
from memtile.explain.orders.proof import Proof
from memtile.plain_text import printable


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of a check.

    Attributes:
        name: name of the checked input, as the user gave it.
        findings: errors first.
        tasks: number of channel tasks examined.
        notes: parts that could not be examined, a line each.
        proved: what holds for every timing of the design; None if the check did not execute it.
    """

    name: str
    findings: tuple[Finding, ...]
    tasks: int = 0
    notes: Sequence[str] = ()
    proved: Proof | None = None

    @property
    def good(self) -> bool:
        """Whether there is no error; warnings and notes do not count."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """Return the number of findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "good": self.good,
            "tasks": self.tasks,
            "counts": {severity.value: self.count(severity) for severity in Severity},
            "findings": [finding.as_json() for finding in self.findings],
            "notes": list(self.notes),
            "proved": None if self.proved is None else self.proved.as_json(),
        }

    def __str__(self) -> str:
        """The check for people, as compilers write: a line for each finding, its other sides below it.

        Findings of one line of a file that differ in numbers alone are shown once, with all they are about.
        """
        lines: list[str] = []
        for finding, *others in alike_findings(self.findings):
            lines += finding_lines(self.name, finding)
            if others:
                lines.append(f"  also {', '.join(dict.fromkeys(each.sides[0].who for each in others))}")
        return "\n".join(map(printable, [*lines, *self.notes, self.summary]))

    @property
    def summary(self) -> str:
        """One line."""
        counts = (_count(self.count(each), each.value) for each in Severity if self.count(each))
        found = ", ".join(counts) or "nothing found"
        proved = ""
        if self.proved is not None and self.proved.ends_proved and not self.proved.is_stuck:
            proved = ", finishes whatever the timing"
        return f"{self.name}: {_count(self.tasks, 'task')} checked, {found}{proved}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
