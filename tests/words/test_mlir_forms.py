"""Do all spellings of an operation say the same, and is what nobody knows kept by name?"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from memtile.errors import InputFileError
from memtile.importers.mlir.description import DeviceDescription, Level, LockUse, Padding
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text

NEW = """
aie.device(npu1_1col) @main {
  %t1 = aie.tile(0, 1)
  %b = aie.buffer(%t1) {address = 4096 : i32, sym_name = "b"} : memref<8x4xi32>
  %l = aie.lock(%t1, 2) {init = 1 : i32, sym_name = "l"}
  %m = aie.memtile_dma(%t1) {
    %0 = aie.dma_start(MM2S, 3, ^a, ^end)
  ^a:
    %one = arith.constant 1 : i32
    aie.use_lock(%l, AcquireGreaterEqual, %one)
    aie.dma_bd(%b : memref<8x4xi32> offset = 2 len = 12 sizes = [3, 4] strides = [8, 1] \
pad [<const_pad_before = 1, const_pad_after = 0>, <const_pad_before = 0, const_pad_after = 2>]) \
{bd_id = 25 : i32, packet = #aie.packet_info<pkt_type = 1, pkt_id = 7>}
    aie.use_lock(%l, Release, %one)
    aie.next_bd ^a
  ^end:
    aie.end
  }
}
"""
OLD = (
    NEW.replace("%one = arith.constant 1 : i32", "")
    .replace("%one", "1")
    .replace(
        "memref<8x4xi32> offset = 2 len = 12 sizes = [3, 4] strides = [8, 1] pad [",
        "memref<8x4xi32>, 2, 12, [<size = 3, stride = 8>, <size = 4, stride = 1>], [",
    )
)
IREE = (
    NEW.replace(" offset = 2 len = 12 sizes = [3, 4] strides = [8, 1] pad [", ") {PAD[")
    .replace("]) {bd_id", "]>, bd_id")
    .replace(
        "{PAD[",
        "{dimensions = #aie<bd_dim_layout_array[<size = 3, stride = 8>, <size = 4, stride = 1>]>, "
        "len = 12 : i32, offset = 2 : i32, pad_dimensions = #aie<bd_pad_layout_array[",
    )
)
GENERIC = """
"aie.device"() <{device = 5 : i32, sym_name = "main"}> ({
  %t1 = "aie.tile"() <{col = 0 : i32, row = 1 : i32}> : () -> index
  %b = "aie.buffer"(%t1) <{address = 4096 : i32, sym_name = "b"}> : (index) -> memref<8x4xi32>
  %l = "aie.lock"(%t1) <{init = 1 : i32, lockID = 2 : i32, sym_name = "l"}> : (index) -> index
  %m = "aie.memtile_dma"(%t1) ({
    %0 = "aie.dma_start"() <{channel_dir = 1 : i32, channel_index = 3 : i32}>[^bb1, ^bb2] : () -> i1
  ^bb1:  // 2 preds: ^bb0, ^bb1
    %one = "arith.constant"() <{value = 1 : i32}> : () -> i32
    "aie.use_lock"(%l, %one) <{acq_en = true, action = 2 : i32}> : (index, i32) -> ()
    "aie.dma_bd"(%b) <{bd_id = 25 : i32, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, \
packet = #aie.packet_info<pkt_type = 1, pkt_id = 7>, \
pad_dimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 0>, \
<const_pad_before = 0, const_pad_after = 2>]>, static_len = 12 : i32, static_offset = 2 : i32, \
static_sizes = array<i64: 3, 4>, static_strides = array<i64: 8, 1>}> : (memref<8x4xi32>) -> ()
    "aie.use_lock"(%l, %one) <{acq_en = true, action = 1 : i32}> : (index, i32) -> ()
    "aie.next_bd"()[^bb1] : () -> ()
  ^bb2:  // pred: ^bb0
    "aie.end"() : () -> ()
  }) : (index) -> index
}) : () -> ()
"""


def device(text: str) -> DeviceDescription:
    (found,) = devices(read(Text("d.mlir", text)))
    return found


def said(thing: Any) -> Any:
    """A description without the operations that said it."""
    if is_dataclass(thing):
        return {f.name: said(getattr(thing, f.name)) for f in fields(thing) if f.name != "operation"}
    if isinstance(thing, dict):
        return {name: said(value) for name, value in thing.items()}
    return [said(each) for each in thing] if isinstance(thing, list) else thing


@pytest.mark.parametrize("text", [OLD, IREE, GENERIC], ids=["2024", "iree", "generic"])
def test_all_spellings_describe_the_same_device(text: str) -> None:
    assert said(device(text)) == said(device(NEW))


def test_what_they_describe() -> None:
    found = device(NEW)
    assert (found.name, found.device) == ("main", "npu1_1col")
    (chain,) = found.chains
    assert (chain.tile, chain.direction, chain.channel) == ("%t1", "MM2S", 3)
    (bd,) = chain.bds
    assert (bd.buffer, bd.offset, bd.length, bd.number, bd.next) == ("%b", 2, 12, 25, 0)
    assert bd.levels == [Level(3, 8), Level(4, 1)]
    assert bd.padding == [Padding(1, 0), Padding(0, 2)]
    assert (bd.acquire, bd.release) == (LockUse("%l", "acquire_ge", 1), LockUse("%l", "release", 1))
    assert bd.packet == (1, 7)
    lock, buffer = found.locks["%l"], found.buffers["%b"]
    assert (lock.name, lock.number, lock.initial) == ("l", 2, 1)
    assert (buffer.name, buffer.address, buffer.shape.shape) == ("b", 4096, (8, 4))


def test_rings_of_regions_loop_unless_they_say_no() -> None:
    text = """aie.device(npu1) {
      %t = aie.tile(0, 1)
      %b = aie.buffer(%t) : memref<8xi8> = dense<[1, -2]>
      %m = aie.memtile_dma(%t) {
        %0 = aie.dma(S2MM, 0) {loop = false, repeat_count = 3 : i32} [{
          aie.dma_bd(%b : memref<8xi8>)
        }, {
          aie.dma_bd(%b : memref<8xi8> len = 4)
        }]
        %1 = aie.dma(MM2S, 1) [{ aie.dma_bd(%b : memref<8xi8>) }]
        aie.end
      }
    }"""
    found = device(text)
    once, ring = found.chains
    assert [bd.next for bd in once.bds] == [1, None]
    assert once.repeat == 3
    assert [bd.next for bd in ring.bds] == [0]
    assert found.buffers["%b"].initial == [1, -2]


def test_object_fifos_have_their_patterns_depths_and_links() -> None:
    text = """aie.device(npu2_2col) {
      %s = aie.tile(0, 0)
      %m = aie.tile(0, 1)
      %a = aie.logical_tile<CoreTile>(?, ?)
      %c = aie.logical_tile<CoreTile>(1, 3)
      aie.objectfifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi16>>
      aie.objectfifo @out(%m dimensionsToStream [<size = 2, stride = 8>, <size = 8, stride = 1>], \
{%a dimensionsFromStream [<size = 4, stride = 2>], %c}, [1, 2, 3]) {repeat_count = 4 : i32, via_DMA = true} \
: !aie.objectfifo<memref<8xi16>> = [dense<1> : memref<8xi16>]
      aie.objectfifo.link [@in] -> [@out, @other] ([] [0, 8])
      aie.shim_dma_allocation @alloc(%s, MM2S, 1)
      aie.shim_dma_allocation @old(S2MM, 0, 1)
      "aie.shim_dma_allocation"(%s) <{channel_dir = 1 : i32, channel_index = 1 : i64, sym_name = "generic"}> \
: (index) -> ()
      aie.cascade_flow(%a, %c)
    }"""
    found = device(text)
    assert [(t.place, t.role) for t in found.tiles.values()][2:] == [(None, "compute"), ((1, 3), "compute")]
    out = found.fifos["out"]
    assert (out.producer, out.consumers, out.depths, out.repeat) == ("%m", ["%a", "%c"], [1, 2, 3], 4)
    assert (out.to_stream, out.from_stream) == ([Level(2, 8), Level(8, 1)], {0: [Level(4, 2)]})
    assert (out.element.shape, out.initial, out.via_dma) == ((8,), [[1]], True)
    (link,) = found.links
    assert (link.sources, link.targets, link.target_offsets) == (["in"], ["out", "other"], [0, 8])
    alloc, old = found.allocations["alloc"], found.allocations["old"]
    for each in (alloc, found.allocations["generic"]):
        assert (each.tile, each.direction, each.channel) == ("%s", "MM2S", 1)
    assert (old.column, old.direction, old.channel) == (1, "S2MM", 0)
    assert [(each.source, each.target) for each in found.cascades] == [("%a", "%c")]


def test_streams_and_switches() -> None:
    text = """aie.device(npu1) {
      %s = aie.tile(0, 0)
      %m = aie.tile(0, 1)
      aie.flow(%s, DMA : 0, %m, "DMA" : 1)
      aie.packet_flow(0x5) {
        aie.packet_source<%m, DMA : 2>
        aie.packet_source<%m, DMA : 3>
        aie.packet_dest<%s, Ctrl : 0>
      } {keep_pkt_header = true}
      %sw = aie.switchbox(%m) {
        aie.connect<DMA : 0, South : 1>
        %a = aie.amsel<5> (3)
        %o = aie.masterset(North : 2, %a) {keep_pkt_header = true}
        aie.packet_rules(DMA : 4) {
          aie.rule(31, 2, %a)
        }
      }
      aie.trace @t(%m) { aie.trace.stop }
      aie.wire(%s : North, %m : South)
    }"""
    found = device(text)
    flow, packets = found.flows
    assert (flow.sources, flow.targets, flow.packet) == ([("%s", "DMA", 0)], [("%m", "DMA", 1)], None)
    assert packets.sources == [("%m", "DMA", 2), ("%m", "DMA", 3)]
    assert (packets.targets, packets.packet, packets.keep_header) == ([("%s", "TileControl", 0)], 5, True)
    (switch,) = found.switches
    assert switch.circuits == [("DMA", 0, "South", 1)]
    assert switch.masters == [("North", 2, 5, (3,), True)]
    assert switch.rules == [("DMA", 4, [(31, 2, 5, 3)])]
    assert (list(found.unknown), found.ignored) == ([], {"aie.trace": 1, "aie.wire": 1})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("%t = aie.tile(0)", r"d\.mlir:2:6: aie\.tile: it has 1 operand"),
        ("%l = aie.lock(%t, %x)", r"%x is no constant.*\n.*\n.*\^"),
        ("%b = aie.buffer(%t) : i32", "its type is no memref"),
        ("aie.packet_flow(1) { aie.packet_dest<%t, DMA : 0> }", "0 sources and 1 destinations"),
    ],
)
def test_what_is_as_no_tool_prints_it_is_shown(text: str, says: str) -> None:
    with pytest.raises(InputFileError, match=says):
        device(f"aie.device(npu1) {{\n{text} }}")
