"""Are repairs tried, and is what they change what was wrong?"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile import MemoryTile
from memtile.check.check import refused
from memtile.cli.main import app
from memtile.errors import InputFileError, MemtileError
from memtile.explain.evidence import NO_EVIDENCE, Evidence
from memtile.explain.findings import Change, Finding, Repair, Severity, Side
from memtile.explain.repairs import FAILED, Candidate, Trial, hides, is_better, search, with_repair
from memtile.explain.results import Status
from memtile.importers.design import load
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.repairs.text_edits import applied, applied_to_file
from memtile.importers.mlir.token_packets import Text
from memtile.importers.python.candidates import python_candidates

CORPUS = Path(__file__).parents[1] / "corpus"
WORDS = np.arange(64, dtype=np.int32)


def trying(*candidates: Candidate, trials: dict[str, Trial], **more: object) -> list[str]:
    """What a search offers, in words, of candidates that do this."""
    found = search(
        candidates,
        lambda each, _until, _limit: trials.get(each.says, FAILED),
        max_cycles=1000,
        **more,  # type: ignore[arg-type]
    )
    return [each.says for each in found.repairs]


BROADCAST = """module { aie.device(npu1_1col) {
%mem = aie.tile(0, 1)
%box = aie.buffer(%mem) : memref<16xi32>
%free = aie.lock(%mem, 0) {init = 1 : i32}
%full = aie.lock(%mem, 1) {init = 0 : i32}
aie.memtile_dma(%mem) {
%0 = aie.dma_start(S2MM, 0, ^write, ^end)
^write:
aie.use_lock(%free, AcquireGreaterEqual, 2)
aie.dma_bd(%box : memref<16xi32>, 0, 16)
aie.use_lock(%full, Release, 2)
aie.next_bd ^write
^end:
aie.end
} } }
"""
"""A block that two readers are to get: its writer takes two units of free, and there is one."""


def test_the_likeliest_repair_comes_first_and_what_leaves_words_out_last() -> None:
    made = [Candidate("length", says, unlikely=n / 10) for n, says in enumerate("abcd")]
    works = {"b": Trial(True, 90), "c": Trial(True, 50), "d": Trial(True, 50, cautions=1)}
    assert trying(*made, trials=works) == ["b", "c", "d"]
    assert trying(*made, trials={**works, "b": Trial(True, 90, missing=4)}) == ["c", "d"]


def test_a_repair_that_works_by_luck_is_not_offered() -> None:
    made = [Candidate("lock_value", says) for says in "ab"]
    works = {"a": Trial(True, 90), "b": Trial(True, 90)}
    assert trying(*made, trials=works, confirm=lambda each, _until: each.says == "b") == ["b"]
    assert trying(*made, trials=works, runs=1) == ["a"]
    assert trying(*made, trials=works, seconds=-1.0) == []


def test_of_two_repairs_with_other_words_neither_is_offered_where_nobody_knows_which_are_right() -> None:
    made = [Candidate("length", says, unlikely=n / 10) for n, says in enumerate("ab")]
    works = {"a": Trial(True, 90, words=1), "b": Trial(True, 90, words=2)}
    assert trying(*made, trials=works) == []
    assert trying(replace(made[0], unlikely=-1.0), made[1], trials=works) == ["a"]
    assert trying(*made, trials={**works, "b": Trial(True, 90, words=1)}) == ["a", "b"]
    assert trying(*made, trials={each: replace(trial, compared=True) for each, trial in works.items()}) == [
        "a",
        "b",
    ]


def test_later_runs_may_take_four_times_as_long_as_the_quickest() -> None:
    limits = []

    def attempt(_each: Candidate, _until: float, limit: int) -> Trial:
        limits.append(limit)
        return Trial(True, 100)

    search([Candidate("release", "a"), Candidate("release", "b")], attempt, max_cycles=1000)
    assert limits == [1000, 400]


def test_trials_leave_time_for_other_schedules() -> None:
    ends = dict[str, float]()

    def attempt(_each: Candidate, until: float, _limit: int) -> Trial:
        ends["trial"] = until
        return Trial(True, 100)

    def confirm(_each: Candidate, until: float) -> bool:
        ends["confirm"] = until
        return True

    search([Candidate("release", "a")], attempt, max_cycles=1000, confirm=confirm, seconds=10.0)
    assert ends["confirm"] - ends["trial"] == pytest.approx(3.0)


def test_a_token_that_is_said_to_be_false_and_a_bd_written_twice_are_repaired() -> None:
    head = """module {
  aie.device(npu1_1col) {
    %door = aie.tile(0, 0)
    %store = aie.tile(0, 1)
    aie.flow(%door, DMA : 0, %store, DMA : 0)
    aie.shim_dma_allocation @first(%door, MM2S, 0)
    aie.shim_dma_allocation @second(%door, MM2S, 0)
    aie.runtime_sequence(%a : memref<64xi32>) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
"""
    sent = (
        "      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) "
        "{metadata = @first, id = 3 : i64, issue_token = false} : memref<64xi32>\n"
    )
    wait = "      aiex.npu.sync(%c0, %c0, %c1, %c0, %c1, %c1) : i32, i32, i32, i32, i32, i32\n    }\n  }\n}\n"
    found = candidates(Text("d.mlir", f"{head}{sent}{sent}{wait}"), ())
    says = [(each.kind, each.changes[0].line, each.changes[0].new) for each in found]
    first = head.count("\n") + 1
    assert ("issue_token", first + 1, "true") in says
    assert {each for each in says if each[0] == "bd_id"} == {("bd_id", first, "0"), ("bd_id", first + 1, "0")}


def test_the_first_error_has_the_repair() -> None:
    note, error = (Finding("MT0203", each, "") for each in (Severity.WARNING, Severity.ERROR))
    tried = search([Candidate("release", "a")], lambda *_: Trial(True, 7), max_cycles=9)
    first, second = with_repair([note, error], tried)
    assert (first.repair, second.repair) == (None, Repair("release", "a", cycles=7))
    assert Finding.from_json(second.as_json()) == second


REPAIRS = {
    "locks-begin-empty": ("lock_value", "0", "1"),
    "receiver-of-other-length": ("length", "12", "16"),
    "release-missing": ("release", "", "\n      aie.use_lock(%free, Release, 1)"),
    "core-keeps-the-output": ("release", "", "\n        aie.objectfifo.release @out(Produce, 1)"),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_repair_makes_a_broken_text_do_what_the_fine_one_does(name: str) -> None:
    broken = load(CORPUS / f"{name}-hangs.mlir")
    best = broken.repairs(WORDS, seconds=60).best
    assert best is not None
    (change,) = best.changes
    assert (best.kind, change.old, change.new) == REPAIRS[name]
    assert broken.source is not None
    fixed = broken.loads(Text.of("fixed.mlir", applied(broken.source, best.changes))).run(WORDS)
    fine = load(CORPUS / f"{name}-fine.mlir").run(WORDS)
    assert fixed.result.cycles == best.cycles == pytest.approx(fine.result.cycles, rel=0.05)
    assert all(np.array_equal(fixed.arrays[each], fine.arrays[each]) for each in fine.arrays)


REFUSED = {
    "ends": ("@in(%shim, {%core}", "@in(%core, {%shim}"),
    "size of objects": ("@in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<16x",
                        "@in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<8x"),
    "type of objects": ("@out(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>",
                        "@out(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi16>"),
    "count of a release": ("release @in(Consume, 1)", "release @in(Consume, 2)"),
    "end of a release": ("release @out(Produce, 1)", "release @out(Consume, 1)"),
    "another FIFO": ("release @in(Consume, 1)", "release @out(Consume, 1)"),
    "a second release": (
        "        aie.objectfifo.release @in(Consume, 1)\n",
        "        aie.objectfifo.release @in(Consume, 1)\n" * 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_text_that_is_refused_is_repaired(mistake: str) -> None:
    """The first change with which it is read is the one that was made, and it is what is refused."""
    fine = (CORPUS / "core-keeps-the-output-fine.mlir").read_text()
    text = Text("d.mlir", fine.replace(*REFUSED[mistake], 1))
    with pytest.raises(MemtileError) as error:
        load(text)
    made = iter(candidates(text, [*refused("d.mlir", error.value)]))
    assert applied(text, next(each for each in made if is_read(text, each)).changes) == fine


PARTS = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %store = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    %one = aie.buffer(%store) : memref<64xi32>
    %two = aie.buffer(%store) : memref<64xi32>
    aie.flow(%shim, DMA : 0, %store, DMA : 0)
    aie.packet_flow(3) {
      aie.packet_source<%store, DMA : 0>
      aie.packet_dest<%shim, DMA : 1>
    }
    aie.objectfifo @all(%shim, {%store}, 2 : i32) : !aie.objectfifo<memref<48xi32>>
    aie.objectfifo @low(%store, {%core}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @high(%store, {%core}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo.link [@all] -> [@low, @high] ([] [0, 16])
    %dma = aie.memtile_dma(%store) {
      %in = aie.dma_start(S2MM, 0, ^first, ^end)
    ^first:
      aie.dma_bd(%one : memref<64xi32>, 0, 32, [<size = 4, stride = 16>, <size = 8, stride = 1>])
      aie.next_bd ^second
    ^second:
      aie.dma_bd(%two : memref<64xi32>, 0, 64)
      aie.next_bd ^first
    ^end:
      aie.end
    }
  }
}
"""
MEANT = {
    "ends of a flow": ("%shim, DMA : 0, %store", "%store, DMA : 0, %shim", "MT0102", ""),
    "ends of a packet flow": (
        "aie.packet_flow(3) {\n      aie.packet_source<%store, DMA : 0>\n      aie.packet_dest<%shim",
        "aie.packet_flow(3) {\n      aie.packet_source<%shim, DMA : 0>\n      aie.packet_dest<%store",
        "MT0102",
        "",
    ),
    "order of a link": ("[@all] -> [@low, @high]", "[@low] -> [@all, @high]", "MT0305", ""),
    "offset of a link": ("([] [0, 16])", "([] [0, 20])", "MT0120", ""),
    "channel of a task": ("S2MM, 0, ^first", "S2MM, 1, ^first", "MT0312", ""),
    "buffer": ("bd(%two", "bd(%one", "MT0209", "Let BD 1 use buffer 'two'."),
    "stride by its number": ("4, stride = 16", "4, stride = 20", "MT0123", "Give it stride 16."),
    "offset": ("64xi32>, 0, 32", "64xi32>, 4, 32", "MT0123", ""),
    "length": ("0, 32, [", "0, 28, [", "MT0323", ""),
}


@pytest.mark.parametrize("mistake", MEANT)
def test_what_a_finding_means_is_tried_first(mistake: str) -> None:
    right, wrong, code, fix = MEANT[mistake]
    text = Text("d.mlir", PARTS.replace(right, wrong, 1))
    line = PARTS[: PARTS.index(right)].count("\n") + 1
    finding = Finding(code, Severity.ERROR, "", (Side("", "", f"d.mlir:{line}:1"),), fix=fix)
    assert applied(text, candidates(text, [finding])[0].changes) == PARTS


HOSTED = """module { aie.device(npu1_1col) {
aie.objectfifo @a(%shim dimensionsToStream [<size = 4, stride = 2>, <size = 2, stride = 8>], {%core}, 2 : i32)
  {padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 2, const_pad_after = 0>]>}
aie.runtime_sequence(%x: memref<64xi32>, %y: memref<64xi32>) {
aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 4, 16][0, 0, 4, 1]) {id = 0 : i64, metadata = @a} : memref<64xi32>
aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @b} : memref<64xi32>
aiex.npu.rtp_write(@gain, 0, 100)
aiex.npu.rtp_write(@gain, 1, 7)
}
%shim = aie.tile(0, 0)
%core = aie.tile(0, 2)
%next = aie.tile(0, 3)
%gain = aie.buffer(%core) {sym_name = "gain"} : memref<3xi32>
aie.flow(%shim, DMA : 0, %core, DMA : 0)
aie.flow(%shim, DMA : 1, %next, DMA : 1)
aie.packet_flow(3) { aie.packet_source<%core, DMA : 0> aie.packet_dest<%shim, DMA : 0> }
aie.packet_flow(4) { aie.packet_source<%next, DMA : 0> aie.packet_dest<%shim, DMA : 0> }
aie.mem(%core) {
aie.dma_bd(%gain : memref<3xi32>, 2, 1)
aie.dma_bd(%gain : memref<3xi32>, 1, 1)
}
aie.core(%core) {
func.call @f(%p, %q, %n) : (memref<3xi32>, memref<3xi32>, i32) -> ()
%w = arith.extsi %v : i8 to i32
%c2 = arith.constant 2 : index
scf.for %j = %c0 to %c2 step %c1 {
memref.store %w, %gain[%j] : memref<3xi32>
%v0 = memref.load %near[%j] : memref<3xi32>
}
%two = aie.objectfifo.acquire @in(Consume, 2) : !aie.objectfifosubview<memref<3xi32>>
%near = aie.objectfifo.subview.access %two[0] : !aie.objectfifosubview<memref<3xi32>> -> memref<3xi32>
%far = aie.objectfifo.subview.access %two[1] : !aie.objectfifosubview<memref<3xi32>> -> memref<3xi32>
} } }"""


@pytest.mark.parametrize(
    ("says", "line", "becomes"),
    [
        ("lines 5 and 6: exchange %y and %x, which @a and @b move", 6, "(%y[0, 0, 0, 0]"),
        ("lines 7 and 8: exchange the values 100 and 7", 8, "(@gain, 1, 100)"),
        ("line 5: exchange dimensions 2 and 3 of its 4", 5, "[1, 1, 16, 4][0, 0, 1, 4]"),
        ("line 5: exchange the strides of dimensions 2 and 3 of its 4", 5, "[1, 1, 4, 16][0, 0, 1, 4]"),
        ("line 5: exchange the sizes of dimensions 2 and 3 of its 4", 5, "[1, 1, 16, 4][0, 0, 4, 1]"),
        ("line 28: load of %far, which nothing uses, instead of %near", 28, "memref.load %far[%j]"),
        (
            "line 2: exchange dimensions 0 and 1 of its 2",
            2,
            "[<size = 2, stride = 8>, <size = 4, stride = 2>]",
        ),
        ("line 8: place 2 of @gain instead of 1", 8, "(@gain, 2, 7)"),
        ("lines 14 and 15: exchange %core and %next", 15, "%shim, DMA : 1, %core, DMA : 0"),
        ("lines 16 and 17: exchange %core and %next", 16, "source<%next, DMA : 0>"),
        ("lines 19 and 20: exchange the offsets 2 and 1", 20, "memref<3xi32>, 2, 1"),
        ("line 23 of f: exchange arguments 1 and 2 (%p and %q)", 23, "(%q, %p, %n)"),
        ("line 24: arith.extui instead of arith.extsi", 24, "arith.extui %v"),
        ("line 26: the loop ends at 3 instead of 2", 25, "constant 3 : index"),
        ("line 2: 0 zeros before and 2 after the data", 3, "<const_pad_before = 0, const_pad_after = 2>"),
        ("line 2: 1 zeros before and 1 after the data", 3, "<const_pad_before = 1, const_pad_after = 1>"),
    ],
)
def test_two_of_a_kind_are_exchanged(says: str, line: int, becomes: str) -> None:
    text = Text("d.mlir", HOSTED)
    (found,) = (each for each in candidates(text, ()) if each.says == says)
    assert becomes in applied(text, found.changes).splitlines()[line - 1]


SENT = """module { aie.device(npu2_1col) {
%shim = aie.tile(0, 0)
%mem = aie.tile(0, 1)
%box = aie.buffer(%mem) : memref<16xi32>
%free = aie.lock(%mem, 0) {init = 2 : i32}
%one = aie.lock(%mem, 1) {init = 0 : i32}
%two = aie.lock(%mem, 2) {init = 0 : i32}
aie.shim_dma_allocation @in(%shim, MM2S, 0)
aie.memtile_dma(%mem) {
%0 = aie.dma_start(S2MM, 0, ^a, ^end)
^a:
aie.use_lock(%free, AcquireGreaterEqual, 2)
aie.dma_bd(%box : memref<16xi32>, 0, 8)
aie.use_lock(%two, Release, 1)
aie.next_bd ^b
^b:
aie.dma_bd(%box : memref<16xi32>, 8, 8)
aie.use_lock(%one, Release, 1)
aie.next_bd ^a
^end:
aie.end
}
aie.runtime_sequence(%x : memref<16xi32>) {
%t = aiex.dma_configure_task_for @in {
aie.dma_bd(%x : memref<16xi32>, 0, 8) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}
aie.end
}
%u = aiex.dma_configure_task_for @in {
aie.dma_bd(%x : memref<16xi32>, 0, 8) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
aie.end
}
} } }"""


@pytest.mark.parametrize(
    ("says", "line", "becomes"),
    [
        ("lines 14 and 18: exchange %two and %one", 18, "use_lock(%two, Release"),
        ("lines 25 and 29: exchange the packet ids 2 and 1", 29, "pkt_id = 2"),
        ("line 29: offset 8 instead of 0, which is moved before", 29, "memref<16xi32>, 8, 8)"),
    ],
)
def test_ids_and_locks_are_exchanged_and_words_moved_once(says: str, line: int, becomes: str) -> None:
    text = Text("d.mlir", SENT)
    (found,) = (each for each in candidates(text, ()) if each.says == says)
    assert becomes in applied(text, found.changes).splitlines()[line - 1]


STORED = """module {{ aie.device(npu2_1col) {{
%low = aie.tile(0, 2)
%up = aie.tile(0, 3)
%ring0 = aie.buffer(%low) {{sym_name = "ring0"}} : memref<16xi32>
%ring1 = aie.buffer(%low) {{sym_name = "ring1"}} : memref<16xi32>
%wide = aie.buffer(%low) {{sym_name = "wide"}} : memref<32xi32>
aie.core(%low) {{
memref.store %v, %ring0[%i] : memref<16xi32>
memref.store %v, %ring1[%i] : memref<16xi32>
}}
aie.core(%up) {{
%a = memref.load %ring0[%i] : memref<16xi32>
%b = memref.load {second}[%i] : memref<16xi32>
%c = memref.load %wide[%i] : memref<32xi32>
}}
}} }}"""


def test_a_buffer_that_is_stored_to_and_that_nothing_reads_is_loaded_first() -> None:
    says = [each.says for each in candidates(Text("d.mlir", STORED.format(second="%ring0")), ())]
    assert {each for each in says if "which nothing reads" in each} == {
        f"line {line}: load of %ring1, which nothing reads, instead of %ring0" for line in (12, 13)
    }
    fine = [each.says for each in candidates(Text("d.mlir", STORED.format(second="%ring1")), ())]
    assert not any("which nothing reads" in each for each in fine)


def test_releases_of_one_chain_are_exchanged_before_others() -> None:
    likely = {each.says: each.unlikely for each in candidates(Text("d.mlir", SENT), ())}
    assert likely["lines 14 and 18: exchange %two and %one"] < 0.5
    assert "lines 12 and 14: exchange %free and %two" not in likely


USED = """"builtin.module"() ({
"aie.device"() <{device = 2 : i32}> ({
%tile = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
%one = "aie.lock"(%tile) <{lockID = 0 : i32, init = 1 : i32}> : (index) -> index
%two = "aie.lock"(%tile) <{lockID = 1 : i32, init = 0 : i32}> : (index) -> index
%six = "aie.lock"(%tile) <{lockID = 2 : i32, init = 0 : i32}> : (index) -> index
"aie.core"(%tile) ({
"aie.use_lock"(%one) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
"aie.use_lock"(%two) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()
"aie.use_lock"(%six) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()
"aie.use_lock"(%six) <{action = 7 : i32, value = 1 : i32}> : (index) -> ()
"aie.end"() : () -> ()
}) : (index) -> ()
"aie.end"() : () -> ()
}) : () -> ()
}) : () -> ()"""
"""Uses of locks in the generic form; the last one says what locks do not have."""


def test_an_acquire_and_a_release_of_the_generic_form_are_no_two_of_a_kind() -> None:
    exchanged = {
        each.says: each.unlikely for each in candidates(Text("d.mlir", USED), ()) if each.kind == "lock"
    }
    assert {says for says in exchanged if "exchange" in says} == {"lines 9 and 10: exchange %two and %six"}
    assert exchanged["lines 9 and 10: exchange %two and %six"] < 0.5  # as releases are


def test_what_the_advice_says_is_tried_first_in_the_move_that_it_is_about() -> None:
    finding = Finding("MT0123", Severity.ERROR, "BD 0 of a (line 6) reads y.", fix="Give it offset 40.")
    first = candidates(Text("d.mlir", HOSTED), [finding])[0]
    assert first.says == "line 6, aiex.npu.dma_memcpy_nd b: offset 40 instead of 0"


def test_a_stride_with_which_elements_are_moved_twice_is_less_likely_than_the_one_without() -> None:
    found = {each.says: each.unlikely for each in candidates(Text("d.mlir", HOSTED), ())}
    assert found["line 5, aiex.npu.dma_memcpy_nd a: stride 16 instead of 4"] < 0.3


def test_of_words_that_are_shifted_the_order_of_transfers_is_likelier() -> None:
    shifted, swapped = (
        next(each.unlikely for each in candidates(Text("d.mlir", HOSTED), [found]) if each.kind == "order")
        for found in (Finding(code, Severity.ERROR, "") for code in ("MT0402", "MT0404"))
    )
    assert shifted < swapped


def test_a_step_that_no_walk_takes_is_not_changed() -> None:
    says = [each.says for each in candidates(Text("d.mlir", HOSTED), ()) if "line 6" in each.says]
    assert any("stride" in each for each in says)
    assert not any(each.endswith("instead of 0") for each in says if "stride" in each)


def test_of_values_that_are_wrong_the_transfer_that_passes_them_on_is_not_likelier() -> None:
    """The finding is at the transfer that writes them."""
    finding = Finding("MT0405", Severity.ERROR, "", (Side("", "", "d.mlir:6:1"),))
    found = candidates(Text("d.mlir", HOSTED), [finding])
    order = [each.kind for each in found]
    moved = next(n for n, each in enumerate(found) if each.says.startswith("line 6, aiex.npu.dma_memcpy_nd"))
    assert order.index("flow") < moved
    assert order.index("type") < moved


def test_what_is_then_in_order_is_exchanged_first() -> None:
    """Offsets that fall while the tiles of the flows rise."""
    order = [each.says for each in candidates(Text("d.mlir", HOSTED), ())]
    flows = order.index("lines 14 and 15: exchange %core and %next")
    assert order.index("lines 19 and 20: exchange the offsets 2 and 1") < flows


SQUARES = """module { aie.device(npu1_1col) {
%shim = aie.tile(0, 0)
%tile = aie.tile(0, 2)
aie.objectfifo @in(%shim, {%tile}, 1 : i32) : !aie.objectfifo<memref<8xi16>>
aie.objectfifo @out(%tile, {%shim}, 1 : i32) : !aie.objectfifo<memref<8xi16>>
aie.core(%tile) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c8 = arith.constant 8 : index
%came = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<8xi16>>
%x = aie.objectfifo.subview.access %came[0] : !aie.objectfifosubview<memref<8xi16>> -> memref<8xi16>
%go = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi16>>
%y = aie.objectfifo.subview.access %go[0] : !aie.objectfifosubview<memref<8xi16>> -> memref<8xi16>
scf.for %i = %c0 to %c8 step %c1 {
%a = memref.load %x[%i] : memref<8xi16>
%b = arith.muli %a, %a : i16
memref.store %b, %y[%i] : memref<8xi16>
}
aie.objectfifo.release @in(Consume, 1)
aie.objectfifo.release @out(Produce, 1)
aie.end
}
aie.runtime_sequence(%a: memref<8xi16>, %b: memref<8xi16>) {
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1])
  {id = 1 : i64, metadata = @out, issue_token = true} : memref<8xi16>
aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<8xi16>
aiex.npu.dma_wait {symbol = @out}
} } }"""


def test_an_input_of_the_other_byte_order_is_named_by_a_run_with_its_bytes_swapped() -> None:
    data = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int16)
    given = data.byteswap()
    found = load(Text("d.mlir", SQUARES)).repairs(given, None, expected={"1": data * data})
    assert found.best is not None
    assert found.best.says == "swap the bytes of each element of argument 0, which come in the other order"
    assert found.best.target == "argument 0"
    assert found.runs == 1  # the others leave other words in a run without a clock
    assert np.array_equal(given, data.byteswap())


def test_a_number_of_a_move_is_called_what_it_is() -> None:
    said = {each.says.partition(": ")[2] for each in candidates(Text("d.mlir", HOSTED), ())}
    assert {"stride 8 instead of 4", "offset 4 instead of 0"} <= said


def test_words_without_a_reason_get_that_of_the_change_that_makes_them_right() -> None:
    change = Change("d.mlir", 5, 30, "%y", "%x")
    tried = search(
        [Candidate("array", "exchange a", [change])], lambda *_: Trial(True, 7, compared=True), max_cycles=9
    )
    (found,) = with_repair(
        [Finding("MT0405", Severity.ERROR, "c is wrong.", (Side("c", "is wrong"),))], tried
    )
    assert found.fix == "Exchange a. Tried: all words are as expected."
    assert [side.place for side in found.sides] == ["d.mlir:5:30", ""]


def test_of_two_changes_that_are_right_alike_none_is_said_to_be_the_mistake() -> None:
    changes = [Change("d.mlir", line, 30, "%y", "%x") for line in (5, 9)]
    both = [Candidate("array", f"exchange {name}", [each]) for name, each in zip("ab", changes, strict=True)]
    tried = search(both, lambda *_: Trial(True, 7, compared=True), max_cycles=9)
    (found,) = with_repair(
        [Finding("MT0405", Severity.ERROR, "c is wrong.", (Side("c", "is wrong"),))], tried
    )
    assert found.fix == "One of two: exchange a; or exchange b. Tried: all words are as expected with either."


COMPUTED = """module { aie.device(npu2_1col) {
%shim = aie.tile(0, 0)
%core = aie.tile(0, 2)
%gain = aie.buffer(%core) {sym_name = "gain"} : memref<2xi32>
aie.objectfifo @a(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
aie.objectfifo @b(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
aie.objectfifo.link [@w] -> [@x, @y, @z] ([] [0, 4, 8])
aie.core(%core) {
%factor = arith.constant 6 : i32
%place = arith.constant 2 : index
%one = aie.objectfifo.acquire @a(Consume, 1) : !aie.objectfifosubview<memref<4xi32>>
%p = aie.objectfifo.subview.access %one[0] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>
%two = aie.objectfifo.acquire @b(Consume, 1) : !aie.objectfifosubview<memref<4xi32>>
%q = aie.objectfifo.subview.access %two[0] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>
%v = memref.load %p[%place] : memref<4xi32>
%u = memref.load %q[%place] : memref<4xi32>
%t = arith.muli %v, %factor : i32
%s = arith.subi %t, %u : i32
func.call @f(%p, %q) : (memref<4xi32>, memref<4xi32>) -> ()
aie.end
}
aie.runtime_sequence(%x: memref<64xi32>) {
aiex.npu.rtp_write(@gain, 1, 9)
}
} }"""


@pytest.mark.parametrize(
    ("said", "says", "line", "becomes"),
    [
        (Evidence(times=Fraction(3, 2)), "the value 4 instead of 6", 9, "constant 4 :"),
        (Evidence(times=Fraction(3, 2)), "the value 6 instead of 9", 23, "1, 6)"),
        (Evidence(more=-2), "the value 11 instead of 9", 23, "1, 11)"),
        (Evidence(more=2), "the value 11 instead of 9", 23, "1, 11)"),
        (
            Evidence(bits=2),
            "the value 8 instead of 6",
            9,
            "constant 8 :",
        ),
        (Evidence(bits=-3), "the value 6 instead of 9", 23, "1, 6)"),
        (
            Evidence(bits=-1),
            "the value 12 instead of 6",
            9,
            "constant 12 :",
        ),
        (Evidence(made=(6, 9)), "the value 9 instead of 6", 9, "constant 9 :"),
        (NO_EVIDENCE, "of f: exchange arguments 1 and 2 (@a and @b)", 19, "@f(%q, %p)"),
        (NO_EVIDENCE, ", arith.subi: exchange arguments 1 and 2 (%t and @b)", 18, "subi %u, %t"),
        (NO_EVIDENCE, "put the parts in the order @z, @y, @x, or the cores", 7, "[@z, @y, @x] ("),
        (NO_EVIDENCE, "put the parts in the order @y, @z, @x, or the cores", 7, "[@y, @z, @x] ("),
    ],
)
def test_values_and_orders_are_tried_by_what_is_wrong(
    said: Evidence, says: str, line: int, becomes: str
) -> None:
    text = Text("d.mlir", COMPUTED)
    finding = Finding("MT0405", Severity.ERROR, "c is wrong.", (Side("c", "is wrong"),), evidence=said)
    (found,) = (each for each in candidates(text, [finding]) if each.says.endswith(says))
    assert becomes in applied(text, found.changes).splitlines()[line - 1]


def test_only_values_that_are_computed_with_are_tried_and_only_where_words_say_by_how_much() -> None:
    text = Text("d.mlir", COMPUTED)
    finding = Finding("MT0405", Severity.ERROR, "c is wrong.", (), evidence=Evidence(times=Fraction(2)))
    assert [each.says for each in candidates(text, [finding]) if each.kind == "value"] == [
        "line 9: the value 3 instead of 6"
    ]
    assert not any(each.kind == "value" for each in candidates(text, ()))


def test_arguments_of_two_object_fifos_are_exchanged_before_other_values() -> None:
    of_f, of_sub = (
        next(each for each in candidates(Text("d.mlir", COMPUTED), ()) if name in each.says)
        for name in ("of f", "arith.subi")
    )
    assert of_f.unlikely < of_sub.unlikely


def is_read(text: Text, candidate: Candidate) -> bool:
    """Whether a text is not refused with a candidate."""
    try:
        load(Text("d.mlir", applied(text, candidate.changes)))
    except MemtileError:
        return False
    return True


def test_a_good_design_has_no_repairs() -> None:
    assert load(CORPUS / "release-missing-fine.mlir").repairs(WORDS).runs == 0


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = (CORPUS / "release-missing-hangs.mlir").read_text()
    (tmp_path / "broken.mlir").write_text(text)
    return Path("broken.mlir")


def memtile(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, args)
    return done.exit_code, done.stdout


def test_check_shows_the_difference_and_writes_it_when_asked(broken: Path) -> None:
    text = broken.read_text()
    code, shown = memtile("check", "--fix", "--dry-run", str(broken))
    assert (code, broken.read_text()) == (1, text)
    assert "\n+      aie.use_lock(%free, Release, 1)\n" in shown
    assert re.search(
        r"repair \(tried: .* cycles, words not compared\): broken.mlir:24:49: release lock free",
        shown,
    )
    code, shown = memtile("check", "--fix", str(broken))
    assert (code, shown.splitlines()[-1]) == (
        0,
        "broken.mlir: 4 tasks checked, nothing found, finishes whatever the timing",
    )
    line = "      aie.dma_bd(%block : memref<16xi32>, 0, 16)\n"
    put = "      aie.use_lock(%free, Release, 1)\n"
    assert broken.read_text() == text.replace(
        f"{line}      aie.next_bd ^read", f"{line}{put}      aie.next_bd ^read"
    )


def test_a_text_that_is_refused_is_written_anew_and_editors_get_the_change(tmp_path: Path) -> None:
    fine = (CORPUS / "core-keeps-the-output-fine.mlir").read_text()
    file = tmp_path / "refused.mlir"
    file.write_text(fine.replace(*REFUSED["end of a release"]))
    code, shown = memtile("check", "--fix", "--dry-run", "--sarif", str(file))
    (found,) = json.loads(shown)["runs"][0]["results"]
    (change,) = found["fixes"][0]["artifactChanges"][0]["replacements"]
    assert (code, change["insertedContent"]["text"]) == (1, "Produce")
    assert memtile("check", "--fix", str(file))[0] == 0
    assert file.read_text() == fine


def test_run_says_the_repair_below_the_finding(broken: Path) -> None:
    _, shown = memtile("run", "--pad-arguments", str(broken))
    lines = shown.splitlines()
    at = next(
        n for n, line in enumerate(lines) if " MT0" in line and line.startswith("finding: broken.mlir:")
    )
    assert re.match(
        r"  repair \(tried: finishes in [\d,]+ cycles, words not compared\): broken.mlir:24:49: ",
        lines[at + 1],
    )
    assert "repair" not in memtile("run", "--no-repair", "--pad-arguments", str(broken))[1]


def test_other_files_than_texts_of_designs_are_not_repaired(broken: Path) -> None:
    Path("design.txt").write_text("")
    done = CliRunner().invoke(app, ["check", "--fix", "design.txt"])
    assert done.exit_code == 2
    assert "--dry-run is for --fix" in CliRunner().invoke(app, ["check", "--dry-run", str(broken)]).stderr


def test_a_file_that_changed_meanwhile_is_not_written() -> None:
    text = Text("a.mlir", "one two\n")
    change = Change("a.mlir", 1, 5, "two", "three", 4)
    assert applied_to_file("one two\r\n", text, [change]) == "one three\r\n"
    with pytest.raises(InputFileError, match="the file has changed since it was read"):
        applied_to_file("one two \n", text, [change])
    with pytest.raises(InputFileError, match="line 1 has changed"):
        applied(Text("a.mlir", "one tea\n"), [change])


def test_lines_of_a_log_stay_where_they_are() -> None:
    content = "a log\nmodule {\n}\n"
    text = Text.of("a.mlir", content)
    at = text.content.index("module")
    assert (
        applied_to_file(content, text, [Change("a.mlir", 2, 1, "module", "again", at)])
        == "a log\nagain {\n}\n"
    )


def test_a_constant_that_others_use_is_left_alone() -> None:
    content = (CORPUS / "core-ends-early-hangs.mlir").read_text().replace("%words step", "%turns step")
    text = Text.of("a.mlir", content)
    made = [each for each in candidates(text, ()) if each.kind == "bound"]
    assert made
    assert all("arith.constant 3" not in change.old for each in made for change in each.changes)


def test_a_lock_begins_with_what_its_buffer_counts() -> None:
    text = Text("d.mlir", BROADCAST)
    first = next(each for each in candidates(text, ()) if each.kind == "lock_value")
    assert first.says == "initialise lock free to 2 instead of 1"


def test_no_descriptor_is_to_release_the_lock_that_it_acquires() -> None:
    spare = BROADCAST.replace("%full =", "%spare = aie.lock(%mem, 2)\n%full =")
    says = {each.says for each in candidates(Text("d.mlir", spare), ()) if each.kind == "lock"}
    assert says == {"acquire lock spare instead of free", "release lock spare instead of full"}


def test_a_descriptor_that_is_started_before_it_is_written_again_keeps_its_number() -> None:
    write = "aiex.npu.writebd {bd_id = 0 : i32, column = 0 : i32, row = 0 : i32, buffer_length = 16 : i32}\n"
    start = "aiex.npu.write32 {address = 119316 : ui32, column = 0 : i32, row = 0 : i32, value = 0 : ui32}\n"
    for steps, many in ((write + write + start, 2), ((write + start) * 2, 0)):
        text = f"module {{ aie.device(npu1_1col) {{\naie.runtime_sequence() {{\n{steps}}}\n}} }}\n"
        assert len([each for each in candidates(Text("d.mlir", text), ()) if each.kind == "bd_id"]) == many


def test_a_repair_does_not_hide_what_the_finding_is_about() -> None:
    depth, value, said = Candidate("depth", ""), Candidate("lock_value", ""), "x waits."
    race, poll = (Finding(code, Severity.ERROR, said, ()) for code in ("MT0204", "MT0314"))
    other = replace(depth, kind="array")
    assert [hides(each, [race]) for each in (depth, other, value)] == [True, True, False]
    assert [hides(each, [poll]) for each in (depth, value)] == [False, True]
    assert hides(replace(depth, kind="bound"), [race])  # a loop that ends before the turn that races
    assert not hides(depth, [])
    early = Finding("MT0105", Severity.ERROR, "")
    assert [hides(replace(depth, kind=kind), [early]) for kind in ("count", "order")] == [True, False]
    assert hides(
        other, [Finding("MT0318", Severity.WARNING, said, ())]
    )  # nothing waited for is no other array
    loop, short = replace(depth, kind="loop"), Finding("MT0304", Severity.ERROR, said, ())
    counted = replace(short, evidence=Evidence(runs=4))
    assert [hides(loop, [each]) for each in (short, counted)] == [False, True]


def test_a_wait_for_what_brings_words_may_be_meant_for_what_they_make() -> None:
    fine = (CORPUS / "second-pass-too-early-fine.mlir").read_text(encoding="utf-8")
    silent, token = "      }\n      %t1 =", "      } {issue_token = true}\n      %t1 ="
    wrong = fine.replace("dma_await_task(%t1)", "dma_await_task(%t0)").replace(silent, token)
    text = Text("d.mlir", wrong)
    race = Finding("MT0201", Severity.ERROR, "", ())
    says = [each.says for each in candidates(text, [race])]
    assert "wait for task %t1 instead of %t0" in says
    assert not any("%t2 instead of %t0" in each for each in says)  # it is started later


def test_a_wait_for_one_of_two_outputs_is_kept_where_one_for_the_other_is_missing() -> None:
    fine = (CORPUS / "second-pass-too-early-fine.mlir").read_text(encoding="utf-8")
    fifo = next(line for line in fine.splitlines() if "objectfifo @dst" in line)
    first = fine.index("      %t1 =")
    task = fine[first : fine.index("      aiex.dma_start_task(%t0)")]
    wrong = fine.replace(task, task + task.replace("%t1", "%t9").replace("@dst", "@also"))
    wrong = wrong.replace("dma_start_task(%t1)\n", "dma_start_task(%t1)\n      aiex.dma_start_task(%t9)\n")
    text = Text("d.mlir", wrong.replace(fifo, f"{fifo}\n{fifo.replace('@dst', '@also')}"))
    says = [each.says for each in candidates(text, [Finding("MT0201", Severity.ERROR, "", ())])]
    assert not any(each.startswith("wait for task %t9 instead of %t1") for each in says)
    assert any(each.startswith("wait for task %t9 too, after line ") for each in says)


def test_a_run_that_finished_is_not_repaired_by_one_with_more_warnings() -> None:
    error = Finding("MT0122", Severity.ERROR, "it is wrong.", ())
    before = replace(MemoryTile().run(), findings=(error,))
    assert before.status is Status.FINISHED
    assert is_better(Trial(good=True, cycles=1), before)
    assert not is_better(Trial(good=True, cycles=1, cautions=1), before)
    assert is_better(Trial(good=True, cycles=1, cautions=1), replace(before, status=Status.STUCK))


def test_a_body_that_is_done_once_stays_so_and_the_nearest_count_comes_first() -> None:
    inner = "scf.for %b = %zero to %three step %one { aie.objectfifo.release @x(Consume, 1) }"
    values = {"zero": 0, "one": 1, "three": 3, "many": 99, "four": 4}
    numbers = "".join(f"%{name} = arith.constant {value} : index\n" for name, value in values.items())
    core = f"aie.core(%t) {{ {numbers} scf.for %a = %zero to %one step %one {{ {inner} }} }}\n"
    text = f"module {{ aie.device(npu1) {{ %t = aie.tile(0, 2)\n{core} }} }}"
    made = [each.says for each in candidates(Text("d.mlir", text), ()) if each.kind == "bound"]
    counts = [each.rpartition("three: ")[2] for each in made]
    assert counts == ["4 instead of 3", "6 instead of 3", "99 instead of 3"]


def test_what_is_sent_again_is_sent_once_more_before_twice_as_often() -> None:
    text = (
        "aiex.npu.dma_memcpy_nd(%k[0, 0, 0, 0][1, 5, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @w} : "
        "memref<16xi32>\n"
    )
    made = [each.says.rpartition(": ")[2] for each in candidates(Text("d.mlir", text), ())]
    assert made.index("size 6 instead of 5") < made.index("size 10 instead of 5")


def test_two_flows_of_one_id_are_the_last_that_is_meant() -> None:
    flows = [f"aie.packet_flow({n}) {{ }}\n" for n in (1, 2)]
    sent = [f"aie.dma_bd_packet(0, {n})\n" for n in (1, 1)]
    found = [
        each for each in candidates(Text("d.mlir", "".join([*flows, *sent])), ()) if each.kind == "packet_id"
    ]
    assert found[0].says == "line 4: packet id 2 instead of 1"
    assert found[-1].says == "line 2: packet id 1 instead of 2"


def test_the_sizes_of_the_arrays_of_a_host_are_no_mistake() -> None:
    source = "N = 16\nTURNS = 3\nfor _ in range(TURNS):\n    array.external('x', np.zeros(4 * N))\n"
    made = {each.says.partition(":")[0] for each in python_candidates(source, "d.py", ())}
    assert made == {"line 2, TURNS"}


def test_a_missing_release_is_put_behind_the_last_use_of_what_was_acquired() -> None:
    text = Text.of("a.mlir", (CORPUS / "core-keeps-the-output-hangs.mlir").read_text())
    first = next(each for each in candidates(text, ()) if each.kind == "release")
    lines = applied(text, first.changes).splitlines()
    at = next(n for n, line in enumerate(lines) if "objectfifo.release @out(Produce, 1)" in line)
    assert "objectfifo.release @in(Consume, 1)" in lines[at - 1]
    assert lines[at + 1] == "      }"


RING = """from memtile import MemoryTile


def design():
    tile = MemoryTile()
    buffer, spare = tile.buffer("a", 16), tile.lock(0)
    free, full = tile.lock({free}, "free"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(free.acquire(), full.release()), repeat=2)
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), {given}.release()), repeat={times})
    tile.s2mm[0].feed((lambda: range(32))())
    tile.mm2s[0].expect(range(32))
    return tile
"""
FINE = {"free": "1", "given": "free", "times": "2"}


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(("name", "value", "kind"), [("given", "spare", "lock"), ("times", "1", "repeat")])
def test_a_design_in_python_is_repaired_in_its_source(name: str, value: str, kind: str) -> None:
    design = Path("ring.py")
    design.write_text(RING.format(**{**FINE, name: value}))
    code, shown = memtile("check", "--fix", "--json", str(design))
    assert code == 0, shown
    assert design.read_text() == RING.format(**FINE)
    design.write_text(RING.format(**{**FINE, name: value}))
    found = json.loads(memtile("run", "--json", str(design))[1])["findings"]
    (repair,) = [each["repair"] for each in found if each["repair"]]
    assert (repair["kind"], repair["compared"], repair["changes"][0]["new"]) == (kind, True, FINE[name])


@pytest.mark.usefixtures("broken")
def test_other_random_words_in_each_build_keep_no_repair_out() -> None:
    source = RING.format(**{**FINE, "given": "spare"}).replace("(lambda: range(32))()", "words")
    words = "    words = np.random.default_rng().integers(0, 99, 32).astype(np.int32)\n    tile = "
    source = source.replace("expect(range(32))", "expect(words)").replace("    tile = ", words)
    Path("ring.py").write_text(f"import numpy as np\n{source}")
    found = json.loads(memtile("run", "--json", "ring.py")[1])["findings"]
    assert [each["repair"]["changes"][0]["new"] for each in found if each["repair"]] == ["free"]


def test_zeros_of_a_source_and_what_is_listed_are_exchanged() -> None:
    source = (
        "tile.read(a, pad(view((4, 4)), ((1, 1), (0, 2))))\nparts = [rows[1], rows[0]]\nc.start(x.a, x.b)"
    )
    changes = {each.says: each.changes for each in python_candidates(source, "d.py", ())}
    text = Text("d.py", source)
    for says, becomes in (
        ("line 1, pad: (2, 0) instead of (0, 2)", "((1, 1), (2, 0))"),
        ("line 1, pad: (1, 1) instead of (0, 2)", "((1, 1), (1, 1))"),
        ("line 2: exchange rows[1] and rows[0]", "[rows[0], rows[1]]"),
        ("line 3: exchange x.a and x.b", "start(x.b, x.a)"),
    ):
        assert becomes in applied(text, changes[says])


LOUD = """from memtile import MemoryTile

def design():
    print("a note of the user")
    tile = MemoryTile()
    buffer, empty, full = tile.buffer("a", 16), tile.lock({begin}, "empty"), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(empty.acquire(), full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), empty.release()))
    tile.s2mm[0].feed(range(16))
    tile.mm2s[0].collect()
    return tile
"""


@pytest.mark.parametrize(("command", "begin"), [("run", 0), ("explain", 1)])
def test_what_a_design_prints_is_shown_once_however_often_it_is_loaded(
    command: str, begin: int, tmp_path: Path
) -> None:
    """Repairs and limits load it again for each of their runs."""
    design = tmp_path / "ring.py"
    design.write_text(LOUD.format(begin=begin), encoding="utf-8")
    done = CliRunner().invoke(app, [command, str(design)])
    assert ("repair (tried" in done.stdout, "Limited by" in done.stdout) == (begin == 0, begin == 1)
    assert done.stderr.count("a note of the user") == 1


def test_explain_begins_with_what_is_wrong(tmp_path: Path) -> None:
    design = tmp_path / "ring.py"
    design.write_text(LOUD.format(begin=0), encoding="utf-8")
    done = CliRunner().invoke(app, ["explain", str(design)])
    assert done.exit_code == 1
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("status: stuck")
    assert second.startswith("finding: ")
    assert " error: " in second


EXPECTS = """import numpy as np
from memtile import MemoryTile


def design():
    tile = MemoryTile()
    data = np.random.default_rng(1).permutation(64).astype(np.int32)
    tile.mm2s[0].start(tile.read(tile.buffer("block", 64, data=data)))
    others = data[0] == {first}
    {expects}
    return tile
"""


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    "expects", ["data if others else 2 + data[:32]", "data if others else 7 * data + data % 3"]
)
def test_what_changes_the_words_that_are_expected_is_no_repair(expects: str) -> None:
    """With other random numbers all words are as expected, which says nothing of what was asked."""
    first = np.random.default_rng(2).permutation(64)[0]
    source = EXPECTS.format(first=first, expects=f"tile.mm2s[0].expect({expects})")
    Path("expects.py").write_text(source)
    found = json.loads(memtile("run", "--json", "expects.py")[1])["findings"]
    assert [each["code"] for each in found] == ["MT0405"]
    assert not found[0]["repair"]


