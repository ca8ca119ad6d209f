"""Does a check find external memory that a host has read before it knows that it is written?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check, check_design
from memtile.check.checked_program import of_mlir
from memtile.check.open_tasks import OpenTasks
from memtile.check.task_list import HostStep
from memtile.design.host import Host, HostAction
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.runs.awaited import PushedTasks
from support.mlir.mlir_designs import device, loaded
from support.pages.corpus_scores import CORPUS

FINE = (CORPUS / "second-pass-too-early-fine.mlir").read_text(encoding="utf-8")
WAIT = "      aiex.dma_await_task(%t1)\n"
FIFO = next(f"{line}\n" for line in FINE.splitlines() if "objectfifo @dst" in line)
CODES = ("MT0116", "MT0201")


def found(tmp_path: Path, text: str) -> list[Finding]:
    """The findings of a check about external memory."""
    file = tmp_path / "design.mlir"
    file.write_text(text, encoding="utf-8")
    return [
        each for each in check("design", lambda: of_mlir(load_still(file))).findings if each.code in CODES
    ]


def is_early(tmp_path: Path, text: str) -> bool:
    """Whether a check says that a pass reads too early; that the host ends early is another thing."""
    return "MT0201" in {each.code for each in found(tmp_path, text)}


def test_a_pass_that_reads_what_the_one_before_may_not_have_written_is_named(tmp_path: Path) -> None:
    """The wait at the end, which gets the token of the first pass, is nothing of its own."""
    (finding,) = found(tmp_path, FINE.replace(WAIT, ""))
    assert finding.code == "MT0201"
    assert "reads elements 0 to 255 of argument 1" in finding.message
    line = next(n for n, each in enumerate(FINE.splitlines(), 1) if "dma_start_task(%t1)" in each)
    assert finding.fix.startswith(f"Wait for the task of line {line} on interface(0,0) S2MM 0 'dst' before")


def input_awaited() -> str:
    """Two passes, between which the host waits for what brings the words and not for what writes them."""
    before, task, after = FINE.partition(
        "        aie.dma_bd(%x : memref<256xi32>, 0, 256)\n        aie.end\n      }"
    )
    text = f"{before}{task} {{issue_token = true}}{after}"
    return text.replace(WAIT, WAIT.replace("%t1", "%t0"))


def test_the_end_of_what_brings_words_is_not_the_end_of_what_they_make(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, input_awaited())
    assert finding.code == "MT0201"
    line = next(n for n, each in enumerate(FINE.splitlines(), 1) if "dma_start_task(%t1)" in each)
    assert finding.fix.startswith(f"Wait for the task of line {line} on interface(0,0) S2MM 0 'dst' before")


def test_a_run_names_the_pass_that_reads_too_early_though_its_bd_is_an_earlier_one() -> None:
    """The second pass reads with the BD with which the first one began."""
    text = input_awaited().replace("256", "4096")
    findings = loaded(text).run(np.ones(4096, np.int32), check=True).result.findings
    (finding,) = [each for each in findings if each.code == "MT0201"]
    reads, writes = "interface(0,0) MM2S 0 'src', BD 0", "interface(0,0) S2MM 0 'dst', BD 1"
    assert finding.fix == f"Have the host wait for the end of {writes} before it starts {reads}."
    line = next(n for n, each in enumerate(FINE.splitlines(), 1) if "dma_start_task(%t2)" in each)
    assert f":{line}:" in finding.sides[0].place


STATUS = {"MM2S": 0x1D228, "S2MM": 0x1D220}
"""Addresses of DMA_MM2S_Status_0 and DMA_S2MM_Status_0 in an interface tile."""


def room(direction: str, mask: int = 4194304) -> str:
    """A poll for room in a task queue, as mlir-aie makes one for pushes that may find it full.

    Args:
        direction: of the channel.
        mask: of the status that is polled for 0.
    """
    return (
        f"      %at{direction} = arith.constant {STATUS[direction]} : i32\n"
        f"      %zero = arith.constant 0 : i32\n      %four = arith.constant {mask} : i32\n"
        f"      aiex.npu.maskpoll(%at{direction}, %zero, %four) : i32, i32, i32\n"
    )


@pytest.mark.parametrize("direction", STATUS)
def test_room_in_a_queue_says_nothing_of_the_end_of_a_single_task(tmp_path: Path, direction: str) -> None:
    assert is_early(tmp_path, FINE.replace(WAIT, room(direction)))
    assert OpenTasks({}, pushed={0: PushedTasks(count=1)}).ended(HostStep(ch=0, room=True)) == 0


def test_a_poll_of_another_bit_may_wait_for_the_end_of_everything(tmp_path: Path) -> None:
    assert not is_early(tmp_path, FINE.replace(WAIT, room("S2MM", mask=3)))


def test_the_end_of_a_second_output_is_taken_for_that_of_the_first(tmp_path: Path) -> None:
    """One core makes both, and the host waits for the later one."""
    text = FINE.replace("    aie.core(", FIFO.replace("@dst", "@also") + "    aie.core(")
    for step in (
        "acquire @dst(Produce, 1) : !aie.objectfifosubview<memref<32xi32>>",
        "release @dst(Produce, 1)",
    ):
        name = "%also = " if "acquire" in step else ""
        old = f"{'%so = ' if name else ''}aie.objectfifo.{step}\n"
        text = text.replace(old, f"{old}        {name}aie.objectfifo.{step.replace('@dst', '@also')}\n")
    task = FINE[FINE.index("      %t1 =") : FINE.index("      aiex.dma_start_task(%t0)")]
    also = (task + "      aiex.dma_start_task(%t1)\n").replace("%t1", "%t4").replace("@dst", "@also")
    also = also.replace("%tmp", "%z")
    text = text.replace("%y: memref<256xi32>)", "%y: memref<256xi32>, %z: memref<256xi32>)")
    text = text.replace("      %t3 =", also.replace("%t4", "%t5") + "      %t3 =")
    assert not is_early(tmp_path, text.replace(WAIT, also + WAIT.replace("%t1", "%t4")))
    in_queue = room("S2MM").replace(str(STATUS["S2MM"]), str(STATUS["S2MM"] + 4))
    assert in_queue != room("S2MM")
    assert is_early(tmp_path, text.replace(WAIT, also + in_queue))  # of one task, which proves nothing


@pytest.mark.parametrize("more", [3, 4])
def test_room_behind_five_tasks_is_the_end_of_the_first(tmp_path: Path, more: int) -> None:
    """The first pass ends before more tasks of its channel, of which the queue takes four."""
    task = FINE[FINE.index("      %t3 =") : FINE.index("      aiex.dma_start_task(%t2)")]
    start = "      aiex.dma_start_task(%t3)\n"
    others = "".join((task + start).replace("%t3", f"%other{n}") for n in range(more))
    text = FINE.replace(WAIT, others + room("S2MM"))
    assert is_early(tmp_path, text) == (more < 4)


def test_a_wait_for_what_was_written_after_other_words_is_one_for_these(tmp_path: Path) -> None:
    """The host waits for the second half of the input, and the first pass is written by the first half."""
    half = FINE.replace("%tmp : memref<256xi32>, 0, 256", "%tmp : memref<256xi32>, 0, 128", 1)
    half = half.replace("%y : memref<256xi32>, 0, 256", "%y : memref<256xi32>, 0, 384")
    text = half.replace("%y: memref<256xi32>", "%y: memref<384xi32>").replace(
        "%y : memref<256", "%y : memref<384"
    )
    first, task = text.index("      %t0 ="), text.index("      %t1 =")
    awaited = text[first:task].replace("      }\n", "      } {issue_token = true}\n")
    text = text.replace(text[first:task], awaited).replace(WAIT, WAIT.replace("%t1", "%t0"))
    assert not is_early(tmp_path, text)


def test_a_wait_between_two_passes_is_fine(tmp_path: Path) -> None:
    assert not found(tmp_path, FINE)


@pytest.mark.parametrize("array", ["%b", "%a"])
def test_a_result_in_the_place_of_what_it_is_made_of_is_fine(tmp_path: Path, array: str) -> None:
    """All that the first task writes comes of what the later ones read, in two parts."""
    part = "[0, 0, 0, {}][1, 1, 1, 32][0, 0, 0, 1]"
    lines = [
        "aie.flow(%s, DMA : 0, %m, DMA : 0)",
        "aie.flow(%m, DMA : 0, %s, DMA : 0)",
        "aie.shim_dma_allocation @in(%s, MM2S, 0)",
        "aie.shim_dma_allocation @out(%s, S2MM, 0)",
        "%words = aie.buffer(%m) : memref<32xi32>",
        "%free = aie.lock(%m, 0) {init = 1 : i32}",
        "%full = aie.lock(%m, 1) {init = 0 : i32}",
        """%dma = aie.memtile_dma(%m) {
          %0 = aie.dma_start(S2MM, 0, ^w, ^n)
        ^w:
          aie.use_lock(%free, AcquireGreaterEqual, 1)
          aie.dma_bd(%words : memref<32xi32>, 0, 32)
          aie.use_lock(%full, Release, 1)
          aie.next_bd ^w
        ^n:
          %1 = aie.dma_start(MM2S, 0, ^r, ^e)
        ^r:
          aie.use_lock(%full, AcquireGreaterEqual, 1)
          aie.dma_bd(%words : memref<32xi32>, 0, 32)
          aie.use_lock(%free, Release, 1)
          aie.next_bd ^r
        ^e:
          aie.end
        }""",
        "aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {",
        f"aiex.npu.dma_memcpy_nd({array}[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) "
        "{id = 0 : i64, metadata = @out, issue_token = true} : memref<64xi32>",
        *(
            f"aiex.npu.dma_memcpy_nd(%a{part.format(32 * n)}) {{id = {n + 1} : i64, metadata = @in}} "
            ": memref<64xi32>"
            for n in range(2)
        ),
        "aiex.npu.dma_wait {symbol = @out}",
        "}",
    ]
    assert not found(tmp_path, device(*lines))


@pytest.mark.parametrize("named", [False, True])
def test_a_result_in_the_place_of_the_second_of_two_inputs_is_fine(tmp_path: Path, *, named: bool) -> None:
    """Two blocks in make one out, so the second one feeds what is written; a third one comes too late."""
    part = "[0, 0, 0, {}][1, 1, 1, 32][0, 0, 0, 1]"
    fills = [("%w", 0), ("%a", 0)] if not named else [("%w", 0), ("%w", 32), ("%a", 0), ("%a", 32)]
    ends = [f"{{id = {n + 1} : i64, metadata = @out, issue_token = true}}" for n in range(1 + named)]
    lines = [
        "aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<32xi32>>",
        "aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<32xi32>>",
        """aie.core(%c) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %max = arith.constant 9223372036854775807 : index
          scf.for %t = %c0 to %max step %c1 {
            %i = aie.objectfifo.acquire @in(Consume, 2) : !aie.objectfifosubview<memref<32xi32>>
            %o = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<32xi32>>
            aie.objectfifo.release @in(Consume, 2)
            aie.objectfifo.release @out(Produce, 1)
          }
          aie.end
        }""",
        "aie.runtime_sequence(%w: memref<64xi32>, %a: memref<64xi32>) {",
        *(
            f"aiex.npu.dma_memcpy_nd(%a{part.format(32 * n)}) {end} : memref<64xi32>"
            for n, end in enumerate(ends)
        ),
        *(
            f"aiex.npu.dma_memcpy_nd({array}{part.format(at)}) {{id = {n + 3} : i64, metadata = @in}} "
            ": memref<64xi32>"
            for n, (array, at) in enumerate(fills)
        ),
        *["aiex.npu.dma_wait {symbol = @out}"] * (1 + named),
        "}",
    ]
    assert bool(found(tmp_path, device(*lines))) == named


@pytest.mark.parametrize("locked", [False, True])
def test_a_lock_of_the_interface_tile_orders_two_passes(*, locked: bool) -> None:
    def passes() -> Array:
        array = Array("npu1", columns=1)
        memory, door = array.memory_tile(0), array.interface_tile(0)
        given = array.external("given", np.arange(64, dtype=np.int32))
        between, back = (array.external(name, np.zeros(64, np.int32)) for name in ("between", "back"))
        block, there = memory.buffer("block", 64, np.int32), door.lock(0, "there")
        free, full = memory.lock(1, "free"), memory.lock(0, "full")
        array.connect(memory.mm2s[0], door.s2mm[0])
        array.connect(door.mm2s[0], memory.s2mm[0])
        memory.s2mm[0].start(memory.write(block).guarded(free.acquire(), full.release()), repeat=2)
        memory.mm2s[0].start(memory.read(block).guarded(full.acquire(), free.release()), repeat=2)
        written, read = door.write(between), door.read(between)

        def sequence(host: Host) -> Iterator[HostAction]:
            yield host.start(door.mm2s[0], door.read(given))
            yield host.start(door.s2mm[0], written.guarded(None, there.release()) if locked else written)
            yield host.start(door.mm2s[0], read.guarded(there.acquire()) if locked else read)
            yield host.start(door.s2mm[0], door.write(back))
            yield host.wait()

        array.host(sequence)
        return array

    codes = [each.code for each in check_design(passes).findings]
    assert ("MT0201" in codes) == (not locked)


@pytest.mark.parametrize("steps", [-1, 0, 1, 2])
def test_a_wait_for_what_a_lock_holds_back_is_one_for_the_end_before_it(steps: int) -> None:
    """The host waits for a task that takes a lock after the end of the pass, or by way of a third task.

    At -1 it waits for an earlier task than the one that takes the lock.
    """

    def passes() -> Array:
        array = Array("npu1", columns=1)
        memory, door = array.memory_tile(0), array.interface_tile(0)
        given = array.external("given", np.arange(64, dtype=np.int32))
        between, back, other = (
            array.external(name, np.zeros(64, np.int32)) for name in ("between", "back", "other")
        )
        written, passed = door.lock(0, "written"), door.lock(0, "passed")
        for n in range(2):
            block = memory.buffer(f"block{n}", 64, np.int32)
            free, full = memory.lock(1, f"free{n}"), memory.lock(0, f"full{n}")
            array.connect(memory.mm2s[n], door.s2mm[n])
            array.connect(door.mm2s[n], memory.s2mm[n])
            memory.s2mm[n].start(memory.write(block).guarded(free.acquire(), full.release()), repeat=2)
            memory.mm2s[n].start(memory.read(block).guarded(full.acquire(), free.release()), repeat=2)

        def sequence(host: Host) -> Iterator[HostAction]:
            yield host.start(door.mm2s[0], door.read(given))
            yield host.start(door.s2mm[0], door.write(between).guarded(None, written.release()))
            third = door.write(other)
            yield host.start(
                door.s2mm[1], third.guarded(written.acquire(), passed.release()) if steps == 2 else third
            )
            last = door.read(between)
            lock = {1: written, 2: passed, -1: written}.get(steps)
            if steps < 0:
                before = host.start(door.mm2s[1], door.read(given))
                yield before
            task = host.start(door.mm2s[1], last if lock is None else last.guarded(lock.acquire()))
            yield task
            yield host.wait(before if steps < 0 else task)
            yield host.start(door.mm2s[0], door.read(between))
            yield host.start(door.s2mm[0], door.write(back))
            for _ in range(1 if steps >= 0 else 3):
                yield host.start(door.mm2s[1], door.read(given))
            yield host.start(door.s2mm[1], door.write(other))
            yield host.wait()

        array.host(sequence)
        return array

    said = [each.message for each in check_design(passes).findings if each.code == "MT0201"]
    assert any("interface(0,0) MM2S 0 reads" in each for each in said) == (steps <= 0)


OBJECT = "memref<16xi32>"
SHARED = {
    "": ("", "", ""),
    "an object FIFO": (
        f"aie.objectfifo @mid(%d, {{%c}}, 2 : i32) : !aie.objectfifo<{OBJECT}>",
        f"%m = aie.objectfifo.acquire @mid(Produce, 1) : !aie.objectfifosubview<{OBJECT}>\n"
        "aie.objectfifo.release @mid(Produce, 1)",
        f"%m = aie.objectfifo.acquire @mid(Consume, 1) : !aie.objectfifosubview<{OBJECT}>\n"
        "aie.objectfifo.release @mid(Consume, 1)",
    ),
    "a lock": (
        "%l = aie.lock(%c, 9) {init = 0 : i32}",
        "aie.use_lock(%l, Release, 1)",
        "aie.use_lock(%l, AcquireGreaterEqual, 1)",
    ),
    "a cascade": (
        "aie.cascade_flow(%d, %c)",
        "aie.put_cascade(%k : vector<16xi32>)",
        "%g = aie.get_cascade() : vector<16xi32>",
    ),
    "a buffer": (
        f"%p = aie.buffer(%c) : {OBJECT}",
        f"memref.store %n, %p[%c0] : {OBJECT}",
        f"%g = memref.load %p[%c0] : {OBJECT}",
    ),
}
"""How one core may wait for another: what the device has, what the first does and what the second does."""


def two_cores(declares: str, gives: str, waits: str, *, tells: bool = False) -> str:
    """The host starts what the second core makes, and then has the first one read the same array.

    Args:
        declares: something that both cores have.
        gives: what the first core does in a turn.
        waits: what the second core does in a turn.
        tells: the host waits before the first one reads.
    """

    def core(tile: str, does: str, take: str, give: str) -> str:
        view = f"!aie.objectfifosubview<{OBJECT}>"
        return f"""aie.core(%{tile}) {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          %n = arith.constant 1 : i32
          %k = arith.constant dense<0> : vector<16xi32>
          scf.for %t = %c0 to %c4 step %c1 {{
            %i = aie.objectfifo.acquire @{take}(Consume, 1) : {view}
            %o = aie.objectfifo.acquire @{give}(Produce, 1) : {view}
            {does}
            aie.objectfifo.release @{take}(Consume, 1)
            aie.objectfifo.release @{give}(Produce, 1)
          }}
          aie.end
        }}"""

    def moves(array: str, name: str, number: int) -> str:
        end = f"{{id = {number} : i64, metadata = @{name}, issue_token = true}}"
        return f"aiex.npu.dma_memcpy_nd(%{array}[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {end} : memref<64xi32>"

    fifos = (("inC", "%s", "%c"), ("outC", "%c", "%s"), ("inD", "%s", "%d"), ("outD", "%d", "%s"))
    ends = [f"aiex.npu.dma_wait {{symbol = @{name}}}" for name in ("outC", "outD")]
    return device(
        *(f"aie.objectfifo @{n}({a}, {{{b}}}, 2 : i32) : !aie.objectfifo<{OBJECT}>" for n, a, b in fifos),
        declares,
        core("d", gives, "inD", "outD"),
        core("c", waits, "inC", "outC"),
        "aie.runtime_sequence(%x: memref<64xi32>, %y: memref<64xi32>, %z: memref<64xi32>) {",
        moves("x", "inC", 0),
        moves("y", "outC", 1),
        *ends[: int(tells)],
        moves("y", "inD", 2),
        moves("z", "outD", 3),
        *ends[int(tells) :],
        "}",
    )


@pytest.mark.parametrize("shared", SHARED)
def test_cores_without_anything_in_common_order_nothing(tmp_path: Path, shared: str) -> None:
    """Where they have, the second may make its results of what the first one reads, in place."""
    assert is_early(tmp_path, two_cores(*SHARED[shared])) == (not shared)


def test_a_host_that_waits_between_two_cores_is_fine(tmp_path: Path) -> None:
    assert found(tmp_path, two_cores("", "", "", tells=True)) == []
