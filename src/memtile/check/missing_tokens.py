"""Waits of a host for tokens that no task sends: each task that asks for one sends one, when it ends."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.check.checked_program import Subject
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called


def token_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each wait that comes before enough tasks of its channel were started with a token."""
    for wait in subject.log.waits:
        if wait.wanted <= wait.sent:
            continue
        who = called(subject.engine, wait.ch)
        does = f"waits for token {wait.wanted} of {who}"
        tasks = [task for task in subject.log.of(wait.ch) if not task.token]
        silent = f"; {len(tasks)} of its tasks ask for none" if tasks else ""
        message = f"The host {does}, of which {wait.sent} are started before that{silent}."
        fix = "Have the task ask for a token, start it before the wait, or wait for another channel."
        yield Finding("MT0112", Severity.ERROR, message, (Side("the host", does, wait.place),), fix=fix)
