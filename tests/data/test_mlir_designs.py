"""Do designs as mlir-aie has them move and compute what they say, in all their forms?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from memtile import Array, Status
from memtile.errors import InputFileError
from memtile.importers.kernels.kernel import is_endless, kernels
from memtile.importers.kernels.user_functions import CoreFunctions
from memtile.importers.mlir.configure import Configured, configure
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.sequence.program import program_of
from memtile.importers.mlir.token_packets import Text
from memtile.runs.array_names import Given, Wanted
from memtile.runs.session import run_program

NOTHING: Mapping[str, Callable[..., Any]] = {}


def made(text: str, columns: int = 1) -> Configured:
    (device,) = devices(read(Text("d.mlir", text)))
    return configure(device, Array("npu1", columns))


def run(
    text: str,
    *arrays: np.ndarray | None,
    out: tuple[int, str, tuple[int, ...]],
    externals: Mapping[str, Callable[..., Any]] = NOTHING,
    columns: int = 1,
) -> np.ndarray:
    """What a design's host sequence leaves in an argument."""
    design = made(text, columns)
    (sequence,) = design.device.sequences.values()
    program = program_of(design, sequence)
    places = {design.tiles[core.tile].place: core for core in design.device.cores}
    for place, kernel in kernels(design, CoreFunctions(externals, {}, [])).items():
        endless = is_endless(places[place]) or None
        design.array.compute_tile(*place).run_kernel(kernel, endless=endless)
    given = [Given(str(n), array) for n, array in enumerate(arrays) if array is not None]
    number, dtype, shape = out
    wanted = [Wanted(str(number), np.dtype(dtype), shape)]
    done = run_program(program.steps, design.array, given, wanted, max_cycles=100_000)
    assert done.result.status is Status.FINISHED, done.result
    assert not done.stopped
    return np.asarray(done.arrays[str(number)])


def host(*lines: str) -> str:
    body = "\n".join(lines)
    return f"aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {{\n{body}\n}}"


WHOLE = "[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]"
BOTH = host(
    f"aiex.npu.dma_memcpy_nd(%b{WHOLE}) {{id = 1 : i64, metadata = @out}} : memref<64xi32>",
    f"aiex.npu.dma_memcpy_nd(%a{WHOLE}) {{id = 0 : i64, metadata = @in}} : memref<64xi32>",
    "aiex.npu.dma_wait {symbol = @out}",
)
TILES = "%s = aie.tile(0, 0)\n%m = aie.tile(0, 1)\n%c = aie.tile(0, 2)\n%d = aie.tile(0, 3)\n"
NUMBERS = np.arange(64, dtype=np.int32)


def design(*lines: str) -> str:
    return f"aie.device(npu1_1col) {{\n{TILES}" + "\n".join(lines) + "\n}"


def fifo(name: str, ends: str, size: int, depth: str = "2 : i32", more: str = "") -> str:
    return f"aie.objectfifo @{name}({ends}, {depth}) {more} : !aie.objectfifo<memref<{size}xi32>>"


def through(source: str, target: str, size: int, turns: int, body: str) -> str:
    """A core that takes objects of one FIFO and makes objects of another."""
    view = f"!aie.objectfifosubview<memref<{size}xi32>>"
    return f"""
      %z = arith.constant 0 : index
      %n = arith.constant {turns} : index
      %w = arith.constant {size} : index
      %o = arith.constant 1 : index
      scf.for %t = %z to %n step %o {{
        %s0 = aie.objectfifo.acquire @{source}(Consume, 1) : {view}
        %x = aie.objectfifo.subview.access %s0[0] : {view} -> memref<{size}xi32>
        %s1 = aie.objectfifo.acquire @{target}(Produce, 1) : {view}
        %y = aie.objectfifo.subview.access %s1[0] : {view} -> memref<{size}xi32>
        {body}
        aie.objectfifo.release @{source}(Consume, 1)
        aie.objectfifo.release @{target}(Produce, 1)
      }}
      aie.end
    """


ADD = """scf.for %i = %z to %w step %o {
          %v = memref.load %x[%i] : memref<16xi32>
          %k = arith.constant 5 : i32
          %r = arith.addi %v, %k : i32
          memref.store %r, %y[%i] : memref<16xi32>
        }"""


