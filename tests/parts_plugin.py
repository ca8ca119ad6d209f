"""A part of the tests for runs that have not time for all: ``pytest --part 1/4``.

A checksum of its node id says in which part a test is: the same in each run and on each machine, and spread
over all folders. The run prints how many of each folder it took.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from typing import Any

import pytest

TAKEN = "memtile_part_taken"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part",
        metavar="N/COUNT",
        type=part_of,
        help="run the N-th of COUNT parts of the tests, chosen by a checksum of their names",
    )


def part_of(text: str) -> tuple[int, int]:
    """``(N, COUNT)`` of an argument.

    Raises:
        UsageError: it does not name a part.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise pytest.UsageError(f"--part {text}: the part and how many there are, from 1/4 to 4/4")
    return int(found[1]), int(found[2])


def is_in(nodeid: str, part: tuple[int, int]) -> bool:
    """Whether a test is in a part."""
    number, count = part
    return zlib.crc32(nodeid.encode()) % count == number - 1


def folder_of(nodeid: str) -> str:
    """The folder that a test is in, below that of all tests."""
    return "/".join(nodeid.split("::")[0].split("/")[:-1][:2])


class Parts:
    """Takes one part of the tests, and prints what it took."""

    def __init__(self, part: tuple[int, int]) -> None:
        self.part = part
        self.taken: dict[str, list[int]] = {}

    @pytest.hookimpl(trylast=True)  # after -m and -k
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        every = Counter(folder_of(item.nodeid) for item in items)
        left = [item for item in items if not is_in(item.nodeid, self.part)]
        items[:] = [item for item in items if is_in(item.nodeid, self.part)]
        mine = Counter(folder_of(item.nodeid) for item in items)
        self.taken = {name: [mine[name], every[name]] for name in sorted(every)}
        config.hook.pytest_deselected(items=left)
        if hasattr(config, "workeroutput"):
            config.workeroutput[TAKEN] = self.taken

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.taken = getattr(node, "workeroutput", {}).get(TAKEN, self.taken)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        number, count = self.part
        each = ", ".join(f"{name} {mine} of {every}" for name, (mine, every) in self.taken.items())
        terminalreporter.section(f"part {number} of {count}")
        terminalreporter.write_line(each or "no tests")


def pytest_configure(config: pytest.Config) -> None:
    if part := config.getoption("--part"):
        config.pluginmanager.register(Parts(part), "parts")
