"""Findings for other tools: SARIF 2.1.0 (OASIS) for code hosts and editors, JUnit XML for build servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from memtile import __version__
from memtile.check.check_result import CheckResult, file_place
from memtile.explain.findings import CODES, Finding, Severity
from memtile.plain_text import printable, printable_data

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


def junit(results: Sequence[CheckResult]) -> str:
    """The text of the file."""
    failures = sum(not result.good for result in results)
    suite = Element(
        "testsuite", name="memtile check", tests=str(len(results)), failures=str(failures), errors="0"
    )
    for result in results:
        case = SubElement(suite, "testcase", classname="memtile.check", name=result.name)
        wrong = [finding for finding in result.findings if finding.severity is Severity.ERROR]
        if wrong:
            failure = SubElement(case, "failure", type=wrong[0].code, message=wrong[0].message)
            failure.text = "\n".join(map(str, wrong))
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
