"""What hosts and test benches offer, expect and wait for, held against the tasks of the channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from memtile.arch.tiles import S2MM, WORD_BYTES
from memtile.check.checked_program import Subject
from memtile.check.streams import words_of
from memtile.check.task_list import GivenTask, HostStep, TokenWait
from memtile.design.channels import Channel
from memtile.explain.bd_findings import line_of
from memtile.explain.deadlock.tokens import gets_out, silent_tasks, stuck_token
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.loose_ends import LooseEnds
from memtile.explain.names import called
from memtile.explain.stream_waits import traced_channels
from memtile.runs.awaited import AwaitedTasks, LastTask


def await_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each channel into external memory whose last task its host does not wait for.

    A wait for another channel proves nothing, as that may end before this transfer; it may be meant, though,
    so only a host that waits for nothing afterwards is an error.
    """
    if not subject.hosted or any(_is_in_vain(wait) for wait in subject.log.waits):
        return  # of a host that does not end nothing is known there
    traced, ends = traced_channels(subject.engine), LooseEnds(subject.engine)
    for host, steps in subject.log.steps.items():
        for ch, last in _unawaited(subject, steps).items() if host >= 0 else ():
            if ch in traced or ends.is_loose(ch):
                continue  # traces have no end, and without a stream nothing is ever written
            name, place = called(subject.engine, ch), last.place
            task = f"the task of {line_of(place)} on {name}" if place else name
            message = f"The host ends without waiting for {task}: its output may be incomplete."
            side = Side(name, "writes external memory, and the host does not wait for its end", place)
            fix = f"Wait for {task} at the end (dma_wait, dma_await_task, npu.sync, host.wait)."
            sure = subject.made and not last.others_awaited  # a bench may run on
            severity = Severity.ERROR if sure else Severity.WARNING
            yield Finding("MT0116", severity, message, (side,), fix=fix)


def _unawaited(subject: Subject, steps: Sequence[HostStep]) -> dict[int, LastTask]:
    """Channels that write external memory, with a task that is not waited for."""
    channels, awaited = subject.engine.channels, AwaitedTasks()
    for step in steps:
        if step.pushes:
            task = subject.log.tasks[step.task]
            if not task.endless and channels.external[task.ch] >= 0 and channels.direction[task.ch] == S2MM:
                awaited.push(task.ch, step.place or task.place, token=task.token)
        elif step.waits and step.ch < 0:
            awaited.wait_for_all()
        elif step.waits and not step.room:
            awaited.wait(step.ch, step.many, by_token=step.token)
    return awaited.open()


def _is_in_vain(wait: TokenWait) -> bool:
    """Whether more tokens are waited for than are sent."""
    return wait.wanted > wait.sent


