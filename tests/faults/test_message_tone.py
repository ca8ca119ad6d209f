"""Does every message read as sentences that say where, what, why and what next, in one number base?

The plugin ``message_tone`` asks this of all problems that the tests meet. Here its rules are shown to bite.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import message_tone
from memtile.errors import Problem
from message_tone import faults

GOOD = Problem(
    reason="wrap_d0",
    where="memory tile, BD 3",
    field="D0_Wrap",
    given="2000",
    allowed="0..1023",
    source="AM025 DMA_BDn_2, 10 bits",
    next_step="Split the loop over two dimensions.",
)
PLACE, NEXT_STEP = "it does not begin with its place", "its next step does not begin as a sentence does"
ENDING, INNER = "it does not end as a sentence does", "its sentence ends before the source"
BASES, TEMPLATE = "it mixes hexadecimal and decimal limits", "it has the template of noun phrases"


def test_a_range_is_allowed() -> None:
    assert GOOD.message == (
        "memory tile, BD 3: D0_Wrap is 2000, allowed are 0..1023 (AM025 DMA_BDn_2, 10 bits). "
        "Split the loop over two dimensions."
    )
    assert list(faults(GOOD)) == []


def test_a_description_must_be_met() -> None:
    problem = replace(GOOD, given="'x'", allowed="a whole number", next_step="")
    assert problem.message == (
        "memory tile, BD 3: D0_Wrap is 'x'; it must be a whole number (AM025 DMA_BDn_2, 10 bits)."
    )
    assert list(faults(problem)) == []


def test_a_sentence_of_its_own_takes_the_place_of_both() -> None:
    problem = replace(GOOD, says="the loop is too long")
    assert problem.message == (
        "memory tile, BD 3: the loop is too long (AM025 DMA_BDn_2, 10 bits). "
        "Split the loop over two dimensions."
    )
    assert list(faults(problem)) == []


def test_json_has_the_data_and_the_message_alone() -> None:
    problem = replace(GOOD, says="the loop is too long")
    assert list(problem.as_json()) == [
        *("reason", "where", "field", "given", "allowed", "source", "next_step", "message")
    ]
    assert problem.as_json()["given"] == "2000"
    assert problem.as_json()["message"] == problem.message


@pytest.mark.any_tone
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"where": ""}, PLACE),
        ({"next_step": "Split the loop"}, ENDING),
        ({"next_step": "Split the loop.."}, ENDING),
        ({"next_step": "split the loop."}, NEXT_STEP),
        ({"says": "the loop is too long."}, INNER),
        ({"says": "D0_Wrap: 2000 given, 0..1023 allowed"}, TEMPLATE),
        ({"allowed": "0..0x3ff"}, BASES),
        ({"allowed": "0x0..1023"}, BASES),
        ({"allowed": "0x0..0x3ff"}, BASES),
        ({"given": "0x7d0"}, BASES),
        ({"given": "-0x7d0 words"}, BASES),
        ({"source": ""}, "a part of it is empty"),
    ],
)
def test_each_rule_bites(change: dict[str, str], fault: str) -> None:
    assert list(faults(replace(GOOD, **change))) == [fault]


@pytest.mark.parametrize(
    "change",
    [
        {"given": "0x7d0", "allowed": "0x0..0x3ff"},
        {"given": "-1 words", "allowed": "0..1023 words"},
        {"says": "address 0x600000 is in column 0, row 6; the array has columns 0..3, rows 0..5"},
        {"next_step": "Did you mean D1_Wrap?"},
    ],
)
def test_no_rule_bites_what_is_good(change: dict[str, str]) -> None:
    assert list(faults(replace(GOOD, **change))) == []


def test_a_test_that_meets_a_bad_message_fails(pytester: pytest.Pytester) -> None:
    pytester.makeini(f"[pytest]\npythonpath = {Path(message_tone.__file__).parent}")
    pytester.makeconftest('pytest_plugins = ["message_tone"]')
    pytester.makepyfile(
        """
        from memtile.errors import Problem

        def test_meets_it():
            Problem(
                reason="r", where="here", field="f", given="1", allowed="0..0xf", source="s", next_step="try"
            )
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*it mixes hexadecimal and decimal limits: here: f is 1, allowed are 0..0xf*"]
    )
