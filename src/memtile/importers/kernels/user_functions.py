"""Functions of the user for cores: those without an implementation, and those that do not fit the text.

It also has functions that a design only declares: the user's first, then the library's.
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from memtile.corelib.call_costs import CallCost
from memtile.corelib.library import library, nearest
from memtile.corelib.object_files import linked
from memtile.corelib.registry import Declared, External
from memtile.cpp.comparison import Reference
from memtile.cpp.kernel_calls import Signature
from memtile.cpp.kernels import CppFunction
from memtile.cpp.parameter_fit import Passed, misfits
from memtile.cpp.parameter_types import CppSignature
from memtile.errors import DesignError, InputFileError, Problem, raise_if
from memtile.importers.kernels.emitter import items_of
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.types import shaped
from memtile.sim.kernels.lost_results import LostResult, lost_by

REASON = "mlir_external"
CALLED = "__called__"
"""Attribute of a kernel: the functions of the library that it calls, by name."""
FREE_CALLS = "__free_calls__"
"""Attribute of a kernel: names of functions that it called and whose cycles nobody says."""


def missing_function(name: str, declared: Operation) -> Iterator[Problem]:
    """A function without an implementation, with a stub of it."""
    form = OperationForm(declared)
    near = nearest(name)
    library = f" Names of the library that come near are {', '.join(near)}." if near else ""
    objects = ", ".join(files_of(form))
    source = f", or its C++ source, --kernels KERNEL.cc, as {objects} holds code of a core" if objects else ""
    error = form.error(
        f"no implementation was given for function {name}({', '.join(_kinds(form))})",
        "a function of this name in Python or C++",
        reason=REASON,
        given=name,
        step=f"Give it with --kernels FILE.py{source}; it may begin so: {_stub(name, form)}.{library}",
    )
    yield from error.problems


def wrong_function(declared: Operation, function: Callable[..., Any]) -> Iterator[Problem]:
    """What a function that was given has wrong: what it takes, and its cycles."""
    form, name = OperationForm(declared), function_name(declared)
    if isinstance(function, External):
        yield from _wrong_call(form, name, function)
        return
    if isinstance(function, CppFunction):
        yield from _wrong_cpp(declared, function)
        return
    known = {"core": None} if asks_for_core(function) else {}
    kinds = _kinds(form)
    signature = _signature(function)
    try:
        if signature is not None:
            signature.bind(*kinds, **known)
    except TypeError:
        says = (
            f"the function {name} that was given takes {signature}, cores call it with {len(kinds)} arguments"
        )
        step = f"It may begin so: {_stub(name, form)}."
        yield from form.error(says, f"{len(kinds)} arguments", reason=REASON, given=name, step=step).problems
    cycles = getattr(function, "cycles", 0)
    if not callable(cycles) and not (isinstance(cycles, int) and cycles >= 0):
        says = f"cycles of the function {name} that was given are {cycles!r}"
        allowed = "a whole number of 0 or more, or a function of the same arguments"
        yield from form.error(
            says, allowed, reason=REASON, given=name, step=f"Set {name}.cycles to {allowed}."
        ).problems


def _wrong_cpp(declared: Operation, function: CppFunction) -> Iterator[Problem]:
    """Why the text cannot call a C++ function as it declares it."""
    form, name, signature = OperationForm(declared), function_name(declared), signature_of(declared)
    if says := function.problem(signature):
        allowed = "a function that C++ can be given"
        yield from form.error(f"{name} cannot be called: {says}", allowed, reason=REASON, given=name).problems
        return
    source = function.source
    if source is None:
        return
    for misfit in misfits(source, passed_to(declared), signature.result):
        says = f"the function {name}{at_place(source)} {misfit.says}"
        step = "Declare it in the design as its source has it, or change the source."
        yield from form.error(says, misfit.allowed, reason=REASON, given=name, step=step).problems


def at_place(source: CppSignature) -> str:
    """Where a C++ function is, for messages: `` (kernel.cc:3)``; empty if nobody knows."""
    return f" ({source.place})" if source.place else ""


def passed_to(declared: Operation) -> list[Passed]:
    """The arguments of a function as a text declares them."""
    form = OperationForm(declared)
    texts = [text.partition(":")[2].strip() if text[:1] == "%" else text for text in _kinds(form)]
    return [Passed(text, *each) for text, each in zip(texts, _declared(form), strict=True)]


def signature_of(declared: Operation, stack: int = 0) -> Signature:
    """How a text declares a function.

    Args:
        declared: its declaration.
        stack: bytes of stack of the core that calls it.
    """
    form, words = OperationForm(declared), [str(word) for word in declared.words]
    after = words[words.index("->") + 1 :] if "->" in words else []
    results = after[1 : after.index(")")] if after[:1] == ["("] else after[:1]
    result = results[0] if results else ""
    return Signature(function_name(declared), tuple(_declared(form)), result, stack)


def published_cost(declared: Operation, device: str) -> Callable[..., CallCost] | None:
    """What is published of the cycles of a kernel that has the name and types of one of the library.

    Args:
        declared: its declaration.
        device: name of the device.

    Returns:
        A function of the arguments of a call; None where nothing is published.
    """
    name, shipped = function_name(declared), library(device)
    for each in shipped.all_of(name) if name in shipped else ():
        if not any(_wrong_call(OperationForm(declared), name, each)):
            return each.cost
    return None


def _wrong_call(form: OperationForm, name: str, function: External) -> Iterator[Problem]:
    """Why the library's function of a name is not the one that the text declares."""
    try:
        function.check(_declared(form))
    except DesignError as error:
        kinds, reason = ", ".join(_kinds(form)), error.problems[0]
        says = (
            f"the text declares {name}({kinds}), and the library has {name}({function.entry.signature}): "
            f"{reason.field} is {reason.given}, it must be {reason.allowed}"
        )
        step = f"Give your own with --kernels FILE.py or functions=; it may begin so: {_stub(name, form)}."
        allowed = "a call of the library's function, or a function of your own"
        yield from form.error(says, allowed, reason=REASON, given=name, step=step).problems


