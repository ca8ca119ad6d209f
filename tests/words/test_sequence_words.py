"""Are register writes of host sequences those that mlir-aie makes of the same operations?

The figures are those of mlir-aie's passes (AIEDMATasksToNPU, AIEDmaToNpu, AIEAssignRuntimeSequenceBDIDs,
AIEDecomposeLargeDmaBd), whose layout of a BD stands here on its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.errors import InputFileError
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.configure import configure
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.sequence.program import program_of
from memtile.importers.mlir.token_packets import Text
from memtile.runs.operations import BlockWrite, MaskPoll, MaskWrite, Other, Write
from support.mlir.mlir_designs import FLOWS, NUMBERS, device, host, loaded, ran

INTERFACE_BD, MEMORY_BD, COMPUTE_BD = 0x1D000, (1 << 20) + 0xA0000, (2 << 20) + 0x1D000
PUSH = {0x1D204: "S2MM 0", 0x1D20C: "S2MM 1", 0x1D214: "MM2S 0", 0x1D21C: "MM2S 1"}
FIELDS = {  # of an interface tile: word, lowest bit, bits
    "length": (0, 0, 32), "packet": (2, 30, 1), "id": (2, 19, 5), "type": (2, 16, 3), "d0": (3, 20, 10),
    "s0": (3, 0, 20), "burst": (4, 30, 2), "d1": (4, 20, 10), "s1": (4, 0, 20), "cache": (5, 24, 4),
    "s2": (5, 0, 20), "runs": (6, 20, 6), "step": (6, 0, 20), "next": (7, 26, 5), "valid": (7, 25, 1),
}  # fmt: skip


def steps(
    *lines: str, arguments: str = "%a: memref<8388608xi32>", numbers: Any = (), more: str = ""
) -> list[Any]:
    """What a host sequence of these lines does."""
    body = "\n".join(lines)
    text = device(FLOWS, more, f"aie.runtime_sequence({arguments}) {{\n{body}\n}}")
    (found,) = devices(read(Text("d.mlir", text)))
    made = configure(found, Array("npu1", 1))
    (sequence,) = found.sequences.values()
    return list(program_of(made, sequence, dict(numbers)).steps)


def bds(done: list[Any]) -> list[dict[str, int]]:
    """The BDs of the interface tile that are written, with their numbers and offsets."""
    found = []
    for step in done:
        if isinstance(step, BlockWrite):
            fields = {n: step.words[w] >> low & (1 << many) - 1 for n, (w, low, many) in FIELDS.items()}
            found.append({"bd": (step.address - INTERFACE_BD) // 32, **fields})
        elif isinstance(step, Other) and "argument" in dict(step.details):
            found[-1]["at"] = dict(step.details)["offset"]
    return found


def numbers(done: list[Any]) -> list[int]:
    return [each["bd"] for each in bds(done)]


def pushes(done: list[Any]) -> list[tuple[str, int, int, int]]:
    """Channel, BD, repetitions and token of each task that is pushed."""
    writes = [(PUSH.get(step.address), step.value) for step in done if isinstance(step, Write)]
    return [(name, value & 15, value >> 16 & 255, value >> 31) for name, value in writes if name]


def task(bd: str, *, name: str = "t", port: str = "%s, MM2S, 0", end: str = "", start: bool = True) -> str:
    text = f"%{name} = aiex.dma_configure_task({port}) {{\n{bd}\naie.end\n}} {end}\n"
    return text + f"aiex.dma_start_task(%{name})\n" * start


def bd(
    sizes: str = "", strides: str = "", length: int = 8, offset: int = 0, more: str = "", of: str = "%a"
) -> str:
    kind = "memref<8388608xi32>" if of == "%a" else "memref<64xi32>"
    pattern = f"sizes = [{sizes}] strides = [{strides}]" if sizes else ""
    return f"aie.dma_bd({of} : {kind} offset = {offset} len = {length} {pattern}) {{{more}}}"


def of(found: dict[str, int], *names: str) -> tuple[int, ...]:
    return tuple(found[name] for name in names)


def test_the_outermost_of_four_sizes_repeats_nothing() -> None:
    """mlir-aie's whole-array GEMM (dma_task_repeat_outer.mlir)."""
    gemm = bd("16, 8, 256, 64", "0, 64, 512, 1", 8 * 256 * 64)
    done = steps(task(gemm, end="{repeat_count = 15 : i32}"))
    (found,) = bds(done)
    assert of(found, "length", "d0", "d1", "s1", "s2") == (8 * 256 * 64, 64, 256, 511, 63)
    assert of(found, "runs", "step") == (0, 0)
    assert pushes(done) == [("MM2S 0", 0, 15, 0)]
    assert pushes(steps(task(gemm))) == [("MM2S 0", 0, 0, 0)]


