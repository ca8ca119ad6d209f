"""Do the untimed run and the cycle run end in the same state, whatever the design?

The designs are free of races by construction: every pipe (one S2MM, one MM2S channel) has memory of its own,
cut into slots that a pair of counting locks hands over in order, so each word is read after exactly one
write, however long anything takes. A pipe may still starve, block, wait for ever or run into an error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtile.access.move import Mover
from memtile.arch.tiles import MEMORY
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration, Pad, Release
from memtile.bd.windows import EAST, OWN, WEST
from memtile.model.state.causes import Cause
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.testing.rig import Rig

SLOT_WORDS = 1024
PIPE_WORDS = 4 * SLOT_WORDS
LIMIT = 200_000
ENOUGH = 3000  # words for any writer here


class Side(NamedTuple):
    """One channel of a pipe."""

    number: int
    chain: tuple[Descriptor, ...]
    tasks: tuple[int, ...]  # runs of each
    pattern: tuple[int, ...]


class Pipe(NamedTuple):
    """A channel that writes slots, a channel that reads them."""

    writes: Side
    reads: Side
    words: int
    caught: bool
    locked: bool


dims = st.lists(st.builds(Dim, st.integers(1, 9), st.integers(0, 5)), max_size=3).map(tuple)
patterns = st.lists(st.integers(0, 1), max_size=6).filter(lambda p: not p or any(p)).map(tuple)
iterations = st.builds(Iteration, st.integers(1, 40), st.integers(1, 4), st.integers(0, 3))
pads = st.lists(st.builds(Pad, st.integers(0, 3), st.integers(0, 3)), max_size=3).map(tuple)


@st.composite
def walks(draw: st.DrawFn, *, padded: bool) -> Descriptor:
    """A descriptor that stays in a slot; padding where the dimensions allow it."""
    shape = draw(dims)
    pad = draw(pads) if padded and len(shape) == 3 and all(d.wrap for d in shape) else ()
    return Descriptor(
        "memory",
        draw(st.integers(0, 60)),
        OWN.address(draw(st.integers(0, 30))),
        dims=shape,
        pad=pad,
        iteration=draw(iterations),
        tlast_suppress=draw(st.booleans()),
        valid=draw(st.integers(0, 40)) != 27,
    )


@st.composite
def sides(draw: st.DrawFn, slots: int, *, reads: bool, number: int) -> Side:
    chain = draw(st.lists(walks(padded=reads), min_size=slots, max_size=slots))
    tasks = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    return Side(number, tuple(chain), tuple(tasks), draw(patterns))


@st.composite
def pipes(draw: st.DrawFn, writer: int, reader: int) -> Pipe:
    slots = draw(st.integers(1, 3))
    return Pipe(
        draw(sides(slots, reads=False, number=writer)),
        draw(sides(slots, reads=True, number=reader)),
        draw(st.integers(0, 600) | st.just(ENOUGH)),
        draw(st.integers(0, 8)) != 5,
        draw(st.integers(0, 8)) != 5,
    )


@st.composite
def designs(draw: st.DrawFn) -> list[Pipe]:
    """Up to three pipes; no two share a channel."""
    writers, readers = draw(st.permutations(range(6))), draw(st.permutations(range(6)))
    return [draw(pipes(writers[n], readers[n])) for n in range(draw(st.integers(1, 3)))]


def locked(pipe: Pipe, index: int, *, reads: bool) -> tuple[Acquire, Release]:
    """Take a free slot and give a full one, or the other way round; locks of the pipe's own."""
    free, full = OWN.lock(2 * index), OWN.lock(2 * index + 1)
    taken, given_back = (full, free) if reads else (free, full)
    return Acquire(taken, -1, pipe.locked), Release(given_back, int(pipe.locked))


