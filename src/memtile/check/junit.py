"""Findings as JUnit XML, which build servers show: a test case for each design, which errors let fail."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from memtile.check.check_result import CheckResult
from memtile.explain.findings import Severity
from memtile.plain_text import printable


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
