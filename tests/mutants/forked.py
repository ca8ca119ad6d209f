"""``python forked.py FOLDER``: pytest again and again, each time in a fork of a process that has loaded it.

A line of its input is JSON: ``source``, the folder of the package; ``tests``, arguments of pytest;
``seconds`` that it may take (0: as long as it likes); ``said``, a file for what it says. The answer is a line
with the exit code, as that of ``alone``; all that was begun has ended then.

A fork is what ``python -m pytest`` is when it begins. Loaded before are pytest, its plugins and packages from
outside, by a test of nothing in FOLDER; and no module of the repository, so that each is read anew.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from alone import LATE, adopt, end_all

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PATH = sys.path[1:]  # without this folder
NOTHING = """
import asyncio, filelock, hypothesis, ml_dtypes, msgspec, numpy, rich, typer.testing

def test_nothing():
    pass
"""
LOADED = "loaded"  # what pytest says meanwhile
OFTEN = 0.01
ALONE = ("-q", "-p", "no:cacheprovider", "-p", "no:memtile")  # our plugin would bring the package too early


def load(folder: Path) -> None:
    """Have pytest, its plugins and packages from outside in this process.

    Raises:
        SystemExit: that failed, or brought a module of the repository.
    """
    file = folder / "test_nothing.py"
    file.write_text(NOTHING, encoding="utf-8")
    os.chdir(folder)
    if code := pytest.main([*ALONE, f"--rootdir={folder}", str(file)]):
        sys.exit(f"pytest ends with {int(code)}: {(folder / LOADED).read_text(encoding='utf-8')}")
    for name, module in sys.modules.items():
        place = Path(getattr(module, "__file__", None) or "/")
        ours = name.partition(".")[0] == "memtile" or place.is_relative_to(ROOT / "tests")
        if ours and name not in ("__main__", "alone"):
            sys.exit(f"{name} is loaded too early: a change of it would not be seen")


def become_pytest(source: str, said: str) -> None:
    """Be what ``python -m pytest`` is when it begins, with the package in a folder."""
    os.setsid()
    os.chdir(ROOT)
    written = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    for number, opened in enumerate((os.open(os.devnull, os.O_RDONLY), written, written)):
        os.dup2(opened, number)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ |= {"PYTHONPATH": source, "MEMTILE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:] = [str(ROOT), source, *PATH]
    del sys.modules["alone"]


def one(source: str, tests: list[str], seconds: float, said: str) -> int:
    """Run pytest once: its exit code, or that of one that is late."""
    process = os.fork()
    if not process:
        become_pytest(source, said)
        sys.exit(pytest.main(["-x", *ALONE, *tests]))
    until = time.monotonic() + (seconds or float("inf"))
    try:
        while time.monotonic() < until:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(OFTEN)
        return LATE
    finally:
        end_all(process)


def main() -> None:
    folder = Path(sys.argv[1])
    answers = os.dup(1)  # a descriptor: each fork would warn about an unclosed file
    os.dup2(os.open(folder / LOADED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    adopt()
    load(folder)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        os.write(answers, b"%d\n" % one(**asked))


if __name__ == "__main__":
    main()
