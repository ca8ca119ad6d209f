"""What ``memtile check`` says of designs that do not run, and that it says nothing of those that do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, MemoryTile
from memtile.bd.descriptor import NO_ACQUIRE, NO_RELEASE, Descriptor, Packet
from memtile.check.check import check
from memtile.check.check_result import CheckResult
from memtile.check.checked_program import Subject, of_design, of_mlir, of_program
from memtile.check.lock_rules import wait_findings
from memtile.check.task_list import TaskLog
from memtile.design.host import Host
from memtile.explain.findings import Severity
from memtile.importers.design import load_still
from memtile.importers.kernels.core_locks import released_by_cores
from memtile.io.program.recorder import record
from support.designs.severe import severe
from support.mlir.mlir_texts import CALL, PASSTHROUGH


def found(make: Callable[[], MemoryTile | Array]) -> CheckResult:
    return check("design.py", lambda: of_design(make()))


def codes(result: CheckResult) -> list[str]:
    return [finding.code for finding in severe(result.findings)]


def mlir(tmp_path: Path, text: str) -> CheckResult:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return check(str(file), lambda: of_mlir(load_still(file, device="npu1")))


# locks ---------------------------------------------------------------------------------------------------


def ring(free: int, wanted: int = 1, released: bool = True) -> MemoryTile:
    tile = MemoryTile()
    buffer, empty, full = tile.buffer("a", 16), tile.lock(free, "empty"), tile.lock(0, "full")
    write = tile.write(buffer).guarded(empty.acquire(wanted), full.release() if released else None)
    tile.s2mm[0].start(write)
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), empty.release()))
    tile.s2mm[0].feed(np.arange(16))
    tile.mm2s[0].collect()
    return tile


def test_a_lock_that_begins_with_what_is_needed_is_fine() -> None:
    assert codes(found(lambda: ring(1))) == []


def test_waits_that_only_each_other_would_end_are_a_circle() -> None:
    result = found(lambda: ring(0))
    assert codes(result) == ["MT0106"]
    (finding,) = result.findings
    assert len(finding.sides) == 2
    assert "waits for lock 0 'empty' (needs 1)" in finding.message
    assert "waits for lock 1 'full' (needs 1)" in finding.message
    assert not result.good


def test_a_lock_that_nobody_releases_is_the_root_and_told_once() -> None:
    result = found(lambda: ring(1, released=False))
    assert codes(result) == ["MT0103"]
    assert (
        "waits for lock 1 'full' (needs 1): it starts at 0, and nothing releases it"
        in result.findings[0].message
    )


@pytest.mark.parametrize(("begins", "expected"), [(2, []), (1, ["MT0106"])])
def test_a_lock_can_be_too_small_by_one(begins: int, expected: list[str]) -> None:
    assert codes(found(lambda: ring(begins, wanted=2))) == expected
    alone = wait_findings(
        of_design(ring(begins, wanted=2))
    )  # an abstract run finds it too, where there can be one
    assert [finding.code for finding in alone] == expected


def test_what_a_core_may_release_is_not_blamed(tmp_path: Path) -> None:
    assert codes(mlir(tmp_path, CALL)) == []


def test_a_core_that_never_releases_is_seen_in_the_text(tmp_path: Path) -> None:
    text = CALL.replace("aie.objectfifo.release @out(Produce, 1)", "")
    assert text != CALL
    result = mlir(tmp_path, text)
    assert codes(result) == ["MT0118"]
    assert result.findings[0].severity is Severity.ERROR  # the host waits for what the ring would send


def test_a_core_that_only_acquires_releases_nothing(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(CALL)
    made = load_still(file).configured
    every = released_by_cores(made)
    assert every is not None
    assert len(every) == 2  # of its own ends
    file.write_text("\n".join(line for line in CALL.splitlines() if "objectfifo.release" not in line))
    assert released_by_cores(load_still(file).configured) == frozenset()


@pytest.mark.parametrize("passed", ["%count", "%lock", "%number"])
def test_a_function_releases_no_lock_that_it_is_not_given(tmp_path: Path, passed: str) -> None:
    """A number is a lock's only if it is one on purpose: the lock itself, or that of an aie.use_lock."""
    call, kind = "aie.objectfifo.release @out(Produce, 1)", "i32" if passed == "%count" else "index"
    assert CALL.count(call) == 1
    text = CALL.replace(call, f"func.call @filter({passed}) : ({kind}) -> ()")
    text = text.replace(
        "%body = aie.core(",
        f"func.func private @filter({kind})\n  %lock = aie.lock(%core, 9)\n  %body = aie.core(",
    )
    more = "%count = arith.constant 48 : i32\n  %number = arith.constant 57 : index\n"
    more += "  aie.use_lock(%number, Release, 1)"
    text = text.replace("%c1 = arith.constant", f"{more}\n    %c1 = arith.constant", 1)
    assert codes(mlir(tmp_path, text)) == (["MT0118"] if passed == "%count" else [])


