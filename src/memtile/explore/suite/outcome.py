"""What became of tests of designs: a verdict for each, as lines, Markdown, and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from memtile.explain.finding_places import finding_lines, in_order
from memtile.explain.findings import Finding, Severity
from memtile.plain_text import printable


class Verdict(StrEnum):
    """What became of a design."""

    PASSED = "passed"  # finished, with what was expected, within its budget
    UNKNOWN = "unknown"  # finished, and nothing says what must come out
    SLOW = "slow"  # over its budget of cycles
    WRONG = "wrong"  # other data than expected, or an error of the program
    FAULTY = "faulty"  # finished, with a finding that is an error
    STUCK = "stuck"  # began and did not finish
    REFUSED = "refused"  # did not begin
    BROKEN = "broken"  # the time was over, or the design ended its process
    ERROR = "error"  # memtile failed


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of one test.

    Attributes:
        name: of the test.
        file: of its design, as the user finds it.
        verdict: what became of it.
        why: one sentence; empty where all is well.
        findings: errors first.
        device: that it ran on; empty if it never began.
        cycles: that it ran; None if it never began.
        budget: most cycles that it may take; None = there is no budget.
        baseline: its cycles in the baseline; None = it has none there.
        seconds: that the test took.
        allow_unknown: it is good also where nothing says what must come out.
        missing: what it was refused for the lack of, such as ``operation aievec.mac`` or ``function zero``.
    """

    name: str
    file: str
    verdict: Verdict
    why: str = ""
    findings: Sequence[Finding] = ()
    device: str = ""
    cycles: int | None = None
    budget: int | None = None
    baseline: int | None = None
    seconds: float = 0.0
    allow_unknown: bool = False
    missing: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it passed, or is unknown and may be."""
        return self.verdict is Verdict.PASSED or (self.verdict is Verdict.UNKNOWN and self.allow_unknown)

    @property
    def reason(self) -> str:
        """Why, without the path of the design, beside its name."""
        return (
            self.why.replace(f"{self.file}:", "line ", 1)
            if self.why.startswith(f"{self.file}:")
            else self.why
        )

    @property
    def summary(self) -> str:
        """One line."""
        return f"{self.name}: {self.verdict}" + (f", {self.why}" if self.why else "")

    @property
    def time(self) -> str:
        """Its cycles and its budget in words; empty if it never ran."""
        if self.cycles is None:
            return ""
        budget = f" of {self.budget:,}" if self.budget is not None else ""
        change = f"{(self.cycles - self.baseline) / self.baseline:+.1%}" if self.baseline else ""
        shown = f" ({change.replace('%', ' %')})" if change.strip("+-0.%") else ""
        return f"{self.cycles:,}{budget} cycles{shown}"

    def by_file(self) -> CaseOutcome:
        """The outcome under the name of its file, for tools that show findings beside the source."""
        return replace(self, name=self.file)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "file": self.file,
            "verdict": self.verdict.value,
            "good": self.good,
            "why": self.why,
            "missing": list(self.missing),
            "device": self.device or None,
            "cycles": self.cycles,
            "budget": self.budget,
            "baseline": self.baseline,
            "seconds": round(self.seconds, 3),
            "findings": [finding.as_json() for finding in self.findings],
        }

    @classmethod
    def of(cls, data: Mapping[str, Any], *, allow_unknown: bool = False) -> CaseOutcome:
        """The outcome of plain data."""
        return cls(
            data["name"],
            data["file"],
            Verdict(data["verdict"]),
            data["why"],
            in_order([Finding.from_json(each) for each in data["findings"]]),
            data["device"] or "",
            data["cycles"],
            data["budget"],
            data["baseline"],
            data["seconds"],
            allow_unknown,
            tuple(data["missing"]),
        )

    def details(self) -> Iterator[str]:
        """What is wrong with it, for people; nothing if it is good or unknown."""
        if self.good or self.verdict is Verdict.UNKNOWN:
            return
        errors = [finding for finding in self.findings if finding.severity is Severity.ERROR]
        for finding in errors:
            for line in finding_lines(self.file, finding):
                yield from line.splitlines()
        if not any(self.why in finding.message for finding in errors):
            yield f"{self.name}: {self.why}"


_TO_KNOW = (
    "unknown: give arrays that must come out (--expect, outN.npy beside the design, or memtile-tests.toml), "
    "or --allow-unknown."
)
_VERDICTS = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The outcome of all tests.

    Attributes:
        outcomes: of the tests that ran, in their order.
        found: how many tests there are.
        interrupted: Ctrl-C ended them.
        seconds: that they took.
        notes: what else is to be said, a line each.
    """

    outcomes: Sequence[CaseOutcome]
    found: int
    interrupted: bool = False
    seconds: float = 0.0
    notes: Sequence[str] = ()

    @property
    def good(self) -> bool:
        """Every test ran and is good."""
        return not self.interrupted and all(each.good for each in self.outcomes)

    @property
    def errors(self) -> list[str]:
        """Names of the tests in which memtile itself failed."""
        return [each.name for each in self.outcomes if each.verdict is Verdict.ERROR]

    def count(self, verdict: Verdict) -> int:
        """Designs of a verdict."""
        return sum(each.verdict is verdict for each in self.outcomes)

    @property
    def verdict(self) -> str:
        """One line."""
        bad = sum(not each.good for each in self.outcomes)
        counts = ", ".join(f"{n} {each}" for each in _VERDICTS if (n := self.count(each)))
        head = "PASSED" if self.good else "INTERRUPTED" if self.interrupted else "FAILED"
        tested = f"{len(self.outcomes)} of {self.found}" if self.interrupted else f"{self.found}"
        failed = f", {bad} not good" if bad else ""
        return f"{head}: {tested} design{'s' * (self.found != 1)} tested{failed} ({counts or 'none ran'})"

    def as_json(self) -> dict[str, Any]:
        """Plain data; schema test-output."""
        return {
            "good": self.good,
            "found": self.found,
            "counts": {each.value: self.count(each) for each in Verdict},
            "designs": [each.as_json() for each in self.outcomes],
            "notes": list(self.notes),
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
        }

    def lines(self, width: int) -> Iterator[str]:
        """The verdict, a line for each design, and what is wrong with those that are not good.

        Args:
            width: characters of a design's line; what is longer is cut.
        """
        yield self.verdict
        rows = [(each.verdict.value, each.name, each.time, each.reason) for each in self._bad_first()]
        wide = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
        for verdict, name, time, why in rows:
            line = f"  {verdict:{wide[0]}}  {name:{wide[1]}}  {time:>{wide[2]}}  {why}".rstrip()
            line = printable(line)
            yield line if len(line) <= width else f"{line[: width - 3]}..."
        for each in self.outcomes:
            yield from map(printable, each.details())
        if not all(each.good for each in self.outcomes if each.verdict is Verdict.UNKNOWN):
            yield _TO_KNOW
        yield from self.notes

    def _bad_first(self) -> list[CaseOutcome]:
        return sorted(self.outcomes, key=lambda each: each.good)

    def markdown(self) -> str:
        """A summary for a pull request."""
        lines = [
            f"### memtile: {self.verdict}",
            "",
            "| design | verdict | cycles | why |",
            "|---|---|---:|---|",
        ]
        for each in self._bad_first():
            mark = "✅" if each.good else "❌"
            cells = (f"`{each.name}`", f"{mark} {each.verdict}", each.time, each.reason)
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
        details = [line for each in self.outcomes for line in each.details()]
        if details:
            text = "\n".join(map(printable, details))
            lines += [
                "",
                "<details><summary>What is wrong</summary>",
                "",
                "```text",
                text,
                "```",
                "</details>",
            ]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A text as a cell of a table."""
    return printable(text).replace("|", "\\|").replace("<", "&lt;")
