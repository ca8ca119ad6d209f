"""Are locks that a host sets too soon, channels that it resets, and waits for what it never sets named?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from memtile import Array, Status
from memtile.check.check import check, check_design
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding, Severity
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, WAIT, copied, device, host, loaded

BUFFER = '%b0 = aie.buffer(%c) {sym_name = "b0"} : memref<64xi32>\n'
LOCK = '%go = aie.lock(%c, 0) {init = 0 : i32, sym_name = "go"}\n'
RING = """
  aie.flow(%c, DMA : 0, %s, DMA : 0)
  aie.mem(%c) {
    %0 = aie.dma_start(MM2S, 0, ^send, ^end)
  ^send:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%b0 : memref<64xi32>, 0, 64)
    aie.next_bd ^send
  ^end:
    aie.end
  }
"""
SET = "aiex.set_lock(%go, 1)"
RESET = "aiex.dma_channel_reset(%c, MM2S, 0)"
AGAIN = """
%k = arith.constant 0 : i32
aiex.npu.push_queue (0, 2, MM2S:0) bd_id %k repeat %k {issue_token = false} : i32, i32
"""
TAKE = copied("out", "a", 0).replace("{id", "{issue_token = true, id")
LATER = TAKE.replace("id = 0", "id = 1")


def of_both(*steps: str) -> tuple[list[tuple[str, str]], Status]:
    """Codes and severities of a check and of a run, and how that ends."""
    text = device(BUFFER, LOCK, FLOWS, RING, host(*steps))
    done = loaded(text).run(max_cycles=20_000).result
    return [
        (each.code, each.severity.value)
        for each in (*check("d", lambda: of_mlir(loaded(text))).findings, *done.findings)
    ], done.status


@pytest.mark.parametrize(
    ("steps", "codes", "status"),
    [
        ((TAKE, SET, WAIT, LATER, SET, WAIT), [], Status.FINISHED),
        ((TAKE, LATER, SET, "aiex.set_lock(%go, 0)", SET, WAIT), [], Status.FINISHED),
        ((TAKE, RESET, WAIT), [("MT0133", "warning"), ("MT0133", "error")], Status.STUCK),
        ((TAKE, RESET, AGAIN, SET, WAIT), [], Status.FINISHED),
        ((TAKE, SET, WAIT, RESET), [], Status.FINISHED),
    ],
)
def test_a_reset_of_a_channel_in_use(
    steps: tuple[str, ...], codes: list[tuple[str, str]], status: Status
) -> None:
    found, ended = of_both(*steps)
    assert ([each for each in found if each[0] in ("MT0132", "MT0133", "MT0304")], ended) == (codes, status)


def test_a_lock_that_is_set_again_with_no_wait_between_them() -> None:
    found = check("d", lambda: of_mlir(loaded(device(BUFFER, LOCK, FLOWS, RING, host(TAKE, SET, SET, WAIT)))))
    (finding,) = (each for each in found.findings if each.code == "MT0132")
    assert "lock 0 'go' of tile (0, 2) to 1 again in line" in finding.message


FLOW_IN = "aie.flow(%s, DMA : 0, %m, DMA : 0)"
BOX = '%b1 = aie.buffer(%m) {sym_name = "b1"} : memref<64xi32>'
BOX_TAKES = """
  aie.memtile_dma(%m) {
    %0 = aie.dma_start(S2MM, 0, ^take, ^end)
  ^take:
    aie.dma_bd(%b1 : memref<64xi32>, 0, 64)
    aie.next_bd ^end
  ^end:
    aie.end
  }
