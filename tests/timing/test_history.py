"""Does the history of a run say, cycle by cycle, what the run's own books say?"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile import Array, MemoryTile, view
from memtile.kernels import Action, Core
from memtile.model.checking import history_log as notes
from memtile.model.checking.history_log import BINS, LockAct, PortDoes, Thing
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.columns import Ints
from memtile.programs import Given, read_program, run_program
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.run_history import History
from support.designs.paused_columns import CLOCK, clock, sending

EXAMPLES = Path(__file__).parents[2] / "examples"
TRANSPOSE = Path(__file__).parents[1] / "oracle" / "txn" / "scn_transpose_8x16.bin"


def example(name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"history_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    made: Callable[..., Any] = module.design
    return made


def two_ends() -> MemoryTile:
    tile = MemoryTile()
    frame = np.arange(40, dtype=np.int32)
    buffer = tile.buffer("b", (40,))
    full = tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.s2mm[0].feed(frame)
    tile.mm2s[0].expect(frame)
    return tile


def long_ring() -> MemoryTile:
    """Two buffers, filled and emptied again and again."""
    tile = MemoryTile()
    empty, full = tile.lock(2, "empty"), tile.lock(0, "full")
    pair = [tile.buffer(name, 64) for name in ("ping", "pong")]
    tile.s2mm[0].start(*(tile.write(b).guarded(empty.acquire(), full.release()) for b in pair), loop=True)
    tile.mm2s[0].start(*(tile.read(b).guarded(full.acquire(), empty.release()) for b in pair), loop=True)
    data = np.arange(64 * 200, dtype=np.int32)
    tile.s2mm[0].feed(data)
    tile.mm2s[0].expect(data)
    return tile


def spent(changes: Ints, ended: int) -> Counter[int]:
    """Cycles by cause of one channel or core."""
    cycles = np.diff(np.append(changes[:, 0], ended))
    found: Counter[int] = Counter()
    for value, n in zip((changes[:, 1] & 0xFF).tolist(), cycles.tolist(), strict=True):
        found[value] += n
    return +found


def recorded(design: MemoryTile | Array, **how: Any) -> History:
    engine: Engine = design.engine
    with engine.checks.recorded() as found:
        design.run(**how)
    return found[0]


def changed(history: History, kind: Thing) -> dict[int, Ints]:
    """Changes by model index: cycle and value."""
    return {index: changes.rows for index, changes in history.of(kind).items()}


def books_agree(history: History, engine: Engine) -> None:
    """The cycles by cause of every channel and core are those that are booked."""
    for kind, booked in ((Thing.CHANNEL, engine.state.spent), (Thing.CORE, engine.state.core_spent)):
        changes = changed(history, kind)
        assert set(changes) == set(range(len(booked)))
        for index, rows in changes.items():
            causes = {cause: n for cause, n in enumerate(booked[index].tolist()) if n}
            assert spent(rows, history.ended) == causes, (kind, index)


@pytest.mark.parametrize("name", ["transpose", "packets", "convolution"])
def test_cycles_by_cause_are_those_that_are_booked(name: str) -> None:
    design = example(name)()
    history = recorded(design)
    assert history.began == 0
    assert history.ended == design.engine.now > 0
    books_agree(history, design.engine)


def test_rows_are_in_order_and_say_something_new() -> None:
    design = example("transpose")()
    history = recorded(design)
    assert (np.diff(history.log[:, 0]) >= 0).all()
    for kind in (Thing.CHANNEL, Thing.CORE, Thing.PORT):
        for rows in changed(history, kind).values():
            assert (np.diff(rows[:, 0]) > 0).all()
            assert (np.diff(rows[:, 1]) != 0).all()


def test_who_waits_for_a_lock_and_who_gives_it() -> None:
    design = two_ends()
    history = recorded(design)
    waits = [v for rows in changed(history, Thing.CHANNEL).values() for v in rows[:, 1].tolist()]
    locks = {v >> notes.LOCK_LSB for v in waits if v & 0xFF == Cause.LOCK_ACQUIRE}
    assert locks == {1}  # lock 0, one more
    acts = changed(history, Thing.LOCK)[0]
    what = [LockAct(v & 0xFF) for v in acts[:, 1].tolist()]
    assert what == [LockAct.RESET, LockAct.RELEASE, LockAct.ACQUIRE]
    levels = ((acts[:, 1] >> notes.LEVEL_LSB) & notes.LEVEL_MASK) - notes.LEVEL_BIAS
    assert levels.tolist() == [0, 1, 0]
    agents = (acts[1:, 1] >> notes.AGENT_LSB).tolist()
    channels = design.engine.channels
    assert [int(channels.direction[agent - 1]) for agent in agents] == [0, 1]  # S2MM gives, MM2S takes
    assert acts[2, 0] == acts[1, 0] + 1


def test_words_over_the_ports_are_words_moved() -> None:
    design = example("transpose")()
    history = recorded(design)
    switch, engine = design.engine.state.switch, design.engine
    moved = {}
    for port, rows in changed(history, Thing.PORT).items():
        cycles = np.diff(np.append(rows[:, 0], history.ended))
        moved[port] = int(cycles[rows[:, 1] == PortDoes.MOVING].sum())
    for ch in engine.channels_in_use():
        port = int(engine.channels.switch_port[ch])
        if port >= 0:
            assert moved[port] == engine.state.spent[ch, Cause.MOVING]
    assert set(moved) <= set(range(len(switch.held)))


def test_banks_are_hot_where_words_go() -> None:
    design = two_ends()
    history = recorded(design)
    assert history.heat.shape[1:] == (2, BINS)
    assert history.heat[:, 0].sum() == 20  # 40 words in, 40 out, four in an access
    assert history.ended <= BINS * history.stretch
    assert history.heat[:, 0].sum(axis=1)[0] > 0


def test_a_history_changes_nothing() -> None:
    alone, watched = example("transpose")(), example("transpose")()
    result = alone.run()
    with watched.engine.checks.recorded():
        again = watched.run()
    assert again.as_json() == result.as_json()
    assert watched.engine.state.logging[notes.ON] == 0


def two_cores() -> Array:
    """A core gives objects to another one, through a memory tile."""
    array = Array("npu1", columns=1)
    first, second, shared = array.compute_tile(0, 2), array.compute_tile(0, 3), array.memory_tile(0)
    there = array.object_fifo("there", first, shared, shape=(64,))
    [back] = there.split("back", [second], parts=[view((64,), np.int32)])

    def gives(core: Core) -> Iterator[Action]:
        for n in range(200):
            yield core.acquire(there.producer.free)
            yield core.cycles(40)
            core.write(there.producer.buffer(n), np.full(64, n, np.int32))
            yield core.release(there.producer.full)

    def takes(core: Core) -> Iterator[Action]:
        end = back.consumers[0]
        for n in range(200):
            yield core.acquire(end.full)
            yield core.cycles(90)
            core.read(end.buffer(n))
            yield core.release(end.free)

    first.run_kernel(gives)
    second.run_kernel(takes)
    return array


@pytest.mark.parametrize("make", [long_ring, two_cores])
def test_cycles_that_are_jumped_over_have_their_history(make: Callable[[], MemoryTile | Array]) -> None:
    """The same rows as if each cycle had been stepped, and each bank's accesses but for parts of a period."""
    found = []
    for jumps in (False, True):
        design = make()
        design.engine.forward.on = jumps
        history = recorded(design)
        assert (design.engine.forward.jumped > 2000) == jumps
        books_agree(history, design.engine)
        found.append(history)
    stepped, jumped = found
    assert (stepped.began, stepped.ended, stepped.stretch) == (jumped.began, jumped.ended, jumped.stretch)
    assert len(jumped.log) < len(stepped.log) / 4
    for kind in Thing:
        rows, others = changed(stepped, kind), changed(jumped, kind)
        assert rows.keys() == others.keys()
        for index, each in rows.items():
            np.testing.assert_array_equal(others[index], each)
    assert np.array_equal(stepped.heat.sum(axis=2), jumped.heat.sum(axis=2))
    assert abs(stepped.heat - jumped.heat).max() <= 16  # granules of a buffer in a period


