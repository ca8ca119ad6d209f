"""Do the switches of packet flows do what mlir-aie's router would have them do?

Facts: mlir-aie, aie-create-pathfinder-flows and its tests in test/create-packet-flows and test/create-flows;
AIERT for headers. The comparison with those tests is ``tests/oracle/mlir_routing.py``.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from memtile.design.packet_switches import PacketSwitch, Slot, cover
from memtile.errors import MemtileError
from memtile.importers.mlir.set_circuits import is_routed
from support.mlir.mlir_designs import NUMBERS, WAIT, copied, device, host, loaded


def packets(number: int, source: str, *targets: str, more: str = "") -> str:
    """``aie.packet_flow``; ends are ``c.DMA.0``."""
    parts = [each.split(".") for each in (source, *targets)]
    ends = [f"<%{tile}, {bundle} : {n}>" for tile, bundle, n in parts]
    inside = "".join(f" aie.packet_dest{end}" for end in ends[1:])
    return f"aie.packet_flow({number}) {{ aie.packet_source{ends[0]}{inside} }} {more}"


def switch(text: str, *place: int) -> PacketSwitch:
    return loaded(text).configured.packet_switches[place[0], place[1]]


def test_trace_flows_of_a_column_leave_it_by_one_port() -> None:
    """Five units trace to one channel, as IRON asks for it: no slave needs more slots than it has."""
    units = [("m", "Trace"), ("c", "Trace"), ("d", "Trace"), ("e", "Trace"), ("f", "Trace")]
    tiles = "%s = aie.tile(0, 0)\n" + "".join(f"%{n} = aie.tile(0, {r})\n" for r, n in enumerate("mcdef", 1))
    flows = [
        packets(n + 1, f"{tile}.{bundle}.0", "s.DMA.1", more="{keep_pkt_header = true}")
        for n, (tile, bundle) in enumerate(units)
    ]
    found = switch(device(*flows, tiles=tiles), 0, 0)
    arbiter, msels, drop = found.masters["SOUTH3"]
    assert not drop
    slots = [slot for each in found.slots.values() for slot in each]
    mine = [slot for slot in slots if slot.arbiter == arbiter and slot.msel in msels]
    ids = {number for slot in mine for number in range(32) if number & slot.mask == slot.id}
    assert ids >= set(range(1, 6))


@pytest.mark.parametrize(
    ("ids", "avoid", "rules"),
    [
        ((2, 4), {0}, [(31, 2), (31, 4)]),  # what they have in common is what 0 has too
        ((0, 3, 4), {1}, [(27, 0), (31, 3)]),  # the fewest
        ((26, 29), {28}, [(31, 26), (31, 29)]),
        ((0, 4), set(), [(27, 0)]),
        ((7,), {1}, [(31, 7)]),
    ],
)
def test_masks_match_ids_and_none_that_go_elsewhere(
    ids: tuple[int, ...], avoid: set[int], rules: list[tuple[int, int]]
) -> None:
    assert sorted(cover(ids, frozenset(avoid))) == sorted(rules)


def test_ids_with_one_destination_have_one_rule_and_others_their_own() -> None:
    flows = [packets(n, "c.DMA.0", target) for n, target in ((0, "d.DMA.0"), (2, "s.DMA.0"), (4, "s.DMA.0"))]
    found = switch(device(*flows), 0, 2)
    assert [slot[:2] for slot in found.slots["DMA0"]] == [(31, 2), (31, 4), (31, 0)]


def test_a_flow_with_priority_gets_the_last_arbiter_and_msel() -> None:
    flows = (
        packets(1, "c.DMA.0", "d.DMA.0"),
        packets(2, "s.DMA.0", "d.TileControl.0", more="{priority_route = true}"),
    )
    found = switch(device(*flows), 0, 3)
    assert found.masters["CTRL0"] == (5, (3,), False)
    assert found.masters["DMA0"] == (0, (0,), True)


def test_the_last_flow_to_a_port_says_whether_headers_stay() -> None:
    keep, drop = "{keep_pkt_header = true}", "{keep_pkt_header = false}"
    for says, dropped in ((["", keep], False), ([keep, ""], True), ([drop], True), ([keep, drop], True)):
        flows = [packets(n, f"{'cd'[n]}.DMA.0", "m.DMA.0", more=more) for n, more in enumerate(says)]
        assert switch(device(*flows), 0, 1).masters["DMA0"][2] == dropped


def test_a_flow_with_a_mask_takes_all_ids_that_it_matches() -> None:
    """A spelling of autumn 2026."""
    flows = (
        packets(2, "c.DMA.0", "d.DMA.0").replace("(2)", "(2, mask = 30)"),
        packets(0, "c.DMA.0", "s.DMA.0"),
    )
    assert [slot[:2] for slot in switch(device(*flows), 0, 2).slots["DMA0"]] == [(31, 0), (30, 2)]
    with pytest.raises(MemtileError, match="it has 1 more operands"):
        loaded(device(flows[0].replace("mask = 30", "30")))


def test_multicasts_and_broadcasts_are_flows() -> None:
    """Those of mlir-aie's aie-lower-multicast and aie-broadcast-packet."""
    text = device(
        'aiex.multicast(%s, "DMA" : 0) { aiex.multi_dest<%c, "DMA" : 0> aiex.multi_dest<%d, "DMA" : 0> }',
        "aiex.broadcast_packet(%m, DMA : 0) { aiex.bp_id(0x0) { aiex.bp_dest<%c, DMA : 1> } "
        "aiex.bp_id(0x1) { aiex.bp_dest<%d, DMA : 1> aiex.bp_dest<%c, DMA : 1> } }",
    )
    flows = loaded(text).configured.device.flows
    said = [(flow.packet, [f"{t.tile}{t.channel}" for t in flow.targets]) for flow in flows]
    assert said == [(None, ["%c0"]), (None, ["%d0"]), (1, ["%d1", "%c1"]), (0, ["%c1"])]


