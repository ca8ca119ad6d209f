"""Does every listed mutant die by the test that is named for it? ``make mutants``, or names of some of them.

A mutant is the source with one place changed, in a copy outside the repository, run in the interpreter. First
the named tests must pass on the copy as it is. A mutant is dead when its test fails; an error while the test
is collected or set up does not count. Nothing that a test began outlives it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zlib import crc32

from alone import LATE
from listed import MUTANTS, PACKAGE, SOURCE, Mutant

ROOT = SOURCE.parent
ALONE = Path(__file__).with_name("alone.py")
SLOWEST = 10  # whose times are printed
SECONDS = 300  # a mutant whose test runs longer lets it hang


def outcome(source: Path, tests: Iterable[str], seconds: int = 0, workers: int = 0) -> tuple[str, str]:
    """Whether tests of the package in ``source`` passed, failed, hang or did not run; what pytest said."""
    spread = ["-n", str(workers), "--dist", "worksteal"] if workers else []
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *spread, *tests]
    command = [sys.executable, str(ALONE), str(seconds), *pytest]
    changes = {"PYTHONPATH": str(source), "MEMTILE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(command, cwd=ROOT, env=os.environ | changes, capture_output=True, text=True)
    if run.returncode == LATE:
        return "hangs", ""
    summary = run.stdout.splitlines()[-1] if run.stdout else ""
    said = f"{run.stdout[-2000:]}{run.stderr[-2000:]}"
    if run.returncode == 0:
        return "passed", said
    if run.returncode == 1 and re.search(r"\bfailed\b", summary) and not re.search(r"\berrors?\b", summary):
        return "failed", said
    return "did not run", said


def copied(place: str) -> Path:
    """A copy of the source below ``place``."""
    source = Path(place) / "src"
    shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return source


def fate(mutant: Mutant) -> tuple[str, float]:
    """What becomes of a mutant, and in how many seconds: ``failed`` is what its test should do."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        source = copied(place)
        (source / PACKAGE / mutant.file).write_text(mutant.applied(), encoding="utf-8")
        became, said = outcome(source, [mutant.test], SECONDS)
        return said if became == "did not run" else became, time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of the names of mutants; all if omitted")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--part", default=os.environ.get("MUTANTS", "1/1"), help="1/3: a third of them; or MUTANTS=1/3"
    )
    chosen = parser.parse_args()
    names = chosen.names or [""]
    part, parts = map(int, chosen.part.split("/"))
    if not 1 <= part <= parts:
        parser.error(f"--part {chosen.part}: it must be 1/2 or 2/2 of two parts, and so on")
    mutants = [mutant for mutant in MUTANTS if any(name in mutant.name for name in names)]
    mutants = [mutant for mutant in mutants if crc32(mutant.name.encode()) % parts == part - 1]
    with tempfile.TemporaryDirectory() as place:
        tests = dict.fromkeys(mutant.test for mutant in mutants)
        became, said = outcome(copied(place), tests, workers=chosen.workers)
    if became != "passed":
        print(f"the tests do not pass without mutants:\n{said}")
        return 1
    alive, took = [], list[tuple[float, str]]()
    with ThreadPoolExecutor(chosen.workers) as pool:
        for mutant, (said, seconds) in zip(mutants, pool.map(fate, mutants), strict=True):
            took.append((seconds, mutant.name))
            line = f"{mutant.name}: {mutant.test} {said}"
            print(f"{'dead ' if said == 'failed' else 'ALIVE'} {line}", flush=True)
            if said != "failed":
                alive.append(line)
    print(f"{len(mutants) - len(alive)} of {len(mutants)} mutants are dead")
    print(
        "slowest:",
        *(f"{seconds:5.1f} s {name}" for seconds, name in sorted(took)[: -SLOWEST - 1 : -1]),
        sep="\n",
    )
    if alive:  # again, where the end of a long log is all that somebody reads
        print("alive:", *alive, sep="\n")
    return 1 if alive or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
