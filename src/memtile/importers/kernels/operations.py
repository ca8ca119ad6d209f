"""Control flow of a core body: loops and branches as lines of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtile.importers.kernels.emitter import Emitter, Handler, items_of
from memtile.importers.kernels.maps import affine_map
from memtile.importers.kernels.operands import number_of
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Block


def loop(emitter: Emitter, form: Form) -> None:
    """``scf.for %i = %a to %b step %c iter_args(%x = %y) -> (i32) { .. }``."""
    operation = form.operation
    if form.generic:
        low, high, step, *initial = form.values.first(max(3, len(form.values)))
        (block,) = form.regions[0].blocks[:1]
        counter, *carried = (name for name, _ in block.arguments)
    else:
        counter = operation.words[1] if operation.words[0] == "unsigned" else operation.words[0]
        low, high, step = (form.after(key) for key in ("=", "to", "step"))
        carried, initial = _iter_args(form)
    if len(carried) != len(initial):
        raise form.error("its region does not take what it carries", "an argument for each value")
    low, high, step = (number_of(emitter, form, value) for value in (low, high, step))
    counts = counter, low, high, step
    _turns(emitter, form, counts, (carried, initial))


def affine_loop(emitter: Emitter, form: Form) -> None:
    """``affine.for %i = 0 to min #map(%n)[%m] step 2 iter_args(..) { .. }``."""
    if form.generic:
        _generic_affine_loop(emitter, form)
        return
    tokens = form.operation.tokens
    places = [at for first, end in form.operation.spans for at in range(first, end)]
    words = [tokens.words[at] for at in places]
    low, high = (_bound(emitter, form, places[words.index(key) + 1], key) for key in ("=", "to"))
    step = words[words.index("step") + 1] if "step" in words else "1"
    _turns(emitter, form, (words[0], low, high, step), _iter_args(form))


def _bound(emitter: Emitter, form: Form, at: int, key: str) -> str:
    """A bound: a number, a value, or the results of a map, of which the largest or smallest counts."""
    words, close = form.operation.tokens.words, form.operation.tokens.close
    extreme = words[at] if words[at] in ("min", "max") else ""
    at += 1 if extreme else 0
    word = words[at]
    if number(word) is not None:
        return word
    if word[:1] == "%":
        return emitter.use(word)
    end = close.get(at + 1, at) if word == "affine_map" else at
    found = affine_map(form, form.operation.tokens.join(at, end + 1))
    inside = words[end + 1 : close.get(end + 1, end) + 1]
    after = close.get(end + 1, end) + 1
    symbols = words[after : close[after]] if words[after] == "[" and after in close else []
    given = [[emitter.use(w) for w in part if w[:1] == "%"] for part in (inside, symbols)]
    return _extreme(found.expressions(*given), extreme or ("max" if key == "=" else "min"))


def _extreme(texts: Sequence[str], which: str) -> str:
    text = texts[0]
    for other in texts[1:]:
        text = f"{'largest' if which == 'max' else 'least'}({text}, {other})"
    return text


def _generic_affine_loop(emitter: Emitter, form: Form) -> None:
    given = form.attributes
    low, high = (affine_map(form, str(given[f"{name}BoundMap"])) for name in ("lower", "upper"))
    sizes = items_of(given["operandSegmentSizes"])
    values = [emitter.use(value) for value in form.values]
    first, second = values[: sizes[0]], values[sizes[0] : sizes[0] + sizes[1]]
    bounds = (
        _extreme(low.expressions(first[: low.dims], first[low.dims :]), "max"),
        _extreme(high.expressions(second[: high.dims], second[high.dims :]), "min"),
    )
    counter, *carried = (name for name, _ in form.operation.regions[0].blocks[0].arguments)
    initial = form.values[sizes[0] + sizes[1] :]
    _turns(emitter, form, (counter, *bounds, str(given["step"])), (carried, initial))


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


def yielded(block: Block) -> list[str]:
    """The values that a block hands on."""
    last = block.operations[-1] if block.operations else None
    if last is None or not last.name.endswith((".yield", ".return")):
        return []
    return [word for word in last.words if word[:1] == "%"]


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
    if form.generic:
        carried, initial = [name for name, _ in before.blocks[0].arguments], list(form.values)
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
