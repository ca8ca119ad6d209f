"""Control flow of a core body: loops and branches as statements of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import reduce

from memtile.importers.kernels.body_operands import index_of, mapped, number_of
from memtile.importers.kernels.emitter import Emitter, Handler
from memtile.importers.kernels.expressions import called
from memtile.importers.kernels.maps import affine_map
from memtile.importers.kernels.quote import Node, expr, value_of
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.tree import Operation, OperationBlock

ENDLESS_TURNS = 1 << 31  # of a loop that is meant to have no end
LOADS = frozenset(("memref.load", "affine.load", "vector.load", "vector.transfer_read"))
STORES = frozenset(("memref.store", "affine.store", "vector.store", "vector.transfer_write"))
_IDLE = ("arith.", "index.", "scf.for", "scf.while", "scf.condition", "scf.yield")

Carried = tuple[list[str], list[str]]
"""What a loop carries from turn to turn: its names, and the values that they begin with."""


def loop(emitter: Emitter, form: OperationForm) -> None:
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
    bounds = [index_of(emitter, form, value) for value in (low, high, step)]
    _turns(emitter, form, counter, bounds, (carried, initial))


def is_idle(operation: Operation) -> bool:
    """Whether an operation only computes, or turns."""
    return operation.name.startswith(_IDLE)


def is_poll(operation: Operation) -> bool:
    """Whether a loop reads the same words in each turn and writes nothing, so that others have to end it."""
    if operation.name != "scf.while":
        return False
    inner = [each for each in operation.walk() if each is not operation]
    reads = [each for each in inner if each.name == "memref.load"]
    made = {name for each in inner for name in each.results}
    made |= {name for region in operation.regions for block in region.blocks for name, _ in block.arguments}
    return (
        bool(reads)
        and all(is_idle(each) or each in reads for each in inner)
        and not any(made & set(OperationForm(each).values) for each in reads)
    )


def is_rest(form: OperationForm) -> bool:
    """Whether a loop has no end and does nothing: what comes behind it is never done (DEV-BODY-4)."""
    operation = form.operation
    if operation.name not in ("scf.for", "scf.while"):
        return False
    if not all(map(is_idle, operation.walk())):
        return False
    if operation.name == "scf.while":
        last = operation.regions[0].blocks[0].operations[-1]
        return last.name == "scf.condition" and bool(constant(last, OperationForm(last).values[0]))
    names = form.values.first(3) if form.generic else [form.after(key) for key in ("=", "to", "step")]
    low, high, step = (constant(operation, name) for name in names)
    if low is None or high is None or not step:
        return False
    return (high - low) // step >= ENDLESS_TURNS


def affine_loop(emitter: Emitter, form: OperationForm) -> None:
    """``affine.for %i = 0 to min #map(%n)[%m] step 2 iter_args(..) { .. }``."""
    if form.generic:
        _generic_affine_loop(emitter, form)
        return
    tokens = form.operation.tokens
    places = [at for first, end in form.operation.spans for at in range(first, end)]
    words = [tokens.words[at] for at in places]
    low, high = (_bound(emitter, form, places[words.index(key) + 1], key) for key in ("=", "to"))
    step = index_of(emitter, form, form.after("step") if "step" in words else 1)
    _turns(emitter, form, words[0], [low, high, step], _iter_args(form))


def _bound(emitter: Emitter, form: OperationForm, at: int, key: str) -> Node:
    """A bound: a number, a value, or the results of a map, of which the largest or smallest counts."""
    words, close = form.operation.tokens.words, form.operation.tokens.close
    which = words[at] if words[at] in ("min", "max") else ""
    at += 1 if which else 0
    word = words[at]
    if number(word) is not None or word[:1] == "%":
        return index_of(emitter, form, word)
    end = close.get(at + 1, at) if word == "affine_map" else at
    found = affine_map(form, form.operation.tokens.join(at, end + 1))
    inside = words[end + 1 : close.get(end + 1, end) + 1]
    after = close.get(end + 1, end) + 1
    symbols = words[after : close[after]] if words[after] == "[" and after in close else []
    dims, more = ([number_of(emitter, form, w) for w in part if w[:1] == "%"] for part in (inside, symbols))
    return extreme_of(form, mapped(form, found, [*dims, *more]), which or ("max" if key == "=" else "min"))


