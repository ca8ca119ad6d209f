"""Findings about outputs that are others than expected: the kind of mistake, else how much and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memtile.explain.checks import Check
from memtile.explain.findings import OTHER_WORDS, Finding, Severity, Side
from memtile.explain.walk_culprits import WalkCulprits

_LEAST = 8  # elements
_NEARLY = 0.75  # of the elements


def wrong_words(
    checks: Sequence[Check],
    sources: Callable[[str], str] | None = None,
    culprits: WalkCulprits | None = None,
) -> Iterator[Finding]:
    """One finding for each output of a finished run that is not what was expected.

    Args:
        checks: of the run.
        sources: a sentence about who writes an output, by its name; empty = nobody knows.
        culprits: the channels of the run.
    """
    for check in checks:
        if check.exact:
            continue
        if check.cause is not None:
            code, says, fix = check.cause
            message = f"{check.port} {says}."
        else:
            code, says, fix = OTHER_WORDS, check.text.removeprefix(f"{check.port}: "), ""
            message = f"{check.port} is not what was expected: {says}."
        walks = None if culprits is None or check.arrays is None else culprits.find(check.port, *check.arrays)
        if walks is not None:
            message, sides = f"{message} {walks.text}", (walks.side, Side(check.port, says))
            yield Finding(code, Severity.ERROR, message, sides, fix=walks.fix)
            continue
        if sources is not None and (written := sources(check.port)):
            begins = _begins(check)
            since = f" from element {begins} on" if begins else ""
            look = f"Look at what makes these words{since}, and at what it reads"
            message = f"{message} {f'All before element {begins} are right. ' * bool(begins)}{written}"
            fix = fix or f"{look}{': inputs or weights of before' * bool(begins)}."
        yield Finding(code, Severity.ERROR, message, (Side(check.port, says),), fix=fix)


def _begins(check: Check) -> int:
    """The element from which on nearly all are wrong and before which all are right; 0 = there is none."""
    if check.cause is not None or check.missing or not check.first_wrong:
        return 0
    left = check.elements - check.first_wrong
    return check.first_wrong if left >= _LEAST and check.wrong >= _NEARLY * left else 0