def build(design: list[Pipe]) -> Engine:
    """An engine with everything written, pushed and connected, before its first cycle."""
    rig = Rig()
    for index, pipe in enumerate(design):
        rig.set_lock(2 * index, len(pipe.writes.chain))
        for reads, side in enumerate((pipe.writes, pipe.reads)):
            # without locks only separate memory keeps the two sides apart
            base = (2 * index + reads * (not pipe.locked)) * PIPE_WORDS
            first = MEMORY.bd_bank(side.number)[0] + 3 * (side.number // 2 + 3 * reads)
            acquire, release = locked(pipe, index, reads=bool(reads))
            for n, bd in enumerate(side.chain):
                rig.write_bd(
                    first + n,
                    bd.but(
                        address=bd.address + base + n * SLOT_WORDS,
                        acquire=acquire,
                        release=release,
                        next=first + n + 1 if n + 1 < len(side.chain) else None,
                    ),
                )
            ch = rig.mm2s(side.number) if reads else rig.s2mm(side.number)
            for runs in side.tasks:
                rig.issue(ch, first, runs)
        rig.feed(rig.s2mm(pipe.writes.number), np.arange(pipe.words) + 1000 * index, pipe.writes.pattern)
        if pipe.caught:
            rig.catch(rig.mm2s(pipe.reads.number), pipe.reads.pattern)
    return rig.engine


CHANNEL_COLUMNS = ("phase", "why", "errors", "queue_count", "task_bd", "runs_left", "bd", "moved")
COUNTS = ("bds_done", "tasks_done")


def outcome(engine: Engine) -> dict[str, object]:
    """Everything of a stopped engine that time must not change."""
    state, channels = engine.state, range(len(engine.state.channels.phase))
    door = engine.door(0)
    status = [base + 4 * n for base in MEMORY.status_base for n in range(MEMORY.channels)]
    return {
        "memory": state.memory.tobytes(),
        "registers": state.registers.tolist(),
        "status": [hex(door.read32(offset)) for offset in status],
        **{name: getattr(state.channels, name).tolist() for name in (*CHANNEL_COLUMNS, *COUNTS)},
        **{
            f"lock {name}": getattr(state.locks, name).tolist() for name in ("value", "overflow", "underflow")
        },
        "words moved": state.spent[:, Cause.MOVING].tolist(),
        "buffers": state.fifos.held.tolist(),
        "pending": [engine.pending(ch) for ch in channels],
        "sent": [engine.caught(ch).tolist() for ch in channels],
        "tlasts": [engine.tlasts(ch).tolist() for ch in channels],
    }


def both(design: list[Pipe], cycles_first: int = 0) -> None:
    timed, untimed = build(design), build(design)
    assert timed.run(LIMIT) is Stop.QUIET
    untimed.run(cycles_first)
    before = untimed.now
    assert run_untimed(untimed) is Stop.QUIET
    assert untimed.now == before
    assert outcome(untimed) == outcome(timed)


@pytest.mark.slow
@given(designs())
@settings(max_examples=80, deadline=None)
def test_both_runs_end_alike(design: list[Pipe]) -> None:
    both(design)


@pytest.mark.slow
@given(designs(), st.integers(1, 400))
@settings(max_examples=30, deadline=None)
def test_a_timed_run_can_be_finished_without_time(design: list[Pipe], cycles: int) -> None:
    both(design, cycles)


@pytest.mark.slow
@given(designs())
@settings(max_examples=30, deadline=None)
def test_a_run_without_time_can_be_followed_by_a_timed_one(design: list[Pipe]) -> None:
    """Nothing that the untimed run leaves behind disturbs the clock."""
    timed, mixed = build(design), build(design)
    ch = next(iter(design)).writes.number
    for engine in (timed, mixed):
        engine.run(LIMIT) if engine is timed else run_untimed(engine)
        engine.feed(ch, np.arange(100, dtype=np.uint32))
        assert engine.run(engine.now + LIMIT) is Stop.QUIET
    assert outcome(mixed) == outcome(timed)
    assert (mixed.state.spent.sum(axis=1) >= mixed.now).all()


edge_walks = st.builds(
    Descriptor,
    st.just("memory"),
    st.integers(1, 40),
    st.integers(1, 300).map(lambda n: OWN.address(MEMORY.memory_words - n)),
    dims=st.lists(st.builds(Dim, st.integers(1, 60), st.integers(0, 5)), max_size=4).map(tuple),
    iteration=iterations,
)


@pytest.mark.slow
@given(edge_walks, st.booleans(), st.integers(1, 6))
@example(
    Descriptor("memory", 6, OWN.address(MEMORY.memory_words - 102), dims=(Dim(1, 4), Dim(100, 0))), True, 3
)
@settings(max_examples=60, deadline=None)
def test_walks_at_the_end_of_memory_end_alike(bd: Descriptor, reads: bool, runs: int) -> None:
    """Those that stay inside in spite of all their counters, and those that leave it at some run."""

    def built() -> Engine:
        rig = Rig()
        memory = rig.engine.state.memory
        memory[:] = np.arange(len(memory))
        dims = tuple(dim if n < 3 else Dim(dim.step, 0) for n, dim in enumerate(bd.dims))
        rig.write_bd(0, bd.but(dims=dims))
        ch = rig.mm2s() if reads else rig.s2mm()
        rig.issue(ch, 0, runs)
        rig.catch(ch) if reads else rig.feed(ch, ENOUGH)
        return rig.engine

    timed, untimed = built(), built()
    assert timed.run(LIMIT) is Stop.QUIET
    assert run_untimed(untimed) is Stop.QUIET
    assert outcome(untimed) == outcome(timed)


OUT_OF_REACH = {
    "west memory": (0, {"address": WEST.address(5)}),
    "east memory": (0, {"address": EAST.address(5)}),
    "a walk that leaves the tile": (0, {"address": OWN.address(MEMORY.memory_words - 7)}),
    "west memory, channel that never reaches it": (4, {"address": WEST.address(5)}),
    "acquire of an east lock": (0, {"acquire": Acquire(EAST.lock(3), -1, True)}),
    "release of a west lock": (0, {"release": Release(WEST.lock(3), 1)}),
    "invalid BD": (0, {"valid": False}),
    "length 0": (0, {"length": 0}),
}


@pytest.mark.parametrize("reads", [False, True], ids=["S2MM", "MM2S"])
@pytest.mark.parametrize("case", OUT_OF_REACH)
def test_errors_end_alike(case: str, reads: bool) -> None:
    number, change = OUT_OF_REACH[case]

    def built() -> Engine:
        rig = Rig()
        good = Descriptor("memory", 20, OWN.address(100))
        rig.write_bd(0, good.but(next=1))
        rig.write_bd(1, good.but(**{"length": 30, **change}))
        ch = rig.mm2s(number) if reads else rig.s2mm(number)
        rig.issue(ch, 0, 2)
        rig.catch(ch) if reads else rig.feed(ch, 200)
        return rig.engine

    timed, untimed = built(), built()
    assert timed.run(LIMIT) is Stop.QUIET
    assert run_untimed(untimed) is Stop.QUIET
    assert outcome(untimed) == outcome(timed)
    assert timed.state.channels.errors.any() == (case != "length 0")


def test_wrong_parity_ends_alike() -> None:
    engines = []
    for run in (lambda e: e.run(LIMIT), run_untimed):
        rig = Rig()
        rig.write_bd(24, Descriptor("memory", 8, OWN.address(0)))
        rig.issue(rig.s2mm(2), 24)
        rig.feed(rig.s2mm(2), 8)
        assert run(rig.engine) is Stop.QUIET
        engines.append(rig.engine)
    assert outcome(engines[0]) == outcome(engines[1])
    assert engines[0].state.channels.errors[2] != 0


def test_a_neighbours_window_is_reached_without_time() -> None:
    rig = Rig(tiles=3, at=1)
    rig.write_bd(0, Descriptor("memory", 50, EAST.address(10), dims=(Dim(2, 0),)))
    rig.issue(rig.s2mm(), 0)
    rig.feed(rig.s2mm(), 50)
    assert run_untimed(rig.engine) is Stop.QUIET
    assert rig.engine.state.memory[2 * MEMORY.memory_words + 10 :: 2][:50].tolist() == list(range(1, 51))


def test_zeroisation_is_over_after_a_run_without_time() -> None:
    rig = Rig()
    rig.memory_control(zeroise=True)
    run_untimed(rig.engine)
    assert rig.register("Memory_Control") == 2


def endless() -> Engine:
    """A memory-to-stream chain that loops back on itself and is always taken."""
    rig = Rig()
    rig.write_bd(0, Descriptor("memory", 4096, OWN.address(0), next=0))
    rig.issue(rig.mm2s(), 0)
    rig.catch(rig.mm2s())
    return rig.engine


def test_what_never_ends_stops_at_the_limit() -> None:
    engine = endless()
    seen: list[int] = []
    assert run_untimed(engine, seen.append, limit=1 << 20) is Stop.LIMIT
    assert len(engine.caught(6)) == 1 << 20
    assert seen[-1] == 1 << 20
    assert seen == sorted(seen)


def test_interrupted_it_keeps_what_is_done() -> None:
    engine, told = endless(), []

    def interrupt(words: int) -> None:
        told.append(words)
        if words >= 40_960:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_untimed(engine, interrupt)
    assert engine.now == 0
    assert len(engine.caught(6)) == told[-1]


def test_interrupted_between_control_and_words_it_moves_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while words are on their way: no BD that counts as done is without its words."""
    engine, gather, calls = endless(), Mover.gather, []

    def interrupted(mover: Mover, pad: int) -> np.ndarray:
        calls.append(mover)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return gather(mover, pad)

    monkeypatch.setattr(Mover, "gather", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_untimed(engine)
    done = engine.state.channels.bds_done[6]
    assert len(calls) == done > 7
    assert len(engine.caught(6)) == 4096 * (done - 1)  # the seventh was the one interrupted


def through_a_buffer() -> tuple[Rig, np.ndarray]:
    """S2MM 0 fills a buffer eight times, MM2S 0 sends one of its own eight times."""
    rig, data = Rig(), np.arange(8 * 1024, dtype=np.uint32)
    rig.write_bd(0, Descriptor("memory", 1024, OWN.address(0)))
    rig.write_bd(1, Descriptor("memory", 1024, OWN.address(0x4000)))
    rig.issue(0, 0, 8)
    rig.issue(rig.mm2s(), 1, 8)
    rig.engine.feed(0, data)
    rig.catch(rig.mm2s())
    return rig, data


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("limit", [1024, 1500, 3000, 5000])
def test_a_run_that_goes_on_moves_nothing_twice(limit: int, interrupted: bool) -> None:
    rig, data = through_a_buffer()

    def interrupt(words: int) -> None:
        if words >= limit:
            raise KeyboardInterrupt

    for _ in range(40):
        try:
            if run_untimed(rig.engine, interrupt if interrupted else None, limit) is Stop.QUIET:
                break
        except KeyboardInterrupt:
            continue
    channels = rig.engine.state.channels
    assert (channels.bds_done[0], channels.bds_done[rig.mm2s()]) == (8, 8)
    assert len(rig.engine.caught(rig.mm2s())) == len(data)
    assert rig.engine.pending(0) == 0
    assert rig.engine.state.memory[:1024].tolist() == data[-1024:].tolist()
