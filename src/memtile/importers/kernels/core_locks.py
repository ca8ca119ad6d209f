"""Which locks the cores of an MLIR design give something to, as far as the text says it."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.core import CORE
from memtile.arch.tiles import COMPUTE
from memtile.importers.mlir.attributes import attributes
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription, DeviceDescription
from memtile.importers.mlir.forms.locks import fifo_form, lock_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.value_check import definition
from memtile.jit.tables import plain

_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extui", "arith.extsi", "arith.trunci")
"""Operations that leave the number of a lock what it is."""
_STREAMS = ("cascade", "stream")
"""In the names of operations that wait for words of another core or a channel."""


def released_by_cores(made: Configured) -> frozenset[int] | None:
    """The locks that cores release, by their index among all locks of the model.

    Returns:
        None where the text does not say it: a core without a body, or a function of another file that is
        given a lock. A function that is given none releases none.
    """
    found: set[int] = set()
    for core in made.device.cores:
        released = released_by_core(made, core)
        if released is None:
            return None
        found |= released
    return frozenset(found)


def released_by_core(made: Configured, core: CoreDescription) -> frozenset[int] | None:
    """The locks that one core releases; None where the text does not say it."""
    if core.elf or not any(block.operations for block in core.operation.regions[0].blocks):
        return None
    found: set[str] = set()
    for operation in reached_by_core(core.operation, made.device):
        if operation is None:
            return None
        found.update(_released(operation, made, core))
    return frozenset(_index(made, name) for name in found if name in made.locks)


def _index(made: Configured, name: str) -> int:
    """A lock among all of the model."""
    lock = made.locks[name]
    return int(plain(made.array.engine.spec.tiles).lock_base[_tile(made, lock.place)]) + lock.id


def shared_by_core(made: Configured, core: CoreDescription) -> tuple[frozenset[int], frozenset[str]] | None:
    """The locks and buffers through which a core and others may wait for each other.

    Returns:
        Locks by their index among all locks of the model, and buffers by their value, of the body and of the
        functions that it calls. None where the text does not say it: a core without a body,
        a function that is given a lock, or a core that has a cascade or a stream.
    """
    if released_by_core(made, core) is None:
        return None
    locks, buffers = set[str](), set[str]()
    for operation in reached_by_core(core.operation, made.device):
        assert operation is not None  # else the locks that it releases are not known
        if any(word in operation.name.lower() for word in _STREAMS):
            return None
        form = OperationForm(operation)
        if operation.name == "aie.use_lock":
            said = lock_form(form, reason="mlir_lock")
            locks |= set() if said is None else {lock_used(made.device, form, said.lock)}
        elif operation.name in ("aie.objectfifo.acquire", "aie.objectfifo.release"):
            locks |= _ends(made, core, form)
        buffers.update(value for value in form.values if value in made.device.buffers)
    if not locks <= made.locks.keys():
        return None  # an argument of a function
    return frozenset(_index(made, name) for name in locks), frozenset(buffers)


def _ends(made: Configured, core: CoreDescription, form: OperationForm) -> set[str]:
    """Values of both locks of the end of an object FIFO that a core uses."""
    name, port, _ = fifo_form(form)
    tile = made.device.aliases.get(core.tile, core.tile)
    end = made.fifos.producers.get(name) if port == "Produce" else made.fifos.consumers.get((name, tile))
    return set() if end is None else {end.free, end.full}


def lock_used(device: DeviceDescription, form: OperationForm, value: str) -> str:
    """The lock that a core uses; lowered texts have its number as cores count (mlir-aie, AIELocalizeLocks).

    Args:
        device: with its locks.
        form: of ``aie.use_lock``.
        value: that says which lock: the lock itself, or a constant; given back if it is neither.
    """
    if value in device.locks:
        return value
    found = definition(form.operation, value)
    operation, core = found[0] if found else None, _core(device, form.operation)
    if core is None or not isinstance(operation, Operation) or operation.name != "arith.constant":
        return value
    given = attributes(operation).get("value")
    if given is None and operation.spans:
        given = OperationForm(operation).value(operation.spans[0])
    if type(given) is not int:
        return value
    side, local = divmod(given, COMPUTE.locks)
    windows = {first // COMPUTE.locks: _BEYOND[name] for name, first in CORE.lock_windows.items()}
    (column, row), (right, up) = device.tiles[core.tile].place or (0, 0), windows.get(side, (0, 0))
    for name, lock in device.locks.items():
        place = device.tiles[lock.tile].place
        if side in windows and (place, lock.number) == ((column + right, row + up), local):
            return name
    return value


def _core(device: DeviceDescription, operation: Operation) -> CoreDescription | None:
    """The core in whose body an operation is."""
    around: Operation | None = operation
    while around is not None and around.name != "aie.core":
        around = around.parent.region.operation if around.parent else None
    return next((core for core in device.cores if core.operation is around), None)


_BEYOND = {"south": (0, -1), "west": (-1, 0), "north": (0, 1), "own": (0, 0)}


def _tile(made: Configured, place: tuple[int, int] | None) -> int:
    assert place is not None  # tiles of an array have one
    return made.array.tile(*place).index


def reached_by_core(operation: Operation, device: DeviceDescription) -> Iterator[Operation | None]:
    """The operations of the body of a core and of the functions that it calls; None for what is unknown."""
    return _reached(operation, device, set())


def _reached(operation: Operation, device: DeviceDescription, seen: set[str]) -> Iterator[Operation | None]:
    """The operations of a body and of the functions that it calls; None for what nobody can look into."""
    for each in operation.walk():
        yield each
        if each.name not in ("func.call", "call"):
            continue
        form = OperationForm(each)
        name = form.symbol or str(form.attributes.get("callee", ""))
        function = device.functions.get(name)
        if function is None or not has_body(function):
            if any(_is_lock(device, each, value) for value in form.values):
                yield None
        elif name not in seen:
            seen.add(name)
            yield from _reached(function, device, seen)


def _is_lock(device: DeviceDescription, operation: Operation, value: str) -> bool:
    """Whether a value is a lock, or the number by which a core's body uses one.

    Lowered texts say locks by numbers (mlir-aie, AIELocalizeLocks). A number that no ``aie.use_lock`` takes
    is a size or a parameter.
    """
    while value not in device.locks:
        found = definition(operation, value)
        made = found[0] if found else None
        if not isinstance(made, Operation) or made.name not in _CASTS:
            return _names_lock(operation, value)
        operation, value = made, OperationForm(made).values[0]
    return True


def _names_lock(operation: Operation, value: str) -> bool:
    """Whether an ``aie.use_lock`` around an operation takes its lock from a value."""
    around = operation
    while around.parent is not None and around.name not in ("aie.core", "func.func"):
        outer = around.parent.region.operation
        if outer is None:
            break
        around = outer
    uses = (each for each in around.walk() if each.name == "aie.use_lock")
    said = (lock_form(OperationForm(each), reason="mlir_lock") for each in uses)
    return any(each is not None and each.lock == value for each in said)


def has_body(function: Operation) -> bool:
    """Whether the text has the operations of a function."""
    return any(block.operations for region in function.regions for block in region.blocks)


def _released(operation: Operation, made: Configured, core: CoreDescription) -> Iterator[str]:
    """Values of the locks that an operation releases in a core; of a broadcast those of its own end alone."""
    form = OperationForm(operation)
    if operation.name == "aie.use_lock":
        said = lock_form(form, reason="mlir_lock")
        if said is not None and said.action == "release":
            yield lock_used(made.device, form, said.lock)
    if operation.name == "aie.objectfifo.release":
        name, port, _ = fifo_form(form)
        tile = made.device.aliases.get(core.tile, core.tile)
        produced, consumed = made.fifos.producers.get(name), made.fifos.consumers.get((name, tile))
        if port == "Produce" and produced is not None:
            yield produced.full
        elif port == "Consume" and consumed is not None:
            yield consumed.free
