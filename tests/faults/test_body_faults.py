"""Is what goes wrong in the body of a core told with its operation, interpreted and compiled alike?"""

from __future__ import annotations

from itertools import pairwise

import pytest

from memtile import Status
from memtile.errors import MemtileError
from memtile.importers.kernels import body_segments
from memtile.importers.kernels.quote import variable
from memtile.jit.decorators import ENABLED
from memtile.limits import VARIABLE
from support.mlir.mlir_designs import device, host, loaded

BUFFER = '%m = aie.buffer(%c) {sym_name = "m"} : memref<4x2xi32>\n%k = aie.lock(%c, 0) {sym_name = "k"}\n'
CONSTANTS = (
    "%z = arith.constant 0 : index\n%one = arith.constant 1 : index\n%four = arith.constant 4 : index\n"
    "%n = arith.constant -1 : index\n%far = arith.constant 4000000000000 : index\n"
    "%i = arith.constant 7 : i32\n%o = arith.constant 0 : i32\n%f = arith.constant 1.0 : f32\n"
    "%g = arith.constant 0.0 : f32\n%t = arith.constant true\n%big = arith.constant 2147483647 : i32\n"
    "%low = arith.constant -2147483648 : i32\n%m1 = arith.constant -1 : i32\n"
    "%w = arith.constant 4294967296 : i64\n%far32 = arith.constant 70000 : index\n"
    "%k256 = arith.constant 256 : index\n"
)
LOOP = "scf.for %x = %z to %four step %one {{\n{}\nscf.yield\n}}"
WORK = "memref.store %i, %mm[%z, %z] : memref<4x2xi32>"
ENDLESS = f"scf.while : () -> () {{ scf.condition(%t) }} do {{ {WORK}\nscf.yield }}"
POLL = """scf.while : () -> () {
  %read = memref.load %mm[%one, %z] : memref<4x2xi32>
  %same = arith.cmpi eq, %read, %o : i32
  scf.condition(%same)
} do {
  scf.yield
}"""
FAR = f"scf.for %y = %z to %far step %one {{ {WORK}\nscf.yield }}"


def body(*lines: str) -> str:
    """A design whose core does some operations."""
    inside = "\n".join([CONSTANTS, *lines, "aie.end"])
    return device(BUFFER.replace("%m", "%mm"), f"%core = aie.core(%c) {{\n{inside}\n}}", host())


def refused(text: str) -> str:
    """Message of the error of a design when it is loaded, or when it runs."""
    with pytest.raises(MemtileError) as caught:
        loaded(text).run(max_cycles=1000)
    return caught.value.problems[0].message


