"""What each operation of a core body is as lines of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from memtile.arch.tiles import COMPUTE
from memtile.importers.kernels.expressions import RULES, SITE, bits_of, compared, wrapped
from memtile.importers.kernels.operands import affine_word, memory_of, number_of, place_of
from memtile.importers.kernels.source import Lines
from memtile.importers.kernels.views import working_type
from memtile.importers.mlir.attributes import Compound, number
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Block, Operation
from memtile.importers.mlir.types import shaped


class Emitter(Protocol):
    """What handlers need of the translation of a function."""

    lines: Lines
    types: dict[str, str]

    def use(self, value: str) -> str:
        """The Python name of a value."""

    def define(self, value: str, kind: str) -> str:
        """The Python name of a new value."""

    def block(self, block: Block) -> None:
        """Emit the operations of a block."""

    def check_end(self, operation: Operation) -> None:
        """At the end of a turn of a loop, see that it does not turn for ever."""

    def loop_cost(self) -> None:
        """Book what a turn of a loop costs beside its operations."""

    def constant_array(self, name: str, form: Form) -> tuple[str, str]:
        """The Python name of the array that a constant of the module is, and its type."""

    def parameter(self, form: Form) -> tuple[str, str]:
        """The buffer that an operation reads a parameter of the scratchpad from, and the parameter's type."""


Handler = Callable[[Emitter, Form], None]


def last_kind(form: Form) -> str:
    """The last type that the operation names, without blanks."""
    tokens, found = form.operation.tokens, ""
    for first, end in form.operation.spans:
        at = first
        while at < end:
            if tokens.words[at] in (":", "->", "to", "into"):
                single = tokens.close.get(at + 2, at + 1) if tokens.words[at + 2] == "<" else at + 1
                found = tokens.join(at + 1, min(tokens.close.get(at + 1, single) + 1, end))
            at = tokens.close.get(at, at) + 1
    return found.strip("()")


def compute(emitter: Emitter, form: Form) -> None:
    """Arithmetic: one expression."""
    given = [number_of(emitter, form, value) for value in form.values.exactly(_arity(form.operation.name))]
    first = emitter.types.get(form.values[0], "")
    if form.operation.name == "arith.select":
        first = emitter.types.get(form.values[1], "")
    cast = form.operation.name in _CASTS
    kind = last_kind(form) if cast or not first else first
    text = RULES[form.operation.name](given, first, kind).replace(SITE, str(emitter.lines.site))
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def _arity(name: str) -> int:
    """How many operands an operation on numbers has."""
    if name in _THREE:
        return 3
    return 1 if name in _CASTS or name in _ONE else 2


_THREE = ("arith.select", "math.fma")
_ONE = frozenset({"arith.negf"} | {name for name in RULES if name.startswith("math.") and name not in _THREE})
_CASTS = frozenset(
    f"arith.{name}"
    for name in (
        "trunci",
        "extsi",
        "extui",
        "extf",
        "truncf",
        "sitofp",
        "uitofp",
        "fptosi",
        "fptoui",
        "bitcast",
    )
) | {"arith.index_cast", "arith.index_castui", "builtin.unrealized_conversion_cast"}


def constant(emitter: Emitter, form: Form) -> None:
    """``arith.constant 5 : i32``."""
    operation = form.operation
    found = form.attributes.get("value")
    if found is None and operation.spans:
        found = form.value(operation.spans[0])
    kind = last_kind(form) or ("i1" if isinstance(found, bool) else "index")
    if isinstance(found, Compound):
        raise form.error(f"constants of type {kind} are not known", "numbers", reason="mlir_unknown")
    if not isinstance(found, int | float):  # bits of a float, or a name such as infinity
        raise form.error(f"the constant {found} is not known", "numbers", reason="mlir_unknown")
    integer = bits_of(kind) is not None
    text = repr(int(found)) if integer else wrapped(repr(float(found)), kind)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def compare(emitter: Emitter, form: Form) -> None:
    """``arith.cmpi slt, %a, %b : index``."""
    one, other = (number_of(emitter, form, value) for value in form.values.exactly(2))
    kind = emitter.types.get(form.values[0], "")
    predicate = form.attributes.get("predicate", "".join(form.operation.words[:1]).strip('"'))
    floats = form.operation.name == "arith.cmpf"
    text = compared(predicate, (one, other), kind, floats=floats)
    if text is None:
        raise form.error(f"the predicate {predicate} is not known", "eq, ne, slt, ...", reason="mlir_unknown")
    emitter.lines.add(f"{emitter.define(form.result, 'i1')} = {text}")


