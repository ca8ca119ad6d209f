"""What channels wait for beside locks and streams, and the timing constants without which they do not.

Constants that cost a little at each BD go with its dead cycle: whoever moves more with each has fewer of all.
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
"""What a BD costs beside its dead cycle where it waits for its lock, or its stream for it."""
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
"""Causes of channels, and what removes each of them."""


class ChannelCost(NamedTuple):
    """A resource on which channels spent cycles.

    Attributes:
        resource: which.
        name: of the channel that it costs most.
        what: is without it.
        constants: timing constants that remove it.
    """

    resource: Resource
    name: str
    what: str
    constants: Mapping[str, int]


def channel_costs(result: Result) -> Iterator[ChannelCost]:
    """Resources on which channels together spent what is worth a trial.

    Args:
        result: of the run.
    """
    for cause, resource, what, constants in _CHANNEL_COSTS:
        spent = sum(use.spent.get(cause, 0) for use in result.channels)
        if (use := most_spent(result.channels, cause)) and spent >= LEAST * result.cycles:
            costs = {name: int(value) for name, value in constants.items()}
            yield ChannelCost(resource, called(use), what, costs)


def conflicted(result: Result) -> str:
    """The channel or core that lost most cycles to bank conflicts; empty if none did."""
    use = most_spent(result.channels, Cause.BANK_CONFLICT)
    lost = 0 if use is None else use.spent[Cause.BANK_CONFLICT]
    core: CoreUse | None = max(
        result.cores, key=lambda core: core.spent.get(CoreCause.BANK_CONFLICT, 0), default=None
    )
    if core is not None and core.spent.get(CoreCause.BANK_CONFLICT, 0) > lost:
        return core.name
    return "" if use is None else called(use)


def most_spent(uses: Sequence[ChannelUse], cause: Cause) -> ChannelUse | None:
    """The channel that spent most cycles on a cause; None if none spent any."""
    use = max(uses, key=lambda use: use.spent.get(cause, 0), default=None)
    return use if use is not None and use.spent.get(cause) else None