# memory --------------------------------------------------------------------------------------------------


def shared(*, overlap: int, wait: bool = False, lock: bool = False) -> MemoryTile:
    tile = MemoryTile()
    ready, first = tile.lock(0, "ready"), tile.buffer("whole", 64).dma_address
    write = Descriptor("memory", 32, first, release=ready.release() if lock else NO_RELEASE)
    read = Descriptor("memory", 32, first + 32 - overlap, acquire=ready.acquire() if lock else NO_ACQUIRE)

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        yield host.start(tile.s2mm[0], write)
        if wait:
            yield host.wait()
        yield host.start(tile.mm2s[0], read)

    tile.bench.host(sequence)
    tile.s2mm[0].feed(np.arange(32))
    tile.mm2s[0].collect()
    return tile


@pytest.mark.parametrize(
    ("overlap", "wait", "lock", "expected"),
    [
        (0, False, False, []),
        (1, False, False, ["MT0105"]),
        (1, True, False, []),
        (1, False, True, ["MT0136"]),
    ],
)
def test_memory_that_two_use_without_an_order(
    overlap: int, wait: bool, lock: bool, expected: list[str]
) -> None:
    result = found(lambda: shared(overlap=overlap, wait=wait, lock=lock))
    assert codes(result) == expected
    if expected == ["MT0105"]:
        words = result.findings[0].words[0]
        assert words.count == 1


@pytest.mark.parametrize(
    ("apart", "own", "mutex", "count"), [(0, 0, 0, 1), (16, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)]
)
def test_two_writers_that_wait_for_one_free_lock(apart: int, own: int, mutex: int, count: int) -> None:
    def made() -> MemoryTile:
        tile = MemoryTile()
        whole, full, free = tile.buffer("whole", 32), tile.lock(0), [tile.lock(2), tile.lock(1)]
        for n in range(2):
            first, take = whole.dma_address + n * apart, free[n * own].acquire()
            gives = (free[0] if mutex else full).release()
            write = Descriptor("memory", 16, first, acquire=take, release=gives)
            tile.s2mm[n].start(write, loop=True)
            tile.s2mm[n].feed(np.arange(16))
        return tile

    assert codes(found(made)).count("MT0138") == count


# streams -------------------------------------------------------------------------------------------------


def lane(sent: int, taken: int, *, connect: bool = True) -> Array:
    array = Array("npu1", 2)
    one, two = array.memory_tile(0), array.memory_tile(1)
    one.mm2s[0].start(one.read(one.buffer("a", sent, data=np.arange(sent))))
    two.s2mm[0].start(two.write(two.buffer("b", taken)))
    if connect:
        array.connect(one.mm2s[0], two.s2mm[0])
    return array


def test_ends_of_a_circuit_that_differ_in_length() -> None:
    assert codes(found(lambda: lane(16, 16))) == []
    short, long = found(lambda: lane(16, 20)), found(lambda: lane(20, 16))
    assert codes(short) == codes(long) == ["MT0108"]
    assert "waits for 4 words that never come" in short.findings[0].message
    assert "nothing takes the last 4 words" in long.findings[0].message
    assert all("test_check.py:" in side.place for side in short.findings[0].sides)


def test_streams_that_lead_nowhere() -> None:
    result = found(lambda: lane(16, 16, connect=False))
    (finding,) = result.findings
    assert (finding.code, finding.severity) == ("MT0109", Severity.ERROR)
    assert [side.does for side in finding.sides] == [
        "has a task, and its stream leads nowhere",
        "has a task, and no stream leads to it",
    ]


@pytest.mark.parametrize(("loop", "severity"), [(True, Severity.WARNING), (False, Severity.ERROR)])
def test_a_ring_whose_stream_leads_nowhere_need_not_end(loop: bool, severity: Severity) -> None:
    """It is there for who looks at it, so that this is no error; of a task that is to end it is one."""
    tile, two = (array := Array("npu1", 2)).memory_tile(0), array.memory_tile(1)
    array.connect(two.mm2s[0], two.s2mm[0])
    tile.mm2s[0].start(tile.read(tile.buffer("a", 16)), loop=loop)
    (finding,) = found(lambda: array).findings
    assert (finding.code, finding.severity) == ("MT0109", severity)


@pytest.mark.parametrize(
    ("fed", "expected", "codes_"),
    [(16, 16, []), (15, 16, ["MT0108"]), (17, 16, ["MT0108"]), (16, 17, ["MT0108"]), (None, 16, ["MT0109"])],
)
def test_what_the_bench_offers_and_expects(fed: int | None, expected: int, codes_: list[str]) -> None:
    def design() -> MemoryTile:
        tile = MemoryTile()
        block, full = tile.buffer("a", 16), tile.lock(0, "full")
        tile.s2mm[0].start(tile.write(block).guarded(None, full.release()))
        tile.mm2s[0].start(tile.read(block).guarded(full.acquire()))
        if fed is not None:
            tile.s2mm[0].feed(np.arange(fed))
        tile.mm2s[0].expect(np.arange(expected, dtype=np.int32))
        return tile

    assert codes(found(design)) == codes_


