"""Can every listed mutant still be made, and is its test still there? ``make mutants`` runs them."""

from __future__ import annotations

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from mutants import alone
from mutants.listed import MUTANTS, PACKAGE, SOURCE, Mutant
from support.commands.interruptions import MARK, left

ROOT = Path(__file__).parents[2]


def test_names_are_told_apart() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_its_text_stands_once_and_its_test_exists(mutant: Mutant) -> None:
    text = (SOURCE / PACKAGE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} has changed"
    assert mutant.applied() != text
    if mutant.file.endswith(".py"):
        compile(mutant.applied(), mutant.file, "exec")
    file, _, name = mutant.test.partition("::")
    assert f"\ndef {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")


HIDES = """
import os, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(1000)"]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True)
if not os.fork():
    os.setsid()
    if not os.fork():
        os.setsid()
        subprocess.Popen(sleep, start_new_session=True)
        time.sleep(1000)
    os._exit(0)
print("begun", flush=True)
"""


@pytest.mark.parametrize(
    ("end", "code"), [("time.sleep(1000)", alone.LATE), ("sys.exit(5)", 5), ("1 / 0", 1)]
)
def test_what_a_mutant_leaves_behind_ends_with_it(end: str, code: int) -> None:
    """Also where it hangs, and in sessions of its own; who reads its output waits for all of them."""
    mark = secrets.token_hex(8)
    command = [sys.executable, alone.__file__, "2", sys.executable, "-c", HIDES + end]
    done = subprocess.run(command, env={MARK: mark}, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (code, "begun\n")
    assert left(mark, 0) == []
