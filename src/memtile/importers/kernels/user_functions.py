"""Functions of the user for cores: those that nobody gave, and those that do not fit the text.

It also has functions that a design only declares: the user's first, then the library's.
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, cast

from memtile.corelib.library import Library, library, nearest
from memtile.errors import Problem
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

REASON = "mlir_external"


def missing_function(name: str, declared: Operation) -> Iterator[Problem]:
    """A function that nobody gave, with a stub of it."""
    form = OperationForm(declared)
    near = nearest(name)
    library = f" Names of the library that come near are {', '.join(near)}." if near else ""
    error = form.error(
        f"nobody gave the function {name}({', '.join(_kinds(form))})",
        "a Python function of this name",
        reason=REASON,
        given=name,
        step=f"Give it with --kernels FILE.py; it may begin so: {_stub(name, form)}.{library}",
    )
    yield from error.problems


def wrong_function(declared: Operation, function: Callable[..., Any]) -> Iterator[Problem]:
    """What a function that was given has wrong: what it takes, and its cycles."""
    form, name = OperationForm(declared), _name(declared)
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
    name = _name(declared)
    says = f"the function {name} that was given returns an array, and the text declares no result"
    step = "Write into the argument that is the output, a1[...] = result, and return nothing."
    raise OperationForm(declared).error(
        says, "functions that write into their arguments", reason=REASON, given=name, step=step
    )


def _kinds(form: OperationForm) -> list[str]:
    """Types of the arguments, with their names where the text has them."""
    return [form.text(item) for item in form.items()]


def _stub(name: str, form: OperationForm) -> str:
    kinds = _kinds(form)
    arguments = ", ".join(f"a{n}" for n in range(len(kinds)))
    return f"def {name}({arguments}):  # {', '.join(kinds)}"


def _name(declared: Operation) -> str:
    found = next((word[1:].strip('"') for word in declared.words if word[:1] == "@"), "")
    return found or str(OperationForm(declared).attributes.get("sym_name", ""))


Externals = Mapping[str, Callable[..., Any]]


def with_library(described: DeviceDescription, own: Externals, device: str) -> tuple[Externals, list[str]]:
    """The functions for the cores of a device, and a note of those that the library has for it."""
    shipped = library(device)
    declared = [name for name, operation in described.functions.items() if not operation.regions]
    used = [
        f"{name}({shipped[name].entry.signature})" for name in declared if name in shipped and name not in own
    ]
    notes = [f"functions of the library (memtile.kernels.aie): {', '.join(used)}"] if used else []
    return ChainMap(_readable(own), _readable(shipped)), notes


def _readable(functions: Externals | Library) -> MutableMapping[str, Callable[..., Any]]:
    return cast(MutableMapping[str, Callable[..., Any]], functions)  # a ChainMap writes to none but the first
