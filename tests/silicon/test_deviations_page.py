"""Is every choice of the code on the deviations page, and every one there named by code and by a test?"""

from __future__ import annotations

import re
from pathlib import Path

from memtile.arch.grades import Grade

ROOT = Path(__file__).parents[2]
ID = re.compile(r"DEV-[A-Z0-9]+-\d+")
PAGE = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (DEV-\S+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
LISTED = {name for name, *_ in ROWS}
MEASUREMENT = re.compile(r"\bGT-\d+")
MEASURED = re.findall(r"^\| (GT-\d+) \| .+ \| .+ \| .+ \|$", PAGE, re.MULTILINE)


def ids_below(folder: Path, pattern: re.Pattern[str] = ID) -> set[str]:
    """Every id that a file of Python or C++ below ``folder`` names."""
    texts = (path for path in folder.rglob("*") if path.suffix in (".py", ".hpp", ".h"))
    return {found for path in texts for found in pattern.findall(path.read_text("utf-8"))}


def test_every_row_of_the_page_is_read() -> None:
    assert [line for line in PAGE.splitlines() if line.startswith("| DEV-")] == [
        f"| {' | '.join(row)} |" for row in ROWS
    ]


def test_every_id_of_the_source_is_on_the_page() -> None:
    assert sorted(ids_below(ROOT / "src") - LISTED) == []


def test_every_id_on_the_page_is_named_by_the_source() -> None:
    assert sorted(LISTED - ids_below(ROOT / "src")) == []


def test_every_id_on_the_page_is_held_by_a_test() -> None:
    assert len(ROWS) > 100
    assert sorted(LISTED - ids_below(ROOT / "tests")) == []


def test_every_measurement_that_source_and_tests_name_is_on_the_page_and_no_other() -> None:
    assert len(MEASURED) == len(set(MEASURED))
    named = ids_below(ROOT / "src", MEASUREMENT) | ids_below(ROOT / "tests", MEASUREMENT)
    assert sorted(named) == sorted(MEASURED)


def test_each_has_its_own_id_and_a_grade() -> None:
    names = [name for name, *_ in ROWS]
    assert len(names) == len(set(names))
    assert {grade for *_, grade, _ in ROWS} <= {str(grade) for grade in Grade}
