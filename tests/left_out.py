"""Tests that need what this machine lacks: they are left out, named with how to get it, and fail in CI.

A test asks ``need_program("cc")`` for one of :data:`PROGRAMS`, or has the mark ``needs("cc")``; it asks
``need_package("pyarrow")`` for a package. A run says before its first test which of the programs are missing,
and at its end how many tests it left out.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Generator
from typing import Any, NamedTuple

import pytest

MISSING = re.compile(r"(?P<what>\S+) is not installed: (?P<how>.+)", re.DOTALL)
"""The reason of a test that is left out as something is missing, and how to get that."""


class Program(NamedTuple):
    """A program from outside.

    Attributes:
        packages: of Debian that have it.
        tests: what is left out without it.
        path: where it has to be; empty = where a shell finds it.
    """

    packages: str
    tests: str
    path: str = ""


PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
PROGRAMS = {
    "chromium": Program("chromium", "reports, pictures of notebooks and the site in a browser"),
    "cc": Program("gcc libc6-dev", "hosts in C, and a compiler in a sandbox"),
    "c++": Program("g++ libc6-dev", "hosts, kernels and graphs in C++"),
    "make": Program("make", "a host built as the driver's are"),
    "addr2line": Program("binutils", "lines of C++ kernels in messages"),
    "gdb": Program("gdb", "a debugger that stops in a C++ kernel"),
    PYTHON: Program(PYTHON, "sandboxes of another user", "/usr/bin:/usr/local/bin"),
}
"""Programs that tests ask for, by name."""


def path_of(name: str) -> str | None:
    """Path of a program, or None."""
    return shutil.which(name, path=PROGRAMS[name].path or None)


def need_program(name: str) -> str:
    """Path of a program; without it the test is left out.

    Args:
        name: of the program, one of :data:`PROGRAMS`.
    """
    path = path_of(name)
    if path is None:
        pytest.skip(_reason(name))
    return path


def needs(name: str, found: object = None) -> pytest.MarkDecorator:
    """The mark of tests that are left out without a program.

    Args:
        name: of the program, one of :data:`PROGRAMS`.
        found: what is true if it is there, or something in its place; None = its path.
    """
    return pytest.mark.skipif(not (path_of(name) if found is None else found), reason=_reason(name))


def _reason(name: str) -> str:
    return f"{name} is not installed: apt-get install {PROGRAMS[name].packages}"


def pytest_report_header() -> list[str]:
    """Say what is missing and what is left out without it, before the first test."""
    missing = [name for name in PROGRAMS if path_of(name) is None]
    if not missing:
        return [f"programs from outside: {', '.join(PROGRAMS)}; none is missing"]
    packages = " ".join(dict.fromkeys(" ".join(PROGRAMS[name].packages for name in missing).split()))
    return [
        *(f"{name} is missing, left out: {PROGRAMS[name].tests}" for name in missing),
        f"to have all: apt-get install {packages}",
    ]


def need_package(name: str) -> Any:
    """A package by its name, imported; without it the test, or the file that asks for it, is left out."""
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install {name}")


NO_COMPILER = "C++ kernels need a compiler of C++20, and there is none here"
"""What memtile says of a machine without one: graphs and kernels are in tests of all kinds."""


def leave_out_without_compiler(report: pytest.TestReport) -> None:
    """Turn the report of a test that fails for want of a C++ compiler into that of one that is left out."""
    said = (report.longreprtext, *(text for _, text in report.sections))
    if report.failed and path_of("c++") is None and any(NO_COMPILER in text for text in said):
        report.outcome = "skipped"
        report.longrepr = (str(report.fspath), report.location[1] or 0, f"Skipped: {_reason('c++')}")


def missing_in(report: pytest.TestReport | pytest.CollectReport) -> re.Match[str] | None:
    """What a report says is missing, or None."""
    if not report.skipped or not isinstance(report.longrepr, tuple):
        return None
    return MISSING.search(report.longrepr[2].removeprefix("Skipped: "))


def fail_if_missing(report: Any) -> None:
    """On a build server, turn the report of a test that lacks something into that of a failure."""
    if os.environ.get("CI") and (missing := missing_in(report)):
        report.outcome = "failed"
        report.longrepr = f"{missing[0]}\nA build server must have all that tests need."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    leave_out_without_compiler(report)
    fail_if_missing(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_if_missing(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was missing, of how many tests, and how to get it."""
    found = [match for report in terminalreporter.stats.get("skipped", ()) if (match := missing_in(report))]
    if not found:
        return
    counted = Counter((match["what"], match["how"].strip()) for match in found)
    terminalreporter.section("left out, as something is missing")
    for (what, how), count in sorted(counted.items()):
        terminalreporter.write_line(f"{count} tests or files of tests need {what}: {how}")
