"""Does every task and transfer that mlir-aie's passes refuse get its error, with what is allowed?"""

from __future__ import annotations

from typing import Any

import pytest

from memtile import Array
from memtile.errors import MemtileError
from memtile.importers.mlir.configure import configure
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.sequence.program import program_of
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, device, loaded

ARGUMENTS = "%a: memref<64xi8>, %b: memref<8388608xi32>, %n: i32"
TILES = """%k = aie.buffer(%m) {address = 256 : i32} : memref<64xi32>
%l = aie.lock(%m, 3)
"""


def refused(*lines: str, numbers: Any = ((2, 3),), more: str = "") -> str:
    """The error of a host sequence."""
    body = "\n".join(lines)
    text = device(FLOWS, TILES, more, f"aie.runtime_sequence({ARGUMENTS}) {{\n{body}\n}}")
    (found,) = devices(read(Text("d.mlir", text)))
    made = configure(found, Array("npu1", 1))
    (sequence,) = found.sequences.values()
    with pytest.raises(MemtileError) as caught:
        program_of(made, sequence, dict(numbers))
    return str(caught.value)


def task(body: str, name: str = "t", port: str = "%s, MM2S, 0", end: str = "{issue_token = true}") -> str:
    return f"%{name} = aiex.dma_configure_task({port}) {{\n{body}\n}} {end}\n"


def bd(pattern: str, more: str = "", of: str = "%b : memref<8388608xi32>") -> str:
    return f"aie.dma_bd({of} {pattern}) {{{more}}}\naie.end"


SMALL, BUFFER = "%a : memref<64xi8>", "%k : memref<64xi32>"
PADDED = "offset = 0 len = 8 sizes = [8] strides = [1]"
PLAIN = bd("offset = 0 len = 8")
START, WAIT, FREE = (f"aiex.dma_{word}_task(%t)" for word in ("start", "await", "free"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            bd("offset = 4 len = 32 sizes = [2, 2, 4] strides = [4, 8, 1]", of=SMALL),
            "its length is 32 bytes, its inner three sizes make 16",
        ),
        (
            bd("offset = 0 len = 128 sizes = [2, 4, 4, 4] strides = [64, 16, 4, 2]"),
            "Leave the outermost of four sizes out of len",
        ),
        (
            bd("offset = 0 len = 8192 sizes = [1, 2, 2, 2048] strides = [0, 16384, 4096, 1]"),
            "too large for a BD, which takes them as [2, 2, 4, 512]; the outermost is the iteration, so a "
            "run is 16384 bytes, and its length is 32768 (MLIR language reference). Write sizes = "
            "[2, 2, 4, 512], strides = [16384, 4096, 512, 1], len = 4096 and repeat_count = 1, or",
        ),
        (bd("offset = 0 len = 8 sizes = [1, 1, 1, 1, 8] strides = [4, 4, 4, 8, 1]"), "it has 5 sizes"),
        (bd("offset = 0 len = 8 sizes = [8] strides = [0]"), "stride 0 is 0; it must be 1 or more"),
        (
            bd("offset = 0 len = 8 sizes = [8] strides = [2]", of=SMALL),
            "stride 0 is 2 elements of 8 bits, which are no whole 32-bit words",
        ),
        (bd("offset = 0 len = 6 sizes = [6] strides = [1]", of=SMALL), "it moves 6 bytes"),
        (bd("offset = 0 len = 3", of=SMALL), "it moves 3 bytes"),
        (bd("offset = 3 len = 4", of=SMALL), "3 bytes are no whole 32-bit words"),
        (bd("offset = 0 len = 8 sizes = [66, 1, 2, 4] strides = [8, 0, 0, 1]"), "stride 1 is 0"),
        (
            bd("offset = 0 len = 2 sizes = [1, 1, 2, 1] strides = [0, 0, 1048578, 1]"),
            "stride 1 is 1048577 words in the BD, which has 1..1048576 there",
        ),
        (PLAIN.replace("aie.end", "aie.dma_bd(%b : memref<8388608xi32>)\naie.end"), "has 2 aie.dma_bd"),
        ("aie.end", "the task has no BD"),
        (PLAIN.replace("aie.end", "aie.next_bd ^x\n^x:\naie.end"), "a block of the task has 0 aie.dma_bd"),
        (PLAIN + f"\n^x:\n{PLAIN}", "no aie.next_bd of the task leads to its block ^x"),
        (
            "aie.use_lock(%l, Release, 1)\n" + PLAIN,
            "d.mlir:16:1: aie.use_lock: a block of the task has 1 aie.use_lock",
        ),
        (
            "aie.use_lock(%l, Release, 1)\naie.use_lock(%l, Release, 1)\n" + PLAIN,
            "are not an acquire and a release",
        ),
        ("aie.dma_bd_packet(0, 1)\n" + PLAIN, "where mlir-aie lowers it to nothing"),
        (bd("offset = 0 len = 8", "next_bd_id = 16 : i32"), "has BDs 0..15"),
        (bd("offset = 0 len = 8", "bd_id = 16 : i32"), "reaches BDs 0..15, not BD 16"),
        (
            bd("offset = 0 len = 8", "burst_length = 100 : i32"),
            "its burst_length is 100; a BD of the interface tile has 0, 64, 128, 256",
        ),
        (bd("offset = 0 len = 8", "packet = #aie.packet_info<pkt_type = 1, pkt_id = 33>"), "packet_id is 33"),
        (bd("offset = 0 len = 8", "packet = #aie.packet_info<pkt_type = 8, pkt_id = 3>"), "packet_type is 8"),
        (bd("offset = 0 len = 8", "iteration = #aie.bd_iteration<size = 4, stride = 64>"), "an iteration"),
        (bd("offset = 0 len = 8", of=BUFFER), "the DMA of the interface tile (0,0) does not reach %k"),
        (
            bd("offset = 0 len = 8 pad [<const_pad_before = 2, const_pad_after = 1>]"),
            "it has padding on a channel of the interface tile",
        ),
    ],
)
def test_tasks_of_interface_tiles(body: str, says: str) -> None:
    """mlir-aie, dma-tasks-to-npu/bad-1 to bad-22.mlir."""
    assert says in refused(task(body))


