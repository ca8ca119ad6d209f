"""Tasks that may find the queue of their channel full, although they need not: firmware's pace decides.

Counting pushes against waits would blame designs whose wait for an output proves that their inputs are done.
So a design that has more pushes on their way than a queue takes is played by a host in the greatest hurry: it
pushes without a pause and leaves each wait as soon as it is met. Where its queue is full then, a push may be
lost; where it is not, no pace of firmware fills it in this order of events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memtile.arch.tiles import MEMORY
from memtile.check.checked_program import Subject
from memtile.check.hangs import left_out
from memtile.check.play import Play
from memtile.check.streams import OpenStreams
from memtile.check.task_list import HostStep, TaskLog
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called
from memtile.model.dma.task_queue import NO_BD, room
from memtile.sim.loop.clock import Stop

_PIECE = 64  # cycles between two looks of the host at what it waits for


@dataclass(frozen=True, slots=True)
class _Full:
    """A push that found its queue full.

    Attributes:
        step: of the host.
        number: of the push among those of its channel, from 1 on.
        open: tasks that the channel had then.
    """

    step: HostStep
    number: int
    open: int


class _Hasty(Play):
    """A design with a host that pushes at once and waits no longer than it has to.

    Attributes:
        full: by channel the first push that came too early.
        late: how many pushes of a channel did.
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject, OpenStreams(subject), watched=False)
        self.full: dict[int, _Full] = {}
        self.late: Counter[int] = Counter()

    def go(self) -> None:
        """Play until no host can go on."""
        goes_on = True
        while goes_on:
            goes_on = False
            for host in self._log.steps:
                while (step := self._step(host)) is not None and self._hurry(step):
                    self._at[host] = self._at.get(host, 0) + 1
                    goes_on = True

    def _hurry(self, step: HostStep) -> bool:
        """Do a step as soon as it can be done; False = it never can."""
        if step.pushes and not step.waits_for_room:
            self._look_at_queue(step)
        elif step.waits and step.ch < 0:
            self._run()  # a poll of something else: whatever it waits for is there
        elif not step.locks:
            return self._until(lambda: self._do(step))
        return self._do(step)

    def _look_at_queue(self, step: HostStep) -> None:
        c, ch = self.engine.channels, self._log.tasks[step.task].ch
        if room(self.engine.state, ch):
            return
        self.late[ch] += 1
        open_tasks = int(c.queue_count[ch]) + int(c.task_bd[ch] != NO_BD)
        self.full.setdefault(ch, _Full(step, len(self._pushed[ch]) + 1, open_tasks))
        self._until(lambda: room(self.engine.state, ch) > 0)

    def _until(self, met: Callable[[], bool]) -> bool:
        """Let the array run until ``met``, and no longer; False = it never is."""
        while not met():
            if self._left <= 0:
                return False
            before = self.engine.now
            stop = self.engine.advance(before + min(_PIECE, self._left))
            self._left -= self.engine.now - before + 1
            if stop is Stop.QUIET and not self._help():
                return met()
        return True


def overflow_findings(subject: Subject) -> Iterator[Finding]:
    """One finding for each channel to whose full queue a task may be pushed.

    Args:
        subject: a design that :func:`may_overflow`; its engine is used up.
    """
    play = _Hasty(subject)
    play.go()
    for ch, full in sorted(play.full.items()):
        yield _finding(called(play.engine, ch), full, play.late[ch])


def may_overflow(subject: Subject) -> bool:
    """Whether a channel may have more tasks on their way than a queue takes, by its own waits alone."""
    log = subject.log
    if left_out(subject):
        return False
    return any(_most_open(log, steps) > MEMORY.queue_depth for steps in log.steps.values())


def _most_open(log: TaskLog, steps: Sequence[HostStep]) -> int:
    """Most tasks of a channel that none of its own waits proves to have ended.

    A token ends the oldest task that asks for one, and those before it (mlir-aie's ``DmaQueueModel``).
    """
    most, on_their_way = 0, dict[int, list[bool]]()
    for step in steps:
        if step.pushes and not step.waits_for_room:
            task = log.tasks[step.task]
            queue = on_their_way.setdefault(task.ch, [])
            queue.append(task.token)
            most = max(most, len(queue))
        elif step.token and True in on_their_way.get(step.ch, ()):
            queue = on_their_way[step.ch]
            del queue[: queue.index(True) + 1]
    return most


def _finding(channel: str, full: _Full, late: int) -> Finding:
    lost = "it is lost then" if late == 1 else f"it is lost then, as {late - 1} more may be"
    message = (
        f"Push {full.number} to {channel} may find its task queue full, with {full.open} tasks open: "
        f"{lost}, and whatever waits for its words hangs. How fast firmware pushes decides."
    )
    fix = (
        f"Wait for a task of this channel before push {full.number} (dma_await_task, dma_wait), or build "
        "with mlir-aie 1.4.4 or later, which polls the queue there."
    )
    side = Side(channel, f"gets push {full.number} with {full.open} tasks open", full.step.place)
    return Finding("MT0117", Severity.WARNING, message, (side,), fix=fix, count=late)
