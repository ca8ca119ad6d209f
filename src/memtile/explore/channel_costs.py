"""Find where channels lose cycles beside locks and streams, and the timing constants that remove the loss.

The lock and port delays of each BD count with its dead cycle, because longer BDs reduce all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memtile.arch.timing import Unlimited
from memtile.explain.limit import LEAST, Resource
from memtile.explain.results import ChannelUse, CoreUse, Result
from memtile.explore.limit_estimates import called
from memtile.model.state.causes import Cause, CoreCause

EXTERNAL = {
    "external_latency": 1,
    "external_write_latency": 1,
    "external_burst_overhead": 0,
    "external_egress_words": 256,
    "external_beside": 0,
}
HOST = {
    "access_cycles": 0,
    "firmware_access": 0,
    "firmware_word": 0,
    "firmware_push": 0,
    "firmware_push_elf": 0,
}
_OF_EACH_BD = {"s2mm_lock_wait": 0, "mm2s_lock_wait": 0, "port_pause": 0, "wire_start": 0}
"""Delays of each BD at its lock and its stream port, without its dead cycle."""
_CHANNEL_COSTS: Sequence[tuple[Cause, Resource, str, Mapping[str, int]]] = (
    (Cause.EXTERNAL, Resource.EXTERNAL, "external memory answered at once", EXTERNAL),
    (Cause.TASK_START, Resource.TASKS, "tasks started at once", {"task_start": 1, "task_load": 0}),
    (
        Cause.BD_SWITCH,
        Resource.DESCRIPTORS,
        "a BD began in the cycle in which the one before it ended",
        {"unlimited": Unlimited.DESCRIPTORS, **_OF_EACH_BD},
    ),
    (
        Cause.NEIGHBOUR_BUSY,
        Resource.NEIGHBOURS,
        "accesses to neighbours' memories did not wait",
        {"unlimited": Unlimited.NEIGHBOURS, "neighbour_latency": 0},
    ),
)
"""Each cause with its resource, the run without it in words, and the constants of that run."""


class ChannelCost(NamedTuple):
    """A resource on which channels spent cycles.

    Attributes:
        resource: its kind.
        name: of the channel that loses most cycles to it.
        what: the run without the cost, as a clause.
        constants: timing constants that remove the cost.
    """

    resource: Resource
    name: str
    what: str
    constants: Mapping[str, int]


def channel_costs(result: Result) -> Iterator[ChannelCost]:
    """Return the resources on which all channels together spent enough cycles for a trial run.

    Args:
        result: of the run.
    """
    for cause, resource, what, constants in _CHANNEL_COSTS:
        spent = sum(use.spent.get(cause, 0) for use in result.channels)
        if (use := most_spent(result.channels, cause)) and spent >= LEAST * result.cycles:
            costs = {name: int(value) for name, value in constants.items()}
            yield ChannelCost(resource, called(use), what, costs)


def conflicted(result: Result) -> str:
    """Return the name of the channel or core that lost most cycles to bank conflicts; empty if none did."""
    use = most_spent(result.channels, Cause.BANK_CONFLICT)
    lost = 0 if use is None else use.spent[Cause.BANK_CONFLICT]
    core: CoreUse | None = max(
        result.cores, key=lambda core: core.spent.get(CoreCause.BANK_CONFLICT, 0), default=None
    )
    if core is not None and core.spent.get(CoreCause.BANK_CONFLICT, 0) > lost:
        return core.name
    return "" if use is None else called(use)


def most_spent(uses: Sequence[ChannelUse], cause: Cause) -> ChannelUse | None:
    """Return the channel that spent most cycles on a cause; None if none spent any."""
    use = max(uses, key=lambda use: use.spent.get(cause, 0), default=None)
    return use if use is not None and use.spent.get(cause) else None