def load(emitter: Emitter, form: Form) -> None:
    """``memref.load %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = memory_of(emitter, form, form.values[0])
    text = f"{memory}[{place_of(emitter, form, 0, (memory, kind))}]"
    if kind.element == "bf16":
        text = f"from_bf16({text})"
    elif bits_of(kind.element) is not None:
        text = f"int({text})"
    emitter.lines.add(f"{emitter.define(form.result, kind.element)} = {text}")


def store(emitter: Emitter, form: Form) -> None:
    """``memref.store %v, %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = memory_of(emitter, form, form.values[1])
    value = number_of(emitter, form, form.values[0])
    if kind.element == "bf16":
        value = f"to_bf16({value})"
    emitter.lines.add(f"{memory}[{place_of(emitter, form, 1, (memory, kind))}] = {value}")


def subview(emitter: Emitter, form: Form) -> None:
    """``memref.subview %m[0, %i] [1, 8] [1, 1] : memref<..> to memref<..>``."""
    memory, source = memory_of(emitter, form, form.values[0])
    lists = []
    for n in range(3):
        at = form.bracket("[", n)
        if at is None:
            raise form.error("it needs offsets, sizes and strides", "three lists")
        lists.append([affine_word(emitter, form, form.text(item)) for item in form.split(at)])
    kind = last_kind(form)
    target = shaped(kind)
    if {len(each) for each in lists} != {len(source.shape)}:
        says = f"it has not {len(source.shape)} offsets, sizes and strides"
        raise form.error(says, "one of each for every dimension", reason="mlir_index")
    for n, (o, s, t) in enumerate(zip(*lists, strict=True)):
        emitter.lines.add(f"reach({o}, {s}, {t}, {memory}.shape[{n}], {emitter.lines.site})")
    slices = [f"{o}:{o} + {s} * {t}:{t}" for o, s, t in zip(*lists, strict=True)]
    if target is not None and len(target.shape) < len(source.shape):
        drop = len(source.shape) - len(target.shape)
        for n, size in enumerate(lists[1]):
            if drop and size == "1":
                slices[n], drop = lists[0][n], drop - 1
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {memory}[{', '.join(slices)}]")


def reinterpret(emitter: Emitter, form: Form) -> None:
    """``memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1]``; contiguous ones."""
    memory, _ = memory_of(emitter, form, form.values[0])
    kind = last_kind(form)
    target = shaped(kind)
    at = form.bracket("[")
    if target is None or at is None or target.elements < 0:
        raise form.error("its shape is known at run time only", "a shape of numbers", reason="mlir_unknown")
    offset = " + ".join(affine_word(emitter, form, form.text(item)) for item in form.split(at)) or "0"
    emitter.lines.add(f"reach({offset}, {target.elements}, 1, {memory}.size, {emitter.lines.site})")
    shape = ", ".join(map(str, target.shape))
    text = f"{memory}.reshape(-1)[{offset}:{offset} + {target.elements}].reshape(({shape},))"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def reshape(emitter: Emitter, form: Form) -> None:
    """``memref.collapse_shape`` and ``memref.expand_shape``."""
    memory, source = memory_of(emitter, form, form.values[0])
    kind = last_kind(form)
    target = shaped(kind)
    if target is not None and 0 <= source.elements != target.elements >= 0:
        says = f"{source.elements} elements become {target.elements}"
        raise form.error(says, "as many elements", reason="mlir_type")
    if target is None or target.elements < 0:
        raise form.error("its shape is known at run time only", "a shape of numbers", reason="mlir_unknown")
    shape = ", ".join(map(str, target.shape))
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {memory}.reshape(({shape},))")


def same(emitter: Emitter, form: Form) -> None:
    """The same value under another name."""
    kind = last_kind(form) or emitter.types.get(form.values[0], "")
    source = emitter.types.get(form.values[0], kind)
    chosen = source if shaped(source) is not None else kind
    emitter.lines.add(f"{emitter.define(form.result, chosen)} = {emitter.use(form.values[0])}")


def copy(emitter: Emitter, form: Form) -> None:
    """``memref.copy %a, %b``."""
    (source, one), (target, other) = (memory_of(emitter, form, value) for value in form.values.exactly(2))
    if one.shape != other.shape:
        raise form.error("its memories have not the same shape", "memories of one shape", reason="mlir_type")
    emitter.lines.add(f"{target}[...] = {source}")


def dimension(emitter: Emitter, form: Form) -> None:
    """``memref.dim %m, %i``."""
    memory, kind = memory_of(emitter, form, form.values[0])
    which = number_of(emitter, form, form.values[1])
    size = f"{memory}.shape[place({which}, {len(kind.shape)}, {emitter.lines.site})]"
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {size}")