def body(row: int, start: int, value: int, of: str = "a") -> str:
    """A core that multiplies what it loads from one of two buffers into a third one."""
    return f"""%t{row} = aie.tile(0, {row})
%a{row} = aie.buffer(%t{row}) : memref<16xi32>
%b{row} = aie.buffer(%t{row}) : memref<16xi32>
%s{row} = aie.buffer(%t{row}) : memref<16xi16>
aie.core(%t{row}) {{
%first = arith.constant {start} : index
%one = arith.constant 1 : index
%end = arith.constant 16 : index
%by = arith.constant {value} : i32
%narrow = memref.load %s{row}[%one] : memref<16xi16>
scf.for %i = %first to %end step %one {{
%v = memref.load %{of}{row}[%i] : memref<16xi32>
%w = arith.muli %v, %by : i32
memref.store %w, %b{row}[%i] : memref<16xi32>
}}
aie.end
}}
"""


def said_of(*cores: str, code: str = "MT0405") -> set[str]:
    """What is tried of cores whose words are wrong."""
    text = "module { aie.device(npu1_1col) {\n" + "".join(cores) + "} }\n"
    return {each.says for each in candidates(Text("d.mlir", text), [Finding(code, Severity.ERROR, "")])}


def test_a_load_of_another_memory_of_the_type_is_tried() -> None:
    """The core loads what it has just written; the memory of 16 bits is of no use to it."""
    other = body(2, 0, 3, "b").replace(
        "%narrow = memref.load %s2[%one] : memref<16xi16>", "%old = memref.load %a2[%one] : memref<16xi32>"
    )
    assert any("load of %a2 instead of %b2" in each for each in said_of(other))
    assert not any("%s" in each for each in said_of(other, body(3, 0, 3)) if ": load of" in each)


