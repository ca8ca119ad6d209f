"""Is the one place that does not fit the locks of a buffer named, in a run and before it?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.deadlock.find import Hang
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from memtile.importers.mlir.token_packets import Text
from support.pages.corpus_scores import CORPUS

FINE = (CORPUS / "core-keeps-the-input-fine.mlir").read_text(encoding="utf-8")
TURN = """        aie.use_lock(%xfull, AcquireGreaterEqual, 1)
        aie.use_lock(%yfree, AcquireGreaterEqual, 1)
"""
"""Of the core; the other side of each lock is a BD in a ring."""
IN_FREE, IN_FULL = "lock 0 'x_free' of tile (0, 2)", "lock 1 'x_full' of tile (0, 2)"
OUT_FREE, OUT_FULL = "lock 2 'y_free' of tile (0, 2)", "lock 3 'y_full' of tile (0, 2)"


def of_check(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return list(check(str(file), lambda: of_mlir(load_still(file))).findings)


def of_run(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    done = load(file).run(np.arange(words(text), dtype=np.int32), check=True, max_cycles=20_000)
    return list(done.result.findings)


def words(text: str) -> int:
    """How many words the host sends."""
    return int(re.findall(r"%a: memref<(\d+)xi32>", text)[0])


def changed(old: str, new: str, *, of: str = FINE) -> str:
    assert of.count(old) == 1
    return of.replace(old, new)


def line_of(text: str, what: str) -> int:
    return text[: text.index(what)].count("\n") + 1


CORE, COMES, GOES = "core (0, 2)", "compute(0,2) S2MM 0", "compute(0,2) MM2S 0"
MISSING = [
    ("        aie.use_lock(%xfull, AcquireGreaterEqual, 1)\n", CORE, IN_FULL, "acquired before", IN_FREE),
    ("        aie.use_lock(%yfree, AcquireGreaterEqual, 1)\n", CORE, OUT_FREE, "acquired before", OUT_FULL),
    ("        aie.use_lock(%xfree, Release, 1)\n", CORE, IN_FREE, "released after", IN_FULL),
    ("        aie.use_lock(%yfull, Release, 1)\n", CORE, OUT_FULL, "released after", OUT_FREE),
    ("      aie.use_lock(%xfree, AcquireGreaterEqual, 1)\n", COMES, IN_FREE, "acquired before", IN_FULL),
    ("      aie.use_lock(%xfull, Release, 1)\n", COMES, IN_FULL, "released after", IN_FREE),
    ("      aie.use_lock(%yfull, AcquireGreaterEqual, 1)\n", GOES, OUT_FULL, "acquired before", OUT_FREE),
    ("      aie.use_lock(%yfree, Release, 1)\n", GOES, OUT_FREE, "released after", OUT_FULL),
]


@pytest.mark.parametrize(("gone", "who", "lock", "missed", "partner"), MISSING)
def test_an_acquire_or_release_that_is_missing(
    tmp_path: Path, gone: str, who: str, lock: str, missed: str, partner: str
) -> None:
    text = changed(f"\n{gone}", "\n\n")
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert (finding.code, finding.severity) == ("MT0122", Severity.ERROR)
        assert finding.message.startswith(f"{who}, line ")
        verb, when = missed.split()
        assert f": {lock} is not {verb} {when} the use that " in finding.message
        assert finding.message.endswith(f" {partner}.")
        assert finding.fix.startswith(f"Let {who} {verb.removesuffix('d')} {lock} ")


WRONG = [
    ("        aie.use_lock(%xfree, R", "%xfree", "%xfull", CORE, IN_FULL, "released", IN_FREE),
    ("        aie.use_lock(%yfull, R", "%yfull", "%xfree", CORE, IN_FREE, "released", OUT_FULL),
    ("        aie.use_lock(%xfull, A", "%xfull", "%yfull", CORE, OUT_FULL, "acquired", IN_FULL),
    ("^come:\n      aie.use_lock(%xfree", "%xfree", "%yfree", COMES, OUT_FREE, "acquired", IN_FREE),
    ("(%yfree, Release, 1)\n      aie.n", "%yfree", "%yfull", GOES, OUT_FULL, "released", OUT_FREE),
]


@pytest.mark.parametrize(("at", "old", "new", "who", "was", "verb", "meant"), WRONG)
def test_a_lock_that_is_used_instead_of_another(
    tmp_path: Path, at: str, old: str, new: str, who: str, was: str, verb: str, meant: str
) -> None:
    text = changed(at, at.replace(old, new))
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert (finding.code, finding.severity) == ("MT0122", Severity.ERROR)
        assert f": {was} is {verb} instead of {meant}; " in finding.message
        assert finding.fix == f"Let {who} {verb.removesuffix('d')} {meant} there."


@pytest.mark.parametrize(
    ("old", "says", "fix"),
    [
        ("        aie.use_lock(%xfull, AcquireGreaterEqual, 1)", IN_FULL, f"Let {CORE} acquire 1 there."),
        ("        aie.use_lock(%yfull, Release, 1)", OUT_FULL, f"Let {CORE} release 1 there."),
        ("\n      aie.use_lock(%xfree, AcquireGreaterEqual, 1)", IN_FREE, f"Let {COMES} acquire 1 there."),
    ],
)
def test_units_that_are_more_than_those_of_the_partner(tmp_path: Path, old: str, says: str, fix: str) -> None:
    text = changed(old, old.replace("1)", "2)"))
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert f": {says} is " in finding.message
        assert "d by 2, more than " in finding.message
        assert finding.fix == fix


def test_a_count_of_which_no_run_says_who_waits_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = "        aie.use_lock(%xfull, AcquireGreaterEqual, 1)"
    monkeypatch.setattr("memtile.check.check.hangs", lambda _: (Hang(), "what it does hangs on data", None))
    once = changed("%turns = arith.constant 4", "%turns = arith.constant 1")
    (found,) = of_check(tmp_path, changed(old, old.replace("1)", "2)"), of=once))
    assert (found.severity, found.fix) == (Severity.WARNING, f"Let {CORE} acquire 1 there.")


@pytest.mark.parametrize(
    ("name", "old", "new", "right"),
    [("x_free", 1, 0, 1), ("x_free", 1, 2, 1), ("x_full", 0, 1, 0), ("y_free", 1, 0, 1), ("y_full", 0, 1, 0)],
)
def test_a_value_at_the_start_is_named_with_its_line(
    tmp_path: Path, name: str, old: int, new: int, right: int
) -> None:
    at = f'init = {old} : i32, sym_name = "{name}"'
    text = changed(at, at.replace(f"= {old} :", f"= {new} :"))
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert finding.code == "MT0122"
        assert (
            f" '{name}' of tile (0, 2), line {line_of(text, at[10:])}, starts at {new}, " in finding.message
        )
        assert finding.fix.endswith(f"of tile (0, 2) to {right}.")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("%xfree, Release, 1", "%yfree, Release, 1", f"{OUT_FREE} is released instead of {IN_FREE}; "),
        ("%xfree, Release, 1", "%yfull, Release, 1", f"{OUT_FULL} is released instead of {IN_FREE}; "),
        ("%xfree, Release, 1", "%xfree, Release, 2", f"{IN_FREE} is released by 2, more than {IN_FULL} is "),
        ("%yfree, AcquireG", "%xfree, AcquireG", f"{IN_FREE} is acquired instead of {OUT_FREE}; "),
    ],
)
@pytest.mark.parametrize("turn", [0, 1])
def test_the_turn_that_differs_from_the_other_is_the_one_that_is_named(
    tmp_path: Path, right: str, wrong: str, says: str, turn: int
) -> None:
    first, end = FINE.index(TURN), "        aie.use_lock(%yfull, Release, 1)\n"
    body = FINE[first : FINE.index(end) + len(end)]
    again = body.replace("%i ", "%j ").replace("[%i]", "[%j]").replace("%v", "%w")
    twice = FINE.replace(body, body + again).replace("constant 4 : index", "constant 2 : index")
    assert of_check(tmp_path, twice) == []
    other = (body.replace(right, wrong) + again, body + again.replace(right, wrong))[turn]
    text = FINE.replace(body, other).replace("constant 4 : index", "constant 2 : index")
    (finding,) = of_check(tmp_path, text)
    line = line_of(text, other) + (body * turn + body[: body.index(right)]).count("\n")
    assert finding.message.startswith(f"{CORE}, line {line}: {says}")


def test_a_lock_that_a_host_sequence_uses_too_is_left_alone(tmp_path: Path) -> None:
    write = "      aiex.set_lock(%xfree, 1)\n      aiex.npu.dma_wait {symbol = @out}\n"
    text = changed("        aie.use_lock(%xfree, Release, 1)\n", "\n")
    text = changed("      aiex.npu.dma_wait {symbol = @out}\n", write, of=text)
    assert "MT0122" not in {finding.code for finding in of_check(tmp_path, text)}


@pytest.mark.parametrize(
    "way",
    [
        "aie.connect<South : 5, TileControl : 0>",
        """%a = aie.amsel<0> (0)
        %m = aie.masterset(TileControl : 0, %a)
        aie.packet_rules(South : 5) {
          aie.rule(31, 1, %a)
        }""",
    ],
    ids=["circuit", "packets"],
)
def test_a_lock_that_packets_of_a_switch_may_write_is_left_alone(tmp_path: Path, way: str) -> None:
    text = changed("        aie.use_lock(%xfree, Release, 1)\n", "\n")
    assert "MT0122" in {finding.code for finding in of_check(tmp_path, text)}
    switch = f"    %switch = aie.switchbox(%TILE) {{\n        {way}\n    }}\n"
    (tile,) = re.findall(r"(%\w+) = aie.tile\(0, 2\)\n", text)
    line = f"    {tile} = aie.tile(0, 2)\n"
    text = changed(line, line + switch.replace("%TILE", tile), of=text)
    assert "MT0122" not in {finding.code for finding in of_check(tmp_path, text)}


@pytest.mark.parametrize("side", ["x", "y"])
def test_a_lock_that_counts_what_nobody_waits_for_is_no_fault(tmp_path: Path, side: str) -> None:
    """A buffer that is filled once: its free places are counted, and nobody needs them."""
    text = changed(f"aie.use_lock(%{side}free, AcquireGreaterEqual, 1)\n", "\n")
    named = f'sym_name = "{side}_free"'
    text = changed(f"init = 1 : i32, {named}", f"init = 0 : i32, {named}", of=text)
    assert "MT0122" not in {finding.code for finding in of_check(tmp_path, text)}


MEMORY = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %x = aie.buffer(%mem) {sym_name = "x"} : memref<16xi32>
    %free = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""


@pytest.mark.parametrize(
    "gone", ["aie.use_lock(%full, Release, 1)", "aie.use_lock(%free, AcquireGreaterEqual, 1)"]
)
def test_a_design_without_cores(tmp_path: Path, gone: str) -> None:
    text = changed(gone, "", of=MEMORY)
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        (finding,) = found
        assert finding.code == "MT0122"
        assert finding.message.startswith("memory(0,1) S2MM 0, line ")


def test_of_two_ways_to_make_pairs_the_one_that_begins_right_is_meant(tmp_path: Path) -> None:
    """The BD that fills x gives y_free: with the values at the start alone y_free and y_full are a pair."""
    text = changed("aie.use_lock(%xfull, Release, 1)", "aie.use_lock(%yfree, Release, 1)")
    (finding,) = of_check(tmp_path, text)
    assert finding.message.startswith(f"{COMES}, line ")
    assert f": {OUT_FREE} is released instead of {IN_FULL}; " in finding.message


def test_an_acquire_that_is_missing_beside_a_lock_of_others(tmp_path: Path) -> None:
    """The core waits twice for a lock that a host gives; neither wait is the one that is missing."""
    lock = '    %go = aie.lock(%tile, 9) {init = 8 : i32, sym_name = "go"}\n'
    text = changed("    aie.flow(%shim, DMA : 0, %tile", f"{lock}    aie.flow(%shim, DMA : 0, %tile")
    twice = "        aie.use_lock(%go, AcquireGreaterEqual, 1)\n"
    text = changed(TURN, f"{twice}{twice}{TURN}", of=text)
    assert of_check(tmp_path, text) == []
    text = changed("        aie.use_lock(%yfree, AcquireGreaterEqual, 1)\n", "\n", of=text)
    (finding,) = of_check(tmp_path, text)
    assert f": {OUT_FREE} is not acquired before the use that " in finding.message


FACTOR = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @factor(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 4 : index
      %ever = arith.constant 4294967295 : index
      scf.for %i = %c0 to %ever step %c1 {
        %f = aie.objectfifo.acquire @factor(Consume, 1) : !aie.objectfifosubview<memref<1xi32>>
        scf.for %j = %c0 to %turns step %c1 {
          %s = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
          aie.objectfifo.release @in(Consume, 1)
        }
        aie.objectfifo.release @factor(Consume, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<256xi32>, %b: memref<4xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {id = 1 : i64, metadata = @factor}
        : memref<4xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 0 : i64, metadata = @in,
        issue_token = true}
        : memref<256xi32>
      aiex.npu.dma_wait {symbol = @in}
    }
  }
}
"""


