"""Locks that guard a buffer in pairs: who takes one of a pair is to release the other one.

Which locks are a pair the BDs and the cores on the other side of the buffer say: they take the one before
they release the other. A core or a chain that takes one and does not release the other is at fault only where
somebody waits for that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memtile.explain.findings import WRONG_LOCK, Finding, Severity, Side
from memtile.explain.imbalance import Imbalance
from memtile.explain.names import channel_name
from memtile.importers.kernels.lock_steps import (
    Key,
    Loop,
    Node,
    Step,
    all_steps,
    gives,
    loop_without_release,
)
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import BdDescription, ChainDescription, CoreDescription
from memtile.importers.mlir.tree import Operation
from memtile.jit.tables import plain

HELD = "MT0325"
Texts = Mapping[str, Sequence[Node]]
"""Steps of cores, by the value of their tile."""


def core_pairs(made: Configured, core: CoreDescription, key: Key, texts: Texts) -> Iterator[Imbalance]:
    """A lock that a core acquires, where it does not release the one that the other side waits for.

    Args:
        made: the device in its array.
        core: of it.
        key: the lock.
        texts: of all cores.
    """
    nodes = texts[core.tile]
    acquires = [step for step in all_steps(nodes) if step.acquires and step.key == key]
    partner = _partner(made, core.tile, key.name, texts)
    if not acquires or partner is None:
        return
    given = Key(partner)
    releases = [step for step in all_steps(nodes) if gives(step, given)]
    loop = loop_without_release(nodes, key, given)
    says = _says(made, nodes, key, given, loop, released=bool(releases))
    if not says:
        return
    vain = _released_in_vain(made, core, texts)
    if vain is not None:
        yield _instead(made, core, vain, partner)
        return
    step, who = loop[1] if loop is not None else acquires[0], core_text(made, core)
    message = f"{who}, {line_of(step.operation)}: {lock_name(made, key.name)} {says}."
    side = Side(who, f"acquires {lock_name(made, key.name)}", place_of(step.operation))
    fix = f"Let {who} release {lock_name(made, partner)} after the last use of what it took."
    found = Finding(HELD, Severity.ERROR, message, (side,), fix=fix)
    ended = tile_of(made, core) if loop is None and not releases else -1
    yield Imbalance(found, number_of(made, partner), certain=False, ended=ended)


def _says(
    made: Configured,
    nodes: Sequence[Node],
    key: Key,
    given: Key,
    loop: tuple[Loop, Step] | None,
    *,
    released: bool,
) -> str:
    """What is wrong with a pair in the text of a core, as the end of a sentence; empty if nothing is."""
    other = lock_name(made, given.name)
    if not released:
        return f"is acquired, and {other}, which the other side waits for, never released"
    if loop is not None:
        where = line_of(loop[0].operation)
        return f"is acquired in each turn of the loop in {where}, and {other} not released in it"
    taken, back = _per_turn(nodes, key), _per_turn(nodes, given)
    if taken is None or back is None or back >= taken:
        return ""
    return f"is acquired by {taken} in each turn, and {other} released by {back}"


def _released_in_vain(made: Configured, core: CoreDescription, texts: Texts) -> Step | None:
    """A release of a core that goes to a lock which nothing else acquires."""
    taken = {bd.acquire.lock for bd in _bds(made) if bd.acquire is not None}
    others = (nodes for tile, nodes in texts.items() if tile != core.tile)
    taken |= {step.key.name for nodes in others for step in all_steps(nodes) if step.acquires}
    steps = (
        step for step in all_steps(texts[core.tile]) if not step.acquires and step.key.name in made.locks
    )
    return next((step for step in steps if step.key.name not in taken), None)


def _instead(made: Configured, core: CoreDescription, step: Step, meant: str) -> Imbalance:
    """A release that goes to the wrong lock."""
    who, lock, other = core_text(made, core), lock_name(made, step.key.name), lock_name(made, meant)
    says = f"{who}, {line_of(step.operation)}: {lock}, which nothing else acquires, is released"
    says += f" instead of {other}."
    side = Side(who, f"releases {lock}", place_of(step.operation))
    fix = f"Let {who} release {other} there."
    return Imbalance(
        Finding(WRONG_LOCK, Severity.ERROR, says, (side,), fix=fix), number_of(made, meant), certain=False
    )


def chain_pairs(made: Configured, texts: Texts) -> Iterator[Imbalance]:
    """BDs that acquire one lock of a pair and release nothing.

    Args:
        made: the device in its array.
        texts: of all cores.
    """
    for chain in made.device.chains:
        for bd in chain.bds:
            if bd.acquire is not None and bd.release is None and bd.acquire.lock in made.locks:
                others = {
                    each.release.lock: None
                    for each in chain.bds
                    if each.acquire is not None and each.acquire.lock == bd.acquire.lock and each.release
                }
                partner = next(iter(others), None) or _partner(made, "", bd.acquire.lock, texts)
                if partner is not None and partner in made.locks:
                    yield _of_bd(made, chain, bd, partner)


def _of_bd(made: Configured, chain: ChainDescription, bd: BdDescription, partner: str) -> Imbalance:
    assert bd.acquire is not None
    tile = made.tiles[chain.tile]
    channel = (tile.s2mm if chain.direction == "S2MM" else tile.mm2s)[chain.channel]
    who, lock, other = channel_name(tile.engine, channel.index), bd.acquire.lock, lock_name(made, partner)
    says = f"{who} (BD {bd.number}), {line_of(bd.operation)}: {lock_name(made, lock)} is acquired"
    says += f", and {other}, which is waited for, not released"
    side = Side(who, f"acquires {lock_name(made, lock)}", place_of(bd.operation))
    fix = f"Let the BD release {other}."
    found = Finding(HELD, Severity.ERROR, f"{says}.", (side,), fix=fix)
    return Imbalance(found, number_of(made, partner), certain=False)


def _per_turn(nodes: Sequence[Node], key: Key, *, again: bool = False) -> int | None:
    """Units by which a body without branches changes a lock in each turn of its only loop."""
    if len(nodes) == 1 and isinstance(nodes[0], Loop):
        return _per_turn(nodes[0].steps, key, again=again or nodes[0].turns != 1)
    if not again or any(not isinstance(node, Step) for node in nodes):
        return None
    counts = [node.many for node in nodes if isinstance(node, Step) and node.key == key]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _bds(made: Configured) -> list[BdDescription]:
    return [bd for chain in made.device.chains for bd in chain.bds]


def _partner(made: Configured, tile: str, lock: str, texts: Texts) -> str | None:
    """The lock that who takes ``lock`` is to give: what those who give ``lock`` take before.

    Args:
        made: the device in its array.
        tile: value of the tile of the core that takes it; empty of a BD.
        lock: name of its value.
        texts: of all cores.
    """
    bds = _bds(made)
    found = {
        bd.acquire.lock: None
        for bd in bds
        if bd.release is not None and bd.release.lock == lock and bd.acquire is not None
    }
    if not found:
        given = {bd.release.lock for bd in bds if bd.release is not None}
        given |= {step.key.name for each in texts.values() for step in all_steps(each) if not step.acquires}
        for other, nodes in texts.items():
            own = list(all_steps(nodes))
            if other != tile and any(gives(step, Key(lock)) for step in own):
                taken = (step.key for step in own if step.acquires and not step.key.port)
                found |= {key.name: None for key in taken if key.name not in given}
    found.pop(lock, None)
    return next(iter(found)) if len(found) == 1 else None


def lock_name(made: Configured, value: str) -> str:
    """``lock 1 'x_full' of tile (0, 2)``."""
    lock = made.locks.get(value)
    if lock is None:
        return f"lock {value}"  # a number that the body gives it, which only a run knows
    name = f" {lock.name!r}" if lock.name else ""
    return f"lock {lock.id}{name} of tile {_at(lock.place)}"


def _at(place: tuple[int, int] | None) -> str:
    assert place is not None  # tiles of an array have one
    return f"({place[0]}, {place[1]})"


def number_of(made: Configured, value: str) -> int:
    """Index of a lock among all of the model; -1 = there is none."""
    lock = made.locks.get(value)
    if lock is None or lock.place is None:
        return -1
    return int(plain(made.array.engine.spec.tiles).lock_base[made.array.tile(*lock.place).index]) + lock.id


def tile_of(made: Configured, core: CoreDescription) -> int:
    """Model index of the tile of a core."""
    return made.tiles[core.tile].index


def core_text(made: Configured, core: CoreDescription) -> str:
    """``core (0, 2)``."""
    return f"core {_at(made.tiles[core.tile].place)}"


def place_of(operation: Operation) -> str:
    """``design.mlir:41``, or the line of the program that wrote the text."""
    text = operation.tokens.text
    where = text.where(operation.tokens.offset(operation.at))
    return where if text.places else where.rpartition(":")[0]


def line_of(operation: Operation) -> str:
    """``line 41``; with the name of the file where that is another one than the text's."""
    file, _, line = place_of(operation).rpartition(":")
    return f"line {line}" if file == operation.tokens.text.name else f"{file}:{line}"
