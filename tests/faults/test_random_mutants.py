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


class _Told:
    """A runner of which it is known how tests end: with the mutant, and without it in so little time."""

    def __init__(self, with_it: str, without: str) -> None:
        self.ends = {Path("with"): with_it, Path("without"): without}

    def outcome(self, source: Path, arguments: list[str], _seconds: int) -> tuple[str, str]:
        assert (source == Path("without")) == ("--most=5.0" in arguments)
        return self.ends[source], ""


@pytest.mark.parametrize(
    ("late", "with_it", "without", "by_chance"),
    [
        (True, "failed", "passed", False),  # a loop without an end
        (True, "failed", "failed", True),  # it takes long anyway, and longer on a machine with other work
        (True, "passed", "passed", True),
        (False, "failed", "failed", False),  # asked of it alone at the end, for all mutants at once
        (False, "passed", "passed", True),
    ],
)
def test_time_kills_a_mutant_only_where_it_comes_of_the_mutant(
    late: bool, with_it: str, without: str, by_chance: bool
) -> None:
    from chosen_plugin import LATE, key
    from random_mutants import failed_by_chance

    test = "tests/data/test_interrupts.py::test_the_driver[npu1]"
    said = f"FAILED {test}\n" + f"{LATE}{test}\n" * late + "1 failed in 15.31s"
    runner, slow = _Told(with_it, without), set[tuple[str, str]]()
    found = failed_by_chance(runner, Path("without"), Path("with"), said, slow)  # type: ignore[arg-type]
    assert found == (test if by_chance else "")
    assert (key(test) in slow) == (late and without == "failed")


def test_what_takes_too_long_is_said_with_its_name(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MUTANTS.parents[1]))
    pytester.makepyfile(test_it="def test_a():\n    pass\n\ndef test_b():\n    while True:\n        pass\n")
    from chosen_plugin import LATE, arguments, key

    chosen = [key(f"test_it.py::test_{name}") for name in "ab"]
    ran = pytester.runpytest_subprocess("--most=0.1", *arguments(chosen))
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines([f"{LATE}test_it.py::test_b", "*1 failed, 1 passed*"])
