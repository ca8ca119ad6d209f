"""Locks that are released only by data from outside the array: no core decides when."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import ChainDescription

_DMA = "DMA"


def is_from_outside(made: Configured, lock: str) -> bool:
    """Whether what releases a lock are channels alone whose words come from an interface tile.

    They may come through memory tiles, whose channels then wait for such a lock in turn.

    Args:
        made: the device in its array.
        lock: name of its value.
    """
    open_, seen = [lock], set[str]()
    while open_:
        name = open_.pop()
        if name in seen:
            continue
        seen.add(name)
        chains = [chain for chain in made.device.chains if any(_gives(chain, name))]
        if not chains or any(chain.direction != "S2MM" for chain in chains) or _by_cores(made, name):
            return False
        for chain in chains:
            before = _waits_before(made, chain)
            if before is None:
                return False
            open_ += before
    return True


def _gives(chain: ChainDescription, lock: str) -> Iterator[bool]:
    return (bd.release is not None and bd.release.lock == lock for bd in chain.bds)


def _by_cores(made: Configured, lock: str) -> bool:
    """Whether a core or the host names a lock in a release."""
    bodies = [core.operation for core in made.device.cores] + [*made.device.sequences.values()]
    uses = [each for body in bodies for each in body.walk() if lock in each.words]
    return any(not any("Acquire" in word for word in each.words) for each in uses)


def _waits_before(made: Configured, chain: ChainDescription) -> list[str] | None:
    """The locks that senders of a chain's words acquire, none of a host; None where that is not known."""
    flows = [
        flow
        for flow in made.device.flows
        if any(end == (chain.tile, _DMA, chain.channel) for end in flow.targets)
    ]
    ends = [end for flow in flows for end in flow.sources]
    found: list[str] = []
    for end in ends:
        if made.tiles[end.tile].kind.role == "interface":
            continue
        senders = [
            each
            for each in made.device.chains
            if (each.tile, _DMA, each.channel) == end and each.direction == "MM2S"
        ]
        locks = [bd.acquire.lock for each in senders for bd in each.bds if bd.acquire is not None]
        if not locks:
            return None
        found += locks
    return found if ends else None
