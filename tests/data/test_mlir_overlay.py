"""Do control packets of a host reach the tiles of a column as mlir-aie routes them? DEV-MLIR-1."""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.packets import PacketOperation, control_header, stream_header
from memtile.errors import InputFileError
from memtile.importers.loaded import Loaded
from memtile.runs.array_names import Given, Wanted
from support.mlir.mlir_designs import WAIT, copied, device, host, loaded, ran

_TILES = "%s = aie.tile(0, 0)\n%m = aie.tile(0, 1)\n%c = aie.tile(0, 4)\n"
_OUT = """
  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  aie.shim_dma_allocation @low(%s, MM2S, 0)
  aie.shim_dma_allocation @high(%s, MM2S, 1)
  %b0 = aie.buffer(%m) {address = 0 : i32} : memref<64xi32>
  %full = aie.lock(%m, 0) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(MM2S, 0) {loop = false} [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<64xi32>)
    }]
    aie.end
  }
"""
_LOCKS = 0xC0000  # byte of the value of lock 0 in a memory tile
_FLOWS = """
  aie.packet_flow({packet}) {{
    aie.packet_source<%s, DMA : {channel}>
    aie.packet_dest<{tile}, TileControl : 0>
  }}
"""
WORDS = np.array(
    [
        control_header(PacketOperation.WRITE, 0, 4),
        *(11, 22, 33, 44),
        control_header(PacketOperation.WRITE, _LOCKS),
        1,
        control_header(PacketOperation.WRITE, 0x400),
        77,
        *[0] * 55,
    ],
    np.uint32,
)


def sent(channel: str, first: int, count: int, packet: int, bd: int) -> str:
    """A packet of the host: words of its first argument."""
    part = f"[0, 0, 0, {first}][1, 1, 1, {count}][0, 0, 0, 1], packet = <pkt_id = {packet}, pkt_type = 1>"
    return (
        f"aiex.npu.dma_memcpy_nd(%a{part}) {{id = {bd} : i64, issue_token = true, metadata = @{channel}}}"
        f" : memref<64xi32>\naiex.npu.dma_wait {{symbol = @{channel}}}"
    )


PACKETS = (
    sent("high", 7, 2, 30, 3),
    sent("low", 0, 5, 26, 1),
    copied("out", "b", 0),
    sent("low", 5, 2, 26, 2),
    WAIT,
)


def control(address: int, *data: int) -> str:
    """A write that a host sends as a packet."""
    words = f"data = array<i32: {', '.join(map(str, data))}>"
    return (
        f"aiex.control_packet {{address = {address} : ui32, {words}, opcode = 0 : i32, stream_id = 0 : i32}}"
    )


OPERATIONS = (
    control(0x400400, 77),
    control(0x100000, 11, 22, 33, 44),
    copied("out", "b", 1),
    control(0x1C0000, 1),
    WAIT,
)


def check(design: Loaded, *arguments: np.ndarray) -> None:
    """The memory tile has sent what was written, and the compute tile has its word."""
    out = ran(design, *arguments)[1]
    assert out.tolist() == [11, 22, 33, 44] + [0] * 60
    assert design.array.tile(0, 4).own_door.read32(0x400) == 77


def flows(design: Loaded) -> int:
    """How many flows lead to control ports."""
    targets = [end for flow in design.configured.device.flows for end in flow.targets]
    return sum(end.bundle == "TileControl" for end in targets)


@pytest.mark.parametrize("chip", ["npu1_1col", "npu1", "npu2"])
def test_packets_for_tiles_from_a_channel_without_flow_get_a_way(chip: str) -> None:
    design = loaded(device(_OUT, host(*PACKETS), tiles=_TILES, chip=chip))
    check(design, WORDS)
    assert flows(design) == 5  # rows 0 to 4 of the column


def test_the_option_in_a_line_that_calls_the_compiler_asks_for_it_too() -> None:
    quiet = device(_OUT, host(), tiles=_TILES)
    assert flows(loaded(quiet)) == 0
    assert flows(loaded(f"// RUN: %aiecc --generate-ctrl-pkt-overlay %s\n{quiet}")) == 5
    assert flows(loaded(f"// --generate-ctrl-pkt-overlay is not asked for\n{quiet}")) == 0


def test_a_design_can_opt_out() -> None:
    text = device(_OUT, host(), tiles=_TILES).rstrip("}") + "} {needs_ctrl_pkt_overlay = false}"
    assert flows(loaded(f"// RUN: %aiecc --generate-ctrl-pkt-overlay %s\n{text}")) == 0


@pytest.mark.parametrize("done", ["true", "false"])
def test_a_text_that_the_pass_has_been_over_gets_no_second_overlay(done: str) -> None:
    text = device(_OUT, host(), tiles=_TILES).rstrip("}") + f"}} {{has_ctrl_pkt_overlay = {done}}}"
    assert flows(loaded(f"// RUN: %aiecc --generate-ctrl-pkt-overlay %s\n{text}")) == 0