def test_a_loop_from_the_first_element_on_is_tried_in_all_cores_alike() -> None:
    """One body of a program is that of two cores: both begin at 0, or none."""
    text = "module { aie.device(npu1_1col) {\n" + body(2, 1, 3) + body(3, 1, 3) + "} }\n"
    found = candidates(Text("d.mlir", text), [Finding("MT0405", Severity.ERROR, "")])
    whole = [each for each in found if "begins at 0" in each.says]
    assert [each.says for each in whole] == ["line 12, 29: the loop begins at 0 instead of 1"]
    assert len({change.line for change in whole[0].changes}) > 1
    assert max(change.line for change in whole[0].changes) > 18  # in the second core too
    assert not any("begins at 0" in each for each in said_of(body(2, 0, 3), body(3, 0, 3)))
    assert not any("begins at 0" in each for each in said_of(body(2, 1, 3), code="MT0301"))


def test_a_number_that_one_core_alone_has_is_tried_as_the_others_have_it() -> None:
    """Of three cores the odd one is changed; of two each is tried; of others with another body none."""
    odd = "as other cores have it"
    three = {each for each in said_of(body(2, 0, 3), body(3, 0, 5), body(4, 0, 3)) if odd in each}
    assert {each.partition(": ")[2] for each in three} == {f"the value 3, {odd}, instead of 5"}
    assert len([each for each in said_of(body(2, 0, 3), body(3, 0, 5)) if odd in each]) == 2
    other = body(3, 0, 5).replace("arith.muli", "arith.addi")
    assert not any(odd in each for each in said_of(body(2, 0, 3), other))
    many = (body(2, 0, 3), body(3, 0, 5), body(4, 0, 7))
    assert not any(odd in each for each in said_of(*many))  # each has its own


@pytest.mark.parametrize(
    ("walk", "there"),
    [
        ("[<size = 4, stride = 8>, <size = 8, stride = 1>]", True),
        ("[<size = 4, stride = 16>, <size = 8, stride = 1>]", False),  # leaves words out
        ("[<size = 1, stride = 8>, <size = 8, stride = 1>]", False),
    ],
)
def test_a_walk_over_words_as_they_lie_is_tried_across_their_rows(walk: str, there: bool) -> None:
    """The transposed walk has a stride that the text has nowhere: no exchange of numbers makes it."""
    text = BROADCAST.replace("16xi32", "64xi32").replace(", 0, 16)", f", 0, 32, {walk})")
    wrong = [Finding("MT0401", Severity.ERROR, "")]
    says = [each.says for each in candidates(Text("d.mlir", text), wrong) if "across the rows" in each.says]
    assert says == ["line 10: strides 1 and 4 instead of 8 and 1, across the rows"] * there
