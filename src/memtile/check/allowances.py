"""What each party may take of a lock in some run: all that was given to it, less what it took itself.

Where several take from one lock, who is first hangs on time. So none of them is said to wait in every run
while it could have what the others took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from memtile.check.task_list import GivenTask, StaticBd


class Allowances:
    """What channels and cores gave to locks, and took from them.

    Args:
        began: by lock what it began with.
        tasks: all of the design, by model index of the channel.
    """

    def __init__(self, began: Sequence[int], tasks: Mapping[int, Sequence[GivenTask]]) -> None:
        self._began = began
        self._takers: dict[int, set[int]] = {}
        for ch, own in tasks.items():
            for bd in (bd for task in own for bd in task.bds if bd.acquire is not None):
                assert bd.acquire is not None
                self._takers.setdefault(bd.acquire.lock, set()).add(ch)
        self._cores: dict[int, Counter[int]] = {}  # what each took, by lock
        self._given: Counter[int] = Counter()  # by cores

    def note_taken(self, core: int, lock: int, units: int) -> None:
        """A core has taken units of a lock."""
        self._cores.setdefault(core, Counter())[lock] += units

    def note_given(self, lock: int, units: int) -> None:
        """A core has released units of a lock."""
        self._given[lock] += units

    def is_contested(self, lock: int) -> bool:
        """Whether several take from a lock."""
        cores = sum(bool(taken[lock]) for taken in self._cores.values())
        return len(self._takers.get(lock, ())) + cores > 1

    def given(self, lock: int, channels: Mapping[int, Counts]) -> int:
        """All that a lock began with and that was released to it."""
        return self._began[lock] + self._given[lock] + sum(each.given[lock] for each in channels.values())

    def taken_by_core(self, core: int, lock: int) -> int:
        """What a core has taken of a lock."""
        return self._cores.get(core, Counter())[lock]


class Counts:
    """What a channel has taken of locks and given to them so far.

    Args:
        tasks: that were pushed to it, in order.
        done: BDs that it has ended.
        running: whether it has begun another one.

    Attributes:
        taken: units by lock.
        given: units by lock.
    """

    def __init__(self, tasks: Sequence[GivenTask], done: int, *, running: bool) -> None:
        self.taken: Counter[int] = Counter()
        self.given: Counter[int] = Counter()
        for bd, begun, ended in _executions(tasks, done, running=running):
            if bd.acquire is not None:
                self.taken[bd.acquire.lock] += abs(bd.acquire.value) * begun
            if bd.release is not None and bd.release.value > 0:
                self.given[bd.release.lock] += bd.release.value * ended


def _executions(
    tasks: Sequence[GivenTask], done: int, *, running: bool
) -> Iterator[tuple[StaticBd, int, int]]:
    """Each BD, and how often it has begun and ended."""
    for task in tasks:
        all_of_it = task.runs * len(task.bds)
        ended = done if task.endless else min(done, all_of_it)
        present = task.endless or ended < all_of_it
        begun = ended + (running and present)
        for at, bd in enumerate(task.bds):
            yield bd, _times(task, at, begun), _times(task, at, ended)
        if present:
            return
        done -= ended


def _times(task: GivenTask, at: int, executions: int) -> int:
    """How many of the first executions of a task are of the BD at a place of its chain."""
    if executions <= at:
        return 0
    if task.endless and at < task.again:
        return 1
    period = len(task.bds) - (task.again if task.endless else 0)
    return (executions - at + period - 1) // period