def test_a_core_between_object_fifos() -> None:
    text = design(
        fifo("in", "%s, {%c}", 16),
        fifo("out", "%c, {%s}", 16),
        f"aie.core(%c) {{{through('in', 'out', 16, 4, ADD)}}}",
        BOTH,
    )
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), NUMBERS + 5)


def test_an_endless_core_serves_until_the_host_has_what_it_waits_for() -> None:
    core = through("in", "out", 16, 1 << 62, ADD)
    text = design(fifo("in", "%s, {%c}", 16), fifo("out", "%c, {%s}", 16), f"aie.core(%c) {{{core}}}", BOTH)
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), NUMBERS + 5)


@pytest.mark.parametrize("depth", ["1 : i32", "2 : i32", "[2, 3] : i32"])
def test_linked_fifos_share_the_memory_tile(depth: str) -> None:
    text = design(
        fifo("in", "%s, {%m}", 32, depth),
        fifo(
            "out", "%m dimensionsToStream [<size = 4, stride = 1>, <size = 8, stride = 4>], {%s}", 32, depth
        ),
        "aie.objectfifo.link [@in] -> [@out] ([] [])",
        BOTH,
    )
    wanted = NUMBERS.reshape(2, 8, 4).swapaxes(1, 2).ravel()
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), wanted)


@pytest.mark.parametrize("offsets", ["[] [0, 8, 16, 24]", "[] [8]", "[16, 0] []"])
def test_offsets_of_a_link_of_one_to_one_mean_nothing(offsets: str) -> None:
    """``cascade`` of mlir-aie gives those of all its columns; its lowering reads none there."""
    link = f"aie.objectfifo.link [@in] -> [@out] ({offsets})"
    text = design(fifo("in", "%s, {%m}", 32), fifo("out", "%m, {%s}", 32), link, BOTH)
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), NUMBERS)


def test_an_object_is_distributed_and_joined_again() -> None:
    text = design(
        fifo("in", "%s, {%m}", 32),
        fifo("in0", "%m, {%c}", 16),
        fifo("in1", "%m, {%d}", 16),
        "aie.objectfifo.link [@in] -> [@in0, @in1] ([] [0, 16])",
        fifo("out0", "%c, {%m}", 16),
        fifo("out1", "%d, {%m}", 16),
        fifo("out", "%m, {%s}", 32),
        "aie.objectfifo.link [@out0, @out1] -> [@out] ([0, 16] [])",
        f"aie.core(%c) {{{through('in0', 'out0', 16, 2, ADD)}}}",
        f"aie.core(%d) {{{through('in1', 'out1', 16, 2, ADD.replace('5 :', '7 :'))}}}",
        BOTH,
    )
    wanted = NUMBERS.reshape(2, 2, 16) + np.array([5, 7], np.int32)[None, :, None]
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), wanted.ravel())


def test_neighbours_share_their_memory_and_use_no_channel() -> None:
    text = design(
        fifo("in", "%s, {%c}", 16),
        fifo("between", "%c, {%d}", 16),
        fifo("out", "%d, {%s}", 16),
        f"aie.core(%c) {{{through('in', 'between', 16, 4, ADD)}}}",
        f"aie.core(%d) {{{through('between', 'out', 16, 4, ADD)}}}",
        BOTH,
    )
    assert {(chain.tile, chain.direction) for chain in made(text).device.chains} == {
        ("%c", "S2MM"),
        ("%d", "MM2S"),
    }
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), NUMBERS + 10)


def test_a_repeated_object_comes_as_often_as_it_says() -> None:
    text = design(
        fifo("in", "%s, {%m}", 16, "1 : i32"),
        fifo("out", "%m, {%s}", 16, "1 : i32", "{repeat_count = 4 : i32}"),
        "aie.objectfifo.link [@in] -> [@out] ([] [])",
        host(
            f"aiex.npu.dma_memcpy_nd(%b{WHOLE}) {{id = 1 : i64, metadata = @out}} : memref<64xi32>",
            "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 8][1, 1, 1, 16][0, 0, 0, 1]) "
            "{id = 0 : i64, metadata = @in} : memref<64xi32>",
            "aiex.npu.dma_wait {symbol = @out}",
        ),
    )
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), np.tile(NUMBERS[8:24], 4))