def test_output_that_nobody_takes() -> None:
    def design() -> MemoryTile:
        tile = MemoryTile()
        tile.mm2s[0].start(tile.read(tile.buffer("a", 16)))
        return tile

    result = found(design)
    assert codes(result) == ["MT0109"]
    assert "nothing takes its words" in result.findings[0].message


def test_a_receiver_without_a_task() -> None:
    def design() -> Array:
        array = Array("npu1", 2)
        one, two = array.memory_tile(0), array.memory_tile(1)
        one.mm2s[0].start(one.read(one.buffer("a", 16)))
        array.connect(one.mm2s[0], two.s2mm[0])
        return array

    result = found(design)
    assert codes(result) == ["MT0110"]
    assert "memory(1,1) S2MM 0, which has no task" in result.findings[0].message


def packets(sent: int, taken: int) -> Array:
    """A packet of an id from one memory tile to the next, whose slots take another id if they differ."""
    array = Array("npu1", 2)
    one, two = array.memory_tile(0), array.memory_tile(1)
    array.packet_bus("bus", (one.mm2s[0], [two.s2mm[0]]), ids=[taken])
    array.route()
    block = one.buffer("a", 16)
    one.mm2s[0].start(Descriptor("memory", 16, block.dma_address, packet=Packet(taken)))
    if sent != taken:
        one.write_bd(0, Descriptor("memory", 16, block.dma_address, packet=Packet(sent)))
    two.s2mm[0].start(two.write(two.buffer("b", 16)))
    return array


def test_packets_of_an_id_that_no_slot_takes() -> None:
    assert codes(found(lambda: packets(3, 3))) == []
    result = found(lambda: packets(4, 3))
    assert codes(result) == ["MT0111"]
    assert "sends packets of id 4 with BD 0, and no slot of slave port DMA0" in result.findings[0].message


def test_waits_for_tokens_are_counted(tmp_path: Path) -> None:
    assert codes(mlir(tmp_path, PASSTHROUGH)) == []
    once = "      aiex.npu.dma_wait {symbol = @out}\n"
    assert once in PASSTHROUGH
    result = mlir(tmp_path, PASSTHROUGH.replace(once, 2 * once))
    assert codes(result) == ["MT0112"]
    assert "waits for token 2" in result.findings[0].message


# rows and refusals -----------------------------------------------------------------------------------------


def test_a_length_in_the_middle_of_a_row(tmp_path: Path) -> None:
    assert codes(mlir(tmp_path, PASSTHROUGH)) == []


def test_what_a_design_refuses_is_a_finding() -> None:
    def too_much() -> MemoryTile:
        tile = MemoryTile()
        tile.buffer("a", 1 << 20)
        return tile

    def wrong() -> MemoryTile:
        return MemoryTile("npu9")

    assert codes(found(too_much)) == ["MT0101"]
    assert codes(found(wrong)) == ["MT0100"]
    assert not found(wrong).good


def test_a_program_of_register_writes_is_checked_the_same() -> None:
    made = Array("npu1", 2)
    recording = record(made)
    one, two = made.memory_tile(0), made.memory_tile(1)
    one.mm2s[0].start(one.read(one.buffer("a", 16)))
    two.s2mm[0].start(two.write(two.buffer("b", 20)))
    made.connect(one.mm2s[0], two.s2mm[0])
    made.route()

    def subject() -> Subject:
        return of_program(recording.operations, Array("npu1", 2))

    assert codes(check("writes.bin", subject)) == ["MT0108"]


def test_every_task_of_a_host_sequence_is_seen() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("a", 16)

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        for _ in range(40):
            yield host.start(tile.s2mm[0], tile.write(buffer))

    tile.bench.host(sequence)
    assert found(lambda: tile).tasks == 40


def test_the_task_at_work_is_listed_before_those_in_the_queue() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("a", 64)
    tile.mm2s[0].collect()
    for runs in (2, 1):
        tile.mm2s[0].start(tile.read(buffer), repeat=runs)
    tile.run(20)
    assert [task.runs for task in TaskLog(tile.engine).queued()] == [2, 1]


def test_a_host_is_followed_past_a_poll_that_only_a_run_could_meet() -> None:
    array = Array("npu1", columns=1)
    io, tile = array.interface_tile(0), array.memory_tile(0)
    array.connect(tile.mm2s[0], io.s2mm[0])
    tile.mm2s[0].start(tile.read(tile.buffer("a", 16)))
    target = array.external("to", np.zeros(16, np.int32))

    def sequence(host: Host):  # type: ignore[no-untyped-def]
        yield host.poll(array.door.address(0, 1, 0xC0000), 0x3F, 5)  # a lock that nobody ever gives 5
        yield host.start(io.s2mm[0], io.write(target))
        yield host.wait()

    array.host(sequence)
    result = found(lambda: array)
    assert (codes(result), result.tasks) == ([], 2)
