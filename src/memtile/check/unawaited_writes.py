"""Transfers to external memory after which a host ends without waiting for anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.arch.tiles import S2MM
from memtile.check.checked_program import Subject
from memtile.check.task_list import HostStep
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.explain.stream_waits import traced_channels


def await_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each channel whose last task no wait of its host follows.

    A wait for another channel may come after the transfer too; only who waits for nothing is told.
    """
    if not subject.hosted:
        return
    traced = traced_channels(subject.engine)
    for host, steps in subject.log.steps.items():
        for ch, place in _unawaited(subject, steps).items() if host >= 0 else ():
            if ch in traced:
                continue  # traces come as long as somebody works
            name = called(subject.engine, ch)
            message = f"The host ends without waiting for {name}: what that writes may not be complete."
            side = Side(name, "writes external memory, and nobody waits for its end", place)
            fix = "Wait for the end of the transfer at the end (dma_wait, dma_await_task, host.wait)."
            yield Finding("MT0116", Severity.WARNING, message, (side,), fix=fix)


def _unawaited(subject: Subject, steps: Sequence[HostStep]) -> dict[int, str]:
    """Channels that write external memory, with a task after the last wait, and where that is said."""
    channels, found = subject.engine.channels, dict[int, str]()
    for step in steps:
        if step.waits:
            found.clear()
        task = subject.log.tasks[step.task] if step.task >= 0 else None
        if task is None or task.endless or channels.external[task.ch] < 0:
            continue
        if channels.direction[task.ch] == S2MM:
            found[task.ch] = step.place or task.place
    return found
