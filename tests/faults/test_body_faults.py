"""Is what goes wrong in the body of a core told with its operation, interpreted and compiled alike?"""

from __future__ import annotations

import pytest

from memtile import Status
from memtile.errors import MemtileError
from memtile.importers.kernels import segments
from memtile.importers.kernels.quote import variable
from memtile.jit.decorators import ENABLED
from mlir_designs import device, host, loaded

BUFFER = '%m = aie.buffer(%c) {sym_name = "m"} : memref<4x2xi32>\n%k = aie.lock(%c, 0) {sym_name = "k"}\n'
CONSTANTS = (
    "%z = arith.constant 0 : index\n%one = arith.constant 1 : index\n%four = arith.constant 4 : index\n"
    "%n = arith.constant -1 : index\n%far = arith.constant 4000000000000 : index\n"
    "%i = arith.constant 7 : i32\n%o = arith.constant 0 : i32\n%f = arith.constant 1.0 : f32\n"
    "%g = arith.constant 0.0 : f32\n%t = arith.constant true\n"
)
LOOP = "scf.for %x = %z to %four step %one {{\n{}\nscf.yield\n}}"
ENDLESS = "scf.while : () -> () { scf.condition(%t) } do { scf.yield }"


def body(*lines: str) -> str:
    """A design whose core does some operations."""
    inside = "\n".join([CONSTANTS, *lines, "aie.end"])
    return device(BUFFER.replace("%m", "%mm"), f"%core = aie.core(%c) {{\n{inside}\n}}", host())


def refused(text: str) -> str:
    """Message of the error of a design when it is loaded, or when it runs."""
    with pytest.raises(MemtileError) as caught:
        loaded(text).run(max_cycles=1000)
    return caught.value.problems[0].message


STORE = "memref.store %i, %mm[{}] : memref<4x2xi32>"
RUN = [
    (STORE.format("%four, %z"), "memref.store: index 4 is outside of 4 elements"),
    (STORE.format("%z, %n"), "memref.store: index -1 is outside of 2 elements"),
    ("%v = memref.load %mm[%z, %four] : memref<4x2xi32>", "memref.load: index 4 is outside of 2 elements"),
    ("%v = arith.divsi %i, %o : i32", "arith.divsi: 7 is divided by zero"),
    ("%v = arith.remui %i, %o : i32", "arith.remui: 7 is divided by zero"),
    ("%j = arith.constant 32 : i32\n%v = arith.shli %i, %j : i32", "arith.shli: it shifts by 32"),
    (
        "%q = arith.divf %f, %g : f32\n%v = arith.fptosi %q : f32 to i32",
        "arith.fptosi: a number that is infinite",
    ),
    ("scf.for %y = %z to %four step %z { scf.yield }", "scf.for: its step is 0"),
    (
        "%s = memref.subview %mm[%four, 0] [1, 2] [1, 1] : memref<4x2xi32> to memref<1x2xi32>",
        "memref.subview: index 4 is outside of 4 elements",
    ),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("line", "says"), RUN)
def test_what_fails_in_a_run_names_its_operation(line: str, says: str) -> None:
    assert says in refused(body(LOOP.format(line)))


@pytest.mark.slow
@pytest.mark.skipif(not ENABLED, reason="nothing is compiled with MEMTILE_JIT=0")
@pytest.mark.parametrize(("line", "says"), RUN)
def test_it_does_so_in_compiled_code(line: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "COMPILED_FROM", 0)
    assert says in refused(body(LOOP.format(line)))


@pytest.mark.slow
@pytest.mark.skipif(not ENABLED, reason="nothing is compiled with MEMTILE_JIT=0")
@pytest.mark.parametrize("loop", [ENDLESS, "scf.for %y = %z to %far step %one { scf.yield }"])
def test_loops_without_end_end_in_compiled_code(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "COMPILED_FROM", 0)
    assert "cycles pass in it without an end" in refused(body(loop))


