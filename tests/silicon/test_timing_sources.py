"""Does all on the page of timing say where it comes from: a case, a measurement, a manual, or assumed?"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from memtile.arch.grades import Grade
from memtile.arch.timing import sources
from support.silicon.silicon_rig import cases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "timing.md").read_text(encoding="utf-8")
DEVIATIONS = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
IDS = {case.id for case in cases()}
RULES = re.split(r"^### (.+)$", PAGE.split("## Rules and diagrams")[1].split("\n## ")[0], flags=re.MULTILINE)
OTHERS = ("A cycle", "Cores", "Hosts", "AIE2P and AIE-ML v2", "Not covered")
ROW = re.compile(r"\b(DEV-[A-Z0-9]+-\d+|GT-\d+)\b")
MANUAL = re.compile(r"\b(AM0\d\d|UG\d{4})\b")
CASE = re.compile(r"\bcases? `?([a-z0-9-]+[*a-z0-9])`?")


def named(text: str) -> list[str]:
    """Cases of silicon.md that a text names; ``name-*`` are all that begin so."""
    return [case for pattern in CASE.findall(text) for case in IDS if fnmatch(case, pattern)]


def sections() -> list[tuple[str, str]]:
    """Title and text of each rule, and of each part of the page that has rules."""
    rules = list(zip(RULES[1::2], RULES[2::2], strict=True))
    parts = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", PAGE, re.MULTILINE))
    return rules + [(title, parts[title]) for title in OTHERS]


@pytest.mark.parametrize(("title", "text"), sections(), ids=lambda value: value[:30])
def test_each_rule_names_where_it_comes_from(title: str, text: str) -> None:
    assert ROW.findall(text) or MANUAL.findall(text) or named(text) or "is assumed" in text, title


def paragraphs() -> list[tuple[str, str]]:
    """Title and text of each paragraph of a rule, without its diagrams."""
    rules = zip(RULES[1::2], RULES[2::2], strict=True)
    bare = ((title, re.sub(r"```.*?```", "", text, flags=re.DOTALL)) for title, text in rules)
    return [(title, each.strip()) for title, text in bare for each in text.split("\n\n") if each.strip()]


@pytest.mark.parametrize(("title", "text"), paragraphs(), ids=lambda value: value[:40])
def test_each_paragraph_of_a_rule_names_where_it_comes_from(title: str, text: str) -> None:
    """A rule that has a source in one paragraph may have another one in the next."""
    assert ROW.findall(text) or MANUAL.findall(text) or named(text) or "assumed" in text, title


def test_rows_that_the_page_names_are_there() -> None:
    wanted = sorted(set(ROW.findall(PAGE)))
    assert len(wanted) > 20
    assert [row for row in wanted if f"| {row} |" not in DEVIATIONS] == []


def test_cases_that_pages_and_constants_name_are_there() -> None:
    """A pattern stands for at least one case."""
    texts = [PAGE, DEVIATIONS, *(source.text for source in sources().values())]
    wanted = {pattern for text in texts for pattern in CASE.findall(text) if "-" in pattern}
    assert len(wanted) >= 4
    assert sorted(pattern for pattern in wanted if not named(f"case {pattern}")) == []


def test_each_constant_of_the_page_is_one_of_the_model_with_its_source() -> None:
    """The table's rows are the constants, and none has another grade or source than its row."""
    table = PAGE.split("## Constants")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (\w+ \| [^|]+) \|$", table, re.MULTILINE))
    assert rows == {name: f"{source.grade} | {source.text}" for name, source in sources().items()}


@pytest.mark.parametrize("name", sorted(sources()))
def test_each_constant_has_a_case_a_measurement_a_manual_or_is_assumed(name: str) -> None:
    source = sources()[name]
    if source.grade is Grade.SILICON:
        rows = [row for row in ROW.findall(source.text) if f"| {row} |" in DEVIATIONS]
        assert rows or named(source.text)
    elif source.grade is Grade.MANUAL:
        assert MANUAL.findall(source.text)
    else:
        assert source.grade is Grade.ASSUMED
