"""Runs that end only if enough words fit in front of a receiver: the smallest depth with which they do.

How many words an S2MM channel takes that waits for its lock or has no task was measured of few boards, and
two structures explain what was (DEV-INGRESS-2). A packet that stands there holds its arbiter, so a design may
end with one depth and hang with another.
"""

from __future__ import annotations

from collections.abc import Callable

from memtile.arch.timing import Timing, chosen_timing
from memtile.explain.findings import Finding, Severity
from memtile.explain.results import Result, Status

_WORDS = {"ingress_words": 1, "ingress_beats": 2}  # of one unit of each depth
_FIX = (
    "Let no packet stand before a channel that waits: give the channel a task and a free buffer for all of "
    "it, or the packet an arbiter of its own."
)


def depth_findings(result: Result, again: Callable[[], Result]) -> tuple[Finding, ...]:
    """A warning for each depth without which the run, which finished, hangs.

    Args:
        result: of the run itself.
        again: does it anew.
    """
    if not result.timed or result.status is not Status.FINISHED:
        return ()
    found = (_needed(result, again, name) for name in _WORDS)
    return tuple(finding for finding in found if finding is not None)


def _needed(result: Result, again: Callable[[], Result], name: str) -> Finding | None:
    """The warning about one depth; None if a run ends with the least one, too."""

    def run(depth: int) -> Result:
        with chosen_timing({**result.timing, name: depth}):
            return again()

    hangs, ends = 1, int(result.timing.get(name, getattr(Timing(), name)))
    stuck = run(hangs) if ends > hangs else result
    if stuck.status is not Status.STUCK:
        return None
    while ends - hangs > 1:
        middle = (hangs + ends) // 2
        other = run(middle)
        if other.status is Status.STUCK:
            hangs, stuck = middle, other
        else:
            ends = middle
    words, fewer = (_WORDS[name] * depth for depth in (ends, hangs))
    why = stuck.findings[0] if stuck.findings else None
    between = f"between the last stream switch and a channel behind it ({name} = {ends})"
    message = f"The run finishes only if at least {words} words fit {between}; with {fewer} it is stuck"
    message = f"{message}: {why.message}" if why else f"{message}."
    sides = why.sides if why else ()
    return Finding("MT0320", Severity.WARNING, message, sides, cycles=(0, result.cycles), fix=_FIX)
