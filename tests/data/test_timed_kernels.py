"""Do cores take the steps of their kernels in runs without words, only then, and in the same cycles?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.design.array import Array
from memtile.errors import DesignError
from memtile.explore.plan.designs import attention, convolution, convolution_rounds, gemm, rows
from memtile.kernels import Action, Core, acquire, apart, cycles, listed, loop, release, timed_by
from memtile.sim.kernels.listed_actions import steps_of
from memtile.sim.loop.engine import OF_CORES
from support.engine.run_stores import left, start, store_in

SMALL: dict[str, Callable[..., Array]] = {
    "gemm": lambda data: gemm.design(
        *(64, 64, 128), columns=2, rows=2, tall=32, wide=32, deep=64, panel=64, data=data
    ),
    "rows": lambda data: rows.design(64, 64, columns=2, cores=2, data=data),
    "attention": lambda data: attention.design(2, 64, 32, columns=2, cores=2, data=data),
    "convolution": lambda data: convolution.design(1, 8, 8, data=data),
    "rounds": lambda data: convolution_rounds.design(data=data),
}


@pytest.mark.parametrize("name", SMALL)
def test_planned_designs_with_words_are_run_without_them_as_those_that_have_none(
    name: str, tmp_path: Path
) -> None:
    made = SMALL[name]
    with_words = made(True).run()
    assert with_words.exact
    with store_in(tmp_path):
        array, other = made(True), made(False)
        first, again = array.run(data=False), other.run(data=False)
    assert (first.recalled, again.recalled) == (False, True)
    assert (first.words, first.words_needed_by, first.checks) == (False, (), ())
    assert left(array, first)["state"] == left(other, again)["state"]
    assert left(array, first)["kernels"] == left(other, again)["kernels"]
    assert first.channels == with_words.channels
    assert first.cores == with_words.cores
    assert first.cycles == again.cycles == with_words.cycles


class Design:
    """A core that doubles objects; ``said`` of its kernel is what it does."""

    def __init__(self, change: Callable[[Any], Any] = lambda kernel: kernel, count: int = 20) -> None:
        self.array = array = Array("npu1", columns=1)
        outside, core = array.interface_tile(0), array.compute_tile(0, 2)
        come = array.object_fifo("come", outside, core, shape=16)
        go = array.object_fifo("go", core, outside, shape=16)
        (self.into,), self.out = come.consumers, go.producer
        into, out = self.into, self.out

        def double(core: Core) -> Iterator[Action]:
            for n in range(4):
                yield core.acquire(into.full)
                yield core.acquire(out.free)
                yield core.cycles(20)
                core.write(out.buffer(n), core.read(into.buffer(n)) * 2)
                yield core.release(into.free)
                yield core.release(out.full)

        block = acquire(into.full), acquire(out.free), cycles(count), release(into.free), release(out.full)
        core.run_kernel(change(timed_by(apart(double), loop(4, *block))))
        self.data, self.result = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
        a, b = array.external("a", self.data), array.external("b", self.result)
        array.start_in_order(
            [(come.producer.channel, outside.read(a), 1), (go.consumers[0].channel, outside.write(b), 1)]
        )


def test_steps_are_taken_without_words_and_the_kernel_with_them(tmp_path: Path) -> None:
    with_words, without, other = Design(), Design(), Design(count=30)
    ran = with_words.array.run()
    assert (with_words.result == 2 * with_words.data).all()
    with store_in(tmp_path):
        alone, longer = without.array.run(data=False), other.array.run(data=False)
        assert Design().array.run(data=False).recalled
    assert not without.result.any()
    assert (alone.cycles, alone.words, longer.recalled) == (ran.cycles, False, False)
    assert longer.cycles > ran.cycles


def copied(kernel: Any) -> Any:
    @wraps(kernel)
    def other(core: Core) -> Iterator[Action]:
        yield core.cycles(5)
        yield from kernel(core)

    return other


def begun(design: Design) -> None:
    design.array.run(40)


def compressed(design: Design) -> None:
    (sequence,), tile = design.array.hosts, design.array.memory_tile(0)
    read, write = tile.read(tile.buffer("x", 64)), tile.write(tile.buffer("y", 64))
    design.array.connect(tile.mm2s[0], tile.s2mm[0])
    program: Any = sequence.program
    program.jobs += (tile.mm2s[0], read.compressed(), 1), (tile.s2mm[0], write.compressed(), 1)


def beside(design: Design) -> None:
    def idle(core: Core) -> Iterator[Action]:
        yield core.cycles(3)

    design.array.compute_tile(0, 3).run_kernel(idle)


def read_by_host(design: Design) -> None:
    def host(host: Any) -> Iterator[Any]:
        yield host.pause(3)

    design.array.host(host)


@pytest.mark.parametrize("hinder", [begun, compressed, beside, read_by_host])
def test_steps_are_not_taken_where_words_are_needed_all_the_same(hinder: Callable[[Design], None]) -> None:
    design = Design()
    hinder(design)
    result = design.array.run(data=False)
    assert OF_CORES in result.words_needed_by
    assert result.words
    assert (design.result == 2 * design.data).all()


def test_what_is_said_of_a_kernel_says_nothing_of_one_that_was_made_of_it() -> None:
    design = Design(copied)
    assert OF_CORES in design.array.run(data=False).words_needed_by
    assert (design.result == 2 * design.data).all()


def test_a_kernel_beside_that_is_a_list_hinders_nothing() -> None:
    design = Design()
    design.array.compute_tile(0, 3).run_kernel(listed(cycles(7)))
    result = design.array.run(data=False)
    assert (result.words, result.words_needed_by) == (False, ())


def test_steps_reach_what_their_kernel_reaches() -> None:
    found = [start(Design().array), start(Design(apart((0, 3))).array)]
    assert found == [None, None]  # of kernels: before a run chooses steps
    near, far = Design(), Design(apart((0, 3)))
    near.array.run(data=False), far.array.run(data=False)
    functions = [
        design.array.engine.cores.running[core].function
        for design in (near, far)
        for core in design.array.engine.cores.running
    ]
    assert all(steps_of(function) is not None for function in functions)
    assert [sorted(function.__reaches__) for function in functions] == [[], [(0, 3)]]


ROUNDS = 5


def rounds(core: Core) -> Iterator[Action]:
    for _ in range(ROUNDS):
        yield core.cycles(20)


def alone(kernel: Any, *steps: Any) -> Array:
    array = Array("npu1", columns=1)
    array.compute_tile(0, 2).run_kernel(timed_by(kernel, *steps))
    return array


def test_each_use_of_a_kernel_has_steps_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few = alone(rounds, loop(5, cycles(20)))
    monkeypatch.setitem(globals(), "ROUNDS", 9)
    many = alone(rounds, loop(9, cycles(20)))
    with store_in(tmp_path):
        assert [array.run(data=False).cycles for array in (few, many)] == [5 * 20 + 2, 9 * 20 + 2]
    assert not hasattr(rounds, "__timed_by__")


class Slots:
    """A kernel without attributes of its own."""

    __slots__ = ()

    def __call__(self, core: Core) -> Iterator[Action]:
        yield core.cycles(20)

    def work(self, core: Core) -> Iterator[Action]:
        yield core.cycles(20)


KERNELS: dict[str, tuple[Any, str]] = {
    "rounds": (rounds, "rounds"),
    "method": (Slots().work, "work"),
    "slots": (Slots(), "Slots"),
    "partial": (partial(rounds), "partial"),
    "apart": (apart(Slots().work), "partial"),
}


@pytest.mark.parametrize(("kernel", "name"), KERNELS.values(), ids=KERNELS)
def test_what_is_called_as_a_kernel_may_have_steps_and_remains_what_it_is(kernel: Any, name: str) -> None:
    made = timed_by(kernel, loop(3, cycles(20)))
    array = Array("npu1", columns=1)
    array.compute_tile(0, 2).run_kernel(made)
    assert [each.kernel for each in array.engine.cores.running.values()] == [name]
    assert inspect.isgeneratorfunction(made) == inspect.isgeneratorfunction(kernel)
    for each in ("__code__", "__reaches__", "__annotations__"):
        assert getattr(made, each, None) == getattr(kernel, each, None)
    result = array.run(data=False)
    assert (result.cycles, result.words_needed_by) == (62, ())


def test_defaults_of_a_kernel_remain_and_steps_that_are_listed_too() -> None:
    def work(core: Core, count: int = 3, *, each: int = 4) -> Iterator[Action]:
        yield core.cycles(count * each)

    assert alone(work, cycles(5)).run().cycles == 3 * 4 + 2
    steps = listed(cycles(7))
    assert timed_by(steps, cycles(9)) is steps


def test_what_is_no_kernel_has_no_steps() -> None:
    wrong: Any
    for wrong in (None, 3, "work"):
        with pytest.raises(DesignError) as caught:
            timed_by(wrong, cycles(1))
        assert str(caught.value) == (
            f"timed_by: kernel is {wrong!r}; it must be a generator function (kernels are Python). Write one "
            "such as def kernel(core): yield core.cycles(8)."
        )
