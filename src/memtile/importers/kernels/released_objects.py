"""Objects of FIFOs that a core uses after it has released them: the other side may write them then.

Followed within a block: an acquire, the releases behind it, the oldest objects first, and what is done with
the objects after that.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.explain.findings import Finding, Severity, Side
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Key
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.fifo_rules import ACCESS, ACQUIRE, RELEASE
from memtile.importers.mlir.forms.locks import fifo_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation, OperationBlock

_VIEWS = ("memref.subview", "memref.cast", "memref.reinterpret_cast", "memref.collapse_shape", "memref.view")


def released_findings(made: Configured) -> Iterator[Finding]:
    """Uses of objects after their release, the first one of each object FIFO in each block."""
    for core in made.device.cores:
        for operation in core.operation.walk() if core.has_body else ():
            for region in operation.regions:
                for block in region.blocks:
                    yield from _of_block(made, core, block)


def _of_block(made: Configured, core: CoreDescription, block: OperationBlock) -> Iterator[Finding]:
    views: dict[str, tuple[Operation, int]] = {}  # values of objects: their acquire, and which of its objects
    released: dict[Operation, tuple[int, Operation]] = {}  # by acquire how many of its objects, and where
    told: set[Key] = set()
    for operation in block.operations:
        if operation.name == ACQUIRE:
            views |= {value: (operation, number) for number, value in enumerate(operation.results)}
            released[operation] = 0, operation
        elif operation.name == ACCESS:
            acquire, number = views.get(OperationForm(operation).values[0], (None, 0))
            if acquire is not None:
                views[operation.results[0]] = acquire, _index(operation)
        elif operation.name == RELEASE:
            _release(operation, released)
        else:
            used = (value for each in operation.walk() for value in each.words if value in views)
            for value in used:
                acquire, number = views[value]
                many, where = released[acquire]
                key = _key(acquire)
                if number < many and key not in told:
                    told.add(key)
                    yield _finding(made, core, key, operation, where)
            if operation.name in _VIEWS:
                source = next((value for value in operation.words if value in views), None)
                views |= {value: views[source] for value in operation.results if source is not None}


def _release(operation: Operation, released: dict[Operation, tuple[int, Operation]]) -> None:
    name, port, count = fifo_form(OperationForm(operation))
    for acquire, (many, _) in released.items():
        if _key(acquire) == (name, port) and count.isdecimal():
            released[acquire] = many + int(count), operation


def _key(operation: Operation) -> Key:
    name, port, _ = fifo_form(OperationForm(operation))
    return Key(name, port)


def _index(access: Operation) -> int:
    form = OperationForm(access)
    return form.whole(form.texts("[")[0]) if form.bracket("[") is not None else form.integer("index")


def _finding(
    made: Configured, core: CoreDescription, key: Key, operation: Operation, release: Operation
) -> Finding:
    who, name = core_text(made, core), f"@{key.name}"
    says = f"{who}, {line_of(operation)}: an object of {name} is used after its release in {line_of(release)}"
    other = "filled again" if key.port == "Consume" else "sent"
    sides = (
        Side(who, f"uses an object of {name}", place_of(operation)),
        Side(who, f"has released {name}", place_of(release)),
    )
    fix = f"Release {name} after {line_of(operation)}."
    return Finding("MT0105", Severity.ERROR, f"{says}, and may be {other} by then.", sides, fix=fix)
