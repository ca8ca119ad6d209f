"""Are types, attributes and the tree that a program of IRON builds those of MLIR's Python?

Texts are as MLIR's builtin dialect prints them (its documentation of builtin types and attributes).
"""

from __future__ import annotations

import math
import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile.iron.extras.context import mlir_mod_ctx
from memtile.iron.helpers import util
from memtile.iron.ops import attributes as a
from memtile.iron.ops import types as t
from memtile.iron.ops.operations import (
    Block,
    InsertionPoint,
    Module,
    Operation,
    Region,
    Value,
    noting_modules,
    top_of,
    value_of,
)
from memtile.iron.ops.scalars import ScalarValue, compare, constant, load, type_of_python

I32, I8, F32, INDEX = t.IntegerType(32), t.IntegerType(8), t.F32Type(), t.IndexType()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (t.IntegerType.get_signless(7), "i7"),
        (t.IntegerType.get_signed(16), "si16"),
        (t.IntegerType.get_unsigned(8), "ui8"),
        (t.BF16Type.get(), "bf16"),
        (t.F16Type(), "f16"),
        (t.F64Type(), "f64"),
        (t.NoneType(), "none"),
        (INDEX, "index"),
        (t.MemRefType.get([4, 8], I32), "memref<4x8xi32>"),
        (t.MemRefType([t.DYNAMIC], F32), "memref<?xf32>"),
        (t.MemRefType([4], I32, "strided<[2]>", "2 : i32"), "memref<4xi32, strided<[2]>, 2 : i32>"),
        (t.MemRefType([4], I32, None, "2 : i32"), "memref<4xi32, 2 : i32>"),
        (t.VectorType.get([16], I8), "vector<16xi8>"),
        (t.RankedTensorType.get([2, 2], F32), "tensor<2x2xf32>"),
        (t.FunctionType.get([I32, INDEX], []), "(i32, index) -> ()"),
        (t.FunctionType([], [F32]), "() -> f32"),
        (t.FunctionType([I32], [F32, I32]), "(i32) -> (f32, i32)"),
        (t.ObjectFifoType.get(t.MemRefType([16], I32)), "!aie.objectfifo<memref<16xi32>>"),
        (t.ObjectFifoSubviewType(t.MemRefType([16], I32)), "!aie.objectfifosubview<memref<16xi32>>"),
        (t.BlockFloatType.get("v8bfp16ebs8"), '!aiex.bfp<"v8bfp16ebs8">'),
    ],
    ids=str,
)
def test_types_are_written_as_mlir_does(made: t.Type, text: str) -> None:
    assert str(made) == text
    assert t.Type.parse(text) == made
    assert hash(t.Type.parse(text)) == hash(made)


@pytest.mark.parametrize("text", ["i32", "si8", "ui16", "bf16", "index", "memref<4x?xi32>", "memref<f32>"])
def test_a_simple_text_is_the_type_of_its_class(text: str) -> None:
    made = t.Type.parse(text)
    assert str(made) == text
    assert type(made) is not t.Type
    if isinstance(made, t.MemRefType):
        assert made.shape == ([4, t.DYNAMIC] if "?" in text else [])
        assert isinstance(made.element_type, (t.IntegerType, t.FloatType))


@pytest.mark.parametrize("text", ["i", "x32", "si", "memref<4xi32, 2>", "memref<ax4xi32>", "!aie.lock"])
def test_any_other_text_is_a_type_of_its_text(text: str) -> None:
    assert type(t.Type.parse(text)) is t.Type
    assert str(t.Type.parse(text)) == text


def test_what_a_type_knows() -> None:
    square = t.MemRefType([4, 8], I32)
    assert (square.rank, square.has_rank, square.has_static_shape, square.get_dim_size(1)) == (
        2,
        True,
        True,
        8,
    )
    assert not t.MemRefType([4, t.DYNAMIC], I32).has_static_shape
    assert t.ShapedType.get_dynamic_size() == t.DYNAMIC
    assert I32.is_signless
    assert not I32.is_unsigned
    assert t.IntegerType(32, "u").is_unsigned
    assert not t.IntegerType(32, "s").is_signless
    assert [t.F16Type.width, t.BF16Type.width, t.F32Type.width, t.F64Type.width] == [16, 16, 32, 64]
    assert square != t.MemRefType([8, 4], I32)
    assert square != "memref<4x8xi32>"


