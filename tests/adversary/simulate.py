"""``make simulate``: everything that writes or distributes, in a world that a seed disturbs.

Each seed takes one undertaking of ``undertakings``. Its command is given again and again; each time the
processes may be killed, the machine may lose its power, the disk may be full or broken, Ctrl-C may come and
the clock may jump. In the end the command is given once more and left in peace: all must be as if nothing had
happened. A seed does the same on every machine.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import Random

from adversary.undertaking import Undertaking
from adversary.undertakings import UNDERTAKINGS
from adversary.world import EndlessError, Faults, Killed, Process, World
from memtile.errors import MemtileError
from memtile.system import using

SEEDS = 10_000
_MOST_LIVES = 3  # disturbed ones
_TOGETHER = 3  # processes at the same time
_KINDS = ("kill", "kill", "power", "power", "full", "full kill", "broken", "interrupt", "none")
_SHOWN = 60  # last operations of a failure
_SHARED_MEMORY = Path("/dev/shm")


def undertaking_of(seed: int) -> str:
    """Name of what a seed disturbs."""
    return [*UNDERTAKINGS][seed % len(UNDERTAKINGS)]


class Simulation:
    """One seed.

    Args:
        seed: which.
        root: an empty folder.
    """

    def __init__(self, seed: int, root: Path) -> None:
        self.seed, self.chance = seed, Random(f"faults {seed}")
        self.world = World(root, seed)
        self.power_lost = False
        self.done: Undertaking = UNDERTAKINGS[undertaking_of(seed)](self.world)

    def failure(self) -> str:
        """What is wrong; empty = nothing."""
        with using(self.world), self.done.around():
            try:
                return self._failure()
            except EndlessError as error:
                return str(error)
            except (AssertionError, MemtileError, OSError, ValueError) as error:
                return f"{type(error).__name__}: {error}" if str(error) else traceback.format_exc()

    def _failure(self) -> str:
        steps = 60
        for life in range(self.chance.randint(1, _MOST_LIVES)):
            count = self.chance.randint(1, _TOGETHER) if self.done.several else 1
            found = [self._faults(steps) for _ in range(count)]
            wrong = self._live(life, found)
            if wrong:
                return wrong
        self.done.disturbed = False
        if self.done.several and not self.done.refused and (wrong := self._live(98, [Faults()] * _TOGETHER)):
            return wrong
        for number in range(_TOGETHER if self.done.several else 1):
            if wrong := self._live(99, [Faults()], number):
                return wrong
        allowed = self.done.powerless if self.power_lost else ()
        if left := [each for each in self.done.left() if not each.endswith(allowed)]:
            return f"temporary files are left: {left}"
        outcome, expected = self.done.outcome(), expected_of(self.seed)
        return (
            ""
            if outcome == expected
            else f"the outcome differs from an undisturbed one:\n{outcome}\n{expected}"
        )

    def _faults(self, steps: int) -> Faults:
        chance, at = self.chance, self.chance.randint(1, steps)
        kind = chance.choice(_KINDS)
        full = range(at, at + chance.randint(1, 12)) if "full" in kind else range(0)
        return Faults(
            kill=chance.randint(at, steps + 1) if kind in ("kill", "power", "full kill") else 0,
            power=kind == "power",
            full=full,
            broken=[at] if kind == "broken" else [],
            interrupt=at if kind == "interrupt" else 0,
            jump=chance.choice([0, 0, chance.randint(1, steps)]),
        )

    def _live(self, life: int, faults: list[Faults], first: int = 0) -> str:
        """Give the command as so many processes, of which one is ``first``; what is wrong then."""
        world = self.world
        world.injected.clear()
        work = []
        for number, each in enumerate(faults, first):
            world.trace.append(f"process {life}.{number}: {each}")
            process = Process(f"{life}.{number}", each)
            work.append((process, lambda number=number: self.done.command(number)))
        world.run(work)
        for process, _ in work:
            if wrong := self._wrong_end(process, several=len(work) > 1):
                return wrong
        power = any(each.power for each in faults)
        self.power_lost |= power
        disturbed = [each for each in faults if each != Faults()]
        self.done.check(Faults(power=power, kill=1) if disturbed else Faults())
        return ""

    def _wrong_end(self, process: Process, *, several: bool) -> str:
        error = process.error
        if error is None or isinstance(error, Killed):
            return ""
        if isinstance(error, KeyboardInterrupt) and process.faults.interrupt:
            return ""
        if isinstance(error, OSError) and error in self.world.injected:
            return ""
        if isinstance(error, MemtileError):
            expected = self.world.injected or any(text in str(error) for text in self.done.refused if several)
            if expected or self.done.disturbed:
                return ""
        return f"a command ended with {''.join(traceback.format_exception(error))}"


_EXPECTED: dict[str, object] = {}


def expected_of(seed: int) -> object:
    """The outcome of an undisturbed command."""
    name = undertaking_of(seed)
    if name not in _EXPECTED:
        with _Folder() as stack:
            world = World(stack.root, "undisturbed")
            done = UNDERTAKINGS[name](world)
            done.disturbed = False
            with using(world), done.around():
                for number in range(_TOGETHER if done.several else 1):
                    world.run([(Process("undisturbed"), lambda number=number: done.command(number))])
                _EXPECTED[name] = done.outcome()
    return _EXPECTED[name]


class _Folder(ExitStack):
    """A context with an empty folder, of memory where there is some."""

    def __init__(self) -> None:
        super().__init__()
        place = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
        self.root = Path(tempfile.mkdtemp(prefix="memtile-simulate-", dir=place))
        self.callback(shutil.rmtree, self.root, ignore_errors=True)


def simulated(seed: int) -> tuple[str, list[str]]:
    """What is wrong with a seed, empty = nothing, and what happened."""
    with _Folder() as stack:
        simulation = Simulation(seed, stack.root)
        wrong = simulation.failure()
        return wrong.replace(str(stack.root), ""), simulation.world.trace


def main() -> int:
    """Simulate seeds, print the failures, and how many there were."""
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("count", type=int, nargs="?", default=SEEDS)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--trace", action="store_true", help="print what happened")
    given = parser.parse_args()
    began, failures, steps, counted = time.monotonic(), 0, 0, Counter[str]()
    for seed in range(given.seed, given.seed + given.count):
        wrong, trace = simulated(seed)
        steps += len(trace)
        counted[undertaking_of(seed)] += 1
        if wrong:
            failures += 1
            print(f"seed {seed}, {undertaking_of(seed)}: {wrong}\n  make simulate N=1 SEED={seed}")
        if given.trace or wrong:
            print("\n".join(trace if given.trace else trace[-_SHOWN:]), flush=True)
    took = time.monotonic() - began
    print(f"{given.count:,} seeds, {steps:,} operations, {took:.0f} s: {failures} failures ({dict(counted)})")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
