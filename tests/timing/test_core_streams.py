"""When does a core get a word from its stream port, and when may it put one?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memtile import Array, Status
from memtile.arch.ports import PORTS
from memtile.arch.registers import packed
from memtile.arch.switch_registers import MASTER_CONFIG, SLAVE_CONFIG, SLAVE_CONFIG_OFFSET
from memtile.errors import DesignError
from memtile.explain.outcome import outcome
from memtile.model.state.tile_columns import Placed
from memtile.sim.doors.event_panel import EventUnit
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from support.designs.core_designs import timelines

STATUS, HALTS, SHOWN = 0x32004, 0x32018, 0x3201C  # AM025, module core
STALL_GET, STALL_PUT = 1 << 10, 1 << 12  # Core_Status: Stream_Stall_SS0, Stream_Stall_MS0
SWITCH = PORTS["compute"]


def joined() -> Engine:
    """A core whose stream goes to the core in the east."""
    engine = Engine([Placed("compute", column=c, row=3) for c in (0, 1)], switched=True)
    for tile, slave, master in ((0, "CORE0", "EAST0"), (1, "WEST0", "CORE0")):
        door = engine.door(tile)
        at = SWITCH.slave(slave)
        door.write32(SWITCH.base + SLAVE_CONFIG_OFFSET + 4 * at, packed(SLAVE_CONFIG, Slave_Enable=1))
        word = packed(MASTER_CONFIG, Master_Enable=1, Configuration=at)
        door.write32(SWITCH.base + 4 * SWITCH.master(master), word)
    return engine


def sends(values: Any, *, last: bool = False) -> Any:
    def kernel(core: Core) -> Iterator[Action]:
        yield core.put_stream(values, last=last)

    return kernel


def takes(counts: list[int], got: list[Any], before: int = 0) -> Any:
    def kernel(core: Core) -> Any:
        if before:
            yield core.cycles(before)
        for count in counts:
            got.append((yield core.get_stream(count)))
            got.append(core.last)

    return kernel


def run(engine: Engine, kernels: list[Any], cycles: int = 30) -> list[str]:
    for tile, kernel in enumerate(kernels):
        engine.attach_kernel(tile, kernel)
    return [text.rstrip("d") for text in timelines(engine, cycles, range(len(kernels)))]


def test_a_word_a_cycle_after_the_latency_of_the_ports() -> None:
    """AM020 chapter 2: 2 cycles of a slave, 1 or 2 of a master; two switches."""
    got: list[Any] = []
    texts = run(joined(), [sends(np.arange(8, dtype=np.int32)), takes([8], got)])
    latency = 2 + 2 + 2 + 1
    assert texts == ["########", "S" * latency + "########"]
    assert np.array_equal(got[0], np.arange(8))


def test_a_put_waits_for_room_in_the_ports() -> None:
    engine = joined()
    room = 4 + 4 + 4 + 2  # words of a local slave, of both external ports, of a local master (AM020)
    texts = run(engine, [sends(np.arange(room + 1, dtype=np.int32)), takes([1], [], before=40)], 60)
    assert texts[0].startswith("#" * 4)
    assert texts[0].count("#") == room + 1
    assert texts[0].endswith("S#")
    lonely = joined()
    assert run(lonely, [sends(np.arange(room, dtype=np.int32))], 60)[0].count("#") == room
    more = joined()
    run(more, [sends(np.arange(room + 1, dtype=np.int32))], 60)
    assert more.door(0).read32(STATUS) & (STALL_GET | STALL_PUT) == STALL_PUT
    text = str(outcome(more, more.run(1000), {}, []))
    assert "waits for room in its stream, at slave port CORE0 of its stream switch, where none is" in text


def polls(seen: list[int], cycles: int, *, room: bool = False) -> Any:
    """Notes each cycle in which its port has a word, or room, and uses it."""

    def kernel(core: Core) -> Any:
        for _ in range(cycles):
            if not (core.has_room() if room else core.has_word()):
                yield core.cycles(1)
                continue
            seen.append(core.now)
            yield core.put_stream(core.now) if room else core.get_stream()

    return kernel


def test_a_word_and_room_are_seen_in_the_cycles_in_which_they_are_there() -> None:
    """The same moves as of a core that waits, and no cycle of it is a stall."""
    room = 4 + 4 + 4 + 2
    sender = sends(np.arange(room + 4, dtype=np.int32))
    waited = run(joined(), [sender, takes([6, 1, 1], [], before=40)], 70)
    put, got, ready = list[int](), list[int](), list[int]()
    asked = run(joined(), [polls(put, 70, room=True), takes([6, 1, 1], [], before=40)], 70)
    assert [at for at, sign in enumerate(waited[0]) if sign == "#"] == put[: room + 4]
    assert "S" not in asked[0]
    texts = run(joined(), [sends([1, 2]), polls(got, 20)])
    assert got == [7, 8]
    assert "S" not in texts[1]
    run(joined(), [sends([1, 2]), polls(ready, 7)])
    assert not ready


def test_tlast_comes_with_the_last_word_alone() -> None:
    got: list[Any] = []
    run(joined(), [sends(range(3), last=True), takes([1, 1, 1], got)])
    assert got[1::2] == [False, False, True]
    several: list[Any] = []
    run(joined(), [sends([1, 2, 3]), takes([3], several)])
    assert several[1] is False


def test_more_words_than_a_core_holds_come_without_a_gap() -> None:
    got: list[Any] = []
    words = np.arange(3000, dtype=np.int32)
    engine = joined()
    engine.attach_kernel(0, sends(words, last=True))
    engine.attach_kernel(1, takes([3000], got))
    engine.run(3000 + 7)
    assert not engine.cores._cores.ended[1]
    engine.run(3000 + 8)
    assert np.array_equal(got[0], words)
    assert got[1] is True


def test_a_long_stream_has_one_tlast() -> None:
    got: list[Any] = []
    engine = joined()
    engine.attach_kernel(0, sends(np.arange(1500, dtype=np.int32), last=True))
    engine.attach_kernel(1, takes([1024, 476], got))
    engine.run(1600)
    assert got[1::2] == [False, True]


def test_a_core_whose_port_is_not_enabled_waits_and_is_told_so() -> None:
    engine = Engine([Placed("compute")], switched=True)
    assert run(engine, [takes([1], [])], 5) == ["SSSSS"]
    assert engine.door(0).read32(STATUS) & (STALL_GET | STALL_PUT) == STALL_GET
    text = str(outcome(engine, engine.run(1000), {}, []))
    assert "waits for a word of its stream, at master port CORE0 of its stream switch, which is not" in text


def test_events_and_the_halt_of_a_stream_stall() -> None:
    engine = joined()
    unit = EventUnit(engine.door(1), "core")
    unit.count(0, "STREAM_STALL", "STREAM_STALL")
    unit.count(1, "INSTR_STREAM_GET", "INSTR_STREAM_GET")
    sender = EventUnit(engine.door(0), "core")
    sender.count(0, "INSTR_STREAM_PUT", "INSTR_STREAM_PUT")
    run(engine, [sends([1, 2, 3]), takes([3], [])])
    assert [unit.counted(0), unit.counted(1), sender.counted(0)] == [7, 3, 3]
    assert not unit.status("MEMORY_STALL")
    halting = joined()
    halting.door(1).write32(HALTS, 1 << 3)
    assert run(halting, [takes([1], [])] * 2, 4)[1] == "SHHH"
    assert halting.door(1).read32(SHOWN) == 1 | 1 << 4
    assert halting.door(0).read32(SHOWN) == 0


def test_core_and_dma_exchange_words_in_an_array() -> None:
    """From a memory tile's DMA over the core's stream to the DMA of another tile."""
    array = Array("npu1", 1)
    source, target, tile = array.memory_tile(0), array.compute_tile(0, 3), array.compute_tile(0, 2)
    out, into = source.buffer("out", 8, np.int32, data=np.arange(8)), target.buffer("into", 8, np.int32)
    array.connect(source.mm2s[0], tile.stream_in)
    array.connect(tile.stream_out, target.s2mm[0])
    source.mm2s[0].start(source.read(out))
    target.s2mm[0].start(target.write(into))

    def kernel(core: Core) -> Any:
        words = yield core.get_stream(8)
        yield core.put_stream(words * 3, last=True)

    tile.run_kernel(kernel)
    assert array.run().status is Status.FINISHED
    assert np.array_equal(target.load(into), 3 * np.arange(8))


@pytest.mark.parametrize("given", [[], np.zeros(3, np.int8), [0.5], [1 << 32]])
def test_what_is_no_whole_word_is_refused(given: Any) -> None:
    engine = joined()
    engine.attach_kernel(0, sends(given))
    with pytest.raises(DesignError, match="they must be one or more whole 32-bit words"):
        engine.run(3)


def test_a_count_below_one_and_a_type_that_does_not_fit_are_refused() -> None:
    for ask, text in (
        (lambda core: core.get_stream(0), "words is 0; it must be 1 or more"),
        (lambda core: core.get_stream(1, np.int64), "bytes hold whole elements"),
    ):
        engine = joined()

        def kernel(core: Core, ask: Any = ask) -> Iterator[Action]:
            yield ask(core)

        engine.attach_kernel(0, kernel)
        with pytest.raises(DesignError, match=text):
            engine.run(3)
