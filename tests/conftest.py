"""What every test run shares."""

from __future__ import annotations

import gc
import os
import signal
import warnings
from collections.abc import Generator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from support.commands import warm

pytest_plugins = ["features_plugin", "left_out", "message_tone", "parts_plugin", "pytester"]

# What a shell starts in the background has Ctrl-C ignored, and so have its children: tests send it to them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Rules are tested with the set of constants that no board has: a board that is measured again changes none of
# them. Tests of pages and of boards take this away (monkeypatch.delenv).
os.environ["MEMTILE_TIMING"] = "assumed"

# Every run of a test is one that runs; tests of what is taken from earlier runs have a store of their own.
os.environ["MEMTILE_RECALL"] = "0"

# A loaded machine must not turn a slow example into a failure.
settings.register_profile("memtile", settings(), deadline=None)
settings.load_profile("memtile")

with warnings.catch_warnings():  # the oldest Typer uses what the newest Click warns of
    warnings.simplefilter("ignore", DeprecationWarning)
    import typer.testing

# A runner of Typer makes all commands anew of their functions for each call, which is a tenth of a short run.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect without a search for garbage, and keep what is there then out of all later ones.

    Tests and modules stay until the end: a search among them takes a second each time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def warm_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes that surveys and sweeps begin for themselves are children of a warm one."""
    python = SimpleNamespace(executable=str(warm.folder() / "python"))
    monkeypatch.setattr("memtile.explore.line_process.sys", python)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the interpreter, skip what it takes more than a minute for, and say why."""
    if os.environ.get("MEMTILE_JIT") == "0":
        for item in items:
            for mark in item.iter_markers("compiled"):
                item.add_marker(pytest.mark.skip(reason=f"in the interpreter: {mark.args[0]}"))