def test_streams_that_are_added_to_a_text_get_other_arbiters() -> None:
    """As a trace of it does: an msel of an arbiter has one set of masters."""
    array = loaded(device(packets(1, "c.DMA.0", "m.DMA.0"))).array
    assert array.circuits.free_arbiters((0, 0)) == [0, 1, 2, 3, 4, 6, 7]  # tokens have the other one
    bus = array.packet_bus(
        "more", (array.compute_tile(0, 3).mm2s[0], [array.memory_tile(0).s2mm[1]]), ids=[1]
    )
    array.route()
    assert array.circuits.free_arbiters((0, 1)) == [2, 3, 4, 5, 6, 7]
    assert bus.streams[0].id == 1


def test_an_id_that_no_header_holds_is_refused() -> None:
    with pytest.raises(
        MemtileError, match=r"d.mlir:6:1: aie.packet_flow: packet id 32 exceeds the maximum of 31"
    ):
        loaded(device(packets(32, "c.DMA.0", "d.DMA.0")))


def test_five_destinations_of_one_port_are_one_too_many() -> None:
    targets = ("c.DMA.0", "c.DMA.1", "d.DMA.0", "c.TileControl.0", "d.DMA.1")
    tiles = "%m = aie.tile(0, 1)\n%c = aie.tile(0, 2)\n%d = aie.tile(0, 3)\n"
    with pytest.raises(MemtileError, match=re.escape("compute(0,2) slave SOUTH0 needs 5 slots; it has 4")):
        loaded(device(*(packets(n, "m.DMA.0", target) for n, target in enumerate(targets)), tiles=tiles))


def test_a_stream_to_masters_of_two_arbiters_is_refused() -> None:
    """mlir-aie's router leaves out one of them without a word."""
    flows = [
        packets(0, "c.DMA.0", "c.DMA.0"),
        packets(1, "c.DMA.0", "c.DMA.1"),
        packets(2, "c.DMA.0", "c.DMA.0", "c.DMA.1"),
    ]
    with pytest.raises(MemtileError, match="needs a stream that goes to masters of arbiters 0 and 1"):
        loaded(device(*flows))


def test_two_sources_of_one_id_share_no_wire() -> None:
    """Where they did, each receiver would get what both send (mlir-aie, same_id_shared_link.mlir)."""
    found = switch(device(packets(0, "c.DMA.0", "m.DMA.0"), packets(0, "d.DMA.0", "m.DMA.0")), 0, 1)
    assert list(found.slots.values()) == [[Slot(31, 0, 0, 0)]] * 2


