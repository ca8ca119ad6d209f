"""Does what reports in each cycle report in those that are skipped too?"""

from __future__ import annotations

from typing import Any

import pytest

from memtile.arch.tiles import S2MM
from memtile.model.events.reports import signal
from memtile.model.events.units import hold
from memtile.model.state.event_columns import ChannelEvent, TileSignal
from memtile.sim.loop.engine import Engine
from support.designs.flowing_designs import (
    CORE,
    MEM,
    TIMINGS,
    Design,
    add_area,
    differences,
    kernel_of,
    set_lock_of,
    set_up,
)
from support.designs.interface_bench import Column, side_by_side


def column() -> Engine:
    """A column whose words come from one area of external memory and go to another one, without a kernel."""
    what: dict[str, Any] = {
        "timing": TIMINGS[0], "words": 64, "buffers": 2, "sent": (), "came": (), "went": (), "length": 256,
        "runs": 1, "waits": (), "moody": 0, "rounds": 0, "stops": (),
    }  # fmt: skip
    engine, design = side_by_side(1), Design(**what)
    for area in range(2):
        add_area(engine, f"area {area}", area)
    set_up(Column(beside=engine), design, 0, 1, kernel_of(design))
    return engine


def test_a_port_before_a_full_channel_waits_while_time_is_skipped() -> None:
    skipped, stepped = column(), column()
    for engine in (skipped, stepped):
        set_lock_of(Column(beside=engine), MEM, 1, 0)  # words come, and there is no buffer for them
    skipped.wait(900)
    for _ in range(900):
        stepped.wait(1)
    assert not differences(skipped, stepped)
    assert skipped.state.seen[Column(beside=skipped).channel(MEM, S2MM), ChannelEvent.MEMORY] == 899


@pytest.mark.parametrize("what", [TileSignal.TOKEN_STALL, TileSignal.STREAM_PACKET])
def test_what_a_tile_reports_again_and_again_it_reports_while_time_is_skipped(what: TileSignal) -> None:
    engine = column()
    engine.run(400)
    st, tile = engine.present, MEM if what is TileSignal.TOKEN_STALL else CORE
    st.clock.now[0] -= 1
    signal(st, tile, what)
    st.clock.now[0] += 1
    hold(st, 500)
    assert st.signals[tile, what] == 500
