"""Does a program whose host acts from outside run with the cores of a design?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memtile import Array
from memtile.arch.devices import ARRAY_BASE
from memtile.errors import InputFileError
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.witness import Witness
from memtile.kernels import Action, Core
from memtile.programs import address_of
from memtile.runs.core_kernels import Kernels, attached
from memtile.runs.live_run import LiveHost, LiveRun
from memtile.runs.options import RunOptions
from memtile.runs.program import Program
from memtile.runs.session import Session

CONTROL = ARRAY_BASE + address_of(0, 2, 0x32000)
LOCK_0 = ARRAY_BASE + address_of(0, 2, 0x1F000)
ENABLE, RESET = 1, 2


class Echo:
    """A kernel that gives lock 1 what it takes from lock 0."""

    def __init__(self) -> None:
        self.begun = 0

    def __call__(self, core: Core) -> Iterator[Action]:
        self.begun += 1
        while True:
            yield core.acquire(0, -1)
            yield core.release(1, 1)


def test_cores_begin_when_the_host_enables_them_and_answer_it() -> None:
    array, kernel, seen = Array("npu1", 1), Echo(), list[int]()

    def act(run: LiveRun) -> None:
        space = AddressSpace(run.array, cores=run.cores)
        space.write32(LOCK_0, 2)
        seen.append(space.read32(LOCK_0 + 16))
        answers = [*space.carry_out([(CONTROL, ENABLE), (LOCK_0 + 16, None)])]
        assert [each for part in answers for each in part] == [0, 2]
        assert kernel.begun == 1
        for value in (ENABLE | RESET, ENABLE):
            space.write32(CONTROL, value)
        seen.append(space.read32(LOCK_0))

    left = Session(array).run(Program(kernels={(0, 2): kernel}, live=LiveHost(act)), RunOptions())
    assert (seen, kernel.begun, left.stopped) == ([0, 0], 2, "")
    assert left.result.cycles == array.engine.now


def test_cores_of_a_design_that_run_already_answer_the_host() -> None:
    array, kernel = Array("npu1", 1), Echo()
    array.compute_tile(0, 2).run_kernel(kernel, endless=True)
    found = list[int]()

    def act(run: LiveRun) -> None:
        space = AddressSpace(run.array, cores=run.cores)
        space.write32(LOCK_0, 3)
        found.append(space.read32(LOCK_0 + 16))

    Session(array).run(Program(live=LiveHost(act)), RunOptions())
    assert found == [3]


def test_a_kernel_of_no_core_is_refused_before_the_host_acts() -> None:
    program = Program(kernels={(0, 1): Echo()}, live=LiveHost(lambda _: pytest.fail("it acted")))
    with pytest.raises(InputFileError, match=r"\(0, 1\) is a memory tile; compute tiles are in"):
        Session(Array("npu1", 1)).run(program, RunOptions())


def acted(kernels: Kernels, *accesses: tuple[int, int | None]) -> tuple[list[int], list[str], Array]:
    """Answers to accesses of a live host, the notices to its log, and the array."""
    array, answers, notices = Array("npu1", 1), list[int](), list[str]()

    def act(run: LiveRun) -> None:
        space = AddressSpace(run.array, cores=run.cores)
        witness = Witness(array.engine, cores=run.cores)
        for part in space.carry_out(accesses):
            answers.extend(each for each in part if isinstance(each, int))
            notices.extend(notice.text for notice in witness.look())

    Session(array).run(Program(kernels=kernels, live=LiveHost(act)), RunOptions())
    return answers, notices, array


GIVE, SEEN = (LOCK_0, 2), (LOCK_0 + 16, None)


def test_a_core_that_begins_is_no_notice() -> None:
    """All of it comes at once, and the notices after each part."""
    answers, notices, _ = acted({(0, 2): Echo()}, GIVE, (CONTROL, ENABLE), SEEN)
    assert (answers, notices) == ([0, 0, 2], [])


def test_a_core_held_in_reset_waits_for_the_end_of_it() -> None:
    held = (CONTROL, ENABLE | RESET)
    answers, notices, _ = acted({(0, 2): Echo()}, GIVE, held, SEEN, (CONTROL, ENABLE), SEEN)
    assert answers == [0, 0, 0, 0, 2]
    assert [each.partition(":")[0] for each in notices] == [
        "core (0, 2) was enabled; Core_Control holds it in reset, so its program does not begin"
    ]


def test_a_disabled_core_stands_still() -> None:
    """DEV-CORE-9; a timer of its kernel does not go on either."""
    on, off, more = (CONTROL, ENABLE), (CONTROL, 0), (LOCK_0, 5)
    answers, _, array = acted({(0, 2): Echo()}, GIVE, on, SEEN, off, more, SEEN, on, SEEN)
    assert answers == [0, 0, 2, 0, 0, 2, 0, 7]
    assert not array.engine.state.cores.halted.any()


def test_a_kernel_that_fails_halts_its_core_until_a_reset() -> None:
    def fails(core: Core) -> Iterator[Action]:
        yield core.acquire(0, -1)
        raise ValueError("no more")

    other, reset = Echo(), [(CONTROL, value) for value in (RESET, ENABLE)]
    beside = [(at + (1 << 20), value) for at, value in (GIVE, (CONTROL, ENABLE), SEEN)]
    accesses = [GIVE, (CONTROL, ENABLE), SEEN, (CONTROL + 4, None), *beside, *reset, SEEN]
    answers, notices, array = acted({(0, 2): fails, (0, 3): other}, *accesses)
    status = answers.pop(3)
    assert status >> 19 & 3 == 1, "Error_Halt, and not Core_Done"
    assert answers == [0, 0, 0, 0, 0, 2, 0, 0, 0], "the other core goes on"
    assert len(notices) == 2, "once each time"
    assert notices[0].startswith("core (0, 2), kernel 'fails': stopped by ValueError: no more (test_live_")
    assert list(array.engine.cores.failed or ()) == [0]


def test_a_kernel_that_is_no_generator_is_a_failure_of_its_core() -> None:
    def plain(core: Core) -> None:
        core.cycles(1)

    _, notices, _ = acted({(0, 2): plain}, (CONTROL, ENABLE), SEEN)  # type: ignore[dict-item]
    (text,) = notices
    assert "stopped by DesignError: " in text
    assert "it must be a generator function" in text


def test_kernels_of_a_design_are_taken_with_what_was_said_of_them() -> None:
    array, one, other = Array("npu1", 1), Echo(), Echo()
    array.compute_tile(0, 2).run_kernel(one)
    array.compute_tile(0, 4).run_kernel(other, endless=True)
    found = attached(array.engine)
    assert [*found] == [(0, 2), (0, 4)]
    assert found[0, 2] is one
    assert found[0, 4].endless is True  # type: ignore[attr-defined]
    answers, _, served = acted({(0, 2): found[0, 4]}, GIVE, (CONTROL, ENABLE), SEEN)
    assert (answers[-1], other.begun) == (2, 1)
    assert served.engine.cores.running[0].declared is True
