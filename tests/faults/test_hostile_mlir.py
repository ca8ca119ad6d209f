"""Can a text in MLIR become code, or take all there is? No: it is refused by name, or does nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memtile.importers.kernels as kernels
from memtile import Status
from memtile.arch.core_costs import CoreCosts
from memtile.errors import InputFileError, MemtileError
from memtile.importers.kernels.body import CoreProgram, translate
from memtile.importers.kernels.body_segments import BodySegment
from memtile.importers.kernels.quote import Lines, expr, function, own, statement, temporary, variable
from memtile.importers.kernels.verify import UnknownCodeError, verify
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.limits import VARIABLE
from support.bodies.core_bodies import program_of
from support.mlir.mlir_designs import device, host, loaded

SOURCES = Path(kernels.__file__).parent
ROOT = Path(__file__).parents[2]
DESIGNS = [ROOT / "tests/corpus", ROOT / "examples"]

VECTOR = "%v = vector.load %m[%z] : memref<64xi32>, vector<16xi32>\n"
"""A vector; in the texts ``P`` is Python in single quotes, and ``R`` the same in double ones."""
CODE = [
    '%s = "memref.subview"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = ["P"], '
    "static_sizes = [8], static_strides = [1]}> : (memref<64xi32>) -> memref<8xi32>",
    '%s = "memref.subview"(%m) {static_offsets = [0], static_sizes = ["8 + 0*P"], static_strides = [1]} : '
    "(memref<64xi32>) -> memref<8xi32>",
    '%s = "memref.subview"(%m) {static_offsets = [0], static_sizes = [8], static_strides = ["P"]} : '
    "(memref<64xi32>) -> memref<8xi32>",
    '%s = "memref.reinterpret_cast"(%m) {static_offsets = ["P"], static_sizes = [8], static_strides = [1]} '
    ": (memref<64xi32>) -> memref<8xi32>",
    "%s = memref.subview %m[R] [8] [1] : memref<64xi32> to memref<8xi32>",
    '"scf.forall"() ({ ^bb0(%i: index): "scf.forall.in_parallel"() ({ }) : () -> () }) '
    '{staticLowerBound = ["P"], staticUpperBound = [4], staticStep = [1]} : () -> ()',
    "scf.forall (%i) in (R) { }",
    "scf.parallel (%i) = (R) to (%f) step (%o) { }",
    '"affine.for"() ({ ^bb0(%i: index): affine.yield }) {lowerBoundMap = affine_map<() -> (0)>, '
    'upperBoundMap = affine_map<() -> (4)>, step = "1 + 0*P", operandSegmentSizes = array<i32: 0, 0, 0>} '
    ": () -> ()",
    "affine.for %i = 0 to 4 step exit { }",
    "affine.for %i = 0 to affine_map<() -> (4 + exit)>() { }",
    "affine.for %i = 0 to affine_map<(exit) -> (exit())>(%f) { }",
    "%x = affine.apply affine_map<(d0) -> (d0 + R)>(%z)",
    "%x = affine.apply affine_map<(d0) -> (d0.__class__)>(%z)",
    "%x = affine.load %m[R] : memref<64xi32>",
    "%x = affine.load %m[%z if exit() else %z] : memref<64xi32>",
    VECTOR + "%x = vector.extract %v[R] : i32 from vector<16xi32>",
    VECTOR + '%x = "vector.extract"(%v) {static_position = ["P"]} : (vector<16xi32>) -> i32',
    VECTOR + "%x = vector.insert %k, %v[R] : i32 into vector<16xi32>",
    '%x = "vector.constant_mask"() {mask_dim_sizes = ["P"]} : () -> vector<16xi1>',
    "%x = vector.create_mask R : vector<16xi1>",
    "scf.index_switch %z case R { scf.yield } default { }",
    '%x = memref.load %"]) ; R ; (["[%z] : memref<64xi32>',
    '%a = memref.alloc() : memref<4x"P">',
    '%x = aie.get_cascade() : "P"',
    "%x = arith.constant R : i32",
    "%x = arith.cmpi R, %k, %k : i32",
    '%x = "arith.cmpi"(%k, %k) {predicate = "P"} : (i32, i32) -> i1',
    '%x = memref.atomic_rmw "P" %k, %m[%z] : (i32, memref<64xi32>) -> i32',
    VECTOR + "%x = vector.reduction <R>, %v : vector<16xi32> into i32",
    VECTOR + "%x = vector.shuffle %v, %v [R] : vector<16xi32>, vector<16xi32>",
    "linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (R)>], iterator_types = "
    '["parallel"]} ins(%m : memref<64xi32>) outs(%m : memref<64xi32>) { ^bb0(%x: i32, %y: i32): '
    "linalg.yield %x : i32 }",
    'func.call @"P"(%k) : (i32) -> ()',
    'aie.use_lock(%l, "P", 1)',
    "aie.use_lock(%l, Release, R)",
    'aie.objectfifo.release @"P"(Consume, 1)',
]
HARMLESS = [
    '%"a\\"]; P #" = arith.constant 1 : i32',
    '%x = arith.constant {value = 1 : i32, x.note = "P"} 1 : i32',
    '%"\\0aimport os" = arith.constant 1 : i32',
]


def core(lines: str) -> str:
    """A design whose core does these operations."""
    constants = (
        "%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n%f = arith.constant 4 : index\n"
        "%k = arith.constant 1 : i32\n"
    )
    beside = '%m = aie.buffer(%c) {sym_name = "m"} : memref<64xi32>\n%l = aie.lock(%c, 0) {sym_name = "l"}\n'
    body = f"%core = aie.core(%c) {{\n{constants}{lines}\naie.end\n}}"
    return device(beside.replace("%m", "%mm"), body.replace("%m", "%mm"), host())


def with_code(lines: str, made: Path) -> str:
    """The operations with Python that makes a file."""
    code = f"__import__('os').system('touch {made}')"
    double = code.replace("'", '"')
    return re.sub(r"\bR\b", lambda _: double, re.sub(r"\bP\b", lambda _: code, lines))


@pytest.mark.parametrize("lines", CODE)
def test_code_in_a_text_is_refused_by_name(lines: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(MemtileError) as caught:
        loaded(core(with_code(lines, made))).run(max_cycles=1000)
    assert not made.exists()
    assert caught.value.problems[0].where.startswith("d.mlir:")


@pytest.mark.parametrize("lines", HARMLESS)
def test_code_that_is_only_a_name_does_nothing(lines: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = loaded(core(with_code(lines, made))).run(max_cycles=1000)
    assert done.result.status is Status.FINISHED
    assert not made.exists()


def templates() -> Iterator[tuple[str, ast.expr]]:
    """What is given as a template in the sources of the package, with its place."""
    for source in sorted(SOURCES.glob("*.py")):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            takes = isinstance(called, ast.Name) and called.id in ("expr", "statement")
            if isinstance(called, ast.Attribute) and called.attr in ("add", "within"):
                takes = "lines" in ast.unparse(called.value)
            if takes and not (source.name == "quote.py" and isinstance(node.args[0], ast.Name)):
                yield f"{source.name}:{node.lineno}", node.args[0]


COMPILERS = ("exec", "eval", "compile", "__import__")


def test_templates_are_literals() -> None:
    found = list(templates())
    assert len(found) > 200
    assert [place for place, node in found if not (isinstance(node, ast.Constant))] == []


def test_nothing_else_of_the_package_compiles_a_text() -> None:
    """``exec``, ``eval`` and ``compile`` are called for a verified tree and a user's program."""
    named = re.compile("|".join(COMPILERS))
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCES.parents[1].rglob("*.py"))}
    found = [
        f"{source.relative_to(SOURCES.parents[1])}: {node.func.id}"
        for source, text in texts.items()
        if named.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in COMPILERS
        and not isinstance(node.args[0], ast.Constant)  # of the source itself
    ]
    assert found == [
        "importers/kernels/body_segments.py: exec",
        "importers/kernels/body_segments.py: compile",
        "iron/program_file.py: exec",  # the user's program, as Python runs it
        "iron/program_file.py: compile",
    ]


