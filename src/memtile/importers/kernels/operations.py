"""What each operation of a core body is as lines of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from memtile.importers.kernels.expressions import RULES, bits_of, compared, wrapped
from memtile.importers.kernels.source import Lines
from memtile.importers.kernels.views import working_type
from memtile.importers.mlir.attributes import Compound, number
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Block
from memtile.importers.mlir.types import Shaped, shaped


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

    def loop_cost(self) -> None:
        """Book what a turn of a loop costs beside its operations."""

    def constant_array(self, name: str, form: Form) -> str:
        """The Python name of the array that a constant of the module is."""

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
    given = [emitter.use(value) for value in form.values]
    first = emitter.types.get(form.values[0], "")
    if form.operation.name == "arith.select":
        first = emitter.types.get(form.values[1], "")
    cast = form.operation.name in _CASTS
    kind = last_kind(form) if cast or not first else first
    text = RULES[form.operation.name](given, first, kind)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


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
    one, other = (emitter.use(value) for value in form.values[:2])
    kind = emitter.types.get(form.values[0], "")
    predicate = form.attributes.get("predicate", form.operation.words[0].strip('"'))
    floats = form.operation.name == "arith.cmpf"
    text = compared(predicate, (one, other), kind, floats=floats)
    if text is None:
        raise form.error(f"the predicate {predicate} is not known", "eq, ne, slt, ...", reason="mlir_unknown")
    emitter.lines.add(f"{emitter.define(form.result, 'i1')} = {text}")


def load(emitter: Emitter, form: Form) -> None:
    """``memref.load %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = _memory(emitter, form, form.values[0])
    text = f"{memory}[{_place(emitter, form, 0, kind)}]"
    if kind.element == "bf16":
        text = f"from_bf16({text})"
    elif bits_of(kind.element) is not None:
        text = f"int({text})"
    emitter.lines.add(f"{emitter.define(form.result, kind.element)} = {text}")


def store(emitter: Emitter, form: Form) -> None:
    """``memref.store %v, %m[%i, %j] : memref<4x4xi32>``."""
    memory, kind = _memory(emitter, form, form.values[1])
    value = emitter.use(form.values[0])
    if kind.element == "bf16":
        value = f"to_bf16({value})"
    emitter.lines.add(f"{memory}[{_place(emitter, form, 1, kind)}] = {value}")


def _memory(emitter: Emitter, form: Form, value: str) -> tuple[str, Shaped]:
    kind = shaped(emitter.types.get(value, ""))
    if kind is None:
        raise form.error(f"{value} is no memref", "a memref")
    return emitter.use(value), kind


def _place(emitter: Emitter, form: Form, before: int, kind: Shaped) -> str:
    """Indices of an element; a memref without dimensions has one element here."""
    if not kind.shape:
        return "0"
    at = form.bracket("[")
    if at is None:
        return ", ".join(emitter.use(value) for value in form.values[before + 1 :])
    texts = []
    for first, end in form.split(at):
        words = [affine_word(emitter, word) for word in form.operation.tokens.words[first:end]]
        texts.append(" ".join(words))
    return ", ".join(texts)


def affine_word(emitter: Emitter, word: str) -> str:
    """A token of an affine expression in Python."""
    if word[:1] == "%":
        return emitter.use(word)
    return {"floordiv": "//", "mod": "%", "symbol": ""}.get(word, word)


def subview(emitter: Emitter, form: Form) -> None:
    """``memref.subview %m[0, %i] [1, 8] [1, 1] : memref<..> to memref<..>``."""
    memory, source = _memory(emitter, form, form.values[0])
    lists = []
    for n in range(3):
        at = form.bracket("[", n)
        if at is None:
            raise form.error("it needs offsets, sizes and strides", "three lists")
        lists.append([affine_word(emitter, form.text(item)) for item in form.split(at)])
    kind = last_kind(form)
    target = shaped(kind)
    slices = [f"{o}:{o} + {s} * {t}:{t}" for o, s, t in zip(*lists, strict=True)]
    if target is not None and len(target.shape) < len(source.shape):
        drop = len(source.shape) - len(target.shape)
        for n, size in enumerate(lists[1]):
            if drop and size == "1":
                slices[n], drop = lists[0][n], drop - 1
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {memory}[{', '.join(slices)}]")


