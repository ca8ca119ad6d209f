"""Benchmarks take processor time, and print their ``extra_info``: rates and ratios that no table has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from processor_time import processor_time

HERE = Path(__file__).parent
RESULTS = pytest.StashKey[list[tuple[str, dict[str, object]]]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.benchmark(timer=processor_time))


@pytest.fixture(autouse=True)
def results(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    benchmark = request.node.funcargs.get("benchmark")
    if benchmark is not None and benchmark.extra_info:
        request.config.stash.setdefault(RESULTS, []).append((request.node.name, dict(benchmark.extra_info)))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash.get(RESULTS, [])
    if not rows:
        return
    terminalreporter.section("rates and ratios")
    width = max(len(name) for name, _ in rows)
    for name, info in rows:
        values = "   ".join(f"{value:>10,} {what}" for what, value in info.items())
        terminalreporter.write_line(f"{name:<{width}}   {values}")