def extreme_of(form: OperationForm, nodes: Sequence[Node], which: str) -> Node:
    """The smallest or the largest of several numbers.

    Raises:
        InputFileError: there is none.
    """
    if not nodes:
        raise form.error("its map has no results", "a map of one result or more", reason="mlir_index")
    name = "largest" if which == "max" else "least"
    return reduce(lambda one, other: called(name, one, other), nodes)


def _generic_affine_loop(emitter: Emitter, form: OperationForm) -> None:
    given = form.attributes
    low, high = (affine_map(form, str(given[f"{name}BoundMap"])) for name in ("lower", "upper"))
    many, more = form.integers("operandSegmentSizes")[:2]
    bounding = [number_of(emitter, form, value) for value in form.values[: many + more]]
    first, second = bounding[:many], bounding[many:]
    bounds = [
        extreme_of(form, mapped(form, low, first), "max"),
        extreme_of(form, mapped(form, high, second), "min"),
        index_of(emitter, form, form.integer("step")),
    ]
    counter, *carried = (name for name, _ in form.operation.regions[0].blocks[0].arguments)
    _turns(emitter, form, counter, bounds, (carried, form.values[many + more :]))


def _iter_args(form: OperationForm) -> Carried:
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
    emitter: Emitter, form: OperationForm, counter: str, bounds: Sequence[Node], args: Carried
) -> None:
    """A loop: its counter; its bounds and its step; what it carries from turn to turn."""
    lines, (carried, initial), (low, high, step) = emitter.lines, args, bounds
    kinds = [emitter.types.get(value, "index") for value in initial]
    for name, value, kind in zip(carried, initial, kinds, strict=True):
        give(emitter, name, kind, emitter.use(value))
    lines.book()
    with turns(emitter, counter, low, high, step):
        emitter.loop_cost()
        block = form.regions[0].blocks[0]
        emitter.block(block)
        _hand_over(emitter, form, block, carried)
        lines.book()
        emitter.check_end(form.operation)
    for result, name, kind in zip(form.operation.results[-len(carried) :], carried, kinds, strict=False):
        give(emitter, result, kind, emitter.use(name))
    if len(carried) > 1:  # results of an operation with several, %0#1
        for n, (name, kind) in enumerate(zip(carried, kinds, strict=True)):
            give(emitter, f"{form.result}#{n}", kind, emitter.use(name))


def turns(emitter: Emitter, counter: str, low: Node, high: Node, step: Node) -> AbstractContextManager[None]:
    """Return the context of a loop's body: its counter goes from ``low`` up to below ``high``."""
    return emitter.lines.within(
        "for _name in range(_low, _high, _step): pass",
        _name=emitter.define(counter, "index"),
        _low=low,
        _high=high,
        _step=turns_upwards(step),
    )


def turns_upwards(step: Node) -> Node:
    """The step of a loop, which is checked at run time unless it is known."""
    known = value_of(step)
    return step if known is not None and known > 0 else expr("stride(_step, SITE)", _step=step)


def give(emitter: Emitter, name: str, kind: str, value: Node) -> None:
    """Let a name have a value."""
    emitter.lines.add("_name = _value", _name=emitter.define(name, kind), _value=value)


def _hand_over(emitter: Emitter, form: OperationForm, block: OperationBlock, names: Sequence[str]) -> None:
    """What a block yields becomes the values of the names, at once."""
    last = block.operations[-1] if block.operations else None
    if not names or last is None or not last.name.endswith((".yield", ".condition")):
        return
    given = [word for word in last.words if word[:1] == "%"][-len(names) :]
    if len(given) != len(names):
        says = f"{len(given)} values are handed on for {len(names)}"
        raise form.error(says, "a value for each", reason="mlir_operands")
    left, right = [emitter.use(name) for name in names], [emitter.use(value) for value in given]
    emitter.lines.add("(*_left,) = (*_right,)", _left=left, _right=right)