def allocate(emitter: Emitter, form: Form) -> None:
    """``memref.alloc`` and ``memref.alloca``: memory of the stack, zero at first."""
    kind = last_kind(form)
    target = shaped(kind)
    if target is None or target.elements < 0:
        raise form.error("its size is known at run time only", "a shape of numbers", reason="mlir_unknown")
    size = target.elements * working_type(target.element).itemsize
    if size > COMPUTE.memory_bytes:
        says = f"it has {size} bytes"
        raise form.error(says, f"0..{COMPUTE.memory_bytes} bytes, all memory of the tile", reason="mlir_size")
    shape = ", ".join(map(str, target.shape or (1,)))
    name = f"np.{working_type(target.element).name}"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = np.zeros(({shape},), {name})")


def get_global(emitter: Emitter, form: Form) -> None:
    """``memref.get_global @table``."""
    name = str(form.attributes.get("name") or form.symbol)
    text, kind = emitter.constant_array(name, form)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def fill(emitter: Emitter, form: Form) -> None:
    """``linalg.fill ins(%c : i32) outs(%m : memref<..>)``."""
    value, target = form.values.first(2)
    memory, kind = memory_of(emitter, form, target)
    text = number_of(emitter, form, value)
    if kind.element == "bf16":
        text = f"to_bf16({text})"
    emitter.lines.add(f"{memory}[...] = {text}")


def loop(emitter: Emitter, form: Form) -> None:
    """``scf.for %i = %a to %b step %c iter_args(%x = %y) -> (i32) { .. }``."""
    operation = form.operation
    if form.generic:
        low, high, step, *initial = form.values.first(max(3, len(form.values)))
        (block,) = form.regions[0].blocks[:1]
        counter, *carried = (name for name, _ in block.arguments)
    else:
        counter = operation.words[0]
        low, high, step = (form.after(key) for key in ("=", "to", "step"))
        carried, initial = _iter_args(form)
    if len(carried) != len(initial):
        raise form.error("its region does not take what it carries", "an argument for each value")
    low, high, step = (number_of(emitter, form, value) for value in (low, high, step))
    counts = counter, low, high, step
    _turns(emitter, form, counts, (carried, initial))


def affine_loop(emitter: Emitter, form: Form) -> None:
    """``affine.for %i = 0 to 64 step 2 iter_args(..) { .. }``."""
    words = form.operation.words
    low, high = (_bound(emitter, form, form.after(key)) for key in ("=", "to"))
    step = str(form.whole(form.after("step"))) if "step" in words else "1"
    _turns(emitter, form, (words[0], low, high, step), _iter_args(form))


def _bound(emitter: Emitter, form: Form, word: str) -> str:
    if word[:1] == "%":
        return number_of(emitter, form, word)
    if not isinstance(number(word), int):
        raise form.error(f"the bound {word} is not known", "a number or a value", reason="mlir_unknown")
    return str(number(word))


def _iter_args(form: Form) -> tuple[list[str], list[str]]:
    words = form.operation.words
    if "iter_args" not in words:
        return [], []
    at = words.index("iter_args")
    end = words.index(")", at)
    pairs = [(words[n - 1], words[n + 1]) for n in range(at + 1, end) if words[n] == "="]
    if not all(name[:1] == value[:1] == "%" for name, value in pairs):
        raise form.error("it carries something else than values", "%name = %value", reason="mlir_operands")
    return [name for name, _ in pairs], [value for _, value in pairs]


def _turns(
    emitter: Emitter, form: Form, counts: tuple[str, str, str, str], args: tuple[list[str], list[str]]
) -> None:
    """A loop: its counter, bounds and step, and what it carries from turn to turn."""
    lines, (counter, low, high, step), (carried, initial) = emitter.lines, counts, args
    kinds = [emitter.types.get(value, "index") for value in initial]
    for name, value, kind in zip(carried, initial, kinds, strict=True):
        lines.add(f"{emitter.define(name, kind)} = {emitter.use(value)}")
    lines.book()
    stride = f"stride({step}, {lines.site})"
    lines.add(f"for {emitter.define(counter, 'index')} in range({low}, {high}, {stride}):")
    lines.depth += 1
    emitter.loop_cost()
    block = form.regions[0].blocks[0]
    emitter.block(block)
    _hand_over(emitter, form, block, carried)
    lines.book()
    emitter.check_end(form.operation)
    lines.depth -= 1
    for result, name, kind in zip(form.operation.results[-len(carried) :], carried, kinds, strict=False):
        lines.add(f"{emitter.define(result, kind)} = {emitter.use(name)}")
    _several(emitter, form, carried, kinds)


def _several(emitter: Emitter, form: Form, carried: list[str], kinds: list[str]) -> None:
    """Results of an operation with several, ``%0#1``."""
    if len(carried) > 1:
        for n, (name, kind) in enumerate(zip(carried, kinds, strict=True)):
            emitter.lines.add(f"{emitter.define(f'{form.result}#{n}', kind)} = {emitter.use(name)}")


