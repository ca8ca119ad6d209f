"""Prints the ``extra_info`` of benchmarks: the rates and ratios that pytest-benchmark's table leaves out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

RESULTS = pytest.StashKey[list[tuple[str, dict[str, object]]]]()


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
