"""Is it said with which numbers of its host a design hangs, and never more than its runs show?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import memtile
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.conditions import Outcome, Scalar, condition, outcome_of
from memtile.explain.findings import End, Finding, Severity
from memtile.explain.repairs import spent
from memtile.explain.results import Status
from memtile.importers.design import load_still
from memtile.importers.mlir.runtime_scalars import RuntimeScalar, runtime_scalars
from memtile.importers.mlir.token_packets import Text
from memtile.importers.scalar_conditions import ScalarConditions
from memtile.runs.options import RunOptions
from memtile.runs.program import Run

_FIFO = "!aie.objectfifo<memref<4xi32>>"
_TAKE = """%i = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<4xi32>>
      aie.objectfifo.release @in(Consume, 1)"""
_BY_WORD = f"""%w = memref.load %rtp[%c0] : memref<16xi32>
      %n = arith.index_cast %w : i32 to index
      scf.for %k = %c0 to %n step %c1 {{
      {_TAKE}
      }}"""
_SUM = "%m = arith.addi %n, %c1 : index\n"
_WRITE = """%v = arith.constant 2 : i32
      aiex.npu.rtp_write(@rtp, 0, %v) : i32"""


def _text(body: str = _BY_WORD, host: str = _WRITE, length: str = "16", number: str = "") -> str:
    """A core that takes objects of four words and gives one; its host sends some and waits for that one."""
    return f"""module {{
  aie.device(npu1_1col) {{
    %t = aie.tile(0, 0)
    %c = aie.tile(0, 2)
    aie.objectfifo @in(%t, {{%c}}, 2 : i32) : {_FIFO}
    aie.objectfifo @out(%c, {{%t}}, 2 : i32) : {_FIFO}
    %rtp = aie.buffer(%c) {{sym_name = "rtp"}} : memref<16xi32>
    %core = aie.core(%c) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %o = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<4xi32>>
      {_TAKE.replace("%i", "%first")}
      {body}
      aie.objectfifo.release @out(Produce, 1)
      aie.end
    }}
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<4xi32>{number}) {{
      {host}
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, {length}][0, 0, 0, 1])
        {{id = 0 : i64, metadata = @in}} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1])
        {{id = 1 : i64, metadata = @out}} : memref<4xi32>
      aiex.npu.dma_wait {{symbol = @out}}
    }}
  }}
}}
"""


def _numbers(tmp_path: Path, text: str) -> list[RuntimeScalar]:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    still = load_still(file)
    return runtime_scalars(still.configured, still.sequence, {}, {})


def _asked(scalar: Scalar, border: int, *, alike: bool) -> tuple[Finding | None, list[int]]:
    """The condition of a design that hangs beyond a border, and the values that were asked for."""
    asked = []

    def attempt(value: int) -> Outcome:
        asked.append(value)
        if value > border:
            return Outcome(End.HANGS, "stuck" if alike else value, "MT0304")
        return Outcome(End.FINISHES, value)

    return condition(scalar, attempt, lambda: False), asked


def test_the_border_is_found_and_only_what_was_run_is_said() -> None:
    scalar = Scalar("%n", "a.mlir:3:5", -(1 << 31), (1 << 31) - 1, 2)
    found, asked = _asked(scalar, 6, alike=True)
    assert found is not None
    assert found.condition is not None
    spans = [(each.first, each.last, each.end, each.proved) for each in found.condition.spans]
    assert spans == [(0, 6, "finishes", False), (7, 8, "hangs", False)]
    assert sorted(asked) == list(range(9)) == list(found.condition.tried)
    assert "it hangs for 7 to 8 and finishes for 0 to 6. Each of these values was run" in found.message
    assert found.fix.startswith("Give %n 0 to 6")


@pytest.mark.parametrize(
    ("more", "alike", "said"),
    [
        ({"ordered": True, "open_from": 1, "given": 4}, True, "hangs or is refused if %n > 6 and"),
        ({"ordered": True, "open_from": 1, "far": True}, True, "hangs if %n > 6 and finishes for"),
        ({"ordered": True, "open_from": 1, "far": True}, False, "hangs for 7 to 9 and finishes for"),
        ({"ordered": True, "open_from": 9, "far": True}, True, "hangs for 7 to 9 and finishes for"),
        ({"ordered": True, "open_from": 1, "stride": 3}, False, "hangs for 7 to 11 and finishes for"),
        ({"ordered": True, "open_from": 1}, True, "hangs or is refused if %n > 6 and finishes for"),
        ({"ordered": True, "far": True}, True, "hangs if %n > 6 and finishes for"),  # the greatest was run
        ({"given": 100}, True, "hangs for 7 to 12, 25, 50, 99 to 101, 200"),
        ({"ordered": False, "open_from": 1, "far": True}, True, "hangs for 7 to 8 and finishes for"),
    ],
    ids=["argument", "alike", "differ", "later", "far apart", "bounded", "limited", "gaps", "unordered"],
)
def test_all_greater_values_are_said_only_with_their_proof(
    more: dict[str, object], alike: bool, said: str
) -> None:
    scalar = replace(Scalar("%n", "a.mlir:3:5", -9, (1 << 31) - 1, 2), **more)  # type: ignore[arg-type]
    found, _ = _asked(scalar, 6, alike=alike)
    assert found is not None
    assert said in found.message


def test_a_number_without_a_hang_is_no_condition() -> None:
    scalar = Scalar("%n", "a.mlir:3:5", 0, 1 << 20, 4)
    found, asked = _asked(scalar, 1 << 30, alike=True)
    assert found is None
    assert len(asked) < 12


def test_a_word_that_bounds_a_loop_is_found(tmp_path: Path) -> None:
    (found,) = _numbers(tmp_path, _text())
    scalar = found.scalar
    assert (scalar.name, scalar.given, scalar.ordered, scalar.open_from, scalar.stride) == (
        "rtp[0]",
        2,
        True,
        1,
        1,
    )
    assert scalar.place.endswith("design.mlir:25:7")


@pytest.mark.parametrize(
    ("body", "ordered"),
    [
        (_BY_WORD.replace("%n step", "%m step").replace("scf.for", f"{_SUM} scf.for"), True),
        (_BY_WORD.replace("%c0 to %n", "%n to %c1"), False),  # where it begins
        (_BY_WORD.replace("arith.index_cast %w : i32 to", "arith.index_castui %w : i32 to"), False),
        (_BY_WORD.replace(_TAKE, ""), False),  # turns that nobody sees
        (f"%w = memref.load %rtp[%c0] : memref<16xi32>\n %z = arith.constant 3 : i32\n"
         f" %q = arith.cmpi sgt, %w, %z : i32\n scf.if %q {{\n {_TAKE}\n }}", True),
        (f"%w = memref.load %rtp[%c0] : memref<16xi32>\n %z = arith.constant 3 : i32\n"
         f" %q = arith.cmpi eq, %w, %z : i32\n scf.if %q {{\n {_TAKE}\n }}", False),
    ],
)  # fmt: skip
def test_only_comparisons_by_order_prove_values_in_between(tmp_path: Path, body: str, ordered: bool) -> None:
    (found,) = _numbers(tmp_path, _text(body))
    assert found.scalar.ordered is ordered


@pytest.mark.parametrize(
    ("write", "kept"),
    [(_WRITE, "rtp_write(@rtp, 0, %"), ("aiex.npu.rtp_write(@rtp, 0, 2)", "rtp_write(@rtp, 0, 7)")],
)
def test_a_word_is_written_as_its_text_has_it(tmp_path: Path, write: str, kept: str) -> None:
    """A value stays one, which others may use too; a number stays a number."""
    text = _text(host=write)
    (number,) = _numbers(tmp_path, text)
    assert (number.scalar.name, number.scalar.given) == ("rtp[0]", 2)
    made = number.written(Text("design.mlir", text), 7).content
    assert kept in made
    (again,) = _numbers(tmp_path, made)
    assert again.scalar.given == 7


@pytest.mark.parametrize(
    ("status", "codes", "end"),
    [
        (Status.FINISHED, (), End.FINISHES),
        (Status.FINISHED, ("MT0201",), End.WRONG),
        (Status.STUCK, (), End.HANGS),
        (Status.HALTED, (), End.WRONG),
        (Status.LIMIT, (), End.OPEN),
        (Status.INTERRUPTED, ("MT0201",), End.OPEN),
    ],
)
def test_what_a_run_shows_of_a_value(status: Status, codes: tuple[str, ...], end: End) -> None:
    """A run that was cut off says nothing, and is compared with none."""
    tile = memtile.MemoryTile()
    tile.run(10)
    warned = Finding("MT0202", Severity.WARNING, "a warning", ())
    findings = (warned, *(Finding(code, Severity.ERROR, "wrong", ()) for code in codes))
    result = replace(tile.run(10), status=status, findings=findings)
    found = outcome_of(result)
    assert found.end is end
    assert (found.acts is None) == (status in (Status.HALTED, Status.LIMIT, Status.INTERRUPTED))
    assert found.says.startswith("MT0201, ") == bool(codes)


def test_a_word_that_only_is_data_decides_nothing(tmp_path: Path) -> None:
    body = "%w = memref.load %rtp[%c0] : memref<16xi32>\n memref.store %w, %rtp[%c1] : memref<16xi32>"
    assert _numbers(tmp_path, _text(body)) == []


@pytest.mark.parametrize(("inner", "ordered"), [("16", True), ("%n", False)])
def test_a_length_is_a_count_as_the_outermost_size(tmp_path: Path, inner: str, ordered: bool) -> None:
    text = _text("", "", "LENGTH", ", %n: i32")
    text = text.replace("[1, 1, 1, LENGTH][0, 0, 0, 1]", f"[1, 1, %n, {inner}][0, 0, 16, 1]")
    (found,) = _numbers(tmp_path, text)
    assert (found.scalar.name, found.argument, found.scalar.ordered) == ("%n", 2, ordered)


@pytest.mark.parametrize(
    ("kind", "ends"), [("i1", (0, 1)), ("i8", (-127, 127)), ("ui32", (0, (1 << 31) - 1)), ("f32", None)]
)
def test_a_number_has_the_values_of_its_type(tmp_path: Path, kind: str, ends: tuple[int, int] | None) -> None:
    found = _numbers(
        tmp_path, _text(host=f"aiex.npu.rtp_write(@rtp, 0, %n) : {kind}", number=f", %n: {kind}")
    )
    assert [(each.scalar.low, each.scalar.high) for each in found] == ([ends] if ends else [])


def test_the_runs_of_two_values_that_hang_are_one(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(_text())
    design = memtile.load(file)
    tries = ScalarConditions(design, lambda made, how: made.run(options=how), {})
    (number,) = runtime_scalars(design.configured, design.sequence, {}, {})
    ends = [tries.outcome(number, value) for value in (3, 4, 9)]
    assert [each.end for each in ends] == [End.FINISHES, End.HANGS, End.HANGS]
    assert ends[1].acts == ends[2].acts != ends[0].acts


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(_text())

    def endless(_made: object, how: RunOptions) -> Run:
        began = spent()
        assert how.progress is not None
        while spent() - began < 3:
            how.progress(0)
        pytest.fail("the run was not ended")

    assert ScalarConditions(memtile.load(file), endless, {}).search(seconds=0.1) == []


def test_an_argument_gets_its_value_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "design.mlir"
    text = _text("", "", "LENGTH", ", %n: i32")
    file.write_text(text.replace("[1, 1, 1, LENGTH][0, 0, 0, 1]", "[1, 1, %n, 4][0, 0, 4, 1]"))
    design = memtile.load(file, parameters={"n": 2})
    assert {(use.first, use.end) for use in design.uses({}) if use.argument == 0} == {(0, 32)}
    assert {(use.first, use.end) for use in design.uses({2: 1}) if use.argument == 0} == {(0, 16)}
    with pytest.raises(memtile.MemtileError, match="no parameter m"):
        load_still(file, parameters={"m": 2})


@pytest.mark.parametrize("kind", ["i32", "i1"])
def test_what_is_so_with_a_few_numbers_is_a_warning_before_a_run(kind: str) -> None:
    text = _text("", "scf.if %go {", "4", f", %go: {kind}").replace(
        "      aiex.npu.dma_wait", "}\n aiex.npu.dma_wait"
    )
    if kind != "i1":
        text = text.replace(
            "scf.if %go {", "%k = arith.constant 1 : i32\n%is = arith.cmpi sge, %go, %k : i32\nscf.if %is {"
        )

    def found(text: str) -> list[Finding]:
        return list(check("d.mlir", lambda: of_mlir(load_still(Text("d.mlir", text)))).findings)

    assert found(text) == []
    (said,) = found(text.replace("%a[0, 0, 0, 0][1, 1, 1, 4]", "%a[0, 0, 0, 0][1, 1, 1, 2]"))
    assert (said.severity, said.message.count("2, 3 and 4 for each number of the host")) == (
        Severity.WARNING,
        1,
    )
    (refused,) = found(text.replace("symbol = @out", "symbol = @in"))
    assert refused.severity is Severity.WARNING