def test_a_core_that_leaves_objects_and_waits_for_others_is_named_with_them(tmp_path: Path) -> None:
    """Of sixteen objects it takes two for each factor, and waits for a fifth, which nobody sends."""
    assert of_check(tmp_path, FACTOR) == of_run(tmp_path, FACTOR) == []
    two = "%two = arith.constant 2 : index\n      %turns = arith.addi %c0, %two"  # which no text counts
    text = changed("%turns = arith.constant 4", two, of=FACTOR)
    for found, code in ((of_check(tmp_path, text), "MT0108"), (of_run(tmp_path, text), "MT0304")):
        (finding,) = found
        assert finding.code == code
        assert re.match(
            r"core \(0, 2\) leaves \d full objects? of @in and waits in line 14 for a full ", finding.message
        )
        assert finding.message.endswith(", from which its words come, has sent all that it was asked for.")
        assert (
            finding.fix
            == "Let core (0, 2) take all of @in in its turns, or send as many words as are received."
        )


def test_a_reader_that_gives_back_to_each_of_two_writers_is_fine(tmp_path: Path) -> None:
    """Three locks of a buffer are no pair, whatever they begin with."""
    text = (CORPUS / "gather-with-one-lock-pair-fine.mlir").read_text(encoding="utf-8")
    assert of_check(tmp_path, text) == []


