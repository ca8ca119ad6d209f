"""Do tests notice random changes? ``make mutants-random N=40 SEED=1``: what lives, and the share that dies.

A seed draws functions, the longer the likelier, and of each one change (``operators.py``). The mutant is
made and its tests run as those of ``run.py`` are, in the interpreter, compiled functions too: nothing is
compiled for a mutant. ``reached.py`` says which tests. A mutant is killed when one of them fails, also by a
loop without an end, that passes without it. It is run again alone: on a machine with other work a test may
fail by chance. One that takes too long kills if it takes less than a third of that without the mutant. What
survives and changes nothing that a user sees is in ``unchanging.py``, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from chosen_plugin import LATE, Test, arguments, key
from chosen_plugin import SECONDS as OF_A_TEST
from listed import PACKAGE, SOURCE
from operators import Change, Function, Text, changes, functions
from reached import tests_of
from run import Runner, changed, copied, unchanged
from unchanging import UNCHANGING, Unchanging

ROOMS = ("model", "sim", "importers", "check", "explain", "cpp", "iron")
SECONDS = (
    300  # of all tests of a mutant, by the clock; a loop without an end fails by its time of the processor
)
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


class Drawn(NamedTuple):
    """A mutant.

    Attributes:
        file: path below the package.
        function: its name.
        line: where the change is.
        kind: the operator.
        before: the lines that are changed, without what is around them.
        after: those lines then.
        text: the file then.
        around: the function as it is.
    """

    file: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    text: str
    around: str

    def applied(self) -> str:
        """The file with the change."""
        return self.text

    @property
    def name(self) -> Unchanging:
        """What says which change it is, also when lines move."""
        return Unchanging(self.file, self.function, self.before, self.after)


class Fate(NamedTuple):
    """What became of a mutant.

    Attributes:
        mutant: which.
        became: ``killed``, ``survived``, ``no test``, or ``late``, which decides nothing.
        test: what failed.
        seconds: the time that it took.
    """

    mutant: Drawn
    became: str
    test: str
    seconds: float


def every_function() -> Iterator[tuple[str, str, Function]]:
    """All functions of the rooms, with their file."""
    for room in ROOMS:
        for path in sorted((SOURCE / PACKAGE / room).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for name, function in functions(tree):
                yield path.relative_to(SOURCE / PACKAGE).as_posix(), name, function


def drawn(count: int, seed: int, only: str = "") -> list[Drawn]:
    """Mutants of a seed: a function by its length, a kind of change that it has, and one of those."""
    every = [each for each in every_function() if each[0].startswith(only)]
    sizes = [(function.end_lineno or 0) - function.body[0].lineno + 1 for _, _, function in every]
    chance, found = random.Random(seed), dict[Unchanging, Drawn]()
    for _ in range(20 * count):
        if len(found) == count:
            break
        [(file, name, function)] = chance.choices(every, sizes)
        text = Text((SOURCE / PACKAGE / file).read_text(encoding="utf-8"))
        possible = changes(text, function)
        if not possible:
            continue
        kind = chance.choice(sorted({change.kind for change in possible}))
        change = chance.choice([change for change in possible if change.kind == kind])
        mutant = made(file, name, text, function, change)
        found.setdefault(mutant.name, mutant)
    return [*found.values()]


def made(file: str, name: str, text: Text, function: Function, change: Change) -> Drawn:
    """The mutant of a change."""
    data = text.data
    new = data[: change.start] + change.new.encode() + data[change.end :]
    first = data.rfind(b"\n", 0, change.start) + 1
    last = data.find(b"\n", change.end)
    before = data[first:last].decode().strip()
    after = new[first : last + len(new) - len(data)].decode().strip()
    line = text.line(change.start)
    return Drawn(file, name, line, change.kind, before, after, new.decode(), text.of(function))


def fate(
    mutant: Drawn, source: Path, runners: Queue[Runner], without: set[Test], end: float = math.inf
) -> Fate:
    """Run the tests of a mutant until one fails.

    Args:
        mutant: the change.
        source: a copy of the source, with byte code.
        runners: those that are free.
        without: tests that fail anyway; those that take long anyway are added.
        end: of the monotonic clock: after it nothing is tried, and nothing decided.
    """
    runner, begun = runners.get(), time.monotonic()
    try:
        if begun > end:
            return Fate(mutant, "late", "", 0)
        tests = [
            test for test in tests_of(mutant.file, mutant.function, mutant.around) if test not in without
        ]
        if not tests:
            return Fate(mutant, "no test", "", 0)
        with tempfile.TemporaryDirectory() as place:
            copy = changed(Path(place), source, mutant.file, mutant.applied())
            became, said = runner.outcome(copy, arguments(tests), SECONDS)
            while test := failed_by_chance(runner, source, copy, said, without):
                tests = [each for each in tests if each not in names_of(test)]
                became, said = runner.outcome(copy, arguments(tests), SECONDS) if tests else ("passed", "")
    finally:
        runners.put(runner)
    took = time.monotonic() - begun
    if became in ("passed", "hangs"):
        return Fate(mutant, "survived" if became == "passed" else "late", "", took)
    failed = FAILED.findall(said)
    return Fate(mutant, "killed" if failed else "no test", failed[0] if failed else said[-300:], took)


def failed_by_chance(runner: Runner, source: Path, copy: Path, said: str, slow: set[Test]) -> str:
    """A test that failed, where a mutant is no reason for it; else empty.

    Args:
        runner: one that is free.
        source: the source without the mutant.
        copy: with it.
        said: by pytest.
        slow: what takes long also without it is added.
    """
    for test in FAILED.findall(said)[:1]:
        alone = arguments([key(test)])
        quick = [*alone, f"--most={OF_A_TEST / 3}"]
        if LATE in said and runner.outcome(source, quick, SECONDS)[0] != "passed":
            slow.update(names_of(test))
            return test
        if runner.outcome(copy, alone, SECONDS)[0] == "passed":
            return test
    return ""


def tried(mutants: Sequence[Drawn], place: Path, workers: int, seconds: float) -> list[Fate]:
    """Try mutants for some time, and print what becomes of each; again without tests that fail anyway."""
    end = time.monotonic() + seconds
    source = copied(place)
    compileall.compile_dir(source, quiet=2, workers=workers)
    runners = Queue[Runner]()
    made = [Runner(place / f"runner{number}") for number in range(workers)]
    for runner in made:
        runners.put(runner)
    found, without, left = dict[Drawn, Fate](), set[Test](), [*mutants]
    with ThreadPoolExecutor(workers) as pool:
        while left:
            run = partial(fate, source=source, runners=runners, without=without, end=end)
            for each in pool.map(run, left):
                found[each.mutant] = each
                mutant = each.mutant
                where = f"{PACKAGE}/{mutant.file}:{mutant.line} {mutant.function}, {mutant.kind}"
                print(f"{each.became:8} {each.seconds:5.1f} s {where} {each.test}", flush=True)
            failing = failing_anyway([found[mutant] for mutant in left], source, workers)
            left = [mutant for mutant in left if found[mutant].test in failing]
            without |= {name for test in failing for name in names_of(test)}
    for runner in made:
        runner.end()
    return [*found.values()]


def names_of(test: str) -> tuple[Test, Test]:
    """The names by which a test is chosen: with its parameter, and with all of them."""
    return key(test), key(test.partition("[")[0])


def failing_anyway(fates: Sequence[Fate], source: Path, workers: int) -> set[str]:
    """Tests that killed a mutant, and fail without it too."""
    tests = sorted({each.test for each in fates if each.became == "killed"})
    became, said = unchanged(source, arguments(map(key, tests)), workers) if tests else ("passed", "")
    failed = set(FAILED.findall(said)) & {*tests} if became != "passed" else set[str]()
    if became != "passed":
        print(f"tests that fail without a mutant: {', '.join(sorted(failed)) or said[-2000:]}", flush=True)
    return failed


def report(fates: Sequence[Fate]) -> tuple[int, int]:
    """Print what survived: how many were killed, and of how many that change something."""
    count = Counter(each.became for each in fates)
    alive = [each.mutant for each in fates if each.became in ("survived", "no test")]
    for mutant in alive:
        reason = UNCHANGING.get(mutant.name)
        word = "changes nothing" if reason else "ALIVE"
        print(f"\n{word}: {PACKAGE}/{mutant.file}:{mutant.line} {mutant.function}")
        print(*(f"  - {line}" for line in mutant.before.splitlines()), sep="\n")
        print(*(f"  + {line}" for line in mutant.after.splitlines()), sep="\n")
        if reason:
            print(f"  {reason}")
    nothing = sum(mutant.name in UNCHANGING for mutant in alive)
    killed, every = count["killed"], len(fates) - nothing - count["late"]
    share = 100 * killed / max(1, every)
    print(
        f"\n{killed} of {every} mutants that change something are killed ({share:.0f} %); "
        f"{nothing} of {len(fates)} change nothing, {count['late']} were not decided"
    )
    return killed, every


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0, help="0: the date")
    parser.add_argument("--only", default="", help="files that begin so, such as check/")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--least", type=float, default=0, help="the share that must be killed, in percent")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no other is tried")
    parser.add_argument("--log", type=Path, help="a file to write what became of each to, as JSON")
    chosen = parser.parse_args()
    seed = chosen.seed or int(time.strftime("%Y%m%d", time.gmtime()))
    mutants = drawn(chosen.count, seed, chosen.only)
    print(f"{len(mutants)} mutants of seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        fates = tried(mutants, Path(place), chosen.workers, chosen.seconds)
    if chosen.log:
        rows = [each._asdict() | {"mutant": each.mutant._asdict()} for each in fates]
        chosen.log.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    killed, every = report(fates)
    return int(not every or 100 * killed < chosen.least * every)


if __name__ == "__main__":
    sys.exit(main())
