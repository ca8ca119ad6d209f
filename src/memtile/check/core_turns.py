"""What a core of an MLIR design does to locks and cascades, turn by turn, as far as its text decides it.

Only operations that lead to a lock or to the cascade are done; all others change memory, which an abstract
run has not. Where such an operation hangs on a value of memory or of a function, the text does not decide,
and the turns end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtile.importers.kernels.body_operations import ENDLESS_TURNS
from memtile.importers.kernels.core_locks import reached_by_core
from memtile.importers.kernels.lock_steps import GETS, PUTS, Branch, Loop, Node, steps_of
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.forms.locks import fifo_form, lock_form
from memtile.importers.mlir.forms.operands import OperationForm, constant, targets_of
from memtile.importers.mlir.tree import Operation, OperationBlock, Region
from memtile.jit.tables import plain

_CALLS = ("func.call", "call")
_ENDS = ("aie.end", "scf.yield", "return", "func.return", "affine.yield")
_SYNCS = frozenset(("aie.use_lock", "aie.objectfifo.acquire", "aie.objectfifo.release"))
_MOST_TURNS = 100_000  # blocks of one core that are gone through
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": lambda one, two: one + two,
    "arith.subi": lambda one, two: one - two,
    "arith.muli": lambda one, two: one * two,
    "arith.remui": lambda one, two: one % two,
    "arith.remsi": lambda one, two: one % two,
    "arith.divui": lambda one, two: one // two,
    "arith.divsi": lambda one, two: one // two,
}
_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda one, two: one == two,
    "ne": lambda one, two: one != two,
    "slt": lambda one, two: one < two,
    "sle": lambda one, two: one <= two,
    "sgt": lambda one, two: one > two,
    "sge": lambda one, two: one >= two,
    "ult": lambda one, two: one < two,
    "ule": lambda one, two: one <= two,
    "ugt": lambda one, two: one > two,
    "uge": lambda one, two: one >= two,
}


class Turn(NamedTuple):
    """A lock that a core takes or gives, or a value that it puts on the cascade or gets there.

    Attributes:
        lock: index among all locks of the model; -1 = the cascade.
        takes: units that it waits for and takes, values that it gets; 0 = it gives.
        gives: units, values that it puts.
        place: where the text says it.
        exact: it waits for exactly that value, and leaves it (DEV-LOCK-3).
    """

    lock: int
    takes: int
    gives: int
    place: str
    exact: bool = False


class UndecidedError(Exception):
    """The text alone does not say what the core does."""


Values = dict[str, int]


def cascades_by_text(made: Configured) -> frozenset[str] | None:
    """The tiles whose cores use the cascade, if the text has both ends of each flow.

    Returns:
        None where a function puts or gets the values of a flow: how many is not in the text.
    """
    device, ends = made.device, dict[str, set[str]]()
    for core in device.cores:
        acts = {each.name for each in reached_by_core(core.operation, device) if each is not None}
        ends[device.aliases.get(core.tile, core.tile)] = acts.intersection((*PUTS, *GETS))
    for flow in device.cascades:
        puts, gets = (ends.get(device.aliases.get(end, end), set[str]()) for end in flow[:2])
        if puts.isdisjoint(PUTS) or gets.isdisjoint(GETS):
            return None
    return frozenset(tile for tile, acts in ends.items() if acts)


def _has_end(nodes: Sequence[Node]) -> bool:
    for node in nodes:
        if isinstance(node, Loop) and (node.turns is None or node.turns >= ENDLESS_TURNS):
            return False
        inner = node.ways if isinstance(node, Branch) else [node.steps] if isinstance(node, Loop) else []
        if not all(_has_end(each) for each in inner):
            return False
    return True


class CoreText:
    """A core of a design and its functions.

    Args:
        made: the design.
        core: of it.
        cascades: whether its turns at the cascade are among them.
    """

    def __init__(self, made: Configured, core: CoreDescription, *, cascades: bool = False) -> None:
        self._made, self._core = made, core
        self._acts = frozenset((*_SYNCS, *PUTS, *GETS)) if cascades else _SYNCS
        self._bases = plain(made.array.engine.spec.tiles).lock_base
        self._syncs: dict[Operation, bool] = {}
        self._held: dict[tuple[str, str], int] = {}
        self._left = _MOST_TURNS

    @property
    def has_end(self) -> bool:
        """Whether all its loops turn a known number of times, so that it is to come to its end."""
        return _has_end(steps_of(self._made.device, self._core))

    def turns(self) -> Iterator[Turn]:
        """What it does, in order.

        Raises:
            UndecidedError: from here on the text does not say it.
        """
        for region in self._core.operation.regions[:1]:
            yield from self._region(region, {})

    def _region(self, region: Region, values: Values) -> Iterator[Turn]:
        """The blocks of a region, as branches lead from one to another."""
        blocks = {block.label: block for block in region.blocks}
        block: OperationBlock | None = region.blocks[0]
        while block is not None:
            self._left -= 1
            if self._left < 0:
                raise UndecidedError
            yield from self._block(block, values)
            block = self._following(block, blocks, values)

    def _block(self, block: OperationBlock, values: Values) -> Iterator[Turn]:
        for operation in block.operations:
            if self._leads_to_an_act(operation):
                yield from self._operation(operation, values)

    def _following(
        self, block: OperationBlock, blocks: Mapping[str, OperationBlock], values: Values
    ) -> OperationBlock | None:
        """The block after one; its arguments get their values."""
        last = block.operations[-1] if block.operations else None
        if last is None or last.name in _ENDS or not last.name.rpartition(".")[2].endswith("br"):
            if last is not None and last.name == "cf.switch":
                raise UndecidedError
            return None
        targets = targets_of(last)
        at = 0
        if len(targets) > 1:
            at = 0 if self._value(OperationForm(last).values[0], last, values) else 1
        label, given = targets[at]
        following = blocks[label]
        known = [self._known(value, last, values) for value in given]
        for (name, _), value in zip(following.arguments, known, strict=True):
            values.pop(name, None)
            if value is not None:
                values[name] = value
        return following

    def _leads_to_an_act(self, operation: Operation) -> bool:
        if operation not in self._syncs:
            self._syncs[operation] = False  # a function that calls itself
            self._syncs[operation] = operation.name in self._acts or any(
                self._leads_to_an_act(inner)
                for region in self._inside(operation)
                for block in region.blocks
                for inner in block.operations
            )
        return self._syncs[operation]

    def _inside(self, operation: Operation) -> list[Region]:
        if operation.name in _CALLS:
            function = self._function(operation)
            return function.regions if function is not None else []
        return operation.regions

    def _function(self, operation: Operation) -> Operation | None:
        form = OperationForm(operation)
        name = form.symbol or str(form.attributes.get("callee", ""))
        return self._made.device.functions.get(name)

    def _operation(self, operation: Operation, values: Values) -> Iterator[Turn]:
        name, form = operation.name, OperationForm(operation)
        if name == "aie.use_lock":
            yield from self._use_lock(form, values)
        elif name == "aie.objectfifo.acquire":
            yield from self._fifo(form, values, acquires=True)
        elif name == "aie.objectfifo.release":
            yield from self._fifo(form, values, acquires=False)
        elif name in PUTS or name in GETS:
            yield Turn(-1, int(name in GETS), int(name in PUTS), _where(form))
        elif name in _CALLS:
            yield from self._call(operation, form, values)
        elif name == "scf.for":
            yield from self._loop(operation, form, values)
        elif name == "scf.if":
            regions = operation.regions
            chosen = 0 if self._value(form.values[0], operation, values) else 1
            if chosen < len(regions):
                yield from self._region(regions[chosen], values)
        else:
            raise UndecidedError

    def _call(self, operation: Operation, form: OperationForm, values: Values) -> Iterator[Turn]:
        function = self._function(operation)
        assert function is not None  # else nothing leads to an act
        region = function.regions[0]
        inner: Values = {}
        for (name, _), given in zip(region.blocks[0].arguments, form.values, strict=False):
            known = self._known(given, operation, values)
            if known is not None:
                inner[name] = known
        yield from self._region(region, inner)

    def _loop(self, operation: Operation, form: OperationForm, values: Values) -> Iterator[Turn]:
        (block,) = operation.regions[0].blocks[:1]
        if form.generic:
            low, high, step, *_ = form.values
            counter = block.arguments[0][0]
        else:
            words = operation.words
            counter = words[1] if words[0] == "unsigned" else words[0]
            low, high, step = (form.after(key) for key in ("=", "to", "step"))
        first, end, width = (self._value(value, operation, values) for value in (low, high, step))
        if width <= 0:
            raise UndecidedError
        for number in range(first, end, width):
            self._left -= 1
            if self._left < 0:
                raise UndecidedError
            values[counter] = number
            yield from self._region(operation.regions[0], values)

    def _use_lock(self, form: OperationForm, values: Values) -> Iterator[Turn]:
        said = lock_form(form)
        if said is not None:
            count = self._value(said.units, form.operation, values)
            exact = said.action == "acquire"
            turns = self._turn(form, said.lock, count, acquires=said.action != "release")
            yield from (turn._replace(exact=exact) for turn in turns)

    def _fifo(self, form: OperationForm, values: Values, *, acquires: bool) -> Iterator[Turn]:
        """To acquire n objects is to hold n (see ``importers.kernels.kernel``)."""
        name, port, given = fifo_form(form)
        count = self._value(given, form.operation, values)
        tile = self._made.device.aliases.get(self._core.tile, self._core.tile)
        fifos = self._made.fifos
        end = fifos.producers.get(name) if port == "Produce" else fifos.consumers.get((name, tile))
        if end is None:
            raise UndecidedError
        held = self._held.get((name, port), 0)
        free, full = (end.free, end.full) if port == "Produce" else (end.full, end.free)
        units = (max(count - held, 0) if acquires else count) * end.units
        self._held[name, port] = held + units if acquires else held - units
        yield from self._turn(form, free if acquires else full, units, acquires=acquires)

    def _turn(self, form: OperationForm, name: str, count: int, *, acquires: bool) -> Iterator[Turn]:
        lock = self._made.locks.get(name)
        if lock is None or not count:
            return
        place = lock.place
        assert place is not None  # tiles of an array have one
        number = int(self._bases[self._made.array.tile(*place).index]) + lock.id
        yield Turn(number, abs(count) if acquires else 0, 0 if acquires else count, _where(form))

    def _value(self, text: str, operation: Operation, values: Values) -> int:
        """A whole number, or that of a value.

        Raises:
            UndecidedError: nobody knows it.
        """
        found = self._known(text, operation, values)
        if found is None:
            raise UndecidedError
        return found

    def _known(self, text: str, operation: Operation, values: Values, depth: int = 16) -> int | None:
        if text[:1] != "%":
            return int(text) if text.lstrip("-").isdigit() else None
        if text in values:
            return values[text]
        plain_number = constant(operation, text)
        if isinstance(plain_number, int):
            return int(plain_number)
        region = operation.parent.region if operation.parent else None
        made = region.find(text) if region else None
        if not isinstance(made, Operation) or not depth:
            return None
        given = [self._known(each, made, values, depth - 1) for each in made.words if each[:1] == "%"]
        return _computed(made, given)


def _where(form: OperationForm) -> str:
    return f"{form.operation.tokens.text.name}:{form.operation.line}"


def _computed(made: Operation, given: list[int | None]) -> int | None:
    """The value of an operation on whole numbers; None if it is none."""
    known = [each for each in given if each is not None]
    if len(known) != len(given) or not known:
        return None
    if made.name in ("arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci"):
        return known[0]
    if made.name in _ARITHMETIC and len(known) == 2:
        divides = made.name[6:9] in ("div", "rem")
        return None if divides and known[1] <= 0 else _ARITHMETIC[made.name](*known)
    if made.name == "arith.cmpi" and len(known) == 2 and made.words[0] in _ORDERS:
        return int(_ORDERS[made.words[0]](*known))
    return None
