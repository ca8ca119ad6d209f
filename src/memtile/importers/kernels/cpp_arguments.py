"""What a core passes to C++ functions beside what their sources make of it, as findings.

Memory that a function takes as another type is a note, as kernels do that on purpose. An output that a core
hands over as ``const`` and that nothing of it writes is a warning: most often two arguments are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memtile.cpp.kernels import CppFunction
from memtile.cpp.parameter_fit import views
from memtile.cpp.parameter_types import CppSignature
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.kernel_findings import once
from memtile.importers.kernels.user_functions import (
    CoreFunctions,
    at_place,
    called_by,
    function_name,
    passed_to,
)
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.locks import fifo_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.value_check import definition

_ACQUIRE, _CALLS = "aie.objectfifo.acquire", ("func.call", "call")
_VIEWS = frozenset(
    (
        "aie.objectfifo.subview.access",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.memory_space_cast",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.view",
    )
)
"""Operations whose result is, or is part of, the memory of their first operand."""
_READS = frozenset(("affine.load", "memref.dim", "memref.load", "vector.load", "vector.transfer_read"))
_PRODUCE, _CONSUME = "Produce", "Consume"


class FifoEnd(NamedTuple):
    """An end of an object FIFO.

    Attributes:
        name: of the FIFO.
        port: ``Produce`` or ``Consume``.
    """

    name: str
    port: str


class Given(NamedTuple):
    """An argument that a core gives to a C++ function, and that is an object of a FIFO.

    Attributes:
        call: the operation.
        function: that is called.
        source: it as its source has it.
        number: of the argument.
        end: where the object is from.
    """

    call: Operation
    function: str
    source: CppSignature
    number: int
    end: FifoEnd

    @property
    def is_const(self) -> bool:
        """Whether the function does not write there."""
        element = self.source.parameters[self.number].element
        return element is not None and element.is_const

    @property
    def as_what(self) -> str:
        """The type by which the function takes it."""
        return self.source.parameters[self.number].text


def cpp_findings(
    device: DeviceDescription, core: Operation, functions: Mapping[str, Callable[..., object]]
) -> tuple[Finding, ...]:
    """What a core's calls of C++ functions are not as the sources have it.

    Args:
        device: of the core.
        core: its operation.
        functions: those that it calls, by name.
    """
    sources = dict[str, CppSignature]()
    found = list[Finding]()
    for name, declared in called_by(device, core).items():
        function = functions.get(name)
        source = function.source if isinstance(function, CppFunction) else None
        if source is not None:
            sources[name] = source
            found += _other_types(name, declared, source)
    return (*found, *(_outputs(core, sources) if sources else ()))


def design_findings(described: DeviceDescription, known: CoreFunctions) -> tuple[Finding, ...]:
    """What the cores of a device do with C++ functions that their sources do not have so, each once."""
    found = (
        each
        for core in described.cores
        for each in cpp_findings(described, core.operation, known.of(core.tile))
    )
    return tuple(once(found))


def without_types(described: DeviceDescription, known: CoreFunctions) -> Iterator[str]:
    """C++ functions of which nobody knows what they take, a line each."""
    found = dict[str, None]()
    for core in described.cores:
        functions = known.of(core.tile)
        for name in called_by(described, core.operation):
            function = functions.get(name)
            if isinstance(function, CppFunction) and function.source is None:
                why = function.unreadable or "debug information does not have it"
                found.setdefault(f"what {name} takes is not known, so it is called as declared: {why}")
    return iter(found)


def _other_types(name: str, declared: Operation, source: CppSignature) -> Iterator[Finding]:
    for view in views(source, passed_to(declared)):
        text = f"Function {name!r}{at_place(source)} {view}."
        sides = (
            Side(f"function {name!r}", f"takes {source.text}", source.place),
            Side("the design", f"declares {function_name(declared)!r}", _place(declared)),
        )
        yield Finding("MT0408", Severity.NOTE, text, sides)


def _outputs(core: Operation, sources: Mapping[str, CppSignature]) -> Iterator[Finding]:
    """Outputs that are given as ``const``: to calls that write inputs instead, or that nothing writes."""
    calls, written = list[list[Given]](), set[str]()
    for operation in core.walk():
        if operation.name in _CALLS and (name := _callee(operation)) in sources:
            given = list(_given(operation, name, sources[name]))
            calls.append(given)
            written.update(each.end.name for each in given if not each.is_const)
        elif operation.name not in _VIEWS | _READS:
            ends = (_end(operation, value) for value in OperationForm(operation).values)
            written.update(end.name for end in ends if end is not None)
    for given in calls:
        read = [each for each in given if each.is_const and each.end.port == _PRODUCE]
        inputs = [each for each in given if not each.is_const and each.end.port == _CONSUME]
        exchanged = bool(inputs) and _writes_inputs_only(given)
        for each in read:
            if exchanged or each.end.name not in written:
                yield _const_output(each, inputs)


def _writes_inputs_only(given: list[Given]) -> bool:
    """Whether all memory that a call may write is that of objects which its core takes."""
    source = given[0].source
    inputs = {each.number for each in given if each.end.port == _CONSUME}
    writes = {
        number
        for number, type_ in enumerate(source.parameters)
        if type_.element is not None and not type_.element.is_const
    }
    return bool(writes) and writes <= inputs


def _const_output(output: Given, inputs: list[Given]) -> Finding:
    name, place = output.function, at_place(output.source)
    says = f"The design passes its output, object FIFO {output.end.name!r}, as argument {output.number}"
    takes = f"which {name}{place} takes as {output.as_what}"
    more = "".join(
        f", and its input {each.end.name!r} as argument {each.number}, which it takes as {each.as_what}"
        for each in inputs[:1]
    )
    sides = (
        Side("the design", f"calls {name!r}", _place(output.call)),
        Side(f"function {name!r}", f"takes {output.source.text}", output.source.place),
    )
    fix = f"Pass the arguments in the order of the source: {name}({output.source.text})."
    text = f"{says}, {takes}{more}: {name} does not write that output."
    return Finding("MT0409", Severity.WARNING, text, sides, fix=fix)


def _given(call: Operation, name: str, source: CppSignature) -> Iterator[Given]:
    for number, value in enumerate(OperationForm(call).values):
        end = _end(call, value)
        if end is not None and number < len(source.parameters):
            yield Given(call, name, source, number, end)


def _end(user: Operation, value: str) -> FifoEnd | None:
    """The end of an object FIFO that a value is an object of, as far as the text says it."""
    found = definition(user, value)
    while found is not None and isinstance(found[0], Operation):
        operation = found[0]
        form = OperationForm(operation)
        if operation.name == _ACQUIRE:
            return FifoEnd(*fifo_form(form)[:2])
        if operation.name not in _VIEWS:
            return None
        found = definition(operation, form.values[0])
    return None


def _callee(call: Operation) -> str:
    form = OperationForm(call)
    return str(form.attributes.get("callee") or form.symbol)


def _place(operation: Operation) -> str:
    tokens = operation.tokens
    return tokens.text.where(tokens.offset(operation.at))