PART = """
    ^w{n}:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%box : memref<48xi32>, {at}, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^w{n}
    ^s{n}:
"""
JOIN = """
aie.device(npu2_1col) {{
  %m = aie.tile(0, 1)
  %box = aie.buffer(%m) {{sym_name = "box"}} : memref<48xi32>
  %free = aie.lock(%m, 0) {{init = 3 : i32, sym_name = "free"}}
  %full = aie.lock(%m, 1) {{init = 0 : i32, sym_name = "full"}}
  aie.memtile_dma(%m) {{
{parts}
    %3 = aie.dma_start(MM2S, 0, ^r, ^end)
  ^r:
    aie.use_lock(%full, AcquireGreaterEqual, {takes})
    aie.dma_bd(%box : memref<48xi32>, 0, 48)
    aie.use_lock(%free, Release, {gives})
    aie.next_bd ^r
  ^end:
    aie.end
  }}
}}
"""


@pytest.mark.parametrize(
    ("takes", "gives", "fix"),
    [(2, 3, "MM2S 0 acquire 3 there"), (3, 2, "MM2S 0 release 3 there"), (3, 3, "")],
)
def test_a_channel_takes_and_gives_all_that_others_give_and_take(takes: int, gives: int, fix: str) -> None:
    begin = "    %{n} = aie.dma_start(S2MM, {n}, ^w{n}, ^s{n})" + PART
    parts = "".join(begin.format(n=n, at=16 * n) for n in range(3))
    design = load_still(Text("d.mlir", JOIN.format(parts=parts, takes=takes, gives=gives)))
    found = [each.fix for each in check("d", lambda: of_mlir(design)).findings if each.code == "MT0122"]
    assert [fix in each for each in found] == [True] * bool(fix)