@pytest.mark.parametrize("loop", [ENDLESS, "scf.for %y = %z to %far step %one { scf.yield }"])
def test_loops_without_end_end(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """DEV-BODY-2, with a limit that is sooner reached."""
    from memtile.importers.kernels import arithmetic

    monkeypatch.setitem(arithmetic.NAMES, "MOST_CYCLES", 5000)
    monkeypatch.setattr(segments, "COMPILED_FROM", 1 << 60)
    assert "cycles pass in it without an end" in refused(body(loop))


def test_a_loop_that_waits_for_nothing_is_stopped_by_the_limit_of_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from memtile.importers.kernels import arithmetic

    monkeypatch.setitem(arithmetic.NAMES, "MOST_CYCLES", 5000)
    inside = "aie.use_lock(%k, Acquire, 1) {acq_en = false}\nscf.yield"
    done = loaded(body(f"scf.for %y = %z to %far step %one {{\n{inside}\n}}")).run(max_cycles=1000)
    assert done.result.status is Status.LIMIT


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (STORE.format("%z"), "it has 1 indices for 2 dimensions"),
        (STORE.format("%z, %mm"), "%mm is memory"),
        (STORE.format("%z, exit"), "exit is no index"),
        ("%v = arith.addi %mm, %i : i32", "%mm is memory"),
        ("%v = arith.addi %i : i32", "it has 1 operand"),
        ("%v = arith.cmpi foo, %i, %i : i32", "the predicate foo is not known"),
        ("aie.use_lock(%k, Hold, 1)", "Hold is no action of a lock"),
        ("aie.use_lock(%mm, Release, 1)", "%mm is no lock of the device"),
        ("aie.use_lock(%k, Release, exit)", "exit is no constant"),
        (
            "%s = aie.objectfifo.acquire @f(Consume, 1) : !aie.objectfifosubview<memref<2xi32>>",
            "no object FIFO",
        ),
        ("%a = memref.alloc() : memref<1000000000xi32>", "it has 4000000000 bytes"),
        ("scf.while : () -> () { scf.yield } do { scf.yield }", "does not end in a condition"),
        (
            "%r = memref.collapse_shape %mm [[0, 1]] : memref<4x2xi32> into memref<9xi32>",
            "8 elements become 9",
        ),
    ],
)
def test_what_is_wrong_in_a_body_is_told_when_it_is_read(lines: str, says: str) -> None:
    with pytest.raises(MemtileError) as caught:
        loaded(body(lines))
    assert says in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("cf.br %z\n^bb1:\naie.end", "cf.br: it names 0 blocks where it must name 1"),
        ("cf.br ^bb1\n^bb1:\ncf.cond_br %b, ^bb1\n^bb2:\naie.end", "it names 1 blocks where it must name 2"),
        ("cf.switch %i : i32, [\n]\n^bb1:\naie.end", "cf.switch: it names 0 blocks"),
        ("cf.br ^bb1\n^bb1:\n^bb2:\naie.end", "block ^bb1 has no operation that ends it"),
        ("cf.br ^bb1\n^bb1:\ncf.br ^bb1\n^bb1:\naie.end", "it is in the second block with the label ^bb1"),
        (
            "cf.br ^bb1\n^bb1:\n%v = arith.addi %i, %i : i32\n^bb2:\naie.end",
            "of block ^bb1 and does not end it",
        ),
    ],
)
def test_blocks_that_nothing_ends_are_told(lines: str, says: str) -> None:
    text = body(f"%b = arith.constant true\n{lines}").replace("aie.end\naie.end", "aie.end")
    with pytest.raises(MemtileError) as caught:
        loaded(text)
    assert says in caught.value.problems[0].message


def test_functions_that_call_themselves_are_told() -> None:
    function = "func.func @f() {\nfunc.call @f() : () -> ()\nreturn\n}"
    with pytest.raises(MemtileError, match="f calls itself"):
        loaded(device(function, "%core = aie.core(%c) {\nfunc.call @f() : () -> ()\naie.end\n}"))


def test_values_have_names_of_their_own() -> None:
    names = ["%a", "%a_b", "%a.b", "%a$b", "%a-b", "%0#1", "%0_1", "%class", "%print", "%a__b"]
    found = [variable(name).id for name in names]
    assert len(set(found)) == len(names)
    assert all(name.isidentifier() for name in found)


def test_values_whose_names_differ_in_a_dot_differ() -> None:
    lines = "%a.b = arith.constant 1 : i32\n%a_b = arith.constant 2 : i32\n"
    design = loaded(body(f"{lines}memref.store %a.b, %mm[%z, %z] : memref<4x2xi32>"))
    design.run(max_cycles=1000)
    assert design.array.compute_tile(0, 2).load(design.configured.buffers["%mm"])[0, 0] == 1
