"""Which tasks a host knows to have ended, by its waits alone: each token belongs to one task of its channel.

Decided by the steps of the host and not by a run, so a check before a run and the run itself agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memtile.model.dma.channel_registers import QUEUE_TOKEN_LSB
from memtile.runs.firmware import LOAD
from memtile.runs.operation_table import Code, OperationTable, queues
from memtile.runs.operations import ArrayShape, MaskPoll, Operation, Other, words_written
from memtile.runs.waits import WAIT, pushed_channel, waited_channels
from memtile.sim.loop.engine import Engine


@dataclass(slots=True)
class PushedTasks:
    """The tasks that were pushed to a channel.

    Attributes:
        count: of them.
        senders: of those that report their end by a token the numbers, from 1 on.
    """

    count: int = 0
    senders: list[int] = field(default_factory=list)

    def push(self, *, token: bool) -> None:
        """A task is pushed, which reports its end by a token or does not."""
        self.count += 1
        if token:
            self.senders.append(self.count)

    def ended(self, many: int, *, by_token: bool = True) -> int:
        """Return how many of the tasks a wait proves to have ended.

        Args:
            many: how many tokens or tasks of the channel the host has waited for, this wait included.
            by_token: it waits for tokens, else for tasks. Tokens that no task sends are reported elsewhere:
                such a wait counts as one for all.
        """
        if not by_token:
            return min(many, self.count)
        return self.senders[many - 1] if many <= len(self.senders) else self.count


class LastTask(NamedTuple):
    """The last task of a channel.

    Attributes:
        place: where it is pushed; empty if nobody knows.
        others_awaited: the host waits for another channel after that.
    """

    place: str
    others_awaited: bool


@dataclass(slots=True)
class AwaitedTasks:
    """Follows the pushes and waits of a host.

    Attributes:
        pushed: by model index of a channel its tasks.
        places: by model index of a channel where each task is pushed.
        ended: by model index of a channel how many tasks have ended, as far as the host knows.
        rushed: channels with a push after which the host has not waited for anything.
    """

    pushed: dict[int, PushedTasks] = field(default_factory=dict)
    places: dict[int, list[str]] = field(default_factory=dict)
    ended: Counter[int] = field(default_factory=Counter)
    rushed: set[int] = field(default_factory=set)

    def push(self, ch: int, place: str, *, token: bool) -> None:
        """A task is pushed."""
        self.pushed.setdefault(ch, PushedTasks()).push(token=token)
        self.places.setdefault(ch, []).append(place)
        self.rushed.add(ch)

    def wait(self, ch: int, many: int, *, by_token: bool = True) -> None:
        """The host has waited; see ``PushedTasks.ended``."""
        self.rushed.clear()
        ended = self.pushed[ch].ended(many, by_token=by_token) if ch in self.pushed else 0
        self.ended[ch] = max(self.ended[ch], ended)

    def wait_for_all(self) -> None:
        """The host has waited for something that may follow from all that it started."""
        self.rushed.clear()
        self.ended.update({ch: own.count - self.ended[ch] for ch, own in self.pushed.items()})

    def open(self) -> dict[int, LastTask]:
        """Return the last task of each channel of which the host does not know that it has ended."""
        return {
            ch: LastTask(own[-1], ch not in self.rushed)
            for ch, own in self.places.items()
            if self.ended[ch] < len(own)
        }


def awaited_tasks(operations: OperationTable, engine: Engine, shape: ArrayShape) -> AwaitedTasks:
    """Return what a program pushes and waits for.

    Args:
        operations: of the program.
        engine: the model.
        shape: of the array.
    """
    found, waits = AwaitedTasks(), Counter[int]()
    code, starts = operations.columns.code, operations.writing(shape, queues)
    steps = np.flatnonzero(starts | (code == Code.MASK_POLL) | (code == Code.OTHER))
    for operation in map(operations.__getitem__, steps.tolist()):
        if isinstance(operation, Other) and operation.name == WAIT:
            for ch in waited_channels(engine, operation):
                waits[ch] += 1
                found.wait(ch, waits[ch])
        elif isinstance(operation, MaskPoll) or (isinstance(operation, Other) and operation.name == LOAD):
            found.wait_for_all()
        for ch, word in _pushes(engine, operation):
            found.push(ch, operation.place, token=bool(word >> QUEUE_TOKEN_LSB & 1))
    return found


def _pushes(engine: Engine, operation: Operation) -> Iterator[tuple[int, int]]:
    """Channels and the words that an operation writes to their queues."""
    for address, value, _ in words_written(operation):
        yield from ((ch, value) for ch in pushed_channel(engine, address))