def test_its_stride_is_the_step_of_the_iteration() -> None:
    (found,) = bds(steps(task(bd("4, 2, 3, 8", "1024, 64, 16, 2", 48), end="{repeat_count = 3 : i32}")))
    assert of(found, "length", "runs", "step", "d0", "s0", "s2") == (48, 3, 1023, 8, 1, 63)


def test_a_run_through_memory_has_no_dimensions() -> None:
    """LinearizeContiguousBDTransfer, and isContiguousTransfer where the iteration is outside of it."""
    for sizes, strides, length, runs in (
        ("1, 2, 3, 2000", "0, 6000, 2000, 1", 12000, 0),
        ("2, 2, 3, 2000", "12000, 6000, 2000, 1", 24000, 0),
        ("2, 2, 3, 2000", "12000, 6000, 2000, 1", 12000, 1),
        ("1, 1, 8", "4, 4, 1", 8, 0),
    ):
        (found,) = bds(steps(task(bd(sizes, strides, length))))
        assert of(found, "length", "d0", "s0", "d1", "runs") == (length, 0, 0, 0, runs), sizes


def test_small_and_wide_elements() -> None:
    small = "aie.dma_bd(%a : memref<64xi8> offset = 4 len = 16 sizes = [2, 2, 4] strides = [4, 8, 1])"
    (found,) = bds(steps(task(small), arguments="%a: memref<64xi8>"))
    assert of(found, "length", "d0", "s0", "d1", "s1", "s2", "at") == (4, 1, 0, 2, 1, 0, 4)
    wide = "aie.dma_bd(%a : memref<64xi64> offset = 1 len = 16 sizes = [4, 4] strides = [8, 1])"
    (found,) = bds(steps(task(wide), arguments="%a: memref<64xi64>"))
    assert of(found, "length", "d0", "s0", "d1", "s1", "at") == (32, 8, 0, 4, 15, 8)


def test_patterns_that_are_too_large_become_several() -> None:
    """Two dimensions of one, or slices of the outermost, as decompose_large_dma_task.mlir has them."""
    (found,) = bds(steps(task(bd("1, 1, 4, 1920", "0, 0, 1921, 1", 7680))))
    assert of(found, "length", "d0", "d1", "s1", "s2") == (7680, 960, 2, 959, 1920)
    done = steps(task(bd("1, 1, 1031, 2", "0, 0, 3, 1", 2062)))
    first, last = bds(done)
    assert of(first, "bd", "length", "d1", "next", "at") == (0, 2046, 1023, 1 | 1 << 1, 0)
    assert of(last, "bd", "length", "d1", "next", "at") == (1, 16, 8, 0, 1023 * 3 * 4)
    assert pushes(done) == [("MM2S 0", 0, 0, 0)]


def copy(lists: str, number: int = 0, name: str = "in", more: str = "") -> str:
    return (
        f"aiex.npu.dma_memcpy_nd(%a{lists}) {{id = {number} : i64, metadata = @{name}{more}}} "
        ": memref<8388608xi32>"
    )