VECTOR = "%v = arith.constant dense<5> : vector<4xi32>\n"
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
    # what MLIR leaves undefined: DEV-BODY-3
    ("%v = arith.addi %big, %i overflow<nsw> : i32", "arith.addi: a result of 2147483647 and another"),
    ("%v = arith.subi %low, %i overflow<nsw> : i32", "arith.subi: a result of -2147483648 and another"),
    ("%v = arith.muli %big, %i overflow<nsw, nuw> : i32", "arith.muli: a result of 2147483647 and another"),
    ("%v = arith.shli %big, %i overflow<nsw> : i32", "arith.shli: a result of 2147483647 and another"),
    ("%v = arith.addi %m1, %i overflow<nuw> : i32", "arith.addi: a result of -1 and another"),
    ("%v = arith.subi %i, %m1 overflow<nuw> : i32", "arith.subi: a result of 7 and another"),
    ("%v = arith.muli %m1, %i overflow<nuw> : i32", "arith.muli: a result of -1 and another"),
    ("%v = arith.muli %w, %w overflow<nsw> : i64", "arith.muli: a result of 4294967296 and another"),
    ("%v = arith.muli %w, %w overflow<nuw> : i64", "arith.muli: a result of 4294967296 and another"),
    (
        '%v = "arith.addi"(%big, %i) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32',
        "of 2147483647",
    ),
    (
        "%v = arith.divsi %low, %m1 : i32",
        "arith.divsi: the quotient of -2147483648 and -1 does not fit 32 bits",
    ),
    (
        "%v = arith.remsi %low, %m1 : i32",
        "arith.remsi: the quotient of -2147483648 and -1 does not fit 32 bits",
    ),
    (
        "%v = arith.floordivsi %low, %m1 : i32",
        "arith.floordivsi: the quotient of -2147483648 and -1 does not fit 32 bits",
    ),
    ("%j = arith.constant 32 : index\n%v = arith.shli %x, %j : index", "arith.shli: it shifts by 32"),
    ("%v = affine.apply affine_map<(d0, d1) -> (d0 mod d1)>(%x, %z)", "an index is divided by 0"),
    ("%v = affine.apply affine_map<(d0, d1) -> (d0 floordiv d1)>(%x, %n)", "an index is divided by -1"),
    # indices that no plain dimension is, or that only the run knows
    ("%v = affine.load %mm[%x * 2, 0] : memref<4x2xi32>", "affine.load: index 4 is outside of 4 elements"),
    ("%v = affine.load %mm[%x - 1, 0] : memref<4x2xi32>", "affine.load: index -1 is outside of 4 elements"),
    (
        "%v = memref.atomic_rmw addi %i, %mm[%four, %z] : (i32, memref<4x2xi32>) -> i32",
        "memref.atomic_rmw: index 4 is outside of 4 elements",
    ),
    ("%v = memref.dim %mm, %four : memref<4x2xi32>", "memref.dim: index 4 is outside of 2 elements"),
    (
        "%p = memref.subview %mm[%n, 0] [1, 2] [1, 1] : memref<4x2xi32> to memref<1x2xi32>",
        "memref.subview: index -1 is outside of 4 elements",
    ),
    (
        "%p = memref.subview %mm[0, 0] [%four, 2] [%four, 1] : memref<4x2xi32> to memref<?x2xi32>",
        "memref.subview: index 12 is outside of 4 elements",
    ),
    (
        "%p = memref.subview %mm[0, 0] [%n, 2] [1, 1] : memref<4x2xi32> to memref<?x2xi32>",
        "memref.subview: index -1 is outside of 4 elements",
    ),
    (
        "%p = memref.subview %mm[%x, 0] [2, 2] [1, 1] : memref<4x2xi32> to memref<2x2xi32>\n"
        "%v = memref.load %p[%x, %z] : memref<2x2xi32>",
        "memref.load: index 2 is outside of 2 elements",
    ),
    (
        "%p = memref.reinterpret_cast %mm to offset: [%four], sizes: [5], strides: [1] : memref<4x2xi32> to "
        "memref<5xi32>",
        "memref.reinterpret_cast: index 8 is outside of 8 elements",
    ),
    (
        "%p = memref.reinterpret_cast %mm to offset: [0], sizes: [%four], strides: [3] : memref<4x2xi32> to "
        "memref<?xi32>",
        "memref.reinterpret_cast: index 9 is outside of 8 elements",
    ),
    ("%a = memref.alloc(%far32) : memref<?xi32>", "memref.alloc: index 70000 is outside of 65537 elements"),
    (
        "%a = memref.alloc(%k256, %k256) : memref<?x?xi32>",
        "memref.alloc: index 262144 is outside of 65537 elements",
    ),
    (
        "%a = memref.alloc(%four) : memref<?xi8>\n"
        "%p = memref.view %a[%z][%four] : memref<?xi8> to memref<?xi32>",
        "memref.view: index 15 is outside of 4 elements",
    ),
    (
        "%a = memref.alloc(%four) : memref<?xi32>\n"
        "%p = memref.expand_shape %a [[0, 1]] output_shape [%x, 3] : memref<?xi32> into memref<?x3xi32>",
        "memref.expand_shape: 4 elements get a shape of 3",
    ),
    (VECTOR + "%y = vector.extract %v[%four] : i32 from vector<4xi32>", "index 4 is outside of 4 elements"),
    (VECTOR + "%y = vector.insert %i, %v[%n] : i32 into vector<4xi32>", "index -1 is outside of 4 elements"),
    (
        VECTOR + "%t4 = arith.constant dense<true> : vector<4xi1>\n"
        "vector.maskedstore %mm[%z, %z], %t4, %v : memref<4x2xi32>, vector<4xi1>, vector<4xi32>",
        "vector.maskedstore: index 2 is outside of 2 elements",
    ),
    (
        "linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> "
        '(d0 + d1, d1)>], iterator_types = ["parallel", "parallel"]} ins(%mm : memref<4x2xi32>) '
        "outs(%mm : memref<4x2xi32>) "
        "{ ^bb0(%p: i32, %q: i32): linalg.yield %p : i32 }",
        "linalg.generic: index 4 is outside of 4 elements",
    ),
    (
        "%p = memref.subview %mm[%four, 0] [1, 2] [1, 1] : memref<4x2xi32> to memref<1x2xi32>",
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
    monkeypatch.setattr(body_segments, "COMPILED_FROM", 0)
    assert says in refused(body(LOOP.format(line)))


@pytest.mark.slow
@pytest.mark.skipif(not ENABLED, reason="nothing is compiled with MEMTILE_JIT=0")
@pytest.mark.parametrize("loop", [ENDLESS, FAR])
def test_loops_without_end_end_in_compiled_code(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_segments, "COMPILED_FROM", 0)
    assert "cycles pass in it without an end" in refused(body(loop))


@pytest.mark.parametrize("loop", [ENDLESS, FAR, POLL.replace("scf.yield", f"{WORK}\nscf.yield")])
def test_loops_without_end_end(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """DEV-BODY-2, with a limit that is sooner reached."""
    from memtile.importers.kernels import arithmetic

    monkeypatch.setitem(arithmetic.NAMES, "MOST_CYCLES", 5000)
    monkeypatch.setattr(body_segments, "COMPILED_FROM", 1 << 60)
    assert "cycles pass in it without an end" in refused(body(loop))


@pytest.mark.parametrize(
    "loop",
    [
        "scf.while : () -> () { scf.condition(%t) } do { scf.yield }",
        "scf.for %y = %z to %far step %one { scf.yield }",
        "scf.for %y = %z to %far step %one { scf.for %x = %z to %four step %one { } }",
        "scf.if %t { scf.for %y = %z to %far step %one { } }",
        "%r = scf.for %y = %z to %far step %one iter_args(%x = %i) -> (i32) { scf.yield %x : i32 }",
        '"scf.for"(%z, %far, %one) ({\n^bb0(%y: index):\n"scf.yield"() : () -> ()\n}) '
        ": (index, index, index) -> ()",
    ],
)
def test_a_loop_without_end_that_does_nothing_is_rest(loop: str) -> None:
    """As IRON prints ``for _ in range_(sys.maxsize): pass``: the core costs nothing (DEV-BODY-4)."""
    design = loaded(body(loop, WORK))
    assert design.run(max_cycles=1000).result.status is Status.FINISHED
    tile, buffer = design.configured.tiles["%c"], design.configured.buffers["%mm"]
    assert not tile.load(buffer).any()  # what is behind the loop is never done


def test_a_loop_that_does_nothing_and_ends_is_no_rest() -> None:
    design = loaded(body("scf.for %y = %z to %four step %one { }", WORK))
    assert design.run(max_cycles=1000).result.status is Status.FINISHED
    tile, buffer = design.configured.tiles["%c"], design.configured.buffers["%mm"]
    assert tile.load(buffer).any()


def test_blocks_that_only_lead_to_each_other_are_rest() -> None:
    design = loaded(body("cf.br ^one\n^one:\ncf.br ^two\n^two:\ncf.br ^one\n^three:"))
    assert design.run(max_cycles=1000).result.status is Status.FINISHED


def test_a_loop_that_waits_for_nothing_is_stopped_by_the_limit_of_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from memtile.importers.kernels import arithmetic

    monkeypatch.setitem(arithmetic.NAMES, "MOST_CYCLES", 5000)
    inside = "aie.use_lock(%k, Acquire, 1) {acq_en = false}\nscf.yield"
    done = loaded(body(f"scf.for %y = %z to %far step %one {{\n{inside}\n}}")).run(max_cycles=1000)
    assert done.result.status is Status.LIMIT


def test_a_loop_that_waits_for_memory_which_nothing_writes_is_named() -> None:
    text = body(POLL)
    result = loaded(text).run(max_cycles=12_000).result
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "scf.while" in row)
    (finding,) = (each for each in result.findings if each.code == "MT0339")
    assert result.status is Status.LIMIT
    assert f"line {line}: its loop waits for m to change" in finding.message
    assert finding.sides[0].place.endswith(f":{line}")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (STORE.format("%z"), "it has 1 indices for 2 dimensions"),
        (STORE.format("%z, %mm"), "%mm is memref<4x2xi32>, and is used as index"),
        (STORE.format("%z, exit"), "nothing is known of its word exit"),
        ("%v = arith.addi %mm, %i : i32", "%mm is memref<4x2xi32>, and is used as i32"),
        ("%v = arith.addi %i : i32", "it has 1 operand"),
        ("%v = arith.cmpi foo, %i, %i : i32", "nothing is known of its word foo"),
        ("aie.use_lock(%k, Hold, 1)", "nothing is known of its word Hold"),
        ("aie.use_lock(%mm, Release, 1)", "%mm is no lock of the device"),
        ("aie.use_lock(%k, Release, exit)", "nothing is known of its word exit"),
        (
            "%p = aie.objectfifo.acquire @f(Consume, 1) : !aie.objectfifosubview<memref<2xi32>>",
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
        ("cf.br ^bb1\n^bb1:\n^bb2:\naie.end", "a block of it ends in nothing"),
        ("cf.br ^bb1\n^bb1:\ncf.br ^bb1\n^bb1:\naie.end", "it is in the second block with the label ^bb1"),
        (
            "cf.br ^bb1\n^bb1:\n%v = arith.addi %i, %i : i32\n^bb2:\naie.end",
            "a block of it ends in arith.addi",
        ),
    ],
)
def test_blocks_that_nothing_ends_are_told(lines: str, says: str) -> None:
    text = body(f"%b = arith.constant true\n{lines}").replace("aie.end\naie.end", "aie.end")
    with pytest.raises(MemtileError) as caught:
        loaded(text)
    assert says in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("cf.br ^bb1\n^bb1:\n^bb2:\nreturn", "block ^bb1 has no operation that ends it"),
        (
            "cf.br ^bb1\n^bb1:\n%v = arith.addi %i, %i : i32\n^bb2:\nreturn",
            "arith.addi: it is the last operation of block ^bb1 and does not end it",
        ),
    ],
)
def test_blocks_of_functions_that_nothing_ends_are_told(lines: str, says: str) -> None:
    function = f"func.func @f() {{\n%i = arith.constant 7 : i32\n{lines}\n}}"
    text = device(function, "%core = aie.core(%c) {\nfunc.call @f() : () -> ()\naie.end\n}", host())
    with pytest.raises(MemtileError) as caught:
        loaded(text)
    assert says in caught.value.problems[0].message


