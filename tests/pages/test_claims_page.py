"""Is the page of claims made from their table, and is each command of the table there?"""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

from memtile.cli.main import app
from places import ROOT
from support.pages import word_count

CLAIMS: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "claims.py"))
ROWS = CLAIMS["claims"]()
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
MOST_WORDS = 1_500


def test_the_page_is_made_from_the_table() -> None:
    """But for the values, which are those of the machine that measured them."""
    assert PAGE.count(CLAIMS["MARK"]) == 1
    assert CLAIMS["in_page"](PAGE, {}) == PAGE, "make claims writes it anew"
    named = [(row.subject, row.figure) for row in ROWS]
    assert len(set(named)) == len(named)
    assert set(CLAIMS["values_in"](PAGE)) == set(named)
    no = CLAIMS["OnPage"]("no", "**no**")
    changed = CLAIMS["in_page"](PAGE, {named[0]: no})
    assert CLAIMS["values_in"](changed) == {**CLAIMS["values_in"](PAGE), named[0]: no}
    other = PAGE.replace(f"`{ROWS[0].run}`", "`memtile run examples/headline.py`")
    assert named[0] not in CLAIMS["values_in"](other), "what another command gave"
    assert CLAIMS["in_page"](other, {}).count("not measured yet") == PAGE.count("not measured yet") + 1


def test_each_row_has_a_value_that_holds_or_not_or_a_reason() -> None:
    for claim in ROWS:
        measured, holds = CLAIMS["values_in"](PAGE)[claim.subject, claim.figure]
        assert (holds == "-") is measured.startswith("not measured"), claim
        assert measured != "not measured", claim
        value = measured.removesuffix(CLAIMS["LOADED"]).removesuffix(claim.unit).strip()
        if holds == "yes" and not value.endswith((" M", " G")):
            assert claim.holds(CLAIMS["number"](value)), claim


def test_limits_are_exact_and_values_short() -> None:
    claim = CLAIMS["Claim"]("a", "b", ">= 23.8801", "true")
    assert claim.shown_limit == ">= 23.8801"
    assert claim._replace(limit="<= 1.25e9").shown_limit == "<= 1.25 G"
    assert claim._replace(limit="<= 1234.5").shown_limit == "<= 1,234.5"
    assert CLAIMS["Measured"](claim, 23.8801).shown == "23.9"
    assert CLAIMS["Measured"](claim, 1234567.0).on_page(loaded=True) == (
        "1.23 M (on a loaded machine)",
        "yes",
    )
    assert word_count.words(PAGE) < MOST_WORDS


def _is_there(run: str) -> bool:
    """Whether what a command names is there: a command of memtile, a file, its row or its tests."""
    first, *words = shlex.split(run)
    named = [ROOT / word for word in words if "/" in word and "{" not in word and not word.endswith("/")]
    if not all(path.exists() for path in named):
        return False
    if first == "memtile":
        return words[0] in {command.name or command.callback.__name__ for command in app.registered_commands}
    rows = words[1:] if words[0] == "benchmarks/rows.py" else []
    text = "".join(path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*rows.py"))
    return all(f'"{row}"' in text for row in rows)


@pytest.mark.parametrize("run", sorted({row.run for row in ROWS}))
def test_what_a_command_names_is_there(run: str) -> None:
    assert _is_there(run)


def test_a_command_without_its_file_or_row_is_found() -> None:
    assert not _is_there("python benchmarks/rows.py stream13")
    assert not _is_there("python -m pytest -q tests/words/test_nothing.py")
    assert not _is_there("memtile nothing")


def test_a_benchmark_has_the_figures_that_rows_take_from_it() -> None:
    for row in ROWS:
        if "pytest -q benchmarks/" in row.run:
            test, _, figure = row.value.rpartition(": ")
            file = next(word for word in row.run.split() if word.startswith("benchmarks/"))
            text = (ROOT / file).read_text("utf-8")
            assert not row.value or f"def {test.partition('[')[0]}(" in text, row
            assert not row.value or f'"{figure}"' in text or f'{figure.partition(" ")[2]}"' in text, row


@pytest.mark.parametrize(
    ("limit", "value", "holds"),
    [
        (">= 3e6", 4.4e6, True),
        (">= 3e6", 2.9e6, False),
        ("<= 1000", 1000.0, True),
        ("= yes", "no", False),
        ("passes", "12 passed, 1 skipped", True),
        ("passes", "1 failed, 11 passed", False),
    ],
)
def test_a_limit_holds_or_does_not(limit: str, value: float | str, holds: bool) -> None:
    claim = CLAIMS["Claim"]("a", "b", limit, "true")
    assert claim.holds(value) is holds
    assert CLAIMS["Measured"](claim, value).is_fault is not holds


def test_what_cannot_be_measured_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    claim = CLAIMS["Claim"]
    rows = [
        claim("a", "a text", "= 7", "echo it is 7", shows=r"is (\d)"),
        claim("a", "a path", "passes", "true {designs}"),
        claim("a", "nothing", "= 7", "echo it is 8", shows=r"was (\d)"),
        claim("a", "failed", "= 7", "sh -c 'echo it is 7; exit 3'", shows=r"is (\d)"),
    ]
    found = CLAIMS["measure"](rows, {})
    assert [each.is_fault for each in found] == [False, False, True, True]
    assert [each.shown for each in found] == [
        "7",
        "not measured: needs --path designs=PATH",
        r"not measured: no figure was (\d) in what the command gave",
        "7, but exit code 3: it is 7",
    ]
    assert [each.on_page(loaded=False).holds for each in found] == ["yes", "-", "-", "**no**"]
    assert capsys.readouterr().out.count("\n") == 4


def test_rows_that_are_not_measured_stay(tmp_path: Path) -> None:
    """Those of other subjects, and those whose files were not given."""
    (page := tmp_path / "claims.md").write_text(PAGE, "utf-8")
    needs = next(row for row in ROWS if row.needs)
    assert needs.is_named([needs.subject])
    assert needs.is_named([f"{needs.subject}: {needs.figure}"])
    assert not needs.is_named([needs.figure])
    CLAIMS["measure"]([needs], {}, page)
    assert page.read_text("utf-8") == PAGE
    CLAIMS["measure"]([needs._replace(run="echo 9 passed in 1s")], {}, page)
    assert CLAIMS["values_in"](page.read_text("utf-8")) == {
        **CLAIMS["values_in"](PAGE),
        (needs.subject, needs.figure): ("9 passed", "yes"),
    }


def test_make_has_the_targets() -> None:
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target, file in (("claims", "claims.py"), ("long", "long_runs.py")):
        assert re.search(rf"^{target}: \$\(SETUP\)\n\t.*{file}", recipes, re.MULTILINE)
        assert Path(ROOT, "benchmarks", file).exists()
