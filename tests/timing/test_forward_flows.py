"""Are jumps exact that go through switches, external memory, several tiles and the kernels of cores?

Each case is a column of tiles that repeats itself until something ends that. It is run, jumping, to some
cycles, and compared with a column that steps there: the whole state and external memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from memtile.arch.register_map import tile_register
from memtile.arch.tiles import WORD_BYTES
from memtile.bd.descriptor import Dim
from memtile.model.dma import external
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, Kernel
from memtile.sim.loop.engine import Engine
from memtile.sim.skip import external_reads
from support.designs.core_designs import Piece
from support.designs.flowing_designs import (
    BUFFER,
    CORE,
    EMPTY,
    FULL,
    QUICK,
    Design,
    build,
    compared,
    design,
    differences,
)

LONG = pytest.mark.compiled("runs of many rounds")


ENDS: dict[str, Design] = {
    "streams through two switches": design(waits=()),
    "a walk over rows of external memory": design(waits=(), came=(Dim(1, 32), Dim(48, 0))),
    "three dimensions of external memory": design(
        waits=(), came=(Dim(1, 16), Dim(64, 8), Dim(16, 0)), went=(Dim(1, 32), Dim(64, 16), Dim(32, 0))
    ),
    "runs over the same external memory": design(waits=(), length=256, runs=200),
    "rows that are no whole bursts": design(waits=(), words=12, came=(Dim(1, 12), Dim(20, 0))),
    "the end of external memory": design(waits=(), came=(Dim(1, 64), Dim(320, 0))),
    "a transposing memory tile": design(waits=(), sent=(Dim(2, 32), Dim(1, 2))),
    "a kernel": design(),
    "a kernel with several waits": design(waits=(7, 100, 3), buffers=3),
    "a kernel that ends": design(rounds=77),
    "a kernel that waits longer now and then": design(moody=97),
    "a kernel that waits longer often": design(moody=7),
    "a kernel of one buffer": design(buffers=1, waits=(300,)),
    "beats of two words": design(waits=(), wide=True),
    "beats of which the last one of a BD has one word": design(waits=(), wide=True, words=17),
    "a kernel that ends while words wait for the lock of their descriptor": design(
        timing=replace(
            QUICK,
            ingress_words=3,
            task_start=5,
            external_latency=100,
            external_egress_words=128,
            external_write_latency=100,
            external_burst_overhead=3,
        ),
        words=19,
        buffers=1,
        sent=(Dim(4, 4), Dim(1, 0)),
        length=57,
        runs=200,
        waits=(35,),
        rounds=40,
        wide=True,
    ),
    "beats of words from two accesses": design(wide=True, words=24, sent=(Dim(3, 8), Dim(1, 0)), moody=97),
}


SHORT = (
    "streams through two switches",
    "rows that are no whole bursts",
    "the end of external memory",
    "a kernel that waits longer often",
    "beats of which the last one of a BD has one word",
    "a kernel that ends while words wait for the lock of their descriptor",
)


@pytest.mark.parametrize("name", SHORT)
def test_a_short_run_ends_as_one_that_steps(name: str) -> None:
    engine = compared(lambda on: build(ENDS[name], forward=on), range(4000, 4001))
    assert engine.forward.jumps > 0, "nothing was jumped over"


@LONG
@pytest.mark.parametrize("name", ENDS)
def test_so_does_each_of_longer_ones(name: str) -> None:
    engine = compared(lambda on: build(ENDS[name], forward=on), range(9000, 29000, 4871))
    assert engine.forward.jumps > 0, "nothing was jumped over"


def one_round(core: Core, n: int, *extra: Action) -> Iterator[Action]:
    """What the kernel does in round ``n``, with ``extra`` in the middle of it."""
    given = Piece("in", n % 2 * BUFFER * WORD_BYTES, (64,), np.dtype(np.uint32))
    made = Piece("out", (n % 2 + 4) * BUFFER * WORD_BYTES, (64,), np.dtype(np.uint32))
    yield core.acquire(FULL, -1)
    yield core.cycles(60)
    values = core.read(given)
    yield core.release(EMPTY, 1)
    yield core.acquire(EMPTY + 2, -1)
    yield from extra
    core.write(made, values + np.uint32(n))
    yield core.release(FULL + 2, 1)


AT = 21  # the round in which a kernel does something else; time has been jumped over before


def both(kernel: Callable[[Engine], Kernel], until: int = 5000) -> list[Engine]:
    """A column that jumps and one that steps, with the same kernel, run to the same cycle."""
    engines = [build(design(), forward=on, kernel=kernel) for on in (True, False)]
    for engine in engines:
        engine.run(until)
    assert engines[0].forward.jumped > 700
    assert not differences(*engines)
    return engines


def test_a_kernel_that_looks_at_the_time_sees_that_of_stepping() -> None:
    seen: list[list[int]] = []

    def kernel(engine: Engine) -> Kernel:
        times: list[int] = []
        seen.append(times)

        def looks(core: Core) -> Iterator[Action]:
            for n in range(200):
                if n == AT or n == 2 * AT:
                    times.append(engine.now)
                yield from one_round(core, n)

        return looks

    both(kernel)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 2


@pytest.mark.parametrize(
    "look", [Core.has_word, Core.has_room, lambda core: core.now], ids=["word", "room", "time"]
)
def test_a_kernel_that_looks_at_its_core_sees_it_as_it_is_in_that_cycle(look: Callable[[Core], int]) -> None:
    seen: list[list[tuple[int, int]]] = []

    def kernel(_engine: Engine) -> Kernel:
        found: list[tuple[int, int]] = []
        seen.append(found)

        def looks(core: Core) -> Iterator[Action]:
            for n in range(200):
                if n in (AT, 2 * AT):
                    found.append((look(core), int(core._state.clock.now[0])))
                yield from one_round(core, n)

        return looks

    both(kernel)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 2


def test_a_kernel_that_looks_at_the_accounts_finds_all_cycles_booked_each_time() -> None:
    def kernel(engine: Engine) -> Kernel:
        def looks(core: Core) -> Iterator[Action]:
            for n in range(200):
                if n in (3, AT, AT + 1, 2 * AT):
                    seen.append((engine.state.spent.sum(axis=1) == engine.now).all())
                yield from one_round(core, n)

        return looks

    seen: list[bool] = []
    both(kernel)
    assert seen == 8 * [True]


@LONG
def test_a_kernel_that_reads_a_timer_reads_that_of_stepping() -> None:
    seen: list[list[int]] = []
    enable = tile_register("compute", "Core_Processor_Bus")
    timer = tile_register("compute", "core.Timer_Low")

    def kernel(engine: Engine) -> Kernel:
        engine.door(CORE).write32(enable.offset, enable.field("Enable").mask)
        times: list[int] = []
        seen.append(times)

        def looks(core: Core) -> Iterator[Action]:
            for n in range(200):
                if n == AT:
                    times.append(core.bus.read(timer.offset))
                yield from one_round(core, n)

        return looks

    both(kernel)
    assert seen[0] == seen[1]
    assert seen[0][0] > 0


def test_events_that_a_kernel_raises_move_on_with_time() -> None:
    """The last one of each kind, where the jump ends right behind it: one of these ends is there."""

    def raises(core: Core) -> Iterator[Action]:
        for n in range(200):
            yield from one_round(core, n, core.event(n % 2))

    engine = compared(lambda on: build(design(), forward=on, kernel=lambda _: raises), range(4000, 4600, 75))
    assert engine.forward.jumped > 700


@LONG
def test_a_kernel_that_raises_leaves_the_state_of_stepping() -> None:
    def kernel(_engine: Engine) -> Kernel:
        def fails(core: Core) -> Iterator[Action]:
            for n in range(200):
                if n == AT:
                    raise ValueError("enough")
                yield from one_round(core, n)

        return fails

    engines = [build(design(), forward=on, kernel=kernel) for on in (True, False)]
    notes = []
    for engine in engines:
        with pytest.raises(ValueError, match="enough") as raised:
            engine.run(20000)
        notes.append(raised.value.__notes__)
    assert engines[0].forward.jumped > 500
    assert notes[0] == notes[1]
    assert not differences(*engines)


def test_a_kernel_that_raises_is_halted_where_that_ends_no_run() -> None:
    """As where a model serves hosts: the error is kept with its core, in a jump as in a step."""

    def kernel(_engine: Engine) -> Kernel:
        def fails(core: Core) -> Iterator[Action]:
            for n in range(AT):
                yield from one_round(core, n)
            raise ValueError("enough")

        return fails

    engines = [build(design(), forward=on, kernel=kernel) for on in (True, False)]
    for engine in engines:
        engine.cores.failed = {}
        engine.run(4000)
        assert [str(error) for error in engine.cores.failed.values()] == ["enough"]
    assert engines[0].forward.jumped > 500
    assert not differences(*engines)


@LONG
def test_access_patterns_are_known_again() -> None:
    def kernel(_engine: Engine) -> Kernel:
        def external_reads(core: Core) -> Iterator[Action]:
            piece = Piece("in", 0, (16,))
            for n in range(200):
                bits = 32 if n == AT else 256
                yield from one_round(core, n, core.access(core.walk(piece, bits)))

        return external_reads

    both(kernel)


@LONG
def test_a_kernel_that_waits_for_its_stream_in_the_end() -> None:
    """No word ever comes there: the run ends in the same state, with events on its way."""

    def kernel(_engine: Engine) -> Kernel:
        def listens(core: Core) -> Iterator[Action]:
            for n in range(200):
                yield from one_round(core, n, *([core.event(0)] if n % 2 else []))
            yield core.get_stream(1)

        return listens

    both(kernel, 40000)


@LONG
def test_the_accesses_of_a_run_that_jumps_are_those_of_one_that_does_not() -> None:
    """External memory, which the state does not have, is written as often and with the same words."""
    jumping, stepping = (build(design(waits=(30, 20)), forward=on) for on in (True, False))
    jumping.run(15000)
    stepping.run(15000)
    made = [engine.external.buffers["went"].array for engine in (jumping, stepping)]
    assert np.count_nonzero(made[0]) > 2000
    assert np.array_equal(made[0], made[1])


def test_what_a_core_was_seen_at_is_that_of_the_last_cycle_that_was_skipped() -> None:
    """A core that waits while all else is quiet; cycle by cycle its events are those of every cycle."""
    engines = [build(design(length=64, buffers=1), forward=False) for _ in range(2)]
    engines[0].run(320)
    while engines[1].now < 320:
        engines[1].run(engines[1].now + 1)
    assert np.array_equal(engines[0].state.core_seen, engines[1].state.core_seen)


@pytest.mark.parametrize("shift", [1, 7, -3])
def test_an_access_stays_in_its_buffer_up_to_its_last_word(shift: int) -> None:
    """At the last period it is inside, one period later it is not."""
    first, size, words = 100, 50, 4
    for low in range(first, first + size - words + 1):
        times = external_reads.stay_within(first, size, low, low + words - 1, shift, 1000)
        for periods, inside in ((times, True), (times + 1, False)):
            at = low + periods * shift
            assert (first <= at and at + words <= first + size) == inside


@pytest.mark.parametrize(("shift", "times"), [(16, 9), (32, 9), (-16, 9), (8, 0), (24, 0)])
def test_bursts_begin_where_they_began(shift: int, times: int) -> None:
    """A shift by whole bursts is let through; another one only where bursts cost no time."""
    for overhead, allowed in ((3, times), (0, 9)):
        timing = replace(QUICK, external_burst_overhead=overhead)
        state = build(design(timing=timing), forward=False).state
        channel = int(np.flatnonzero(np.asarray(state.channels.external) >= 0)[0])
        assert external.burst_words(state, channel) == 16
        assert external_reads.under_way(state, channel, shift, 9) == allowed