def test_a_bd_that_takes_a_lock_and_gives_none_lacks_its_release(tmp_path: Path) -> None:
    again = """      aie.next_bd ^again
    ^again:
      aie.use_lock(%yfull, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<16xi32>, 0, 16)
      aie.next_bd ^go
    ^end:"""
    (found,) = of_check(tmp_path, changed("      aie.next_bd ^go\n    ^end:", again))
    assert found.fix == f"Let {GOES} release {OUT_FREE} after its last use of the buffer."


COPY = (
    TURN
    + """        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x[%i] : memref<16xi32>
          memref.store %v, %y[%i] : memref<16xi32>
        }
"""
)
TAKE_X, GIVE_Y = (
    "        aie.use_lock(%xfull, AcquireGreaterEqual, 1)\n",
    "        aie.use_lock(%yfull, Release, 1)\n",
)


def test_a_use_before_the_acquire_comes_before_the_words_that_are_wrong(tmp_path: Path) -> None:
    """In a run the data may be there by then: words that were expected are others all the same."""
    turn = COPY.replace(TAKE_X, "") + TAKE_X
    file = tmp_path / "design.mlir"
    file.write_text(changed(COPY, turn))
    text = file.read_text()
    data = np.arange(words(text), dtype=np.int32) + 1
    done = load(file).run(data, max_cycles=20_000)
    assert all(each.code != "MT0105" for each in done.result.findings)
    number = max(done.arrays)
    wrong = done.against({number: done.arrays[number] + 1}).result.findings
    assert wrong[0].code == "MT0105"
    right = done.against({number: done.arrays[number]}).result.findings
    assert all(each.code != "MT0105" for each in right)


