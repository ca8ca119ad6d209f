"""Does a host leave out no look that may see something, for each reason for which it may see it early?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from memtile import Array, Timing
from memtile.arch.devices import FIRMWARE_PORT
from memtile.arch.ports import PORTS
from memtile.arch.register_map import register_named
from memtile.errors import DesignError
from memtile.jit.tables import plain
from memtile.kernels import apart
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import (
    COMPRESSION_LSB,
    OUT_OF_ORDER_MASK,
    QUEUE_REPEAT_LSB,
    QUEUE_TOKEN_LSB,
)
from memtile.runs.waits import may_arrive
from memtile.sim.doors.polling import POLL_CYCLES, cycles_left, run_to_next_poll, tasks_to_token
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from support.designs.flowing_designs import differences
from support.designs.host_looks import CONTROL, ON_TLAST, TILE, Built, Hosted, Step, looks
from support.mlir.mlir_designs import TILES, device, host, loaded

WORDS = 3000
BUS = register_named("core", "Core_Processor_Bus").offset
COMPUTE = 2 * TILE  # row 2


def both(design: Hosted) -> tuple[list[int], list[int]]:
    """Looks of a host that leaves some out, and of one that makes all; all else is the same."""
    found = []
    for every in (False, True):
        with looks(every=every) as seen:
            built = Built(design)
            built.array.run(60_000)
        found.append((built, seen))
    (one, seen), (other, all_seen) = found
    assert one.did == other.did
    assert not differences(one.array.engine, other.array.engine)
    assert set(seen) <= set(all_seen)
    return seen, all_seen


def hosted(*steps: Step, kernel: str = "", free: int = 2, words: int = 100, compares: int = 0) -> Hosted:
    return Hosted(20, words, free, kernel, compares, (steps,), ())


LOOP, ALL = Step("loop", 0, WORDS, 1), Step("wait", 3, 0, 1)
LOST = Step("lost", 3, WORDS, 1)


def test_looks_at_a_long_descriptor_are_left_out_but_for_the_last() -> None:
    seen, every = both(hosted(LOOP, ALL))
    assert len(every) - len(seen) == WORDS // POLL_CYCLES - 2, "the task has begun, and the last look is made"


@pytest.mark.parametrize("number", [2, 3], ids=["BDs", "places in a queue"])
def test_looks_for_room_are_left_out_while_no_task_can_end(number: int) -> None:
    seen, every = both(hosted(Step("many", number, 6000, 2), ALL))
    assert len(seen) < len(every) // 3


def test_descriptors_of_a_channel_that_comes_to_rest_are_free() -> None:
    """Also those of tasks of a host that has ended."""
    words = (600, 1500, 600, 1500)
    others = tuple(Step("through", 2 * (n == 0), each, 1) for n, each in enumerate(words))
    seen, every = both(Hosted(20, 100, 2, "", 0, (others, (Step("many", 2, 3000, 2), ALL)), ()))
    assert 8 < len(seen) < len(every)


def test_who_waits_for_descriptors_beside_others_makes_all_looks() -> None:
    """The others may take them, so that nobody is left who could give some back."""
    through = [Step("through", n, words, 1) for n, words in ((3, 600), (0, 600), (3, 200))]
    others = Step("loop", 1, 9000, 2), *through[:2], Step("wait", 2, 0, 1), through[2]
    refused = []
    for every in (False, True):
        built = Built(Hosted(20, 100, 2, "", 0, ((Step("many", 2, 3000, 2), ALL), others), ()))
        with looks(every=every), pytest.raises(DesignError, match="only 0 of BDs"):
            built.array.run(60_000)
        refused.append(built.array.engine.now)
    assert refused[0] == refused[1]


def test_looks_are_left_out_up_to_the_last_descriptor_of_the_last_run() -> None:
    """Two runs of two descriptors of 3,000 words."""
    seen, every = both(hosted(Step("through", 0, 2 * WORDS, 2), Step("wait", 2, 0, 1)))
    assert len(every) > 4 * WORDS // POLL_CYCLES
    assert len(seen) <= 5


def test_a_host_without_room_in_a_queue_looks_when_a_task_has_ended() -> None:
    """Seven tasks of 3,000 words: the queue takes four, beside the one that runs or with it."""
    seen, every = both(hosted(*[LOOP] * 7, ALL))
    assert len(every) > 6 * WORDS // POLL_CYCLES
    assert len(seen) < 6 * 4


def test_a_wait_for_a_later_task_is_one_for_those_before_it() -> None:
    seen, every = both(hosted(LOOP, LOOP, LOOP, ALL))
    assert len(every) > 3 * WORDS // POLL_CYCLES
    assert len(seen) <= 8


def test_a_pause_ends_in_its_cycle() -> None:
    design = Hosted(20, 100, 2, "", 0, ((LOOP, ALL), (Step("pause", 0, 777, 1), LOOP)), ())
    seen, every = both(design)
    assert 777 in seen
    assert len(seen) < len(every) // 2


def test_a_kernel_that_looks_around_may_give_the_channel_other_work() -> None:
    """It resets the channel and pushes three words, which the host sees when they have come."""
    seen, every = both(hosted(LOOP, ALL, kernel="pushes"))
    assert len(seen) > len(every) // 2
    seen, every = both(hosted(LOOP, ALL, kernel="apart"))
    assert len(seen) < len(every) // 2


def test_a_packet_may_end_a_descriptor_early() -> None:
    seen, every = both(hosted(Step("tlast", 2, 0, 1), LOOP, Step("wait", 0, 0, 1)))
    assert seen == every
    engine = long_loop(lambda array: array.door.write32(TILE + CONTROL, ON_TLAST))
    assert cycles_left(engine, {receiver(engine): 1}) == 0


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_who_waits_for_ever_stops_in_the_same_cycle(first: int) -> None:
    """Quiet cycles are counted anew after each look, also one that is left out."""
    for words in range(first, first + 20):
        both(hosted(LOST, Step("through", 0, 900, 1), Step("pause", 0, words + 1, 1), ALL))


def test_a_timer_of_a_tile_goes_on_behind_the_last_word() -> None:
    for compares in (2000, 2001, 5050):
        both(hosted(LOST, Step("through", 0, 900, 1), ALL, compares=compares))


def long_loop(prepare: Callable[[Array], Any] = lambda _array: None) -> Engine:
    """A memory tile that sends itself many words, some cycles on."""
    built = Built(hosted(LOOP))
    prepare(built.array)
    built.array.run(300)
    return built.array.engine


def receiver(engine: Engine) -> int:
    """Its S2MM 1."""
    return int(engine.tiles.channel_base[1]) + 1


def test_what_is_left_of_a_descriptor() -> None:
    engine = long_loop()
    ch, c = receiver(engine), plain(engine.state.channels)
    assert cycles_left(engine, {ch: 1}) == WORDS - c.moved[ch] > 2000
    assert cycles_left(engine, {0: 1, ch: 1}) == cycles_left(engine, {ch: 1})
    c.packed[ch] = 1
    assert cycles_left(engine, {ch: 1}) == 0
    c.packed[ch] = 0
    plain(engine.state.walks).stream_words[ch] = 2
    assert cycles_left(engine, {ch: 1}) == (WORDS - c.moved[ch]) // 2
    engine.run(engine.now + WORDS)
    assert cycles_left(engine, {ch: 1}) == cycles_left(engine, {}) == 0


def test_what_is_left_of_a_task_and_of_those_behind_it() -> None:
    engine = long_loop()
    ch, c = receiver(engine), plain(engine.state.channels)
    left = int(WORDS - c.moved[ch])
    assert (c.next_bd[ch], c.runs_left[ch], c.queue_count[ch]) == (-1, 0, 0)
    c.runs_left[ch] = 2
    assert cycles_left(engine, {ch: 1}) == left + 2 * WORDS
    c.queue_count[ch], c.queue[ch, 0] = 1, int(c.bd[ch]) | 4 << QUEUE_REPEAT_LSB | 1 << QUEUE_TOKEN_LSB
    assert cycles_left(engine, {ch: 1}) == left + 2 * WORDS
    assert cycles_left(engine, {ch: 2}) == left + 7 * WORDS
    assert tasks_to_token(engine, ch) == 2
    c.control[ch] |= OUT_OF_ORDER_MASK
    assert cycles_left(engine, {ch: 2}) == 0
    c.control[ch] &= ~OUT_OF_ORDER_MASK
    c.control[ch] |= 1 << COMPRESSION_LSB
    assert cycles_left(engine, {ch: 2}) == left
    c.control[ch] &= ~(1 << COMPRESSION_LSB)
    c.next_bd[ch] = c.bd[ch]
    assert cycles_left(engine, {ch: 1}) == left + 3 * WORDS


def test_tokens_that_come_ahead_of_the_last_words_do_not_come_before_these_are_read() -> None:
    built = Built(hosted(Step("through", 0, 9000, 2)))
    built.array.run(300)
    engine, ch = built.array.engine, built.io.mm2s[0].index
    moved, left = plain(engine.state.channels).moved[ch], plain(engine.state.walks).left[ch]
    assert cycles_left(engine, {ch: 1}) == 9000 - moved + 9000 > left
    with patch("memtile.sim.loop.engine.Engine.timing", Timing(external_ahead=1)):
        assert cycles_left(engine, {ch: 1}) == (left + 9000) // 4


def test_a_control_packet_may_come() -> None:
    engine = long_loop()
    ch, switch = receiver(engine), plain(engine.state.switch)
    port = int(engine.tiles.master_base[1]) + PORTS["memory"].master("CTRL0")
    for column, value in ((switch.mode, 2), (switch.held, 1), (engine.state.active_controls, 1)):
        at = 0 if column is engine.state.active_controls else port
        before, column[at] = column[at], value
        assert cycles_left(engine, {ch: 1}) == 0
        column[at] = before
    assert cycles_left(engine, {ch: 1}) > 0


def idles(core: Any) -> Iterator[Any]:
    yield core.cycles(5000)


@pytest.mark.parametrize(("kernel", "bus", "known"), [(apart(idles), 0, True), (apart(idles), 1, False)])
def test_a_kernel_may_write_registers_of_its_tile(kernel: Any, bus: int, known: bool) -> None:
    def prepare(array: Array) -> None:
        array.door.write32(COMPUTE + BUS, bus)
        array.compute_tile(0, 2).run_kernel(kernel)

    engine = long_loop(prepare)
    assert (cycles_left(engine, {receiver(engine): 1}) > 0) is known


def test_the_last_cycle_ends_what_is_left_out() -> None:
    engine = long_loop()
    began = engine.now
    run_to_next_poll(engine, began + 250, in_vain=1000)
    assert engine.now == began + 250
    run_to_next_poll(engine, 1 << 40, in_vain=399)
    assert engine.now == began + 550


def test_a_wait_for_a_timer_ends_with_a_poll() -> None:
    built = Built(hosted(LOOP, compares=5000))
    built.array.run(300)
    assert run_to_next_poll(built.array.engine, 1 << 40, in_vain=5000) is Stop.LIMIT
    assert built.array.engine.now == 3100


def awaiting(words: int) -> Any:
    """The firmware waits for the tokens of two tasks of a compute tile, one after the other."""
    tiles = TILES.replace(
        "%s = aie.tile(0, 0)",
        "%s = aie.tile(0, 0) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 3>}",
    ).replace(
        "%c = aie.tile(0, 2)",
        "%c = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 1>}",
    )
    task = (
        "%t{n} = aiex.dma_configure_task(%{tile}, {way}, 0) {{\n"
        "aie.dma_bd({buffer} : memref<{all}xi32> offset = 0 len = {len}) {{bd_id = {n} : i32}}\n"
        "aie.end\n}} {token}\naiex.dma_start_task(%t{n})"
    )
    issued, total = "{issue_token = true}", words + 1500
    text = device(
        '%x = aie.buffer(%c) {sym_name = "x"} : memref<4000xi32>',
        "aie.flow(%s, DMA : 0, %c, DMA : 0)",
        *(
            f"aie.packet_flow({n}) {{ aie.packet_source<%{tile}, TileControl : 0> "
            "aie.packet_dest<%s, South : 0> }"
            for n, tile in ((1, "c"), (3, "s"))
        ),
        host(
            task.format(n=0, tile="c", way="S2MM", buffer="%x", all=4000, len=words, token=issued),
            task.format(n=1, tile="c", way="S2MM", buffer="%x", all=4000, len=1500, token=issued),
            task.format(n=2, tile="s", way="MM2S", buffer="%a", all=4000, len=total, token=""),
            "aiex.dma_await_task(%t0)",
            task.format(n=3, tile="s", way="MM2S", buffer="%a", all=4000, len=5, token=""),
            "aiex.dma_await_task(%t1)",
        ).replace("64xi32", "4000xi32"),
        tiles=tiles,
    )
    return loaded(text)


@pytest.mark.parametrize("words", range(1000, 1100, 9))
def test_a_token_of_the_task_before_is_on_its_way(words: int) -> None:
    found = []
    for every in (False, True):
        with looks(every=every) as seen:
            design = awaiting(words)
            done = design.run(np.arange(4000, dtype=np.int32), None, max_cycles=100_000)
        found.append((design.array.engine, done.result.cycles, done.stopped, seen))
    (one, *said, seen), (other, *all_said, all_seen) = found
    assert said == all_said
    assert not differences(one, other)
    assert set(seen) < set(all_seen)


def test_what_else_may_come_to_the_firmware() -> None:
    design = awaiting(1000)
    design.run(np.arange(4000, dtype=np.int32), None)
    engine = design.array.engine
    st, switch = engine.state, plain(engine.state.switch)
    assert not may_arrive(st, [0])
    names = PORTS[KIND_NAMES[engine.tiles.kind[0]]]
    at_host = int(engine.tiles.master_base[0]) + names.master(FIRMWARE_PORT)
    data = int(engine.tiles.slave_base[0]) + names.slave("SOUTH3")
    north = int(engine.tiles.slave_base[0]) + names.slave("NORTH0")
    due = plain(st.channels).token_due
    for column, at, value in (
        (switch.mode, at_host, 1),
        (switch.held, at_host, 1),
        (switch.mode, data, 2),
        (due, 3, 1),
        (st.active_controls, 0, 1),
    ):
        before, column[at] = int(column[at]), value
        assert may_arrive(st, [0])
        column[at] = before
    packets = [p for p in range(north, north + 4) if switch.mode[p] == 2]
    assert packets
    switch.held[packets[0]] = 1
    assert may_arrive(st, [0])
    switch.held[packets[0]] = 0
    assert not may_arrive(st, [0])
