"""The findings that a test states: errors and warnings. A note on something else may be added at any time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from memtile.explain.findings import Finding, Severity

One = TypeVar("One", Finding, Mapping[str, Any])


def severe(findings: Iterable[One]) -> tuple[One, ...]:
    """Return the errors and warnings among findings of a run, or of its JSON."""
    return tuple(
        each
        for each in findings
        if (each.severity if isinstance(each, Finding) else each["severity"]) != Severity.NOTE
    )