def test_two_sources_of_two_ids_share_what_they_can() -> None:
    found = switch(device(packets(0, "c.DMA.0", "m.DMA.0"), packets(1, "d.DMA.0", "m.DMA.0")), 0, 1)
    assert list(found.slots.values()) == [[Slot(30, 0, 0, 0)]]


def test_a_source_has_one_way_whatever_its_ids() -> None:
    """DEV-MLIR-6."""
    flows = [packets(n, "s.DMA.0", target) for n, target in enumerate(("c.DMA.0", "d.DMA.0", "d.DMA.1"))]
    assert len(switch(device(*flows), 0, 1).slots) == 1


def test_flows_go_round_circuits_that_are_set_by_hand() -> None:
    fixed = "aie.switchbox(%c) { aie.connect<North : 0, DMA : 0> }"
    design = loaded(device(fixed, packets(3, "d.DMA.0", "m.DMA.0"), "aie.flow(%m, DMA : 0, %d, DMA : 0)"))
    assert "NORTH0" not in design.configured.packet_switches[0, 2].slots


def test_flows_whose_circuits_the_text_sets_are_there_already() -> None:
    """Texts of 2024 keep flows behind the switches that they were routed to."""
    switches = """aie.switchbox(%s) {{ aie.connect<South : 3, North : 1> aie.connect<North : 0, South : 2> }}
aie.shim_mux(%s) {{ aie.connect<DMA : 0, North : 3> aie.connect<North : 2, DMA : 0> }}
aie.switchbox(%m) {{ aie.connect<South : 1, North : 1> aie.connect<North : 0, South : 0> }}
aie.switchbox(%c) {{ aie.connect<South : {channel}, DMA : 0> aie.connect<DMA : 0, South : 0> }}"""
    flows = "aie.flow(%s, DMA : 0, %c, DMA : 0)", "aie.flow(%c, DMA : 0, %s, DMA : 0)"
    there = loaded(device(switches.format(channel=1), *flows))
    assert is_routed(there.configured.device)
    elsewhere = device(switches.format(channel=2), *flows)
    with pytest.raises(MemtileError, match="cannot have interface"):  # its ports are taken
        loaded(elsewhere)


def test_packets_set_by_hand_beside_flows_are_refused() -> None:
    fixed = (
        "aie.switchbox(%c) { %x = aie.amsel<0>(0) %y = aie.masterset(DMA : 0, %x) "
        "aie.packet_rules(North : 0) { aie.rule(31, 1, %x) } }"
    )
    with pytest.raises(MemtileError, match=r"aie.switchbox: packets are set by hand in a switch"):
        loaded(device(fixed, "aie.flow(%m, DMA : 0, %d, DMA : 0)"))


_RULES = "aie.packet_rules({0} : 0) {{ {1} }}"


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ("aie.connect<South : 0, DMA : 0> aie.connect<South : 1, DMA : 0>", "DMA : 0 is the target of two"),
        ("aie.connect<South : 0, DMA : 1> %o = aie.masterset(DMA : 1, %x)", "DMA : 1 is the target of two"),
        (
            "aie.connect<South : 0, DMA : 1> " + _RULES.format("South", "aie.rule(31, 0, %x)"),
            "South : 0 is a source",
        ),
        (
            _RULES.format("South", " ".join(f"aie.rule(31, {n}, %x)" for n in range(5))),
            "South : 0 has 5 rules",
        ),
        ("%o = aie.masterset(DMA : 1, %x, %y)", "it has amsels of several arbiters"),
        ("%o = aie.masterset(DMA : 1)", "it has no amsel"),
    ],
)
def test_a_switch_that_the_hardware_does_not_have_is_refused(inside: str, says: str) -> None:
    """As mlir-aie's verifier has it."""
    selects = "%x = aie.amsel<0>(0) %y = aie.amsel<1>(0)"
    with pytest.raises(MemtileError, match=says):
        loaded(device(f"aie.switchbox(%c) {{ {selects} {inside} }}"))


