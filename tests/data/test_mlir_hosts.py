"""Does a host sequence of mlir-aie do what the text says: numbers, branches, resets, time?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.errors import InputFileError
from memtile.runs.operations import MaskWrite
from support.mlir.mlir_designs import FLOWS, NUMBERS, WAIT, copied, device, host, loaded, ran

_THROUGH = "aie.flow(%s, DMA : 0, %m, DMA : 0)\naie.flow(%m, DMA : 0, %s, DMA : 0)"
_RING = """
  %b0 = aie.buffer(%m) : memref<16xi32>
  %free = aie.lock(%m) {init = 1 : i32}
  %full = aie.lock(%m) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(S2MM, 0) [{
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%full, Release, 1)
    }]
    %1 = aie.dma(MM2S, 0) [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%free, Release, 1)
    }]
    aie.end
  }
"""
_DYNAMIC = """
  scf.if %go {
    %one = arith.constant 1 : index
    %count = arith.index_cast %n : i64 to index
    %sixteen = arith.constant 16 : i32
    %short = arith.trunci %n : i64 to i32
    %len = arith.muli %short, %sixteen : i32
    %out = aiex.dma_configure_task_for @out {
      aie.dma_bd(%b : memref<64xi32> offset = 0 len = %len sizes = [1, 1, %n, 16] strides = [0, 0, 16, 1])
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%out)
    %first = aiex.dma_configure_task_for @in {
      aie.dma_bd(%a : memref<64xi32> offset = 0 len = 16)
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%first)
    %last = scf.for %i = %one to %count step %one iter_args(%before = %first) -> (index) {
      %t = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<64xi32> offset = 0 len = 16)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_free_task(%before)
      scf.yield %t : index
    }
    aiex.dma_await_task(%last)
    aiex.dma_await_task(%out)
  }
"""


@pytest.mark.parametrize(("count", "go"), [(1, 1), (4, 1), (4, 0)])
def test_numbers_that_a_host_passes_decide_what_it_does(count: int, go: int) -> None:
    """A branch and a loop that hands a task on; without the branch nothing happens."""
    design = loaded(device(_THROUGH, FLOWS, _RING, host(_DYNAMIC, more=", %n: i64, %go: i1")))
    _, got = ran(design, NUMBERS, None, count, go)
    wanted = np.zeros(64, np.int32)
    wanted[: 16 * count * go] = np.tile(NUMBERS[:16], count * go)
    np.testing.assert_array_equal(got, wanted)


def test_a_number_that_nobody_gave_is_named() -> None:
    design = loaded(device(_THROUGH, FLOWS, _RING, host(_DYNAMIC, more=", %n: i64, %go: i1")))
    with pytest.raises(InputFileError, match="argument 3, %go, is a number without a value"):
        design.run(NUMBERS, None, 4)
    with pytest.raises(InputFileError, match=r"argument [23], %(n|go), is a number without a value"):
        design.run(NUMBERS)


def test_an_array_that_the_sequence_does_not_touch_comes_back_as_it_was() -> None:
    text = device(
        _THROUGH,
        FLOWS,
        _RING,
        host(copied("out", "b", 1), copied("in", "a", 0), WAIT, more=", %x: memref<8xi32>"),
    )
    a, b, x = ran(loaded(text), NUMBERS, None, np.arange(8, dtype=np.int32))
    np.testing.assert_array_equal(a, NUMBERS)
    np.testing.assert_array_equal(b, NUMBERS)
    np.testing.assert_array_equal(x, np.arange(8))


_TWO_BDS = """
  aie.flow(%c, DMA : 0, %s, DMA : 0)
  %go = aie.lock(%c, 0) {init = 0 : i32}
  %good = aie.buffer(%c) {initial_value = dense<7> : tensor<64xi32>} : memref<64xi32>
  %bad = aie.buffer(%c) {initial_value = dense<9> : tensor<64xi32>} : memref<64xi32>
  aie.mem(%c) {
    %0 = aie.dma_start(MM2S, 0, ^bad, ^end)
  ^bad:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%bad : memref<64xi32>) {bd_id = 0 : i32}
    aie.next_bd ^good
  ^good:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%good : memref<64xi32>) {bd_id = 1 : i32}
    aie.next_bd ^end
  ^end:
    aie.end
  }
"""
_PUSH = """
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  aiex.npu.push_queue (0, 2, MM2S:0) bd_id %one repeat %none {issue_token = false} : i32, i32
  aiex.set_lock(%go, 1)
