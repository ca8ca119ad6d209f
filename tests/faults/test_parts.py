"""Do the parts of the tests hold each test once, from every folder, and the same in each run?"""

from __future__ import annotations

from pathlib import Path

import pytest

import parts_plugin

INI = f"""
[pytest]
pythonpath = {Path(parts_plugin.__file__).parent}
"""
TESTS = """
import pytest

@pytest.mark.parametrize("n", range(100))
def test_one(n): pass
"""
ARGUMENTS = ("-p", "parts_plugin", "-p", "no:cacheprovider", "--import-mode=importlib", "-v")


@pytest.fixture
def run(pytester: pytest.Pytester):
    pytester.makeini(INI)
    for name in ("tests/words", "tests/data/deep"):
        folder = pytester.path / name
        folder.mkdir(parents=True)
        (folder / "test_it.py").write_text(TESTS)

    def run(*more: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess(*ARGUMENTS, *more)

    return run


def passed(result: pytest.RunResult) -> set[str]:
    return {line.split()[0] for line in result.outlines if " PASSED" in line}


def test_each_test_is_in_one_part_and_each_folder_in_every_part(run) -> None:
    names = [
        f"tests/{folder}/test_it.py::test_one[{n}]" for folder in ("words", "data/deep") for n in range(100)
    ]
    parts = [{name for name in names if parts_plugin.is_in(name, (number, 4))} for number in range(1, 5)]
    assert sorted(name for part in parts for name in part) == sorted(names)
    for part in parts:
        for folder in ("tests/words/", "tests/data/"):
            assert 10 <= sum(name.startswith(folder) for name in part) <= 40
    assert passed(run("--part", "3/4")) == parts[2]


def test_a_run_says_what_it_took_also_in_several_processes(run) -> None:
    result = run("--part", "2/4", "-n", "2")
    words = sum(parts_plugin.is_in(f"tests/words/test_it.py::test_one[{n}]", (2, 4)) for n in range(100))
    result.stdout.fnmatch_lines([f"tests/data *of 100, tests/words {words} of 100"])


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/4/2"])
def test_what_is_no_part_is_refused(text) -> None:
    with pytest.raises(pytest.UsageError, match=f"--part {text}: the part and how many there are"):
        parts_plugin.part_of(text)
