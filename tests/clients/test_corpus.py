"""Is every design of the corpus answered as it says, and does the score count what it should?"""

from __future__ import annotations

import json
import re

import pytest

from memtile.explain.findings import CODES
from support.pages import corpus_scores as corpus

CASES = corpus.cases()
ENDS = {
    "hangs": {"stuck", "halted", "limit"},
    "races": None,
    "wrong": None,
    "slow": {"finished"},
    "fine": {"finished"},
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_design_has_the_findings_that_it_is_there_for(case: corpus.Case) -> None:
    done = corpus.run(case)
    ends = ENDS[case.kind]
    assert ends is None or done["status"] in ends
    assert corpus.stated(done["findings"], case.codes) == case.codes, done["findings"] or done["waiting"]
    said = "\n".join(f"{each['message']} {each['fix']}" for each in done["findings"])
    assert [text for text in case.says if text not in said] == [], said


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_check_names_a_design_before_it_runs(case: corpus.Case) -> None:
    assert corpus.checked_before(case) == case.before


def test_check_names_most_of_what_hangs() -> None:
    hangs = [case for case in CASES if case.kind == "hangs"]
    assert sum(bool(case.before) for case in hangs) >= 33
    assert not any(case.before for case in CASES if case.kind == "fine")


def test_every_design_is_expected_and_every_expected_design_is_there() -> None:
    entries = json.loads((corpus.CORPUS / "expected.json").read_text(encoding="utf-8"))
    assert sorted(entries) == sorted(corpus.designs())
    for case in CASES:
        assert case.codes <= CODES.keys(), case.name
        assert bool(case.codes) == (case.kind != "fine"), case.name
        assert re.fullmatch(r"[A-Z0-9'].*\.", case.about), case.name
        assert case.source, case.name


def test_beside_each_mistake_is_the_design_without_it() -> None:
    fine = {case.name.rpartition("-")[0] for case in CASES if case.kind == "fine"}
    for case in CASES:
        assert case.kind == "fine" or any(case.name.startswith(name) for name in fine), case.name


def made(kind: str, *codes: str) -> corpus.Case:
    return corpus.Case(f"a-{kind}", corpus.CORPUS, frozenset(codes), "", "")


def test_a_score_counts_what_is_missing_and_what_is_too_much() -> None:
    assert corpus.score(made("hangs", "MT0301", "MT0302"), frozenset({"MT0301", "MT0303"})) == (1, 2, 1, 2)
    assert corpus.score(made("fine"), frozenset({"MT0301"})) == (1, 0, 0, 1)
    assert corpus.score(made("hangs", "MT0301"), True) == (1, 1, 1, 1)
    assert corpus.score(made("fine"), True) == (1, 0, 0, 1)
    total = corpus.Score(1, 2, 1, 2) + corpus.Score(1, 0, 0, 2)
    assert (total.recall, total.precision) == (0.5, 0.25)


def test_the_table_says_which_design_is_answered_otherwise() -> None:
    answers = [(made("hangs", "MT0301"), frozenset({"MT0301"})), (made("fine"), frozenset({"MT0305"}))]
    lines = corpus.table(answers).splitlines()
    assert lines[-1] == "a-fine: MT0305; expected nothing"
    assert lines[-2].split() == ["all", "2", "1", "1", "2", "100.0%", "50.0%"]
