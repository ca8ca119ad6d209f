"""More of control flow: loops over several dimensions, choices by number, affine conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtile.importers.kernels.emitter import Emitter, Handler, items_of
from memtile.importers.kernels.maps import affine_map, condition
from memtile.importers.kernels.operations import nothing, yielded
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Region


def map_values(emitter: Emitter, form: Form) -> list[str]:
    """The results of the map that an operation begins with, of the values in its brackets."""
    given = form.attributes.get("map", form.attributes.get("condition"))
    words = form.operation.words
    text = str(given) if given is not None else _map_text(form)
    found = affine_map(form, text)
    values = [emitter.use(word) for word in words if word[:1] == "%"]
    return found.expressions(values[: found.dims], values[found.dims :])


def _map_text(form: Form) -> str:
    """The map that an operation names or writes out in front of its operands."""
    tokens = form.operation.tokens
    at = form.operation.spans[0].first
    if tokens.words[at][:1] == "#":
        return tokens.words[at]
    return tokens.join(at, tokens.close.get(at + 1, at) + 1)


def apply(emitter: Emitter, form: Form) -> None:
    """``affine.apply #map(%i)[%n]``."""
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {map_values(emitter, form)[0]}")


def extreme(emitter: Emitter, form: Form) -> None:
    """``affine.min #map(%i)`` and ``affine.max``."""
    values, name = map_values(emitter, form), "least" if form.operation.name.endswith("min") else "largest"
    text = values[0]
    for value in values[1:]:
        text = f"{name}({text}, {value})"
    emitter.lines.add(f"{emitter.define(form.result, 'index')} = {text}")


def affine_if(emitter: Emitter, form: Form) -> None:
    """``affine.if #set(%i)[%n] { .. } else { .. }``."""
    given = form.attributes.get("condition")
    found = affine_map(form, str(given) if given is not None else _map_text(form))
    values = [emitter.use(word) for word in form.operation.words if word[:1] == "%"]
    names = {f"d{n}": text for n, text in enumerate(values[: found.dims])}
    names |= {f"s{n}": text for n, text in enumerate(values[found.dims :])}
    text = " and ".join(condition(each, names) for each in found.results)
    emitter.lines.book()
    choose(emitter, form, [(f"if {text}:", form.operation.regions[0]), *_else(form.operation.regions)])


def _else(regions: Sequence[Region]) -> list[tuple[str, Region]]:
    return [("else:", regions[1])] if len(regions) > 1 and regions[1].blocks[0].operations else []


def choose(emitter: Emitter, form: Form, ways: Sequence[tuple[str, Region]]) -> None:
    """Regions of which one is done, each behind a line; what it yields are the results."""
    results = form.operation.results
    names = results if len(results) <= 1 else results[1:]
    for head, region in ways:
        emitter.lines.add(head)
        emitter.lines.depth += 1
        emitter.block(region.blocks[0])
        for name, value in zip(names, yielded(region.blocks[0]), strict=False):
            emitter.lines.add(
                f"{emitter.define(name, emitter.types.get(value, 'index'))} = {emitter.use(value)}"
            )
        emitter.lines.book()
        emitter.lines.add("pass")
        emitter.lines.depth -= 1


def index_switch(emitter: Emitter, form: Form) -> None:
    """``scf.index_switch %i -> i32 case 2 { .. } case 5 { .. } default { .. }``."""
    regions = form.operation.regions
    if form.generic:
        given = form.attributes["cases"]
        cases = [int(n) for n in items_of(given)]
        first, *others = regions
        regions = [*others, first]
    else:
        words = form.operation.words
        cases = [number(words[n + 1]) for n, word in enumerate(words) if word == "case"]  # type: ignore[misc]
    value = emitter.use(form.values[0])
    ways = [
        (f"{'if' if n == 0 else 'elif'} {value} == {case}:", r)
        for n, (case, r) in enumerate(zip(cases, regions, strict=False))
    ]
    last = regions[len(cases)]
    emitter.lines.book()
    choose(emitter, form, [*ways, ("else:" if ways else "if True:", last)])


def execute_region(emitter: Emitter, form: Form) -> None:
    """``scf.execute_region { .. }`` and ``memref.alloca_scope``, of one block."""
    region = form.operation.regions[0]
    if len(region.blocks) > 1:
        raise form.error("it has several blocks", "one block", reason="mlir_unknown")
    choose(emitter, form, [("if True:", region)])


def forall(emitter: Emitter, form: Form) -> None:
    """``scf.forall (%i, %j) in (4, %n) { .. }``, ``scf.parallel``, ``affine.parallel``, in order."""
    block = form.operation.regions[0].blocks[0]
    if form.operation.results or "shared_outs" in form.operation.words:
        raise form.error("it has results", "loops over memory", reason="mlir_unknown")
    names, lows, highs, steps = _ranges(emitter, form)
    lines, depth = emitter.lines, emitter.lines.depth
    lines.book()
    for name, low, high, step in zip(names, lows, highs, steps, strict=True):
        lines.add(f"for {emitter.define(name, 'index')} in range({low}, {high}, {step}):")
        lines.depth += 1
        emitter.loop_cost()
    emitter.block(block)
    lines.book()
    lines.add("pass")
    lines.depth = depth


def _ranges(emitter: Emitter, form: Form) -> tuple[list[str], list[str], list[str], list[str]]:
    """Counters, first values, bounds and steps of a loop over several dimensions."""
    if form.generic:
        return _generic_ranges(emitter, form)
    words, tokens = form.operation.words, form.operation.tokens
    lists = []
    n = 0
    while (at := form.bracket("(", n)) is not None:
        lists.append([form.text(item) for item in form.split(at)])
        n += 1
    texts = [[emitter.use(t) if t[:1] == "%" else t for t in each] for each in lists[1:]]
    names, many = lists[0], len(lists[0])
    assert tokens is form.operation.tokens
    if "to" not in words:  # in (4, 8)
        return names, ["0"] * many, texts[0], ["1"] * many
    steps = texts[2] if "step" in words and len(texts) > 2 else ["1"] * many
    return names, texts[0], texts[1], steps


def _generic_ranges(emitter: Emitter, form: Form) -> tuple[list[str], list[str], list[str], list[str]]:
    names = [name for name, _ in form.operation.regions[0].blocks[0].arguments]
    values = [emitter.use(value) for value in form.values]
    if form.operation.name == "scf.parallel":
        many = len(names)
        return names, values[:many], values[many : 2 * many], values[2 * many : 3 * many]
    rest, found = iter(values), []
    for key in ("staticLowerBound", "staticUpperBound", "staticStep"):
        listed = items_of(form.attributes[key])
        found.append([next(rest) if n == -(1 << 63) else str(n) for n in listed])
    return names, found[0], found[1], found[2]


HANDLERS: Mapping[str, Handler] = {
    "affine.apply": apply,
    "affine.min": extreme,
    "affine.max": extreme,
    "affine.if": affine_if,
    "affine.parallel": forall,
    "scf.forall": forall,
    "scf.parallel": forall,
    "scf.index_switch": index_switch,
    "scf.execute_region": execute_region,
    "memref.alloca_scope": execute_region,
    "memref.alloca_scope.return": nothing,
    "scf.forall.in_parallel": nothing,
    "scf.reduce": nothing,
    "linalg.yield": nothing,
}
