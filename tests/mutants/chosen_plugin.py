"""pytest: ``--chosen FILE:KEYS,FILE:KEYS``, only some tests of the files that it collects, in this order.

A key stands for the rest of the name of a test. A test that hangs fails, so that the next mutant can begin.
"""

from __future__ import annotations

import base64
import resource
import signal
import zlib
from collections.abc import Generator, Iterable
from typing import Any

import pytest

Test = tuple[str, str]  # a file and the key of the rest of the name
DIGITS = 3  # of a key
PLUGIN = ("-p", "tests.mutants.chosen_plugin", "--tb=no")
LONG = ("slow", "chance", "interpreter", "compiled")  # tests with one of these marks are left out
SECONDS = 15  # of the processor; three times what the slowest of these tests takes
LATE = "out of time: "  # a line of what pytest says, with the test
BYTES = 4 << 30  # that an endless loop may fill

_LATE = pytest.StashKey[str]()


def key(nodeid: str) -> Test:
    """The file of a test, and a checksum of the rest of its name."""
    file, _, rest = nodeid.partition("::")
    number = zlib.crc32(rest.encode()) & 0x3FFFF
    return file, base64.urlsafe_b64encode((number << 6).to_bytes(3, "big")).decode()[:DIGITS]


def arguments(tests: Iterable[Test]) -> list[str]:
    """What pytest is to be told."""
    tests = [*tests]
    files = dict.fromkeys(file for file, _ in tests)
    chosen = ",".join(map(":".join, tests))
    return [*PLUGIN, f"--chosen={chosen}", *files]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chosen", default="")
    parser.addoption("--most", type=float, default=SECONDS, help="of the processor, for each test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is chosen."""
    chosen = config.getoption("--chosen").split(",")
    places = {tuple(pair.split(":")): rank for rank, pair in enumerate(chosen)}
    ranked: list[tuple[int, pytest.Item]] = []
    left: list[pytest.Item] = []
    for item in items:
        names = (item.nodeid, item.nodeid.partition("[")[0])  # a parameter, or all of them
        ranks = [places[key(name)] for name in names if key(name) in places]
        if ranks and not any(item.get_closest_marker(mark) for mark in LONG):
            ranked.append((ranks[0], item))
        else:
            left.append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES if most < 0 else min(BYTES, most), most))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """End what hangs; again, where what that raises is caught."""
    most = item.config.getoption("--most")

    def hangs(*_: object) -> None:
        item.config.stash[_LATE] = item.nodeid
        raise pytest.fail.Exception(f"it takes more than {most:g} s")

    signal.signal(signal.SIGPROF, hangs)
    signal.setitimer(signal.ITIMER_PROF, most, 1)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which test took too long: what else says so is cut to the width of a terminal."""
    if _LATE in config.stash:
        terminalreporter.line(f"{LATE}{config.stash[_LATE]}")
