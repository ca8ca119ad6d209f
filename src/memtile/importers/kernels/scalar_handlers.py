"""Numbers in core bodies: arithmetic, comparisons, constants; of vectors element by element.

It also has constants with several elements: ``dense<[1, 2]>``, ``dense<0.0>``, ``dense<"0x0102">``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.importers.kernels.body_operands import number_of, working_type
from memtile.importers.kernels.body_operations import give
from memtile.importers.kernels.emitter import Emitter, Handler, items_of, last_kind, type_names
from memtile.importers.kernels.expressions import (
    BITS,
    INDEX,
    RULES,
    WIDEST,
    Rule,
    bits_of,
    compared,
    held,
    kept_flags,
    paired,
    range_of,
    rounded_by,
    unsigned,
    wrapped,
)
from memtile.importers.kernels.quote import Node, expr, number, value_of
from memtile.importers.kernels.ssa_values import (
    check_vector,
    constant_node,
    element,
    elementwise,
    is_vector,
    text_of,
)
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.dense_constants import float_of
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.types import Shaped

Array = npt.NDArray[Any]
_WORDS: dict[str, Any] = {"bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def numbers_of(form: OperationForm, given: object, shape: Shaped) -> Array:
    """The elements of a constant as numbers, in its shape: integers as int64, floats as float32 or float64.

    Raises:
        InputFileError: they lie elsewhere, or are not as many as the type says.
    """
    name = given.name if isinstance(given, Compound) else str(given)
    if not isinstance(given, Compound) or name.removeprefix("builtin.") != "dense":
        says = f"its numbers are {name.partition('<')[0] or 'nowhere'}, which is outside of the text"
        raise form.error(says, "dense<..>", reason="mlir_constant", given=name)
    first = given.listed[0] if given.listed else []
    if isinstance(first, str) and first[:2] == "0x":
        flat = _from_bytes(form, first, shape.element)
    else:
        flat = _flat(given.listed, shape.element)
    count = max(shape.elements, 1) if shape.shape else 1
    if flat.size not in (1, count):
        says = f"it has {flat.size} numbers, its type {count}"
        raise form.error(says, "one number, or as many as the type says", reason="mlir_constant")
    return np.broadcast_to(flat, (count,)).reshape(shape.shape).copy()


def memory_of_constant(form: OperationForm, given: object, shape: Shaped) -> Array:
    """The elements of a constant as memory has them, see ``body_operands.working_type``."""
    values, dtype = numbers_of(form, given, shape), working_type(shape.element)
    if shape.element == "bf16":
        words = (values.astype(np.float32).view(np.uint32) >> 16).astype(dtype)
        return words.reshape(shape.shape or (1,))
    with np.errstate(all="ignore"):
        return values.astype(dtype).reshape(shape.shape or (1,))


def _flat(values: Any, element: str) -> Array:
    found: list[Any] = []
    waiting = list(values)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, list | tuple):
            waiting = [*each, *waiting]
        else:
            found.append(each)
    if bits_of(element) is not None:
        wrap = (1 << 64) - 1
        return np.array([int(each) & wrap for each in found], np.uint64).view(np.int64)
    kind = np.float64 if element == "f64" else np.float32
    exact = np.array([float_of(each, element) for each in found], np.float64)
    if element == "bf16":
        import ml_dtypes

        return exact.astype(ml_dtypes.bfloat16).astype(np.float32)
    with np.errstate(all="ignore"):
        return exact.astype(kind)


def _from_bytes(form: OperationForm, text: str, element: str) -> Array:
    """Elements from the bytes of a string, the lowest first."""
    bits = bits_of(element)
    if element not in _WORDS and bits not in (8, 16, 32, 64):
        raise form.error(
            f"bytes of {element} are not known", "i8 to i64, bf16, f32, f64", reason="mlir_constant"
        )
    try:
        data = bytes.fromhex(text[2:])
        if element == "bf16":
            words = np.frombuffer(data, "<u2").astype(np.uint32) << 16
            return words.view(np.float32)
        size = 8 if element == "index" else (bits or 8 * _WORDS[element]().nbytes) // 8
        found = np.frombuffer(data, f"<{'f' if bits is None else 'i'}{size}")
    except ValueError as error:
        raise form.error(
            f"its bytes are no elements of {element} ({error})", "whole elements", reason="mlir_constant"
        ) from None
    return found.astype(np.int64) if bits is not None else found.copy()


_CAST_NAMES = "trunci extsi extui extf truncf sitofp uitofp fptosi fptoui bitcast index_cast index_castui"
_CASTS = frozenset(
    (
        *(f"arith.{name}" for name in _CAST_NAMES.split()),
        "index.casts",
        "index.castu",
        "builtin.unrealized_conversion_cast",
    )
)


def compute(emitter: Emitter, form: OperationForm) -> None:
    """Arithmetic: one expression, or one for each element."""
    name = form.operation.name
    values = form.values.exactly(_arity(name))
    chosen = form.values[1] if name == "arith.select" else form.values[0]
    first = emitter.types.get(chosen, "")
    kind = last_kind(form) if name in _CASTS or not first else first
    vector = is_vector(first)
    flags = _flags(form)
    if vector is None:
        kind = "i1" if name in BITS else kind
        given = [number_of(emitter, form, value) for value in values]
        for node in given:
            _check_index(form, node, first)
        _check_flags(emitter, form, flags, given, first)
        give(emitter, form.result, kind, _rule(emitter, form, first, kind)(given, first, kind))
        return
    target = is_vector(kind) or vector
    target = Shaped(target.shape, "i1" if name in BITS else target.element)
    if any(
        s.shape and s.shape != target.shape
        for s in (is_vector(emitter.types.get(v, "")) or _ONE for v in values)
    ):
        raise form.error("its vectors have not the same shape", "vectors of one shape", reason="mlir_type")

    chosen_rule = _rule(emitter, form, vector.element, target.element)

    def rule(at: Node) -> Node:
        given = [element(emitter, value, at) for value in values]
        _check_flags(emitter, form, flags, given, vector.element)
        return chosen_rule(given, vector.element, target.element)

    elementwise(emitter, form, target, rule)


def _rule(emitter: Emitter, form: OperationForm, first: str, kind: str) -> Rule:
    """The rule of an operation: f32 to bf16 rounds by the mode of the core, as vectors do (DEV-KERNEL-8)."""
    if (form.operation.name, first, kind) != ("arith.truncf", "f32", "bf16"):
        return RULES[form.operation.name]
    rounding = emitter.modes.casts
    if rounding is None:
        raise form.error(
            "its core calls set_rounding_... for several modes, or one that bodies do not have",
            "one mode for all of a core",
            reason="mlir_rounding",
            step="Call one of set_rounding_floor, set_rounding_positive_inf and set_rounding_conv_even.",
        )
    return lambda given, _, __: rounded_by(given[0], rounding)


_ONE = Shaped((), "")


def _flags(form: OperationForm) -> frozenset[str]:
    """What the text says of the result: ``overflow<nsw, nuw>``."""
    words = form.operation.words
    given = form.attributes.get("overflowFlags")
    if given is None and "overflow" in words:
        given = Compound("", {}, tuple(words[words.index("overflow") + 1 :]))
    return (
        frozenset(str(each) for each in items_of(given)) & {"nsw", "nuw"}
        if given is not None
        else frozenset()
    )


def _check_flags(
    emitter: Emitter, form: OperationForm, flags: frozenset[str], given: Sequence[Node], kind: str
) -> None:
    """Write the checks of what the text says of the result, before it is computed."""
    for each in kept_flags(form.operation.name, flags, given, kind):
        emitter.lines.add("_check", _check=each)


def _check_index(form: OperationForm, node: Node, kind: str) -> None:
    """Refuse to compute with a constant that is no index of the core; as bound of a loop it means no end."""
    value = value_of(node)
    low, high = range_of(INDEX, signs=True)
    if kind == INDEX and value is not None and not low <= value <= high:
        says = f"the constant {value} is no index of a core, which has {bits_of(INDEX)} bits"
        raise form.error(says, f"{low}..{high}", reason="mlir_width", given=str(value))


def _arity(name: str) -> int:
    """How many operands an operation on numbers has."""
    if name in _THREE:
        return 3
    if name in _TWO:
        return 2
    plain = name.startswith(("arith.", "index.")) and name not in _CASTS and name != "arith.negf"
    return 2 if plain else 1


_THREE = ("arith.select", "math.fma", "math.clampf")
_TWO = ("math.atan2", "math.powf", "math.copysign", "math.ipowi", "math.fpowi")


def _predicate(form: OperationForm) -> str | int:
    """How numbers are compared: by its name, or by its number."""
    given = form.attributes.get("predicate", form.attributes.get("pred"))
    if given is None:
        words = [word for word in form.operation.words if word != "("]  # index.cmp slt(%a, %b)
        given = words[0] if words else ""
    if isinstance(given, Compound):
        given = given.listed[-1] if given.listed else ""  # #index<cmp_predicate slt>
    if isinstance(given, str | int):
        return given.strip('"') if isinstance(given, str) else int(given)
    raise form.error(f"its predicate is {shown(given)}", "eq, ne, slt, ...", reason="mlir_unknown")


def compare(emitter: Emitter, form: OperationForm) -> None:
    """``arith.cmpi slt, %a, %b : index``."""
    predicate = _predicate(form)
    kind = emitter.types.get(form.values[0], "")
    vector = is_vector(kind)
    floats = form.operation.name == "arith.cmpf"

    def rule(at: Node) -> Node:
        given = [element(emitter, value, at) for value in form.values.exactly(2)]
        node = compared(predicate, given, vector.element if vector else kind, floats=floats)
        if node is None:
            says = f"the predicate {predicate} is not known"
            raise form.error(says, "eq, ne, slt, ...", reason="mlir_unknown")
        return node

    if vector is not None:
        elementwise(emitter, form, Shaped(vector.shape, "i1"), rule)
    else:
        for value in form.values:
            number_of(emitter, form, value)
        give(emitter, form.result, "i1", rule(number(0)))


def constant(emitter: Emitter, form: OperationForm) -> None:
    """``arith.constant 5 : i32``, and vectors of numbers."""
    operation = form.operation
    found = form.attributes.get("value")
    if found is None and operation.spans:
        found = form.value(operation.spans[0])
    kind = last_kind(form) or ("i1" if isinstance(found, bool) else "index")
    vector = is_vector(kind)
    if vector is not None:
        check_vector(form, vector)
        node = constant_node(form, numbers_of(form, found, vector), vector.element)
        give(emitter, form.result, text_of(vector), node)
        return
    if not isinstance(found, int | float):
        raise form.error(f"the constant {shown(found)} is not known", "numbers", reason="mlir_unknown")
    if bits_of(kind) is not None:
        _known(emitter, form, found, kind)
    else:
        give(emitter, form.result, kind, wrapped(number(float_of(found, kind)), kind))


def _known(emitter: Emitter, form: OperationForm, found: int | float, kind: str) -> None:
    """A whole number that its type holds, with or without a sign; an index as wide as texts may have it."""
    bits = WIDEST if kind == INDEX else bits_of(kind) or 0
    low, high = -((1 << bits) >> 1), (1 << bits) - 1
    if not isinstance(found, int) or not low <= found <= high:
        says = f"the constant {shown(found)} does not fit {kind}"
        raise form.error(says, f"{low}..{high}", reason="mlir_width", given=shown(found))
    emitter.known(form.result, kind, held(int(found), f"i{bits}"))


def index_constant(emitter: Emitter, form: OperationForm) -> None:
    """``index.constant 5`` and ``index.bool.constant true``."""
    kind = "i1" if "bool" in form.operation.name else "index"
    found = form.attributes.get("value")
    if found is None:
        found = form.value(form.operation.spans[0])
    if not isinstance(found, int):
        raise form.error(f"the constant {shown(found)} is not known", "numbers", reason="mlir_unknown")
    _known(emitter, form, found, kind)


def size_of_index(emitter: Emitter, form: OperationForm) -> None:
    """``index.sizeof``: bits of an index."""
    emitter.known(form.result, "index", bits_of(INDEX) or 0)


def poison(emitter: Emitter, form: OperationForm) -> None:
    """``ub.poison``: zero here, as nobody may look at it (DEV-BODY-1)."""
    kind = (type_names(form) or ["index"])[-1]
    vector = is_vector(kind)
    if vector is not None:
        elementwise(emitter, form, vector, lambda _: number(0))
    else:
        give(emitter, form.result, kind, wrapped(number(0), kind))


def extended(emitter: Emitter, form: OperationForm) -> None:
    """``%low, %high = arith.mulsi_extended %a, %b``, ``mului_extended``, ``addui_extended``."""
    name = form.operation.name.removeprefix("arith.")
    kind = emitter.types.get(form.values[0], "")
    bits = bits_of(kind)
    if bits is None or bits > 32:
        raise form.error(
            f"numbers of type {kind} are too wide for it here", "up to 32 bits", reason="mlir_unknown"
        )
    one, other = (number_of(emitter, form, value) for value in form.values.exactly(2))
    if name != "mulsi_extended":
        one, other = unsigned(one, kind), unsigned(other, kind)
    whole = paired("+" if name == "addui_extended" else "*", one, other)
    results = form.operation.results if len(form.operation.results) == 2 else form.operation.results[1:]
    upper = expr("_whole >> _bits", _whole=whole, _bits=bits)
    kinds = [kind, "i1" if name == "addui_extended" else kind]
    for result, node, each in zip(results, (whole, upper), kinds, strict=True):
        give(emitter, result, each, wrapped(node, each))


HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys(RULES, compute),
    "arith.constant": constant,
    "arith.cmpi": compare,
    "arith.cmpf": compare,
    "arith.addui_extended": extended,
    "arith.mulsi_extended": extended,
    "arith.mului_extended": extended,
    "index.cmp": compare,
    "index.constant": index_constant,
    "index.bool.constant": index_constant,
    "index.sizeof": size_of_index,
    "ub.poison": poison,
}