@pytest.mark.parametrize(
    ("moved", "behind", "says"),
    [
        (GIVE_Y, False, "'y' is used after the release of lock 3 'y_full' of tile (0, 2) in line 41"),
        (TAKE_X, True, "'x' is used before the acquire of lock 1 'x_full' of tile (0, 2) in line 44"),
    ],
)
def test_a_buffer_that_is_used_outside_its_locks(tmp_path: Path, moved: str, behind: bool, says: str) -> None:
    turn = COPY.replace(moved, "")
    turn = f"{turn}{moved}" if behind else turn.replace("        scf.for %i", f"{moved}        scf.for %i")
    text = changed(COPY, turn, of=FINE if behind else changed(GIVE_Y, ""))
    at = line_of(text, "scf.for %i")
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        assert found[0].message == f"core (0, 2), line {at}: buffer {says}; others may use it by then."
        assert [each.code for each in found if each.severity is Severity.ERROR] == ["MT0105"]


MUTEX = """
aie.device(npu1_1col) {{
  %t = aie.tile(0, 2)
  %sum = aie.buffer(%t) : memref<4xi32> = dense<0>
  %m = aie.lock(%t, 5) {{init = 1 : i32, sym_name = "m"}}
  aie.core(%t) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %many = arith.constant 2 : index
    %zero = arith.constant 0 : i32
    scf.for %i = %c0 to %many step %c1 {{
      aie.use_lock(%m, AcquireGreaterEqual, 1)
      %v = memref.load %sum[%c0] : memref<4xi32>
      %go = arith.cmpi sgt, %v, %zero : i32
      scf.if %go {{
        aie.use_lock(%m, Release, 1)
      }} {other}
    }}
    aie.end
  }}
}}
"""


def test_a_lock_that_stays_held_on_one_way_of_a_branch() -> None:
    said = [
        [each.message for each in load(Text("d.mlir", MUTEX.format(other=other))).run().result.findings]
        for other in ("", "else { aie.use_lock(%m, Release, 1) }")
    ]
    held = "lock 5 'm' of tile (0, 2) is released in line 16, and stays held on the other way of the branch "
    assert said == [[f"core (0, 2), line 12: {held}in line 15."], []]


@pytest.mark.parametrize("second", ["x", "z"])
def test_a_core_that_uses_one_half_of_a_ring_twice(tmp_path: Path, second: str) -> None:
    ring = """      aie.next_bd ^other
    ^other:
      aie.use_lock(%xfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%z : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull, Release, 1)
      aie.next_bd ^come
    ^next:"""
    text = changed("      aie.next_bd ^come\n    ^next:", ring)
    whole = text[text.index(TURN) : text.index("      }\n      aie.end")]
    text = text.replace(
        whole, whole + whole.replace("%x[", f"%{second}[").replace("%i", "%j").replace("%v", "%w")
    )
    text = text.replace(
        "    %xfree =", '    %z = aie.buffer(%tile) {sym_name = "z"} : memref<16xi32>\n    %xfree ='
    )
    text = text.replace("to %turns", "to %c2").replace(
        "%turns =", "%c2 = arith.constant 2 : index\n      %turns ="
    )
    text = text.replace('init = 1 : i32, sym_name = "x_free"', 'init = 2 : i32, sym_name = "x_free"')
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        assert [each.code for each in found] == ["MT0105"] * (second == "x")
        assert [each.fix for each in found] == ["Use buffer 'z' in line 56."] * (second == "x")


