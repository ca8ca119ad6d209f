"""Is each kind of error an event of the module that it happens in?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.packets import control_header
from memtile.arch.tiles import MM2S, S2MM
from memtile.arch.timing import Timing
from memtile.bd.windows import DmaAddress
from memtile.sim.doors.event_panel import EventUnit
from memtile.testing.rig import Rig
from memtile.testing.stream_bench import Bench
from support.designs.control_packet_bench import READ, WRITE, reachable, send
from support.designs.interface_bench import LIMIT, caught, counting, fed
from support.designs.packet_bench import fetch

PARITY = 1 << 31
EXTERNAL = ("AXI_MM_DECODE_NSU_ERROR", "AXI_MM_SLAVE_NSU_ERROR", "DMA_S2MM_ERROR", "DMA_MM2S_ERROR")


def raised(unit: EventUnit, *events: str) -> list[str]:
    return [event for event in events if unit.status(event)]


@pytest.mark.feature("F23")
@pytest.mark.parametrize(
    ("words", "others"),
    [
        ([control_header(WRITE, 0x400, 2) ^ PARITY, 1, 2], []),
        ([control_header(WRITE, 0x400, 2), 1], []),
        ([control_header(WRITE, 0x90000), 5], ["AXI_MM_SLAVE_ERROR"]),
        ([control_header(READ, 0x90000, response=4)], ["AXI_MM_SLAVE_ERROR"]),
    ],
    ids=["parity", "TLAST", "write that nothing answers", "read that nothing answers"],
)
def test_a_control_packet_with_an_error_is_an_event(words: list[int], others: list[str]) -> None:
    bench = reachable()
    unit = EventUnit(bench.door())
    send(bench, [control_header(WRITE, 0x400), 1])
    assert raised(unit, "CONTROL_PKT_ERROR", "GROUP_ERRORS") == []
    send(bench, words)
    everything = ("AXI_MM_SLAVE_ERROR", "CONTROL_PKT_ERROR", "STREAM_PKT_ERROR")
    assert raised(unit, *everything) == [*others, "CONTROL_PKT_ERROR"]
    assert unit.status("GROUP_ERRORS")


@pytest.mark.feature("F23")
@pytest.mark.parametrize(("ident", "known"), [(3, True), (4, False)])
def test_a_packet_that_no_slot_wants_is_an_event(ident: int, known: bool) -> None:
    """DEV-EVT-5, DEV-PKT-1."""
    bench = reachable()
    unit = EventUnit(bench.door())
    bench.packets("DMA0", (ident, 31, 0, 0))
    send(bench, [control_header(WRITE, 0x400), 1])
    assert raised(unit, "STREAM_PKT_ERROR", "CONTROL_PKT_ERROR") == ([] if known else ["STREAM_PKT_ERROR"])


@pytest.mark.feature("F23")
def test_an_access_that_nothing_answers_is_an_event() -> None:
    rig = Rig()
    unit = EventUnit(rig.door)
    unit.count(0, "AXI_MM_SLAVE_ERROR", "AXI_MM_SLAVE_ERROR")
    rig.step(2)
    with pytest.raises(Exception, match="0x90000"):
        rig.door.read32(0x90000)
    rig.step(2)
    assert unit.counted(0) == 1


@pytest.mark.feature("F23")
@pytest.mark.parametrize(("tasks", "stalls"), [(4, False), (12, True)])
def test_a_token_that_nobody_takes_is_an_event(tasks: int, stalls: bool) -> None:
    """DEV-TOK-1: the first ones wait in the tile, then the channel stalls."""
    bench = Bench("memory", timing=Timing(token_words=2))
    unit = EventUnit(bench.door())
    for _ in range(tasks // 4):
        for _ in range(4):
            fetch(bench, 0, words=1)
        bench.run()
    assert unit.status("DMA_TASK_TOKEN_STALL") == stalls


@pytest.mark.feature("F23")
def test_reads_of_external_memory_that_nobody_answers_are_an_event_of_the_interface_tile() -> None:
    """DEV-EVT-6."""
    column, _ = caught()
    unit = EventUnit(column.doors[0], "pl")
    source = column.engine.external.add("source", counting(8))
    column.start(0, MM2S, 0, 0, 8, source.at())
    column.engine.run(LIMIT)
    assert raised(unit, *EXTERNAL) == []
    column.start(0, MM2S, 0, 0, 4, DmaAddress(source.at() + 8))
    column.engine.run(2 * LIMIT)
    assert raised(unit, *EXTERNAL) == ["AXI_MM_DECODE_NSU_ERROR", "DMA_MM2S_ERROR"]


@pytest.mark.feature("F23")
def test_writes_of_external_memory_that_is_read_only_are_an_event_of_the_interface_tile() -> None:
    """DEV-EVT-6."""
    column, _ = fed(8)
    unit = EventUnit(column.doors[0], "pl")
    data = np.zeros(8, np.uint32)
    data.flags.writeable = False
    column.start(0, S2MM, 0, 0, 8, column.engine.external.add("fixed", data).at())
    column.engine.run(LIMIT)
    assert raised(unit, *EXTERNAL) == ["AXI_MM_SLAVE_NSU_ERROR", "DMA_S2MM_ERROR"]
