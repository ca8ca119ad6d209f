"""pytest: write down which functions each test ran, for ``record.py``."""

from __future__ import annotations

import json
import os
import signal
import time
import zlib
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

RECORD = "MEMTILE_RECORD"
SECONDS, WAITED = 1.2, 15  # of the processor, and of the clock: a test that takes longer is left out
PARAMETERS = 2  # of a test; more of them are left out

TIMERS = (
    (signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
    (signal.SIGALRM, signal.ITIMER_REAL, WAITED),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep some parameters of each test."""
    every = defaultdict(list)
    for item in items:
        every[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for same in every.values():
        same.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        kept.update(same[:PARAMETERS])
    kept_items = [item for item in items if item in kept]
    items[:] = sorted(kept_items, key=lambda item: zlib.crc32(str(item.path).encode()))


def late(*_: object) -> None:
    raise pytest.fail.Exception(f"more than {SECONDS} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Write down what a test reached, if it passed."""
    from memtile._marks import SEEN  # type: ignore[import-not-found]

    SEEN[:] = bytes(len(SEEN))
    begun = time.process_time(), time.monotonic()
    before = item.session.testsfailed
    for number, timer, seconds in TIMERS:
        signal.signal(number, late)
        signal.setitimer(timer, seconds)
    try:
        return (yield)
    finally:
        for _, timer, _ in TIMERS:
            signal.setitimer(timer, 0)
        took = time.process_time() - begun[0]
        waited = time.monotonic() - begun[1]
        reached = [number for number, seen in enumerate(SEEN[:]) if seen]
        if reached and item.session.testsfailed == before:
            with open(os.environ[RECORD], "a", encoding="utf-8") as file:
                print(json.dumps([item.nodeid, round(took, 3), round(waited, 3), reached]), file=file)
