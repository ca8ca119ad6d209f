"""Numbers in core bodies: arithmetic, comparisons, constants; of vectors element by element."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.importers.kernels.constants import float_of, numbers_of
from memtile.importers.kernels.emitter import Emitter, Handler, last_kind, type_names
from memtile.importers.kernels.expressions import BITS, RULES, bits_of, compared, unsigned, wrapped
from memtile.importers.kernels.operands import number_of
from memtile.importers.kernels.values import constant_text, element, elementwise, is_vector, text_of
from memtile.importers.mlir.attributes import Compound
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import Shaped

_CAST_NAMES = "trunci extsi extui extf truncf sitofp uitofp fptosi fptoui bitcast index_cast index_castui"
_CASTS = frozenset(
    (
        *(f"arith.{name}" for name in _CAST_NAMES.split()),
        "index.casts",
        "index.castu",
        "builtin.unrealized_conversion_cast",
    )
)


def compute(emitter: Emitter, form: Form) -> None:
    """Arithmetic: one expression, or one for each element."""
    name = form.operation.name
    values = form.values.exactly(_arity(name))
    chosen = form.values[1] if name == "arith.select" else form.values[0]
    first = emitter.types.get(chosen, "")
    kind = last_kind(form) if name in _CASTS or not first else first
    vector = is_vector(first)
    if vector is None:
        kind = "i1" if name in BITS else kind
        text = RULES[name]([number_of(emitter, form, value) for value in values], first, kind)
        emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")
        return
    target = is_vector(kind) or vector
    target = Shaped(vector.shape, "i1" if name in BITS else target.element)

    def rule(at: str) -> str:
        return RULES[name](
            [element(emitter, value, at) for value in form.values], vector.element, target.element
        )

    elementwise(emitter, form, target, rule)


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


def compare(emitter: Emitter, form: Form) -> None:
    """``arith.cmpi slt, %a, %b : index``."""
    predicate = form.attributes.get("predicate", form.attributes.get("pred"))
    if predicate is None:
        words = form.operation.words
        predicate = words[2] if words[0] == "(" else words[0]  # index.cmp slt(%a, %b)
    if isinstance(predicate, Compound):
        predicate = str(predicate.listed[0])
    predicate = predicate.strip('"') if isinstance(predicate, str) else int(predicate)
    kind = emitter.types.get(form.values[0], "")
    vector = is_vector(kind)
    floats = form.operation.name == "arith.cmpf"
    if form.operation.name == "index.cmp" and isinstance(predicate, int):
        predicate = _INDEX_ORDER[predicate] if predicate < len(_INDEX_ORDER) else str(predicate)

    def rule(at: str) -> str:
        given = [element(emitter, value, at) for value in form.values.exactly(2)]
        text = compared(predicate, given, vector.element if vector else kind, floats=floats)
        if text is None:
            says = f"the predicate {predicate} is not known"
            raise form.error(says, "eq, ne, slt, ...", reason="mlir_unknown")
        return text

    if vector is not None:
        elementwise(emitter, form, Shaped(vector.shape, "i1"), rule)
    else:
        emitter.lines.add(f"{emitter.define(form.result, 'i1')} = {rule('0')}")


_INDEX_ORDER = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def constant(emitter: Emitter, form: Form) -> None:
    """``arith.constant 5 : i32``, and vectors of numbers."""
    operation = form.operation
    found = form.attributes.get("value")
    if found is None and operation.spans:
        found = form.value(operation.spans[0])
    kind = last_kind(form) or ("i1" if isinstance(found, bool) else "index")
    vector = is_vector(kind)
    if vector is not None:
        text = constant_text(numbers_of(form, found, vector), vector.element)
        emitter.lines.add(f"{emitter.define(form.result, text_of(vector))} = {text}")
        return
    if not isinstance(found, int | float):
        raise form.error(f"the constant {found} is not known", "numbers", reason="mlir_unknown")
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {_constant_text(found, kind)}")


def _constant_text(found: int | float, kind: str) -> str:
    if bits_of(kind) is not None:
        return wrapped(repr(int(found)), kind)
    text = repr(float_of(found, kind))
    return wrapped({"inf": "np.inf", "-inf": "-np.inf", "nan": "np.nan"}.get(text, text), kind)


def index_constant(emitter: Emitter, form: Form) -> None:
    """``index.constant 5`` and ``index.bool.constant true``."""
    kind = "i1" if "bool" in form.operation.name else "index"
    found = form.attributes.get("value")
    if found is None:
        found = form.value(form.operation.spans[0])
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {int(found)}")


def size_of_index(emitter: Emitter, form: Form) -> None:
    """``index.sizeof``: bits of an index."""
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {bits_of('index')}")


def poison(emitter: Emitter, form: Form) -> None:
    """``ub.poison``: zero here, as nobody may look at it (DEV-BODY-1)."""
    kind = (type_names(form) or ["index"])[-1]
    vector = is_vector(kind)
    if vector is not None:
        elementwise(emitter, form, vector, lambda _: "0")
    else:
        emitter.lines.add(f"{emitter.define(form.result, kind)} = {wrapped('0', kind)}")


def extended(emitter: Emitter, form: Form) -> None:
    """``%low, %high = arith.mulsi_extended %a, %b``, ``mului_extended``, ``addui_extended``."""
    name = form.operation.name.removeprefix("arith.")
    kind = emitter.types.get(form.values[0], "")
    bits = bits_of(kind)
    if bits is None or bits > 32:
        raise form.error(
            f"numbers of type {kind} are too wide for it here", "up to 32 bits", reason="mlir_unknown"
        )
    one, other = (emitter.use(value) for value in form.values[:2])
    if name != "mulsi_extended":
        one, other = unsigned(one, kind), unsigned(other, kind)
    whole = f"({one} {'+' if name == 'addui_extended' else '*'} {other})"
    results = form.operation.results if len(form.operation.results) == 2 else form.operation.results[1:]
    upper = f"({whole} >> {bits})"
    kinds = [kind, "i1" if name == "addui_extended" else kind]
    for result, text, each in zip(results, (whole, upper), kinds, strict=True):
        emitter.lines.add(f"{emitter.define(result, each)} = {wrapped(text, each)}")


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
