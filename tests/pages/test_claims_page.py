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
    changed = CLAIMS["in_page"](PAGE, {named[0]: "no"})
    assert CLAIMS["values_in"](changed) == {**CLAIMS["values_in"](PAGE), named[0]: "no"}
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
    ]
    found = CLAIMS["measure"](rows, {})
    assert [each.is_fault for each in found] == [False, False, True]
    assert [each.shown for each in found] == [
        "7",
        "not measured: needs --path designs=PATH",
        r"not measured: no figure was (\d) in what the command gave",
    ]
    assert capsys.readouterr().out.count("\n") == 3


def test_make_has_the_targets() -> None:
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target, file in (("claims", "claims.py"), ("long", "long_runs.py")):
        assert re.search(rf"^{target}: \$\(SETUP\)\n\t.*{file}", recipes, re.MULTILINE)
        assert Path(ROOT, "benchmarks", file).exists()
