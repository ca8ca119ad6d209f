"""Does every listed mutant die by the test that is named for it? ``make mutants``, or names of some of them.

A mutant is the source with one place changed, in a copy outside the repository, run in the interpreter. First
the named tests must pass on the copy as it is. A mutant is dead when its test fails; an error while the test
is collected or set up does not count. Nothing that a test began outlives it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from zlib import crc32

from alone import outcome
from listed import MUTANTS, PACKAGE, SOURCE, Mutant

ROOT = SOURCE.parent
ALONE, FORKED = (Path(__file__).with_name(name) for name in ("alone.py", "forked.py"))
SLOWEST = 10  # whose times are printed
SECONDS = 300  # a mutant whose test runs longer lets it hang


def copied(place: Path) -> Path:
    """A copy of the source below ``place``."""
    without = shutil.ignore_patterns("*.egg-info", "__pycache__")
    return shutil.copytree(SOURCE, place / "src", ignore=without)


def changed(place: Path, source: Path, name: str, text: str) -> Path:
    """A mutant below ``place``: one file, and links to a copy of the others, in a tenth of the time."""
    made = shutil.copytree(source, place / "src", copy_function=os.link)
    file = made / PACKAGE / name
    file.unlink()
    file.write_text(text, encoding="utf-8")
    for code in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        code.unlink()  # by size and second alone it might pass for that of the change
    return made


def unchanged(source: Path, arguments: Iterable[str], workers: int) -> tuple[str, str]:
    """What becomes of tests without a mutant, with a copy of the source, and what pytest said.

    The copy has the byte code of its modules then.
    """
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(workers)]
    command = [sys.executable, str(ALONE), "0", *pytest, "--dist", "worksteal", *arguments]
    changes = {"PYTHONPATH": str(source), "MEMTILE_JIT": "0", "PYTHONDONTWRITEBYTECODE": ""}
    run = subprocess.run(command, cwd=ROOT, env=os.environ | changes, capture_output=True, text=True)
    return outcome(run.returncode, run.stdout), f"{run.stdout}{run.stderr}"


class Runner:
    """A process that runs pytest for one mutant after the other (``forked.py``).

    Args:
        place: a folder of its own.
    """

    def __init__(self, place: Path) -> None:
        place.mkdir()
        self.place = place
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, str(FORKED), str(place)], stdin=pipe, stdout=pipe, text=True
        )

    def outcome(self, source: Path, arguments: Sequence[str], seconds: int) -> tuple[str, str]:
        """What becomes of tests of the package in ``source``, and what pytest said."""
        said = self.place / "said"
        asked = {"source": str(source), "tests": [*arguments], "seconds": seconds, "said": str(said)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        text = said.read_text(encoding="utf-8", errors="replace")
        return outcome(code, text), text[-2000:]

    def end(self) -> None:
        """End it."""
        self._process.communicate()


def fate(mutant: Mutant, source: Path, runners: Queue[Runner]) -> tuple[str, float]:
    """What becomes of a mutant, and in how many seconds: ``failed`` is what its test should do.

    Args:
        mutant: the change.
        source: a copy of the source, with byte code.
        runners: those that are free.
    """
    begun, runner = time.monotonic(), runners.get()
    try:
        with tempfile.TemporaryDirectory() as place:
            made = changed(Path(place), source, mutant.file, mutant.applied())
            became, said = runner.outcome(made, [mutant.test], SECONDS)
            return said if became == "did not run" else became, time.monotonic() - begun
    finally:
        runners.put(runner)


def tried(mutants: Sequence[Mutant], place: Path, workers: int) -> tuple[list[str], list[tuple[float, str]]]:
    """Try mutants, and print what becomes of each: those alive, and the seconds that each took.

    Args:
        mutants: all of them.
        place: a folder with a copy of the source.
        workers: how many are tried at a time.
    """
    alive, took, runners = [], list[tuple[float, str]](), Queue[Runner]()
    made = [Runner(place / f"runner{number}") for number in range(workers)]
    for runner in made:
        runners.put(runner)
    with ThreadPoolExecutor(workers) as pool:
        fates = pool.map(lambda mutant: fate(mutant, place / "src", runners), mutants)
        for mutant, (said, seconds) in zip(mutants, fates, strict=True):
            took.append((seconds, mutant.name))
            line = f"{mutant.name}: {mutant.test} {said}"
            print(f"{'dead ' if said == 'failed' else 'ALIVE'} {line}", flush=True)
            if said != "failed":
                alive.append(line)
    for runner in made:
        runner.end()
    return alive, took


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
        became, said = unchanged(copied(Path(place)), ["-x", *tests], chosen.workers)
        if became != "passed":
            print(f"the tests do not pass without mutants:\n{said[-4000:]}")
            return 1
        alive, took = tried(mutants, Path(place), chosen.workers)
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