@pytest.mark.parametrize(
    ("body", "port", "says"),
    [
        (bd("offset = 0 len = 8"), "%m, MM2S, 0", "%b is no buffer of the device"),
        (bd("offset = 0 len = 8", "burst_length = 64 : i32", BUFFER), "%m, MM2S, 0", "the memory tile has 0"),
        (bd("offset = 0 len = 131072", of=BUFFER), "%m, MM2S, 0", "1..131071 words of 4 bytes"),
        (
            bd(f"{PADDED} pad [<const_pad_before = 2, const_pad_after = 1>]", of=BUFFER),
            "%m, S2MM, 0",
            "it has padding on a channel of the memory tile",
        ),
        (
            bd(f"{PADDED} pad [<const_pad_before = 64, const_pad_after = 1>]", of=BUFFER),
            "%m, MM2S, 0",
            "its padding is 64",
        ),
        (
            bd("offset = 0 len = 8 pad [<const_pad_before = 2, const_pad_after = 1>]", of=BUFFER),
            "%m, MM2S, 0",
            "it has 1 paddings for 0 sizes",
        ),
        (bd("offset = 0 len = 8", "bd_id = 3 : i32", BUFFER), "%m, MM2S, 1", "reaches BDs 24..47, not BD 3"),
        (
            "aie.use_lock(%l, Acquire, 64)\naie.use_lock(%l, Release, 1)\n" + bd("len = 8", of=BUFFER),
            "%m, MM2S, 0",
            "its lock value is 64; a BD has -64..63",
        ),
        (bd("offset = 0 len = %n", of=BUFFER), "%m, MM2S, 0", "a BD with a number of the host is one of"),
    ],
)  # fmt: skip
def test_tasks_of_other_tiles(body: str, port: str, says: str) -> None:
    assert says in refused(task(body, port=port))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([task(PLAIN), WAIT], "task %t (line 15) is never started"),
        (
            [task(PLAIN), START, WAIT, WAIT],
            "the sequence waits forever: no task was started on this channel that a wait has not seen; "
            "line 21 waits for the last one",
        ),
        (
            [task(PLAIN, end=""), START, WAIT],
            "d.mlir:15:6: aiex.dma_configure_task: task %t (line 15) reports no end, and line 21 awaits it",
        ),
        ([task(PLAIN, end="{repeat_count = 65536 : i32}"), START], "runs 65537 times; 256 pushes of 256"),
        ([task(PLAIN, end="{repeat_count = -1 : i32}"), START], "runs 0 times"),
        ([task(PLAIN), START, FREE, FREE], "BD 0 of the interface tile (0,0) is not in this task any more"),
        ([task(PLAIN), START, FREE, START], "its BDs were freed before"),
        (
            [task(bd("len = 8", "bd_id = 7 : i32")), task(bd("len = 8", "bd_id = 7 : i32"), "u")],
            "BD 7 of the interface tile (0,0) is in task %t (line 15), by line 16",
        ),
        ([task(PLAIN, f"t{n}") for n in range(17)], "BDs 0..15 of the interface tile (0,0) are all in use"),
        (
            ["%p = aiex.dma_bd_pool_pop(0, 0) : i32"] * 17,
            "the pool of the interface tile (0,0) is empty",
        ),
    ],
)
def test_tasks_and_their_tokens(lines: list[str], says: str) -> None:
    """mlir-aie, assign-runtime-sequence-bd-ids: bad-tct-imbalance, bad-double-free .."""
    assert says in refused(*lines)


