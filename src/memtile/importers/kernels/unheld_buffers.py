"""Buffers that a core uses after it has given them away by a lock, or before it has acquired one.

A pair of locks guards a buffer where all its other users, BDs and cores, use it between the acquire of one
and the release of the other. Followed within a block that does both; a block is taken for one that is done
again and again, as the turn of a loop is. Of a ring of BDs a block uses the buffers in the ring's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.explain.evidence import AdvisedPlace, Evidence
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import channel_name
from memtile.importers.kernels.body_operations import LOADS
from memtile.importers.kernels.core_locks import lock_used
from memtile.importers.kernels.lock_names import core_text, line_of, lock_name, place_of
from memtile.importers.kernels.outside_data import is_from_outside
from memtile.importers.kernels.released_objects import released_findings
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import ChainDescription, CoreDescription
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation, OperationBlock

_LOCK = "aie.use_lock"
_PAIR = 2  # buffers of the smallest ring
Pair = frozenset[str]


class Event(NamedTuple):
    """An acquire, a release, or a use of buffers, in a block of a core.

    Attributes:
        operation: that it is.
        lock: that it acquires or releases; empty of a use.
        acquires: whether it acquires.
        buffers: that it uses.
    """

    operation: Operation
    lock: str = ""
    acquires: bool = False
    buffers: frozenset[str] = frozenset()


class _Use(NamedTuple):
    """The uses of a buffer in a block.

    Attributes:
        core: whose block it is.
        events: of the block.
        held: pairs that are held in all of them: the lock acquired before, and the one released behind.
    """

    core: CoreDescription
    events: Sequence[Event]
    held: frozenset[Pair]


def unheld_uses(made: Configured) -> Iterator[Finding]:
    """Objects of FIFOs and buffers that cores use when they do not hold them."""
    yield from released_findings(made)
    yield from unheld_findings(made)


def unheld_findings(made: Configured) -> Iterator[Finding]:
    """Uses of a buffer outside the locks by which all others use it, one for each core and buffer."""
    buffers = frozenset(made.device.buffers)
    blocks = [*lock_blocks(made, buffers)]
    for core, events in blocks:
        for chain in made.device.chains:
            yield from _other_half(made, core, events, chain)
    for buffer in buffers:
        uses = [
            _Use(core, events, _held(events, buffer))
            for core, events in blocks
            if any(buffer in event.buffers for event in events)
        ]
        bds = [(chain, bd) for chain in made.device.chains for bd in chain.bds if bd.buffer == buffer]
        moved = [
            Pair((bd.acquire.lock, bd.release.lock)) if bd.acquire and bd.release else Pair() for _, bd in bds
        ]
        is_filled = any(chain.direction == "S2MM" for chain, _ in bds)
        if not is_filled and all(_only_reads(use.events, buffer) for use in uses):
            continue
        for use in uses:
            others = [each for each in uses if each.core is not use.core]
            held = [*(each.held for each in others), *(frozenset((pair,)) for pair in moved)]
            if held:
                pairs = _of_both(made, use, held[0].intersection(*held[1:]), others)
                yield from _outside(made, use, buffer, pairs)


def _only_reads(events: Sequence[Event], buffer: str) -> bool:
    """Whether a block loads words of a buffer, and does nothing else with it."""
    inner = (each for event in events if buffer in event.buffers for each in event.operation.walk())
    return all(each.name in LOADS for each in inner if buffer in each.words)


def _other_half(
    made: Configured, core: CoreDescription, events: Sequence[Event], chain: ChainDescription
) -> Iterator[Finding]:
    """A buffer of a ring that a block uses in the turn of another one, which it never uses."""
    ring = [bd.buffer for bd in chain.bds]
    locks = {(bd.acquire.lock, bd.release.lock) for bd in chain.bds if bd.acquire and bd.release}
    if len(locks) != 1 or len({*ring}) != len(ring) or len(ring) < _PAIR:
        return
    ((given, taken),) = locks
    windows: list[list[Event]] = []
    held = False
    for event in events:
        if event.lock:
            held = event.acquires if event.lock in (given, taken) else held
            windows += [[]] if event.acquires and event.lock == taken else []
        elif not event.buffers.isdisjoint(ring):
            if not held or not windows:
                return
            windows[-1].append(event)
    used = [{each for event in window for each in event.buffers if each in ring} for window in windows]
    if len(windows) != len(ring) or any(len(each) != 1 for each in used):
        return
    odd = [n for n, buffer in enumerate(ring) if used[n] != {buffer}]
    if len(odd) == 1 and {ring[odd[0]]} not in used:
        (at,) = odd
        yield _wrong_half(made, core, chain, windows[at][0], ring[at], *used[at])


def _wrong_half(
    made: Configured, core: CoreDescription, chain: ChainDescription, event: Event, meant: str, used: str
) -> Finding:
    tile = made.tiles[chain.tile]
    channel = (tile.s2mm if chain.direction == "S2MM" else tile.mm2s)[chain.channel]
    who, at = core_text(made, core), line_of(event.operation)
    ring, one, other = (
        channel_name(tile.engine, channel.index),
        made.buffers[used].name,
        made.buffers[meant].name,
    )
    does = f"uses, in the turn of buffer '{other}', buffer '{one}'"
    message = (
        f"{who}, {at}: buffer '{one}' is used in the turn of '{other}', which {ring} moves then and the core "
        "never uses."
    )
    side = Side(who, does, place_of(event.operation))
    return Finding("MT0105", Severity.ERROR, message, (side,), fix=f"Use buffer '{other}' in {at}.")


def lock_blocks(
    made: Configured, buffers: frozenset[str]
) -> Iterator[tuple[CoreDescription, Sequence[Event]]]:
    """Give the blocks of cores with locks of their own, each with its core, as events.

    Args:
        made: the device in its array.
        buffers: whose uses are events.
    """
    for core in made.device.cores:
        if core.has_body:
            yield from ((core, events) for events in _blocks(made, core, buffers))


def _blocks(made: Configured, core: CoreDescription, buffers: frozenset[str]) -> Iterator[list[Event]]:
    """The blocks of a core with locks of their own, as events."""
    for operation in core.operation.walk():
        for region in operation.regions:
            for block in region.blocks:
                events = _events(made, block, buffers)
                if any(event.lock for event in events):
                    yield events


def _events(made: Configured, block: OperationBlock, buffers: frozenset[str]) -> list[Event]:
    """What a block does; empty if operations within others use locks too, or nobody knows which."""
    found = []
    for operation in block.operations:
        if operation.name == _LOCK:
            form = OperationForm(operation)
            said = lock_form(form)
            if said is None or not said.units.isdecimal() or said.units == "0":
                return []
            lock = lock_used(made.device, form, said.lock)
            found.append(Event(operation, lock, said.action != "release"))
            continue
        inner = [*operation.walk()]
        if any(each.name == _LOCK for each in inner):
            return []
        used = buffers.intersection(word for each in inner for word in each.words)
        if used:
            found.append(Event(operation, buffers=frozenset(used)))
    return found


def _held(events: Sequence[Event], buffer: str) -> frozenset[Pair]:
    """The pairs of locks that are held in all uses of a buffer."""
    uses = [n for n, event in enumerate(events) if buffer in event.buffers]
    taken = {event.lock for event in events if event.acquires}
    given = {event.lock for event in events if event.lock and not event.acquires}
    pairs = {(one, other) for one in taken for other in given if one != other}
    return frozenset(Pair(pair) for pair in pairs if all(_is_held(events, n, *pair) for n in uses))


def _is_held(events: Sequence[Event], at: int, taken: str, given: str) -> bool:
    last = _last(events, at, taken, given)
    return last is not None and last.acquires


def _last(events: Sequence[Event], at: int, taken: str, given: str) -> Event | None:
    """The last acquire of one lock or release of another one before a place; that of the turn before."""
    around = [*events[at:], *events[:at]]
    mine = (
        each
        for each in reversed(around)
        if (each.acquires and each.lock == taken) or (not each.acquires and each.lock == given)
    )
    return next(mine, None)


def _of_both(made: Configured, use: _Use, pairs: frozenset[Pair], others: Sequence[_Use]) -> frozenset[Pair]:
    """Of several pairs those whose locks the core of a use has too, if nothing it does orders the others.

    Another core holds a pair for each of its streams at once. Those whose data come from outside the array
    keep no core from its buffer. That the buffer is one of the pair's shows where one of the turns in which
    the core holds the pair has no buffer of the others.
    """
    if len(pairs) == 1:
        return pairs
    taken = {event.lock for event in use.events if event.acquires}
    given = {event.lock for event in use.events if event.lock and not event.acquires}
    mine = frozenset(pair for pair in pairs if pair & taken and pair & given and pair <= taken | given)
    waits = {event.lock for each in others for event in each.events if event.acquires}
    foreign = {lock for pair in pairs - mine for lock in pair.intersection(waits) - (taken | given)}
    theirs = frozenset(name for each in others for event in each.events for name in event.buffers)
    is_owed = len(mine) == 1 and all(_has_empty_turn(use.events, pair, theirs) for pair in mine)
    return mine if is_owed and all(is_from_outside(made, lock) for lock in foreign) else frozenset()


def _has_empty_turn(events: Sequence[Event], pair: Pair, buffers: frozenset[str]) -> bool:
    """Whether a block acquires one lock of a pair and releases the other, and uses none of some buffers."""
    first = next((n for n, event in enumerate(events) if event.acquires and event.lock in pair), 0)
    used = True
    for event in (*events[first:], *events[:first]):
        if event.lock in pair:
            if not event.acquires and not used:
                return True
            used = False
        used = used or not event.buffers.isdisjoint(buffers)
    return False


def _outside(made: Configured, use: _Use, buffer: str, pairs: frozenset[Pair]) -> Iterator[Finding]:
    """The first use that comes while the one pair that guards the buffer is not held."""
    if len(pairs) != 1 or use.held & pairs:
        return
    (pair,) = pairs
    taken = [event.lock for event in use.events if event.acquires and event.lock in pair]
    given = [event.lock for event in use.events if event.lock in pair and not event.acquires]
    if len({*taken}) != 1 or len({*given}) != 1 or taken[0] == given[0] or len(taken) != len(given):
        return
    for n, event in enumerate(use.events):
        last = _last(use.events, n, taken[0], given[0]) if buffer in event.buffers else None
        if last is not None and not last.acquires:
            yield _finding(made, use, event, buffer, last, taken[0])
            return


def _finding(made: Configured, use: _Use, event: Event, buffer: str, release: Event, taken: str) -> Finding:
    who, name = core_text(made, use.core), f"buffer '{made.buffers[buffer].name}'"
    at, where = line_of(event.operation), line_of(release.operation)
    if use.events.index(event) < use.events.index(release):
        lock = lock_name(made, taken)
        acquire = next(each for each in use.events if each.acquires and each.lock == taken)
        says = f"{name} is used before the acquire of {lock} in {line_of(acquire.operation)}"
        does, place = "acquires that lock", acquire.operation
        fix = f"Acquire {lock} before {at}."
        moved = AdvisedPlace(place.line, event.operation.line, behind=False)
    else:
        lock = lock_name(made, release.lock)
        says, fix = f"{name} is used after the release of {lock} in {where}", f"Release {lock} after {at}."
        does, place = "has released it", release.operation
        moved = AdvisedPlace(place.line, event.operation.line, behind=True)
    sides = (
        Side(who, f"uses {name}", place_of(event.operation)),
        Side(who, does, place_of(place)),
    )
    message = f"{who}, {at}: {says}; others may use it by then."
    return Finding(*("MT0105", Severity.ERROR, message, sides), fix=fix, evidence=Evidence(place=moved))
