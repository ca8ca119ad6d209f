"""Feature lines claimed by tests: ``@pytest.mark.feature("F01")`` and ``pytest --features-out=FILE``.

A claim counts when every run of the test passed, for all its parameters. Claims travel in the reports'
``user_properties``, so that they reach the process that writes the page when xdist spreads the tests.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from places import TESTS

LIST = TESTS / "oracle" / "features.json"
PROPERTY = "feature"
MISSING = "**missing**"
LACKS = "**without**:"


@cache
def features() -> dict[str, str]:
    """Feature id -> text and what the model lacks of it, in the order of the list."""
    lines = json.loads(LIST.read_text(encoding="utf-8"))["features"]
    return {line["id"]: line["text"] + _without(line) for line in lines}


def _without(line: dict[str, str]) -> str:
    return f"; {LACKS} {line['without']}" if "without" in line else ""


def page(claims: dict[str, list[str]]) -> str:
    """The features page as Markdown; ``claims`` maps a feature id to the tests that claim it."""
    lines = features()
    rows = [
        f"| {name} | {text} | {'<br>'.join(f'`{t}`' for t in sorted(claims.get(name, []))) or MISSING} |"
        for name, text in lines.items()
    ]
    return "\n".join(
        [
            "# Features",
            "",
            "What the vendor's pages say must exist, and the tests that show it. Written by `make docs`",
            "from the tests that ran and passed; do not edit.",
            "",
            f"Claimed: {sum(name in claims for name in lines)} of {len(lines)}, "
            f"{sum(LACKS in text for text in lines.values())} of them without a part that the line names.",
            "",
            "| id | feature | claimed by |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


class FeatureClaims:
    """Collects what the tests claim and writes the page when the run ends."""

    def __init__(self, out: Path | None) -> None:
        self.out = out
        self.claims: dict[str, set[str]] = defaultdict(set)  # test -> feature ids
        self.spoilt: set[str] = set()  # tests of which some run did not pass

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.out = None  # a page about part of the tests would call too much missing

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid.partition("[")[0]
        self.claims[test] |= {str(value) for key, value in report.user_properties if key == PROPERTY}
        if not report.passed:
            self.spoilt.add(test)

    @pytest.hookimpl
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if self.out is None or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        claims: dict[str, list[str]] = defaultdict(list)
        for test in self.claims.keys() - self.spoilt:
            for name in self.claims[test]:
                claims[name].append(test)
        self.out.write_text(page(claims), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--features-out", type=Path, metavar="FILE", help="write the page of claimed feature lines to FILE"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FeatureClaims(config.getoption("--features-out")), "feature-claims")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport]:
    """Refuse wrong marks as a collection error: unlike a UsageError, that survives xdist."""
    report = yield
    wrong = {_test_name(item): _wrong_marks(item) for item in report.result if isinstance(item, pytest.Item)}
    if any(wrong.values()):
        report.outcome = "failed"
        report.longrepr = "\n".join(
            f"{test}: feature({', '.join(bad)}): at least one id of {LIST.name} allowed"
            for test, marks in wrong.items()
            for bad in marks
        )
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.user_properties += [
            (PROPERTY, name) for mark in item.iter_markers("feature") for name in mark.args
        ]


def _test_name(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _wrong_marks(item: pytest.Item) -> list[list[str]]:
    marks = list(item.iter_markers("feature"))
    given = [[*map(repr, mark.args), *(f"{k}={v!r}" for k, v in mark.kwargs.items())] for mark in marks]
    fine = [bool(mark.args) and not mark.kwargs and features().keys() >= set(mark.args) for mark in marks]
    return [arguments for arguments, ok in zip(given, fine, strict=True) if not ok]