"""


def test_a_channel_that_is_reset_forgets_its_task() -> None:
    reset = "aiex.dma_channel_reset(%c, MM2S, 0)"
    text = device(_TWO_BDS, FLOWS, host(reset, _PUSH, copied("out", "b", 1), WAIT))
    np.testing.assert_array_equal(ran(loaded(text))[1], np.full(64, 7))
    np.testing.assert_array_equal(ran(loaded(text.replace(reset, "")))[1], np.full(64, 9))


def test_channels_of_an_interface_tile_have_no_reset() -> None:
    text = device(FLOWS, host("aiex.dma_channel_reset_for @in"))
    with pytest.raises(InputFileError, match="channels of an interface tile have no reset"):
        loaded(text)


def tokens(controller: int) -> str:
    """A host that waits for a token of a compute tile, whose packet flow has id 1."""
    tiles = (
        "%s = aie.tile(0, 0) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 3>}\n"
        f"%c = aie.tile(0, 2) {{controller_id = #aie.packet_info<pkt_type = 0, pkt_id = {controller}>}}\n"
    )
    return device(
        '%x = aie.buffer(%c) {sym_name = "x"} : memref<64xi32>',
        "aie.flow(%s, DMA : 0, %c, DMA : 0)\naie.flow(%c, DMA : 0, %s, DMA : 0)",
        *(
            f"aie.packet_flow({number}) {{ aie.packet_source<%{tile}, TileControl : 0> "
            "aie.packet_dest<%s, South : 0> }"
            for number, tile in ((1, "c"), (3, "s"))
        ),
        host(
            *(
                f"%{name} = aiex.dma_configure_task(%{tile}, {port}, 0) {{\n"
                f"aie.dma_bd({buffer} : memref<64xi32> offset = 0 len = 64) {{bd_id = {number} : i32}}\n"
                f"aie.end\n}} {token}\naiex.dma_start_task(%{name})\n{after}"
                for name, tile, port, buffer, number, token, after in (
                    ("t0", "s", "MM2S", "%a", 0, "", ""),
                    ("t1", "c", "S2MM", "%x", 0, "{issue_token = true}", "aiex.dma_await_task(%t1)"),
                    ("t2", "c", "MM2S", "%x", 1, "", ""),
                    ("t3", "s", "S2MM", "%b", 1, "{issue_token = true}", "aiex.dma_await_task(%t3)"),
                )
            )
        ),
        tiles=tiles,
    )


def test_tokens_of_other_tiles_reach_the_firmware() -> None:
    """A packet flow to the firmware keeps its headers, which are all that a token is."""
    np.testing.assert_array_equal(ran(loaded(tokens(1)), NUMBERS)[1], NUMBERS)


def test_a_token_whose_controller_id_has_no_flow_is_named_with_both_ids() -> None:
    (finding,) = loaded(tokens(2)).run(NUMBERS, max_cycles=20_000).result.findings
    says = (
        "The packet flow of line 7 takes packets of id 1 from the control port of compute(0,2), "
        "but its tokens have id 2 and do not arrive."
    )
    assert (finding.code, finding.message) == ("MT0341", says)
    assert finding.fix == "Give the flow the id 2, or the tile the controller id 1."


def test_the_firmware_takes_its_time_between_two_tasks() -> None:
    """Eight tasks are pushed one after another on a queue of four: each has ended before the next ones."""
    steps = "\n".join(
        f"%t{n} = aiex.dma_configure_task_for @in {{\n"
        f"aie.dma_bd(%a : memref<64xi32> offset = {8 * n} len = 8)\naie.end\n}} {{issue_token = true}}\n"
        f"aiex.dma_start_task(%t{n})"
        for n in range(8)
    )
    text = device(_THROUGH, FLOWS, _RING, host(copied("out", "b", 15), steps, WAIT))
    design = loaded(text)
    done = design.run(NUMBERS)
    assert done.result.errors == ()
    assert done.result.cycles > 7 * design.array.engine.timing.firmware_push
    np.testing.assert_array_equal(done.arrays["1"], NUMBERS)


def test_a_task_of_lowered_text_is_repeated_as_its_start_says() -> None:
    """``repeat_count`` stands among the operands of the pretty form."""
    dma = """aie.memtile_dma(%m) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^next)
    ^in:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^in
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^out, ^end, repeat_count = 3)
    ^out:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^end
    ^end:
      aie.end
    }"""
    declared = _RING[: _RING.index("aie.memtile_dma")]
    text = device(_THROUGH, FLOWS, declared, dma, host(copied("out", "b", 1), copied("in", "a", 0), WAIT))
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1], NUMBERS)


def test_traces_are_read_and_change_nothing() -> None:
    trace = """aie.trace @t(%c) {
      aie.trace.mode "Event-Time"
      aie.trace.packet id=1 type=core
      aie.trace.event<"INSTR_EVENT_0">
      aie.trace.port<0> port=DMA channel=0 direction=S2MM
      aie.trace.start broadcast=15
      aie.trace.stop broadcast=14
    }"""
    begun = "aie.trace.host_config {buffer_size = 8192 : i32}\naie.trace.start_config @t"
    text = device(
        _THROUGH, FLOWS, _RING, trace, host(begun, copied("out", "b", 1), copied("in", "a", 0), WAIT)
    )
    design = loaded(text)
    np.testing.assert_array_equal(ran(design, NUMBERS)[1], NUMBERS)
    assert any("aie.trace.start_config" in note for note in design.notes)


def test_padding_of_another_word_around_objects_that_are_smaller_in_memory() -> None:
    """npu2 pads with any word; the pool between linked FIFOs has what comes in, not what goes out."""
    text = device(
        "aie.objectfifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<13xi32>>",
        "aie.objectfifo @out(%m dimensionsToStream [<size = 13, stride = 1>], {%s}, 2 : i32) "
        "{padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 2, const_pad_after = 1>]>, "
        "padValue = 42 : i32} : !aie.objectfifo<memref<16xi32>>",
        "aie.objectfifo.link [@in] -> [@out] ([] [])",
        host(
            copied("out", "b", 1, "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]"),
            copied("in", "a", 0, "[0, 0, 0, 0][1, 1, 1, 13][0, 0, 0, 1]"),
            WAIT,
        ),
        chip="npu2_1col",
    )
    wanted = np.full(16, 42)
    wanted[2:15] = NUMBERS[:13]
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1][:16], wanted)


def test_a_host_begins_when_the_cores_wait() -> None:
    """DEV-HOST-3: what a core does before its first lock is done; the host's write is not lost."""
    core = """aie.core(%c) {
      %z = arith.constant 0 : index
      %w = arith.constant 64 : index
      %o = arith.constant 1 : index
      %k = arith.constant 5 : i32
      scf.for %i = %z to %w step %o {
        memref.store %k, %x[%i] : memref<64xi32>
      }
      aie.use_lock(%go, Acquire, 1)
      aie.use_lock(%made, Release, 1)
      aie.end
    }"""
    dma = """aie.mem(%c) {
      %0 = aie.dma(MM2S, 0) {loop = false} [{
        aie.use_lock(%made, AcquireGreaterEqual, 1)
        aie.dma_bd(%x : memref<64xi32>)
      }]
      aie.end
    }"""
    text = device(
        '%x = aie.buffer(%c) {sym_name = "x"} : memref<64xi32>',
        "%go = aie.lock(%c, 0) {init = 0 : i32}",
        "%made = aie.lock(%c, 1) {init = 0 : i32}",
        "aie.flow(%c, DMA : 0, %s, DMA : 0)",
        FLOWS,
        core,
        dma,
        host("aiex.npu.rtp_write(@x, 3, 9)", copied("out", "b", 1), "aiex.set_lock(%go, 1)", WAIT),
    )
    wanted = np.full(64, 5)
    wanted[3] = 9
    np.testing.assert_array_equal(ran(loaded(text))[1], wanted)