def token_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each wait that comes before enough tasks of its channel were started with a token."""
    if any(each.code == "MT0112" for each in subject.findings):
        return  # the wait is known that takes a token of the wrong channel
    named: list[GivenTask] = []
    for wait in subject.log.waits:
        if not _is_in_vain(wait):
            continue
        who = called(subject.engine, wait.ch)
        does = f"waits for token {wait.wanted} of {who}"
        tasks = [task for task in _before(subject, wait, wait.ch) if not task.token]
        other = _unawaited_result(subject, wait, named)
        if other is not None:
            named.append(other)
            yield _waits_beside(subject, wait, other, tasks)
            continue
        fix = "Start a task with a token before the wait, or wait for another channel."
        silent, sides = "", [Side("the host", does, wait.place)]
        if tasks:
            says, fix = silent_tasks([task.place for task in tasks])
            silent, sides = f"; {says}", [Side(who, says, tasks[-1].place), *sides]
        message = f"The host {does}, of which {wait.sent} are started before that{silent}."
        yield Finding("MT0112", Severity.ERROR, message, sides, fix=fix)


def _before(subject: Subject, wait: TokenWait, ch: int) -> Iterator[GivenTask]:
    """The tasks of a channel that are pushed before a wait."""
    return (task for task in subject.log.tasks[: wait.given] if task.ch == ch)


def _unawaited_result(subject: Subject, wait: TokenWait, named: Sequence[GivenTask]) -> GivenTask | None:
    """The task that a host may mean that waits for an MM2S channel in vain.

    It is of the S2MM channel with that number, and is pushed before the wait. One of the tokens
    of that channel is never awaited, and that of this task is the first that was not taken yet.

    Args:
        subject: the design.
        wait: that is in vain.
        named: results that other waits mean.
    """
    c, ch = subject.engine.channels, wait.ch
    other = (
        (c.tile == c.tile[ch])
        & (c.direction == S2MM)
        & (c.number == c.number[ch])
        & (c.direction[ch] != S2MM)
    )
    numbers = {each: n for n, each in enumerate(subject.log.waits)}
    for receiver in np.flatnonzero(other).tolist():
        waits = [each for each in subject.log.waits if each.ch == receiver]
        earlier = [each for each in waits if numbers[each] < numbers[wait]]
        tokens = [task for task in subject.log.of(receiver) if task.token]
        others = sum(task.ch == receiver for task in named)
        taken = len(earlier) + others
        sent = [task for task in _before(subject, wait, receiver) if task.token]
        if len(tokens) > len(waits) + others and len(sent) > taken:
            return sent[taken]
    return None


def _waits_beside(subject: Subject, wait: TokenWait, task: GivenTask, silent: Sequence[GivenTask]) -> Finding:
    """The finding about a wait for the channel of the other direction; ``silent``: own tasks before it."""
    who, other = called(subject.engine, wait.ch), called(subject.engine, task.ch)
    does = f"waits for token {wait.wanted} of {who}"
    says = "asks for a token, and nothing waits for it"
    message = f"The host {does}, of which {wait.sent} are started before that; the task on {other} {says}."
    sides = (Side("the host", does, wait.place), Side(other, says, task.place))
    fix = f"Let it wait for {other} there."
    if silent:
        _, token = silent_tasks([each.place for each in silent])
        fix += f" If it is to wait for {who}: {token[0].lower()}{token[1:]}"
    return Finding("MT0112", Severity.ERROR, message, sides, fix=fix)


def way_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each channel whose tokens a host waits for, and that have no way to it."""
    if len(subject.made) != 1 or subject.log.loads:
        return  # the switches are set anew: which ways there were at the wait is not known
    decided = set(subject.log.renamed)
    for wait in subject.log.waits:
        if wait.ch in decided or _is_in_vain(wait):
            continue
        decided.add(wait.ch)
        if gets_out(subject.engine, wait.ch):
            continue
        who = called(subject.engine, wait.ch)
        does, fix = stuck_token(subject.engine, wait.ch)
        message = f"The host waits for a token of {who}, which {does}."
        side = Side("the host", f"waits for a token of {who}", wait.place)
        yield Finding("MT0112", Severity.ERROR, message, (side,), fix=fix)


_LENGTH = "Make both as long as each other."


def bench_findings(subject: Subject) -> Iterator[Finding]:
    """Channels that get or are expected to give more or fewer words than their tasks move."""
    for tile in subject.tiles:
        for channel in (*tile.s2mm, *tile.mm2s):
            if subject.log.of(channel.index):
                yield from (
                    _loose(subject, channel) if _is_loose(subject, channel) else _differs(subject, channel)
                )


def _is_loose(subject: Subject, channel: Channel) -> bool:
    return not subject.array and channel.index not in subject.fed


def _loose(subject: Subject, channel: Channel) -> Iterator[Finding]:
    """A channel of a tile alone that the bench neither feeds nor takes from."""
    does, fix = "has a task, and nothing takes its words", "Collect them, or expect an array."
    if channel.receives:
        does, fix = "has a task, and nothing feeds it", "Feed it an array."
    who, task = called(subject.engine, channel.index), subject.log.of(channel.index)[0]
    severity = Severity.WARNING if task.endless else Severity.ERROR
    yield Finding("MT0109", severity, f"{who} {does}.", (Side(who, does, task.place),), fix=fix)


def _differs(subject: Subject, channel: Channel) -> Iterator[Finding]:
    moved, there = words_of(subject, channel.index), _offered(subject, channel)
    if moved is None or there is None or moved == there:
        return
    who, place = called(subject.engine, channel.index), subject.log.of(channel.index)[0].place
    verbs = ("is fed", "takes") if channel.receives else ("is expected to send", "sends")
    does, done = f"{verbs[0]} {there} words", f"{verbs[1]} {moved}"
    message = f"{who} {does}, and its tasks have it that it {done}."
    yield Finding("MT0108", Severity.ERROR, message, (Side(who, f"{does} and {done}", place),), fix=_LENGTH)


def _offered(subject: Subject, channel: Channel) -> int | None:
    """Words that the bench has for the channel, or expects of it; None if it has no opinion."""
    if channel.receives:
        return subject.engine.pending(channel.index) if channel.fed else None
    return None if channel.expected is None else channel.expected.nbytes // WORD_BYTES
