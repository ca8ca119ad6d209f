"""Findings: a code that exists, a sentence, and the same as JSON."""

import pytest

from memtile.check.check_result import CheckResult
from memtile.explain.finding_places import alike_findings, in_order
from memtile.explain.findings import CODES, Finding, Severity, Side, WordRange


def test_a_mistake_of_one_line_that_many_cores_make_is_shown_once() -> None:
    made = [
        Finding(
            "MT0118",
            Severity.ERROR,
            f"core (0, {row}): @B_{row} is kept.",
            (Side(f"core (0, {row})", "", place),),
        )
        for place, rows in (("gemm.py:40", (2, 3, 4)), ("gemm.py:41", (5,)))
        for row in rows
    ]
    assert [len(each) for each in alike_findings(made)] == [3, 1]
    assert str(CheckResult("gemm.py", tuple(made), 9)).splitlines() == [
        "gemm.py:40: error MT0118: core (0, 2): @B_2 is kept.",
        "  also core (0, 3), core (0, 4)",
        "gemm.py:41: error MT0118: core (0, 5): @B_5 is kept.",
        "gemm.py: 9 tasks checked, 4 errors",
    ]


def test_a_mistake_comes_before_the_words_that_it_made_wrong() -> None:
    race, words, note, cause = (
        Finding(code, severity, f"{code}.")
        for code, severity in (
            ("MT0201", Severity.ERROR),
            ("MT0405", Severity.ERROR),
            ("MT0203", Severity.NOTE),
            ("MT0323", Severity.WARNING),
        )
    )
    assert in_order((note, words, cause, race)) == (race, cause, words, note)


def test_a_finding_says_code_sentence_count_and_repair() -> None:
    finding = Finding(
        "MT0201",
        Severity.ERROR,
        "'a' is read while it is written.",
        sides=(Side("S2MM 0", "writes words 0 to 3", "BD 1", 17), Side("core(0,2)", "reads word 2")),
        words=(WordRange("a", 0, 4),),
        cycles=(17, 40),
        fix="Release 'full' after BD 1.",
        count=3,
    )
    assert str(finding) == (
        "MT0201 error: 'a' is read while it is written. (3 times) Release 'full' after BD 1."
    )
    assert str(finding.sides[0]) == "S2MM 0 writes words 0 to 3 (BD 1, cycle 17)"
    assert str(finding.sides[1]) == "core(0,2) reads word 2"
    assert finding.as_json() == {
        "code": "MT0201",
        "title": "a write and a read without an order",
        "severity": "error",
        "message": "'a' is read while it is written.",
        "sides": [
            {"who": "S2MM 0", "does": "writes words 0 to 3", "place": "BD 1", "cycle": 17},
            {"who": "core(0,2)", "does": "reads word 2", "place": "", "cycle": None},
        ],
        "words": [{"memory": "a", "first": 0, "count": 4}],
        "cycles": [17, 40],
        "fix": "Release 'full' after BD 1.",
        "count": 3,
        "repair": None,
        "condition": None,
    }


def test_a_finding_without_a_known_code_is_not_made() -> None:
    with pytest.raises(ValueError, match="no finding has the code 'MT9999'"):
        Finding("MT9999", Severity.NOTE, "nothing")


def test_codes_have_one_form_and_one_meaning_each() -> None:
    assert all(len(code) == 6 and code[:2] == "MT" and code[2:].isdigit() for code in CODES)
    assert len({code.title for code in CODES.values()}) == len(CODES)