def _hand_over(emitter: Emitter, form: Form, block: Block, names: Sequence[str]) -> None:
    """What a block yields becomes the values of the names, at once."""
    last = block.operations[-1] if block.operations else None
    if not names or last is None or not last.name.endswith((".yield", ".condition")):
        if not emitter.lines.cost:
            emitter.lines.add("pass")
        return
    given = [word for word in last.words if word[:1] == "%"][-len(names) :]
    if len(given) != len(names):
        says = f"{len(given)} values are handed on for {len(names)}"
        raise form.error(says, "a value for each", reason="mlir_operands")
    left = ", ".join(emitter.use(name) for name in names)
    emitter.lines.add(f"{left} = {', '.join(emitter.use(value) for value in given)}")


def branch(emitter: Emitter, form: Form) -> None:
    """``%r = scf.if %c -> (i32) { .. } else { .. }``."""
    lines, regions = emitter.lines, form.operation.regions
    lines.book()
    results = form.operation.results
    names = results if len(results) <= 1 else results[1:]
    lines.add(f"if {number_of(emitter, form, form.values[0])}:")
    if not 1 <= len(regions) <= 2:
        raise form.error(f"it has {len(regions)} regions", "one, or two", reason="mlir_operands")
    for n, region in enumerate(regions):
        if n:
            lines.add("else:")
        lines.depth += 1
        emitter.block(region.blocks[0])
        last = region.blocks[0].operations[-1] if region.blocks[0].operations else None
        if names and last is not None:
            given = [word for word in last.words if word[:1] == "%"]
            for name, value in zip(names, given, strict=False):
                kind = emitter.types.get(value, "index")
                lines.add(f"{emitter.define(name, kind)} = {emitter.use(value)}")
        lines.book()
        lines.add("pass")
        lines.depth -= 1


def while_loop(emitter: Emitter, form: Form) -> None:
    """``scf.while (%a = %b) : (i32) -> i32 { scf.condition(%c) %a } do { ^bb0(%a: i32): .. scf.yield }``."""
    lines, (before, after) = emitter.lines, form.regions.exactly(2)
    words = form.operation.words
    carried = [words[n - 1] for n, word in enumerate(words) if word == "="]
    initial = [words[n + 1] for n, word in enumerate(words) if word == "="]
    for name, value in zip(carried, initial, strict=True):
        kind = emitter.types.get(value, "index")
        lines.add(f"{emitter.define(name, kind)} = {emitter.use(value)}")
    lines.book()
    lines.add("while True:")
    lines.depth += 1
    emitter.loop_cost()
    emitter.block(before.blocks[0])
    last = before.blocks[0].operations[-1] if before.blocks[0].operations else form.operation
    if last.name != "scf.condition":
        raise form.error(
            "its first region does not end in a condition", "scf.condition", reason="mlir_operands"
        )
    condition, *passed = Form(last).values.first(max(1, len(Form(last).values)))
    results = form.operation.results if len(form.operation.results) <= 1 else form.operation.results[1:]
    lines.book()
    for name, value in zip(results, passed, strict=False):
        lines.add(f"{emitter.define(name, emitter.types.get(value, 'index'))} = {emitter.use(value)}")
    lines.add(f"if not {emitter.use(condition)}:")
    lines.add("    break")
    for (name, kind), value in zip(after.blocks[0].arguments, passed, strict=False):
        lines.add(f"{emitter.define(name, kind)} = {emitter.use(value)}")
    emitter.block(after.blocks[0])
    _hand_over(emitter, form, after.blocks[0], carried)
    lines.book()
    emitter.check_end(form.operation)
    lines.depth -= 1


def nothing(_emitter: Emitter, _form: Form) -> None:
    """Changes nothing."""


HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys(RULES, compute),
    "arith.constant": constant,
    "arith.cmpi": compare,
    "arith.cmpf": compare,
    "memref.load": load,
    "memref.store": store,
    "affine.load": load,
    "affine.store": store,
    "memref.subview": subview,
    "memref.reinterpret_cast": reinterpret,
    "memref.collapse_shape": reshape,
    "memref.expand_shape": reshape,
    "memref.cast": same,
    "memref.assume_alignment": same,
    "memref.copy": copy,
    "memref.dim": dimension,
    "memref.alloc": allocate,
    "memref.alloca": allocate,
    "memref.dealloc": nothing,
    "memref.get_global": get_global,
    "linalg.fill": fill,
    "scf.for": loop,
    "affine.for": affine_loop,
    "scf.if": branch,
    "scf.while": while_loop,
    "scf.yield": nothing,
    "scf.condition": nothing,
    "affine.yield": nothing,
    "aie.event": nothing,
    "aie.debug": nothing,
}
