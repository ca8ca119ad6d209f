"""Findings as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtile import __version__
from memtile.check.check_result import CheckResult
from memtile.check.source_places import file_place
from memtile.explain.findings import CODES, Finding
from memtile.plain_text import printable_data

VERSION = "2.1.0"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(results: Sequence[CheckResult]) -> dict[str, Any]:
    """One run of the tool over several designs, as plain data."""
    found = [(result, finding) for result in results for finding in result.findings]
    codes = sorted({finding.code for _, finding in found})
    driver = {
        "name": "memtile",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": CODES[code].title}} for code in codes],
    }
    listed = [_result(result.name, finding, codes.index(finding.code)) for result, finding in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": listed}
    return {"$schema": _SCHEMA, "version": VERSION, "runs": [printable_data(run)]}


def _result(name: str, finding: Finding, rule: int) -> dict[str, Any]:
    sides = finding.sides or ()
    first, *others = [_location(side.place, f"{side.who} {side.does}", name) for side in sides] or [
        _location("", "", name)
    ]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity.value,
        "message": {"text": f"{finding.message} {finding.fix}".strip()},
        "locations": [first],
        **({"relatedLocations": others} if others else {}),
    }


def _location(place: str, text: str, name: str) -> dict[str, Any]:
    at = file_place(place, name)
    physical: dict[str, Any] = {"artifactLocation": {"uri": at.file.replace("\\", "/")}}
    if at.line is not None:
        region = {"startLine": at.line} | ({"startColumn": at.column} if at.column else {})
        physical["region"] = region
    return {"physicalLocation": physical} | ({"message": {"text": text}} if text else {})