def test_a_lowered_body_is_the_structured_one() -> None:
    """Blocks and branches, locks and BDs with numbers, streams by hand: the same words."""
    text = design(
        '%x = aie.buffer(%c) {address = 1024 : i32, sym_name = "x"} : memref<64xi32>',
        '%y = aie.buffer(%c) {address = 2048 : i32, sym_name = "y"} : memref<64xi32>',
        "%full = aie.lock(%c, 1) {init = 0 : i32}",
        "%done = aie.lock(%c, 3) {init = 0 : i32}",
        "aie.flow(%s, DMA : 0, %c, DMA : 0)\naie.flow(%c, DMA : 0, %s, DMA : 0)",
        "aie.shim_dma_allocation @in(%s, MM2S, 0)\naie.shim_dma_allocation @out(%s, S2MM, 0)",
        """aie.mem(%c) {
          %0 = aie.dma_start(S2MM, 0, ^in, ^next)
        ^in:
          aie.dma_bd(%x : memref<64xi32>, 0, 64) {bd_id = 3 : i32}
          aie.use_lock(%full, Release, 1)
          aie.next_bd ^end
        ^next:
          %1 = aie.dma_start(MM2S, 0, ^out, ^end)
        ^out:
          aie.use_lock(%done, AcquireGreaterEqual, 1)
          aie.dma_bd(%y : memref<64xi32>, 0, 64)
          aie.next_bd ^end
        ^end:
          aie.end
        }""",
        """aie.core(%c) {
          %c0 = arith.constant 0 : index
          %c64 = arith.constant 64 : index
          %c1 = arith.constant 1 : index
          %two = arith.constant 2 : i32
          aie.use_lock(%full, AcquireGreaterEqual, 1)
          cf.br ^head(%c0, %two : index, i32)
        ^head(%i: index, %sum: i32):
          %more = arith.cmpi slt, %i, %c64 : index
          cf.cond_br %more, ^turn, ^last
        ^turn:
          %v = memref.load %x[%i] : memref<64xi32>
          %s1 = arith.addi %sum, %v : i32
          memref.store %s1, %y[%i] : memref<64xi32>
          %j = arith.addi %i, %c1 : index
          cf.br ^head(%j, %s1 : index, i32)
        ^last:
          aie.use_lock(%done, Release, 1)
          aie.end
        }""",
        BOTH,
    )
    wanted = 2 + np.cumsum(NUMBERS, dtype=np.int32)
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), wanted)


EXTERNAL = """func.call @twice(%x, %y, %w) : (memref<16xi32>, memref<16xi32>, index) -> ()"""


def test_functions_of_the_user_get_views_and_numbers_and_missing_ones_are_named() -> None:
    text = design(
        "func.func private @twice(memref<16xi32>, memref<16xi32>, index)",
        fifo("in", "%s, {%c}", 16),
        fifo("out", "%c, {%s}", 16),
        f"aie.core(%c) {{{through('in', 'out', 16, 4, EXTERNAL)}}}",
        BOTH,
    )

    def twice(source: np.ndarray, target: np.ndarray, count: int) -> None:
        assert (source.dtype, source.shape, count) == (np.int32, (16,), 16)
        target[:count] = 2 * source[:count]

    got = run(text, NUMBERS, out=(1, "int32", (64,)), externals={"twice": twice})
    np.testing.assert_array_equal(got, 2 * NUMBERS)
    with pytest.raises(
        InputFileError, match=r"(?s)no implementation was given for function twice\(memref<16xi32>.*def twice"
    ):
        run(text, NUMBERS, out=(1, "int32", (64,)))


