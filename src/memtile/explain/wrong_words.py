"""Findings about outputs that are others than expected: the kind of mistake, else how much and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memtile.explain.checks import Check
from memtile.explain.evidence import NO_EVIDENCE
from memtile.explain.findings import OF_WORDS, OTHER_WORDS, Finding, Severity, Side, is_unplaced
from memtile.explain.value_causes import NUMBERS, SUMS
from memtile.explain.walk_culprits import WalkCulprits
from memtile.explain.word_sources import WordSources

_LEAST = 8  # elements
_COPY = "Or read from a copy, or write elsewhere, if words of before are meant; else wait for their writer."
_NEARLY = 0.75  # of the elements
_UNWRITTEN = "MT0203"


def wrong_words(
    checks: Sequence[Check],
    sources: WordSources | None = None,
    culprits: WalkCulprits | None = None,
) -> Iterator[Finding]:
    """One finding for each output of a finished run that is not what was expected.

    Args:
        checks: of the run.
        sources: who writes each output; None = nobody knows.
        culprits: the channels of the run.
    """
    for check in checks:
        if check.exact:
            continue
        if check.cause is not None:
            code, says, fix, _, evidence = check.cause
            message = f"{check.port} {says}."
        else:
            code, says, fix = OTHER_WORDS, check.text.removeprefix(f"{check.port}: "), ""
            evidence = NO_EVIDENCE
            message = f"{check.port} is not what was expected: {says}."
        walks = None if culprits is None or check.arrays is None else culprits.find(check.port, *check.arrays)
        if walks is not None:
            message, sides = f"{message} {walks.text}", (walks.side, Side(check.port, says))
            of_walk = walks.evidence
            evidence = replace(
                evidence,
                further=of_walk.further,
                walks=of_walk.walks,
                lines=of_walk.lines,
                names=of_walk.names,
            )
            yield Finding(code, Severity.ERROR, message, sides, fix=walks.fix, evidence=evidence)
            continue
        if sources is not None and (ids := sources.exchanged_ids(check)) is not None:
            text, fix, side = ids
            sides = (side, Side(check.port, says))
            yield Finding(code, Severity.ERROR, f"{message} {text}", sides, fix=fix, evidence=evidence)
            continue
        if sources is not None and (written := sources.text(check.port)):
            begins = _begins(check)
            since = f" from element {begins} on" if begins else ""
            look = f"Check what makes these words{since}, and what it reads"
            message = f"{message} {f'All before element {begins} are right. ' * bool(begins)}{written}"
            back = "" if check.cause is not None else sources.read_back(check.port, check.arrays)
            fix = fix or f"{look}{': inputs or weights of before' * bool(begins)}."
            message, fix = (f"{message} {back}", f"{fix} {_COPY}") if back else (message, fix)
        yield Finding(code, Severity.ERROR, message, (Side(check.port, says),), fix=fix, evidence=evidence)


def with_words(others: Sequence[Finding], words: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a run with those about words that are others than expected, which mostly come last.

    Sums that go on come first, if nothing else is an error: words that nobody has written are then those of
    the first sum. Where such words were read, numbers that seem to be rounded are left out.
    """
    explained = any(each.severity is Severity.ERROR for each in others)
    unwritten = any(each.code == _UNWRITTEN for each in others)
    first = [each for each in words if each.code == SUMS and not explained]
    rest = (each for each in words if each not in first and not (unwritten and each.code == NUMBERS))
    return (*first, *others, *rest)


def without_followers(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a run, without words of which nobody knows who makes them if another error is why."""
    explained = any(each.severity is Severity.ERROR and each.code not in OF_WORDS for each in findings)
    return tuple(each for each in findings if not (explained and is_unplaced(each)))


def _begins(check: Check) -> int:
    """The element from which on nearly all are wrong and before which all are right; 0 = there is none."""
    if check.cause is not None or check.missing or not check.first_wrong:
        return 0
    left = check.elements - check.first_wrong
    return check.first_wrong if left >= _LEAST and check.wrong >= _NEARLY * left else 0