def test_nothing_is_noted_before_somebody_asks() -> None:
    design = two_ends()
    design.run()
    assert not design.engine.state.log.any()
    assert not design.engine.state.heat.any()


def test_a_history_may_begin_later() -> None:
    design = two_ends()
    design.engine.run(20)
    with design.engine.checks.recorded() as found:
        design.run()
    history = found[0]
    assert history.began == 20
    assert {int(rows[0, 0]) for rows in changed(history, Thing.CHANNEL).values()} == {20}


def test_cores_that_end_and_those_that_never_began() -> None:
    design = example("convolution")()
    history = recorded(design)
    ends = Counter(CoreCause(int(rows[-1, 1]) & 0xFF) for rows in changed(history, Thing.CORE).values())
    assert ends[CoreCause.DONE] > 0


@pytest.mark.parametrize("pause", [1, 2, 100])
@pytest.mark.parametrize("at", [1, 9, 215])
def test_a_column_that_has_no_clock_for_a_while(at: int, pause: int) -> None:
    array = sending()
    with array.engine.checks.recorded() as found:
        array.engine.run(at)
        clock(array, 0, False)
        array.engine.wait(pause)
        clock(array, 0, True)
        assert array.run().good
    books_agree(found[0], array.engine)
    assert any((rows[:, 1] == Cause.CLOCK_OFF).any() for rows in changed(found[0], Thing.CHANNEL).values())


def test_what_a_host_does_between_idle_cycles() -> None:
    """Nothing acts while the clock of the column is off: time passes in jumps, booked all the same."""
    array = Array("npu1", 1)
    switch = array.door.address(0, 0, CLOCK)
    with array.engine.checks.recorded() as found:
        array.engine.pass_to(50)
        clock(array, 0, False)
        array.engine.pass_to(120)
        array.door.write32(switch, 1)
        array.engine.pass_to(300)
    history = found[0]
    books_agree(history, array.engine)
    memory = next(
        ch for ch, tile in enumerate(array.engine.channels.tile) if tile == array.memory_tile(0).index
    )
    rows = changed(history, Thing.CHANNEL)[memory]
    assert [Cause(value) for value in rows[:, 1].tolist()] == [Cause.IDLE, Cause.CLOCK_OFF, Cause.IDLE]
    assert rows[:2, 0].tolist() == [0, 50]


def test_a_program_with_a_host() -> None:
    """A program of register writes, its host between them."""
    program = read_program(TRANSPOSE.read_bytes(), "transpose")
    array = Array("npu1", 4)
    arrays = [Given("x", np.arange(128, dtype=np.int32))]
    with array.engine.checks.recorded() as found:
        run_program(program.operations, array, arrays)
    books_agree(found[0], array.engine)
    assert array.engine.host.waited > 0