def test_functions_that_call_themselves_are_told() -> None:
    function = "func.func @f() {\nfunc.call @f() : () -> ()\nreturn\n}"
    with pytest.raises(MemtileError, match="f calls itself"):
        loaded(device(function, "%core = aie.core(%c) {\nfunc.call @f() : () -> ()\naie.end\n}"))


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ("body_calls=2", "more than 2 calls are written out"),
        ("body_call_depth=1", "h is called within more than 1 calls"),
    ],
)
def test_calls_are_limited(limits: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["f", "g", "h", ""]
    calls = {name: f"func.call @{name}() : () -> ()\n" if name else "" for name in names}
    functions = [f"func.func @{one}() {{\n{calls[other]}return\n}}" for one, other in pairwise(names)]
    text = device("\n".join(functions), f"%core = aie.core(%c) {{\n{calls['f']}aie.end\n}}", host())
    loaded(text)
    monkeypatch.setenv(VARIABLE, limits)
    with pytest.raises(MemtileError, match=says) as caught:
        loaded(text)
    assert str(caught.value).splitlines()[0].endswith(f"Set {VARIABLE}={limits[:-2]}=NUMBER to allow more.")


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


HEAD = "cf.br ^one(%i : i32)\n^one(%a: i32):\n"
ENDS = "\n^two(%b: i32):\ncf.br ^three\n^three:"
COND = '"cf.cond_br"(%t, %i)[^two, ^three] <{{operandSegmentSizes = array<i32: {}>}}> : (i1, i32) -> ()'
SWITCH = (
    '"cf.switch"(%i, %i)[^three, ^two] <{{case_operand_segments = array<i32: {}>, '
    "case_values = dense<[{}]> : tensor<1xi32>, operandSegmentSizes = array<i32: 1, 0, 1>}}> "
    ": (i32, i32) -> ()"
)


@pytest.mark.parametrize(
    "line",
    [
        '"cf.br"(%i)[^two] : (i32) -> ()',
        COND.format("1, 1, 0"),
        SWITCH.format("1", "7"),
        "cf.switch %i : i32, [default: ^three, 7: ^two(%i : i32)]",
    ],
)
def test_branches_of_both_forms_hand_over_their_operands(line: str) -> None:
    assert loaded(body(HEAD + line + ENDS)).run(max_cycles=1000).result.status is not Status.LIMIT


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('"cf.br"(%i, %i)[^two] : (i32, i32) -> ()', "2 values go to block ^two, which takes 1"),
        (COND.format("1, 0, 0"), "its operands are 2, the segments for its 2 blocks [1, 0, 0]"),
        (COND.format("1, -1, 2"), "the segments for its 2 blocks [1, -1, 2]"),
        (COND.format("1, 1"), "the segments for its 2 blocks [1, 1]"),
        ('"cf.cond_br"(%t, %i)[^two, ^three] : (i1, i32) -> ()', "it has no operandSegmentSizes"),
        (SWITCH.format("1, 0", "7"), "the segments for its 2 blocks [1, 0, 1, 0]"),
        (SWITCH.format("1", "7, 8"), "it has 2 cases for 2 blocks"),
    ],
)
def test_segments_of_branches_are_those_of_their_operands(line: str, says: str) -> None:
    assert says in refused(body(HEAD + line + ENDS))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("%a = memref.alloc() : memref<?xi32>", "memref.alloc: it has 0 sizes for 1 dimensions of open size"),
        ("%a = memref.alloc(%four, %four) : memref<?x4xi32>", "it has 2 sizes for 1 dimensions"),
        (
            "%a = memref.alloc() : memref<64xi8>\n%v = memref.view %a[%z][] : memref<64xi8> to memref<?xi32>",
            "memref.view: it has 0 sizes for 1 dimensions of open size",
        ),
        (
            '%v = "affine.vector_load"(%mm, %z) <{map = affine_map<(d0) -> (d0, 7, 1)>}> : '
            "(memref<4x2xi32>, index) -> vector<2xi32>",
            "affine.vector_load: it has 3 indices for 2 dimensions",
        ),
        (
            '%v = "affine.vector_load"(%mm) <{map = affine_map<(d0) -> (d0, 1)>}> : '
            "(memref<4x2xi32>) -> vector<2xi32>",
            "affine.vector_load: its map takes 1 values and gets 0",
        ),
        ("linalg.add ins(%mm : memref<4x2xi32>) outs(%mm : memref<4x2xi32>)", "linalg.add: it has 1 input ("),
        ("linalg.square ins(%mm : memref<4x2xi32>) outs()", "linalg.square: it has no inputs"),
        (
            '"linalg.exp"(%mm, %mm) <{operandSegmentSizes = array<i32: 3, 1>}> '
            ": (memref<4x2xi32>, memref<4x2xi32>) -> ()",
            "linalg.exp: its operands are 2, its segments [3, 1]",
        ),
        (
            "linalg.transpose ins(%mm : memref<4x2xi32>) outs(%mm : memref<4x2xi32>) permutation = [0, 0]",
            "linalg.transpose: its order is [0, 0]",
        ),
        (
            '%v = "arith.cmpi"(%i, %i) <{predicate = [1]}> : (i32, i32) -> i1',
            "arith.cmpi: its predicate is [1]",
        ),
        (VECTOR + "%u = vector.interleave %v : vector<4xi32>", "vector.interleave: it has 1 operand ("),
        ("%v = affine.apply affine_map<(d0) -> (d0, d0)>(%z)", "affine.apply: its map has 2 results"),
        ("%v = affine.min affine_map<(d0) -> ()>(%z)", "affine.min: its map has no results"),
        ("%v = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%z)", "its map takes 2 values and gets 1"),
        (
            "%low_ = arith.index_cast %low : i32 to index\n%v = index.ceildivs %low_, %n",
            "index.ceildivs: the quotient of -2147483648 and -1 does not fit 32 bits",
        ),
        (
            VECTOR + "%v5 = vector.extractelement %v[%four : index] : vector<4xi32>",
            "vector.extractelement: index 4 is outside of 4 elements",
        ),
    ],
)
def test_operands_that_are_not_enough_or_outside_are_named(line: str, says: str) -> None:
    assert says in refused(body(line))


def test_cases_of_a_switch_have_the_type_of_its_flag() -> None:
    """Bits of a case above those of the flag are none: 255 is -1 of 8 bits."""
    lines = "%e = arith.trunci %m1 : i32 to i8\ncf.switch %e : i8, [default: ^one, 255: ^two]\n"
    ends = "^one:\n%v = arith.divsi %i, %o : i32\ncf.br ^two\n^two:"
    assert loaded(body(lines + ends)).run(max_cycles=1000).result.status is not Status.LIMIT
