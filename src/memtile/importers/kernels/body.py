"""The body of a core as Python: a generator, and functions for what lies between its synchronisations.

Both are trees that ``kernels.quote`` builds; no text of a design is in them but as the data of a string.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from memtile.arch.core_costs import CLASSES, FREE, CoreCosts
from memtile.arch.tiles import COMPUTE, Generation
from memtile.errors import InputFileError, Problem
from memtile.importers.kernels import body_operations, control_flow, host_calls
from memtile.importers.kernels.aievec import modes_of
from memtile.importers.kernels.arithmetic import MOST_CYCLES
from memtile.importers.kernels.body_operands import working_type
from memtile.importers.kernels.body_segments import BodySegment, defined
from memtile.importers.kernels.emitter import VectorModes
from memtile.importers.kernels.expressions import WIDEST, is_computed
from memtile.importers.kernels.quote import Lines, Node, expr, function, number, temporary, text, variable
from memtile.importers.kernels.scalar_handlers import memory_of_constant
from memtile.importers.kernels.table import HANDLERS
from memtile.importers.kernels.verify import finished
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operand_faults import limit_error, reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.known_check import unknown_operation
from memtile.importers.mlir.scratchpad import parameter_buffer, parameter_read
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.types import Shaped, shaped
from memtile.limits import limit

_QUIET = {"func.call", "call", "func.return", "return", "aie.end", "aie.buffer"}
SYNCHRONISES = frozenset(host_calls.HANDLERS) - _QUIET
_COSTLY = 1000  # cycles of an operation, at most
_UNKNOWN_TURNS = 16  # of a loop whose bounds are values


@dataclass(slots=True)
class CoreProgram:
    """What the body of a core became.

    Attributes:
        device: whose core it is.
        costs: of its operations.
        names: what it calls, by name.
        sites: operations that lines of Python came from; the lines have their numbers.
        tree: of the generator; None until it is written.
        buffers: those that it uses, by value.
        locks: those that it uses, by value.
        externals: functions that the user has to give, by name, with what declares them.
        arrays: constants of the module that it uses.
        calls: that were written in their places.
        turns: class of the cost of operations that only make loops of lowered text turn.
        tile: value of the core's tile.
        modes: how its vector unit rounds and saturates.
        polls: loops that wait for memory to change.
    """

    device: DeviceDescription
    tile: str
    costs: CoreCosts
    modes: VectorModes
    names: dict[str, Any] = field(default_factory=dict)
    sites: list[Operation] = field(default_factory=list)
    tree: ast.FunctionDef | None = None
    buffers: dict[str, None] = field(default_factory=dict)
    locks: dict[str, None] = field(default_factory=dict)
    externals: dict[str, Operation] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    turns: dict[Operation, str] = field(default_factory=dict)
    polls: list[Operation] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The generator as text, to be read."""
        return "" if self.tree is None else ast.unparse(self.tree)

    def generator(self, file: str, names: Mapping[str, Any]) -> FunctionType:
        """The generator as a function, which knows its pieces and these names.

        Args:
            file: that tracebacks show.
            names: what it calls beside them.
        """
        assert self.tree is not None
        return defined(self.tree, file, {**names, **self.names})

    def syncs(self, operation: Operation) -> bool:
        """Whether an operation, or one within it, waits, releases, rests, or calls a function of the user."""
        return any(self._syncs(inner) for inner in operation.walk())

    def _syncs(self, operation: Operation) -> bool:
        if operation.name in SYNCHRONISES or body_operations.is_rest(OperationForm(operation)):
            return True
        if body_operations.is_poll(operation):
            return True
        function = self.function(operation)
        return function is not None and (not function.regions or any(map(self._syncs, _inside(function))))

    def function(self, operation: Operation) -> Operation | None:
        """The function that an operation calls; None if it calls none."""
        if operation.name not in ("func.call", "call"):
            return None
        form = OperationForm(operation)
        name = str(form.attributes.get("callee") or form.symbol)
        found = self.device.functions.get(name)
        if found is None:
            raise form.error(f"no function has the name {name}", "func.func", reason="mlir_function")
        return found