"""
SEND = copied("in", "b", 2).replace("{id", "{issue_token = true, id")


def test_a_wait_too_many_for_one_channel_is_one_too_few_for_another() -> None:
    steps = (SEND, TAKE, SET, WAIT, WAIT)
    text = device(BUFFER, BOX, LOCK, FLOWS, FLOW_IN, RING, BOX_TAKES, host(*steps))
    (one,) = check("d", lambda: of_mlir(loaded(text))).findings
    lines = [int(number) for number in re.findall(r"line (\d+)", one.fix)]
    assert one.message == (
        f"The host waits for token 2 of interface(0,0) S2MM 0 'out' (line {lines[1]}), of which 1 is sent "
        "by then, and nothing waits for the token of interface(0,0) MM2S 0 'in'."
    )
    assert one.fix == f"Let one of line {lines[0]} and line {lines[1]} wait for interface(0,0) MM2S 0 'in'."


@pytest.mark.parametrize(("other", "codes"), [("in", []), ("out", ["MT0112", "MT0112"])])
def test_a_wait_right_after_the_task_of_another_channel(other: str, codes: list[str]) -> None:
    steps = (TAKE, SET, SEND, WAIT.replace("out", other), WAIT)
    text = device(BUFFER, BOX, LOCK, FLOWS, FLOW_IN, RING, BOX_TAKES, host(*steps))
    found = (
        check("d", lambda: of_mlir(loaded(text))).findings,
        loaded(text).run(max_cycles=20_000).result.findings,
    )
    assert [each.code for some in found for each in some] == codes
    assert all(
        "right after it starts a task of interface(0,0) MM2S 0 'in'" in first(each) for each in found if each
    )


SILENT = AGAIN.replace("(0, 2, MM2S:0)", "(0, 0, S2MM:0)")


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ((SEND, SET, WAIT, TAKE), "of which 0 are started before that"),
        ((SEND, TAKE, SILENT, SET, WAIT, WAIT), "asks for no token"),
    ],
)
def test_a_channel_that_sends_later_or_never_is_the_one_that_is_meant(
    steps: tuple[str, ...], says: str
) -> None:
    text = device(BUFFER, BOX, LOCK, FLOWS, FLOW_IN, RING, BOX_TAKES, host(*steps))
    (one,) = check("d", lambda: of_mlir(loaded(text))).findings
    assert says in one.message
    assert "nothing waits" not in one.message


@pytest.mark.parametrize("silent", [1, 2])
def test_a_wait_for_a_task_that_asks_for_no_token_names_its_line(silent: int) -> None:
    sends = [copied("in", "b", n) if n == silent else SEND.replace("id = 2", f"id = {n}") for n in (1, 2)]
    into = WAIT.replace("out", "in")
    twice = BOX_TAKES.replace("^end)", "^end, repeat_count = 1)")
    text = device(BOX, FLOWS, FLOW_IN, twice, host(*sends, into, into))
    line = [n for n, row in enumerate(text.splitlines(), 1) if "dma_memcpy_nd" in row][silent - 1]
    for found in (
        check("d", lambda: of_mlir(loaded(text))).findings,
        loaded(text).run(max_cycles=20_000).result.findings,
    ):
        (finding,) = (each for each in found if each.code in ("MT0112", "MT0313"))
        assert f"its task started in line {line} asks for no token" in finding.message
        assert f":{line}:" in finding.sides[0].place


def neighbours(*, own: bool) -> Array:
    """A ring of the east memory tile that reads what the west one writes, under its own lock or theirs."""
    array = Array("npu1", columns=2)
    west, east = map(array.memory_tile, (0, 1))
    door, there = map(array.interface_tile, (0, 1))
    array.connect(door.mm2s[0], west.s2mm[0])
    array.connect(east.mm2s[0], there.s2mm[0])
    box, free, full, mine = (
        west.buffer("box", 16),
        west.lock(1, "free"),
        west.lock(0, "full"),
        east.lock(1, "mine"),
    )
    west.s2mm[0].start(west.write(box).guarded(free.acquire(), full.release()), loop=True)
    take, give = (
        (mine.acquire(), mine.release()) if own else (east.seen(full).acquire(), east.seen(free).release())
    )
    east.mm2s[0].start(east.read(box).guarded(take, give), loop=True)
    data = array.external("x", np.ones(32, np.int32))
    door.mm2s[0].start(door.read(data))
    there.s2mm[0].start(there.write(array.external("y", np.zeros(32, np.int32))))
    return array


def first(found: tuple[Finding, ...]) -> str:
    return str(found[0]) if found else ""


def test_a_ring_under_a_lock_of_its_own_is_named_before_who_gets_its_words() -> None:
    assert not check_design(lambda: neighbours(own=False)).findings
    assert not neighbours(own=False).run(check=True).findings
    checked, ran = (
        first(check_design(lambda: neighbours(own=True)).findings),
        neighbours(own=True).run().findings,
    )
    assert (
        "Let memory(1,1) MM2S 0 (BD 0) acquire lock 1 'full' of tile (0, 1), and release lock 0 'free'"
        in checked
    )
    assert ran[0].message.startswith("memory(1,1) MM2S 0 ('box') sends endlessly to interface(1,0) S2MM 0")


def test_a_core_that_waits_for_exactly_a_value_waits_for_the_host() -> None:
    core = "aie.core(%c) { aie.use_lock(%go, Acquire, 1)\n aie.end }"
    done = loaded(device(LOCK, core, host())).run(max_cycles=2_000)
    assert "Let the host set it to 1" in first(done.result.findings)


SAID = 'aie.lock(%c, 1) {init = 0 : i32, sym_name = "said"}'
GAIN = '%gain = aie.buffer(%c) {sym_name = "gain"} : memref<64xi32>'
SCALES = """aie.core(%c) {{
{}
%z = arith.constant 3 : index
%v = memref.load %gain[%z] : memref<64xi32>
aie.use_lock(%go, Release, 1)
aie.end
}}"""


@pytest.mark.parametrize(
    ("steps", "waits", "codes"),
    [
        ((TAKE, "aiex.set_lock(%said, 1)", "aiex.npu.rtp_write(@gain, 3, 7)", WAIT),
         "aie.use_lock(%said, AcquireGreaterEqual, 1)", ["MT0201"]),
        (("aiex.set_lock(%said, 1)", "aiex.npu.rtp_write(@gain, 3, 7)", TAKE, WAIT),
         "aie.use_lock(%said, AcquireGreaterEqual, 1)", ["MT0201"]),
        (("aiex.set_lock(%said, 1)", "aiex.npu.rtp_write(@gain, 3, 7)", TAKE, WAIT),
         "aie.use_lock(%said, AcquireGreaterEqual, 1)\naie.use_lock(%go, AcquireGreaterEqual, 0)", []),
        (("aiex.npu.rtp_write(@gain, 3, 7)", TAKE, WAIT), "", []),
        ((TAKE, "aiex.npu.rtp_write(@gain, 3, 7)", "aiex.set_lock(%said, 1)", WAIT),
         "aie.use_lock(%said, AcquireGreaterEqual, 1)", []),
        ((TAKE, WAIT, "aiex.npu.rtp_write(@gain, 3, 7)"), "", []),  # for the next launch
    ],
)  # fmt: skip
def test_a_parameter_that_is_written_after_all_is_started(
    steps: tuple[str, ...], waits: str, codes: list[str]
) -> None:
    text = device(BUFFER, GAIN, LOCK, f"%said = {SAID}", FLOWS, RING, SCALES.format(waits), host(*steps))
    found = check("d", lambda: of_mlir(loaded(text))).findings
    assert [each.code for each in found if each.code == "MT0201"] == codes
    if codes:
        (finding,) = found
        assert finding.message.startswith("The host writes word 3 of buffer 'gain' in line")
        races = [each for each in loaded(text).run(check=True).result.findings if each.code == "MT0201"]
        assert races[0].fix.startswith("Let core (0, 2), kernel 'kernel', line ")


GATES = """
%one = aie.lock(%c, 4) {init = 0 : i32, sym_name = "one"}
%two = aie.lock(%d, 4) {init = 0 : i32, sym_name = "two"}
aie.core(%c) {
aie.use_lock(%one, AcquireGreaterEqual, 1)
aie.end
}
aie.core(%d) {
aie.use_lock(%two, AcquireGreaterEqual, 1)
aie.use_lock(%go, Release, 1)
aie.end
}
"""


@pytest.mark.parametrize("second", ["one", "two"])
def test_a_lock_that_is_set_instead_of_another(second: str) -> None:
    steps = ["aiex.set_lock(%one, 1)", TAKE, WAIT, LATER, f"aiex.set_lock(%{second}, 1)", WAIT]
    lock = '%go = aie.lock(%c, 0) {init = 1 : i32, sym_name = "go"}\n'
    text = device(BUFFER, lock, FLOWS, RING, GATES, host(*steps))
    done = loaded(text).run(max_cycles=20_000, check=True).result
    found = [*check("d", lambda: of_mlir(loaded(text))).findings]
    assert [each.code for each in found] == ["MT0338"] * (second == "one")
    if second == "one":
        says = "Nothing releases or sets lock 4 'two' of tile (0, 3), for which core (0, 3) waits "
        assert found[0].message.startswith(says)
        assert re.fullmatch(r"Let line \d+ set lock 4 'two' of tile \(0, 3\).", found[0].fix)
        made = candidates(Text("d.mlir", text), found)
        assert next(iter(made)).kind == "set_lock"
    errors = [each.code for each in done.findings if each.severity is Severity.ERROR]
    assert (errors, done.status is Status.STUCK) == (["MT0338"] * (second == "one"), second == "one")