@pytest.mark.parametrize(
    ("made", "text", "short"),
    [
        (a.IntegerAttr.get(I32, -4), "-4 : i32", "-4"),
        (a.BoolAttr.get(True), "true", "true"),
        (a.BoolAttr(False), "false", "false"),
        (a.FloatAttr.get(F32, 1.0), "1.000000e+00 : f32", "1.000000e+00"),
        (a.StringAttr.get("text"), '"text"', '"text"'),
        (a.StringAttr('a "b" \\ \n'), '"a \\22b\\22 \\5C \\0A"', '"a \\22b\\22 \\5C \\0A"'),
        (a.TypeAttr.get(I32), "i32", "i32"),
        (a.FlatSymbolRefAttr.get("of_0.x$"), "@of_0.x$", "@of_0.x$"),
        (a.FlatSymbolRefAttr("0 a"), '@"0 a"', '@"0 a"'),
        (a.SymbolRefAttr.get(["dev", "seq"]), "@dev::@seq", "@dev::@seq"),
        (a.ArrayAttr.get([a.IntegerAttr(I32, 1), a.StringAttr("t")]), '[1 : i32, "t"]', '[1 : i32, "t"]'),
        (a.ArrayAttr([a.IntegerAttr(t.IntegerType(64), 1), a.FloatAttr(t.F64Type(), 2)]), None, None),
        (
            a.DictAttr.get({"n": a.IntegerAttr(I32, 1), "u": a.UnitAttr.get()}),
            "{n = 1 : i32, u}",
            "{n = 1 : i32, u}",
        ),
        (a.DenseI32ArrayAttr.get([1, 2]), "array<i32: 1, 2>", "array<i32: 1, 2>"),
        (a.DenseI64ArrayAttr([]), "array<i64>", "array<i64>"),
        (a.Attribute.parse("#aie.x"), "#aie.x", "#aie.x"),
    ],
)
def test_attributes_are_written_as_mlir_does(made: a.Attribute, text: str | None, short: str | None) -> None:
    assert (str(made), made.short()) == (text or "[1, 2.000000e+00]", short or "[1, 2.000000e+00]")
    assert made == a.Attribute(str(made))
    assert made != a.Attribute("another")


def test_attributes_are_used_as_their_values() -> None:
    number = a.IntegerAttr(I32, 3)
    assert (int(number), list(range(5))[number]) == (3, 3)
    assert bool(a.BoolAttr(True))
    assert not a.BoolAttr(False)
    array = a.ArrayAttr([number, a.BoolAttr(True)])
    assert (len(array), array[1], next(iter(array))) == (2, a.BoolAttr(True), number)
    dense = a.DenseI32ArrayAttr([5, 6])
    assert (len(dense), dense[1], list(dense)) == (2, 6, [5, 6])
    assert "n" in a.DictAttr({"n": number})
    assert "m" not in a.DictAttr({"n": number})


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        ([1, 2], t.MemRefType([2], I32), "dense<[1, 2]> : memref<2xi32>"),
        ([1, 2, 3, 4], t.MemRefType([2, 2], I32), "dense<[[1, 2], [3, 4]]> : memref<2x2xi32>"),
        ([[7, 7], [7, 7]], t.MemRefType([4], I32), "dense<7> : memref<4xi32>"),
        (7, t.VectorType([4], I32), "dense<7> : vector<4xi32>"),
        ([True, False], t.VectorType([2], t.IntegerType(1)), "dense<[true, false]> : vector<2xi1>"),
        ([0.5, 2.0], t.VectorType([2], F32), "dense<[5.000000e-01, 2.000000e+00]> : vector<2xf32>"),
        (np.zeros(0), t.VectorType([0], F32), "dense<> : vector<0xf32>"),
    ],
)
def test_elements_have_the_shape_of_their_type(values: Any, kind: t.ShapedType, text: str) -> None:
    assert str(a.DenseElementsAttr(np.asarray(values), kind)) == text


def test_elements_of_a_type_of_elements_have_the_shape_of_the_array() -> None:
    assert str(a.DenseElementsAttr.get(np.array([[1], [2]]), type=I8)) == "dense<[[1], [2]]> : tensor<2x1xi8>"
    made = a.DenseElementsAttr.get(np.array([1, 2]), type=t.VectorType([2], I8))
    assert str(made) == "dense<[1, 2]> : vector<2xi8>"
    with pytest.raises(ValueError, match=r"DenseElementsAttr.get needs a type; give type="):
        a.DenseElementsAttr.get(np.array([1]))
    with pytest.raises(ValueError, match="3 values do not fill vector<2xi8>, which has 2"):
        a.DenseElementsAttr(np.arange(3), t.VectorType([2], I8))