def _inside(function: Operation) -> list[Operation]:
    return [inner for inner in function.walk() if inner is not function]


def translate(
    device: DeviceDescription, core: Operation, costs: CoreCosts, generation: Generation = "AIE-ML"
) -> CoreProgram:
    """The program of a core.

    Raises:
        InputFileError: operations that are not known; all of them.
    """
    program = CoreProgram(
        device, OperationForm(core).values[0], costs, modes_of(core, generation), sites=[core]
    )
    _check(program, core)
    writer = Writer(program, inside=None)
    if program.tile in device.parameter_locks:
        host_calls.acquire(writer, device.parameter_locks[program.tile], 1)
    region = core.regions[0]
    if len(region.blocks) == 1:
        writer.block(region.blocks[0])
    else:
        control_flow.machine(writer, region)
    writer.flush()
    lines, shapes = Lines(), dict[str, tuple[int, ...]]()
    lines.add("cycles = 0")
    for value in writer.outer_memory:
        lines.add("_name = views[_value]", _name=variable(value), _value=text(value))
        shapes[variable(value).id] = device.buffers[value].shape.shape or (1,)
    prologue = len(lines.body)
    lines.body += writer.lines.body
    lines.add("yield from ()")
    program.buffers = dict(writer.outer_memory)
    names = [temporary(name) for name in ("core", "views", "locks", "ports", "externals")]
    tree = function(temporary("body"), names)
    tree.body = lines.body
    program.tree = finished(tree, program.sites, shapes, prologue, is_host=True)
    return program


def _check(program: CoreProgram, core: Operation) -> None:
    """Refuse what nobody knows, all at once."""
    problems: list[Problem] = []
    seen: set[str] = set()
    calls: dict[int, list[tuple[Operation, Operation]]] = {}
    waiting = [core]
    done: set[int] = set()
    while waiting:
        top = waiting.pop()
        if id(top) in done:
            continue
        done.add(id(top))
        for operation in _inside(top):
            name = operation.name
            if (
                name not in HANDLERS
                and name not in host_calls.HANDLERS
                and name not in control_flow.NAMES
                and name not in seen
            ):
                seen.add(name)
                problems += unknown_operation(operation).problems
            called = program.function(operation)
            if called is not None:
                waiting.append(called)
                calls.setdefault(id(top), []).append((operation, called))
    _check_calls(calls, core, ())
    if problems:
        raise InputFileError(problems)


def _check_calls(
    calls: dict[int, list[tuple[Operation, Operation]]], top: Operation, outer: tuple[Operation, ...]
) -> None:
    """Refuse functions that call themselves, and calls that nobody would write out."""
    for operation, called in calls.get(id(top), ()):
        name = OperationForm(called).symbol or "a function"
        if called in outer:
            says = f"{name} calls itself"
            raise OperationForm(operation).error(says, "functions that call others", reason="mlir_call")
        if len(outer) > limit("body_call_depth"):
            says = f"{name} is called within more than {limit('body_call_depth')} calls"
            raise limit_error(operation, "body_call_depth", says)
        _check_calls(calls, called, (*outer, called))


