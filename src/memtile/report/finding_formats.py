"""Findings for other tools: SARIF 2.1.0 (OASIS) for code hosts and editors, JUnit XML for build servers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from memtile import __version__
from memtile.explain.finding_places import Judged, file_place
from memtile.explain.findings import CODES, Change, Finding, Severity
from memtile.plain_text import printable, printable_data

VERSION = "2.1.0"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(results: Sequence[Judged]) -> dict[str, Any]:
    """One run of the tool over several designs, as plain data."""
    found = [(result, finding) for result in results for finding in result.findings]
    codes = sorted({finding.code for _, finding in found})
    driver = {
        "name": "memtile",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": CODES[code].title}} for code in codes],
    }
    listed = [
        printable_data(_result(result.name, finding, codes.index(finding.code))) | _fixes(finding)
        for result, finding in found
    ]
    unnamed = [_unnamed(result) for result in results if not result.good and not _errors(result)]
    listed += printable_data(unnamed)
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": listed}
    return {"$schema": _SCHEMA, "version": VERSION, "runs": [run]}


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


def _fixes(finding: Finding) -> dict[str, Any]:
    """The repair that was tried, as editors apply it, its text as it is; none for a text that is no file."""
    repair = finding.repair
    if repair is None or not repair.changes or not all(change.column for change in repair.changes):
        return {}
    by_file = dict[str, list[dict[str, Any]]]()
    for change in sorted(repair.changes, key=lambda change: change.offset):
        by_file.setdefault(change.file.replace("\\", "/"), []).append(_replacement(change))
    changes = [
        {"artifactLocation": {"uri": file}, "replacements": replacements}
        for file, replacements in by_file.items()
    ]
    return {"fixes": [{"description": {"text": printable(repair.says)}, "artifactChanges": changes}]}


def _replacement(change: Change) -> dict[str, Any]:
    lines = change.old.split("\n")
    end = len(lines[-1]) + (change.column if len(lines) == 1 else 1)
    region = {
        "startLine": change.line,
        "startColumn": change.column,
        "endLine": change.line + len(lines) - 1,
        "endColumn": end,
    }
    return {"deletedRegion": region} | ({"insertedContent": {"text": change.new}} if change.new else {})


def _errors(result: Judged) -> list[Finding]:
    return [finding for finding in result.findings if finding.severity is Severity.ERROR]


def _unnamed(result: Judged) -> dict[str, Any]:
    """What is not good and has no finding that says why, such as a run at its limit of cycles."""
    where = _location("", "", result.name)
    return {"level": "error", "message": {"text": result.summary}, "locations": [where]}


def _location(place: str, text: str, name: str) -> dict[str, Any]:
    at = file_place(place, name)
    physical: dict[str, Any] = {"artifactLocation": {"uri": at.file.replace("\\", "/")}}
    if at.line is not None:
        region = {"startLine": at.line} | ({"startColumn": at.column} if at.column else {})
        physical["region"] = region
    return {"physicalLocation": physical} | ({"message": {"text": text}} if text else {})


def junit(
    results: Sequence[Judged], command: str, seconds: Sequence[float] = (), errors: Collection[str] = ()
) -> str:
    """The text of the file.

    Args:
        results: a case for each.
        command: that they are of: ``check``, ``run`` or ``test``.
        seconds: that each of them took; empty = not known.
        errors: names of those in which memtile itself failed.
    """
    bad = [result.name for result in results if not result.good]
    counts = {"tests": len(results), "failures": len(bad) - len(errors), "errors": len(errors)}
    suite = Element("testsuite", name=f"memtile {command}")
    for name, count in counts.items():
        suite.set(name, str(count))
    if seconds:
        suite.set("time", f"{sum(seconds):.3f}")
    times = [f"{took:.3f}" for took in seconds] or [""] * len(results)
    for result, took in zip(results, times, strict=True):
        case = SubElement(suite, "testcase", classname=f"memtile.{command}", name=result.name)
        if took:
            case.set("time", took)
        wrong = _errors(result)
        if not result.good:
            kind, message = (wrong[0].code, wrong[0].message) if wrong else ("no finding", result.summary)
            tag = "error" if result.name in errors else "failure"
            failure = SubElement(case, tag, type=kind, message=message)
            failure.text = "\n".join([*map(str, wrong), result.summary])
        others = [finding for finding in result.findings if finding.severity is not Severity.ERROR]
        if others:
            SubElement(case, "system-out").text = "\n".join(map(str, others))
    suites = Element("testsuites")
    suites.append(suite)
    for element in suites.iter():
        element.text = printable(element.text, "\n") if element.text else None
        element.attrib = {name: printable(value) for name, value in element.items()}
    indent(suites)
    return tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