KNOWN = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Expr,
    ast.Return, ast.Pass, ast.Break, ast.Continue, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.Call, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List,
    ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.expr_context, ast.operator, ast.unaryop, ast.boolop,
    ast.cmpop,
)  # fmt: skip


def trees(program: CoreProgram) -> Iterator[ast.FunctionDef]:
    """All functions of a core."""
    assert program.tree is not None
    yield program.tree
    yield from (each.tree for each in program.names.values() if isinstance(each, BodySegment))


def test_generated_code_has_only_what_is_known() -> None:
    """Names of values begin with ``v_``; no attribute begins with an underscore; only constants are texts."""
    many = 0
    for path in sorted(path for folder in DESIGNS for path in folder.rglob("*.mlir")):
        for described in devices(read(Text(path.name, path.read_text(encoding="utf-8")))):
            bodies = [each for each in described.cores if each.has_body]
            for tree in (
                t for each in bodies for t in trees(translate(described, each.operation, CoreCosts()))
            ):
                many += 1
                for node in ast.walk(tree):
                    assert isinstance(node, KNOWN), ast.dump(node)
                    if isinstance(node, ast.Attribute):
                        assert not node.attr.startswith("_")
                    if isinstance(node, ast.Name):
                        assert "__" not in node.id.removeprefix("v_"), node.id
    assert many > 40


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os')",
        "np.load(v_a)",
        "v_a.__class__",
        "v_a.tofile(v_b)",
        "exit()",
        "lambda: 0",
        "[v_a for v_a in v_b]",
        "v_a(v_b)",
        "views['%a']",
        "f'{v_a}'",
        "range(**v_a)",
    ],
)
def test_code_that_nobody_generates_is_not_compiled(code: str) -> None:
    tree = function(temporary("piece", 0), [variable("%a"), variable("%b")])
    tree.body = ast.parse(code).body
    with pytest.raises(UnknownCodeError, match="generated code has"):
        verify(tree)


