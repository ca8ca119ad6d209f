"""``python -m adversary.tally``: what was searched of the present source without a failure.

``make fuzz`` and ``make attack`` write a line for each search to a ledger in ``.cache``. A line counts for
as long as the source that it searched stays as it was: it has a hash of those files. ``--add`` moves the
lines into ``tally.tsv``, which is kept with the source, adds them up, and leaves out earlier sources.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from adversary.lines import SOURCE, files
from adversary.readers import READERS
from places import ROOT

ARRAYS, PAIRS = "attack arrays", "attack pairs"
_ATTACKED = ("arch", "bd", "design", "jit", "model", "runs", "sim")
_OF = {name: reader.modules for name, reader in READERS.items()} | {ARRAYS: _ATTACKED, PAIRS: _ATTACKED}
KEPT = Path(__file__).with_name("tally.tsv")
LEDGER = ROOT / ".cache" / "searches.tsv"


class Searched(NamedTuple):
    """A search that has ended.

    Attributes:
        what: name of a reader, or ``attack`` and what it drew.
        source: hash of the files that were searched.
        seconds: of the processor.
        inputs: that were read, or designs that ran.
        failures: how many inputs were not survived, or pairs that differed.
    """

    what: str
    source: str
    seconds: float
    inputs: int
    failures: int

    def line(self) -> str:
        """As a line of a ledger."""
        return "\t".join(map(str, self._replace(seconds=round(self.seconds, 1)))) + "\n"


def source_of(modules: Iterable[str]) -> str:
    """A hash of files, and of all files of folders, below the package."""
    found = sha256()
    for path in files(modules):
        found.update(path.relative_to(SOURCE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


_IMPORTED = {what: source_of(modules) for what, modules in _OF.items()}


def note(what: str, seconds: float, inputs: int, failures: int) -> None:
    """Add a search, or a part of one, to the ledger; searches that run at once share it.

    Where the source has changed since it was imported, what ran is of neither.
    """
    source = source_of(_OF[what])
    if source != _IMPORTED[what]:
        return
    LEDGER.parent.mkdir(exist_ok=True)
    with LEDGER.open("a", encoding="utf-8") as file:
        file.write(Searched(what, source, seconds, inputs, failures).line())


def searches(*ledgers: Path) -> Iterator[Searched]:
    """The searches of ledgers."""
    for ledger in ledgers:
        for line in ledger.read_text("utf-8").splitlines() if ledger.exists() else ():
            what, source, seconds, inputs, failures = line.split("\t")
            yield Searched(what, source, float(seconds), int(inputs), int(failures))


def counted(found: Iterable[Searched]) -> list[Searched]:
    """What was searched of the present source, a sum for everything that is searched."""
    sums = {what: Searched(what, source_of(modules), 0.0, 0, 0) for what, modules in _OF.items()}
    for each in found:
        its = sums.get(each.what)
        if its is not None and its.source == each.source:
            sums[each.what] = its._replace(
                seconds=its.seconds + each.seconds,
                inputs=its.inputs + each.inputs,
                failures=its.failures + each.failures,
            )
    return [*sums.values()]


def main(arguments: Sequence[str]) -> None:
    """Print the tally, and keep it with ``--add``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--add", action="store_true", help="move the ledger into tally.tsv")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    sums = counted(searches(KEPT, LEDGER))
    if given.add:
        KEPT.write_text("".join(each.line() for each in sums if each.inputs), encoding="utf-8")
        LEDGER.unlink(missing_ok=True)
    if given.json:
        print(json.dumps(summary(sums), indent=2))
        return
    print(f"{'searched':16} {'hours':>6} {'inputs':>11} {'failures':>8}")
    for each in sums:
        print(f"{each.what:16} {each.seconds / 3600:6.2f} {each.inputs:11,} {each.failures:8}")


def summary(sums: Iterable[Searched]) -> dict[str, float]:
    """Figures of all searches of the present source: hours of the processor, designs, failures."""
    by_name = {each.what: each for each in sums}
    hours = {what: each.seconds / 3600 for what, each in by_name.items() if what in READERS}
    return {
        "mlir_hours": hours.pop("mlir"),
        "least_hours_of_the_other_readers": min(hours.values()),
        "other_readers_of_03_hours": sum(each >= 0.3 for each in hours.values()),
        "designs": by_name[ARRAYS].inputs + by_name[PAIRS].inputs,
        "arrays": by_name[ARRAYS].inputs,
        "failures": sum(each.failures for each in by_name.values()),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
