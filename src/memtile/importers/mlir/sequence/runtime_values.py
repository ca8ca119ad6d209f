"""What of a sequence depends on numbers that only the host knows, as mlir-aie's compiler sees it.

Here such numbers are known when a sequence is gone through. The compiler leaves them to the program that
writes the instructions: a BD with one may have any length, and where a loop or a branch depends on one, tasks
take their BDs from a pool (AIELowerDynamicBDPool).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

_FOR, _IF, _YIELD, _TASK = "scf.for", "scf.if", "scf.yield", "aiex.dma_configure_task"
_REASON = "mlir_task"


def runtime_values(sequence: Operation, arguments: Iterable[str]) -> frozenset[str]:
    """The values of a sequence that depend on arguments which are numbers.

    Args:
        sequence: all of it.
        arguments: the names of these arguments.
    """
    found, before = set(arguments), -1
    while len(found) > before:
        before = len(found)
        for operation in sequence.walk() if found else ():
            if not operation.name.startswith("aiex.") and not found.isdisjoint(operation.words):
                found.update(_made(operation, found))
    return frozenset(found)


def _made(operation: Operation, found: Collection[str]) -> Iterator[str]:
    """The values that depend on the operands of an operation that are among ``found``."""
    if operation.name == _FOR:
        yield from _of_turns(operation, found)
    else:
        yield from operation.results
    if operation.name == _YIELD and operation.parent is not None:
        around = operation.parent.region.operation
        yield from around.results if around is not None else ()
        if around is not None and around.name == _FOR:  # a turn hands them to the next one
            given = (word for word in operation.words if word[:1] == "%")
            handed = zip(carried(around.words), given, strict=False)
            yield from (name for (name, _), value in handed if value in found)


def _of_turns(loop: Operation, found: Collection[str]) -> Iterator[str]:
    """The values of a loop that depend on its bounds, and on what it begins with."""
    turns = any(word in found for word in _decisive(loop))
    begun = [name for name, first in carried(loop.words) if turns or first in found]
    yield from begun
    if turns:
        yield loop.words[0]
    if turns or begun:
        yield from loop.results


def hidden_numbers(runtime: Iterable[str]) -> Iterator[tuple[str, int]]:
    """A number for each value, so that no two of them, and none of a text, are equal or one."""
    return ((name, (1 << 62) + place) for place, name in enumerate(runtime))


def is_rolled(sequence: Operation, runtime: frozenset[str]) -> bool:
    """Whether a loop or a branch of a sequence depends on such a value."""
    return any(not runtime.isdisjoint(_decisive(each)) for each in sequence.walk())


def _decisive(operation: Operation) -> list[str]:
    """The values that decide how often a region of an operation is done."""
    if operation.name == _FOR:
        form = OperationForm(operation)
        return [form.after(word) for word in ("=", "to", "step")]
    return [word for word in operation.words if word[:1] == "%"] if operation.name == _IF else []


def carried(words: list[str]) -> list[tuple[str, str]]:
    """Names and first values of what a loop hands from turn to turn."""
    if "iter_args" not in words:
        return []
    first = words.index("iter_args")
    last = words.index(")", first)
    return [(words[at - 1], words[at + 1]) for at in range(first, last) if words[at] == "="]


def check_branches(sequence: Operation) -> None:
    """Refuse tasks that branches of a rolled sequence hand on in ways that mlir-aie does not follow.

    Raises:
        InputFileError: one branch hands on a task and the other none, or they are of different channels.
    """
    ports = dict[str, str]()
    for operation in _inside_out(sequence):
        if operation.name.startswith(_TASK):
            ports.update(dict.fromkeys(operation.results, _port(operation)))
        elif operation.name == _FOR:
            pairs = carried(operation.words)
            ports.update((name, ports[value]) for name, value in pairs if value in ports)
            inits = zip(operation.results, (value for _, value in pairs), strict=False)
            ports.update((name, ports[value]) for name, value in inits if value in ports)
        elif operation.name == _IF and operation.results:
            _check_branch(operation, ports)


def _check_branch(operation: Operation, ports: dict[str, str]) -> None:
    handed = [_yielded(operation, place) for place in range(len(operation.regions))]
    for result, *values in zip(operation.results, *handed, strict=False):
        found = {ports.get(value) for value in values}
        if len(found) > 1:
            says = "its branches hand on tasks of different channels, or one of them none"
            step = "Wait for the task in the branch that configures it."
            raise OperationForm(operation).error(says, "tasks of one channel", reason=_REASON, step=step)
        ports.update((result, port) for port in found if port is not None)


def _yielded(operation: Operation, place: int) -> list[str]:
    block = operation.regions[place].blocks[-1]
    last = block.operations[-1] if block.operations else operation
    return [word for word in last.words if word[:1] == "%"] if last.name == _YIELD else []


def _port(operation: Operation) -> str:
    words = operation.words
    return " ".join(words[: words.index(")")] if ")" in words else words[:1])


def _inside_out(operation: Operation) -> Iterator[Operation]:
    """All operations within one, each behind those of its regions."""
    for region in operation.regions:
        for block in region.blocks:
            for each in block.operations:
                yield from () if each.name == _FOR else _inside_out(each)
                yield each
                yield from _inside_out(each) if each.name == _FOR else ()
