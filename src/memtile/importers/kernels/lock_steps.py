"""What the text of a core does to locks and objects, as a tree: steps, loops and branches.

Nothing is computed but the bounds of loops that are constants. A step names an end of an object FIFO or a
lock, and by how much; functions of the text are in the places that call them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtile.importers.kernels.core_locks import lock_used
from memtile.importers.mlir.description import CoreDescription, DeviceDescription
from memtile.importers.mlir.forms.locks import fifo_form, lock_form
from memtile.importers.mlir.forms.operands import OperationForm, constant, targets_of
from memtile.importers.mlir.tree import Operation, Region

_CALLS = ("func.call", "call")
_BRANCHES = ("scf.if", "scf.index_switch", "affine.if")
_PARTS = ("scf.execute_region", "scf.parallel", "memref.alloca_scope")
_JUMPS = ("cf.br", "cf.cond_br")
PUTS, GETS = ("aie.put_cascade", "aie.putCascade"), ("aie.get_cascade", "aie.getCascade")
"""A core's operations on its cascade, today's name and the one before."""
_DEEPEST = 64  # regions within regions, and calls within calls


class Key(NamedTuple):
    """What is acquired and released.

    Attributes:
        name: of the object FIFO, or of the value of the lock; empty of the cascade.
        port: ``Produce`` or ``Consume``; empty of a lock.
    """

    name: str
    port: str = ""


PUT, GET = Key("", "Produce"), Key("", "Consume")
"""The two ends of a cascade."""


class Step(NamedTuple):
    """An acquire or a release.

    Attributes:
        key: of what.
        acquires: whether it is an acquire.
        many: objects, or units of the lock; None where only a run knows it.
        operation: that says it.
    """

    key: Key
    acquires: bool
    many: int | None
    operation: Operation


@dataclass(frozen=True, slots=True)
class Loop:
    """Steps that are done again and again.

    Attributes:
        steps: of a turn.
        operation: that is the loop.
        turns: how many; None where the text does not say it.
    """

    steps: Sequence[Node]
    operation: Operation
    turns: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """Ways of which one is done.

    Attributes:
        ways: the steps of each; empty ones are ways round all others.
        operation: that is the branch.
    """

    ways: Sequence[Sequence[Node]]
    operation: Operation


Node = Step | Loop | Branch


def steps_of(device: DeviceDescription, core: CoreDescription, *, cascade: bool = False) -> list[Node]:
    """All that the body of a core does to locks and objects, or to its cascade instead."""
    steps = _Steps(device, cascade=cascade)
    return steps.region(core.operation, core.operation.regions[0]) if core.operation.regions else []


def all_steps(nodes: Sequence[Node]) -> Iterator[Step]:
    """The steps within, in the order of the text."""
    for node in nodes:
        if isinstance(node, Step):
            yield node
        elif isinstance(node, Loop):
            yield from all_steps(node.steps)
        else:
            for way in node.ways:
                yield from all_steps(way)


def sure_steps(nodes: Sequence[Node]) -> Iterator[Step]:
    """The steps that a core comes to whatever it computes, in the order of the text."""
    for node in nodes:
        if isinstance(node, Step):
            yield node
        elif isinstance(node, Loop):
            yield from sure_steps(node.steps) if node.turns else ()
        else:
            yield from sure_steps(known_way(node) or ())


def loop_without_release(nodes: Sequence[Node], taken: Key, given: Key) -> tuple[Loop, Step] | None:
    """A loop of more than one turn that acquires something and does not release it, and the acquire."""
    for node in nodes:
        inside: Sequence[Sequence[Node]] = ()
        if isinstance(node, Branch):
            inside = node.ways
        elif isinstance(node, Loop):
            steps = list(all_steps(node.steps))
            first = next((each for each in steps if each.acquires and each.key == taken), None)
            again = node.turns is None or node.turns > 1
            if again and first is not None and not any(gives(each, given) for each in steps):
                return node, first
            inside = (node.steps,)
        for way in inside:
            found = loop_without_release(way, taken, given)
            if found is not None:
                return found
    return None


def one_sided_branch(nodes: Sequence[Node], key: Key) -> Branch | None:
    """The innermost branch that releases something on one of its ways and not on another; None = none."""
    for node in nodes:
        inside = node.ways if isinstance(node, Branch) else [node.steps] if isinstance(node, Loop) else []
        for way in inside:
            if (found := one_sided_branch(way, key)) is not None:
                return found
        if isinstance(node, Branch) and len({any(gives(s, key) for s in all_steps(w)) for w in inside}) > 1:
            return node
    return None


def passes_on(nodes: Sequence[Node], key: Key, branch: Branch) -> bool:
    """Whether a turn asks for an object, and a way of a branch that keeps it has objects of others go on.

    A body that keeps an object for several turns has nothing on the way that keeps it, asks for an object
    only where it needs another one, or counts its turns: so the way has to hang on words.

    Args:
        nodes: of the body.
        key: of the object.
        branch: one of whose ways releases it.
    """
    for node in nodes:
        if isinstance(node, Loop) and passes_on(node.steps, key, branch):
            return True
    own = [node for node in nodes if isinstance(node, Step) and node.acquires and node.key == key]
    kept = [way for way in branch.ways if not any(gives(step, key) for step in all_steps(way))]
    on = (not step.acquires for way in kept for step in all_steps(way))
    return bool(own) and branch in nodes and any(on) and _hangs_on_words(branch)


def _hangs_on_words(branch: Branch) -> bool:
    """Whether memory decides which way a branch takes, and not a count of turns alone."""
    left, known = [(branch.operation, value) for value in OperationForm(branch.operation).values], set[str]()
    while left:
        operation, value = left.pop()
        made = operation.parent.region.find(value) if operation.parent is not None else None
        if not isinstance(made, Operation) or value in known:
            continue  # a loop counts it
        if made.name.endswith(".load"):
            return True
        known.add(value)
        left += [(made, each) for each in OperationForm(made).values]
    return False


def known_way(branch: Branch) -> Sequence[Node] | None:
    """The way of a branch that is taken each time, by a comparison of constants; None if nobody knows.

    A loop of one turn counts to what it begins with. A branch whose ways do the same has one.
    """
    steps = [[(each.key, each.acquires, each.many) for each in all_steps(way)] for way in branch.ways]
    if all(each == steps[0] for each in steps):
        return branch.ways[0]
    form = OperationForm(branch.operation)
    block = branch.operation.parent
    made = block.region.find(form.values[0]) if block is not None and form.values else None
    if not isinstance(made, Operation) or made.name != "arith.cmpi" or len(branch.ways) != 2:
        return None
    equal = {"eq": True, "ne": False}.get(made.words[0].strip('"') if made.words else "")
    numbers = [_number_of(made, value) for value in OperationForm(made).values[:2]]
    if equal is None or len(numbers) < 2 or None in numbers:
        return None
    return branch.ways[0 if (numbers[0] == numbers[1]) is equal else 1]


def _number_of(operation: Operation, value: str) -> int | None:
    """The constant that a value is, or what a loop of one turn counts to."""
    made = operation.parent.region.find(value) if operation.parent is not None else None
    loop = made.region.operation if made is not None and not isinstance(made, Operation) else None
    if loop is None:
        return _number(operation, value)
    if loop.name != "scf.for" or _turns(loop) != 1:
        return None
    form = OperationForm(loop)
    return _number(loop, form.values[0] if form.generic else form.after("="))


def gives(step: Step, key: Key) -> bool:
    """Whether a step releases something."""
    return not step.acquires and step.key == key


class _Steps:
    def __init__(self, device: DeviceDescription, *, cascade: bool) -> None:
        self._device, self._depth, self._cascade = device, 0, cascade

    def region(self, operation: Operation, region: Region) -> list[Node]:
        """The steps of a region; its blocks are a loop if a branch leads back."""
        found: list[Node] = []
        if self._depth >= _DEEPEST:
            return found
        self._depth += 1
        for block in region.blocks:
            for each in block.operations:
                found += self._operation(each)
        self._depth -= 1
        return [Loop(found, operation)] if found and _leads_back(region) else found

    def _operation(self, operation: Operation) -> list[Node]:
        name, form = operation.name, OperationForm(operation)
        if self._cascade and name in (*PUTS, *GETS):
            return [Step(PUT if name in PUTS else GET, name in GETS, 1, operation)]
        if self._cascade and name not in _CALLS:
            return self._inside(operation)
        if name in ("aie.objectfifo.acquire", "aie.objectfifo.release"):
            fifo, port, count = fifo_form(form)
            return [Step(Key(fifo, port), name.endswith("acquire"), _number(operation, count), operation)]
        if name == "aie.use_lock":
            said = lock_form(form, reason="mlir_lock")
            if said is None or said.action == "acquire":
                return []  # waits for exactly a value, and leaves it
            lock = lock_used(self._device, form, said.lock)
            return [Step(Key(lock), said.action != "release", _number(operation, said.units), operation)]
        if name in _CALLS:
            called = form.symbol or str(form.attributes.get("callee", ""))
            function = self._device.functions.get(called)
            regions = function.regions[:1] if function is not None else []
            return [node for region in regions for node in self.region(operation, region)]
        return self._inside(operation)

    def _inside(self, operation: Operation) -> list[Node]:
        ways = [self.region(operation, region) for region in operation.regions]
        steps = [node for way in ways for node in way]
        if not steps or operation.name in _PARTS:
            return steps
        if operation.name in _BRANCHES:
            return [Branch([*ways, []] if len(ways) == 1 else ways, operation)]
        return [Loop(steps, operation, _turns(operation) if operation.name == "scf.for" else None)]


def _leads_back(region: Region) -> bool:
    """Whether a block of a region branches to itself or one before it."""
    places = {block.label: number for number, block in enumerate(region.blocks)}
    for number, block in enumerate(region.blocks):
        last = block.operations[-1] if block.operations else None
        targets = targets_of(last) if last is not None and last.name in _JUMPS else ()
        if any(places.get(label, number + 1) <= number for label, _ in targets):
            return True
    return False


def _turns(loop: Operation) -> int | None:
    """How often a loop turns, if its bounds are constants."""
    form = OperationForm(loop)
    given = form.values[:3] if form.generic else [form.after(key) for key in ("=", "to", "step")]
    low, high, step = (_number(loop, value) for value in given)
    if low is None or high is None or not step or step < 0:
        return None
    return max(-(-(high - low) // step), 0)


def _number(operation: Operation, text: str) -> int | None:
    """A whole number, or that of a constant."""
    if text[:1] != "%":
        return int(text) if text.lstrip("-").isdigit() else None
    found = constant(operation, text)
    return found if type(found) is int else None