def test_a_channel_that_reads_with_the_locks_as_who_writes_has_them_exchanged(tmp_path: Path) -> None:
    go = "aie.use_lock(%yfull, AcquireGreaterEqual, 1)\n      aie.dma_bd(%y : memref<16xi32>, 0, 16)\n      "
    was, new = f"{go}aie.use_lock(%yfree", f"{go}aie.use_lock(%yfull".replace("%yfull, A", "%yfree, A")
    text = changed(was, new)
    for found in (of_check(tmp_path, text), of_run(tmp_path, text)):
        assert [each.code for each in found if each.severity is Severity.ERROR] == ["MT0122"]
        assert found[0].message.startswith(
            f"{GOES}, line 27: it acquires {OUT_FREE} and releases {OUT_FULL}, "
        )
        assert found[0].fix == f"Let {GOES} acquire {OUT_FULL} and release {OUT_FREE}."


def test_a_wait_for_exactly_a_value_acquires_nothing(tmp_path: Path) -> None:
    (found,) = of_check(tmp_path, changed("%xfull, AcquireGreaterEqual", "%xfull, Acquire"))
    assert found.message.startswith(f"core (0, 2), line 39: Acquire waits until {IN_FULL} is exactly a value")
    assert found.fix == "Write AcquireGreaterEqual in line 39."


SPREAD = """
aie.device(npu1_1col) {{
  %m = aie.tile(0, 1)
  %box = aie.buffer(%m) {{sym_name = "box"}} : memref<32xi32>
  %free = aie.lock(%m, 0) {{init = {begins} : i32, sym_name = "free"}}
  %one = aie.lock(%m, 1) {{init = 0 : i32, sym_name = "one"}}
  %two = aie.lock(%m, 2) {{init = 0 : i32, sym_name = "two"}}
  aie.memtile_dma(%m) {{
    %0 = aie.dma_start(S2MM, 0, ^w0, ^s0)
  ^w0:
    aie.use_lock(%free, AcquireGreaterEqual, {takes})
    aie.dma_bd(%box : memref<32xi32>, 0, 16)
    aie.use_lock(%one, Release, 1)
    aie.next_bd ^w1
  ^w1:
    aie.dma_bd(%box : memref<32xi32>, 16, 16)
    aie.use_lock(%two, Release, 1)
    aie.next_bd ^w0
  ^s0:
    %1 = aie.dma_start(MM2S, 0, ^r0, ^s1)
  ^r0:
    aie.use_lock(%one, AcquireGreaterEqual, 1)
    aie.dma_bd(%box : memref<32xi32>, 0, 16)
    aie.use_lock(%free, Release, 1)
    aie.next_bd ^r0
  ^s1:
    %2 = aie.dma_start(MM2S, 1, ^r1, ^end)
  ^r1:
    aie.use_lock(%two, AcquireGreaterEqual, 1)
    aie.dma_bd(%box : memref<32xi32>, 16, 16)
    aie.use_lock(%free, Release, 1)
    aie.next_bd ^r1
  ^end:
    aie.end
  }}
}}
"""
"""A writer that fills a buffer for two readers, each with a lock of its own, which give back the same one."""


def spread(folder: Path, takes: int, begins: int = 2, *once: str) -> list[str]:
    """The advice about the lock; chains whose first block is in ``once`` end after a turn."""
    text = SPREAD.format(takes=takes, begins=begins)
    for block in once:
        text = text.replace(f"aie.next_bd ^{block}\n", "aie.next_bd ^end\n")
    return [each.fix for each in of_check(folder, text) if each.code == "MT0122"]


@pytest.mark.parametrize(("takes", "fix"), [(2, []), (1, ["Let memory(0,1) S2MM 0 acquire 2 there."])])
def test_a_writer_takes_what_all_readers_of_its_data_give_back(
    tmp_path: Path, takes: int, fix: list[str]
) -> None:
    assert spread(tmp_path, takes) == fix


@pytest.mark.parametrize("once", [("r0",), ("r1",), ("r0", "r1"), ("w0",)])
def test_who_has_one_turn_alone_gives_nothing_back_in_the_next(tmp_path: Path, once: tuple[str, ...]) -> None:
    assert spread(tmp_path, 1, 2, *once) == []


@pytest.mark.parametrize(("begins", "has_fix"), [(1, False), (2, True), (3, True)])
def test_no_writer_is_to_take_more_than_its_lock_begins_with(
    tmp_path: Path, begins: int, *, has_fix: bool
) -> None:
    assert spread(tmp_path, 1, begins) == ["Let memory(0,1) S2MM 0 acquire 2 there." if has_fix else ""]
