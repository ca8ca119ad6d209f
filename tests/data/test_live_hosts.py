"""Does a program whose host acts from outside run with the cores of a design?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memtile import Array
from memtile.arch.devices import ARRAY_BASE
from memtile.errors import InputFileError
from memtile.hosts.address_space import AddressSpace
from memtile.kernels import Action, Core
from memtile.programs import address_of
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