@pytest.mark.parametrize("kind", [t.F16Type(), t.BF16Type(), F32, t.F64Type()], ids=str)
def test_a_number_is_read_again_as_it_was(kind: t.FloatType) -> None:
    """As text where that is exact, else by its bits, of the type's width."""
    dtypes = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
    dtype: Any = dtypes[str(kind)]
    rng = np.random.default_rng(5)
    values = [*rng.normal(size=20), 0.0, 1.0, -2.5, 1e-3, 1e20, math.inf, -math.inf, math.nan]
    for value in values:
        exact = float(np.asarray(0.0 if abs(value) == 1e20 and kind.width < 32 else value).astype(dtype))
        text = a.float_text(exact, kind)
        if not text.startswith("0x"):
            assert float(np.asarray(float(text)).astype(dtype)) == float(np.asarray(exact).astype(dtype))
            assert "." in text
            continue
        assert len(text) == 2 + kind.width // 4
        word = np.array([int(text, 16)], f"<u{kind.width // 8}").view(dtype)
        again = float(word[0])
        assert again == exact or (math.isnan(again) and math.isnan(exact))
    assert a.float_text(math.inf, kind) == f"0x{int.from_bytes(_infinity(kind), 'big'):X}"


def _infinity(kind: t.FloatType) -> bytes:
    form = {"f16": ">e", "f64": ">d"}.get(str(kind), ">f")
    return struct.pack(form, math.inf)[: kind.width // 8]


def _op(name: str, *operands: Any, results: Any = (), regions: int = 0, **more: Any) -> Operation:
    return Operation(name, operands, results, regions=regions, **more)


def _names(block: Block) -> list[str]:
    return [each.name for each in block]


def test_operations_go_where_the_insertion_point_is() -> None:
    block = Block(Region(None))
    with InsertionPoint(block):
        first, last = _op("x.first"), _op("x.last")
    with InsertionPoint(last) as point:
        assert point.ref_operation is last
        _op("x.before_last")
    with InsertionPoint.at_block_begin(block):
        _op("x.begin")
    with InsertionPoint.at_block_terminator(block):
        _op("x.before_end")
    with InsertionPoint.after(first):
        _op("x.after_first")
    with InsertionPoint.after(last):
        _op("x.end")
    with InsertionPoint(block) as outer:
        with InsertionPoint(first):
            pass
        assert InsertionPoint.current is outer
        assert outer.ref_operation is None
    _op("x.given", ip=InsertionPoint(first))
    expected = "begin given first after_first before_last before_end last end"
    assert _names(block) == [f"x.{name}" for name in expected.split()]
    empty = Block(Region(None))
    with InsertionPoint.at_block_begin(empty):
        _op("x.alone")
    assert _names(empty) == ["x.alone"]
    assert InsertionPoint.now() is None
    with pytest.raises(ValueError, match="no current insertion point: operations are built within"):
        _ = InsertionPoint.current


def test_operations_move() -> None:
    block, other = Block(Region(None)), Block(Region(None))
    with InsertionPoint(block):
        one, two, three = (_op(f"x.{name}") for name in ("one", "two", "three"))
    three.move_before(one)
    assert _names(block) == ["x.three", "x.one", "x.two"]
    other.append(one)
    assert (_names(block), _names(other), one.block) == (["x.three", "x.two"], ["x.one"], other)
    two.erase()
    assert (_names(block), two.block, two.parent) == (["x.three"], None, None)
    other.append(two)
    assert _names(other) == ["x.one", "x.two"]


def test_blocks_are_in_the_order_in_which_a_region_has_them() -> None:
    holder = _op("x.holder", regions=1, ip=InsertionPoint(Block()))
    region = holder.regions[0]
    middle = region.blocks.append(I32, F32)
    last = middle.create_after(INDEX)
    behind = middle.create_after()
    first = Block.create_at_start(region, [F32])
    assert list(region) == [first, middle, behind, last]
    assert (len(region), region[1]) == (4, middle)
    assert (middle.arguments.types, last.arguments.types, behind.arguments.types) == ([I32, F32], [INDEX], [])
    assert [each.arg_number for each in middle.arguments] == [0, 1]
    added = middle.arguments.add(I8)
    assert (added.arg_number, added.owner, middle.arguments.types[-1]) == (2, middle, I8)
    assert first.owner is holder
    assert Block().owner is None


def test_a_tree_knows_what_is_around_and_within() -> None:
    module = Module.create()
    with InsertionPoint(module.body):
        outer = _op("x.outer", regions=2)
        _op("x.beside")
    for region in outer.regions:
        with InsertionPoint(region.blocks.append()):
            inner = _op("x.inner", regions=1)
        with InsertionPoint(inner.regions[0].blocks.append()):
            leaf = _op("x.leaf")
    seen: list[str] = []
    module.operation.walk(lambda each: seen.append(each.name))
    inside = ["x.inner", "x.leaf"] * 2
    assert seen == ["x.outer", *inside, "x.beside", "builtin.module"]
    assert (leaf.parent, inner.parent, outer.parent) == (inner, outer, module.operation)
    assert top_of(leaf.block) is module.operation
    assert top_of(None) is None
    assert outer.region_above is module.operation.regions[0]
    assert outer.operation is outer
    noted: list[Module] = []
    with noting_modules(noted):
        made = Module()
    Module()
    assert noted == [made]


def test_values_know_their_uses() -> None:
    with mlir_mod_ctx():
        one, two = constant(1), constant(2)
        both = one + two
        twice = one + one
        block = Region(None).blocks.append(I32)
        with InsertionPoint(block):
            alone = block.arguments[0] + block.arguments[0]
        assert list(one.uses) == [both.owner, twice.owner]
        assert list(block.arguments[0].uses) == [alone.owner]
        one.replace_all_uses_with(two)
        assert list(one.uses) == []
        assert both.owner.operands == [two, two]
        assert twice.owner.operands == [two, two]
        assert both.result_number == 0
        two.set_type(I8)
        assert two.type == I8


def test_what_is_no_value_is_refused() -> None:
    with mlir_mod_ctx():
        one, none = constant(1), _op("x.none")
        assert value_of(one.owner) is one
        assert value_of(one) is one
        with pytest.raises(ValueError, match=r"x.none has 0 results, not one"):
            value_of(none)
        with pytest.raises(
            TypeError, match="3 is no value: results of operations and arguments of bodies are"
        ):
            value_of(3)
        with pytest.raises(TypeError, match=r"'i32' is no type of MLIR, like those of aie.extras.types"):
            _op("x.y", results=["i32"])
        made = Operation.create("x.two", [I32, F32], [one], {"k": a.UnitAttr()}, regions=1)
        assert (made.results.types, made.operands, len(made.regions)) == ([I32, F32], [one], 1)
        assert util.get_arg_types([one, one.owner, made.results[1]]) == [I32, I32, F32]
        assert util.get_arg_types([one, 3]) is None
        assert util.fold_constant_operand(one) == 1
        assert util.fold_constant_operand(made.results[0]) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "i32"),
        (-(2**31), "i32"),
        (2**31 - 1, "i32"),
        (2**31, "i64"),
        (-(2**31) - 1, "i64"),
        (True, "i1"),
        (1.5, "f32"),
        (0.0, "f32"),
        (1e39, "f64"),
        (math.inf, "f32"),
        (math.nan, "f32"),
        (np.zeros((2, 3), np.int16), "tensor<2x3xi16>"),
    ],
    ids=str,
)
def test_a_number_of_python_has_a_type(value: Any, text: str) -> None:
    assert str(type_of_python(value)) == text


