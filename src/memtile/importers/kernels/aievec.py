"""Operations of the ``aievec`` dialect, which vectorising compilers print: what AIE-ML's vector unit does.

An accumulator is a vector of wider elements. What mlir-aie (AIEVecToLLVM) computes by approximations
of the hardware, or drops, is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

from memtile.arch.tiles import Generation
from memtile.importers.kernels.arithmetic import CONV_EVEN, FLOOR, POSITIVE_INF
from memtile.importers.kernels.body_operands import number_of
from memtile.importers.kernels.body_operations import give
from memtile.importers.kernels.emitter import Emitter, Handler, VectorModes, type_names
from memtile.importers.kernels.expressions import (
    RULES,
    bits_of,
    called,
    paired,
    range_of,
    rounded_by,
    unsigned,
    wrapped,
)
from memtile.importers.kernels.quote import Node, expr, number
from memtile.importers.kernels.ssa_values import (
    begin,
    check_vector,
    element,
    elementwise,
    is_vector,
    nest,
    place,
    put,
    result_vector,
    text_of,
    vector_of,
    whole,
)
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.types import Shaped

_REGISTER = 512  # bits of a vector register
_FLOATS = {"bf16": 16, "f32": 32}
_MODE = re.compile(r"t(8|16|32|64)_([0-9]+)x([0-9]+)(_lo|_hi)?")
_FLIP = "t16_1x2_flip"
_CALLS, _SETS = ("func.call", "call"), "set_rounding_"
_ROUNDINGS = {"floor": FLOOR, "positive_inf": POSITIVE_INF, "conv_even": CONV_EVEN}


def modes_of(core: Operation, generation: Generation) -> VectorModes:
    """The modes that mlir-aie sets when a core begins, by the operations in its own body (AIECoreToStandard).

    Those of functions do not count, but for casts those of ``set_rounding_...``. On AIE2P the number that it
    takes for ``crSat`` is that of another register (DEV-AIEVEC-1).
    """
    shifts = [inner for inner in core.walk() if inner.name == "aievec.srs"]
    products = [inner for inner in core.walk() if inner.name.startswith("aievec.matmul")]
    if any(_kinds(each, first=True) == "bf16" for each in products):
        rounding = CONV_EVEN
    elif any(bits_of(_kinds(each)) is not None for each in shifts):
        rounding = POSITIVE_INF
    else:
        rounding = FLOOR
    saturates = bool(shifts or rounding == CONV_EVEN) and generation == "AIE-ML"
    return VectorModes(rounding, saturates, _casts(core, rounding))


def _casts(core: Operation, rounding: int) -> int | None:
    """How a core rounds numbers of f32 to bf16, None where that changes or is no mode that is known here."""
    words = [word.strip('@"') for inner in core.walk() if inner.name in _CALLS for word in _callee(inner)]
    told = {word.partition(_SETS)[2] for word in words if _SETS in word}
    if not told:
        return rounding
    return _ROUNDINGS.get(told.pop()) if len(told) == 1 else None


def _callee(call: Operation) -> list[str]:
    form = OperationForm(call)
    return [str(form.attributes.get("callee") or form.symbol)]


def _kinds(operation: Operation, *, first: bool = False) -> str:
    """The element type of the first operand, or of the result."""
    found = type_names(OperationForm(operation))
    shape = is_vector(found[0 if first else -1]) if found else None
    return shape.element if shape is not None else ""


def _is_integer(kind: str) -> bool:
    return bits_of(kind) is not None


def _refused(form: OperationForm, says: str, allowed: str) -> Exception:
    return form.error(says, allowed, reason="mlir_unknown")


def _width(form: OperationForm, kind: str) -> int:
    found = bits_of(kind) or _FLOATS.get(kind)
    if found is None:
        raise _refused(form, f"it has elements of {kind}", "integers, bf16, f32")
    return found


def _alike(emitter: Emitter, form: OperationForm, count: int) -> Shaped:
    """The type that so many operands all have.

    Raises:
        InputFileError: they have several.
    """
    shapes = [vector_of(emitter, value) for value in form.values.exactly(count)]
    if any(shape != shapes[0] for shape in shapes[1:]) or not shapes[0].shape:
        raise form.error("its operands have several types", "vectors of one type", reason="mlir_type")
    return shapes[0]


def _pairwise(rule: Callable[[OperationForm, Node, Node, str], Node]) -> Handler:
    """An operation on the elements of two vectors of one type, of which the result is too."""

    def handle(emitter: Emitter, form: OperationForm) -> None:
        shape = _alike(emitter, form, 2)

        def at(where: Node) -> Node:
            one, other = (element(emitter, value, where) for value in form.values.first(2))
            return rule(form, one, other, shape.element)

        elementwise(emitter, form, shape, at)

    return handle


def _sum_of_floats(form: OperationForm, one: Node, other: Node, kind: str) -> Node:
    """A sum or a difference of accumulators: mlir-aie has no other ones."""
    if kind != "f32":
        raise _refused(form, f"it has elements of {kind}, which mlir-aie does not lower", "f32")
    rule = RULES["arith.addf" if form.operation.name == "aievec.add_elem" else "arith.subf"]
    return rule([one, other], kind, kind)


def _chosen(form: OperationForm, one: Node, other: Node, kind: str) -> Node:
    """The smaller or the larger element; integers are compared with their sign, whatever their type says."""
    largest = form.operation.name == "aievec.max"
    if _is_integer(kind):
        return RULES["arith.maxsi" if largest else "arith.minsi"]([one, other], kind, kind)
    test = paired("<", one, other) if largest else paired(">=", one, other)
    return expr("_b if _test else _a", _b=other, _test=test, _a=one)


def _bitwise(name: str) -> Callable[[OperationForm, Node, Node, str], Node]:
    def rule(form: OperationForm, one: Node, other: Node, kind: str) -> Node:
        bits = f"i{_width(form, kind)}"
        given = [RULES["arith.bitcast"]([each], kind, bits) for each in (one, other)]
        return RULES["arith.bitcast"]([RULES[f"arith.{name}"](given, bits, bits)], bits, kind)

    return rule


def invert(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.bneg``: every bit the other way."""
    shape = vector_of(emitter, form.values[0])
    rule = _bitwise("xori")
    elementwise(
        emitter,
        form,
        shape,
        lambda at: rule(
            form,
            element(emitter, form.values[0], at),
            RULES["arith.bitcast"]([number(-1)], f"i{_width(form, shape.element)}", shape.element),
            shape.element,
        ),
    )