@pytest.mark.parametrize("keep", ["", " {keep_pkt_header = true}"])
def test_headers_end_below_a_switch_that_is_set_by_hand(keep: str) -> None:
    """A master to the south of an interface tile drops them; a routed text does not say so (AIERT)."""
    low = "%x = aie.amsel<0>(0) %y = aie.masterset(South : 2, %x)" + keep
    text = device(
        f"aie.switchbox(%s) {{ {low} aie.packet_rules(North : 0) {{ aie.rule(31, 3, %x) }} }}",
        "aie.switchbox(%m) { %x = aie.amsel<0>(0) %y = aie.masterset(South : 0, %x) "
        "aie.packet_rules(DMA : 0) { aie.rule(31, 3, %x) } }",
        "aie.shim_mux(%s) { aie.connect<North : 2, DMA : 0> }",
        '%v = aie.buffer(%m) {sym_name = "v"} : memref<64xi32> = dense<7>',
        "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n^a:\n"
        "aie.dma_bd(%v : memref<64xi32> offset = 0 len = 64) "
        "{packet = #aie.packet_info<pkt_type = 0, pkt_id = 3>}\n"
        "aie.next_bd ^e\n^e:\naie.end }",
        "aie.shim_dma_allocation @out(%s, S2MM, 0)",
        host(copied("out", "b", 0), WAIT),
    )
    done = loaded(text).run(NUMBERS, max_cycles=100_000)
    first = int(np.asarray(done.arrays["1"])[0])
    assert (first & 31 == 3 and first > 31) if keep else first == 7


_TWO = """
  %a0 = aie.buffer(%c) {sym_name = "a0"} : memref<64xi32>
  %a1 = aie.buffer(%c) {sym_name = "a1"} : memref<64xi32>
  aie.mem(%c) {
    %0 = aie.dma_start(S2MM, 0, ^x, ^n)
  ^x:
    aie.dma_bd(%a0 : memref<64xi32> offset = 0 len = 64)
    aie.next_bd ^e
  ^n:
    %1 = aie.dma_start(S2MM, 1, ^y, ^e)
  ^y:
    aie.dma_bd(%a1 : memref<64xi32> offset = 0 len = 64)
    aie.next_bd ^e
  ^e:
    aie.end
  }
"""


def _task(symbol: str, array: str, number: int, own: str = "") -> str:
    return (
        f"%{array}t = aiex.dma_configure_task_for @{symbol} {{\n"
        f"aie.dma_bd(%{array} : memref<64xi32> offset = 0 len = 64) {{bd_id = {number} : i32{own}}}\n"
        f"aie.end\n}} {{issue_token = true}}\naiex.dma_start_task(%{array}t)"
    )


@pytest.mark.parametrize(
    "sends",
    [
        [copied("one", "a", 0), copied("two", "b", 1)],
        [_task("one", "a", 0), _task("two", "b", 1)],
        [_task("two", "a", 0, ", packet = #aie.packet_info<pkt_type = 0, pkt_id = 4>"), _task("two", "b", 1)],
    ],
)
def test_transfers_have_the_header_of_their_allocation(sends: list[str]) -> None:
    """Two symbols name one channel; a BD's own header comes first (DEV-MLIR-7)."""
    text = device(
        "aie.shim_dma_allocation @one(%s, MM2S, 0, <pkt_type = 0, pkt_id = 4>)",
        "aie.shim_dma_allocation @two(%s, MM2S, 0, <pkt_id = 9>)",
        packets(4, "s.DMA.0", "c.DMA.0"),
        packets(9, "s.DMA.0", "c.DMA.1"),
        _TWO,
        host(*sends),
    )
    design = loaded(text)
    other = NUMBERS[::-1].copy()
    design.run(NUMBERS, other, max_cycles=100_000)
    tile, buffers = design.configured.tiles["%c"], design.configured.buffers
    np.testing.assert_array_equal(tile.load(buffers["%a0"]), NUMBERS)
    np.testing.assert_array_equal(tile.load(buffers["%a1"]), other)


@pytest.mark.parametrize(
    ("port", "where"), [("PLIO : 2", "programmable logic"), ("NOC : 0", "the network on")]
)
def test_what_is_beside_the_array_is_refused_by_name(port: str, where: str) -> None:
    with pytest.raises(MemtileError, match=f"{port} leads to {where}.* not part of the model"):
        loaded(device(f"aie.flow(%s, {port}, %c, DMA : 0)"))


def test_an_allocation_of_programmable_logic_is_refused() -> None:
    with pytest.raises(MemtileError, match="its plio is not supported: there is no programmable logic"):
        loaded(device("aie.shim_dma_allocation @in(%s, MM2S, 0) {plio = true}"))