def test_constants_and_their_types() -> None:
    with mlir_mod_ctx():
        assert str(constant(np.int64(5)).type) == "i32"
        assert str(constant(5, index=True).type) == "index"
        assert str(constant(5, t.IntegerType(8)).type) == "i8"
        assert constant(5, F32).literal_value == 5.0
        assert str(constant(1, t.IntegerType(1)).owner.attributes["value"]) == "true"
        assert str(constant(3, I8, shape=[4]).owner.attributes["value"]) == "dense<3> : vector<4xi8>"
        given = a.IntegerAttr(I8, 9)
        assert constant(given).type == I8
        assert ScalarValue(4, dtype=I8).type == I8
        one = constant(1)
        assert ScalarValue(one) is one
        assert one.is_constant()
        assert not (one + 1).is_constant()
        assert one.dtype == I32
        assert constant(2.0, I32).literal_value == 2
        with pytest.raises(TypeError, match=r"2.5 is no i32"):
            constant(2.5, I32)
        with pytest.raises(TypeError, match="no constant of type none"):
            constant(2, t.NoneType())
        with pytest.raises(TypeError, match="'x' is no number, nor a value of the design"):
            constant("x")
        with pytest.raises(ValueError, match="the value is no constant"):
            _ = (one + 1).literal_value


