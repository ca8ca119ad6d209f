"""How much of a run was skipped, and why not more, by time: what a user sees of fast-forward."""

from __future__ import annotations

from collections.abc import Mapping

RECALLED = "taken from an earlier run: its whole start was the same (--no-recall runs it)"
_LONG = 100_000  # cycles, from which on a user waits
_MOST = 0.5  # skipped, with which nobody asks why it is not more
_REASONS = 2  # that are said


def skipped_text(cycles: int, jumped: int, idle: int, stepped: Mapping[str, int]) -> str:
    """Return a line about the cycles that were skipped; empty for short runs, and where skipping was off.

    Args:
        cycles: of the model so far.
        jumped: cycles that were skipped as they repeat.
        idle: cycles that passed at once as nothing could move.
        stepped: by reason, most first, the cycles that were stepped one by one.
    """
    told = {why: count for why, count in stepped.items() if why}
    one_by_one = sum(stepped.values())
    if cycles < _LONG or not told:
        return ""
    share = (cycles - one_by_one) / cycles
    text = f"skipped {_percent(share)} of the cycles"
    if idle > max(jumped, share * cycles / 2):
        text += ", most of them as nothing could move"
    if share >= _MOST:
        return text
    reasons = [f"{_percent(count / cycles)}: {why}" for why, count in [*told.items()][:_REASONS]]
    return f"{text}; {', '.join(reasons)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
