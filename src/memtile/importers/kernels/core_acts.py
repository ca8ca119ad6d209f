"""Whether what a core does to locks is in its text alone, so that no word which it reads can change it.

Such a core does the same acts in every order, even where timing says which words it reads: a race then
changes words, never who waits for whom. Nothing is computed here; where a value could come from memory or
from a function, the answer is no.
"""

from __future__ import annotations

from memtile.importers.kernels.core_locks import has_body, reached_by_core
from memtile.importers.mlir.description import CoreDescription, DeviceDescription
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.value_check import definition

_CALLS = ("func.call", "call")
_LOCKS = ("aie.use_lock", "aie.objectfifo.acquire", "aie.objectfifo.release")
_AROUND = ("aie.core", "func.func")
_QUIET = ("aie.end", "aie.objectfifo.subview.access", "return", *_LOCKS, *_CALLS, *_AROUND)
_DIALECTS = ("arith", "memref", "scf", "cf", "func", "affine", "math", "vector", "linalg", "ub", "index")
_BRANCHES = ("cf.cond_br", "cf.switch")
_OPEN_ENDED = ("scf.while", "scf.condition")
_CHOOSES = ("scf.if", "scf.for", "affine.for")


def acts_by_text(device: DeviceDescription, core: CoreDescription) -> bool:
    """Whether a core does the same to locks whatever it reads.

    A function without a body here computes and returns; the caller asks those that act themselves.

    Args:
        device: of the core.
        core: with its body.
    """
    if core.elf:
        return False
    for operation in reached_by_core(core.operation, device):
        if operation is None or not _is_plain(operation) or not _is_decided(operation, device):
            return False
    return True


def _is_plain(operation: Operation) -> bool:
    """Whether an operation computes, or acts upon locks alone: no stream, no cascade, no open end."""
    name = operation.name
    if name in _OPEN_ENDED or name in _BRANCHES[1:]:
        return False
    return name in _QUIET or name.partition(".")[0] in _DIALECTS


def _is_decided(operation: Operation, device: DeviceDescription) -> bool:
    """Whether no word of memory has a say in whether and how often locks are used here."""
    name, form = operation.name, OperationForm(operation)
    if name == "cf.cond_br":
        return _is_known(operation, form.values[0])
    if name == "aie.use_lock":
        said = lock_form(form)
        if said is None:
            return True
        lock_known = said.lock in device.locks or _is_known(operation, said.lock)
        return lock_known and _is_known(operation, said.units)
    if name in _CALLS or name in _AROUND or not operation.regions or not _leads_to_a_lock(operation, device):
        return True
    if name not in _CHOOSES:
        return False
    values = [word for word in operation.words if word[:1] == "%"]
    if name != "scf.if" and not form.generic:
        values = values[1:]  # the first one counts the turns
    return all(_is_known(operation, value) for value in values)


def _leads_to_a_lock(operation: Operation, device: DeviceDescription) -> bool:
    for inner in operation.walk():
        if inner.name in _LOCKS or inner.name in _BRANCHES:
            return True
        if inner.name in _CALLS:
            form = OperationForm(inner)
            function = device.functions.get(form.symbol or str(form.attributes.get("callee", "")))
            if function is not None and has_body(function):
                return True
    return False


def _is_known(operation: Operation, value: str) -> bool:
    """Whether constants and counters of loops alone make a value."""
    if value[:1] != "%":
        return True
    found = definition(operation, value)
    made = found[0] if found else None
    if isinstance(made, OperationBlock):
        return _counts(made, value)
    if made is None or made.name.partition(".")[0] not in ("arith", "index"):
        return False
    return all(_is_known(made, word) for word in made.words if word[:1] == "%")


def _counts(block: OperationBlock, value: str) -> bool:
    """Whether an argument of a block is the counter of its loop."""
    loop = block.region.operation
    if loop is None or loop.name != "scf.for":
        return False
    form = OperationForm(loop)
    first = block.arguments[0][0] if form.generic else loop.words[loop.words[0] == "unsigned"]
    return value == first