class Writer:
    """Writes the lines of one function: the generator, or a piece without synchronisation.

    Args:
        program: that it is part of.
        inside: the writer of the generator, for a piece; None for the generator itself.
    """

    def __init__(self, program: CoreProgram, inside: Writer | None) -> None:
        self.program, self.inside = program, inside
        self.lines = Lines()
        self.numbers: dict[str, int] = dict(inside.numbers) if inside else {}
        self.types: dict[str, str] = dict(inside.types) if inside else _outer_types(program.device)
        self.free: dict[str, None] = {}
        self.defined: dict[str, None] = {}
        self.outer_memory: dict[str, None] = {}
        self.prefix = ""
        self.labels: dict[str, OperationBlock] = {}

    def inner(self) -> Writer:
        """A writer for a piece of this function."""
        made = Writer(self.program, self)
        made.prefix, made.labels = self.prefix, self.labels
        made.lines.site = self.lines.site
        return made

    def calls(self) -> int:
        """A number for the next call that is written in its place."""
        self.program.calls += 1
        most = limit("body_calls")
        if self.program.calls > most:
            raise limit_error(self._form.operation, "body_calls", f"more than {most} calls are written out")
        return self.program.calls

    @property
    def is_host(self) -> bool:
        """Whether it writes the generator."""
        return self.inside is None

    @property
    def modes(self) -> VectorModes:
        """How the vector unit of the core rounds and saturates."""
        return self.program.modes

    @property
    def _form(self) -> OperationForm:
        """The operation that is written."""
        return OperationForm(self.program.sites[self.lines.site])

    def use(self, value: str) -> Node:
        """The node of a value: its name, or the number that it is."""
        key = self.prefix + value
        if key in self.numbers:
            return number(self.numbers[key])
        if key not in self.defined:
            if not self.is_host:
                self._check_width(self.types.get(value, ""))
                self.free.setdefault(key)
            elif value in self.program.device.buffers:
                self.outer_memory.setdefault(value)
                return variable(value)
            elif value in self.program.device.numbers:
                return number(self.program.device.numbers[value])
        return _name(key)

    def define(self, value: str, kind: str) -> Node:
        """The Python name of a new value.

        Raises:
            InputFileError: an integer of a width that nothing computes with.
        """
        self._check_width(kind)
        key = self.prefix + value
        self.numbers.pop(key, None)
        self.defined.setdefault(key)
        self.types[value] = kind
        return _name(key)

    def known(self, value: str, kind: str, number: int) -> None:
        """Let a value be a number wherever it is used."""
        self._check_width(kind)
        key = self.prefix + value
        self.numbers[key] = number
        self.defined.pop(key, None)
        self.types[value] = kind

    def _check_width(self, kind: str) -> None:
        if is_computed(kind, with_links=self.is_host):
            return
        allowed = (
            f"i1 to i{WIDEST}; i128 and i512 between synchronisations, as streams and the cascade have them"
        )
        raise self._form.error(
            f"integers of type {kind} are not computed", allowed, reason="mlir_width", given=kind
        )

    def lock(self, value: str) -> Node:
        """A lock of the device."""
        self.program.locks.setdefault(value)
        return expr("locks[_value]", _value=text(value))

    def check_end(self, operation: Operation) -> None:
        """At the end of a turn of a loop, see that it does not turn for ever."""
        if self.is_host and body_operations.is_poll(operation):
            self.program.polls.append(operation)
            with self.lines.within("if polled > POLLED_PART * cycles: pass"):
                self.lines.add("cycles *= polled // (POLLED_PART * cycles)")
            self.lines.add("polled += cycles")
            self._pass_time()  # what it reads, others may have written by then
        elif self.is_host:
            with self.lines.within("if cycles > MOST_CYCLES: pass"):
                self._pass_time()
        elif not _is_short(operation):
            with self.lines.within("if cycles > MOST_CYCLES: pass"):
                self.lines.add("endless(cycles, SITE)")

    def rest(self) -> None:
        """Let the core do nothing any more."""
        self.lines.book()
        self._pass_time()
        self.lines.add("return")

    def _pass_time(self) -> None:
        self.lines.add("yield core.cycles(cycles)")
        self.lines.add("cycles = 0")

    def loop_cost(self) -> None:
        """Book what a turn of a loop costs beside its operations."""
        self.lines.cost += self.program.costs.loop

    def flush(self) -> None:
        """Let the cycles pass that were booked, before something that others see."""
        self.lines.book()
        with self.lines.within("if cycles: pass"):
            self._pass_time()

    def block(self, block: OperationBlock) -> None:
        """Write the operations of a block."""
        for operation in block.operations:
            self.operation(operation)

    def operation(self, operation: Operation) -> None:
        """Write one operation.

        Raises:
            InputFileError: it is not as any tool prints it.
        """
        before, self.lines.site = self.lines.site, self._site(operation)
        with reading(operation):
            self._write(operation)
        self.lines.site = before

    def _site(self, operation: Operation) -> int:
        self.program.sites.append(operation)
        most = limit("body_operations")
        if len(self.program.sites) > most:
            raise limit_error(operation, "body_operations", f"the core has more than {most} operations")
        return len(self.program.sites) - 1

    def _write(self, operation: Operation) -> None:
        form = OperationForm(operation)
        self.lines.cost += self.cost(operation)
        if self.is_host and body_operations.is_rest(form):
            self.rest()
        elif self.is_host and operation.regions and not self.program.syncs(operation):
            self.piece(operation, lambda inner: HANDLERS[operation.name](inner, form))
        elif operation.name in host_calls.HANDLERS:
            host_calls.HANDLERS[operation.name](self, form)
        else:
            HANDLERS[operation.name](self, form)

    def piece(self, operation: Operation, write: Callable[[Writer], None]) -> None:
        """Write an operation without synchronisation as a function of its own, and its call."""
        inner = self.inner()
        write(inner)
        inner.lines.book()
        results = [self.prefix + name for name in operation.results if self.prefix + name in inner.defined]
        for name in operation.results:
            if self.prefix + name in inner.defined:
                self.define(name, inner.types[name])
        self.call(inner, results, _work(operation))

    def call(self, inner: Writer, results: Sequence[str], expected: int, state: str = "") -> None:
        """Write the call of a piece that is written; its results are values of this function then.

        Args:
            inner: writer of the piece.
            results: its results.
            expected: operations that it will do, as far as the text says.
            state: a variable that it takes and gives beside them.
        """
        name = temporary("piece", len(self.program.names))
        own: list[ast.Name] = [temporary(state)] if state else []
        free = [key for key in inner.free if key not in self.numbers]
        parameters = [*own, *map(_name, free)]
        given: list[Node] = [*own, *(self.use(key.removeprefix(self.prefix)) for key in free)]
        back: list[Node] = [*own, *map(_name, results)]
        lines = Lines(self.lines.site)
        lines.add("cycles = 0")
        lines.body += inner.lines.body
        lines.add("return (cycles, *_back)", _back=back)
        made = function(name, parameters, self.lines.site)
        made.body = lines.body
        shapes = {_name(key).id: shape for key in free if (shape := _shape_of(self.types, key)) is not None}
        tree = finished(made, self.program.sites, shapes, 1)
        self.program.names[name.id] = BodySegment(name.id, tree, expected)
        self.lines.book()
        self.lines.add("(turn, *_back) = _piece(*_given)", _back=back, _piece=name, _given=given)
        self.lines.add("cycles += turn")

    def constant_array(self, name: str, form: OperationForm) -> tuple[Node, str]:
        """The Python name of the array that a constant of the module is, and its type."""
        value = f"%array%{name}"
        made = _name(value)
        key = made.id
        if key not in self.program.arrays:
            self.program.arrays[key], kind = _array(self.program.device, name, form)
            self.program.names[key] = self.program.arrays[key]
            self.types[value] = kind
        kind = self.types[value] if value in self.types else _array(self.program.device, name, form)[1]
        if self.inside is not None:
            self.free.setdefault(value)
            self.inside.types[value] = kind
        return made, kind

    def parameter(self, form: OperationForm) -> tuple[Node, str]:
        """The buffer that an operation reads a parameter of the scratchpad from, and the parameter's type."""
        device, operation = self.program.device, form.operation
        kind = device.parameters[parameter_read(operation)].kind
        return self.use(parameter_buffer(device, operation, self.program.tile)), kind

    def cost(self, operation: Operation) -> int:
        """Cycles of an operation, without what is within it."""
        kind, name = self.program.turns.get(operation), operation.name
        if kind is not None:
            return int(getattr(self.program.costs, kind)) if kind else 0
        if name in FREE or (name not in CLASSES and name not in HANDLERS):
            return 0
        return int(getattr(self.program.costs, CLASSES.get(name, "integer")))