def asks_for_core(function: Callable[..., Any]) -> bool:
    """Whether a function has a parameter ``core`` that is given by name only."""
    signature = _signature(function)
    found = signature.parameters.get("core") if signature is not None else None
    return found is not None and found.kind is found.KEYWORD_ONLY


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """What a function takes; None of one that is written in C."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def check_answer(declared: Operation, answer: object, given: Sequence[Any]) -> None:
    """See that a function that answers nothing in the text has not made an array that would be lost.

    Args:
        declared: as the text has it, without results.
        answer: what it gave back.
        given: its arguments.

    Raises:
        InputFileError: an array that is no part of an argument.
    """
    import numpy as np

    if not isinstance(answer, np.ndarray):
        return
    if any(isinstance(each, np.ndarray) and np.may_share_memory(answer, each) for each in given):
        return
    name = function_name(declared)
    says = f"the function {name} that was given returns an array, and the text declares no result"
    step = "Write into the argument that is the output, a1[...] = result, and return nothing."
    raise OperationForm(declared).error(
        says, "functions that write into their arguments", reason=REASON, given=name, step=step
    )


def uncalled(name: str, called: Collection[str]) -> Problem:
    """What is wrong with cycles that were given for a function that no core calls."""
    return Problem(
        "functions",
        name,
        ", ".join(sorted(called)) or "none, as no core calls a function that the text only declares",
        f"cycles of {name} are given, and no core calls it",
        reason=REASON,
        where="costs of operations",
        source="functions of cores, docs/kernels.md",
    )


def without_result(given: Externals, declared: Mapping[str, Operation]) -> Iterator[Callable[..., Any]]:
    """The user's functions that take memory and give nothing back: their results are what they write."""
    for name, function in given.items():
        words = declared[name].words
        takes = any("memref" in word for word in words)
        if takes and "->" not in words and not isinstance(function, External):
            yield function


def lost_results(described: DeviceDescription, own: Externals) -> Iterator[tuple[str, LostResult]]:
    """What the user's functions compute and write nowhere, with the tile of each core that calls them."""
    for core in described.cores:
        declared = called_by(described, core.operation)
        given = {name: own[name] for name in declared if name in own}
        yield from ((core.tile, each) for each in lost_by(without_result(given, declared)))