def reinterpret(emitter: Emitter, form: Form) -> None:
    """``memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1]``; contiguous ones."""
    memory, _ = _memory(emitter, form, form.values[0])
    kind = last_kind(form)
    target = shaped(kind)
    at = form.bracket("[")
    if target is None or at is None or target.elements < 0:
        raise form.error("its shape is known at run time only", "a shape of numbers", reason="mlir_unknown")
    offset = " + ".join(affine_word(emitter, form.text(item)) for item in form.split(at)) or "0"
    shape = ", ".join(map(str, target.shape))
    text = f"{memory}.reshape(-1)[{offset}:{offset} + {target.elements}].reshape(({shape},))"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


def reshape(emitter: Emitter, form: Form) -> None:
    """``memref.collapse_shape`` and ``memref.expand_shape``."""
    memory, _ = _memory(emitter, form, form.values[0])
    kind = last_kind(form)
    target = shaped(kind)
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
    source, target = (emitter.use(value) for value in form.values[:2])
    emitter.lines.add(f"{target}[...] = {source}")


def dimension(emitter: Emitter, form: Form) -> None:
    """``memref.dim %m, %i``."""
    memory, which = (emitter.use(value) for value in form.values[:2])
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {memory}.shape[{which}]")


def allocate(emitter: Emitter, form: Form) -> None:
    """``memref.alloc`` and ``memref.alloca``: memory of the stack, zero at first."""
    kind = last_kind(form)
    target = shaped(kind)
    if target is None or target.elements < 0:
        raise form.error("its size is known at run time only", "a shape of numbers", reason="mlir_unknown")
    shape = ", ".join(map(str, target.shape or (1,)))
    name = f"np.{working_type(target.element).name}"
    emitter.lines.add(f"{emitter.define(form.result, kind)} = np.zeros(({shape},), {name})")


def get_global(emitter: Emitter, form: Form) -> None:
    """``memref.get_global @table``."""
    name = str(form.attributes.get("name") or form.symbol)
    text = emitter.constant_array(name, form)
    emitter.lines.add(f"{emitter.define(form.result, last_kind(form))} = {text}")


def fill(emitter: Emitter, form: Form) -> None:
    """``linalg.fill ins(%c : i32) outs(%m : memref<..>)``."""
    value, memory = form.values[:2]
    kind = shaped(emitter.types.get(memory, ""))
    text = emitter.use(value)
    if kind is not None and kind.element == "bf16":
        text = f"to_bf16({text})"
    emitter.lines.add(f"{emitter.use(memory)}[...] = {text}")


def loop(emitter: Emitter, form: Form) -> None:
    """``scf.for %i = %a to %b step %c iter_args(%x = %y) -> (i32) { .. }``."""
    operation = form.operation
    if form.generic:
        low, high, step, *initial = form.values
        (block,) = operation.regions[0].blocks[:1]
        counter, *carried = (name for name, _ in block.arguments)
    else:
        words = operation.words
        counter = words[0]
        low, high, step = (words[words.index(key) + 1] for key in ("=", "to", "step"))
        carried, initial = _iter_args(form)
    counts = counter, emitter.use(low), emitter.use(high), emitter.use(step)
    _turns(emitter, form, counts, (carried, initial))


def affine_loop(emitter: Emitter, form: Form) -> None:
    """``affine.for %i = 0 to 64 step 2 iter_args(..) { .. }``."""
    words = form.operation.words
    at = words.index("=")
    to = words.index("to")
    low, high = (_bound(emitter, form, words, place) for place in (at + 1, to + 1))
    step = words[words.index("step") + 1] if "step" in words else "1"
    _turns(emitter, form, (words[0], low, high, step), _iter_args(form))


