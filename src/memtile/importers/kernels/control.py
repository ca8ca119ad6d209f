"""More of control flow: loops over several dimensions, choices by number, affine conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from memtile.importers.kernels.body_operands import index_of, listed_indices, mapped, number_of
from memtile.importers.kernels.body_operations import extreme_of, give, nothing, results_of, turns, yielded
from memtile.importers.kernels.emitter import Emitter, Handler, items_of
from memtile.importers.kernels.expressions import paired
from memtile.importers.kernels.maps import AffineMap, affine_map
from memtile.importers.kernels.quote import Node, every, number
from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.tree import Region


def _map_of(emitter: Emitter, form: OperationForm) -> tuple[AffineMap, list[Node]]:
    """The map or set that an operation begins with, and its results of the values in its brackets."""
    given = form.attributes.get("map", form.attributes.get("condition"))
    found = affine_map(form, str(given) if given is not None else _map_text(form))
    return found, mapped(form, found, [number_of(emitter, form, value) for value in form.values])


def _map_text(form: OperationForm) -> str:
    """The map that an operation names or writes out in front of its operands."""
    tokens = form.operation.tokens
    at = form.operation.spans[0].first
    if tokens.words[at][:1] == "#":
        return tokens.words[at]
    return tokens.join(at, tokens.close.get(at + 1, at) + 1)


def apply(emitter: Emitter, form: OperationForm) -> None:
    """``affine.apply #map(%i)[%n]``."""
    _, results = _map_of(emitter, form)
    if len(results) != 1:
        says = f"its map has {len(results)} results"
        raise form.error(says, "a map of one result", reason="mlir_index")
    give(emitter, form.result, "index", results[0])


def extreme(emitter: Emitter, form: OperationForm) -> None:
    """``affine.min #map(%i)`` and ``affine.max``."""
    _, results = _map_of(emitter, form)
    value = extreme_of(form, results, "min" if form.operation.name.endswith("min") else "max")
    give(emitter, form.result, "index", value)


def affine_if(emitter: Emitter, form: OperationForm) -> None:
    """``affine.if #set(%i)[%n] { .. } else { .. }``."""
    found, results = _map_of(emitter, form)
    if not all(found.signs):
        raise form.error("a constraint of its set compares nothing", ">= 0, <= 0 or == 0")
    then, *others = form.operation.regions
    emitter.lines.book()
    choose(emitter, form, [(every(found.conditions(results)), then)], others[0] if others else None)


def choose(
    emitter: Emitter, form: OperationForm, ways: Sequence[tuple[Node, Region]], last: Region | None = None
) -> None:
    """Regions of which the first is done whose condition holds, else the last; it yields the results."""
    lines = emitter.lines
    with ExitStack() as blocks:
        for n, (test, region) in enumerate(ways):
            if n:
                blocks.enter_context(lines.otherwise())
            with lines.within("if _test: pass", _test=test):
                _way(emitter, form, region)
        if last is not None and ways:
            blocks.enter_context(lines.otherwise())
        if last is not None:
            _way(emitter, form, last)


def _way(emitter: Emitter, form: OperationForm, region: Region) -> None:
    emitter.block(region.blocks[0])
    for name, value in zip(results_of(form), yielded(region.blocks[0]), strict=False):
        give(emitter, name, emitter.types.get(value, "index"), emitter.use(value))
    emitter.lines.book()


def index_switch(emitter: Emitter, form: OperationForm) -> None:
    """``scf.index_switch %i -> i32 case 2 { .. } case 5 { .. } default { .. }``."""
    regions = form.operation.regions
    if form.generic:
        cases = form.integers("cases")
        first, *others = regions
        regions = [*others, first]
    else:
        words = form.operation.words
        cases = [form.whole(words[n + 1]) for n, word in enumerate(words) if word == "case"]
    if len(regions) != len(cases) + 1:
        raise form.error(
            f"it has {len(regions)} regions for {len(cases)} cases", "one for each, and a default"
        )
    value = number_of(emitter, form, form.values[0])
    emitter.lines.book()
    tests = [paired("==", value, case) for case in cases]
    choose(emitter, form, list(zip(tests, regions, strict=False)), regions[-1])


def execute_region(emitter: Emitter, form: OperationForm) -> None:
    """``scf.execute_region { .. }`` and ``memref.alloca_scope``, of one block."""
    region = form.operation.regions[0]
    if len(region.blocks) > 1:
        raise form.error("it has several blocks", "one block", reason="mlir_unknown")
    choose(emitter, form, [], region)


def forall(emitter: Emitter, form: OperationForm) -> None:
    """``scf.forall (%i, %j) in (4, %n) { .. }``, ``scf.parallel``, ``affine.parallel``, in order."""
    block = form.operation.regions[0].blocks[0]
    if form.operation.results or "shared_outs" in form.operation.words:
        raise form.error("it has results", "loops over memory", reason="mlir_unknown")
    lines, ranges = emitter.lines, _ranges(emitter, form)
    lines.book()
    with ExitStack() as loops:
        for name, low, high, step in zip(*ranges, strict=True):
            loops.enter_context(turns(emitter, name, low, high, step))
            emitter.loop_cost()
        emitter.block(block)
        lines.book()


Ranges = tuple[list[str], list[Node], list[Node], list[Node]]


def _check_counters(form: OperationForm, names: Sequence[str]) -> None:
    for name in names:
        if name[:1] != "%":
            raise form.error(f"{shown(name)} is no counter", "%name", reason="mlir_operands")


def _ranges(emitter: Emitter, form: OperationForm) -> Ranges:
    """Counters, first values, bounds and steps of a loop over several dimensions."""
    if form.generic:
        return _generic_ranges(emitter, form)
    words, lists = form.operation.words, list[list[str]]()
    while (at := form.bracket("(", len(lists))) is not None:
        lists.append([form.text(item) for item in form.split(at)])
    names, *bounds = lists
    _check_counters(form, names)
    nodes = [[index_of(emitter, form, each) for each in given] for given in bounds]
    many = len(names)
    if "to" not in words:  # in (4, 8)
        return names, [number(0)] * many, nodes[0], [number(1)] * many
    steps = nodes[2] if "step" in words and len(nodes) > 2 else [number(1)] * many
    return names, nodes[0], nodes[1], steps


def _generic_ranges(emitter: Emitter, form: OperationForm) -> Ranges:
    names = [name for name, _ in form.operation.regions[0].blocks[0].arguments]
    values = [number_of(emitter, form, value) for value in form.values]
    many = len(names)
    if form.operation.name == "scf.parallel":
        return names, values[:many], values[many : 2 * many], values[2 * many : 3 * many]
    if form.operation.name != "scf.forall":
        raise form.error(
            "its generic form is not known", "the form that mlir-opt prints", reason="mlir_unknown"
        )
    found, taken = list[list[Node]](), 0
    for key in ("staticLowerBound", "staticUpperBound", "staticStep"):
        found.append(listed_indices(emitter, form, form.attributes[key], taken))
        taken += sum(n == -(1 << 63) for n in items_of(form.attributes[key]))
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