def negate(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.neg`` of f32 accumulators."""
    shape = vector_of(emitter, form.values[0])
    if shape.element != "f32":
        raise _refused(form, f"it has elements of {shape.element}, which mlir-aie does not lower", "f32")
    elementwise(emitter, form, shape, lambda at: expr("-_value", _value=element(emitter, form.values[0], at)))


def product(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.mul_elem %a, %b``: products in an accumulator, exact for integers and bf16 (DEV-AIEVEC-3)."""
    shape, target = _alike(emitter, form, 2), result_vector(form)
    one, kind = shape.element, target.element
    if one == "f32" or (one == "bf16") != (kind == "f32"):
        says = f"it multiplies {one} into {kind}, which is a sum of bf16 products on the core"
        raise _refused(form, says, "integers into integers, bf16 into f32")
    if shape.shape != target.shape:
        raise form.error("its result has another shape", text_of(shape), reason="mlir_type")
    rule = RULES["arith.muli" if _is_integer(one) else "arith.mulf"]

    def at(where: Node) -> Node:
        return rule([element(emitter, value, where) for value in form.values.first(2)], one, kind)

    elementwise(emitter, form, target, at)


def accumulate(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.mac_elem %a, %b, %acc``: bf16 products added to f32, each sum rounded once."""
    shapes = [vector_of(emitter, value) for value in form.values.exactly(3)]
    if [shape.element for shape in shapes] != ["bf16", "bf16", "f32"]:
        given = ", ".join(shape.element for shape in shapes)
        raise _refused(form, f"it has elements of {given}, which mlir-aie does not lower", "bf16, bf16, f32")
    if form.attributes.get("fmsub") not in (None, False, 0):
        raise _refused(form, "it subtracts (fmsub), which mlir-aie's lowering drops", "fmsub = false")

    def at(where: Node) -> Node:
        return RULES["math.fma"]([element(emitter, value, where) for value in form.values], "f32", "f32")

    elementwise(emitter, form, shapes[2], at)


def up_shift(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.ups %v {shift = 0 : i8}``: into an accumulator, shifted to the left."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    one, kind, shift = source.element, target.element, form.integer("shift", 0)
    room = _width(form, kind) - _width(form, one)
    if _is_integer(one) != _is_integer(kind) or room < 0 or source.elements != target.elements:
        raise form.error(f"{text_of(source)} becomes {text_of(target)}", "a wider type", reason="mlir_type")
    if not 0 <= shift <= (room if _is_integer(one) else 0):
        raise _refused(form, f"it shifts by {shift}, out of the accumulator", f"0..{room}")

    def at(where: Node) -> Node:
        value = element(emitter, form.values[0], where)
        return wrapped(paired("<<", value, shift) if shift else value, kind)

    elementwise(emitter, form, target, at)


def down_shift(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.srs %acc, %shift``: an accumulator shifted, rounded and saturated, by the core's modes."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    one, kind, modes = source.element, target.element, emitter.modes
    if _is_integer(one) != _is_integer(kind) or _width(form, kind) > _width(form, one):
        raise form.error(
            f"{text_of(source)} becomes {text_of(target)}", "a narrower type", reason="mlir_type"
        )
    if not _is_integer(one):
        elementwise(emitter, form, target, lambda at: _narrowed(emitter, form, at, modes))
        return
    count = expr(
        "shift(_count, _bits, SITE)", _count=number_of(emitter, form, form.values[1]), _bits=bits_of(one) or 0
    )
    low, high = range_of(kind, signs=bool(form.integer("sign", 1)))

    def at(where: Node) -> Node:
        value = called("shifted", element(emitter, form.values[0], where), count, modes.rounding)
        if modes.saturates:
            value = called("largest", called("least", value, high), low)
        return wrapped(value, kind)

    elementwise(emitter, form, target, at)


def _narrowed(emitter: Emitter, form: OperationForm, at: Node, modes: VectorModes) -> Node:
    return rounded_by(element(emitter, form.values[0], at), modes.rounding)


def same(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.cast %v {isResAcc = true}``: the same elements, taken for an accumulator or for a vector."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    if source != target:
        says = f"{text_of(source)} becomes {text_of(target)}, which mlir-aie does not lower"
        raise _refused(form, says, "a vector of the same type")
    give(emitter, form.result, text_of(target), emitter.use(form.values[0]))


def concatenate(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.concat %a, %b``: the first one's elements first."""
    shape = _alike(emitter, form, len(form.values))
    if len(shape.shape) != 1:
        raise _refused(form, f"it has operands of type {text_of(shape)}", "vectors of one dimension")
    target = Shaped((len(form.values) * shape.elements,), shape.element)
    name = begin(emitter, form, target)
    for n, value in enumerate(form.values):
        with nest(emitter, [shape.elements]) as (at,):
            put(emitter, name, paired("+", at, n * shape.elements), element(emitter, value, at))


def extract_part(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.ext %v {index = 1 : i8}``: the part of that number, of as many elements as the result has."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    first = form.integer("index") * target.elements
    if target.element != source.element or not 0 <= first <= source.elements - target.elements:
        says = f"part {form.integer('index')} of {text_of(source)} is no {text_of(target)}"
        raise form.error(says, "a part of the vector", reason="mlir_index")
    elementwise(emitter, form, target, lambda at: element(emitter, form.values[0], paired("+", at, first)))


def extract_element(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.ext_elem %v, %i``: an element by its number."""
    source = vector_of(emitter, form.values[0])
    at = expr("place(_at, _size, SITE)", _at=number_of(emitter, form, form.values[1]), _size=source.elements)
    give(emitter, form.result, source.element, element(emitter, form.values[0], at))


def move(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.shift %a, %b, %bytes``: 64 bytes of both, one behind the other, from a byte on."""
    one, other = (vector_of(emitter, value) for value in form.values.first(2))
    if one != other or one.elements * _width(form, one.element) != _REGISTER:
        raise _refused(
            form, f"it moves {text_of(one)} and {text_of(other)}", f"two vectors of {_REGISTER} bits"
        )
    size, count = _width(form, one.element) // 8, form.whole(form.values[2])
    if count % size or not 0 <= count <= _REGISTER // 8:
        raise _refused(form, f"it moves by {count} bytes", f"0..{_REGISTER // 8} in steps of {size}")
    first, n = count // size, one.elements

    def at(where: Node) -> Node:
        there = paired("+", where, first)
        own = element(emitter, form.values[0], expr("_at % _n", _at=there, _n=n))
        more = element(emitter, form.values[1], expr("_at % _n", _at=there, _n=n))
        return expr("_own if _at < _n else _more", _own=own, _at=there, _n=n, _more=more)

    elementwise(emitter, form, one, at)


def spread(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.broadcast %v {idx = 0 : i8}`` and ``aievec.broadcast_scalar %x``: one element everywhere."""
    source, target = vector_of(emitter, form.values[0]), result_vector(form)
    index = form.integer("idx", 0)
    if source.element != target.element or not 0 <= index < source.elements:
        says = f"element {index} of {text_of(source)} fills {text_of(target)}"
        raise form.error(says, "an element of the vector", reason="mlir_index")
    elementwise(emitter, form, target, lambda _: element(emitter, form.values[0], number(index)))


_TESTS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def compare(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.cmp %a, %b {pred = "slt"}``: a bit for each element, the first one lowest."""
    shape, predicate = _alike(emitter, form, 2), str(form.attributes.get("pred", "")).strip('"')
    test = _TESTS.get(predicate if predicate in ("eq", "ne") else predicate[1:])
    if test is None or predicate[:1] not in ("e", "n", "s", "u"):
        raise _refused(form, f"the predicate {predicate} is not known", "eq, ne, slt, ult ..")
    kind = (type_names(form) or [""])[-1]
    name = emitter.lines.fresh("sum")
    emitter.lines.add("_name = 0", _name=name)
    with nest(emitter, [shape.elements]) as (at,):
        given = [element(emitter, value, at) for value in form.values.first(2)]
        one, other = (unsigned(each, shape.element) if predicate[0] == "u" else each for each in given)
        with emitter.lines.within("if _test: pass", _test=paired(test, one, other)):
            emitter.lines.add("_name = _name | (1 << _at)", _name=name, _at=at)
    give(emitter, form.result, kind, wrapped(name, kind))


def select(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.sel %a, %b, %bits``: an element of the first vector where its bit is 0, else of the second."""
    shape = vector_of(emitter, form.values[0])
    chosen = number_of(emitter, form, form.values[2])

    def at(where: Node) -> Node:
        one, other = (element(emitter, value, where) for value in form.values.first(2))
        return expr("_b if (_bits >> _at) & 1 else _a", _b=other, _bits=chosen, _at=where, _a=one)

    elementwise(emitter, form, shape, at)


def matrix_product(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.matmul %a, %b, %c``: c and the product of two matrices; sums of bf16 are rounded in order."""
    one, other, target = (vector_of(emitter, value) for value in form.values.exactly(3))
    (rows, inner), (again, columns) = one.shape[-2:], other.shape[-2:]
    if inner != again or target.shape[-2:] != (rows, columns) or prod(target.shape[:-2]) != 1:
        says = f"{text_of(one)} times {text_of(other)} is no {text_of(target)}"
        raise form.error(says, "matrices that fit", reason="mlir_type")
    check_vector(form, target)
    integer = _is_integer(target.element)
    multiply, add = (RULES[f"arith.{name}"] for name in (("muli", "addi") if integer else ("mulf", "addf")))
    name, kind = begin(emitter, form, target), target.element
    with nest(emitter, [rows, columns]) as (row, column):
        at = place([row, column], [rows, columns])
        put(emitter, name, at, element(emitter, form.values[2], at))
        with nest(emitter, [inner]) as (n,):
            places = (place([row, n], [rows, inner]), place([n, column], [inner, columns]))
            given = [
                _as_signed(element(emitter, value, each), shape.element)
                for value, each, shape in zip(form.values, places, (one, other), strict=False)
            ]
            cell = whole(expr("_name[_at]", _name=name, _at=at), kind)
            put(emitter, name, at, add([cell, multiply(given, kind, kind)], kind, kind))


def _as_signed(value: Node, kind: str) -> Node:
    """An element as the multiplier takes it: without a sign only where its type says so."""
    return unsigned(value, kind) if kind[:1] == "u" else value


def _mode(form: OperationForm) -> str:
    """The mode of a shuffle: ``[t32_4x4]``, or ``mode = #aievec<mode t32_4x4>``."""
    given, at = form.attributes.get("mode"), form.bracket("[")
    if given is None:
        return form.texts("[")[0] if at is not None else ""
    return str(given.listed[0] if isinstance(given, Compound) and given.listed else given)


def shuffle(emitter: Emitter, form: OperationForm) -> None:
    """``aievec.shuffle %a, %b [t16_16x4_lo]``: a matrix that fills the vectors, transposed."""
    shape, many = vector_of(emitter, form.values[0]), len(form.values)
    mode = _mode(form)
    bits, found = _width(form, shape.element), _MODE.fullmatch(mode)
    if mode == _FLIP and (bits, many) == (16, 1):
        rule: Callable[[Node], Node] = lambda n: element(emitter, form.values[0], paired("^", n, 1))  # noqa: E731
        elementwise(emitter, form, shape, rule)
        return
    width, rows, columns = (int(found[n]) for n in (1, 2, 3)) if found else (0, 0, 0)
    fills = (
        width == bits and rows * columns == many * shape.elements and (many == 2) == bool(found and found[4])
    )
    if not fills or shape.elements * bits != _REGISTER:
        raise _refused(
            form, f"it shuffles {text_of(shape)} by {mode}", "modes whose matrix fills the vectors"
        )
    first = shape.elements if found is not None and found[4] == "_hi" else 0

    def rule_(n: Node) -> Node:
        there = paired("+", n, first)
        source = expr("(_n % _rows) * _columns + _n // _rows", _n=there, _rows=rows, _columns=columns)
        parts = [
            element(emitter, value, expr("_at % _size", _at=source, _size=shape.elements))
            for value in form.values
        ]
        if many == 1:
            return parts[0]
        test = paired("<", source, shape.elements)
        return expr("_a if _test else _b", _a=parts[0], _test=test, _b=parts[1])

    elementwise(emitter, form, shape, rule_)


HANDLERS: Mapping[str, Handler] = {
    "aievec.add_elem": _pairwise(_sum_of_floats),
    "aievec.sub_elem": _pairwise(_sum_of_floats),
    "aievec.min": _pairwise(_chosen),
    "aievec.max": _pairwise(_chosen),
    "aievec.band": _pairwise(_bitwise("andi")),
    "aievec.bor": _pairwise(_bitwise("ori")),
    "aievec.bxor": _pairwise(_bitwise("xori")),
    "aievec.bneg": invert,
    "aievec.neg": negate,
    "aievec.mul_elem": product,
    "aievec.mac_elem": accumulate,
    "aievec.ups": up_shift,
    "aievec.srs": down_shift,
    "aievec.cast": same,
    "aievec.concat": concatenate,
    "aievec.ext": extract_part,
    "aievec.ext_elem": extract_element,
    "aievec.shift": move,
    "aievec.broadcast": spread,
    "aievec.broadcast_scalar": spread,
    "aievec.cmp": compare,
    "aievec.sel": select,
    "aievec.matmul": matrix_product,
    "aievec.matmul_aie2p": matrix_product,
    "aievec.shuffle": shuffle,
}
