"""Which tests to run for a changed file: those listed for it or beside it, and those recorded to run it.

``reached.txt`` is a hint that ages well: a test that is gone is left out, a file that is new has what is
listed for it. ``make mutants-map`` makes it again. Its lines: a folder of the source, and below it, for each
file, tests: ``12:abcdef`` are the tests ``abc`` and ``def`` of the twelfth file of tests, by checksums of
their names. Tests of a file are fastest first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path

from alike import alike
from chosen_plugin import DIGITS, Test, key
from listed import MUTANTS, SOURCE

ROOT = SOURCE.parent
MAP = Path(__file__).with_name("reached.txt")
OTHERS = 20  # tests listed for the same file, but for another function
ALIKE = 90  # tests that speak of what the function speaks of
LEAST = 40  # tests of a file; if need be those of files beside it
Record = tuple[str, float, Sequence[int]]  # a test, its seconds, and what it ran


@cache
def recorded() -> dict[str, list[Test]]:
    """Tests by file of the source, as ``reached.txt`` has them."""
    files: list[str] = []
    found: dict[str, list[Test]] = {}
    folder = ""
    for line in MAP.read_text(encoding="utf-8").splitlines():
        if line.startswith("tests/"):
            files.append(line)
        elif line.endswith("/"):
            folder = line
        elif not line.startswith("#"):
            name, *groups = line.split()
            pairs = (group.split(":") for group in groups)
            found[folder + name] = [
                (files[int(file)], keys[at : at + DIGITS])
                for file, keys in pairs
                for at in range(0, len(keys), DIGITS)
            ]
    return found


def tests_of(file: str, name: str, old: str) -> list[Test]:
    """Tests for a change of a file, in the order to run them.

    Args:
        file: path below the package.
        name: of the function that is changed.
        old: its text: what is listed for that comes first.
    """
    mine = [mutant for mutant in MUTANTS if mutant.file == file]
    here = [key(mutant.test) for mutant in mine if mutant.old.strip() in old]
    ran = recorded().get(file, [])
    known = {test[0] for test in [*here, *ran, *listed([file])]}
    every = dict.fromkeys([*here, *alike(file, name, old, known, ALIKE), *ran, *listed([file])[:OTHERS]])
    folder = file.rpartition("/")[0] + "/"
    beside = listed(sorted({mutant.file for mutant in MUTANTS if mutant.file.startswith(folder)}))
    every |= dict.fromkeys(beside[: max(0, LEAST - len(every))])
    return [test for test in every if (ROOT / test[0]).exists()]


def listed(files: Sequence[str]) -> list[Test]:
    """Tests that are listed for files, in turns one of each file."""
    of = {file: [key(mutant.test) for mutant in MUTANTS if mutant.file == file] for file in files}
    turns = zip_longest(*(dict.fromkeys(tests) for tests in of.values()))
    return [*dict.fromkeys(test for turn in turns for test in turn if test)]


def file_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def test_of(nodeid: str) -> str:
    """A test without its parameter."""
    return nodeid.partition("[")[0]


def write(functions: Sequence[tuple[str, str]], records: Iterable[Record], enough: int) -> str:
    """The text of ``reached.txt``: for each function ``enough`` tests, if so many ran it.

    Args:
        functions: file and name of each.
        records: what ran.
        enough: tests of a function.
    """
    tests = list(records)
    runs = defaultdict[int, list[int]](list)
    for number, (*_, reached) in enumerate(tests):
        for function in reached:
            runs[function].append(number)
    # A quick test that runs little looks at what it runs.
    weight = [(0.1 + seconds) * (20 + len(reached)) for _, seconds, reached in tests]
    chosen = defaultdict[str, set[int]](set)
    for function in sorted(runs, key=lambda each: len(runs[each])):
        mine = chosen[functions[function][0]]
        have = mine & set(runs[function])
        for kind in (file_of, test_of):  # of other files first
            named = {kind(tests[each][0]) for each in have}
            for each in sorted(runs[function], key=weight.__getitem__):
                if len(have) < enough and kind(tests[each][0]) not in named:
                    have.add(each)
                    named.add(kind(tests[each][0]))
        mine |= have
    files = sorted({file_of(tests[each][0]) for mine in chosen.values() for each in mine})
    lines = ["# Made by make mutants-map; see reached.py.", *files]
    before = ""
    for file in sorted(chosen):
        folder, _, name = file.rpartition("/")
        if folder != before:
            lines.append(f"{folder}/")
            before = folder
        line, last = name, -1
        for each in sorted(chosen[file], key=weight.__getitem__):
            place, code = key(tests[each][0])
            number = files.index(place)
            line += code if number == last else f" {number}:{code}"
            last = number
        lines.append(line)
    return "\n".join(lines) + "\n"