def copy(lists: str, of: str = "%b", kind: str = "memref<8388608xi32>", more: str = "") -> str:
    return f"aiex.npu.dma_memcpy_nd({of}{lists}) {{id = 0 : i64, metadata = @in{more}}} : {kind}"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            copy("[0, 0, 0, 0][1, 1, 1, 2][0, 0, 0, 1]", "%a", "memref<64xi8>"),
            "size 0 is 2 elements of 8 bits",
        ),
        (copy("[0, 0, 0, 2][1, 1, 1, 8][0, 0, 0, 1]", "%a", "memref<64xi8>"), "2 bytes are no whole"),
        (copy("[0, 0, 0, 0][66, 1, 1, 8][0, 0, 0, 1]"), "size 3 is 65 in the BD, which has 1..64 there"),
        (copy("[0, 0, 0, 0][1, 1, 0, 8][0, 0, 8, 1]"), "size 1 is 0; it must be 1 or more"),
        (
            copy("[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]", more=", d0_zero_before = 1 : i64"),
            "d0_zero_before is",
        ),
        (
            copy("[0, 3, 0, 0][1, 1, 1031, 2][0, 8, 3, 1]"),
            "loses offsets along dimensions of size 1",
        ),
        (copy("[0, 0, 0, 0][1, 1, %n, 2][0, 0, 3, 1]").replace("%n", "1031"), ""),
        ("aiex.npu.assert_bd_field(%n) {max = 2 : i32} : i32", "the number is 3"),
        ("aiex.npu.assert_bd_divisible(%n) {divisor = 2 : i32} : i32", "a multiple of 2"),
        ("aiex.dma_channel_reset_for(@f)", "f is not a channel alone"),
        (
            "%v = memref.reinterpret_cast %b to offset: [4], sizes: [8], strides: [1] "
            ": memref<8388608xi32> to memref<8xi32>",
            "its offset is 4, which mlir-aie leaves out",
        ),
        (
            "%v = memref.subview %b[0] [8] [2] : memref<8388608xi32> to memref<8xi32, strided<[2]>>",
            "does not lie at one place in memory",
        ),
    ],
)
def test_transfers_and_parts(line: str, says: str) -> None:
    """mlir-aie, bad_npu_nd.mlir, bad_dma_to_npu_dynamic.mlir."""
    if says:
        assert says in refused(line)
        return
    loop = "%z = arith.constant 0 : i32\n%o = arith.constant 1 : i32\n"
    assert "the transfer is in a loop" in refused(f"{loop}scf.for %i = %z to %o step %o : i32 {{\n{line}\n}}")
    open_ = line.replace("1031", "%n").replace("] [", "][")
    assert "size 1 is 1031 in the BD" in refused(open_, numbers=((2, 1031),))


