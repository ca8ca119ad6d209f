"""Locks that a core waits for in each of its rounds, and that a host sets in fewer of them.

A barrier is such a lock: the core waits until it has exactly a value, and changes it before its next round.
Nothing but that core and the host changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from memtile.explain.bd_findings import line_of as said_line
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.oddities import UNSET, Suspect
from memtile.importers.kernels.core_locks import lock_used
from memtile.importers.kernels.lock_names import core_text, line_of, lock_name, place_of
from memtile.importers.kernels.lock_steps import all_steps
from memtile.importers.kernels.lock_users import Texts
from memtile.importers.kernels.turn_balance import Balance, CoreRound, Pushed, many_text
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.tree import Operation, Region

SetPlaces = Callable[[str, int], Sequence[str]]
"""Where a host sets the lock of a name to a value."""
_LOOPS = ("scf.for", "scf.while", "affine.for")


class _Wait(NamedTuple):
    """A wait for exactly a value of a lock, once in a round."""

    core: CoreDescription
    rounds: Fraction
    lock: str
    value: int
    operation: Operation
    changed: Operation


def unset_findings(
    made: Configured, texts: Texts, balance: Balance, sets: SetPlaces, pushed: Pushed
) -> Iterator[Finding]:
    """The locks that a host sets less often than cores wait for them, one finding for each line that waits.

    Args:
        made: the device in its array.
        texts: steps of all cores, by tile.
        balance: of the rounds of all cores.
        sets: where the host sets a lock.
        pushed: where it starts its transfers.
    """
    told = dict[str, list[_Wait]]()
    for core in balance.cores:
        for wait in _waits(made, texts, balance, core):
            places = sets(wait.lock, wait.value)
            given = len(places) + (made.device.locks[wait.lock].initial == wait.value)
            if places and given < ceil(wait.rounds):
                told.setdefault(place_of(wait.operation), []).append(wait)
    for waits in told.values():
        core = next(each for each in balance.cores if each.tile == waits[0].core.tile)
        starts = [pushed(name) for name in balance.ends_of_host(core)]
        yield _found(made, waits, sets(waits[0].lock, waits[0].value), starts)


def _waits(made: Configured, texts: Texts, balance: Balance, core: CoreRound) -> Iterator[_Wait]:
    """Waits of a core, once in each of its rounds, for a lock that it changes in that round."""
    rounds, described = balance.rounds(core), next(e for e in made.device.cores if e.tile == core.tile)
    if rounds is None or not core.endless:
        return
    changes, moved = _changes(core), _moved_otherwise(made, texts, core.tile)
    for operation in _exact_waits(described.operation.regions, 0):
        said = lock_form(form := OperationForm(operation), reason="mlir_lock")
        assert said is not None  # of those that are none
        lock, value = lock_used(made.device, form, said.lock), _number(operation, said.units)
        if lock in made.device.locks and value is not None and lock in changes and lock not in moved:
            yield _Wait(described, rounds, lock, value, operation, changes[lock])


def _changes(core: CoreRound) -> Mapping[str, Operation]:
    """The locks that a core releases in a round, and where."""
    return {
        step.key.name: step.operation for step in all_steps(core.nodes) if not step.acquires and step.many
    }


def _moved_otherwise(made: Configured, texts: Texts, tile: str) -> set[str]:
    """The locks that another core or a DMA moves, that this core takes, or gives by an unknown amount."""
    steps = [(core, step) for core, nodes in texts.items() for step in all_steps(nodes)]
    moved = {step.key.name for core, step in steps if core != tile or step.acquires or step.many is None}
    uses = [use for chain in made.device.chains for bd in chain.bds for use in (bd.acquire, bd.release)]
    return moved | {use.lock for use in uses if use is not None}


def _exact_waits(regions: Sequence[Region], loops: int) -> Iterator[Operation]:
    """``aie.use_lock`` with the action that asks for exactly a value, in one loop alone."""
    for region in regions:
        for block in region.blocks:
            for each in block.operations:
                if each.name == "aie.use_lock" and loops == 1:
                    said = lock_form(OperationForm(each), reason="mlir_lock")
                    if said is not None and said.action == "acquire":
                        yield each
                yield from _exact_waits(each.regions, loops + (each.name in _LOOPS))


def _number(operation: Operation, text: str) -> int | None:
    if text[:1] != "%":
        return int(text) if text.lstrip("-").isdigit() else None
    found = constant(operation, text)
    return found if type(found) is int else None


def _found(
    made: Configured, waits: Sequence[_Wait], places: Sequence[str], starts: Sequence[Sequence[str]]
) -> Finding:
    first = waits[0]
    rounds, names = ceil(first.rounds), [core_text(made, each.core) for each in waits]
    name, others = lock_name(made, first.lock), len(waits) - 1
    alike = f", as {many_text(others, 'more core')} do{'es' * (others == 1)} for theirs," if others else ""
    times = "once" if len(places) == 1 else f"{len(places)} times"
    once = f"{times} ({' and '.join(dict.fromkeys(map(said_line, places)))})"
    message = (
        f"{names[0]}{alike} waits in {line_of(first.operation)} until {name} is {first.value}, in each of "
        f"{rounds} rounds, and changes it in {line_of(first.changed)}; the host sets it {once}."
    )
    late = next((each[len(places)] for each in starts if len(each) == rounds), "")
    before = f" before the transfers of {said_line(late)}" if late else ", once for each round"
    which = "these locks" if others else "it"
    fix = f"Set {which} to {first.value} again{before} (aiex.set_lock, WorkerRuntimeBarrier.set)."
    sides = (
        Side(names[0], f"waits until {name} is {first.value}", place_of(first.operation)),
        Side("the host", f"sets it {times}", places[-1] if places else ""),
    )
    severity = CODES[UNSET].severity
    waiting = [[who, lock_name(made, each.lock)] for who, each in zip(names, waits, strict=True)]
    return Suspect(UNSET, severity, message, sides, fix=fix, waiting=waiting, by_lock=True)
