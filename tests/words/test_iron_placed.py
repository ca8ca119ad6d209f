"""Designs in the placed interface of IRON: is their text the one that mlir-aie writes?

The texts are those of the FileCheck lines of mlir-aie's ``test/python`` (2026-08-14).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile.iron.dialects import _ops, arith
from memtile.iron.dialects import aie as a
from memtile.iron.dialects import aiex as x
from memtile.iron.extras import types as T  # noqa: N812 - the name that programs use
from memtile.iron.extras.context import mlir_mod_ctx
from memtile.iron.helpers.dialects.func import func
from memtile.iron.ops.attributes import DenseElementsAttr
from memtile.iron.utils import trace
from memtile.iron.utils.trace import events

_I32: Any = np.ndarray[(16,), np.dtype[np.int32]]  # type: ignore[misc]
_ACQUIRE, _RELEASE = a.LockAction["AcquireGreaterEqual"], a.LockAction["Release"]


def text_of(body: Callable[[], Any], device: str = "npu2_1col") -> str:
    """The text of a device whose body a function builds."""
    with mlir_mod_ctx() as context:
        a.device(a.AIEDevice[device])(body)
    return str(context.module)


def has_lines(text: str, *wanted: str) -> None:
    """Assert that lines are there, in this order."""
    lines = iter(line.strip() for line in text.splitlines())
    for line in wanted:
        assert line in lines, f"{line!r} is not behind what comes before it in\n{text}"


def test_what_has_no_name_is_called_by_its_tile() -> None:
    def body() -> None:
        tile = a.tile(0, 2)
        a.buffer(tile, _I32)
        a.lock(tile)
        a.tile(0, 1)
        a.tile(0, 0)

    has_lines(
        text_of(body),
        "%tile_0_2 = aie.tile(0, 2)",
        "%buffer_0_2 = aie.buffer(%tile_0_2) : memref<16xi32>",
        "%lock_0_2 = aie.lock(%tile_0_2)",
        "%mem_tile_0_1 = aie.tile(0, 1)",
        "%shim_noc_tile_0_0 = aie.tile(0, 0)",
    )


def test_an_interface_tile_without_dma_is_called_so() -> None:
    text = text_of(lambda: (a.tile(0, 0), a.tile(2, 0)), "xcve2802")
    has_lines(text, "%shim_pl_tile_0_0 = aie.tile(0, 0)", "%shim_noc_tile_2_0 = aie.tile(2, 0)")


def test_blocks_say_which_blocks_come_before() -> None:
    def body() -> None:
        tile = a.tile(0, 2)
        buffer = a.buffer(tile, _I32)

        @a.mem(tile)  # type: ignore[untyped-decorator]
        def _(block: Any) -> None:
            a.dma_start(a.DMAChannelDir["S2MM"], 1, dest=block[1], chain=block[2])
            with block[1]:
                a.dma_bd(buffer)
                a.next_bd(block[1])
            with block[2]:
                a.end()

    has_lines(
        text_of(body),
        "%0 = aie.dma_start(S2MM, 1, ^bb1, ^bb2)",
        "^bb1:  // 2 preds: ^bb0, ^bb1",
        "aie.dma_bd(%buffer_0_2 : memref<16xi32>)",
        "^bb2:  // pred: ^bb0",
    )


def test_default_names_and_the_usual_width_in_arrays_are_left_out() -> None:
    def body() -> None:
        shim, mem, core = a.tile(0, 0), a.tile(0, 1), a.tile(0, 2)
        first = a.object_fifo("of0", shim, mem, 2, _I32)
        second = [a.object_fifo(f"of{n}", mem, core, 2, _I32) for n in (1, 2)]
        a.object_fifo_link(first, second, [], [0, 128])
        x.runtime_sequence(_I32)(_sequence)

    def _sequence(_: Any) -> None:
        x.npu_write32(1, 2)

    text = text_of(body)
    has_lines(text, "aie.objectfifo.link [@of0] -> [@of1, @of2]([] [0, 128])")
    assert "aie.runtime_sequence @_sequence(%arg0: memref<16xi32>) {" in text
    _sequence.__name__ = "sequence"
    assert "aie.runtime_sequence(%arg0: memref<16xi32>) {" in text_of(body)


def test_values_of_an_object_fifo_have_the_shape_of_its_objects() -> None:
    def body() -> None:
        ends = a.tile(0, 1), a.tile(0, 2)
        values = [np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32)]
        a.object_fifo("of0", *ends, 2, T.memref(2, 2, T.i32()), initValues=values)

    expected = "[dense<[[0, 1], [2, 3]]> : memref<2x2xi32>, dense<[[4, 5], [6, 7]]> : memref<2x2xi32>]"
    assert f"!aie.objectfifo<memref<2x2xi32>> = {expected}" in text_of(body)
    with pytest.raises(ValueError, match="3 values do not fill memref<4xi32>, which has 4"):
        DenseElementsAttr(np.arange(3), T.memref(4, T.i32()))


def test_a_function_returns_without_its_dialect() -> None:
    with mlir_mod_ctx() as context:

        @func(emit=True)  # type: ignore[untyped-decorator]
        def one() -> Any:
            return arith.constant(T.i32(), 1)

    has_lines(str(context.module), "func.func @one() -> i32 {", "return %c1_i32 : i32")


def test_a_channel_whose_descriptors_are_regions() -> None:
    def body() -> None:
        tile = a.tile(0, 1)
        buffer, lock = a.buffer(tile, _I32, "mem"), a.lock(tile, lock_id=0, init=1)

        @a.memtile_dma(tile)  # type: ignore[untyped-decorator]
        def _() -> None:
            @a.dma(a.DMAChannelDir["MM2S"], 0, num_blocks=2, pad_value=7)  # type: ignore[untyped-decorator]
            def channel() -> None:
                a.use_lock(lock, _ACQUIRE)
                a.dma_bd(buffer, sizes=[2], strides=[8], transfer_len=16, pad_dimensions=[(1, 1)])

            @a.another_bd(channel)  # type: ignore[untyped-decorator]
            def _() -> None:
                a.use_lock(lock, _RELEASE)

            with pytest.raises(
                ValueError, match=r"all 2 buffer descriptors .* are built: give dma\(num_blocks=3\)"
            ):
                a.another_bd(channel)(lambda: None)
            a.end()

    has_lines(
        text_of(body),
        "%0 = aie.dma(MM2S, 0) {pad_value = 7 : i32} [{",
        "aie.use_lock(%lock_0_1, AcquireGreaterEqual, %c1_i32)",
        "aie.dma_bd(%mem : memref<16xi32> len = 16 sizes = [2] strides = [8] pad "
        "[<const_pad_before = 1, const_pad_after = 1>])",
        "}, {",
        "aie.use_lock(%lock_0_1, Release, %c1_i32)",
        "}]",
    )


def test_traces_of_tiles() -> None:
    def body() -> None:
        core, shim = a.tile(0, 2), a.tile(0, 0)
        port = events.PortEvent(events.CoreEvent["PORT_RUNNING_0"], a.WireBundle["DMA"], 0, True)
        memory = [events.MemEvent["DMA_S2MM_0_START_TASK"]]
        trace.configure_trace([core, shim], coretile_events=[port], coremem_events=memory)
        x.runtime_sequence()(lambda: trace.start_trace(8192))

    text = text_of(body)
    has_lines(
        text,
        "aie.trace @trace_core_1(%tile_0_2) {",
        'aie.trace.mode "Event-Time"',
        "aie.trace.packet type = core",
        'aie.trace.event <"PORT_RUNNING_0">',
        'aie.trace.event <"NONE">',
        "aie.trace.port<0> port = DMA channel = 0 direction = S2MM",
        "aie.trace.start broadcast = 15",
        "aie.trace.stop broadcast = 14",
        "aie.trace @trace_shim_2(%shim_noc_tile_0_0) {",
        "aie.trace.packet type = shimtile",
        'aie.trace.event <"DMA_S2MM_0_START_TASK">',
        "aie.trace @trace_mem_3(%tile_0_2) {",
        "aie.trace.packet type = mem",
        "aie.trace.host_config {buffer_size = 8192 : i32}",
        "aie.trace.start_config @trace_core_1",
        "aie.trace.start_config @trace_shim_2",
        "aie.trace.start_config @trace_mem_3",
    )
    assert text.count("aie.trace.event") == 24


def test_a_trace_that_no_tile_can_record_is_refused() -> None:
    dma, core = a.WireBundle["DMA"], events.CoreEvent

    def too_many() -> None:
        trace.configure_trace([a.tile(0, 2)], coretile_events=[core["LOCK_STALL"]] * 9)

    def one_selector() -> None:
        ports = [events.PortEvent(core[f"PORT_{kind}_0"], dma, n) for n, kind in enumerate(("IDLE", "TLAST"))]
        trace.configure_trace([a.tile(0, 2)], coretile_events=ports)

    with pytest.raises(ValueError, match="trace_core_1: a tile traces at most 8 events at once, not 9"):
        text_of(too_many)
    with pytest.raises(
        ValueError, match="selector 0 watches one port, and PORT_TLAST_0 wants DMA 1 S2MM where DMA 0"
    ):
        text_of(one_selector)
    with pytest.raises(ValueError, match="is no event of a port"):
        events.PortEvent(core["LOCK_STALL"], dma, 0)


def test_numbers_of_events() -> None:
    found = events.get_events_for_device("npu1")
    assert int(found.CoreEvent["PERF_CNT_0"]) == 5
    assert int(found.CoreEvent["BROADCAST_0"]) == 107
    assert int(found.MemEvent["DMA_S2MM_0_START_TASK"]) == 19
    assert int(found.ShimTileEvent["DMA_S2MM_0_START_TASK"]) == 14
    assert int(found.MemTileEvent["CONFLICT_DM_BANK_0"]) == 112
    with pytest.raises(ValueError, match="xcvc1902 is of the first generation"):
        events.get_events_for_device("xcvc1902")


def test_words_of_control_packets() -> None:
    def body() -> None:
        a.tile(0, 0).attributes["controller_id"] = x.AttrBuilder.get("PacketInfoAttr")([2, 3])
        x.runtime_sequence()(sequence)

    def sequence() -> None:
        _ops.AIEX["control_packet"](address=0x1F000, opcode=0, stream_id=0, data=[2])
        _ops.AIEX["control_packet"](address=0x1F020, opcode=2, stream_id=9, data=[3, 4, 5, 6])
        _ops.AIEX["control_packet"](address=0x400, opcode=1, stream_id=2, length=4)

    with mlir_mod_ctx() as context:
        a.device(a.AIEDevice["npu1"])(body)
    words = [f"{word:08X}" for word in a.generate_control_packets(context.module)]
    assert " ".join(words) == (
        "00002003 0001F000 00000002 00002003 09B1F020 00000003 00000004 00000005 00000006 00002003 02700400"
    )


def test_what_is_found_at_a_tile() -> None:
    def body() -> None:
        south, tile, west = a.tile(1, 2), a.tile(1, 3), a.tile(0, 3)
        a.flow(south, dest=tile, dest_channel=1)
        a.flow(tile, dest=west)
        a.lock(tile, sym_name="full", annot="mine")
        a.lock(tile, sym_name="empty")
        assert [int(flow.dest_channel) for flow in tile.flows()] == [1, 0]
        assert [int(flow.dest_channel) for flow in tile.flows(filter_dest=True)] == [1]
        assert [lock.get_name() for lock in tile.locks()] == ["%empty", "%full"]
        assert [lock.get_name() for lock in tile.locks(annot="mine")] == ["%full"]
        beside = a.find_neighbors(tile)
        assert (beside.north, beside.west, beside.south) == (None, west, south)
        assert tile.is_core_tile()
        assert not tile.is_shim_tile()

    text_of(body, "npu1")


def test_a_function_in_another_language_needs_its_file() -> None:
    with pytest.raises(ValueError, match="external_func 'f': link_with_mode requires link_with to be set"):
        a.external_func("f", [_I32], link_with_mode="merge")
    with pytest.raises(
        ValueError, match="invalid link_with_mode 'inline'; the only supported value is 'merge'"
    ):
        a.external_func("f", [_I32], link_with="f.o", link_with_mode="inline")


def test_a_core_names_the_file_of_its_functions_as_until_march_2026() -> None:
    def body() -> None:
        scale = a.external_func("scale", [_I32])
        tile = a.tile(0, 2)
        block = a.buffer(tile, _I32, "block")

        @a.core(tile, "scale.o", None, 2048)
        def body_of_core() -> None:
            scale(block)

    has_lines(
        text_of(body),
        "func.func private @scale(memref<16xi32>)",
        "func.call @scale(%block) : (memref<16xi32>) -> ()",
        '} {link_with = "scale.o", stack_size = 2048 : i32}',
    )


def test_one_value_fills_contents_of_several_elements() -> None:
    """``vector_reduce_max`` of mlir-aie begins buffers with an array of the least value alone."""
    for dtype, element, text in (
        (ml_dtypes.bfloat16, T.bf16(), "-1.000000e+00"),
        (np.int32, T.i32(), "-1"),
    ):
        made = DenseElementsAttr(np.array([-1], dtype), T.memref(2, 4, element))
        assert made.short() == f"dense<{text}>"


@pytest.mark.parametrize(
    ("given", "pattern"),
    [
        ({}, "[0, 0, 0, 0][0, 0, 0, 0][0, 0, 0, 1]"),
        ({"sizes": [1, 1, 1, 16]}, "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]"),
        (
            {"offsets": [0, 0, 1, 2], "sizes": [1, 4, 2, 2], "strides": [0, 1, 8, 4]},
            "[0, 0, 1, 2][1, 4, 2, 2][0, 1, 8, 4]",
        ),
    ],
)
def test_a_transfer_of_a_sequence_has_the_pattern_that_it_is_given(
    given: dict[str, list[int]], pattern: str
) -> None:
    def body() -> None:
        a.object_fifo("in", a.tile(0, 0), a.tile(0, 2), 2, _I32)

        @x.runtime_sequence(_I32)
        def sequence(data: Any) -> None:
            x.npu_dma_memcpy_nd(metadata="in", bd_id=1, mem=data, **given)

    assert f"aiex.npu.dma_memcpy_nd(%arg0{pattern})" in text_of(body)