def _name(key: str) -> ast.Name:
    """The Python name of a value, with the call that it is of."""
    prefix, _, name = key.partition("%")
    return variable(f"%{prefix}%{name}" if prefix else f"%{name}")


def _shape_of(types: Mapping[str, str], key: str) -> tuple[int, ...] | None:
    """The sizes of the array that a value is, as far as its type says; None of a number.

    A vector is a flat array, and memory without dimensions has one element.
    """
    kind = types.get(key[key.index("%") :], "")
    found = shaped(kind)
    if found is None or not kind.startswith(("memref<", "vector<")):
        return None
    return (found.elements,) if kind.startswith("vector<") else found.shape or (1,)


def _outer_types(device: DeviceDescription) -> dict[str, str]:
    """Types of the buffers that cores use by name."""
    found = {}
    for value, buffer in device.buffers.items():
        found[value] = type_of(buffer.shape)
    return found


def type_of(shape: Shaped) -> str:
    """The type of memory, without its layout."""
    return f"memref<{''.join(f'{size}x' for size in shape.shape)}{shape.element}>"


def _array(device: DeviceDescription, name: str, form: OperationForm) -> tuple[Any, str]:
    """The elements of a constant, and its type."""
    operation = device.constants.get(name)
    if operation is None:
        raise form.error(f"no constant has the name {name}", "memref.global", reason="mlir_constant")
    data = OperationForm(operation)
    kind, given = data.last_type(), _contents(data)
    if kind is None or isinstance(given, bool):
        raise form.error(f"the constant {name} has no numbers", "dense<..>", reason="mlir_constant")
    size = kind.elements * working_type(kind.element).itemsize
    if not 0 <= size <= COMPUTE.memory_bytes:
        says = f"the constant {name} has {size} bytes"
        raise form.error(says, f"up to {COMPUTE.memory_bytes} bytes", reason="mlir_size")
    if given is None:
        return np.zeros(kind.shape or (1,), working_type(kind.element)), type_of(kind)
    return memory_of_constant(data, given, kind), type_of(kind)


