"""pytest: write down which functions each test ran, for ``record.py``."""

from __future__ import annotations

import json
import os
import signal
import time
import zlib
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

RECORD = "MEMTILE_RECORD"
SECONDS, WAITED = 1.2, 15  # of the processor, and of the clock: a test that takes longer is left out
PARAMETERS = 2  # of a test; more of them are left out

TIMERS = (
    (signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
    (signal.SIGALRM, signal.ITIMER_REAL, WAITED),
)


def recorded() -> set[str]:
    """Tests that are written down already, by another process too."""
    lines = [file.read_text(encoding="utf-8") for file in Path(os.environ[RECORD]).parent.glob("*.jsonl")]
    return {json.loads(line)[0] for line in "".join(lines).splitlines()}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep some parameters of each test that is not recorded yet."""
    every, done = defaultdict(list), recorded()
    for item in items:
        every[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for same in every.values():
        same.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        kept.update(item for item in same[:PARAMETERS] if item.nodeid not in done)
    items[:] = [item for item in items if item in kept]


def late(*_: object) -> None:
    raise pytest.fail.Exception(f"more than {SECONDS} s")


@contextmanager
def limited() -> Iterator[None]:
    """Let what takes long fail; again, where what it raises is caught."""
    for number, timer, seconds in TIMERS:
        signal.signal(number, late)
        signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        for _, timer, _ in TIMERS:
            signal.setitimer(timer, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """Fixtures too."""
    with limited():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """The test."""
    with limited():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Write down what a test reached, if it passed."""
    from memtile._marks import SEEN  # type: ignore[import-not-found]

    SEEN[:] = bytes(len(SEEN))
    begun, before = time.process_time(), item.session.testsfailed
    try:
        return (yield)
    finally:
        took = time.process_time() - begun
        reached = [number for number, seen in enumerate(SEEN[:]) if seen]
        if reached and item.session.testsfailed == before:
            with open(os.environ[RECORD], "a", encoding="utf-8") as file:
                print(json.dumps([item.nodeid, round(took, 3), reached]), file=file)