def test_a_transfer_that_is_split_takes_bds_that_its_channel_does_not_name() -> None:
    done = steps(
        copy("[0, 0, 0, 5][1, 1, 1031, 2][0, 0, 3, 1]", more=", issue_token = true"),
        copy("[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]", 1),
        copy("[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]", 3, "out"),
    )
    assert [of(each, "bd", "length", "at") for each in bds(done)] == [
        (0, 2046, 20), (2, 16, 20 + 1023 * 12), (1, 8, 0), (3, 8, 0),
    ]  # fmt: skip
    assert [each[3] for each in pushes(done)] == [0, 1, 0, 1]


def test_a_transfer_repeats_by_its_outermost_size() -> None:
    (strided, plain) = bds(
        steps(
            copy("[0, 0, 0, 0][4, 2, 8, 8][256, 128, 16, 1]"),
            copy("[0, 0, 0, 0][65, 1, 1, 8][0, 0, 0, 1]", 1),
        )
    )
    assert of(strided, "length", "runs", "step") == (128, 3, 255)
    assert of(plain, "length", "runs", "step") == (8, 0, 0)


def test_texts_until_july_2024_leave_sizes_out_and_count_rows() -> None:
    """Without an innermost stride: a stride of 0 is none, offsets are those of the memory (AIEDmaToIpu)."""
    arguments = "%a: memref<8x64xi32>"
    line = "aiex.npu.dma_memcpy_nd(0, 0, %a[0, 0, {}, 8][1, 1, 8, 64][{}]) {{id = 0 : i64, metadata = @in}}"
    plain, strided, twice = (
        bds(steps(line.format(*each) + " : memref<8x64xi32>", arguments=arguments))[0]
        for each in ((2, "0, 0, 0"), (0, "0, 0, 16"), (1, "0, 32, 16"))
    )
    assert of(plain, "length", "d0", "d1", "s1", "at") == (512, 0, 0, 0, 4 * (2 * 64 + 8))
    assert of(strided, "length", "d0", "d1", "s1", "s2", "at") == (512, 64, 0, 15, 0, 32)
    assert of(twice, "d0", "d1", "s1", "s2", "at") == (64, 8, 15, 31, 4 * 72)


def test_headers_bursts_and_caches() -> None:
    """As memcpy_allocation_header.mlir and axcache_lowering.mlir: its own header comes first."""
    more = "aie.shim_dma_allocation @p(%s, MM2S, 1, <pkt_id = 5>)"
    whole = "[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]"
    own = copy(whole, 1, "p").replace("1])", "1], packet = <pkt_id = 2, pkt_type = 3>)")
    plain = copy(whole, 2, more=", axcache = 5 : i64, burst_length = 64 : i64")
    named = "%t = aiex.dma_configure_task_for @p {\n" + bd() + "\naie.end\n}"
    own_bd = task(bd(more="packet = #aie.packet_info<pkt_type = 1, pkt_id = 2>"), name="u", start=False)
    found = bds(steps(copy(whole, 0, "p"), own, plain, named, own_bd, more=more))
    assert [of(each, "packet", "id", "type") for each in found] == [
        (1, 5, 0), (1, 2, 3), (0, 0, 0), (1, 5, 0), (1, 2, 1),
    ]  # fmt: skip
    assert [of(each, "cache", "burst") for each in found] == [(2, 2), (2, 2), (5, 0), (2, 2), (2, 2)]


ON_TILES = (
    "%b = aie.buffer(%m) {address = 256 : i32} : memref<64xi32>\n%e = aie.lock(%m, 3)\n%f = aie.lock(%m, 4)\n"
)
ON_TILES += "%k = aie.buffer(%c) {address = 1024 : i32} : memref<64xi32>\n"


