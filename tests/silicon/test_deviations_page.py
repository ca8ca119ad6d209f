"""Is every choice of the code a row of the deviations, and every row named by code and held by a test?"""

from __future__ import annotations

import re
from pathlib import Path

from memtile.arch.grades import Grade
from places import ROOT
from support.pages import deviation_table
from support.pages.deviation_table import PAGE, measurements, page, parts, rows

ID = re.compile(r"DEV-[A-Z0-9]+-\d+")
MEASUREMENT = re.compile(r"\bGT-\d+")
ROWS = rows()


def ids_below(folder: Path, pattern: re.Pattern[str] = ID) -> set[str]:
    """Every id that a file of Python or C++ below ``folder`` names."""
    texts = (path for path in folder.rglob("*") if path.suffix in (".py", ".hpp", ".h"))
    return {found for path in texts for found in pattern.findall(path.read_text("utf-8"))}


def test_the_page_is_that_of_the_data() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs writes it anew"
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ndocs:")[1].split("\n\n")[0]
    assert f"{Path(deviation_table.__file__).relative_to(ROOT)}\n" in recipe


def test_every_id_of_the_source_is_a_row_and_no_other() -> None:
    assert sorted(ids_below(ROOT / "src") - set(ROWS)) == []
    assert sorted(set(ROWS) - ids_below(ROOT / "src")) == []


def test_every_row_is_held_by_the_test_that_it_names() -> None:
    texts = {name: (ROOT / name).read_text("utf-8") for name in {row["test"] for row in ROWS.values()}}
    wrong = [name for name, row in ROWS.items() if not re.search(rf"{name}\b", texts[row["test"]])]
    assert wrong == []


def test_every_measurement_that_source_and_tests_name_is_on_the_page_and_no_other() -> None:
    found = measurements()
    assert len(found) == len(set(found))
    named = ids_below(ROOT / "src", MEASUREMENT) | ids_below(ROOT / "tests", MEASUREMENT)
    assert sorted(named) == sorted(found)


def test_each_has_its_own_id_a_grade_and_all_cells() -> None:
    assert len(ROWS) > 100
    assert len(ROWS) == sum("choice" in row for part in parts() for row in part["rows"])
    assert {row["grade"] for row in ROWS.values()} <= {str(grade) for grade in Grade}
    cells = ("id", "what", "choice", "grade", "source", "test")
    assert [name for name, row in ROWS.items() if tuple(row) != cells or not all(row.values())] == []