def test_holes_take_no_text() -> None:
    with pytest.raises(TypeError, match="not str"):
        expr("_value + 1", _value="exit()")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="nothing can be assigned"):
        statement("_name = 1", _name=expr("1 + 1"))
    with pytest.raises(KeyError):
        expr("_value + 1")
    with pytest.raises(TypeError, match="not str"):
        Lines().add("place(*_given)", _given=["exit()"])  # type: ignore[list-item]
    for name in ("exit", "__import__", "os.system"):
        with pytest.raises(ValueError, match="no function of generated code"):
            own(name)
    with pytest.raises(ValueError, match="no name of generated code"):
        temporary("a; b")


def nest(depth: int) -> str:
    return "".join(f"scf.for %i{n} = %z to %o step %o {{\n" for n in range(depth)) + "}\n" * depth


MANY = ", ".join(["d0"] * 5000)
TOO_MUCH = [
    (nest(21), "scf.for: more than 20 loops are within each other"),
    ("scf.if %t {\n" * 70 + "}" * 70, "scf.if: more than 60 loops and conditions are within each other"),
    (f"%x = affine.apply affine_map<(d0) -> ({'(' * 5000}d0{')' * 5000})>(%z)", "more than 60 operations"),
    (f"%x = affine.apply affine_map<(d0) -> ({'d0 + ' * 5000}d0)>(%z)", "more than 60 operations"),
    (f"%x = affine.min affine_map<(d0) -> ({MANY})>(%z)", "affine.min: its map has 5000 results"),
    (f"%x = affine.load %m[{'-' * 5000}1] : memref<64xi32>", "more than 60 operations"),
    ("%x = arith.constant dense<1> : vector<100000000000xi32>", "a vector of 400000000000 bytes"),
    ("%x = vector.broadcast %k : i32 to vector<1000000x1000000xi32>", "a vector of 4000000000000 bytes"),
    ("%x = arith.constant 1 : i999999999999", "integers of type i999999999999 are not computed"),
    ("%x = arith.extsi %k : i32 to i65", "integers of type i65 are not computed"),
    ("%x = arith.extsi %k : i32 to i0", "integers of type i0 are not computed"),
    ("scf.for %i = %z to %o step %o { %x = arith.extsi %k : i32 to i128 }", "integers of type i128"),
    (f"%x = arith.constant {'9' * 3000} : i64", "does not fit i64"),
    *(
        (
            "scf.for %i = %z to %o step %o {\n" + line.format(1 << 72) + "\n}",
            f"the number {1 << 72} does not fit 64 bits",
        )
        for line in (
            "%x = memref.subview %m[0] [{}] [1] : memref<64xi32> to memref<?xi32>",
            "%x = vector.constant_mask [{}] : vector<4xi1>",
            "%x = affine.load %m[{}] : memref<64xi32>",
            "scf.index_switch %z case {} {{ scf.yield }} default {{ scf.yield }}",
            "%x = affine.apply affine_map<() -> ({})>()",
        )
    ),
    ("%x = arith.constant 256 : i8", "the constant 256 does not fit i8"),
    ("%x = arith.constant -129 : i8", "the constant -129 does not fit i8"),
    ("%x = arith.constant 1.5 : i8", "the constant 1.5 does not fit i8"),
    ("%x = arith.constant 18446744073709551616 : index", "does not fit index"),
    (
        "%x = arith.constant 1099511627776 : index\n%y = arith.muli %x, %x : index",
        "arith.muli: the constant 1099511627776 is no index of a core, which has 32 bits",
    ),
    (
        "scf.index_switch %z "
        + " ".join(f"case {n} {{ scf.yield }}" for n in range(100))
        + " default { scf.yield }",
        "scf.index_switch: more than 60 loops and conditions",
    ),
]