def _bound(emitter: Emitter, form: Form, words: Sequence[str], place: int) -> str:
    word = words[place]
    if word[:1] == "%":
        return emitter.use(word)
    if number(word) is None:
        raise form.error(f"the bound {word} is not known", "a number or a value", reason="mlir_unknown")
    return word


def _iter_args(form: Form) -> tuple[list[str], list[str]]:
    words = form.operation.words
    if "iter_args" not in words:
        return [], []
    at = words.index("iter_args") + 2
    carried, initial = [], []
    while words[at] != ")":
        if words[at] == "=":
            carried.append(words[at - 1])
            initial.append(words[at + 1])
        at += 1
    return carried, initial


def _turns(
    emitter: Emitter, form: Form, counts: tuple[str, str, str, str], args: tuple[list[str], list[str]]
) -> None:
    """A loop: its counter, bounds and step, and what it carries from turn to turn."""
    lines, (counter, low, high, step), (carried, initial) = emitter.lines, counts, args
    kinds = [emitter.types.get(value, "index") for value in initial]
    for name, value, kind in zip(carried, initial, kinds, strict=True):
        lines.add(f"{emitter.define(name, kind)} = {emitter.use(value)}")
    lines.book()
    lines.add(f"for {emitter.define(counter, 'index')} in range({low}, {high}, {step}):")
    lines.depth += 1
    emitter.loop_cost()
    emitter.block(form.operation.regions[0].blocks[0])
    _hand_over(emitter, form.operation.regions[0].blocks[0], carried)
    lines.book()
    lines.depth -= 1
    for result, name, kind in zip(form.operation.results[-len(carried) :], carried, kinds, strict=False):
        lines.add(f"{emitter.define(result, kind)} = {emitter.use(name)}")
    _several(emitter, form, carried, kinds)


def _several(emitter: Emitter, form: Form, carried: list[str], kinds: list[str]) -> None:
    """Results of an operation with several, ``%0#1``."""
    if len(carried) > 1:
        for n, (name, kind) in enumerate(zip(carried, kinds, strict=True)):
            emitter.lines.add(f"{emitter.define(f'{form.result}#{n}', kind)} = {emitter.use(name)}")


def _hand_over(emitter: Emitter, block: Block, names: Sequence[str]) -> None:
    """What a block yields becomes the values of the names, at once."""
    last = block.operations[-1] if block.operations else None
    if not names or last is None or not last.name.endswith((".yield", ".condition")):
        if not emitter.lines.cost:
            emitter.lines.add("pass")
        return
    given = [word for word in last.words if word[:1] == "%"][-len(names) :]
    left = ", ".join(emitter.use(name) for name in names)
    emitter.lines.add(f"{left} = {', '.join(emitter.use(value) for value in given)}")


def branch(emitter: Emitter, form: Form) -> None:
    """``%r = scf.if %c -> (i32) { .. } else { .. }``."""
    lines, regions = emitter.lines, form.operation.regions
    lines.book()
    results = form.operation.results
    names = results if len(results) <= 1 else results[1:]
    lines.add(f"if {emitter.use(form.values[0])}:")
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
    lines, (before, after) = emitter.lines, form.operation.regions
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
    condition, *passed = [word for word in before.blocks[0].operations[-1].words if word[:1] == "%"]
    results = form.operation.results if len(form.operation.results) <= 1 else form.operation.results[1:]
    lines.book()
    for name, value in zip(results, passed, strict=False):
        lines.add(f"{emitter.define(name, emitter.types.get(value, 'index'))} = {emitter.use(value)}")
    lines.add(f"if not {emitter.use(condition)}:")
    lines.add("    break")
    for (name, kind), value in zip(after.blocks[0].arguments, passed, strict=False):
        lines.add(f"{emitter.define(name, kind)} = {emitter.use(value)}")
    emitter.block(after.blocks[0])
    _hand_over(emitter, after.blocks[0], carried)
    lines.book()
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
