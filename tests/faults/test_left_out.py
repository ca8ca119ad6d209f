"""Are tests that lack a program or a package named with how to get it, and do they fail on a build server?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import left_out
from memtile.cpp import compilers
from memtile.errors import InputFileError

INI = f"""
[pytest]
pythonpath = {Path(left_out.__file__).parent}
"""
LACKING = """
import pytest
from left_out import NO_COMPILER, PROGRAMS, Program, need_package, need_program, needs

PROGRAMS["no-such-program"] = Program("no-such-package", "what it compiles")
PROGRAMS["sh"] = Program("dash", "what a shell runs")

@pytest.fixture
def compiler():
    return need_program("no-such-program")

@pytest.mark.parametrize("n", range(2))
def test_compiles(compiler, n): pass

def test_reads(): need_package("no_such_module")

@needs("no-such-program")
def test_marked(): pass

def test_asks_memtile_for_a_compiler():
    PROGRAMS["c++"] = Program("g++", "C++", "no-such-folder")
    raise OSError(NO_COMPILER)

def test_finds(): assert need_program("sh") and need_package("json")

@pytest.mark.skip(reason="of this system: nothing is missing")
def test_of_another_system(): pass
"""
ALL_LACKING = """
from left_out import need_package
need_package("no_such_module")
def test_never(): pass
"""
PROGRAM = "*3 tests or files of tests need no-such-program: apt-get install no-such-package*"
PACKAGE = "*2 tests or files of tests need no_such_module: pip install no_such_module*"


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run these tests with a value of ``CI``, or without it."""
    pytester.makeini(INI)
    pytester.makepyfile(test_lacking=LACKING, test_all_lacking=ALL_LACKING)

    def run(ci: str | None, *files: str) -> pytest.RunResult:
        monkeypatch.delenv("CI", raising=False)
        if ci is not None:
            monkeypatch.setenv("CI", ci)
        return pytester.runpytest_subprocess("-p", "left_out", "-p", "no:cacheprovider", *files)

    return run


def test_memtile_says_that_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "candidates", tuple)
    with pytest.raises(InputFileError, match=re.escape(left_out.NO_COMPILER)):
        compilers.compiler()


def test_by_hand_they_are_left_out_and_named(run) -> None:
    result = run(None)
    result.assert_outcomes(passed=1, skipped=7)
    result.stdout.fnmatch_lines_random([PROGRAM, PACKAGE])


@pytest.mark.parametrize(
    ("file", "failed"),
    [
        ("test_lacking.py", {"passed": 1, "skipped": 1, "failed": 2, "errors": 3}),
        ("test_all_lacking.py", {"errors": 1}),
    ],
)
def test_on_a_build_server_they_fail(run, file, failed) -> None:
    result = run("true", file)
    result.assert_outcomes(**failed)
    assert result.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED)
    result.stdout.fnmatch_lines(["*no*such*module is not installed: pip install*"])
    result.stdout.fnmatch_lines(["*A build server must have all that tests need.*"])


def test_a_run_begins_with_what_is_missing(run, pytester: pytest.Pytester, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(pytester.path))
    (pytester.path / "chromium").touch(0o755)
    lines = left_out.pytest_report_header()
    assert lines[0] == "cc is missing, left out: hosts in C, and a compiler in a sandbox"
    assert lines[-1].startswith("to have all: apt-get install gcc libc6-dev g++ make")
    result = run(None, "-k", "finds")
    result.stdout.fnmatch_lines(["cc is missing, left out: *", "to have all: *", "collected *"])


def test_a_run_with_all_programs_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_out, "path_of", lambda name: name)
    (line,) = left_out.pytest_report_header()
    assert line.startswith("programs from outside: chromium, cc, c++, make, addr2line, gdb, python3.")
    assert line.endswith("; none is missing")
