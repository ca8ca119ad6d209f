"""The buffers that two neighbouring cores share under a pair of locks: as many as the pair may count.

Only where each core has one buffer in each of its windows, from the acquire of one lock to the release of the
other, and touches the same words of it in every turn. Otherwise a buffer may hold several objects.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtile.importers.kernels.unheld_buffers import Event, lock_blocks
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.value_check import definition

_ACCESSES = ("memref.load", "memref.store")
_CALLS = ("func.call", "call")
_SIDES = 2


def core_places(made: Configured, free: str, full: str) -> int | None:
    """Return how many buffers a writing and a reading core use in turn; None where the text does not say it.

    Args:
        made: the device in its array.
        free: value of the lock that the writer acquires.
        full: of the one that it releases.
    """
    pair = {free, full}
    blocks = [
        events
        for _, events in lock_blocks(made, frozenset(made.device.buffers))
        if any(event.lock in pair for event in events)
    ]
    if len(blocks) != _SIDES:
        return None
    shared = frozenset.intersection(*(_used(events) for events in blocks))
    orders = [order for events in blocks if (order := _windows(events, shared, pair)) is not None]
    if not shared or len(orders) != _SIDES or any({*order} != shared for order in orders):
        return None
    return len(shared) if all(len(order) == len(shared) for order in orders) else None


def _used(events: Sequence[Event]) -> frozenset[str]:
    return frozenset(name for event in events for name in event.buffers)


def _windows(events: Sequence[Event], shared: frozenset[str], pair: set[str]) -> list[str] | None:
    """The shared buffer of each window, in order; None of a block that has them otherwise."""
    found: list[str] = []
    held = False
    for event in events:
        if event.lock in pair:
            if event.acquires == held or not _is_one(event.operation):
                return None
            held = event.acquires
            found += [""] if held else []
        elif used := event.buffers & shared:
            if not held or len(used) != 1 or found[-1] not in ("", *used) or not _is_fixed(event, shared):
                return None
            (found[-1],) = used
    return None if held or "" in found else found


def _is_one(operation: Operation) -> bool:
    said = lock_form(OperationForm(operation))
    return said is not None and said.units == "1"


def _is_fixed(event: Event, shared: frozenset[str]) -> bool:
    """Whether an operation touches the same words of shared buffers in each turn of what is around it."""
    for each in event.operation.walk():
        values = [word for word in each.words if word[:1] == "%"]
        if shared.isdisjoint(values) or each.name.startswith("scf."):
            continue
        if each.name in _ACCESSES:
            at = next(place for place, word in enumerate(values) if word in shared)
            values = values[at + 1 :]
        elif each.name not in _CALLS:
            return False
        if not all(word in event.buffers or _is_same(each, word, event.operation) for word in values):
            return False
    return True


def _is_same(operation: Operation, value: str, around: Operation) -> bool:
    """Whether a value is a constant, or the counter of a loop of an operation, from and to constants."""
    found = definition(operation, value)
    made = found[0] if found else None
    if isinstance(made, OperationBlock):
        loop = made.region.operation
        inside = loop is not None and any(each is loop for each in around.walk())
        if loop is None or not inside or loop.name != "scf.for":
            return False
        bounds = [word for word in loop.words if word[:1] == "%"][1:4]
        return all(constant(loop, word) is not None for word in bounds)
    return constant(operation, value) is not None
