"""Does a trace that mlir-aie refuses say so, although no trace unit is modelled?

Facts of AIETraceOps.cpp, AIEInsertTraceFlows and AIETraceToConfig of mlir-aie (2026-08-14); texts are ours.
"""

from __future__ import annotations

import pytest

from memtile.errors import MemtileError
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import device, host

ENDS = "aie.trace.start broadcast=15\naie.trace.stop broadcast=14"
EVENT = 'aie.trace.event<"INSTR_EVENT_0">'


def traced(*parts: str, tile: str = "%c", config: str = "buffer_size = 64 : i32", more: str = "") -> str:
    """A design with a trace."""
    inside = "\n".join(parts or (EVENT, ENDS))
    return device(
        f"aie.trace @t({tile}) {{\n{inside}\n}}\n{more}", host(f"aie.trace.host_config {{{config}}}")
    )


def combined(slot: int, one: str, other: str) -> str:
    return f'aie.trace.combo_event<{slot}> <"{one}"> AND <"{other}">'


PORT = "aie.trace.port<{}> port=DMA channel={} direction={}"
EDGE = 'aie.trace.edge_event<{}> event=<"{}"> trigger=RISING'
SECOND = "aie.trace @u(%c) {{\naie.trace.packet id={} type={}\n" + ENDS + "\n}}"
TWO_CIRCUITS = "aie.flow(%m, DMA : 0, %s, DMA : 0)\naie.flow(%m, DMA : 1, %s, DMA : 1)"
REFUSED = [
    (traced(*[EVENT] * 9, ENDS), "it has 9 events"),
    (traced("aie.trace.stop broadcast=14"), "it has no aie.trace.start"),
    (traced("aie.trace.start broadcast=15"), "it has no aie.trace.stop"),
    (traced("aie.trace.start\naie.trace.stop broadcast=14"), "it has neither"),
    (traced(ENDS, 'aie.trace.start broadcast=15 event=<"TRUE">'), "it has broadcast and event"),
    (traced(ENDS, 'aie.trace.event<"NO_SUCH">'), "there is no event NO_SUCH"),
    (traced(ENDS, "aie.trace.event<CoreEventAIE2::NO_SUCH>"), "there is no event NO_SUCH"),
    (traced(ENDS, "aie.trace.event<CoreEventAIE2P::TRUE>"), "its tile has no event CoreEventAIE2P::TRUE"),
    (
        traced(ENDS, "aie.trace.event<CoreEventAIE2::TRUE>", tile="%m"),
        "its tile has no event CoreEventAIE2::TRUE",
    ),
    (traced(ENDS, PORT.format(8, 0, "S2MM")), "its slot is 8"),
    (traced(ENDS, PORT.format(0, 7, "MM2S")), "no port DMA : 7 in this direction"),
    (traced(ENDS, PORT.format(0, 0, "MM2S"), PORT.format(0, 1, "MM2S")), "slot 0 is taken in this trace"),
    (traced(ENDS, combined(5, "TRUE", "TRUE")), "its slot is 5"),
    (traced(ENDS, combined(2, "TRUE", "COMBO_EVENT_1")), "it combines TRUE and COMBO_EVENT_1"),
    (traced(ENDS, combined(0, "TRUE", "COMBO_EVENT_1")), "it combines TRUE and COMBO_EVENT_1"),
    (traced(ENDS, EDGE.format(2, "TRUE")), "its slot is 2"),
    (traced(ENDS, EDGE.format(1, "COMBO_EVENT_0")), "its event is COMBO_EVENT_0"),
    (traced(ENDS, "aie.trace.packet id=32 type=core"), "its id is 32"),
    (traced(ENDS, more=SECOND.format(5, "core")), "the core unit of its tile is traced already"),
    (
        traced(ENDS, "aie.trace.packet id=5 type=core", more=SECOND.format(5, "mem")),
        "another trace has packets of id 5 too",
    ),
    (traced(config="buffer_size = 0 : i32"), "its buffer_size is 0"),
    (traced(config='buffer_size = 64 : i32, routing = "each"'), "its routing is each"),
    (traced(config="buffer_size = 64 : i32, egress_shim_col = 1 : i32"), "its egress_shim_col is 1"),
    (traced(more=TWO_CIRCUITS), "flows use all 2 S2MM channels of the interface tile in column 0"),
]
TAKEN = [
    traced(),
    traced(ENDS, *[EVENT] * 8),
    traced(ENDS, "aie.trace.event<MemEventAIE2::DMA_S2MM_0_START_TASK>"),
    traced(ENDS, PORT.format(7, 1, "MM2S"), PORT.format(0, 1, "S2MM")),
    traced(ENDS, combined(2, "COMBO_EVENT_0", "COMBO_EVENT_1"), combined(1, "TRUE", "LOCK_STALL")),
    traced(ENDS, EDGE.format(1, "LOCK_STALL")),
    traced(ENDS, "aie.trace.packet id=31 type=core", more=SECOND.format(1, "mem")),
    traced(config="buffer_size = 1 : i32, routing = #aie<trace_shim_routing single>"),
    traced(more=TWO_CIRCUITS.replace("%s, DMA : 1)", "%c, DMA : 1)")),
]


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_traces_that_mlir_aie_refuses(text: str, says: str) -> None:
    with pytest.raises(MemtileError) as error:
        load(Text("d.mlir", text))
    assert says in str(error.value)


@pytest.mark.parametrize("text", TAKEN)
def test_traces_that_it_takes(text: str) -> None:
    load(Text("d.mlir", text))


def test_a_trace_without_the_hosts_buffer_may_have_no_ends() -> None:
    load(Text("d.mlir", device(f"aie.trace @t(%c) {{\n{EVENT}\n}}")))