def test_marks_of_an_overlay_in_a_switch_change_nothing() -> None:
    """mlir-aie's router marks what a reload by control packets leaves alone; a run sets up everything."""
    rule = "aie.rule(31, 15, %a) {is_ctrl_pkt_overlay}"
    rules = f"aie.packet_rules(TileControl : 0) {{ {rule} }} {{is_ctrl_pkt_overlay}}"
    master = "%z = aie.masterset(South : 0, %a) {is_ctrl_pkt_overlay, keep_pkt_header = true}"
    switch = f"%w = aie.switchbox(%s) {{ %a = aie.amsel<5> (3) {master} {rules} }}"
    texts = [
        device(switch.replace("is_ctrl_pkt_overlay, ", "").replace(" {is_ctrl_pkt_overlay}", "")),
        device(switch),
    ]
    states = [loaded(text).array.engine.state.registers.tolist() for text in texts]
    assert states[0] == states[1]


def test_flows_of_the_text_are_taken_as_they_are() -> None:
    own = [_FLOWS.format(packet=26, channel=0, tile="%m"), _FLOWS.format(packet=30, channel=1, tile="%c")]
    design = loaded(device(_OUT, *own, host(*PACKETS), tiles=_TILES))
    check(design, WORDS)
    assert flows(design) == 2


def test_ids_that_the_text_gives_its_tiles_count() -> None:
    tiles = _TILES.replace(
        "aie.tile(0, 1)", "aie.tile(0, 1) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 9>}"
    )
    packets = [each.replace("pkt_id = 26", "pkt_id = 9") for each in PACKETS]
    check(loaded(device(_OUT, host(*packets), tiles=tiles)), WORDS)


def test_every_column_between_two_gets_one_as_high_as_it_may_be_crossed() -> None:
    tiles = _TILES + "%far = aie.tile(2, 3)\n"
    design = loaded(device(_OUT, host(*PACKETS), tiles=tiles, chip="npu1"))
    assert flows(design) == 5 + 5 + 4
    names = set(design.configured.device.allocations)
    assert {f"ctrlpkt_col{c}_mm2s_chan{n}" for c in range(3) for n in range(2)} <= names


def test_a_channel_of_a_circuit_sends_no_control_packets() -> None:
    circuit = "aie.flow(%s, DMA : 0, %m, DMA : 1)"
    design = loaded(device(_OUT, circuit, host(sent("high", 7, 2, 30, 3)), tiles=_TILES))
    assert flows(design) == 2  # rows 3 and 4, from channel 1


@pytest.mark.parametrize("spelling", ["pretty", "generic"])
@pytest.mark.parametrize("chip", ["npu1_1col", "npu2"])
def test_control_packets_of_the_text_are_sent(chip: str, spelling: str) -> None:
    lines = list(OPERATIONS)
    if spelling == "generic":
        lines = [
            line.replace("aiex.control_packet {", '"aiex.control_packet"() <{').replace(
                "32}", "32}> : () -> ()"
            )
            if line.startswith("aiex.control_packet")
            else line
            for line in lines
        ]
    design = loaded(device(_OUT, host(*lines), tiles=_TILES, chip=chip))
    check(design)
    assert design.sequence is not None
    assert list(design.sequence.packets[:3]) == [
        stream_header(30),
        control_header(PacketOperation.WRITE, 0x400),
        77,
    ]


def test_packets_that_a_host_gives_stand_behind_its_arguments() -> None:
    """As ``ctrlpkt.bin`` of a build does."""
    design = loaded(device(_OUT, host(*OPERATIONS), tiles=_TILES))
    assert design.sequence is not None
    own = np.array(design.sequence.packets, np.uint32)
    own[own == 77] = 78
    given = [Given("0", WORDS), Given("1", np.zeros(64, np.int32)), Given("2", own)]
    design.run_with(given, [Wanted("1")])
    assert design.array.tile(0, 4).own_door.read32(0x400) == 78


def test_more_than_four_words_are_several_packets() -> None:
    many = control(0x100000, 1, 2, 3, 4, 5, -6)
    design = loaded(device(_OUT, host(many, *OPERATIONS[2:]), tiles=_TILES))
    assert ran(design)[1].tolist() == [1, 2, 3, 4, 5, -6] + [0] * 58


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("address = 1048576 : ui32, opcode = 0 : i32, stream_id = 0 : i32", "neither data nor a length"),
        (
            "address = 1048576 : ui32, length = 5 : i32, opcode = 1 : i32, stream_id = 0 : i32",
            "5 words are to be read",
        ),
        (
            "address = 1048576 : ui32, data = array<i32: 1>, opcode = 5 : i32, stream_id = 0 : i32",
            "5 is no operation",
        ),
        (
            "address = 1048576 : ui32, data = array<i32: 1>, opcode = 0 : i32, stream_id = 128 : i32",
            "its stream_id is 128",
        ),
        ("data = array<i32: 1>, opcode = 0 : i32, stream_id = 0 : i32", "has no address"),
    ],
)
def test_a_control_packet_that_is_none(given: str, says: str) -> None:
    with pytest.raises(InputFileError, match=says):
        loaded(device(_OUT, host(f"aiex.control_packet {{{given}}}"), tiles=_TILES))
