"""Do tasks start, chains go on and queues fill exactly when the page says?"""

from __future__ import annotations

import pytest

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor, Dim
from memtile.bd.windows import OWN
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig

DIRECTIONS = pytest.mark.parametrize("direction", ["s2mm", "mm2s"])


def rig_with(direction: str, timing: Timing | None = None) -> tuple[Rig, int]:
    """A rig and a channel with more words than any test needs, or a port that takes all."""
    rig = Rig(timing=timing)
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    if direction == "s2mm":
        rig.feed(ch, 400)
    else:
        rig.catch(ch)
    return rig, ch


def bd(length: int, word: int = 0, **more: object) -> Descriptor:
    return Descriptor("memory", length, OWN.address(word), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("start", [1, 4, 9])
@pytest.mark.parametrize(("direction", "pipeline"), [("s2mm", 1), ("mm2s", 2)])
def test_first_word_after_a_push(direction: str, pipeline: int, start: int) -> None:
    rig, ch = rig_with(direction, Timing(task_start=start))
    rig.write_bd(0, bd(4))
    rig.step(3)
    rig.issue(ch, 0)
    rig.assert_earliest(3 + start + pipeline, lambda: rig.timeline(ch).endswith("#"))
    assert rig.cycles(ch, Cause.TASK_START) == list(range(3, 3 + start))


@DIRECTIONS
@pytest.mark.parametrize("dims", [(), (Dim(3, 0),), (Dim(5, 2), Dim(64, 0))], ids=["linear", "strided", "2d"])
@pytest.mark.parametrize("length", [1, 2, 7, 16])
@pytest.mark.parametrize("how", ["chained", "looped", "repeated", "queued"])
def test_a_boundary_costs_one_cycle(direction: str, dims: tuple[Dim, ...], length: int, how: str) -> None:
    rig, ch = rig_with(direction)
    follower = {"chained": 1, "looped": 0}.get(how)
    rig.write_bd(0, bd(length, dims=dims, next=follower))
    rig.write_bd(1, bd(length, 4096, dims=dims, next=follower))
    rig.issue(ch, 0, 3 if how == "repeated" else 1)
    if how == "queued":
        rig.issue(ch, 1)
        rig.issue(ch, 0)
    rig.step(8 + 4 * (length + 1))
    moving = rig.cycles(ch, Cause.MOVING)
    period, first = length + 1, moving[0]
    expected = [first + run * period + n for run in range(3) for n in range(length)]
    assert moving[: 3 * length] == expected


@pytest.mark.feature("F11")
@DIRECTIONS
def test_four_tasks_wait_beside_the_running_one(direction: str) -> None:
    """DEV-QUEUE-1."""
    rig, ch = rig_with(direction)
    rig.write_bd(0, bd(5))
    rig.issue(ch, 0)
    rig.step(6)
    for waiting in range(1, 5):
        rig.issue(ch, 0)
        assert rig.status(ch, "Task_Queue_Size") == waiting
    assert rig.status(ch, "Task_Queue_Overflow") == 0
    rig.issue(ch, 0)
    assert rig.status(ch, "Task_Queue_Size") == 4
    assert rig.status(ch, "Task_Queue_Overflow") == 1
    rig.step(60)
    assert rig.spent(ch)[Cause.MOVING] == 5 * 5
    assert rig.status(ch, "Task_Queue_Size") == 0


@pytest.mark.feature("F11")
@DIRECTIONS
def test_the_size_of_the_queue_is_at_most_four(direction: str) -> None:
    """DEV-QUEUE-1: before the first of five tasks starts, all five are pushed, and the queue holds four."""
    rig, ch = rig_with(direction)
    rig.write_bd(0, bd(5))
    sizes = []
    for _ in range(5):
        rig.issue(ch, 0)
        sizes.append(rig.status(ch, "Task_Queue_Size"))
    assert sizes == [1, 2, 3, 4, 4]
    assert rig.status(ch, "Task_Queue_Overflow") == 0
    rig.step(1)
    assert rig.status(ch, "Status") == 1  # starting
    assert rig.status(ch, "Task_Queue_Size") == 4


def test_a_push_before_the_start_waits_in_the_queue() -> None:
    rig, ch = rig_with("s2mm")
    rig.write_bd(0, bd(5))
    for _ in range(6):
        rig.issue(ch, 0)
    assert rig.status(ch, "Task_Queue_Overflow") == 1
    rig.step(60)
    assert rig.spent(ch)[Cause.MOVING] == 5 * 5


def test_a_task_pushed_while_another_runs_costs_no_start() -> None:
    rig, ch = rig_with("s2mm")
    rig.write_bd(0, bd(4))
    rig.issue(ch, 0)
    rig.step(7)
    rig.issue(ch, 0)
    rig.step(12)
    assert rig.timeline(ch) == "tttt-####-####-...."


@DIRECTIONS
def test_length_zero_takes_its_two_cycles_and_no_word(direction: str) -> None:
    """DEV-BD-3: the lock in one cycle, done in the next."""
    rig, ch = rig_with(direction)
    rig.write_bd(0, bd(0, next=1))
    rig.write_bd(1, bd(4))
    rig.issue(ch, 0)
    rig.step(20)
    first = {"s2mm": 6, "mm2s": 7}[direction]
    assert rig.cycles(ch, Cause.MOVING) == list(range(first, first + 4))


@pytest.mark.feature("F11")
@DIRECTIONS
def test_the_running_task_may_keep_its_place_in_the_queue(direction: str) -> None:
    """DEV-QUEUE-1: as on Strix, whose Task_Queue_Size counts it then."""
    rig, ch = rig_with(direction, Timing(queue_running=1))
    rig.write_bd(0, bd(5))
    rig.issue(ch, 0)
    rig.step(6)
    for size in range(2, 5):
        rig.issue(ch, 0)
        assert rig.status(ch, "Task_Queue_Size") == size
    assert rig.status(ch, "Task_Queue_Overflow") == 0
    rig.issue(ch, 0)
    assert rig.status(ch, "Task_Queue_Overflow") == 1
    rig.step(60)
    assert rig.spent(ch)[Cause.MOVING] == 4 * 5