@pytest.mark.parametrize(
    ("then", "other", "says"),
    [
        ("%s, MM2S, 0", "%s, MM2S, 1", "hand on tasks of different channels"),
        ("%s, MM2S, 0", "", "or one of them none"),
    ],
)
def test_branches_that_hang_on_a_number_of_the_host(then: str, other: str, says: str) -> None:
    """mlir-aie, bad-if-cross-channel.mlir and bad-if-divergent-yield.mlir."""
    one = task(PLAIN, "u", then) + "scf.yield %u : index"
    two = task(PLAIN, "w", other) + "scf.yield %w : index" if other else "scf.yield %x : index"
    lines = f"""%x = arith.constant 0 : index
      %z = arith.constant 0 : i32
      %c = arith.cmpi sgt, %n, %z : i32
      %t = scf.if %c -> (index) {{
        {one}
      }} else {{
        {two}
      }}"""
    assert says in refused(lines)
    pinned = task(bd("offset = 0 len = 8", "bd_id = 3 : i32"), "u")
    assert "its BD is one of a pool" in refused(f"{lines[: lines.index('%t')]}scf.if %c {{\n{pinned}}}")


def test_a_device_of_another_kind_and_a_task_from_before_a_load() -> None:
    """mlir-aie, sequence_with_configures_bad.mlir and load-pdi-static-bds.mlir."""
    other = "aie.device({}) @other {{\n%s = aie.tile(0, 0)\n}}\n"
    main = device(FLOWS, "aie.runtime_sequence @q(%b: memref<8388608xi32>) {\nLINES\n}", name="@main")
    text = main.replace("LINES", "aiex.configure @other {\n}")
    with pytest.raises(MemtileError, match=r"the device other is npu2, the one that loads it npu1_1col"):
        loaded(other.format("npu2") + text, name="main")
    lines = f"{task(PLAIN)}aiex.npu.load_pdi {{device_ref = @other}}\n{START}"
    text = main.replace("LINES", lines)
    with pytest.raises(MemtileError, match=r"it was configured before another device was loaded"):
        loaded(other.format("npu1_1col") + text, name="main")


def test_a_task_that_only_another_sequence_starts_again_gives_its_bd_back() -> None:
    """Names of values are those of one sequence; 17 tasks, one after the other, have the 16 BDs of a tile."""
    turns = [task(PLAIN, f"t{n}") + START.replace("%t", f"%t{n}") + "\n" for n in range(17)]
    one = "".join(f"{turn}aiex.dma_await_task(%t{n})\n" for n, turn in enumerate(turns))
    starts = "".join(START.replace("%t", f"%t{n}") + "\n" for n in range(17))
    for again, fits in (("", True), (starts, False)):
        text = device(
            FLOWS,
            f"aie.runtime_sequence @one(%b: memref<8388608xi32>) {{\n{one}{again}}}",
            f"aie.runtime_sequence @two(%b: memref<8388608xi32>) {{\n{''.join(turns)}{starts}}}",
        )
        (found,) = devices(read(Text("d.mlir", text)))
        made = configure(found, Array("npu1", 1))
        sequence = next(iter(found.sequences.values()))
        if fits:
            assert program_of(made, sequence, {}) is not None
            continue
        with pytest.raises(MemtileError, match=r"BDs 0..15 of the .* are all in use"):
            program_of(made, sequence, {})
