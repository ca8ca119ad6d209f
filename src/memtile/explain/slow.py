"""Why a run takes longer than its words need: causes that cost a channel a tenth of the run, with a repair.

Notes, no errors: the words are right. They are asked for (``memtile run --bottleneck``), because what is slow
may be meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.results import ChannelUse, Result
from memtile.model.state.causes import Cause

_TENTH = 0.1
_MOST = 0.5
_TURNS = 0.9  # of the cycles in which either of two moves, if they take turns
_MANY = 8  # tasks
_LEAST = 64  # cycles: of shorter runs everything is start and end

_COSTS: Mapping[Cause, tuple[str, str]] = {
    Cause.BANK_CONFLICT: (
        "MT0501",
        "Put the buffers into different banks (bank=, or a memory tile that interleaves).",
    ),
    Cause.BD_SWITCH: ("MT0502", "Move more words with each BD: one more dimension, or the iteration."),
    Cause.EXTERNAL: ("MT0506", "Ask for longer rows, so that bursts are full, or for more at a time."),
}


def slow_findings(result: Result) -> tuple[Finding, ...]:
    """Notes on what makes a run slow; none without time, or for a run of a few cycles.

    Args:
        result: of the run.
    """
    if not result.timed or result.cycles < _LEAST:
        return ()
    found = [*_costs(result), *_tasks(result), *_turns(result), *_host(result)]
    return tuple(found)


def _costs(result: Result) -> Iterator[Finding]:
    """One finding for each cause, of the channel that it costs most."""
    for cause, (code, fix) in _COSTS.items():
        uses = [use for use in result.channels if use.spent.get(cause, 0) >= _TENTH * result.cycles]
        if not uses:
            continue
        worst = max(uses, key=lambda use: use.spent[cause])
        more = f", and {len(uses) - 1} more channels" if len(uses) > 1 else ""
        lost = worst.spent[cause]
        text = f"loses {lost} of {result.cycles} cycles: {cause.text}"
        message = f"{_name(worst)} {text}{_each(worst, cause)}{more}."
        sides = tuple(Side(_name(use), f"loses {use.spent[cause]} cycles") for use in uses)
        yield Finding(code, Severity.NOTE, message, sides, cycles=(0, result.cycles), fix=fix)


def _each(use: ChannelUse, cause: Cause) -> str:
    """How short what is started is."""
    if cause is Cause.BD_SWITCH and use.bds:
        return f", {use.words // use.bds} words a BD"
    return ""


def _tasks(result: Result) -> Iterator[Finding]:
    """The channel that moves longest is without a task half of the time, between many short ones."""
    use = max(result.channels, key=lambda use: use.spent.get(Cause.MOVING, 0), default=None)
    if use is None or use.tasks < _MANY:
        return
    lost = use.spent.get(Cause.IDLE, 0) + use.spent.get(Cause.TASK_START, 0)
    if lost >= _MOST * result.cycles:
        text = f"has no task, or starts one, in {lost} of {result.cycles} cycles"
        message = f"{_name(use)} {text}: {use.tasks} tasks of {use.words // use.tasks} words."
        fix = "Start fewer tasks: repeat them, chain their BDs, or keep the queue filled."
        side = Side(_name(use), text)
        yield Finding("MT0503", Severity.NOTE, message, (side,), cycles=(0, result.cycles), fix=fix)


def _turns(result: Result) -> Iterator[Finding]:
    """A writer and a reader of one buffer that wait for each other all the time."""
    buffers: dict[str, list[ChannelUse]] = {}
    for use in result.channels:
        if use.label and "," not in use.label:
            buffers.setdefault(f"{use.name.rpartition(' ')[0].rpartition(' ')[0]} {use.label}", []).append(
                use
            )
    for uses in buffers.values():
        if _take_turns(uses, result.cycles):
            one, two = uses
            waits = [use.spent.get(Cause.LOCK_ACQUIRE, 0) for use in uses]
            message = (
                f"{_name(one)} and {_name(two)} take turns at one buffer: they wait {waits[0]} and "
                f"{waits[1]} of {result.cycles} cycles for its lock."
            )
            sides = tuple(
                Side(_name(use), f"waits {wait} cycles for a lock")
                for use, wait in zip(uses, waits, strict=True)
            )
            fix = "Give it a second buffer, and the lock of the free ones a value of 2."
            yield Finding("MT0504", Severity.NOTE, message, sides, cycles=(0, result.cycles), fix=fix)


def _take_turns(uses: Sequence[ChannelUse], cycles: int) -> bool:
    if len(uses) != 2 or {use.direction for use in uses} != {"S2MM", "MM2S"}:
        return False
    waits = [use.spent.get(Cause.LOCK_ACQUIRE, 0) + use.spent.get(Cause.MOVING, 0) for use in uses]
    several = all(use.bds > 1 for use in uses)
    each = all(use.spent.get(Cause.LOCK_ACQUIRE, 0) >= 2 * _TENTH * cycles for use in uses)
    return several and each and all(wait >= _TURNS * 0.9 * cycles for wait in waits)


def _host(result: Result) -> Iterator[Finding]:
    if result.host_cycles >= _MOST * result.cycles:
        message = f"The host's accesses take {result.host_cycles} of {result.cycles} cycles."
        side = Side("the host", f"is busy for {result.host_cycles} cycles")
        fix = "Write fewer registers in the run: longer tasks, repeats, descriptors that stay."
        yield Finding("MT0505", Severity.NOTE, message, (side,), cycles=(0, result.cycles), fix=fix)


def _name(use: ChannelUse) -> str:
    return f"{use.name} {use.label!r}" if use.label else use.name
