"""The tasks of which a host does not know that they have ended, as it goes through its steps.

A wait ends tasks of its channel. What channels did that words, locks or cores connect with it may have ended
with them.
"""

from __future__ import annotations

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
    open: dict[int, list[Noted]] = field(default_factory=dict)
    pushed: dict[int, PushedTasks] = field(default_factory=dict)

    def push(self, task: GivenTask) -> int:
        """Count a task that is given to its channel; return its number."""
        own = self.pushed.setdefault(task.ch, PushedTasks())
        own.push(token=task.token)
        return own.count

    def wait(self, step: HostStep, stays: Callable[[Noted], bool] = lambda _: False) -> None:
        """Take out what may have ended by a wait of the host.

        Args:
            step: the wait.
            stays: whether a task of a connected channel is open after it.
        """
        if step.ch < 0:
            self.open.clear()
            return
        known = self.groups.get(step.ch)
        for ch in [ch for ch in self.open if ch != step.ch and self.groups.get(ch) == known]:
            self.open[ch] = [each for each in self.open[ch] if stays(each)]
        self.end(step.ch, self.ended(step))

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
        self.open[ch] = [each for each in self.open.get(ch, ()) if each.number > many]