def test_tasks_take_bds_and_give_them_back() -> None:
    """More tasks than there are BDs and places in the queue, in a loop that is unrolled."""
    text = design(
        "aie.flow(%s, DMA : 0, %m, DMA : 0)\naie.flow(%m, DMA : 0, %s, DMA : 0)",
        "%b0 = aie.buffer(%m) : memref<4xi32>",
        "%free = aie.lock(%m) {init = 1 : i32}\n%full = aie.lock(%m) {init = 0 : i32}",
        """aie.memtile_dma(%m) {
          %0 = aie.dma(S2MM, 0) [{
            aie.use_lock(%free, AcquireGreaterEqual, 1)
            aie.dma_bd(%b0 : memref<4xi32>)
            aie.use_lock(%full, Release, 1)
          }]
          %1 = aie.dma(MM2S, 0) [{
            aie.use_lock(%full, AcquireGreaterEqual, 1)
            aie.dma_bd(%b0 : memref<4xi32>)
            aie.use_lock(%free, Release, 1)
          }]
          aie.end
        }""",
        """aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
          %t = aiex.dma_configure_task(%s, S2MM, 0) {
            aie.dma_bd(%b : memref<64xi32> offset = 0 len = 64)
            aie.end
          } {issue_token = true}
          aiex.dma_start_task(%t)
          %c0 = arith.constant 0 : i64
          %c16 = arith.constant 16 : i64
          %c1 = arith.constant 1 : i64
          %c4 = arith.constant 4 : i64
          scf.for %i = %c0 to %c16 step %c1 {
            %at = arith.muli %i, %c4 : i64
            %u = aiex.dma_configure_task(%s, MM2S, 0) {
              aie.dma_bd(%a : memref<64xi32> offset = %at len = 4)
              aie.end
            } {issue_token = true}
            aiex.dma_start_task(%u)
            aiex.dma_await_task(%u)
          }
          aiex.dma_await_task(%t)
        }""",
    )
    np.testing.assert_array_equal(run(text, NUMBERS, out=(1, "int32", (64,))), NUMBERS)


def test_a_window_of_objects_moves_by_one() -> None:
    """Three objects are held, one is given back, and only one more is taken."""
    text = design(
        fifo("in", "%s, {%c}", 16, "4 : i32"),
        fifo("out", "%c, {%s}", 16),
        """aie.core(%c) {
          %z = arith.constant 0 : index
          %n = arith.constant 2 : index
          %w = arith.constant 16 : index
          %o = arith.constant 1 : index
          scf.for %t = %z to %n step %o {
            %s = aie.objectfifo.acquire @in(Consume, 3) : !v
            %x = aie.objectfifo.subview.access %s[0] : !v -> memref<16xi32>
            %u = aie.objectfifo.subview.access %s[2] : !v -> memref<16xi32>
            %q = aie.objectfifo.acquire @out(Produce, 1) : !v
            %y = aie.objectfifo.subview.access %q[0] : !v -> memref<16xi32>
            scf.for %i = %z to %w step %o {
              %v = memref.load %x[%i] : memref<16xi32>
              %k = memref.load %u[%i] : memref<16xi32>
              %r = arith.addi %v, %k : i32
              memref.store %r, %y[%i] : memref<16xi32>
            }
            aie.objectfifo.release @in(Consume, 1)
            aie.objectfifo.release @out(Produce, 1)
          }
          aie.end
        }""",
        host(
            "aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) "
            "{id = 1 : i64, metadata = @out} : memref<64xi32>",
            f"aiex.npu.dma_memcpy_nd(%a{WHOLE}) {{id = 0 : i64, metadata = @in}} : memref<64xi32>",
            "aiex.npu.dma_wait {symbol = @out}",
        ),
    )
    rows = NUMBERS.reshape(4, 16)
    got = run(text, NUMBERS, out=(1, "int32", (64,)))
    np.testing.assert_array_equal(got[:32], np.concatenate([rows[0] + rows[2], rows[1] + rows[3]]))


def test_patterns_of_bytes_count_words_innermost_and_bytes_outside() -> None:
    link = "aie.objectfifo.link [@in] -> [@out] ([] [])"
    turned = "<size = 4, stride = 4>, <size = 8, stride = 16>, <size = 4, stride = 1>"
    ends = f"%m dimensionsToStream [{turned}], {{%s}}"
    text = design(fifo("in", "%s, {%m}", 128), fifo("out", ends, 128), link, BOTH)
    text = text.replace("128xi32", "128xi8").replace("64xi32", "256xi8").replace("1, 64]", "1, 256]")
    data = np.arange(256, dtype=np.uint8).view(np.int8)
    wanted = data.reshape(2, 8, 4, 4).swapaxes(1, 2).ravel()
    np.testing.assert_array_equal(run(text, data, out=(1, "int8", (256,))), wanted)
