"""Are random mutants changes of what a test can see, and do those listed as changing nothing still exist?"""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from mutants.listed import PACKAGE, SOURCE

MUTANTS = Path(__file__).parents[1] / "mutants"
KILOBYTES = 60  # of what is recorded of the tests


@pytest.fixture(autouse=True)
def _as_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules beside ``run.py`` import each other as it does."""
    monkeypatch.syspath_prepend(str(MUTANTS))


TEXT = '''
def limit(values: list[int], most: int = 3) -> int | None:
    """No more than 5 and not < 2."""
    if values[0] < most:
        raise ValueError(f"{values[0] + 1} is too much")
    label = "more than " + str(7)
    return max(values[most:])
'''


def all_changes(text: str) -> set[tuple[str, str, str]]:
    from operators import Text, changes, functions

    whole = Text(text)
    return {
        (each.kind, whole.data[each.start : each.end].decode(), each.new)
        for _, function in functions(ast.parse(text))
        for each in changes(whole, function)
    }


def test_a_change_is_none_of_a_docstring_an_annotation_a_default_or_a_message() -> None:
    assert all_changes(TEXT) == {
        ("compare", " < ", " <= "),
        ("compare", " < ", " >= "),
        ("condition", "values[0] < most", "not (values[0] < most)"),
        ("constant", "0", "1"),
        ("statement", 'raise ValueError(f"{values[0] + 1} is too much")', "pass"),
        ("return", "max(values[most:])", "None"),
        ("extreme", "max", "min"),
        ("slice", "most", "(most) + 1"),
        ("slice", "most", "(most) - 1"),
    }


OPERATORS = [
    ("x = a and b or not c", {"and -> or", "or -> and", "not c -> bool(c)"}),
    ("x = a - 2 if y else b", {"- -> +", "2 -> 1", "2 -> 3", "y -> (not (y))"}),
    ("x = f(a, b)", {"a, b -> b, a"}),
    ("x[0] = y", {"x[0] = y -> pass", "0 -> 1"}),
    ("isinstance(a, int)", {"isinstance(a, int) -> pass"}),
    ("assert a < 1", set()),
    ("x = zip(a, a, strict=True)", set()),
    ("x = zip(a, a, strict=False)", {"False -> True"}),
    ("x: list[int] = a", set()),
    ("x = [a for a in b if a]", {"a -> (not (a))"}),
]


@pytest.mark.parametrize(("line", "wanted"), OPERATORS)
def test_each_operator(line: str, wanted: set[str]) -> None:
    found = all_changes(f"def f():\n    {line}\n")
    assert {f"{old.strip()} -> {new.strip()}" for _, old, new in found} == wanted


def test_every_change_is_python() -> None:
    from operators import Text, changes, functions

    path = SOURCE / PACKAGE / "check" / "lock_rules.py"
    text = Text(path.read_text(encoding="utf-8"))
    every = [each for _, function in functions(ast.parse(text.data)) for each in changes(text, function)]
    for each in random.Random(1).sample(every, 30):
        ast.parse(text.data[: each.start] + each.new.encode() + text.data[each.end :])


def test_what_changes_nothing_is_of_a_text_that_is_there() -> None:
    from unchanging import UNCHANGING

    gone = [
        each
        for each in UNCHANGING
        if each.before not in (SOURCE / PACKAGE / each.file).read_text(encoding="utf-8")
    ]
    assert gone == []


def test_the_map_of_tests_is_small_and_most_of_it_is_there() -> None:
    from reached import MAP, ROOT, recorded

    assert MAP.stat().st_size < 1000 * KILOBYTES
    files = {file for tests in recorded().values() for file, _ in tests}
    there = sum((ROOT / file).exists() for file in files)
    assert there > 0.9 * len(files), "make mutants-map makes it again"


def test_a_test_that_names_a_function_is_among_its_tests() -> None:
    from chosen_plugin import key
    from reached import tests_of

    place = "tests/data/test_iron_walks.py::test_a_pad_value_fills_the_word_of_its_channel"
    text = "def pack_pad_value(value, elem_bytes): ..."
    assert key(place) in tests_of("iron/helpers/util.py", "pack_pad_value", text)[:3]
    assert len(key(place)[1]) == 3