def yielded(block: OperationBlock) -> list[str]:
    """The values that a block hands on."""
    last = block.operations[-1] if block.operations else None
    if last is None or not last.name.endswith((".yield", ".return")):
        return []
    return [word for word in last.words if word[:1] == "%"]


def results_of(form: OperationForm) -> list[str]:
    """The results of an operation one by one, without names that are those of several."""
    results = form.operation.results
    return [name for name in results if f"{name}#0" not in results]


def branch(emitter: Emitter, form: OperationForm) -> None:
    """``%r = scf.if %c -> (i32) { .. } else { .. }``."""
    lines, regions = emitter.lines, form.operation.regions
    lines.book()
    test = number_of(emitter, form, form.values[0])
    if not 1 <= len(regions) <= 2:
        raise form.error(f"it has {len(regions)} regions", "one, or two", reason="mlir_operands")
    with lines.within("if _test: pass", _test=test):
        _way(emitter, form, regions[0].blocks[0])
    if len(regions) > 1:
        with lines.otherwise():
            _way(emitter, form, regions[1].blocks[0])


def _way(emitter: Emitter, form: OperationForm, block: OperationBlock) -> None:
    """One way of a branch, whose values are the results."""
    emitter.block(block)
    given = [word for word in block.operations[-1].words if word[:1] == "%"] if block.operations else []
    for name, value in zip(results_of(form), given, strict=False):
        give(emitter, name, emitter.types.get(value, "index"), emitter.use(value))
    emitter.lines.book()


def _carried(form: OperationForm, before: OperationBlock) -> tuple[list[str], list[str]]:
    """The values that a loop hands on from turn to turn, and those that it begins with."""
    if form.generic:
        return [name for name, _ in before.arguments], list(form.values)
    words = form.operation.words
    at = [n for n, word in enumerate(words) if word == "="]
    return [words[n - 1] for n in at], [words[n + 1] for n in at]


def while_loop(emitter: Emitter, form: OperationForm) -> None:
    """``scf.while (%a = %b) : (i32) -> i32 { scf.condition(%c) %a } do { ^bb0(%a: i32): .. scf.yield }``."""
    lines, (before, after) = emitter.lines, form.regions.exactly(2)
    carried, initial = _carried(form, before.blocks[0])
    for name, value in zip(carried, initial, strict=True):
        give(emitter, name, emitter.types.get(value, "index"), emitter.use(value))
    lines.book()
    if is_poll(form.operation):
        lines.add("polled = 0")
    with lines.within("while True: pass"):
        emitter.loop_cost()
        emitter.block(before.blocks[0])
        last = before.blocks[0].operations[-1] if before.blocks[0].operations else form.operation
        if last.name != "scf.condition":
            raise form.error(
                "its first region does not end in a condition", "scf.condition", reason="mlir_operands"
            )
        condition, *passed = OperationForm(last).values.first(max(1, len(OperationForm(last).values)))
        lines.book()
        for name, value in zip(results_of(form), passed, strict=False):
            give(emitter, name, emitter.types.get(value, "index"), emitter.use(value))
        with lines.within(
            "if not _condition: pass", _condition=number_of(emitter, OperationForm(last), condition)
        ):
            lines.add("break")
        for (name, kind), value in zip(after.blocks[0].arguments, passed, strict=False):
            give(emitter, name, kind, emitter.use(value))
        emitter.block(after.blocks[0])
        _hand_over(emitter, form, after.blocks[0], carried)
        lines.book()
        emitter.check_end(form.operation)


def nothing(_emitter: Emitter, _form: OperationForm) -> None:
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
