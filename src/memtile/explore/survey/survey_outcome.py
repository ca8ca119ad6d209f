"""What became of one design: its bucket, why, and what it lacked.

It also says what a survey found: designs by bucket, what is missing most, as a table and as data.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from memtile.explore.suite.outcome import CaseOutcome, Verdict
from memtile.plain_text import printable
from memtile.sheet import Sheet, SheetColumn


class Bucket(StrEnum):
    """Where a survey puts a design."""

    EXACT = "exact"
    FINISHED = "finished"
    WRONG = "wrong"
    STUCK = "stuck"
    REFUSED = "refused"
    BROKEN = "broken"

    @property
    def text(self) -> str:
        """What became of the design, in words."""
        return _TEXTS[self]


_TEXTS = {
    Bucket.EXACT: "exact: finished, with the data that are expected",
    Bucket.FINISHED: "finished: nothing is expected, or a finding is an error",
    Bucket.WRONG: "wrong: other data than those that are expected",
    Bucket.STUCK: "stuck: began and did not finish",
    Bucket.REFUSED: "refused: did not begin",
    Bucket.BROKEN: "broken: memtile failed, or the time was over",
}
_BUCKETS = {
    Verdict.PASSED: Bucket.EXACT,
    Verdict.UNKNOWN: Bucket.FINISHED,
    Verdict.FAULTY: Bucket.FINISHED,
    Verdict.WRONG: Bucket.WRONG,
    Verdict.STUCK: Bucket.STUCK,
    Verdict.REFUSED: Bucket.REFUSED,
    Verdict.BROKEN: Bucket.BROKEN,
    Verdict.ERROR: Bucket.BROKEN,
}
GOOD = (Bucket.EXACT, Bucket.FINISHED)


@dataclass(frozen=True, slots=True)
class DesignOutcome:
    """What became of a design.

    Attributes:
        name: path below the folder.
        bucket: where it belongs.
        why: one line; empty where all is well.
        missing: what it was refused for the lack of, such as ``operation aievec.mac`` or ``function zero``.
        device: that it ran on; empty if it never began.
        cycles: that it ran.
        seconds: that it took, reading included.
    """

    name: str
    bucket: Bucket
    why: str = ""
    missing: tuple[str, ...] = ()
    device: str = ""
    cycles: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "design": self.name,
            "bucket": self.bucket.value,
            "why": self.why,
            "missing": list(self.missing),
            "device": self.device or None,
            "cycles": self.cycles,
            "seconds": round(self.seconds, 3),
        }

    @classmethod
    def of_test(cls, test: CaseOutcome) -> DesignOutcome:
        """The outcome of a test that expects what lies beside its design, or nothing."""
        folder = f"{Path(test.file).parent}{os.sep}"
        why = "" if test.verdict is Verdict.UNKNOWN else test.why.replace(folder, "")
        return cls(
            test.name, _BUCKETS[test.verdict], why, test.missing, test.device, test.cycles or 0, test.seconds
        )


_FOLDERS = 6  # that the table names
_LONGEST = 110  # characters of a reason in the table; the data have all of them


@dataclass(frozen=True, slots=True, repr=False)
class SurveyResult:
    """The outcome of a survey.

    Attributes:
        folder: that was searched.
        outcomes: of each design that was tried, in order of names.
        found: how many designs and builds there are.
        others: MLIR files that have no device in them.
        programs: folders whose design a program prints, which is not run.
        interrupted: Ctrl-C ended the survey.
        seconds: that it took.
    """

    folder: str
    outcomes: tuple[DesignOutcome, ...]
    found: int
    others: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Every design was tried, and all of them finished with the right data, where it is known."""
        return not self.interrupted and all(each.bucket in GOOD for each in self.outcomes)

    def count(self, bucket: Bucket) -> int:
        """Designs in a bucket."""
        return sum(each.bucket is bucket for each in self.outcomes)

    def missing(self) -> dict[str, int]:
        """What designs were refused for, with how many of them lack it, most frequent first."""
        found = Counter(lack for each in self.outcomes for lack in each.missing)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "folder": self.folder,
            "found": self.found,
            "counts": {bucket.value: self.count(bucket) for bucket in Bucket},
            "missing": [{"name": name, "designs": count} for name, count in self.missing().items()],
            "designs": [each.as_json() for each in self.outcomes],
            "without_device": list(self.others),
            "without_text": list(self.programs),
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
        }

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {bucket}" for bucket in Bucket if (n := self.count(bucket)))
        return f"SurveyResult({printable(str(self.folder))}: {counts})"

    def __str__(self) -> str:
        """The sheet as plain text."""
        return str(self.sheet())

    def sheet(self) -> Sheet:
        """The survey for people: a row for each design, by bucket; counts and what is missing below."""
        order = list(Bucket)
        rows = sorted(self.outcomes, key=lambda each: (order.index(each.bucket), each.name))
        return Sheet(
            columns=(
                SheetColumn("design", one_line=True),
                SheetColumn("", one_line=True),
                SheetColumn("cycles", right=True, one_line=True),
                SheetColumn("s", right=True, one_line=True),
                SheetColumn("why", one_line=True),
            ),
            rows=tuple(map(_row, rows)),
            below=tuple(self._lines()),
        )

    def _lines(self) -> Iterator[str]:
        yield f"{len(self.outcomes)} of {self.found} designs tried in {self.seconds:.1f} s"
        for bucket in Bucket:
            if count := self.count(bucket):
                yield f"{count:5}  {bucket.text}"
        if missing := self.missing():
            listed = ", ".join(f"{name} ({count})" for name, count in missing.items())
            yield f"missing: {listed}"
        if self.others:
            yield f"MLIR files without a device, not tried: {len(self.others)}"
        if self.programs:
            listed = ", ".join(self.programs[:_FOLDERS])
            more = f" and {len(self.programs) - _FOLDERS} more" if len(self.programs) > _FOLDERS else ""
            yield f"folders without the text of their design, not tried: {listed}{more}"
        if self.interrupted:
            yield "interrupted. The designs above had finished by then."


def _row(each: DesignOutcome) -> tuple[str, ...]:
    why = ", ".join(each.missing) or each.why
    short = why if len(why) <= _LONGEST else f"{why[: _LONGEST - 3]}..."
    cycles = str(each.cycles) if each.cycles else "-"
    return each.name, each.bucket.value, cycles, f"{each.seconds:.1f}", short