def test_ids_of_tokens_that_a_text_leaves_open_are_those_of_its_builds() -> None:
    """So a text costs what its lowered form costs, which has the ids: a write for each token."""
    body = (_THROUGH, _RING, FLOWS, host(copied("out", "b", 0), copied("in", "a", 1), WAIT))
    tiles = "%s = aie.tile(0, 0){id}\n%m = aie.tile(0, 1)\n"
    said = " {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 15>}"
    texts = [device(*body, tiles=tiles.replace("{id}", more)) for more in ("", said)]
    runs = [loaded(text).run(NUMBERS) for text in texts]
    assert runs[0].result.cycles == runs[1].result.cycles
    steps = []
    for text in texts:
        sequence = loaded(text).sequence
        assert sequence is not None
        steps.append(sequence.steps)
    assert steps[0] == steps[1]
    masks = [step for step in steps[0] if isinstance(step, MaskWrite)]
    assert [(step.mask, step.value) for step in masks] == [(0x1F00, 15 << 8)]


def test_numbers_that_no_step_uses_are_handed_on_unknown() -> None:
    """Triton-XDNA hands the sizes of its grid to every sequence that aiex.run runs; none uses them."""
    copies = [copied("out", "b", 1).replace("@out}", "@out, issue_token = true}"), copied("in", "a", 0), WAIT]
    inner = host(*copies, more=", %n: i32").replace("runtime_sequence", "runtime_sequence @inner")
    inner = inner.replace("memref<64xi32>", "memref<*xi32>")
    outer = """aie.device(npu1_1col) @all {
  aie.runtime_sequence @go(%a: memref<*xi32>, %b: memref<*xi32>, %n: i32) {
    aiex.configure @one {
      aiex.run @inner(%a, %b, %n) : (memref<*xi32>, memref<*xi32>, i32)
    }
  }
}"""
    text = "\n".join((device(_THROUGH, FLOWS, _RING, inner, name="@one"), outer))
    design = loaded(text, name="all")
    assert design.run(NUMBERS, np.zeros(64, np.int32)).arrays["1"].tolist() == NUMBERS.tolist()
    done = design.run(pad_arguments=True)
    assert "argument 0: no array was given; 256 bytes of zeros" in done.notes
    with pytest.raises(InputFileError, match=r"Give --in 0=FILE\.npy, or --pad-arguments for zeros\."):
        design.run()