def _contents(data: OperationForm) -> Any:
    """What a ``memref.global`` says that it has at the start; None if it says nothing."""
    given = data.initial() or data.attributes.get("initial_value")
    return None if given == "uninitialized" else given


def without_contents(device: DeviceDescription) -> list[str]:
    """A line about each ``memref.global`` that cores use and whose contents are open (DEV-BODY-5)."""
    used = {
        str(OperationForm(inner).attributes.get("name") or OperationForm(inner).symbol)
        for core in device.cores
        for inner in core.operation.walk()
        if inner.name == "memref.get_global"
    }
    names = [
        name
        for name in device.constants
        if name in used and _contents(OperationForm(device.constants[name])) is None
    ]
    return [
        f"memref.global @{name} has no contents in the text: zeros at first, in each core" for name in names
    ]


def _is_short(operation: Operation) -> bool:
    """Whether a loop ends soon, as far as the text says."""
    loops = [each for each in operation.walk() if each.regions]
    known = all(_known_turns(each) is not None for each in loops if not each.name.endswith(".if"))
    return known and _work(operation) < MOST_CYCLES // _COSTLY


def _known_turns(operation: Operation) -> int | None:
    """Turns of a loop whose bounds are numbers; None if they are not."""
    if not operation.name.endswith(".for"):
        return None
    form, words = OperationForm(operation), operation.words
    try:
        low, high = (form.whole(form.after(key)) for key in ("=", "to"))
        step = form.whole(form.after("step")) if "step" in words else 1
    except InputFileError:
        return None
    return max(-(-(high - low) // step), 0) if step > 0 else None


def _work(operation: Operation) -> int:
    """Operations that an operation with regions will do, as far as the text says."""
    inner = sum(
        _work(each) for region in operation.regions for block in region.blocks for each in block.operations
    )
    return max(inner, 1) * (_turns(operation) if operation.regions else 1)


def _turns(operation: Operation) -> int:
    if not operation.name.endswith(".for"):
        return _UNKNOWN_TURNS if operation.name == "scf.while" else 1
    found = _known_turns(operation)
    return _UNKNOWN_TURNS if found is None else max(found, 1)