def test_tasks_of_memory_tiles() -> None:
    """Padding, no D2_Wrap, locks and address of the tile's own window, by a masked write (DEV-MLIR-4)."""
    body = """aie.use_lock(%e, AcquireGreaterEqual, 2)
      aie.dma_bd(%b : memref<64xi32> offset = 4 len = 24 sizes = [2, 3, 4] strides = [32, 8, 1]
        pad [<const_pad_before = 1, const_pad_after = 2>, <const_pad_before = 3, const_pad_after = 4>])
      aie.use_lock(%f, Release, 1)"""
    block, masked = steps(task(body, port="%m, MM2S, 1", start=False), more=ON_TILES)
    assert (
        block.address == MEMORY_BD + 24 * 32
    )  # odd channels have the upper half (memtile-channel-parity.mlir)
    assert block.words == (
        24, 3 << 26 | 16, 4 << 17, 1 << 27 | 3 << 17 | 7, 31, 2 << 23 | 4 << 17, 0,
        1 << 31 | 1 << 24 | 68 << 16 | 1 << 15 | 126 << 8 | 67,
    )  # fmt: skip
    own = 0x80000 // 4 + (256 + 16) // 4
    assert masked == MaskWrite(MEMORY_BD + 24 * 32 + 4, 0x7FFFF, own, firmware=True, place=masked.place)


