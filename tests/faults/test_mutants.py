"""Can every listed mutant still be made, and is its test still there? ``make mutants`` runs them."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from mutants import alone
from mutants.listed import MUTANTS, PACKAGE, SOURCE, Mutant
from support.commands.interruptions import MARK, left

ROOT = Path(__file__).parents[2]


def test_names_are_told_apart() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def wrong(mutant: Mutant) -> str:
    """What a mutant lacks; empty = nothing."""
    text = text_of(SOURCE / PACKAGE / mutant.file)
    if text.count(mutant.old) != 1 or mutant.applied() == text:
        return f"{mutant.file} has changed"
    if mutant.file.endswith(".py"):
        try:
            compile(mutant.applied(), mutant.file, "exec")
        except SyntaxError as error:
            return f"{mutant.file} is no Python any more: {error}"
    file, _, name = mutant.test.partition("::")
    there = f"\ndef {name.partition('[')[0]}(" in text_of(ROOT / file)
    return "" if there else f"there is no {mutant.test}"


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_their_texts_stand_once_and_their_tests_exist() -> None:
    """One test for all of them: 1,500 would be a tenth of those that each process collects."""
    assert [f"{mutant.name}: {why}" for mutant in MUTANTS if (why := wrong(mutant))] == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"old": "no such text"}, "has changed"),
        ({"old": "def ", "new": "defer "}, "has changed"),  # it stands there more than once
        ({"new": "("}, "is no Python any more"),
        ({"test": "tests/faults/test_mutants.py::test_of_nothing"}, "there is no"),
    ],
)
def test_a_mutant_that_lacks_something_is_named(changed: dict[str, str], says: str) -> None:
    mutant = next(each for each in MUTANTS if each.file.endswith(".py"))
    assert wrong(mutant) == ""
    assert says in wrong(mutant._replace(**changed))


HIDES = """
import os, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(1000)"]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True)
if not os.fork():
    os.setsid()
    if not os.fork():
        os.setsid()
        subprocess.Popen(sleep, start_new_session=True)
        time.sleep(1000)
    os._exit(0)
print("begun", flush=True)
"""


@pytest.mark.parametrize(
    ("end", "code"), [("time.sleep(1000)", alone.LATE), ("sys.exit(5)", 5), ("1 / 0", 1)]
)
def test_what_a_mutant_leaves_behind_ends_with_it(end: str, code: int) -> None:
    """Also where it hangs, and in sessions of its own; who reads its output waits for all of them."""
    mark = secrets.token_hex(8)
    command = [sys.executable, alone.__file__, "2", sys.executable, "-c", HIDES + end]
    done = subprocess.run(command, env={MARK: mark}, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (code, "begun\n")
    assert left(mark, 0) == []


@pytest.mark.parametrize(
    ("code", "said", "wanted"),
    [
        (1, "...F\n1 failed, 3 passed in 0.78s\n", "failed"),
        (1, "== 1 failed in 61.61s (0:01:01) ==\n", "failed"),
        (
            1,
            "1 failed in 0.61s\nException ignored in: <socket.socket fd=15>\nResourceWarning: unclosed\n",
            "failed",
        ),
        (1, "FAILED test_a - 3 passed\n1 error in 0.61s\nunclosed: 1 failed\n", "did not run"),
        (1, "1 failed, 1 error in 0.61s\n", "did not run"),
        (1, "Traceback\nValueError: 1 failed\n", "did not run"),
        (2, "1 failed in 0.61s\n", "did not run"),
        (0, "3 passed in 0.61s\n", "passed"),
        (alone.LATE, "", "hangs"),
    ],
)
def test_a_mutant_is_dead_when_pytest_says_that_its_test_failed(code: int, said: str, wanted: str) -> None:
    """Warnings after the summary do not hide it."""
    assert alone.outcome(code, said) == wanted


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """The process that runs pytest in forks of itself."""
    command = [sys.executable, str(Path(alone.__file__).with_name("forked.py"))]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*command, str(tmp_path_factory.mktemp("forks"))], stdin=pipe, stdout=pipe, text=True
    ) as process:
        yield process


LEAVES = "import subprocess, time\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
FATES = {
    "nothing looks at it": ("VALUE, other = 1, 2\n", 0, "1 passed"),
    "a value": ("VALUE = 2\n", 1, "1 failed"),
    "the import": ("VALUE = 1 / 0\n", 1, "1 failed"),
    "the import of a module": ("import memtile.gone\n", 1, "1 failed"),
    "no end": (f"{LEAVES}time.sleep(1000)\n", alone.LATE, ""),
    "what is left": (f"{LEAVES}VALUE = 1\n", 0, "1 passed"),
}


@pytest.mark.parametrize("name", FATES)
def test_each_fork_reads_the_package_anew(forks: subprocess.Popen[str], tmp_path: Path, name: str) -> None:
    """A change of what another fork has imported is seen, one that no test looks at lives."""
    text, code, says = FATES[name]
    package, said = tmp_path / "src" / "memtile", tmp_path / "said"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(text, encoding="utf-8")
    test = tmp_path / "test_value.py"
    test.write_text("def test_value():\n    import memtile\n    assert memtile.VALUE == 1\n", "utf-8")
    seconds = 3 if code == alone.LATE else 0
    asked = {"source": str(package.parent), "tests": [str(test)], "seconds": seconds, "said": str(said)}
    assert forks.stdin is not None
    assert forks.stdout is not None
    print(json.dumps(asked), file=forks.stdin, flush=True)
    assert int(forks.stdout.readline()) == code
    assert says in said.read_text(encoding="utf-8")
    children = Path(f"/proc/{forks.pid}/task/{forks.pid}/children")
    assert not children.exists() or children.read_text() == ""
