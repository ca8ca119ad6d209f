"""What a check found: for people, as data, and where in the user's files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memtile.explain.findings import Finding, Severity
from memtile.plain_text import printable

_COLONS = re.compile(r"^(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?:[:,].*)?$")
_WORDS = re.compile(r"^(?P<file>.+?),? line (?P<line>\d+)(?:, column (?P<column>\d+))?(?:[:,].*)?$")


class FilePlace(NamedTuple):
    """A place in a file; line and column count from 1, None = nobody knows."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


def file_place(text: str, default: str) -> FilePlace:
    """Where a text points to.

    Args:
        text: of a finding's side or of a problem.
        default: file to be named where the text names none.
    """
    for form in (_WORDS, _COLONS):
        if found := form.match(text):
            column = found["column"]
            return FilePlace(found["file"], int(found["line"]), int(column) if column else None)
    return FilePlace(default)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of a check.

    Attributes:
        name: of what was checked, as the user gave it.
        findings: errors first.
        tasks: how many tasks of channels were looked at.
        notes: what could not be looked at, a line each.
    """

    name: str
    findings: tuple[Finding, ...]
    tasks: int = 0
    notes: Sequence[str] = ()

    @property
    def good(self) -> bool:
        """Whether there is no error; warnings and notes are none."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """Findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "good": self.good,
            "tasks": self.tasks,
            "counts": {severity.value: self.count(severity) for severity in Severity},
            "findings": [finding.as_json() for finding in self.findings],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """The check for people, as compilers write: a line for each finding, its other sides below it."""
        lines = [line for finding in self.findings for line in _lines(self.name, finding)]
        return "\n".join(map(printable, [*lines, *self.notes, self.summary]))

    @property
    def summary(self) -> str:
        """One line."""
        counts = (_count(self.count(each), each.value) for each in Severity if self.count(each))
        found = ", ".join(counts) or "nothing found"
        return f"{self.name}: {_count(self.tasks, 'task')} checked, {found}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings and notes; those of one severity as they came."""
    order = list(Severity)
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))


def _lines(name: str, finding: Finding) -> Iterator[str]:
    places = list(dict.fromkeys(side.place for side in finding.sides if side.place))
    where = file_place(places[0] if places else name, name)
    text = finding.message.removeprefix(str(where)).lstrip(":, ")
    yield f"{where}: {finding.severity} {finding.code}: {text} {finding.fix}".rstrip()
    yield from (f"  and {side}" for side in finding.sides if side.place in places[1:])
