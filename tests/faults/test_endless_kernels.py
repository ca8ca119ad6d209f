"""Does a kernel in a loop without end finish with the design, and is it stuck where no work can come?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memtile import Array, Result, Status
from memtile.kernels import Action, Core, Kernel, calls
from memtile.sim.kernels.running_cores import is_endless

OBJECTS, WORDS = 4, 16
DATA = np.arange(OBJECTS * WORDS, dtype=np.int32)


def passed_on(wrong: str = "", receive: bool = True, endless: bool | None = None) -> Result:
    """A kernel without end between two object FIFOs; a wrong lock where ``wrong`` says so."""
    array = Array("npu1", columns=1)
    io, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", io, tile, shape=WORDS).consumers[0]
    go = array.object_fifo("go", tile, io, shape=WORDS).producer
    other = tile.lock(9)

    def work(core: Core) -> Iterator[Action]:
        number = 0
        while True:
            yield core.acquire(other if wrong == "acquire" else come.full)
            yield core.acquire(go.free)
            core.write(go.buffer(number), core.read(come.buffer(number)) + 1)
            yield core.release(come.free)
            yield core.release({"": go.full, "acquire": go.full, "unused": other, "input": come.full}[wrong])
            number += 1

    tile.run_kernel(work, endless=endless)
    io.mm2s[0].start(io.read(array.external("from", DATA.copy())))
    back = np.zeros_like(DATA)
    if receive:
        io.s2mm[0].start(io.write(array.external("to", back)))
        array.expect_array("to", back, DATA + 1)
    return array.run(20_000)


def test_a_loop_without_end_waits_for_more_work_and_has_finished() -> None:
    result = passed_on()
    assert (result.status, result.exact, result.good, result.waiting) == (Status.FINISHED, True, True, ())
    line = "core (0, 2), kernel 'work': waits for lock 1 'come.full' (needs 1, has 0)"
    assert result.resting == (line,)
    assert f"idle: {line}" in str(result)
    assert result.as_json()["resting"] == [line]


def test_it_is_unfinished_where_the_design_says_that_it_ends() -> None:
    result = passed_on(endless=False)
    assert (result.status, result.resting) == (Status.STUCK, ())
    assert "kernel 'work'" in result.waiting[-1]


@pytest.mark.parametrize("receive", [True, False])
@pytest.mark.parametrize("wrong", ["acquire", "unused", "input"])
def test_a_wrong_lock_is_stuck_whether_or_not_somebody_waits_for_the_words(wrong: str, receive: bool) -> None:
    result = passed_on(wrong, receive)
    assert result.status is Status.STUCK
    assert any("kernel 'work'" in line for line in result.waiting)


def of_two(first: Kernel, second: Kernel, *, at: tuple[int, int] = (2, 3)) -> Result:
    array = Array("npu1", columns=1)
    for row, kernel in zip(at, (first, second), strict=True):
        array.compute_tile(0, row).run_kernel(kernel)
    return array.run(10_000)


def test_those_who_wait_for_each_other_are_stuck() -> None:
    """Each has released what the other one waits for before; then both have taken once more."""

    def taker(core: Core) -> Iterator[Action]:
        while True:
            yield core.release(1)
            yield core.acquire(0, tile=(0, 2))
            yield core.acquire(0, tile=(0, 2))

    # core (0, 3) takes lock 0 of (0, 2) twice for each lock 1 that it gives
    result = of_two(giver_south(), taker)
    assert result.status is Status.STUCK
    assert len(result.waiting) == 2


def giver_south() -> Kernel:
    """A kernel below another one, which gives its own lock 0 for each lock 1 of the northern tile."""

    def giver(core: Core) -> Iterator[Action]:
        while True:
            yield core.release(0)
            yield core.acquire(1, tile=(0, 3))

    return giver


def test_what_comes_from_a_kernel_that_has_ended_comes_no_more() -> None:
    def three(core: Core) -> Iterator[Action]:
        for _ in range(3):
            yield core.release(0)

    def server(core: Core) -> Iterator[Action]:
        while True:
            yield core.acquire(0, tile=(0, 2))

    assert of_two(three, server).status is Status.FINISHED


def test_what_nobody_ever_gave_is_waited_for_in_vain() -> None:
    def one(core: Core) -> Iterator[Action]:
        yield core.release(1)

    def server(core: Core) -> Iterator[Action]:
        while True:
            yield core.acquire(0, tile=(0, 2))

    assert of_two(one, server).status is Status.STUCK


def test_a_chain_of_kernels_of_which_the_first_has_had_no_work_yet_is_at_rest() -> None:
    array = Array("npu1", columns=1)
    io, first, second = array.interface_tile(0), array.compute_tile(0, 2), array.compute_tile(0, 3)
    come = array.object_fifo("come", io, first, shape=8).consumers[0]

    def pass_on(core: Core) -> Iterator[Action]:
        while True:
            yield core.acquire(come.full)
            yield core.release(come.free)
            yield core.release(9)

    def last(core: Core) -> Iterator[Action]:
        while True:
            yield core.acquire(9, tile=(0, 2))

    first.run_kernel(pass_on)
    second.run_kernel(last)
    result = array.run(10_000)
    assert (result.status, len(result.resting)) == (Status.FINISHED, 2)


def step() -> Iterator[int]:
    yield 1


def forever() -> Iterator[int]:
    while True:
        yield from step()


def counted() -> Iterator[int]:
    for _ in range(3):
        yield 1


def left() -> Iterator[int]:
    number = 0
    while True:
        yield 1
        number += 1
        if number > 5:
            break


def left_by_return() -> Iterator[int]:
    while True:
        yield 1
        if step:
            return


def prepared() -> Iterator[int]:
    yield 0
    while 1:
        yield 1


def handed_on() -> Iterator[int]:
    yield 0
    yield from forever()
    yield 2


def guarded() -> Iterator[int]:
    try:
        while True:
            yield 1
    finally:
        step()


@pytest.mark.parametrize(
    ("made", "taken", "endless"),
    [
        (forever, 0, True),
        (forever, 3, True),
        (counted, 1, False),
        (left, 2, False),
        (left_by_return, 1, False),
        (prepared, 1, True),
        (handed_on, 1, False),
        (handed_on, 2, True),
        (guarded, 1, True),
        (lambda: iter([1, 2]), 1, False),
    ],
)
def test_what_a_generator_can_still_do_says_whether_it_ends(
    made: Callable[[], Iterator[int]], taken: int, endless: bool
) -> None:
    actions = made()
    for _ in range(taken):
        next(actions)
    assert is_endless(actions) is endless


@pytest.mark.parametrize(("times", "status"), [(None, Status.FINISHED), (3, Status.STUCK)])
def test_calls_without_a_count_are_endless(times: int | None, status: Status) -> None:
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    lock = tile.lock(2)
    kernel = calls(lambda _: None, acquire=[(lock.id, -1)], cycles=4, times=times)
    tile.run_kernel(kernel)
    assert array.run(1000).status is status