@pytest.mark.parametrize(("lines", "says"), TOO_MUCH)
def test_too_much_is_refused_by_name(lines: str, says: str) -> None:
    with pytest.raises(InputFileError) as caught:
        loaded(core(f"%t = arith.constant true\n{lines}"))
    (problem,) = caught.value.problems
    assert says in problem.message
    assert problem.where.startswith("d.mlir:")


OVER = [
    (
        "body_operations=8",
        "".join(f"%x{n} = arith.addi %k, %k : i32\n" for n in range(3)),
        "the core has more than 8 operations",
    ),
    ("body_nesting=2", "scf.if %t {\n" * 3 + "}" * 3, "more than 2 loops and conditions"),
    ("body_depth=3", "%x = affine.apply affine_map<(d0) -> (d0 * 2 + d0 + 1)>(%z)", ""),
    (
        "body_depth=2",
        "%x = affine.apply affine_map<(d0) -> (d0 * 2 + d0 + 1)>(%z)",
        "more than 2 operations",
    ),
    ("map_results=1", "%x = affine.min affine_map<(d0) -> (d0, 2)>(%z)", "its map has 2 results"),
    ("vector_bytes=15", "%x = arith.constant dense<1> : vector<4xi32>", "a vector of 16 bytes"),
    ("vector_numbers=1", "%x = arith.constant dense<[1, 2]> : vector<2xi32>", "it has 2 different numbers"),
]


@pytest.mark.parametrize(("limits", "lines", "says"), OVER)
def test_a_user_may_change_each_limit(
    limits: str, lines: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = core(f"%t = arith.constant true\n{lines}")
    loaded(text)
    monkeypatch.setenv(VARIABLE, limits)
    if not says:
        loaded(text)
        return
    with pytest.raises(InputFileError) as caught:
        loaded(text)
    assert says in str(caught.value)
    name = limits.partition("=")[0]
    assert str(caught.value).splitlines()[0].endswith(f"Set MEMTILE_LIMITS={name}=NUMBER to allow more.")


def test_more_than_a_limit_is_read_if_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "body_depth=100")
    loaded(core(f"%x = affine.apply affine_map<(d0) -> ({'d0 + ' * 70}d0)>(%z)"))


def test_sizes_that_a_type_claims_are_not_believed() -> None:
    """A proof about an argument is good for the size that it is checked to have."""
    loop = "scf.for %i = %z to %f step %o { %x = memref.load %m[%i] : memref<64xi32> }"
    program = program_of(core(loop))
    piece = next(each for each in program.names.values() if isinstance(each, BodySegment))
    assert "sized(v_mm.shape[0], 64" in ast.unparse(piece.tree)
    assert "place" not in ast.unparse(piece.tree)


def test_a_name_with_two_values_is_not_known() -> None:
    """What a loop carries is not what it begins with."""
    lines = """%n = scf.for %i = %z to %f step %o iter_args(%at = %z) -> (index) {
      %x = memref.load %m[%at] : memref<64xi32>
      %far = arith.constant 64 : index
      %next = arith.addi %at, %far : index
      scf.yield %next : index
    }"""
    with pytest.raises(MemtileError, match=r"memref\.load: index 64 is outside of 64 elements"):
        loaded(core(lines)).run(max_cycles=1000)


def test_a_proof_needs_a_size_that_is_there() -> None:
    """A function takes memory of another size than its argument has."""
    function_ = """func.func @f(%p: memref<?xi32>) {
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %n = arith.constant 65 : index
      scf.for %i = %z to %n step %o { %x = memref.load %p[%i] : memref<?xi32> }
      return
    }"""
    call = "%d = memref.cast %m : memref<64xi32> to memref<?xi32>\nfunc.call @f(%d) : (memref<?xi32>) -> ()"
    with pytest.raises(MemtileError):
        loaded(function_ + core(call)).run(max_cycles=1000)
