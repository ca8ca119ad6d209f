"""A descriptor that is written while a task may still use it, before a run and in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, Descriptor
from memtile.arch.packets import PacketOperation, control_header
from memtile.bd.codec import encode
from memtile.check.check import check
from memtile.check.check_result import CheckResult
from memtile.check.checked_program import of_design, of_mlir, of_program
from memtile.design.host import Host, HostAction
from memtile.explain.findings import Finding, Severity
from memtile.explain.results import Result
from memtile.importers.design import load, load_still
from memtile.runs.operations import BlockWrite, Write

HEAD = """module {
  aie.device(npu1_1col) {
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1)
    aie.objectfifo @into(%door, {%store}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out(%store, {%door}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo.link [@into] -> [@out] ([] [])
    aie.runtime_sequence(%there : memref<256xi32>, %back : memref<256xi32>) {
"""
STEPS = {  # of the host: what it copies, or what it waits for
    "out": "aiex.npu.dma_memcpy_nd(%back[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) "
    "{metadata = @out, id = 5 : i64, issue_token = true} : memref<256xi32>",
    "wait out": "aiex.npu.dma_wait {symbol = @out}",
    "wait in": "aiex.npu.dma_wait {symbol = @into}",
}
for _name, _offset, _words, _bd, _repeats in (
    ("in 0", 0, 128, 0, 0),
    ("in 0 again", 0, 128, 0, 0),
    ("in 1", 128, 128, 0, 0),
    ("in 1 of its own", 128, 128, 1, 0),
    ("three rows", 0, 64, 0, 2),
):
    STEPS[_name] = (
        f"aiex.npu.dma_memcpy_nd(%there[0, 0, 0, {_offset}][{_repeats + 1}, 1, 1, {_words}][0, 0, 0, 1]) "
        f"{{metadata = @into, id = {_bd} : i64, issue_token = true}} : memref<256xi32>"
    )
STEPS["half"] = STEPS["out"].replace("1, 256]", "1, 128]")
STEPS["rest"] = STEPS["half"].replace("%back[0, 0, 0, 0]", "%back[0, 0, 0, 128]").replace("id = 5", "id = 6")
STEPS["wait half"] = STEPS["wait out"]
STEPS["in 2 of its own"] = STEPS["in 1 of its own"].replace("0, 128]", "0, 64]")
STEPS["in 2"] = STEPS["in 2 of its own"].replace("id = 1", "id = 0")
STEPS["back by 0"] = STEPS["out"].replace("id = 5", "id = 0")
CHAINED = """%task = aiex.dma_configure_task_for @into {
        aie.dma_bd(%there : memref<256xi32>, 0, 64) {bd_id = 1 : i32}
        aie.next_bd ^last
      ^last:
        aie.dma_bd(%there : memref<256xi32>, 64, 64) {bd_id = 0 : i32}
        aie.end
      }
      aiex.dma_start_task(%task)"""
STEPS["chain"] = CHAINED
STEPS["ring"] = """%task = aiex.dma_configure_task_for @into {
        aie.dma_bd(%there : memref<256xi32>, 64, 64) {bd_id = 0 : i32}
        aie.next_bd ^first
      }
      aiex.dma_start_task(%task)""".replace("{\n        aie.dma_bd", "{\n      ^first:\n        aie.dma_bd")


def text(*steps: str) -> str:
    body = "".join(f"      {STEPS[step]}\n" for step in steps)
    return f"{HEAD}{body}    }}\n  }}\n}}\n"


def checked(tmp_path: Path, *steps: str) -> CheckResult:
    file = tmp_path / "design.mlir"
    file.write_text(text(*steps))
    return check(str(file), lambda: of_mlir(load_still(file)))


def about_bds(result: CheckResult) -> list[Finding]:
    return [finding for finding in result.findings if finding.code == "MT0207"]


FIRST = HEAD.count("\n") + 1  # line of the first step


@pytest.mark.parametrize(
    "steps",
    [
        ("out", "in 0", "wait in", "in 1", "wait out"),
        ("out", "in 0", "wait out", "in 1", "wait out"),  # what comes out proves it
        ("out", "in 0", "in 1 of its own", "wait out"),
        ("out", "in 0", "in 0 again", "wait out"),  # nothing changes
    ],
)
def test_a_bd_that_is_written_after_a_wait_or_stays_as_it_is_has_no_finding(
    tmp_path: Path, steps: tuple[str, ...]
) -> None:
    assert about_bds(checked(tmp_path, *steps)) == []


@pytest.mark.parametrize("before", [("out",), ("out", "wait out")])
def test_a_bd_that_is_written_without_a_wait_names_both_lines(
    tmp_path: Path, before: tuple[str, ...]
) -> None:
    (finding,) = about_bds(checked(tmp_path, *before, "in 0", "in 1", "wait out"))
    first = FIRST + len(before)
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        f"The host writes BD 0 of interface(0,0) at line {first + 1} while the task of line {first} on "
        "interface(0,0) MM2S 0 'into' may still use it: no wait between them proves that the task has ended."
    )
    assert finding.fix == (
        f"Wait for the task of line {first} before line {first + 1} (dma_await_task, dma_wait, npu.sync or "
        "host.wait), or use another BD."
    )
    assert f"design.mlir:{first + 1}:7" in finding.sides[0].place


def test_a_wait_for_one_task_leaves_the_next_in_use(tmp_path: Path) -> None:
    steps = ("out", "in 1 of its own", "in 0", "wait in", "in 1", "wait out")
    (finding,) = about_bds(checked(tmp_path, *steps))
    assert f"the task of line {FIRST + 2}" in finding.message


def test_a_bd_of_another_channel_that_has_read_it_is_a_warning_unless_it_reads_on(tmp_path: Path) -> None:
    (warned,) = about_bds(checked(tmp_path, "in 0", "back by 0", "wait out"))
    (wrong,) = about_bds(checked(tmp_path, "three rows", "back by 0", "wait out"))
    assert (warned.severity, wrong.severity) == (Severity.WARNING, Severity.ERROR)


@pytest.mark.parametrize("endless", [False, True])
def test_a_bd_that_its_channel_has_not_read_yet_or_reads_again_may_not_go_to_another_one(
    tmp_path: Path, *, endless: bool
) -> None:
    """It is behind another task in the queue, or behind another BD of its chain, or in a ring."""
    (queued,) = about_bds(checked(tmp_path, "in 1 of its own", "in 0", "back by 0", "wait out"))
    (chained,) = about_bds(checked(tmp_path, "ring" if endless else "chain", "back by 0", "wait out"))
    assert [each.severity for each in (queued, chained)] == [Severity.ERROR] * 2


def test_a_task_without_token_needs_one_to_be_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(
        text("out", "in 0", "in 1", "wait out").replace("id = 0 : i64, issue_token = true", "id = 0 : i64")
    )
    (finding,) = about_bds(check(str(file), lambda: of_mlir(load_still(file))))
    assert finding.fix.endswith("or use another BD; it needs issue_token to report its end.")


BDS = 0xA0000  # of the memory tile
QUEUE = 0xA0634  # DMA_MM2S_0_Start_Queue of the memory tile


def rows(own: int, pause: int = 10) -> Array:
    """A host that puts a BD of the memory tile, or one of its own for each row, into a queue three times."""
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    array.connect(shared.mm2s[0], door.s2mm[0])
    table = shared.buffer("table", (3, 32), data=np.arange(96, dtype=np.int32).reshape(3, 32))
    head, back = shared.buffer("head", 256, data=np.arange(256)), np.zeros(352, np.int32)
    kept = array.external("back", back)

    def sequence(host: Host) -> Iterator[HostAction]:
        takes = host.start(door.s2mm[0], door.write(kept), token=True)
        yield takes
        yield host.start(shared.mm2s[0], shared.read(head))
        for row in range(3):
            number = 7 + row * own
            shared.write_bd(number, Descriptor("memory", 32, table.dma_address + 32 * row))
            array.door.write32(array.door.address(0, 1, QUEUE), number)
            yield host.pause(pause)
        yield host.wait(takes)

    array.host(sequence)
    return array


@pytest.mark.parametrize(("own", "expected"), [(0, "BD 7 of memory(0,1)"), (1, "")])
def test_a_bd_that_waits_in_a_queue_is_in_use(own: int, expected: str) -> None:
    found = about_bds(check("design.py", lambda: of_design(rows(own))))
    assert [expected in finding.message for finding in found] == [True] * bool(expected)


def ran(tmp_path: Path, *steps: str) -> Result:
    file = tmp_path / "design.mlir"
    file.write_text(text(*steps))
    loaded = load(file)
    return loaded.run(*(np.arange(256, dtype=np.int32) for _ in range(2)), check=True).result


def test_a_slow_host_hides_no_bd_that_a_run_writes_without_a_wait(tmp_path: Path) -> None:
    (finding,) = ran(tmp_path, "out", "in 0", "in 1", "wait out").findings
    assert (finding.code, finding.severity) == ("MT0207", Severity.ERROR)
    assert f"at line {FIRST + 2} while the task of line {FIRST + 1}" in finding.message


@pytest.mark.parametrize("proof", ["wait in", "wait half"])
def test_a_run_knows_an_end_by_a_wait_or_by_what_follows_from_it(tmp_path: Path, proof: str) -> None:
    """A task that writes back what the first one read ends after it."""
    first = ("half", "in 0") if proof == "wait half" else ("out", "in 0")
    last = ("rest",) if proof == "wait half" else ()
    assert ran(tmp_path, *first, proof, *last, "in 1", "wait out").findings == ()


CONTROL = """    %core = aie.tile(0, 2)
    aie.packet_flow(1) {
      aie.packet_source<%door, DMA : 1>
      aie.packet_dest<%core, TileControl : 0>
    }
    aie.shim_dma_allocation @control(%door, MM2S, 1)
    aie.runtime_sequence(%packet : memref<2xi32>, """
LOCK_5, LENGTH = 0x1F050, 0x1D000  # a lock of a compute tile; BD 0 of an interface tile
STEPS["control"] = (
    "aiex.npu.dma_memcpy_nd(%packet[0, 0, 0, 0][1, 1, 1, 2][0, 0, 0, 1], "
    "packet = <pkt_id = 1, pkt_type = 0>) {metadata = @control, id = 9 : i64} : memref<2xi32>"
)


def controlled(tmp_path: Path, tile: str, address: int, *steps: str) -> list[str]:
    """Codes of what is found beside a control packet that writes a register of a tile."""
    file = tmp_path / "design.mlir"
    design = text(*steps, "wait out").replace("    aie.runtime_sequence(", CONTROL)
    file.write_text(design.replace("packet_dest<%core", f"packet_dest<%{tile}"))
    packet = np.array([control_header(PacketOperation.WRITE, address), 63], np.uint32).view(np.int32)
    arrays = [np.arange(256, dtype=np.int32) for _ in range(2)]
    return [finding.code for finding in load(file).run(packet, *arrays, check=True).result.findings]


def test_a_control_packet_leaves_bds_of_other_tiles_in_use(tmp_path: Path) -> None:
    """It sets a lock of a core that has no other part in it."""
    fine, written = ("in 0", "wait in", "control", "out", "in 1"), ("three rows", "control", "in 2", "out")
    assert controlled(tmp_path, "core", LOCK_5, *fine) == []
    assert controlled(tmp_path, "core", LOCK_5, *written) == ["MT0207"]


def test_what_a_control_packet_writes_is_no_bd_in_use(tmp_path: Path) -> None:
    """Nothing says what it follows: here the task has read its descriptor, which is written behind it."""
    steps = ("three rows", "control", "in 2 of its own", "out")
    assert controlled(tmp_path, "door", LENGTH, *steps) == []


def test_a_run_finds_what_only_one_task_of_another_channel_proves(tmp_path: Path) -> None:
    """The first half has come back; the second one is on its way still."""
    steps = ("half", "rest", "in 0", "in 1 of its own", "wait half", "in 2 of its own", "wait out")
    assert "MT0207" not in [each.code for each in checked(tmp_path, *steps).findings]
    (finding,) = [each for each in ran(tmp_path, *steps).findings if each.code == "MT0207"]
    assert f"the task of line {FIRST + 3}" in finding.message


@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("pause", [10, 5_000])
def test_a_bd_that_waits_in_a_queue_is_in_use_in_a_run(own: int, pause: int) -> None:
    """However long the host pauses: it does not know that the task has ended."""
    found = [finding.code for finding in rows(own, pause).run(check=True).findings]
    assert found == ([] if own else ["MT0207"])


@pytest.mark.parametrize("used", [True, False])
def test_a_bd_that_is_never_written_is_looked_for_where_another_one_is_written_twice(used: bool) -> None:
    """Registers get BD 0 again instead of BD 1; it was in use, or nothing had used it."""
    array = Array("npu1", columns=1)
    door = array.door
    descriptor = encode(Descriptor("memory", 32, array.memory_tile(0).buffer("words", 64).dma_address))
    first, queue = door.address(0, 1, BDS), door.address(0, 1, QUEUE)
    write, pushes = (
        BlockWrite(first, descriptor, place="p.txt:1"),
        [Write(queue, n, place=f"p.txt:{3 + n}") for n in range(2)],
    )
    again = BlockWrite(first, (descriptor[0], descriptor[1] + 8, *descriptor[2:]), place="p.txt:2")
    operations = [write, pushes[0], again, pushes[1]] if used else [write, again, *pushes]
    found = check("p.txt", lambda: of_program(operations, Array("npu1", columns=1))).findings
    finding = next(each for each in found if each.code == "MT0115")
    whose = "which a task was given" if used else "which line 1 wrote and no task was given"
    assert finding.message.startswith(
        f"The host writes BD 0 again, {whose}, at line 2; memory(0,1) MM2S 0 (BD 1)"
    )
    assert finding.fix == "Let line 2 write BD 1, or start BD 0."


def test_a_task_that_is_never_started_is_found_before_what_waits_for_it(tmp_path: Path) -> None:
    task = """      %t = aiex.dma_configure_task_for @into {
        aie.dma_bd(%there : memref<256xi32> offset = 0 len = 256)
        aie.end
      }
"""
    file = tmp_path / "design.mlir"
    file.write_text(f"{HEAD}      {STEPS['out']}\n{task}      {STEPS['wait out']}\n    }}\n  }}\n}}\n")
    says = f"The task of line {FIRST + 1} on interface(0,0) MM2S 0 'into' is configured and never started."
    first = check(str(file), lambda: of_mlir(load_still(file))).findings[0]
    assert (first.code, first.message) == ("MT0121", says)
    done = load(file).run(*(np.arange(256, dtype=np.int32) for _ in range(2)))
    assert (done.result.status, done.result.findings[0].message) == ("stuck", says)


def test_a_channel_that_halts_for_a_bd_that_went_elsewhere_blames_the_host_that_wrote_the_other_one() -> None:
    array = Array("npu1", columns=1)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    array.connect(shared.mm2s[0], door.s2mm[0])
    words = shared.buffer("words", 64, data=np.arange(64, dtype=np.int32))
    kept = array.external("back", np.zeros(96, np.int32))

    def sequence(host: Host) -> Iterator[HostAction]:
        takes = host.start(door.s2mm[0], door.write(kept), token=True)
        yield takes
        for first, following in ((0, None), (32, 8)):  # BD 8 is meant the second time
            shared.write_bd(7, Descriptor("memory", 32, words.dma_address + first, next=following))
            array.door.write32(array.door.address(0, 1, QUEUE), 7)
            yield host.pause(10)
        yield host.wait(takes)

    array.host(sequence)
    first = array.run(check=True).findings[0]
    assert first.code == "MT0315"
    assert first.message.startswith("The host writes BD 7 of memory(0,1) again")
    assert "memory(0,1) MM2S 0 is halted at BD 8: no Valid_BD." in first.message


def test_a_host_that_waits_for_a_token_that_no_task_sends_is_the_only_finding(tmp_path: Path) -> None:
    """It would start another task there, and let a core begin, afterwards: that ends no wait of its own."""
    file = tmp_path / "design.mlir"
    steps = text("out", "in 0", "wait in", "in 1 of its own", "wait out").splitlines()
    at = FIRST
    steps.insert(FIRST + 2, "aiex.set_lock(%go, 1)")
    steps[3] += """
    %worker = aie.tile(0, 2)
    %go = aie.lock(%worker, 0) {init = 0 : i32, sym_name = "go"}
    %core = aie.core(%worker) {
      aie.use_lock(%go, AcquireGreaterEqual, 1)
      aie.end
    }"""
    steps[at] = steps[at].replace("issue_token = true", "issue_token = false")
    file.write_text("\n".join(steps))
    (finding,) = (
        load(file).run(*(np.arange(256, dtype=np.int32) for _ in range(2)), check=True).result.findings
    )
    assert (finding.code, finding.fix) == (
        "MT0313",
        "Let the task started in line 16 ask for a token (issue_token).",
    )
    assert "interface(0,0) MM2S 0 'into'; its task started in line 16 asks for no token" in finding.message


def test_two_bds_of_a_tile_with_one_number_are_refused_at_the_second(tmp_path: Path) -> None:
    blocks = "".join(
        f"""      ^b{n}:
        aie.dma_bd(%words : memref<64xi32> offset = 0 len = 64) {{bd_id = {number} : i32}}
        aie.next_bd ^b{1 - n}
"""
        for n, number in enumerate((3, 3))
    )
    file = tmp_path / "design.mlir"
    file.write_text(f"""module {{
  aie.device(npu1_1col) {{
    %store = aie.tile(0, 1)
    %words = aie.buffer(%store) : memref<64xi32>
    %dma = aie.memtile_dma(%store) {{
      %start = aie.dma_start(MM2S, 0, ^b0, ^end)
{blocks}      ^end:
        aie.end
    }}
  }}
}}
""")
    (finding,) = check(str(file), lambda: of_mlir(load_still(file))).findings
    assert finding.code == "MT0101"
    assert "BD 3 of the memory tile is that of line 8 already" in finding.message
    assert "design.mlir:11:9" in finding.sides[0].place
