"""The tasks of which a host does not know that they have ended, as it goes through its steps.

A wait ends tasks of its channel. What channels did that words, locks or cores connect with it may have ended
with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from memtile.arch.tiles import MEMORY
from memtile.check.task_list import GivenTask, HostStep
from memtile.runs.awaited import PushedTasks


class Numbered(Protocol):
    """A task, with what a rule notes of it."""

    @property
    def number(self) -> int:
        """Its number among the tasks of its channel, from 1 on."""


Noted = TypeVar("Noted", bound=Numbered)


@dataclass(slots=True)
class OpenTasks(Generic[Noted]):
    """The open tasks of a host.

    Args:
        groups: by model index of a channel a number that connected ones have in common.

    Attributes:
        open: by channel, in the order in which they were pushed.
        pushed: by channel all so far, open or not.
    """

    groups: Mapping[int, int]
    open: dict[int, deque[Noted]] = field(default_factory=dict)
    pushed: dict[int, PushedTasks] = field(default_factory=dict)

    def push(self, task: GivenTask) -> int:
        """Count a task that is given to its channel; return its number."""
        own = self.pushed.setdefault(task.ch, PushedTasks())
        own.push(token=task.token)
        return own.count

    def add(self, ch: int, noted: Noted) -> None:
        """Note an open task, behind those of its channel."""
        self.open.setdefault(ch, deque()).append(noted)

    def wait(self, step: HostStep, stays: Callable[[Noted], bool] = lambda _: False) -> None:
        """Take out what may have ended by a wait of the host.

        A wait for room ends nothing while the queue has room for all tasks of its channel.

        Args:
            step: the wait.
            stays: whether a task of a connected channel is open after it; those behind it are then too.
        """
        if step.ch < 0:
            self.open.clear()
            return
        ended, known = self.ended(step), self.groups.get(step.ch)
        if step.room and not ended:
            return
        for ch, own in self.open.items():
            while own and ch != step.ch and self.groups.get(ch) == known and not stays(own[0]):
                own.popleft()
        self.end(step.ch, ended)

    def ended(self, step: HostStep) -> int:
        """Return how many tasks of the channel that a wait names have ended after it.

        A wait for room leaves as many open as the queue takes.
        """
        own = self.pushed.get(step.ch, PushedTasks())
        if step.room:
            return max(own.count - MEMORY.queue_depth, 0)
        return own.ended(step.many, by_token=step.token)

    def end(self, ch: int, many: int) -> None:
        """Take out the first tasks of a channel, up to a number."""
        own = self.open.get(ch)
        while own and own[0].number <= many:
            own.popleft()
