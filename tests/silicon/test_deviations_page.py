"""Is every assumption that the code names on the deviations page, and is every one there held by a test?"""

from __future__ import annotations

import re
from pathlib import Path

from memtile.arch.grades import Grade

ROOT = Path(__file__).parents[2]
ID = re.compile(r"DEV-[A-Z0-9]+-\d+")
PAGE = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
BEHAVIOUR = PAGE.partition("## Timing and behaviour")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| (DEV-\S+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", BEHAVIOUR, re.MULTILINE)
HOLDERS = ("timing", "data", "silicon")


def ids_below(folder: Path) -> set[str]:
    """Every id that a Python file below ``folder`` names."""
    return {name for path in folder.rglob("*.py") for name in ID.findall(path.read_text(encoding="utf-8"))}


def test_every_id_of_the_source_is_on_the_page() -> None:
    listed = set(re.findall(r"^\| (DEV-\S+) \|", PAGE, re.MULTILINE))
    assert sorted(ids_below(ROOT / "src") - listed) == []


def test_every_behaviour_on_the_page_is_named_by_the_source() -> None:
    assert sorted({name for name, *_ in ROWS} - ids_below(ROOT / "src")) == []


def test_every_behaviour_on_the_page_is_held_by_a_test() -> None:
    held = {name for folder in HOLDERS for name in ids_below(ROOT / "tests" / folder)}
    assert len(ROWS) > 20
    assert sorted({name for name, *_ in ROWS} - held) == []


def test_each_has_its_own_id_and_a_grade() -> None:
    names = [name for name, *_ in ROWS]
    assert len(names) == len(set(names))
    assert {grade for *_, grade, _ in ROWS} <= {str(grade) for grade in Grade}
