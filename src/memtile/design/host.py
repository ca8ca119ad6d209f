"""What a host does beside an array: it starts tasks, waits for them and goes on, in the time of the run.

A sequence is a generator function of a :class:`Host`, which yields one step after another. It starts more
work than the queues hold and uses the BDs of tasks that have ended again. What a task has done it sees as
software sees it, in the channel's status; it looks every ``sim.doors.polling.POLL_CYCLES`` cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from memtile.access.tiling import NO_PORT
from memtile.design.chains import begins_again, descriptors_tried
from memtile.design.channels import Channel, call_site, said_at
from memtile.errors import DesignError
from memtile.explain.deadlock.context import HostWaiting
from memtile.explain.deadlock.graph import Via
from memtile.sim.doors.polling import cycles_left, cycles_to_first_end
from memtile.sim.doors.relaxed_model import hosts_wait
from memtile.sim.kernels.actions import Made

if TYPE_CHECKING:
    from memtile.bd.descriptor import Descriptor
    from memtile.design.tile import Tile
    from memtile.design.transfers import Transfer
    from memtile.sim.loop.engine import Engine

_SOURCE = "host sequences of memtile"
_EVER = 1 << 62
_NO_ROOM = ("bd_count", "task_queue")  # reasons of refusals that an ended task may take away


@dataclass(eq=False, slots=True, weakref_slot=True)
class HostTask:
    """A task that a host starts; yield it, then wait for it.

    Attributes:
        channel: that does it.
        start: pushes it; the BD numbers used.
        work: transfers or descriptors, as they were given.
        bds: those numbers, once it is started.
        done_at: tasks that the channel has done when this one has ended; -1 = not started yet.
    """

    channel: Channel
    start: partial[tuple[int, ...]]
    work: Sequence[Transfer | Descriptor] = ()
    bds: tuple[int, ...] = ()
    done_at: int = -1

    @property
    def started(self) -> bool:
        """Whether it was pushed."""
        return self.done_at >= 0

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.started and self.channel.tasks_done >= self.done_at

    @property
    def place(self) -> str:
        """Where it is said: ``design.py:12``; empty if that is not known."""
        place: str = self.start.args[0]
        return place

    @property
    def text(self) -> str:
        """For messages."""
        return f"{self.channel.name} (BD {', '.join(map(str, self.bds))})"


@dataclass(eq=False, slots=True, weakref_slot=True)
class HostWait:
    """A wait for tasks."""

    tasks: tuple[HostTask, ...]


@dataclass(eq=False, slots=True, weakref_slot=True)
class HostPause:
    """So many cycles in which the host does nothing else."""

    cycles: int


@dataclass(eq=False, slots=True, weakref_slot=True)
class HostPoll:
    """Reads of a register until it has a value."""

    text: str
    met: Callable[[], bool]
    now: Callable[[], int]


def _start(
    place: str, channel: Channel, work: Sequence[Transfer | Descriptor], *, repeat: int, token: bool
) -> tuple[int, ...]:
    """Start a task that was said before, at a place of the sequence; the BD numbers used."""
    with said_at(place):
        return channel.start(*work, repeat=repeat, token=token)


HostAction = HostTask | HostWait | HostPause | HostPoll
"""An action that a sequence yields; made by the methods of ``Host``."""
HostProgram = Callable[["Host"], Iterator[HostAction]]


class Host:
    """The host as a sequence uses it.

    Args:
        name: of the sequence, for messages.
        read: reads the word at an absolute byte address.

    Attributes:
        tasks: tasks started so far, in order.
        made: the steps of the sequence so far.
    """

    def __init__(self, name: str, read: Callable[[int], int]) -> None:
        self._read = read
        self.name = f"host sequence {name!r}"
        self.tasks: list[HostTask] = []
        self.made = Made()

    def start(
        self, channel: Channel, *work: Transfer | Descriptor, repeat: int = 1, token: bool = False
    ) -> HostTask:
        """Start a task on a channel, as soon as its queue and the BDs of its tile have room.

        Args:
            channel: of any tile of the array.
            work: transfers or single descriptors, executed in order.
            repeat: runs of the chain, 1..256.
            token: ask for a task-complete token.

        Raises:
            DesignError: not a channel; errors of ``channel.start`` are raised when the step runs.
        """
        if not isinstance(channel, Channel):
            step = "Name the channel first: host.start(tile.mm2s[0], transfer)."
            raise self._error("channel", repr(channel), "a channel of a tile", step)
        start = partial(_start, call_site(), channel, work, repeat=repeat, token=token)
        task = HostTask(channel, start, work)
        return self.made.add(task, f"host.start({channel.name}, ...)")

    def wait(self, *what: HostTask | Channel) -> HostWait:
        """Wait until tasks have finished: the given ones, all so far of the given channels, or all so far.

        Raises:
            DesignError: neither a task nor a channel, a task that was not yielded, or a channel without a
                task.
        """
        for each in what:
            if not isinstance(each, HostTask | Channel):
                step = "Wait for what host.start returns, or for a channel."
                raise self._error("wait", repr(each), "tasks and channels", step)
            if isinstance(each, HostTask) and not each.started:
                step = "Yield it first: task = host.start(...); yield task."
                raise self._error("wait", f"a task of {each.channel.name} not started", "started tasks", step)
            if isinstance(each, Channel) and each not in [task.channel for task in self.tasks]:
                step = f"Start a task on {each.name} before, or wait for the channel that has one."
                given = f"{each.name}, on which this host has started nothing"
                raise self._error("wait", given, "channels with a task of this host", step)
        tasks = [t for t in self.tasks if not what or t in what or t.channel in what]
        return self.made.add(HostWait(tuple(tasks)), "host.wait(...)")

    def poll(self, address: int, mask: int, value: int) -> HostPoll:
        """Read the word at an absolute byte address until it equals ``value`` under ``mask``.

        Args:
            address: of the word.
            mask: bits to compare.
            value: their expected values.
        """
        text = f"{value:#x} in the bits {mask:#x} of the word at {address:#010x}"
        poll = HostPoll(text, lambda: self._read(address) & mask == value, lambda: self._read(address) & mask)
        return self.made.add(poll, f"host.poll({address:#x}, ...)")

    def pause(self, cycles: int) -> HostPause:
        """Do nothing for ``cycles`` cycles of the array clock, 1 or more.

        Raises:
            DesignError: a count below 1.
        """
        if cycles < 1:
            raise self._error("pause", f"{cycles} cycles", "1 or more")
        return self.made.add(HostPause(int(cycles)), f"host.pause({cycles})")

    def _error(self, what: str, given: str, allowed: str, step: str = "") -> DesignError:
        return DesignError.of(
            what, given, allowed, next_step=step, reason="host", where=self.name, source=_SOURCE
        )


class TasksInOrder:
    """A host program that starts tasks one after another, as queues have room, and waits for the end of all.

    Args:
        jobs: channel, transfer, and how often it runs, of each task.
        place: where the design says so, ``design.py:12``; empty = not known.
    """

    __name__ = "host"

    def __init__(self, jobs: Sequence[tuple[Channel, Transfer, int]], place: str) -> None:
        self.jobs, self._place = tuple(jobs), place

    def __call__(self, host: Host) -> Iterator[HostAction]:
        """Its steps; they have no line of their own, as they are not said by the design."""
        return chain(self._steps(host))

    def _steps(self, host: Host) -> Iterator[HostAction]:
        for channel, work, again in self.jobs:
            with said_at(self._place):
                task = host.start(channel, work, repeat=again)
            yield task
        yield host.wait()

    @property
    def as_plain(self) -> list[Any] | None:
        """What the program does as plain data; None where that hangs on more than the transfers say.

        A transfer that can be made in another way, which the room of a queue decides about, is such a case.
        """
        if descriptors_tried() or not all(map(_is_plain, self.jobs)):
            return None
        return [[ch.index, [repr(d) for d in work.descriptors], work.runs, n] for ch, work, n in self.jobs]


def _is_plain(job: tuple[Channel, Transfer, int]) -> bool:
    """Whether the descriptors that a task has are all that decides what its channel is given."""
    _, work, again = job
    return work.port == NO_PORT and len(work.tasks) == 1 and (again == 1 or begins_again(work))


@dataclass(slots=True)
class HostSequence:
    """A sequence at work.

    Attributes:
        host: what it sees.
        steps: what it still asks for.
        program: that makes the steps.
        present: the step that is not done yet; None = it has none, or has ended.
        last: the step that was done last; None = there was none.
        ended: whether it has.
        line: of its source that made the present step, 0 = not known.
        due: cycle in which the present pause ends, or the host is free again; -1 = there is none.
        polled: cycle in which it last saw that there is nothing to do yet; -1 = it has not begun.
        polls: whether it has polled a register.
    """

    host: Host
    steps: Iterator[HostAction]
    program: HostProgram
    present: HostAction | None = None
    last: HostAction | None = None
    ended: bool = False
    line: int = 0
    due: int = -1
    polled: int = -1
    polls: bool = False
    owing: list[HostTask] = field(default_factory=list)  # whose BDs are not free again

    @property
    def reads(self) -> bool:
        """Whether it may read words."""
        return not isinstance(self.program, TasksInOrder)

    @property
    def compresses(self) -> bool:
        """Whether it is known to start tasks of compressed streams."""
        jobs = self.program.jobs if isinstance(self.program, TasksInOrder) else ()
        return any(descriptor.compression for _, work, _ in jobs for descriptor in work.descriptors)

    def beginning(self) -> list[Any] | None:
        """What it will do, and the BDs that are free for it, as plain data.

        None if it has begun, or that is not all that decides what it does.
        """
        plain = self.program.as_plain if isinstance(self.program, TasksInOrder) else None
        if plain is None or self.ended or self.polled >= 0 or self.present is not None:
            return None
        return [plain, [[tile.index, tile.bd_pool.saved(), _posts(tile)] for tile in self._tiles()]]

    def end(self) -> list[Any]:
        """What there is to know of a sequence that has ended, as plain data, for :meth:`put_at_end`."""
        owing = [n for n, task in enumerate(self.host.tasks) if task in self.owing]
        tasks = [[task.bds, task.done_at] for task in self.host.tasks]
        return [tasks, owing, [tile.bd_pool.saved() for tile in self._tiles()], self.polled]

    def put_at_end(self, known: Sequence[Any]) -> None:
        """Have done all its steps, as :meth:`end` found it of such a sequence; the array is there already."""
        tasks, owing, pools, self.polled = known
        left = iter(tasks)
        while self._next():
            if isinstance(self.present, HostTask):
                bds, self.present.done_at = next(left)
                self.present.bds = tuple(bds)
                self.present.channel.know_started(self.present.work, self.present.bds, self.present.place)
                self.host.tasks.append(self.present)
            self.last, self.present = self.present, None
        self.owing = [self.host.tasks[n] for n in owing]
        for tile, saved in zip(self._tiles(), pools, strict=True):
            tile.bd_pool.restore(map(tuple, saved))

    def _tiles(self) -> list[Tile]:
        """The tiles on whose channels it starts tasks, in a fixed order."""
        assert isinstance(self.program, TasksInOrder)
        found = {channel.tile.index: channel.tile for channel, _, _ in self.program.jobs}
        return [found[index] for index in sorted(found)]

    def advance(self, now: Callable[[], int], timed: bool, most: int = _EVER) -> int:
        """Do the steps that can be done now; returns how many.

        Args:
            now: the present cycle.
            timed: whether pauses take any time.
            most: steps that are done.
        """
        count = 0
        while count < most and not self.ended and (self.present is not None or self._next()):
            if not self._do(now(), timed):
                return count
            self.last, self.present, self.due = self.present, None, -1
            count += 1
        return count

    def _do(self, now: int, timed: bool) -> bool:
        """Do the present step, or see that it is done."""
        match self.present:
            case HostPause(cycles):
                self.due = now + cycles if self.due < 0 else self.due
                return not timed or now >= self.due
            case HostWait(tasks):
                return not hosts_wait() or self._over(tasks)
            case HostPoll():
                self.polls = True
                return self.present.met()
            case HostTask(channel):
                self.due = channel.tile.engine.host.free_at if timed else now
                return now >= self.due and self._start(self.present)
        return True

    def _over(self, tasks: Sequence[HostTask]) -> bool:
        """Whether tasks have ended, as the host sees it."""
        if not all(task.done for task in tasks):
            return False
        for task in tasks:
            task.channel.tile.engine.checks.saw_end(task.channel.index)
        return True

    def in_vain(self, engine: Engine, *, alone: bool) -> int:
        """Cycles in which it has nothing to do for sure, up to where it is due aside.

        Args:
            engine: of the array.
            alone: no other sequence is at work, whose BDs it may wait for.
        """
        match self.present:
            case HostPause():
                return _EVER
            case HostTask(channel):
                return _EVER if self.due >= 0 else self._without_room(engine, channel, alone=alone)
            case HostWait(tasks):
                left = sorted((task for task in tasks if not task.done), key=_to_end)
                return cycles_left(engine, {task.channel.index: _to_end(task) for task in left})
        return 0

    def _without_room(self, engine: Engine, channel: Channel, *, alone: bool) -> int:
        """Cycles in which a channel has no room for a task for sure.

        Places in its queue come with the end of a task of the channel. BDs come with the end of an own task,
        and when any channel of the tile has come to rest. When all own tasks have ended without any, on
        whatever tile, the host is refused. What has ended before gives its BDs back in the next look.
        """
        if engine.checks.watch is not None or not (channel.full or alone):
            return 0
        if channel.full:
            return cycles_left(engine, {channel.index: 1})
        tile = channel.tile
        ends = {each.index: each.tasks_open for each in (*tile.s2mm, *tile.mm2s) if not each.at_rest}
        for task in self.owing:
            if not task.done:  # of the tasks of a channel, the first ends first
                many = _to_end(task)
                ends[task.channel.index] = min(ends.get(task.channel.index, many), many)
        return cycles_to_first_end(engine, ends)

    def waits_for(self) -> str:
        """One line: what the present step waits for."""
        at = f", line {self.line}" if self.line else ""
        text = f"{self.host.name}{at}"
        match self.present:
            case HostWait(tasks):
                left = [task.text for task in tasks if not task.done]
                return f"{text}: waits for the end of {', '.join(left)}"
            case HostPoll():
                return f"{text}: waits for {self.present.text}, which has {self.present.now():#x}"
            case HostTask(channel) if self.due <= channel.tile.engine.now:
                name = channel.name
                return f"{text}: waits for room to start a task on {name}: a place in its queue, or BDs"
        return f"{text}: between two of its steps"

    def waiting(self) -> HostWaiting:
        """What the present step waits for, and the channels that can end the wait."""
        text, name = self.waits_for(), self.host.name
        match self.present:
            case HostWait(tasks):
                left = dict.fromkeys(task.channel.index for task in tasks if not task.done)
                return HostWaiting(name, text, tuple(left), Via.END)
            case HostTask(channel) if self.due <= channel.tile.engine.now:
                return HostWaiting(name, text, (channel.index,), Via.ROOM)
        return HostWaiting(name, text, at_work=isinstance(self.present, HostPause | HostTask))

    def _next(self) -> bool:
        """Take the next step; False = there is none."""
        step = next(self.steps, None)
        self.host.made.remove(step)
        if self.host.made.forgotten:
            made = self.host.made.forgotten
            raise _step_error(self.host, f"{made} without yield", f"{made} was made, but not yielded", made)
        if step is None:
            self.ended = True
            return False
        if not isinstance(step, HostAction):
            raise _step_error(self.host, repr(step), f"the sequence yielded {step!r}")
        frame = self.steps.gi_frame if isinstance(self.steps, GeneratorType) else None
        self.line = frame.f_lineno or 0 if frame else 0
        self.present = step
        return True

    def _later(self) -> bool:
        """There is no room now, and no cycle is known in which there will be."""
        self.due = -1
        return False

    def _start(self, task: HostTask) -> bool:
        """Push the task if there is room for it; BDs of tasks that have ended are free again."""
        for ended in [task for task in self.owing if task.done]:
            ended.channel.give_back(ended.bds)
            ended.channel.tile.engine.checks.frees_bds(ended.channel.index)
            self.owing.remove(ended)
        if task.channel.full:
            return self._later()
        try:
            task.bds = task.start()
        except DesignError as error:
            lacks_room = all(problem.reason in _NO_ROOM for problem in error.problems)
            if lacks_room and any(not other.done for other in self.owing):
                return self._later()  # there will be some when these have ended
            raise
        task.done_at = task.channel.tasks_done + task.channel.tasks_open
        self.host.tasks.append(task)
        self.owing.append(task)
        _spend(task)
        return True


def _posts(tile: Tile) -> list[list[Any]]:
    """What of the channels of a tile decides whether the BDs of their tasks are free again."""
    return [each.bookkeeping for each in (*tile.s2mm, *tile.mm2s)]


def _to_end(task: HostTask) -> int:
    """How many of the tasks that its channel still has end up to this one."""
    return task.done_at - task.channel.tasks_done


def _spend(task: HostTask) -> None:
    """Have the host be busy for as long as it writes the BDs of a task and pushes it (docs/timing.md)."""
    tile = task.channel.tile
    engine, block = tile.engine, tile.kind.bd_words - 1
    engine.host.spend(engine.timing.access_cycles * (len(task.bds) + 1) + block * len(task.bds))


def sequence_of(program: HostProgram, read: Callable[[int], int]) -> HostSequence:
    """A host sequence that has not begun.

    Raises:
        DesignError: it is no generator function.
    """
    name = getattr(program, "__name__", type(program).__name__)
    host = Host(name, read)
    steps = program(host) if callable(program) else program
    if not isinstance(steps, Iterator):
        step = "Write one such as def sequence(host): yield host.start(tile.mm2s[0], transfer)."
        raise _step_error(
            host, repr(steps), f"the sequence is {steps!r}; it must be a generator function", step
        )
    return HostSequence(host, steps, program)


def _step_error(host: Host, given: str, says: str, step: str = "") -> DesignError:
    return DesignError.of(
        "step",
        given,
        "what host.start, wait, poll and pause return",
        says
        if "must be" in says or "not yielded" in says
        else f"{says}; it must yield what host.start, wait, poll or pause returns",
        step if step.endswith(".") else f"Write yield {step}." if step else "",
        reason="host",
        where=host.name,
        source=_SOURCE,
    )
