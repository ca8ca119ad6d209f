"""Does every wrong kernel get an error that names the core, what it asked for, and what it may have?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile.arch.core import CORE
from memtile.bd.descriptor import Acquire
from memtile.errors import DesignError
from memtile.explain.outcome import outcome
from memtile.explain.results import Status
from memtile.model.state.tile_columns import Placed
from memtile.sim.kernels.actions import Action, Pattern
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from support.designs.core_designs import COLUMN, CROSS, EAST, OWN, Piece

BASE = CORE.memory_windows["own"]


def told(ask: Callable[[Core], Any], placed: list[Placed] = CROSS) -> str:
    """Message of the error that a kernel raises by asking for something wrong in cycle 3."""
    engine = Engine(placed)

    def add(core: Core) -> Iterator[Action]:
        yield core.cycles(3)
        yield ask(core)

    engine.attach_kernel(OWN, add)
    with pytest.raises(DesignError) as caught:
        engine.run(10)
    assert engine.now == 3
    (note,) = caught.value.__notes__
    assert note == "in core (1, 3), kernel 'add', before cycle 3"
    return str(caught.value).removeprefix("core (1, 3), kernel 'add': ")


REACH = " (AM020 chapter 4: a core reaches its own, north, south and west data memory)"
SEEN = (
    "the core does not reach buffer 'x' in tile (2, 3); it reaches south (1, 2), west (0, 3), north "
    "(1, 4), own (1, 3)"
)


@pytest.mark.feature("F28")
def test_memory_that_the_core_does_not_see_names_core_buffer_and_tile() -> None:
    x = Piece("x", 0)
    text = (
        "the core does not reach buffer 'x' in tile (2, 3); it reaches south (1, 2), west (0, 3), "
        "north (1, 4), own (1, 3) (AM020 chapter 4: a core reaches its own, north, south and west data "
        "memory)."
    )
    assert told(lambda core: core.read(x, tile=EAST)) == text
    assert told(lambda core: core.write(x, [0] * 8, tile=EAST)) == text
    assert told(lambda core: core.walk(x, tile=EAST)) == text
    assert told(lambda core: core.acquire(2, tile=EAST)) == text.replace("buffer 'x'", "lock 2")
    assert told(lambda core: core.read(x, tile=77)) == text.replace("in tile (2, 3)", "tile 77")


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (
            lambda core: core.read(Piece("x", 0xFFF0)),
            f"buffer 'x' takes bytes 0xfff0..0x1000f of tile (1, 3), allowed are 0x0..0xffff{REACH}.",
        ),
        (
            lambda core: core.write(Piece("x", 0), np.zeros(8)),
            (
                "the values for buffer 'x' are float64 (8,); the buffer is int32 (8,) (NumPy, same "
                "kind)."
),
        ),
        (
            lambda core: core.write(Piece("x", 0), np.zeros(7, dtype=np.int32)),
            "the values for buffer 'x' are int32 (7,); the buffer is int32 (8,) (NumPy, same kind).",
        ),
        (lambda core: core.acquire(16), "lock is 16, allowed are 0..15 (AM020: locks of a compute tile)."),
        (
            lambda core: core.release(1, 64),
            "the value for lock 1 is 64, allowed are -64..63 (AM020: lock operand).",
        ),
        (lambda core: core.cycles(0), "cycles is 0; it must be 1 or more (a core takes time)."),
        (
            lambda core: core.access(Pattern(np.array([BASE + 4]), 256)),
            "load 0 of 256 bits has address 0x70004; it must be a multiple of 0x20 (AM020 chapter 4: "
            "load and store units).",
        ),
        (
            lambda core: core.access(store=Pattern(np.array([BASE]), 64)),
            (
                "store has 64 bits; it must have one of 256, 32, 16, 8 (AM020 chapter 4: load and "
                "store units)."
),
        ),
        (
            lambda core: core.access(*[core.walk(Piece("x", 0))] * 3),
            "the access has 3 loads; it can have at most 2 (AM020 chapter 4: load and store units).",
        ),
        (
            lambda core: core.access(Pattern(np.array([0x80000]), 32)),
            "the core does not reach address 0x80000; its windows begin at south 0x40000, west "
            f"0x50000, north 0x60000, own 0x70000{REACH}.",
        ),
        (
            lambda core: core.tile,
            "the kernel yielded 0; it must yield what core.cycles, event, acquire, release, put_cascade, "
            "get_cascade, put_stream, get_stream or a non-empty access returns (kernels of memtile).",
        ),
    ],
    ids=[
        "end of memory", "kind", "shape", "lock", "operand", "no time", "alignment", "width", "loads",
        "address", "no action",
    ],
)  # fmt: skip
def test_what_a_core_does_not_have_is_refused(ask: Callable[[Core], Any], text: str) -> None:
    assert told(ask) == text


def idle(core: Core) -> Iterator[Action]:
    yield core.acquire(0)


def test_a_kernel_needs_a_core_of_its_own() -> None:
    engine = Engine([*COLUMN, Placed("memory")])
    for tile in (3, 4, -1):
        with pytest.raises(
            DesignError, match=f"^kernel 'idle': tile {tile} is no compute tile, so it has no core"
        ):
            engine.attach_kernel(tile, idle)
    engine.attach_kernel(0, idle)
    engine.run(100)
    with pytest.raises(
        DesignError, match=(r"^core \(1, 2\): kernel 'idle' cannot start: kernel 'idle' still runs")
    ):
        engine.attach_kernel(0, idle)


def test_an_error_of_the_kernel_itself_comes_out_with_its_place() -> None:
    engine = Engine(COLUMN)

    def wrong(core: Core) -> Iterator[Action]:
        yield core.cycles(2)
        raise ZeroDivisionError("mine")

    engine.attach_kernel(1, wrong)
    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        engine.run(100)
    assert caught.value.__notes__ == ["in core (1, 3), kernel 'wrong', before cycle 2"]


def greedy(core: Core) -> Iterator[Action]:
    yield core.cycles(2)
    yield core.acquire(3, -2, tile=1)


def test_a_stuck_design_names_the_core_its_kernel_and_the_lock() -> None:
    engine = Engine(COLUMN)
    engine.attach_kernel(0, greedy)
    engine.attach_kernel(2, idle)
    result = outcome(engine, engine.run(1000), {}, [])
    assert result.status is Status.STUCK
    assert result.waiting == (
        "core (1, 2), kernel 'greedy': waits for lock 3 of tile (1, 3) (needs 2, has 0), "
        "and no running chain releases it",
        "core (1, 4), kernel 'idle': waits for lock 0 (needs 1, has 0), and no running chain releases it",
    )
    first, second = result.waiting
    shown = " ".join(str(result).split())  # long lines are broken
    for line in (
        "core (1, 2), kernel 'greedy': 3 running, 1 lock stall",
        "core (1, 4), kernel 'idle': 1 running, 3 lock stall",
        f"waiting: {first}",
        f"waiting: {second}",
    ):
        assert line in shown


def test_an_interrupted_core_says_what_it_does() -> None:
    engine = Engine(COLUMN)
    engine.attach_kernel(0, greedy)
    result = outcome(engine, engine.run(1), {}, [])
    assert (result.status, result.waiting) == (Status.LIMIT, ("core (1, 2), kernel 'greedy': running",))
    (core,) = result.as_json()["cores"]
    assert (core["core"], core["kernel"]) == ("core (1, 2)", "greedy")
    assert {cause: cycles for cause, cycles in core["cycles"].items() if cycles} == {"running": 1}


def test_an_endless_kernel_that_waits_for_work_has_finished() -> None:
    engine = Engine(COLUMN)
    engine.attach_kernel(0, idle, endless=True)
    result = outcome(engine, engine.run(1000), {}, [])
    assert (result.status, result.waiting) == (Status.FINISHED, ())


@pytest.mark.parametrize("value", [0, -1])
def test_a_release_that_would_take_is_refused(value: int) -> None:
    assert told(lambda core: core.release(0, value)) == (
        f"release is {value}, allowed are 1..63 (AM020: six-bit lock state)."
    )


def refused(kernel: Callable[[Core], Any]) -> str:
    """Message of the error that a run of the kernel, on the core of OWN, ends with."""
    engine = Engine(CROSS)

    def run() -> None:
        engine.attach_kernel(OWN, kernel)
        engine.run(100)

    with pytest.raises(DesignError) as caught:
        run()
    return str(caught.value).removeprefix("core (1, 3), kernel 'add': ")


def test_integers_that_a_buffer_does_not_hold_are_not_wrapped() -> None:
    x = Piece("x", 0)
    sums = np.full(8, 2**40 + 7)
    assert told(lambda core: core.write(x, sums)) == (
        "a value for buffer 'x' is 1099511627783, allowed are -2147483648..2147483647 (values of "
        "int32). Wrap them on purpose with .astype(np.int32)."
    )

    def add(core: Core) -> Iterator[Action]:
        core.write(x, np.arange(8).cumsum())
        assert core.read(x)[-1] == 28
        yield core.cycles(1)

    engine = Engine(CROSS)
    engine.attach_kernel(OWN, add)
    engine.run(10)


def test_an_action_that_is_made_and_not_yielded_is_told_at_the_next_one() -> None:
    def add(core: Core) -> Iterator[Action]:
        core.acquire(2, -2)
        yield core.cycles(3)

    text = "core.acquire(2, -2) was made, but not yielded (kernels of memtile)"
    assert refused(add) == f"{text}. Write yield core.acquire(2, -2)."


def test_an_action_that_is_forgotten_at_the_end_is_told_there() -> None:
    def add(core: Core) -> Iterator[Action]:
        yield core.cycles(3)
        core.release(2)

    assert "core.release(2, 1) was made, but not yielded" in refused(add)


def test_actions_may_be_made_before_they_are_yielded_and_yielded_often() -> None:
    def add(core: Core) -> Iterator[Action]:
        give, take, work = core.release(2), core.acquire(2), core.cycles(2)
        for _ in range(3):
            yield work
            yield give
            yield take
        yield from [core.release(1), core.cycles(1), core.event()]

    engine = Engine(CROSS)
    engine.attach_kernel(OWN, add)
    engine.run(100)
    assert outcome(engine, engine.run(1000), {}, ()).status is Status.FINISHED


def test_a_kernel_without_yield_is_told_what_it_must_be() -> None:
    def add(core: Core) -> None:
        core.acquire(2)

    assert refused(add) == (
        "the kernel returned None; it must be a generator function (kernels of memtile). Use yield in it."
    )


def test_an_operation_of_a_descriptor_is_no_lock() -> None:
    text = told(lambda core: core.acquire(Acquire()))  # type: ignore[arg-type]
    assert text.startswith("lock is Acquire(")
    assert text.endswith(
        "lock is Acquire(id=0, value=0, enable=False); it must be a lock or its number (AM020: "
        "locks). Give the lock itself: core.acquire(lock, -1)."
    )