def _kinds(form: OperationForm) -> list[str]:
    """Types of the arguments, with their names where the text has them."""
    return [form.text(item) for item in form.items()]


def _stub(name: str, form: OperationForm) -> str:
    kinds = _kinds(form)
    arguments = ", ".join(f"a{n}" for n in range(len(kinds)))
    return f"def {name}({arguments}):  # {', '.join(kinds)}"


def function_name(declared: Operation) -> str:
    """The symbol of a function."""
    found = next((word[1:].strip('"') for word in declared.words if word[:1] == "@"), "")
    return found or str(OperationForm(declared).attributes.get("sym_name", ""))


Externals = Mapping[str, Callable[..., Any]]


class CoreFunctions(NamedTuple):
    """The functions that the cores of a device call and its text only declares.

    Attributes:
        own: those of the user, which come first.
        shipped: those of the library, for each object file or none that cores link: by tile, then by name.
        notes: which functions of the library cores use, and which of them may be others than the design's.
        references: reference functions for calls of C++ functions, by name.
    """

    own: Externals
    shipped: Mapping[str, Externals]
    notes: list[str]
    references: Mapping[str, Reference] = MappingProxyType({})

    def of(self, tile: str) -> Externals:
        """Those for the core of a tile; the user's mapping may know names that it does not list."""
        own, shipped = cast(Any, self.own), cast(Any, self.shipped.get(tile, {}))
        return ChainMap(own, shipped)


def functions_for(described: DeviceDescription, own: Externals, device: str) -> CoreFunctions:
    """The functions for the cores of a device: the user's, else those of the library.

    Args:
        described: the device.
        own: functions of the user, by name.
        device: name of the device that it runs on.
    """
    shipped, used, doubts = library(device), dict[str, None](), dict[str, None]()
    found: dict[str, dict[str, Callable[..., Any]]] = {}
    for core in described.cores:
        calls = called_by(described, core.operation)
        files = files_of(OperationForm(core.operation))
        for name, declared in calls.items():
            if name in own or name not in shipped:
                continue
            form = OperationForm(declared)
            one = linked(shipped, name, files_of(form) or files, _declared(form))
            found.setdefault(core.tile, {})[name] = one.function
            used.setdefault(f"{name}({one.function.entry.signature})")
            doubts.setdefault(one.warning)
    notes = [f"functions of the library (memtile.kernels.aie): {', '.join(used)}"] if used else []
    return CoreFunctions(own, found, [*notes, *filter(None, doubts)])


def check_functions(described: DeviceDescription, functions: CoreFunctions) -> None:
    """See that the functions that are known can be called as the text declares them.

    Raises:
        InputFileError: others, all of them.
    """
    problems = dict[tuple[str, str], Problem]()
    for core in described.cores:
        known = functions.of(core.tile)
        for name, declared in called_by(described, core.operation).items():
            if name in known:
                problems |= {(p.where, p.says): p for p in wrong_function(declared, known[name])}
    raise_if(list(problems.values()), InputFileError)


def called_by(described: DeviceDescription, core: Operation) -> dict[str, Operation]:
    """What declares the functions that a core calls and the module does not have, by name."""
    found, waiting, seen = dict[str, Operation](), [core], set[int]()
    while waiting:
        top = waiting.pop()
        for inner in top.walk() if id(top) not in seen else ():
            if inner.name not in ("func.call", "call"):
                continue
            form = OperationForm(inner)
            name = str(form.attributes.get("callee") or form.symbol)
            declared = described.functions.get(name)
            if declared is None:
                continue
            if declared.regions:
                waiting.append(declared)
            else:
                found[name] = declared
        seen.add(id(top))
    return found


def files_of(form: OperationForm) -> list[str]:
    """Object files that an operation links: ``link_with = "a.o"``, ``link_files = ["a.o", "b.o"]``."""
    given = [form.attributes.get("link_with"), *items_of(form.attributes.get("link_files"))]
    return [str(each).strip('"') for each in given if each]


def _declared(form: OperationForm) -> list[Declared]:
    """The types of the arguments of a function that a text declares."""
    found = []
    for text in _kinds(form):
        kind = text.partition(":")[2].strip() if text[:1] == "%" else text
        shape = shaped(kind)
        found.append((shape.element, True) if shape is not None else (kind, False))
    return found
