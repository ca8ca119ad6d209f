"""What a design's host does, as steps of a runtime sequence: tasks that are configured, started and awaited.

Work that waits in the queues of interface tiles before the array runs comes first, then what host sequences
in Python do. These find room in a queue, or free BDs, while they run; a runtime sequence cannot ask for
either, so that it awaits the oldest task of the channel, or of the tile, before it starts one too many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memtile.arch.tiles import S2MM
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.chains import TaskPlan, plan_of
from memtile.design.channels import Channel
from memtile.design.host import Host, HostAction, HostPause, HostPoll, HostSequence, HostTask, HostWait
from memtile.design.packet_ports import sent
from memtile.mlir_writer.machine import ChannelWork
from memtile.mlir_writer.refusals import refused


@dataclass(eq=False, slots=True)
class QueuedTask:
    """A task of a runtime sequence.

    Attributes:
        channel: that does it.
        chain: its BDs, each with its number, the first one first.
        runs: of the chain.
        pushes: how often it is started.
        token: it reports its end.
    """

    channel: Channel
    chain: Sequence[tuple[int, Descriptor]]
    runs: int
    pushes: int = 1
    token: bool = False

    @property
    def is_ring(self) -> bool:
        """Whether it has no end."""
        return self.chain[-1][1].next is not None


@dataclass(frozen=True, slots=True)
class Configure:
    """The BDs of a task are written."""

    task: QueuedTask


@dataclass(frozen=True, slots=True)
class Start:
    """A task is pushed once."""

    task: QueuedTask


@dataclass(frozen=True, slots=True)
class Await:
    """A token of a task is awaited."""

    task: QueuedTask


@dataclass(frozen=True, slots=True)
class Free:
    """A task has ended, as a later one of its channel has: its BDs are free."""

    task: QueuedTask


HostStep = Configure | Start | Await | Free


@dataclass(slots=True)
class HostSteps:
    """The steps so far, and what is under way.

    Attributes:
        steps: in order.
        open: tasks that nothing has awaited, in the order of their starts.
    """

    steps: list[HostStep] = field(default_factory=list)
    open: list[QueuedTask] = field(default_factory=list)

    def queue(self, work: ChannelWork) -> None:
        """Add what waits in a queue already."""
        tile = work.tile
        channel = (tile.s2mm if work.direction == S2MM else tile.mm2s)[work.channel]
        if work.pad_value:
            says = f"{channel.name} pads with {work.pad_value}, and a host starts its tasks"
            raise refused(channel.name, says, "padding with zeros in tasks of a host", "Give it one task.")
        before: QueuedTask | None = None
        for number, each in enumerate(work.tasks):
            chain = work.chain(each)
            if before is not None and work.tasks[number - 1] == each:
                before.pushes += 1
                self.steps.append(Start(before))
                continue
            before = QueuedTask(channel, chain, each.runs, token=each.token)
            self._begin([before])

    def plan(self, task: HostTask) -> TaskPlan:
        """The tasks of ``host.start``."""
        channel = task.channel
        work = sent(channel, channel._transfers(task.work), channel.tile.bench.buses)
        return plan_of(work, task.start.keywords["repeat"], channel.tile.kind.queue_depth)

    def start(self, task: HostTask) -> list[QueuedTask]:
        """Add the tasks of ``host.start``; returns them."""
        channel, plan = task.channel, self.plan(task)
        self._make_room(channel, plan.pushes)
        numbers = self._numbers(channel, len(plan.descriptors))
        tasks = []
        for entry, chain in zip(plan.tasks, plan.linked(numbers), strict=True):
            mine, numbers = numbers[: len(chain)], numbers[len(chain) :]
            made = list(zip(mine, chain, strict=True))
            tasks.append(QueuedTask(channel, made, entry.runs, plan.times))
        tasks[-1].token = task.start.keywords["token"]
        self._begin(tasks)
        return tasks

    def settle(self, task: QueuedTask) -> None:
        """Await a task, unless it was; those before it on its channel have ended with it."""
        if task not in self.open:
            return
        for each in [each for each in self.open if each.channel is task.channel]:
            self.open.remove(each)
            if each is task or each.token:
                each.token = True
                self.steps += [Await(each)] * each.pushes
            else:
                self.steps.append(Free(each))
            if each is task:
                return

    def finish(self) -> None:
        """Await everything that writes external memory."""
        last: dict[Channel, QueuedTask] = {}
        for each in self.open:
            if each.channel.receives and each.channel.tile.kind.role == "interface" and not each.is_ring:
                last[each.channel] = each
        for each in last.values():
            self.settle(each)

    def _begin(self, tasks: Sequence[QueuedTask]) -> None:
        self.steps += [Configure(each) for each in tasks]
        self.steps += [Start(each) for _ in range(tasks[0].pushes) for each in tasks]
        self.open += tasks

    def has_room(self, channel: Channel, plan: TaskPlan) -> bool:
        """Whether tasks can start before anything else has ended."""
        return self._has_places(channel, plan.pushes) and len(self._free(channel)) >= len(plan.descriptors)

    def _make_room(self, channel: Channel, pushes: int) -> None:
        """Await tasks of a channel until its queue has room."""
        while not self._has_places(channel, pushes):
            self.settle(next(each for each in self.open if each.channel is channel))

    def _has_places(self, channel: Channel, pushes: int) -> bool:
        mine = [each.pushes for each in self.open if each.channel is channel]
        return not mine or sum(mine) + pushes <= channel.tile.kind.queue_depth

    def _numbers(self, channel: Channel, count: int) -> list[int]:
        """The lowest free BD numbers; the oldest tasks of the tile are awaited until there are enough."""
        tile = channel.tile
        while len(free := self._free(channel)) < count:
            ends = [each for each in self.open if each.channel.tile is tile and not each.is_ring]
            if not ends:
                says = f"{channel.name} needs {count} BDs at once, and {len(free)} are free"
                raise refused(channel.name, says, f"up to {len(free)}", "Start less at once.")
            self.settle(ends[0])
        return free[:count]

    def _free(self, channel: Channel) -> list[int]:
        tile = channel.tile
        taken = {number for each in self.open if each.channel.tile is tile for number, _ in each.chain}
        return [number for number in tile.kind.bd_bank(channel.number) if number not in taken]


def host_steps(array: Array, queued: Sequence[ChannelWork]) -> list[HostStep]:
    """The steps of a design's host.

    Args:
        array: that has not run; its external memory is as before afterwards.
        queued: work that waits in queues and that the sequence is to start.

    Raises:
        DesignError: a host sequence that decides by data or time, or that no operation says.
    """
    found = HostSteps()
    for work in queued:
        found.queue(work)
    _interleave([_recorded(array, each) for each in array.hosts], found)
    found.finish()
    return found.steps


def _interleave(hosts: Sequence[deque[HostAction]], found: HostSteps) -> None:
    """Add the steps of hosts side by side in turn; one that must wait comes when all must."""
    tasks: dict[HostTask, list[QueuedTask]] = {}
    while waiting := [each for each in hosts if each]:
        free = [each for each in waiting if _is_free(each[0], found)]
        for each in free or waiting[:1]:
            _add(each.popleft(), found, tasks)


def _is_free(action: HostAction, found: HostSteps) -> bool:
    """Whether a step waits for nothing."""
    return isinstance(action, HostTask) and found.has_room(action.channel, found.plan(action))


def _add(action: HostAction, found: HostSteps, tasks: dict[HostTask, list[QueuedTask]]) -> None:
    """Add a step of a host."""
    if isinstance(action, HostTask):
        tasks[action] = found.start(action)
    elif isinstance(action, HostWait):
        for task in action.tasks:
            found.settle(tasks[task][-1])


def _recorded(array: Array, sequence: HostSequence) -> deque[HostAction]:
    """What a host sequence in Python does, which must be the same with other data in external memory."""
    found = deque(_actions(sequence))
    with _Noise(array):
        again = [_plain(each) for each in _actions(sequence)]
    if [_plain(each) for each in found] != again:
        name = sequence.host.name
        says = f"{name} does other steps with other data in external memory"
        raise refused(name, says, "steps that do not depend on data", "Decide in the core.")
    return found


def _actions(sequence: HostSequence) -> Iterator[HostAction]:
    """The steps of a host sequence, none of which is done."""
    host = Host(getattr(sequence.program, "__name__", "host"), _no_register(sequence))
    for each in sequence.program(host):
        host.made.remove(each)
        if isinstance(each, HostPause | HostPoll):
            what = "waits for a number of cycles" if isinstance(each, HostPause) else "polls a register"
            says = f"{host.name} {what}, which no operation of a runtime sequence says"
            raise refused(host.name, says, "host.start and host.wait", "Wait for a task instead.")
        if isinstance(each, HostTask):
            each.done_at = 0
            host.tasks.append(each)
        yield each


def _no_register(sequence: HostSequence) -> Callable[[int], int]:
    def read(address: int) -> int:
        name = sequence.host.name
        says = f"{name} reads the register at {address:#x}"
        raise refused(name, says, "host.start and host.wait", "Wait for a task instead.")

    return read


def _plain(action: HostAction) -> object:
    """A step as what compares equal to another run's."""
    if isinstance(action, HostTask):
        work = [getattr(each, "descriptors", each) for each in action.work]
        return action.channel.index, work, action.start.keywords
    assert isinstance(action, HostWait)
    return [_plain(each) for each in action.tasks]


class _Noise:
    """Context in which external memory holds noise, where it may be written."""

    def __init__(self, array: Array) -> None:
        self._arrays = [each.array for each in array.engine.external.buffers.values()]
        self._kept: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def __enter__(self) -> None:
        random = np.random.default_rng(seed=2)
        for each in self._arrays:
            if each.flags.writeable:
                self._kept.append((each, each.copy()))
                each.view(np.uint8)[...] = random.integers(0, 256, each.view(np.uint8).shape, np.uint8)

    def __exit__(self, *_: object) -> None:
        for each, kept in self._kept:
            each[...] = kept