def _value(kind: t.Type) -> Value:
    return Block(Region(None), [kind]).arguments[0]


@pytest.mark.parametrize(
    ("kind", "operation", "name"),
    [
        (I32, lambda x: x // 2, "floordivsi"),
        (I32, lambda x: x / 2, "divsi"),
        (I32, lambda x: x % 2, "remsi"),
        (I32, lambda x: x >> 2, "shrsi"),
        (I32, lambda x: x << 2, "shli"),
        (t.IntegerType(32, "u"), lambda x: x // 2, "divui"),
        (t.IntegerType(32, "u"), lambda x: x / 2, "divui"),
        (t.IntegerType(32, "u"), lambda x: x % 2, "remui"),
        (t.IntegerType(32, "u"), lambda x: x >> 2, "shrui"),
        (F32, lambda x: x / 2, "divf"),
        (F32, lambda x: -x, "negf"),
        (F32, lambda x: x % 2, "remf"),
        (INDEX, lambda x: 2 + x, "addi"),
    ],
)
def test_an_operator_is_an_operation_by_the_type(kind: t.Type, operation: Any, name: str) -> None:
    with mlir_mod_ctx():
        assert operation(_value(kind)).owner.name == f"arith.{name}"


@pytest.mark.parametrize(
    ("kind", "word", "predicate"),
    [
        (I32, "lt", "slt"),
        (I32, "eq", "eq"),
        (I32, "ne", "ne"),
        (INDEX, "ge", "sge"),
        (t.IntegerType(32, "u"), "le", "ule"),
        (t.IntegerType(32, "u"), "ne", "ne"),
        (F32, "ne", "one"),
        (F32, "eq", "oeq"),
        (F32, "gt", "ogt"),
    ],
)
def test_a_comparison_is_by_the_type(kind: t.Type, word: str, predicate: str) -> None:
    with mlir_mod_ctx() as context:
        with InsertionPoint(context.module.body):
            compare(word, constant(1, kind), constant(2, kind))
        assert f" {predicate}, " in str(context.module)


def test_values_of_different_types_do_not_compute_together() -> None:
    with mlir_mod_ctx():
        number, index, real = _value(I32), _value(INDEX), _value(F32)
        for left, right in ((index, number), (number, index)):
            made = left + right
            assert (str(made.type), [str(each.type) for each in made.owner.operands]) == (
                "index",
                ["index"] * 2,
            )
        with pytest.raises(TypeError, match="values of i32 and f32 do not compute together; convert one"):
            number + real
        with pytest.raises(TypeError, match="is known when it runs, not when it is built"):
            bool(number)
        with pytest.raises(TypeError, match="is no number yet: use range_ instead of range"):
            range(number)
        with pytest.raises(TypeError, match=r"a value of the design \(i32\) is not iterable"):
            iter(number)
        assert (number == number) is True
        assert (number != number) is False
        assert (number == "x") is False
        assert (number != "x") is True


def test_elements_of_a_buffer_have_as_many_indices_as_it_has_dimensions() -> None:
    with mlir_mod_ctx():
        square = _value(t.MemRefType([4, 8], F32))
        assert (square.shape, square.rank, square.n_elements, len(square), square.dtype) == (
            [4, 8],
            2,
            32,
            4,
            F32,
        )
        assert square[...] is square
        assert square[:] is square
        assert square[1, _value(INDEX)].type == F32
        assert load(square, (_value(I32), 2)).owner.operands[1].owner.name == "arith.index_cast"
        for wrong in ((1,), (1, 2, 3), ()):
            with pytest.raises(TypeError, match=r"an element of memref<4x8xf32> has 2 indices"):
                _ = square[wrong]
        with pytest.raises(TypeError, match="a part of a buffer is no element of it"):
            _ = square[1:2, 0]
        with pytest.raises(TypeError, match="a value of i32 has no elements"):
            load(_value(I32), 0)
