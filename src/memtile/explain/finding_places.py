"""Where a finding points to in the user's files, and the lines that name it, as compilers write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from memtile.explain.findings import OF_WORDS, Finding, Severity

_NUMBER = re.compile(r"\d+")
_COLONS = re.compile(r"^(?:BD \d+, )?(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?:[:,].*)?$")
_WORDS = re.compile(
    r"^(?:BD \d+, )?(?P<file>.+?),? line (?P<line>\d+)(?:, column (?P<column>\d+))?(?:[:,].*)?$"
)


class FilePlace(NamedTuple):
    """A place in a file; line and column count from 1, None = nobody knows."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in self if part is not None)


def file_place(text: str, default: str) -> FilePlace:
    """Where a text points to.

    Args:
        text: of a finding's side or of a problem, such as ``BD 26, design.mlir:145:7``.
        default: file to be named where the text names none.
    """
    for form in (_WORDS, _COLONS):
        if found := form.match(text):
            column = found["column"]
            return FilePlace(found["file"], int(found["line"]), int(column) if column else None)
    return FilePlace(default)


class Judged(Protocol):
    """What was looked at, by a check or a run."""

    @property
    def name(self) -> str:
        """As the user gave it."""

    @property
    def findings(self) -> Sequence[Finding]:
        """Errors first."""

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with it."""

    @property
    def summary(self) -> str:
        """One line."""


def in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings and notes; those of one severity as they came.

    That words came out otherwise than expected follows from what else is wrong: warnings come before it.
    """
    return tuple(sorted(findings, key=_rank))


def _rank(finding: Finding) -> tuple[int, bool]:
    """The place of a finding among others: by severity, and behind all warnings if it follows from them."""
    order, follows = list(Severity), finding.code in OF_WORDS and finding.severity is Severity.ERROR
    return order.index(Severity.WARNING if follows else finding.severity), follows


def placed(finding: Finding) -> str:
    """A finding in one line, after the line of the user's file that its first side is about."""
    where = file_place(finding.sides[0].place if finding.sides else "", "")
    return str(finding) if where.line is None else f"{where}: {finding}"


def alike_findings(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings, those together that one line of the user's file has and that differ in numbers alone.

    A line that builds a core for each tile has a mistake once, and each of its cores makes it.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        where = file_place(finding.sides[0].place if finding.sides else "", "")
        alone = where.line is None or finding.repair is not None
        key = id(finding) if alone else (where, _NUMBER.sub("#", str(finding)))
        if any(each.sides[0].who == finding.sides[0].who for each in groups.get(key, ())):
            key = id(finding)  # its other numbers are of the same channel or core
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def finding_lines(name: str, finding: Finding) -> Iterator[str]:
    """A finding as compilers write: place, severity, code, sentence, repair; its other sides below it.

    Args:
        name: of the design, where the finding has no place.
        finding: of a check or a run.
    """
    places = list(dict.fromkeys(side.place for side in finding.sides if side.place))
    where = file_place(places[0] if places else name, name)
    text = finding.message.removeprefix(str(where)).lstrip(":, ")
    often = f" ({finding.count} times)" if finding.count > 1 else ""
    yield f"{where}: {finding.severity} {finding.code}: {text}{often} {finding.fix}".rstrip()
    yield from (f"  and {side}" for side in finding.sides if side.place in places[1:])
    if finding.repair is not None:
        yield f"  {finding.repair.text}"