def test_tasks_of_compute_tiles() -> None:
    block, masked = steps(
        task("aie.dma_bd(%k : memref<64xi32> offset = 8 len = 8)", port="%c, S2MM, 1", start=False),
        more=ON_TILES,
    )
    assert (block.address, block.words[:2]) == (COMPUTE_BD, (8 << 14 | 8, 0))
    assert (masked.address, masked.mask, masked.value) == (COMPUTE_BD, 0x0FFFC000, (1024 + 32) // 4 << 14)


def test_raw_bds_have_their_padding_and_no_d2_wrap() -> None:
    given = {"d0_zero_before": 5, "d1_zero_after": 3, "d2_size": 9, "buffer_length": 4, "valid_bd": 1}
    text = ", ".join(f"{name} = {value} : i32" for name, value in given.items())
    (block,) = steps(f"aiex.npu.writebd {{bd_id = 2 : i32, column = 0 : i32, row = 1 : i32, {text}}}")
    assert block.address == MEMORY_BD + 2 * 32
    assert block.words == (4, 5 << 26, 0, 0, 0, 3 << 23, 0, 1 << 31)


def test_bds_are_the_lowest_that_are_free() -> None:
    """As good-3.mlir, await-token-fifo.mlir and reserve_static_bd_ids.mlir have them (DEV-MLIR-3)."""
    chain = f"{bd(more='bd_id = 7 : i32')}\naie.next_bd ^n\n^n:\n{bd()}"
    assert numbers(steps(task(chain), task(bd(more="bd_id = 1 : i32"), name="u"), task(bd(), name="v"))) == [
        7, 0, 1, 2,
    ]  # fmt: skip
    token = "{issue_token = true}"
    waited = f"{task(bd(), end=token)}aiex.dma_await_task(%t)\n{task(bd(), name='u', end=token)}"
    assert numbers(steps(waited)) == [0, 0]
    assert numbers(steps(waited, "aiex.dma_start_task(%t)")) == [0, 1]  # %t keeps its BD
    static = """%x = aie.external_buffer : memref<8xi32>
      aie.shim_dma(%s) {
        aie.dma_start(MM2S, 1, ^a, ^z)
      ^a:
        aie.dma_bd(%x : memref<8xi32>) {bd_id = 0 : i32}
        aie.next_bd ^z
      ^z:
        aie.end
      }"""
    assert numbers(steps(task(bd()), more=static)) == [1]


def test_a_wait_takes_the_oldest_token() -> None:
    token = "{issue_token = true}"
    two = task(bd(), end=token) + task(bd(), name="u", end=token)
    late = f"{two}aiex.dma_await_task(%u)\n{task(bd(), name='v')}"
    assert numbers(steps(late)) == [0, 1, 2]  # the token was %t's, so %u may still have its BD
    assert numbers(steps(two, "aiex.dma_await_task(%t)", task(bd(), name="v"))) == [0, 1, 0]


def test_a_task_that_runs_more_often_than_a_push_says_is_pushed_again() -> None:
    """repeat-split.mlir: only the last push has the token; nothing waits between them (DEV-MLIR-5)."""
    done = steps(task(bd(), end="{issue_token = true, repeat_count = 600 : i32}"))
    assert not any(isinstance(step, MaskPoll) for step in done)
    assert pushes(done) == [("MM2S 0", 0, 255, 0), ("MM2S 0", 0, 255, 0), ("MM2S 0", 0, 88, 1)]


@pytest.mark.parametrize(
    "last", ["aiex.dma_start_task(%t) repeat %n : i32", '"aiex.dma_start_task"(%t, %n) : (index, i32) -> ()']
)
def test_a_start_has_a_count_of_its_own_and_may_withhold_the_token(last: str) -> None:
    """repeat-split.mlir of autumn 2026: its count is that of one start; no push of it has a token."""
    done = steps(
        task(bd(), end="{issue_token = true, repeat_count = 7 : i32}"),
        "%n = arith.constant 2 : i32\naiex.dma_start_task(%t) {repeat_count = 300 : i32, no_token}",
        f"{last}\naiex.dma_start_task(%t)",
    )
    assert [each[2:] for each in pushes(done)] == [(7, 1), (255, 0), (44, 0), (2, 1), (7, 1)]


def test_parts_of_arguments() -> None:
    """As traceSubviewToBlockArgument; a view counts bytes, its elements are its own."""
    lines = """%c64 = arith.constant 64 : index
      %v = memref.view %a[%c64][] : memref<4096xi8> to memref<8x16xi16>
      %r = memref.subview %v[2, 0] [4, 16] [1, 1]
        : memref<8x16xi16> to memref<4x16xi16, strided<[16, 1], offset: 32>>
      %q = memref.subview %r[1, 0] [1, 16] [1, 1]
        : memref<4x16xi16, strided<[16, 1], offset: 32>> to memref<16xi16, strided<[1], offset: 48>>
      %w = memref.reinterpret_cast %q to offset: [0], sizes: [16], strides: [1]
        : memref<16xi16, strided<[1], offset: 48>> to memref<16xi16>
      aiex.npu.dma_memcpy_nd(%w[0, 0, 0, 2][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<16xi16>"""
    (found,) = bds(steps(lines, arguments="%a: memref<4096xi8>"))
    assert of(found, "length", "at") == (4, 64 + 3 * 32 + 4)


@pytest.mark.parametrize(
    "line",
    [
        "aiex.npu.maskpoll(%at, %v, %n) : i32, i32, i32",
        "aiex.npu.maskpoll {address = 119336 : ui32, value = 0 : ui32, mask = 4194304 : ui32}",
    ],
)
def test_polls(line: str) -> None:
    words = (
        "%at = arith.constant 119336 : i32\n%v = arith.constant 0 : i32\n%n = arith.constant 4194304 : i32\n"
    )
    (poll,) = steps(words, line)
    assert isinstance(poll, MaskPoll)
    assert (poll.address, poll.value, poll.mask) == (119336, 0, 1 << 22)


def test_a_poll_of_a_buffer() -> None:
    """maskpoll-symbolic.mlir: words of the buffer."""
    more = '%x = aie.buffer(%d) {address = 1024 : i32, sym_name = "x"} : memref<256xi32>'
    line = "%n = arith.constant 200 : i32\naiex.npu.maskpoll(%n, %n, %n) {buffer = @x} : i32, i32, i32"
    (poll,) = steps(line, more=more)
    assert poll.address == 3147552


def test_numbers_of_the_host_leave_the_length_alone_and_draw_bds_from_a_pool() -> None:
    """runtime-len.mlir; a pool gives back first what came last (lower-dynamic-bd-pool)."""
    arguments = "%a: memref<8388608xi32>, %n: i32"
    open_ = bd("1, 8, 16, 32", "4096, 512, 32, 1", 0).replace("len = 0", "len = %n")
    (found,) = bds(steps(task(open_), arguments=arguments, numbers={1: 64}))
    assert of(found, "length", "d0", "d1") == (64, 0, 0)
    rolled = f"""%z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      {task(bd(), name="f")}{task(bd(), name="g")}
      aiex.dma_free_task(%f)
      scf.for %i = %z to %n step %one : i32 {{
        {task(bd(), end="{issue_token = true}")}
        aiex.dma_await_task(%t)
      }}"""
    assert numbers(steps(rolled, arguments=arguments, numbers={1: 2})) == [0, 1, 0, 0]
    drawn = f"""%p = aiex.dma_bd_pool_pop(0, 0) : i32
      %q = aiex.dma_bd_pool_pop(0, 0) : i32
      aiex.dma_bd_pool_push(0, 0) bd_id %p : i32
      %t = aiex.dma_configure_task(%s, MM2S, 0) repeat %n : i32 bd_id %q : i32 {{
        {bd()}
        aie.end
      }}
      aiex.dma_start_task(%t)"""
    done = steps(drawn, arguments=arguments, numbers={1: 4})
    assert (numbers(done), pushes(done)) == ([1], [("MM2S 0", 1, 4, 0)])


def test_four_dimensions_move_what_they_say() -> None:
    """Columns of a matrix, twice: IRON's fill with a tap of four dimensions."""
    fifos = """aie.objectfifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
      aie.objectfifo @out(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
      aie.objectfifo.link [@in] -> [@out] ([] [])"""
    sequence = """aie.runtime_sequence(%a: memref<64xi32>, %b: memref<128xi32>) {
      %t = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64 sizes = [2, 2, 8, 4] strides = [0, 4, 8, 1])
        aie.end
      } {repeat_count = 1 : i32}
      %u = aiex.dma_configure_task_for @out {
        aie.dma_bd(%b : memref<128xi32> offset = 0 len = 128)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_start_task(%u)
      aiex.dma_await_task(%u)
    }"""
    design: Loaded = loaded(device(fifos, sequence))
    columns = NUMBERS.reshape(8, 2, 4).transpose(1, 0, 2).reshape(-1)
    np.testing.assert_array_equal(ran(design, NUMBERS, np.zeros(128, np.int32))[1], np.tile(columns, 2))


def test_raw_bds_of_interface_tiles_until_june_2024() -> None:
    """NpuWriteBdExShimTileOp: firmware adds an argument's address; bit 4 of a lock's value was dropped."""
    fields = "bd_id = 3 : i32, buffer_length = 48 : i32, buffer_offset = 64 : i32, ddr_id = 1 : i32"
    pattern = "d0_size = 8 : i32, d0_wrap = 5 : i32, d1_size = 3 : i32, d1_stride = 15 : i32"
    rest = "column = 0 : i32, column_num = 1 : i32, valid_bd = 1 : i32, lock_acq_val = 17 : i32"
    write = f"aiex.npu.writebd_shimtile {{{fields}, {pattern}, {rest}}}"
    push = "{metadata = @in, issue_token = true, repeat_count = 2 : i32, bd_id = 3 : i32}"
    done = steps(write, f"aiex.npu.shimtile_push_queue {push}")
    (found,) = bds(done)
    assert of(found, "bd", "length", "d0", "d1", "s1", "valid", "at") == (3, 48, 8, 3, 15, 1, 64)
    block, patched = done[0].words, dict(done[1].details)
    assert (block[1], block[7] >> 5 & 0x7F, patched["argument"]) == (0, 1, 1)
    assert pushes(done) == [("MM2S 0", 3, 2, 1)]
    with pytest.raises(InputFileError, match="its column_num is not supported: BDs of several columns"):
        loaded(device(FLOWS, host(write.replace("column_num = 1", "column_num = 2"))))
